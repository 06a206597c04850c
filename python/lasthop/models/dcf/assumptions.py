"""What the models of a saturated cell assume, and where a scenario leaves it."""

from collections.abc import Iterator, Sequence

from lasthop.models.cells import CELL_ALONE, changing, managed, unsteady
from lasthop.models.dcf.zones import Category
from lasthop.models.errors import Doubt
from lasthop.models.reading import CellScenario, TcpFlow, UdpFlow

ASSUMPTIONS = {
    "assumption 1": "that every sender has packets at all times, over UDP",
    "assumption 2": "that a sender's packets of one access category have one size, one rate and "
    "one probability of error",
    "assumption 3": "of equal AIFSN, one access category per node and a CWmin of at least 1 where "
    'counters freeze (`countdown` = "dcf")',
    "assumption 4": "that all nodes resume together after a failure, as with "
    '`ack_timeout` = "eifs"',
    "assumption 5": "of transmission opportunities that no RTS, channel error or CF-End interrupts",
    "assumption 6": "that frames have a fixed rate and are lost with one probability",
    "assumption 7": "that an attempt collides with a probability that does not depend on the past",
    "cell": CELL_ALONE,
}
"""What follows on "the assumption", by number (``docs/papers/dcf.md``)."""

FEW_SLOTS = 7
"""CWmin below which attempts depend on each other too much. [slots]"""


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
    stations = [one for one in scenario.stations if one.name in with_flows]
    for what in changing(stations):
        yield "assumption 6", what
    for station in stations:
        if station.snr_db is not None:
            yield "assumption 6", f"`{station.table}.snr` loses frames by their length; use `error`"
    fails = len(senders) > 1 or any(one.contender.error_prob > 0 for one, _ in senders)
    if cell.ack_timeout_s is not None and fails:
        yield "assumption 4", "`cell.ack_timeout` is a time of its own"
    yield from _of_countdown(scenario, [one for one, _ in senders])
    for one, flows in senders:
        key = scenario.flow_key(flows[0])
        if one.packets > 1 and one.contender.attempts_long is not None:
            yield "assumption 5", f"RTS before the {one.packets} packets of an access of `{key}`"
        if one.packets > 1 and one.contender.error_prob > 0:
            yield "assumption 5", f"packets of `{key}` are lost, and {one.packets} make an access"
        node = scenario.cell.ap if one.node == "ap" else scenario.station[one.node]
        if cell.cf_end and node.access(flows[0].category).txop_limit_s is not None:
            yield "assumption 5", "`cell.cf_end` ends opportunities with a frame of its own"


def _of_countdown(scenario: CellScenario, senders: Sequence[Category]) -> Iterator[Doubt]:
    """Reasons why counters that freeze are outside the model with freezing."""
    if scenario.cell.countdown == "edca":
        return
    aifsns = sorted({one.aifsn for one in senders})
    if len(aifsns) > 1:
        told = ", ".join(map(str, aifsns))
        yield "assumption 3", f"senders with several AIFSN, {told}; `countdown` is not \"edca\""
    if len({one.node for one in senders}) < len(senders):
        yield "assumption 3", 'a node sends in several categories; `countdown` is not "edca"'
    if any(one.contender.cwmin < 1 for one in senders):
        yield "assumption 3", "a sender with `cwmin` = 0 never lets go of the medium"


def doubts(scenario: CellScenario, senders: Sequence[Category]) -> Iterator[Doubt]:
    """Near misses that the user must weigh."""
    for what in unsteady(scenario, scenario.flows):
        yield "assumption 1", what
    least = min(one.contender.cwmin for one in senders)
    if least < FEW_SLOTS and len(senders) > 1:
        yield (
            "assumption 7",
            f"with `cwmin` = {least}, below {FEW_SLOTS}, senders that collided are likely to "
            "collide again",
        )


