"""Checks that are common to the models of a WLAN cell and its wire. The checks decide which
scenarios the models support.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from math import inf
from typing import NamedTuple, TypeGuard

from lasthop.models.checks import Check, Table
from lasthop.models.errors import ConvergenceError, Doubt, ModelError, refuse
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import (
    AggregatingCell,
    CellScenario,
    CsmaScenario,
    Flow,
    Readable,
    Scenario,
    SensorFlow,
    Station,
    TcpFlow,
    UdpFlow,
    read,
)

PLAIN = ("drop_tail", "threshold")
"""Queue disciplines that drop a packet only if the queue is full when the packet arrives."""


def is_cell(scenario: Scenario) -> bool:
    """Return whether a scenario is only a WLAN cell and its wire."""
    return isinstance(scenario, CellScenario) and _beyond(scenario) is None


def is_aggregating(scenario: Scenario) -> TypeGuard[CellScenario]:
    """Return whether a scenario has a cell of 802.11n, ac or ax, whose exchanges may have several
    packets.
    """
    return isinstance(scenario, CellScenario) and isinstance(scenario.cell, AggregatingCell)


def cell_scenario(scenario: Readable, *, aggregates: bool = False) -> CellScenario:
    """Return a scenario of a WLAN cell and its wire, after checks.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.
    aggregates : bool
        Whether the exchanges of the cell may have several packets.

    Raises
    ------
    ModelError
        If the scenario has a feature that no model of a cell supports.
    """
    result = read(scenario)
    beyond = _beyond(result, aggregates=aggregates)
    if beyond is None and isinstance(result, CellScenario):
        return result
    why = beyond or "there is no `cell`"
    raise ModelError("cell", why)


def aggregating_scenario(scenario: Readable) -> CellScenario:
    """Return a scenario of a cell that aggregates, after checks.

    Raises
    ------
    ModelError
        If the scenario has no cell of 802.11n, ac or ax.
    """
    result = read(scenario)
    if not is_aggregating(result):
        raise ModelError("cell", "there is no `cell` of 802.11n, ac or ax")
    return result


def _beyond(scenario: Scenario, *, aggregates: bool = False) -> str | None:
    """Return a feature of a scenario that no model of a cell and its wire supports, or None."""
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


def manages(table: str, discipline: str) -> str:
    """Return a message about a queue whose discipline is not drop-tail. `table` is the key path of
    the scenario table that describes the queue's node.
    """
    key = "cell.ap_queue" if table == "cell.ap" else f"{table}.queue"
    return f"`{key}.{discipline}` manages the queue"


PACED = "limited by its application: supported are TCP senders that always have data"
"""End of the message about a TCP connection that its application paces."""


ADAPTS = 'adapts its rate: supported are calls with control = "none"'
"""End of the message about a call whose rate adapts to the network."""


class StationFlow(NamedTuple):
    """A flow of a station, with the key path of the flow's table in the scenario file."""

    key: str
    flow: Flow
    scenario: CellScenario

    @property
    def is_udp(self) -> bool:
        """Whether the flow consists of UDP datagrams."""
        return isinstance(self.flow, UdpFlow)

    @property
    def is_sensor(self) -> bool:
        """Whether the flow consists of the reports of a sensor."""
        return isinstance(self.flow, SensorFlow)

    @property
    def is_paced(self) -> bool:
        """Whether an application determines when the flow's TCP connection has data, or when
        connections for web pages open.
        """
        flow = self.flow
        return isinstance(flow, TcpFlow) and (flow.is_paced or flow.web is not None)

    @property
    def kind(self) -> str:
        """Kind of traffic and a comma; empty for traffic without a name of its own."""
        if not isinstance(self.flow, TcpFlow):
            return ""
        if self.flow.stream is not None:
            return "adaptive video, "
        return "web pages, " if self.flow.web is not None else ""

    @property
    def adapts(self) -> bool:
        """Whether the flow is the video of a call, and adapts its rate to the network."""
        return isinstance(self.flow, UdpFlow) and self.flow.adapts

    @property
    def tcp(self) -> Tcp | None:
        """Settings of the flow's TCP connection; None for other flows."""
        return self.flow.tcp if isinstance(self.flow, TcpFlow) else None

    @property
    def segments(self) -> int | None:
        """Number of segments after which the TCP connection ends; None if it does not end."""
        return self.tcp.segments if self.tcp else None


def station_flows(scenario: CellScenario) -> Iterator[StationFlow]:
    """Yield all flows with their key paths."""
    for flow in scenario.flows:
        yield StationFlow(scenario.flow_key(flow), flow, scenario)


def any_connection(test: Callable[[Tcp], object]) -> Callable[[CellScenario], bool]:
    """Return a function that checks a scenario: whether `test` is true for at least one of the
    scenario's TCP connections.
    """
    return lambda scenario: any(test(flow.tcp) for flow in scenario.tcp_flows)


def active_stations(scenario: CellScenario) -> tuple[Station, ...]:
    """Return the stations that have flows; stations without flows never contend."""
    with_flows = {flow.station for flow in scenario.flows}
    return tuple(station for station in scenario.stations if station.name in with_flows)


NO_FLOW: Check[CellScenario] = Check(
    "assumption 1", lambda scenario: not scenario.flows, "the scenario has no flow"
)
"""Check of the models of saturated senders: the scenario has a flow."""

SATURATED: tuple[Check[StationFlow], ...] = (
    Check(
        "assumption 1",
        lambda flow: flow.is_paced,
        "`{0.key}` is {0.kind}limited by its application: supported are UDP senders that always "
        "have packets",
    ),
    Check("assumption 1", lambda flow: flow.tcp and not flow.is_paced, "`{0.key}` is TCP"),
    Check("assumption 1", lambda flow: flow.is_sensor, "`{0.key}` reports now and then"),
    Check("assumption 1", lambda flow: flow.adapts, "`{0.key}` " + ADAPTS),
)
"""Checks of the models of saturated senders for each flow."""


def long_lived(assumption: str) -> tuple[Check[StationFlow], ...]:
    """Return the checks that a flow is a long-lived TCP connection that always has data."""
    return (
        Check(assumption, lambda flow: flow.is_paced, "`{0.key}` is {0.kind}" + PACED),
        Check(assumption, lambda flow: flow.is_sensor, "`{0.key}` reports now and then"),
        Check(assumption, lambda flow: flow.is_udp, "`{0.key}` is UDP"),
        Check(
            assumption, lambda flow: flow.segments is not None, "`{0.key}.segments` = {0.segments}"
        ),
    )


def runs_bbr(flow: StationFlow) -> bool:
    """Return whether a flow is a TCP connection with BBR of any version. BBR limits its window by
    the delivery rate that it measures, so that neither losses nor the receive window determine the
    window.
    """
    return flow.tcp is not None and flow.tcp.congestion in ("bbr", "bbr3")


def lossless_wire(assumption: str) -> Check[CellScenario]:
    """Return the check that the wire loses no packets; `assumption` is the number of this
    assumption in messages."""
    message = "the wire loses packets, `wire.loss` = {0.wire.loss:g}"
    return Check(assumption, lambda scenario: scenario.wire.loss > 0.0, message)


def several_categories(scenario: CellScenario) -> Iterator[str]:
    """Yield a message if flows have several access categories."""
    if len(categories := sorted({flow.category for flow in scenario.flows})) > 1:
        yield f"flows of several categories: {', '.join(categories)}"


def managed(scenario: CellScenario) -> Iterator[str]:
    """Yield a message about each queue whose discipline is not drop-tail."""
    queues = ((table, node.queue.discipline) for table, node in scenario.nodes())
    yield from dict.fromkeys(manages(*queue) for queue in queues if queue[1] not in PLAIN)


def disturbing(stations: Sequence[Station]) -> Iterator[str]:
    """Yield messages about settings that cause lost frames. Models that assume an ideal channel use
    this check.
    """
    for station in stations:
        for key, error in (("error_up", station.error_up), ("error_down", station.error_down)):
            if error > 0.0:
                yield f"the channel loses frames, `{station.table}.{key}` = {error:g}"
    yield from changing(stations)


def changing(stations: Iterable[Station]) -> Iterator[str]:
    """Yield messages about settings that change a station's channel during a run."""
    groups = dict.fromkeys(each.table for each in stations if each.channel_changes)
    for table in groups:
        yield f"`{table}.channel` changes the channel"


def changing_channels(scenario: CellScenario) -> Iterator[str]:
    """Yield messages about settings that change the channel of a station with flows."""
    return changing(active_stations(scenario))


POWER_SAVE: Check[Station] = Check(
    "assumption 1",
    lambda station: station.power_save_s is not None,
    "`{0.table}.power_save` keeps packets back until the station wakes",
)
SNR: Check[Station] = Check(
    "assumption 4",
    lambda station: station.snr_db is not None,
    "`{0.table}.snr` loses MPDUs by their length; the model supports `mcs` and `error`",
)
"""Check of a station in a cell of 802.11n, ac or ax: its SNR must not be set."""

AGGREGATING: Table[CellScenario] = (
    Check("cell", lambda scenario: scenario.vsb, "a virtual shared bottleneck divides the cell"),
    lossless_wire("cell"),
    Check[CellScenario](
        "cell",
        lambda scenario: any(flow.forward or flow.back for flow in scenario.flows),
        "flows run over links beyond the cell's wire",
    ),
)
"""Checks of a cell of 802.11n, ac or ax, and of its wire."""


ALWAYS_FULL = 1.1
"""Ratio of offered datagram rate to saturated goodput above which a sender certainly always has
datagrams. [-]
"""


class Offer(NamedTuple):
    """Offered datagram rate of a sender, or of a station to which the access point sends."""

    key: str
    rate_bps: float
    goodput_bps: float
    """Goodput of a saturated sender. [bit/s]"""


def offered_bps(flows: Iterable[Flow]) -> float:
    """Return the total rate of the UDP flows among `flows`; infinite if one of these flows is
    greedy. [bit/s]
    """
    udps = (flow.udp for flow in flows if isinstance(flow, UdpFlow))
    return sum(inf if udp.arrivals == "greedy" else udp.rate_bps for udp in udps)


def unsaturated(scenario: CellScenario, offers: Sequence[Offer]) -> list[Doubt]:
    """Return warnings about senders that may not have datagrams at all times.

    Raises
    ------
    ModelError
        If a sender offers fewer datagrams than it can send, or if the wire is slower than the cell.
    """
    short = [offer for offer in offers if offer.rate_bps < ALWAYS_FULL * offer.goodput_bps]
    doubts = [
        ("assumption 1", f"`{key}` offers {rate_bps / 1e6:.4g} Mb/s where {fit / 1e6:.4g} Mb/s fit")
        for key, rate_bps, fit in short
    ]
    is_broken = [offer.rate_bps < offer.goodput_bps for offer in short]
    broken = list(compress(doubts, is_broken))
    slower_bps = scenario.wire.slower_bps
    total_bps = sum(offer.goodput_bps for offer in offers)
    if slower_bps is not None and slower_bps < ALWAYS_FULL * total_bps:
        broken.append(("cell", "`wire.rate` is no higher than the throughput of the cell"))
    refuse(broken)
    return doubts


def need_goodput(goodputs_bps: Iterable[float]) -> None:
    """Raise an error if a sender delivers nothing.

    Raises
    ------
    ConvergenceError
        If collisions and losses leave no goodput.
    """
    if not all(goodput_bps > 0.0 for goodput_bps in goodputs_bps):
        raise ConvergenceError("a sender delivers nothing: all its frames collide or are lost")


def unsteady(scenario: Scenario, flows: Sequence[Flow]) -> Iterator[str]:
    """Yield messages about flows that are not present for the whole measured time."""
    late = sum(flow.start_s > scenario.warmup_s for flow in flows)
    early = sum(flow.stop_s is not None and flow.stop_s < scenario.duration_s for flow in flows)
    if late:
        yield f"flows that start after the warm-up, {late} of {len(flows)}"
    if early:
        yield f"flows that stop before the end, {early} of {len(flows)}"


def unsteady_flows(scenario: CellScenario) -> Iterator[str]:
    """Yield messages about flows of a cell that are not present for the whole measured time."""
    return unsteady(scenario, scenario.flows)
