"""Prediction for a scenario of a saturated cell of 802.11a, b or g."""

from collections.abc import Sequence
from dataclasses import replace

from lasthop.models import cells
from lasthop.models.answer import CellValues, Lists, Quantities, Values, prediction
from lasthop.models.checks import violations
from lasthop.models.dcf import airtime, freezing, zones
from lasthop.models.dcf.assumptions import FLOWS, Sender, doubts, of_senders
from lasthop.models.dcf.saturation import Contender, Saturation
from lasthop.models.dcf.zones import Category, category_of
from lasthop.models.errors import ModelError, refuse
from lasthop.progress.cost_limits import need
from lasthop.scenario.typed import CellScenario, Readable, Scenario, UdpFlow

STAGE_S, PAIR_S, SENDER_S = 2e-4, 2e-4, 2e-5
"""Computation time per backoff stage of each kind of sender, per pair of kinds, and per sender. [s]
"""
COUNTED_APART = 0.1
"""Relative additional computation time of a backoff stage per allowed channel loss, if channel
losses are counted separately from collisions. [-]
"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario is a WLAN cell without aggregation in which every flow is UDP."""
    return (
        cells.is_cell(scenario)
        and bool(scenario.flows)
        and all(isinstance(flow, UdpFlow) for flow in scenario.flows)
    )


def predict(scenario: Readable) -> Quantities:
    """Predict goodput and collisions of a saturated cell.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping. It has a cell of 802.11a, b or g in which
        the access point, stations or both send more UDP than the cell can carry.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: ``goodput_bps`` [bit/s] of cell, stations and flows; of
        stations and the access point ``collision_rate``, ``frame_failure_rate`` and
        ``discard_probability`` [-], unless a node sends in several access categories.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption.
    ConvergenceError
        If the attempt probabilities do not converge.
    """
    known = cells.cell_scenario(scenario)
    refuse(violations(FLOWS, known))
    senders = senders_of(known)
    refuse(of_senders(known, senders))
    categories = [sender.category for sender in senders]
    _need(categories)
    result = solve(known, categories)
    cells.need_goodput(result.goodput_bps)
    offers = [
        cells.Offer(known.flow_key(sender.flows[0]), cells.offered_bps(sender.flows), goodput_bps)
        for sender, goodput_bps in zip(senders, result.goodput_bps, strict=True)
    ]
    warnings = [*doubts(known, senders), *cells.unsaturated(known, offers)]
    return prediction("dcf", known, _lists(known, senders, result), warnings)


def senders_of(scenario: CellScenario) -> list[Sender]:
    """Return the senders of a scenario: the access categories of each station in order, then those
    of the access point.

    Raises
    ------
    ModelError
        If a sender has packets of several sizes, rates or error probabilities in one queue. The
        error is also raised if flows with unequal loads share the access point's queue.
    """
    queues: dict[tuple[str, str], list[UdpFlow]] = {}
    order = {entry.name: number for number, entry in enumerate(scenario.stations)}
    for flow in sorted(scenario.udp_flows, key=lambda flow: order[flow.station]):
        queues.setdefault((flow.station if flow.is_up else "ap", flow.category), []).append(flow)
    results = []
    for (node, _), flows in sorted(queues.items(), key=lambda item: item[0][0] == "ap"):
        first, *others = (category_of(scenario, flow) for flow in flows)
        if any(other != first for other in others):
            where = "the access point" if node == "ap" else f"station {node}"
            raise ModelError(
                "assumption 2",
                f"{where} sends packets of several sizes, rates or probabilities of error",
            )
        rates = {(flow.udp.arrivals, flow.udp.rate_bps) for flow in flows}
        if len(rates) > 1:
            keys = " and ".join(dict.fromkeys(f"`{scenario.flow_key(flow)}`" for flow in flows))
            raise ModelError("assumption 2", f"{keys} share a queue and have different rates")
        results.append(Sender(first, tuple(flows)))
    return results


def solve(scenario: CellScenario, categories: Sequence[Category]) -> Saturation:
    """Return the throughput of the senders. The scenario decides between the model with freezing
    counters and the model of 802.11e.
    """
    cell = scenario.cell
    lead_s = airtime.eifs_lead_s(cell)
    if cell.countdown == "edca":
        return zones.solve(categories, cell.slot_s, cell.sifs_s, lead_s)
    return freezing.solve(*contending(scenario, categories))


def contending(
    scenario: CellScenario, categories: Sequence[Category]
) -> tuple[list[Contender], float, float]:
    """Return the arguments of `freezing.solve` for senders with equal AIFSN: contenders, slot time
    and EIFS. [s, s]
    """
    cell = scenario.cell
    aifs_s = airtime.aifs_s(cell, categories[0].aifsn)
    nodes = [
        replace(category.contender, success_s=category.contender.success_s + aifs_s)
        for category in categories
    ]
    return nodes, cell.slot_s, airtime.eifs_lead_s(cell) + aifs_s


def _need(categories: Sequence[Category]) -> None:
    """Raise an error if the computation would take too long."""
    kinds = {replace(category, node="") for category in categories}
    stages = sum(
        kind.contender.stages * (1.0 + COUNTED_APART * (kind.contender.attempts_long or 0))
        for kind in kinds
    )
    need(
        f"what {len(categories)} senders of {len(kinds)} kinds get",
        time_s=STAGE_S * stages + PAIR_S * len(kinds) ** 2 + SENDER_S * len(categories),
    )


def _lists(scenario: CellScenario, senders: Sequence[Sender], saturation: Saturation) -> Lists:
    values = CellValues(scenario, sum(saturation.goodput_bps))
    goodput_bps: dict[str, float] = {}
    of_flow: dict[str, float] = {}
    nodes = [sender.category.node for sender in senders]
    for number, (node, sender) in enumerate(zip(nodes, senders, strict=True)):
        for flow in sender.flows:  # flows of one queue have equal loads
            own_bps = saturation.goodput_bps[number] / len(sender.flows)
            of_flow[flow.name] = own_bps
            goodput_bps[flow.station] = goodput_bps.get(flow.station, 0.0) + own_bps
        if nodes.count(node) == 1:
            own = values.ap if node == "ap" else values.stations[node]
            own |= _failures(sender.category, saturation, number)
    for name, own_bps in goodput_bps.items():
        values.stations[name] |= values.shares(own_bps)
    values.flows = [(flow, of_flow[flow.name], {}) for flow in scenario.udp_flows]
    return values.lists(len({*nodes} - {"ap"}))


def _failures(category: Category, saturation: Saturation, number: int) -> Values:
    """Return the fractions of a node's frames that collide or fail, and of packets that are
    discarded. A collision destroys only the first frame of a TXOP.
    """
    collided, failed = saturation.collision_prob[number], saturation.failure_prob[number]
    frames = collided + (1 - collided) * category.packets
    return {
        "collision_rate": collided / frames,
        "frame_failure_rate": failed / frames,
        "discard_probability": saturation.discard_prob[number],
    }
