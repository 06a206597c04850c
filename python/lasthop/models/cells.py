"""Common limits of the models of a WLAN cell and its wire."""

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from lasthop.models.errors import ConvergenceError, Doubt, ModelError, refuse
from lasthop.scenario.typed import (
    AggregatingCell,
    CellScenario,
    CsmaScenario,
    Flow,
    Readable,
    Scenario,
    Station,
    UdpFlow,
    read,
)

PLAIN = ("drop_tail", "threshold")
"""Disciplines under which a packet is lost if, and only if, it finds the queue full."""


def is_cell(scenario: Scenario) -> bool:
    """Return whether a scenario is only a WLAN cell and its wire."""
    return isinstance(scenario, CellScenario) and _beyond(scenario) is None


def is_aggregating(scenario: Scenario) -> TypeGuard[CellScenario]:
    """Return whether a scenario has a cell whose exchanges may have several packets."""
    return isinstance(scenario, CellScenario) and isinstance(scenario.cell, AggregatingCell)


def cell_scenario(scenario: Readable, *, aggregates: bool = False) -> CellScenario:
    """Return a scenario of a WLAN cell and its wire, after checks.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, read or to be read.
    aggregates : bool
        Whether its exchanges may have several packets.

    Raises
    ------
    ModelError
        It has something that no model of a cell knows.
    """
    result = read(scenario)
    beyond = _beyond(result, aggregates=aggregates)
    if beyond is None and isinstance(result, CellScenario):
        return result
    why = beyond or "there is no `cell`"
    raise ModelError("cell", why)


def _beyond(scenario: Scenario, *, aggregates: bool = False) -> str | None:
    """What of a scenario no model of a cell and its wire knows, if anything."""
    if scenario.vsb:
        return "a virtual shared bottleneck shares out the cell"
    if isinstance(scenario, CsmaScenario):
        return "links of `csma` hear only some of each other"
    if is_aggregating(scenario) and not aggregates:
        return f"a cell of {scenario.cell.phy} sends several packets in one exchange"
    for flow in scenario.flows:
        if not flow.station:
            return f"flow {flow.name} runs between wired nodes"
        if flow.forward or flow.back:
            return f"flow {flow.name} runs over links beyond the cell's wire"
    for station in scenario.stations if isinstance(scenario, CellScenario) else ():
        if station.power_save_s is not None:
            return f"`{station.table}.power_save` keeps packets back until the station wakes"
    return None


def managed(scenario: CellScenario) -> Iterator[str]:
    """Yield a message about each queue with another discipline than a drop-tail FIFO."""
    seen = set()
    for table, node in scenario.nodes():
        discipline = node.queue.discipline
        what = manages(table, discipline)
        if discipline not in PLAIN and what not in seen:
            seen.add(what)
            yield what


def manages(table: str, discipline: str) -> str:
    """Return a message about a discipline of the node with this table."""
    key = "cell.ap_queue" if table == "cell.ap" else f"{table}.queue"
    return f"`{key}.{discipline}` manages the queue"


def disturbing(stations: Sequence[Station]) -> Iterator[str]:
    """Yield causes of lost frames of stations, for models of an ideal channel."""
    for station in stations:
        for key, error in (("error_up", station.error_up), ("error_down", station.error_down)):
            if error > 0.0:
                yield f"the channel loses frames, `{station.table}.{key}` = {error:g}"
    yield from changing(stations)


def changing(stations: Sequence[Station]) -> Iterator[str]:
    """Yield causes of changes of stations' channels, for models of a steady state."""
    groups = dict.fromkeys(each.table for each in stations if each.channel_changes)
    for table in groups:
        yield f"`{table}.channel` changes the channel"


ALWAYS_FULL = 1.1
"""Rate of datagrams over goodput from which on a sender always has some, for sure. [-]"""


def unsaturated(
    scenario: CellScenario, senders: Sequence[tuple[Sequence[Flow], float]]
) -> list[Doubt]:
    """Return which senders hardly have datagrams at all times.

    Parameters
    ----------
    scenario : CellScenario
    senders : sequence of (sequence of Flow, float)
        UDP flows that share a queue, and the goodput of a saturated sender. [bit/s]

    Raises
    ------
    ModelError
        A sender has fewer datagrams than it can send, or the wire carries less than the cell.
    ConvergenceError
        Collisions and losses leave no goodput.
    """
    if not all(goodput_bps > 0.0 for _, goodput_bps in senders):
        raise ConvergenceError("a sender delivers nothing: all its frames collide or are lost")
    broken: list[Doubt] = []
    doubted: list[Doubt] = []
    for flows, goodput_bps in senders:
        rate_bps = 0.0
        for flow in flows:
            assert isinstance(flow, UdpFlow)
            greedy = flow.udp.arrivals == "greedy"
            rate_bps += float("inf") if greedy else flow.udp.rate_bps
        if rate_bps < ALWAYS_FULL * goodput_bps:
            key = scenario.flow_key(flows[0])
            what = (
                f"`{key}` offers {rate_bps / 1e6:.4g} Mb/s where {goodput_bps / 1e6:.4g} Mb/s fit"
            )
            (broken if rate_bps < goodput_bps else doubted).append(("assumption 1", what))
    slower_bps = scenario.wire.slower_bps
    if slower_bps is not None and slower_bps < ALWAYS_FULL * sum(own for _, own in senders):
        broken.append(("cell", "`wire.rate` is no higher than the throughput of the cell"))
    refuse(broken)
    return doubted


def unsteady(scenario: Scenario, flows: Sequence[Flow]) -> Iterator[str]:
    """Yield messages about flows that are not present for the whole measured time."""
    late = sum(flow.start_s > scenario.warmup_s for flow in flows)
    early = sum(flow.stop_s is not None and flow.stop_s < scenario.duration_s for flow in flows)
    if late:
        yield f"flows that start after the warm-up, {late} of {len(flows)}"
    if early:
        yield f"flows that stop before the end, {early} of {len(flows)}"
