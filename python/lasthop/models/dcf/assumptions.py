"""Assumptions of the models of a saturated cell, and violations by a scenario."""

from collections.abc import Iterator, Sequence

from lasthop.models.assumptions import BY_MODEL
from lasthop.models.cells import changing, managed, unsteady
from lasthop.models.dcf import airtime
from lasthop.models.dcf.zones import Category
from lasthop.models.errors import Doubt
from lasthop.scenario.typed import CellScenario, TcpFlow, UdpFlow

ASSUMPTIONS = BY_MODEL["dcf"]
"""Assumptions by number, as they follow "the assumption" in messages (``docs/papers/dcf.md``)."""

SPREAD = 0.014
"""Largest relative error of a cell's goodput in the 1,440 simulated cells with a CWmin of 7 to 63
that ``docs/papers/dcf.md`` describes. [-]"""
SMALL_CWMIN = 7
"""CWmin below which attempts depend on each other too much. [slots]"""
SMALL_ERRORS = ((1, 0.14), (3, 0.04), (SMALL_CWMIN, 0.015))
"""Largest relative errors of goodput in simulated cells of 2 to 20 stations, up to each CWmin.
[slots, -]"""
TIMEOUT_ERROR = 0.017
"""Largest relative error of goodput with an ACK timeout of 50 us up to EIFS less AIFS. [-]"""


def of_flows(scenario: CellScenario) -> Iterator[Doubt]:
    """Reasons why the senders of a scenario are not saturated UDP senders."""
    if not scenario.flows:
        yield "assumption 1", "the scenario has no flow"
    for flow in scenario.flows:
        if not isinstance(flow, UdpFlow):
            what = "is TCP" if isinstance(flow, TcpFlow) else "reports now and then"
            yield "assumption 1", f"`{scenario.flow_key(flow)}` {what}"


def of_senders(
    scenario: CellScenario, senders: Sequence[tuple[Category, Sequence[UdpFlow]]]
) -> Iterator[Doubt]:
    """Reasons why a scenario is outside the models.

    Parameters
    ----------
    scenario : CellScenario
    senders : sequence of (Category, sequence of UdpFlow)
        Senders in the models' terms, each with its flows.
    """
    cell = scenario.cell
    if scenario.wire.loss > 0.0:
        yield "cell", f"the wire loses packets, `wire.loss` = {scenario.wire.loss:g}"
    for what in managed(scenario):
        yield "assumption 1", what
    if cell.rate_control != "fixed":
        yield "assumption 6", f'`cell.rate_control` = "{cell.rate_control}"'
    with_flows = {flow.station for _, flows in senders for flow in flows}
    stations = [each for each in scenario.stations if each.name in with_flows]
    for what in changing(stations):
        yield "assumption 6", what
    for station in stations:
        if station.snr_db is not None:
            yield "assumption 6", f"`{station.table}.snr` loses frames by their length; use `error`"
    timeout_s = cell.ack_timeout_s
    if timeout_s is not None and timeout_s > airtime.eifs_lead_s(cell) and fails(senders):
        yield (
            "assumption 4",
            f"`cell.ack_timeout` = {1e6 * timeout_s:g} us is longer than EIFS less AIFS, "
            f"{1e6 * airtime.eifs_lead_s(cell):.4g} us",
        )
    yield from _of_countdown(scenario, [item for item, _ in senders])
    for item, flows in senders:
        key = scenario.flow_key(flows[0])
        if item.packets > 1 and item.contender.attempts_long is not None:
            yield "assumption 5", f"RTS before the {item.packets} packets of an access of `{key}`"
        if item.packets > 1 and item.contender.error_prob > 0:
            yield "assumption 5", f"packets of `{key}` are lost, and {item.packets} make an access"
        node = scenario.cell.ap if item.node == "ap" else scenario.station[item.node]
        if cell.cf_end and node.access(flows[0].category).txop_limit_s is not None:
            yield "assumption 5", "`cell.cf_end` ends opportunities with an additional frame"


def _of_countdown(scenario: CellScenario, senders: Sequence[Category]) -> Iterator[Doubt]:
    """Reasons why the senders' counters are outside the models."""
    if any(sender.contender.cwmin < 1 for sender in senders):
        yield "assumption 3", "a sender with `cwmin` = 0 never releases the medium"
    if scenario.cell.countdown == "edca":
        return
    aifsns = sorted({sender.aifsn for sender in senders})
    if len(aifsns) > 1:
        messages = ", ".join(map(str, aifsns))
        yield "assumption 3", f'senders with several AIFSN, {messages}; `countdown` is not "edca"'
    if len({sender.node for sender in senders}) < len(senders):
        yield "assumption 3", 'a node sends in several categories; `countdown` is not "edca"'


def fails(senders: Sequence[tuple[Category, Sequence[UdpFlow]]]) -> bool:
    """Return whether frames can fail, by a collision or by the channel."""
    return len(senders) > 1 or any(item.contender.error_prob > 0 for item, _ in senders)


def doubts(
    scenario: CellScenario, senders: Sequence[tuple[Category, Sequence[UdpFlow]]]
) -> Iterator[Doubt]:
    """Near misses that the user must weigh."""
    for what in unsteady(scenario, scenario.flows):
        yield "assumption 1", what
    if scenario.cell.ack_timeout_s is not None and fails(senders):
        yield (
            "assumption 4",
            "senders of lost frames are taken to wait for EIFS, not for `cell.ack_timeout`; "
            f"goodput was off by up to {100 * TIMEOUT_ERROR:g} %",
        )
    least = min(item.contender.cwmin for item, _ in senders)
    if least < SMALL_CWMIN and len(senders) > 1:
        low = next(error for cwmin, error in SMALL_ERRORS if least <= cwmin)
        yield (
            "assumption 7",
            f"with `cwmin` = {least} senders that collided are likely to collide again; goodput "
            f"was off by up to {100 * low:g} %",
        )
