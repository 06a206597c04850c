"""Assumptions of the model of saturated cells with aggregation, and checks whether a scenario meets
them."""

from collections.abc import Iterator, Sequence

from lasthop.models import cells
from lasthop.models.aggregates.sending import Sending
from lasthop.models.checks import violations
from lasthop.models.errors import Doubt, refuse
from lasthop.scenario.typed import AccessPoint, CellScenario, Flow, Station, UdpFlow

FULL = 2
"""Least ratio of a sender's queue limit to its BlockAck window, if datagrams arrive at a given
rate. [-]
"""


def senders(scenario: CellScenario) -> list[tuple[Sending, list[Flow]]]:
    """Return the senders with their flows: the access point, then the stations in their order.

    Raises
    ------
    ModelError
        If the scenario breaks assumptions.
    """
    refuse(_of_flows(scenario))
    results: dict[str, list[Flow]] = {"": [], **{station.name: [] for station in scenario.stations}}
    for flow in scenario.flows:
        results[flow.station if flow.is_up else ""].append(flow)
    sending = []
    for flows in filter(None, results.values()):
        first = flows[0]
        assert isinstance(first, UdpFlow)
        sending.append((Sending.of(scenario, first), flows))
    return sending


def _of_flows(scenario: CellScenario) -> Iterator[Doubt]:
    """Yield messages about properties of the flows that the model does not support."""
    yield from cells.NO_FLOW(scenario)
    heads: dict[str, UdpFlow] = {}
    for subject in cells.station_flows(scenario):
        yield from violations(cells.SATURATED, subject)
        flow = subject.flow
        if not isinstance(flow, UdpFlow):
            continue
        sender = f"station {flow.station}" if flow.is_up else "the access point"
        head = heads.setdefault(sender, flow)
        if head.station != flow.station:
            yield "assumption 2", f"{sender} sends to several stations"
        elif head.udp != flow.udp:
            yield "assumption 2", f"{sender} sends datagrams of several kinds"
    for message in cells.several_categories(scenario):
        yield "assumption 3", message


def check(
    scenario: CellScenario,
    sending: Sequence[tuple[Sending, list[Flow]]],
    kinds: Sequence[Sending],
) -> tuple[list[Doubt], list[Doubt]]:
    """Return the violations of assumptions, and warnings about assumptions that are nearly broken.

    Parameters
    ----------
    scenario : CellScenario
    sending : sequence of (Sending, list of Flow)
        Senders with their flows.
    kinds : sequence of Sending
        The senders of `sending` in the same order, but without the names of their stations. Senders
        with equal properties are the same object, so that their frames are computed once.
    """
    results = [sender for sender, _ in sending]
    broken = [*_of_cell(scenario, results), *_of_channel(scenario, results)]
    for (sender, flows), kind in zip(sending, kinds, strict=True):
        broken += _of_queue(scenario, sender, kind, flows)
        broken += _of_losses(sender, kind, alone=len(sending) == 1)
    return broken, [("assumption 1", what) for what in cells.unsteady_flows(scenario)]


def _of_cell(scenario: CellScenario, sending: Sequence[Sending]) -> Iterator[Doubt]:
    cell = scenario.cell
    yield from violations(cells.AGGREGATING, scenario)
    aifsns = sorted({sender.access.aifsn for sender in sending})
    if len(aifsns) > 1:
        yield "assumption 3", f"senders with several AIFSN: {', '.join(map(str, aifsns))}"
    lossy = any(map(loss_of, sending))
    if cell.ack_timeout_s is not None and (lossy or len(sending) > 1):
        yield "assumption 6", "`cell.ack_timeout` is set separately"
    if cell.cf_end and any(sender.limit_ns is not None for sender in sending):
        yield "assumption 5", "`cell.cf_end` ends opportunities"
    if any(sender.limit_ns is None and not sender.is_single for sender in sending):
        yield "assumption 5", "`txop_packets` without `txop_limit`"


def _of_channel(scenario: CellScenario, sending: Sequence[Sending]) -> Iterator[Doubt]:
    stations = tuple({each.station.name: each.station for each in sending}.values())
    for message in cells.changing(stations):
        yield "assumption 4", message
    for station in stations:
        yield from violations((cells.POWER_SAVE, cells.SNR), station)
    for message in cells.managed(scenario):
        yield "assumption 1", message


def _of_queue(
    scenario: CellScenario, sending: Sending, kind: Sending, flows: Sequence[Flow]
) -> Iterator[Doubt]:
    """Yield a message if the queue of the sender may contain fewer packets than the sender can
    aggregate.
    """
    node = sending.station if sending.is_up else scenario.cell.ap
    assert isinstance(node, (AccessPoint, Station))
    # If the wired link has a rate, greedy sources fill the queue of the wired link instead of the
    # AP's queue.
    full = sending.is_up or scenario.wire.rate_bps is None
    greedy = full and all(
        isinstance(flow, UdpFlow) and flow.udp.arrivals == "greedy" for flow in flows
    )
    total = kind.most_mpdus * kind.packets_per_mpdu
    needed = total if greedy else FULL * total
    if not greedy:
        followers = (kind.exchange(kind.first.count).sizes or ())[1:]
        needed += sum(followers) * kind.packets_per_mpdu
    if node.queue_packets < needed:
        key = f"{sending.station.table}.queue" if sending.is_up else "cell.ap_queue"
        what = f"`{key}` has room for {node.queue_packets} packets; aggregates need {needed}"
        yield "assumption 1", what


def loss_of(sending: Sending) -> float:
    """Return the probability that an MPDU is lost. [-]"""
    return sending.station.error_up if sending.is_up else sending.station.error_down


def _of_losses(sending: Sending, kind: Sending, *, alone: bool) -> Iterator[Doubt]:
    loss = loss_of(sending)
    agreed = sending.most_mpdus > 1
    if agreed and sending.own.bar_after_failure and (loss > 0 or not alone):
        yield "assumption 8", "`aggregation.bar_after_failure` asks after PPDUs without an answer"
    if loss == 0:
        return
    if not sending.is_single:
        yield (
            "assumption 5",
            f'MPDUs of {sending.station.name} are lost, and `txop_limit` is not "none"',
        )
    if agreed and kind.first.count < sending.most_mpdus:
        yield (
            "assumption 7",
            f"a PPDU has room for {kind.first.count} MPDUs of a window of {sending.most_mpdus}, "
            "some of which are lost",
        )
    if kind.is_protected(kind.first.psdu_bytes):
        yield "assumption 4", "RTS before PPDUs whose MPDUs are lost"
