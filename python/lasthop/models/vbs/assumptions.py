"""Assumptions of the model (paper 000, sections III-B and IV), and checks of a scenario for
violations.

If a scenario breaks assumptions, :class:`~lasthop.models.errors.ModelError` names all of them. If
it nearly breaks an assumption, the prediction has a warning that the user must consider.
"""

from collections.abc import Iterator

from lasthop.models.cells import (
    PACED,
    PLAIN,
    StationFlow,
    any_connection,
    changing,
    lossless_wire,
    manages,
    station_flows,
    unsteady,
)
from lasthop.models.checks import Check, Each, Messages, Table, violations
from lasthop.models.dcf import airtime
from lasthop.models.errors import Doubt, ModelError, refuse
from lasthop.models.vbs.cell import Cell
from lasthop.models.vbs.fixed_point import Solution, wire_is_long, wire_packets
from lasthop.models.vbs.options import Options
from lasthop.models.vbs.picture import connections
from lasthop.models.vbs.window import GROWTH_ALGORITHMS
from lasthop.scenario.queues import Vbs
from lasthop.scenario.typed import BEST_EFFORT, CellScenario, Node, SensorFlow, Station

MIN_QUEUE = 3.0
"""Packets in the AP's queue below which the AP is not saturated. [packets]"""

SHORT_QUEUE = 10.0
"""Packets in the AP's queue below which a warning is issued that the AP may not be saturated.
[packets]
"""

BUSY_WIRE, LOADED_WIRE = 0.95, 0.8
"""Limits of the load of the wire. Above the first limit the wire is the bottleneck; above the
second limit it may be the bottleneck. [-]
"""

SATURATED = 0.9
"""Fraction of slots in which a station contends, above which a warning is issued: the packets of
uploads then wait at the station. [-]
"""

MIN_ROOM = 4.0
"""Packets per connection in the queue and on the wire, below which duplicate ACKs do not indicate
losses. [packets]
"""

ACKS_LOST = 0.05
"""Error probability of frames with TCP ACKs above which the model warns about assumption 2. [-]
"""

OFTEN = 1.0
"""Number of overflow episodes of the AP's queue per round trip, above which a warning is issued
that episodes overlap. [-]
"""


def stations_with_connections(scenario: CellScenario) -> list[Station]:
    """Return the stations that have TCP connections."""
    active = {flow.station for flow in connections(scenario)}
    return [station for station in scenario.stations if station.name in active]


def _queues(scenario: CellScenario) -> Iterator[str]:
    windows: dict[str, int] = {}
    for flow in scenario.tcp_flows:
        windows[flow.station] = windows.get(flow.station, 0) + flow.tcp.window_packets
    for station in scenario.stations:
        window, room = windows.get(station.name, 0), station.queue_packets
        if window > room:
            yield f"`{station.table}.queue` has room for {room} of its {window} packets"
        if station.queue.discipline not in PLAIN:
            yield manages(station.table, station.queue.discipline)
    ap = scenario.cell.ap
    if ap.queue.discipline not in PLAIN and not isinstance(ap.queue, Vbs):
        yield manages("cell.ap", ap.queue.discipline)
    if ap.queue_order != "fifo":
        yield "`cell.ap.queue_order` is not fifo"


def _shares(scenario: CellScenario) -> Iterator[str]:
    queue = scenario.cell.ap.queue
    if not isinstance(queue, Vbs):
        return
    shared = {name for vbs_class in scenario.cell.vbs_classes for name in vbs_class.flows}
    for flow in connections(scenario):
        if flow.name not in shared:
            yield f"flow {flow.name} is in no class that shares the AP's queue"
    if queue.algorithm == "printed":
        what = 'algorithm = "printed" also blocks while the queue is short'
        yield f"{what}: it has no steady state near c B"
    if queue.share_of == "service" and any(flow.is_up for flow in connections(scenario)):
        yield "shares of the service with uploads, which lost ACKs do not slow down"


def _access(scenario: CellScenario) -> Iterator[Doubt]:
    stations = ((each.table, each) for each in stations_with_connections(scenario))
    nodes: list[tuple[str, Node]] = [("cell.ap", scenario.cell.ap), *stations]
    for table, node in nodes:
        if node.aifsn != 2:
            yield "section III-B", f"`{table}.aifsn` = {node.aifsn}"
        if node.has_bursts:
            yield "section III-B", f"`{table}` has a txop limit"
        if node.cwmin < 1:
            yield "section IV-B", f"`{table}.cwmin` = 0: the node never defers"


def _uses_rts(scenario: CellScenario) -> bool:
    return any(
        airtime.uses_rts(scenario.cell, flow.tcp.packet_bytes) for flow in scenario.tcp_flows
    )


def _sensors(scenario: CellScenario) -> Iterator[str]:
    sensors = [flow.sensor for flow in scenario.flows if isinstance(flow, SensorFlow)]
    if sensors:
        reports = sum(1.0 / sensor.every_s for sensor in sensors)
        yield f"the reports of sensors, {reports:.3g} a second, are left out"


def _has_other_law(flow: StationFlow) -> bool:
    return flow.tcp is not None and flow.tcp.congestion not in GROWTH_ALGORITHMS


def _has_category(flow: StationFlow) -> bool:
    return flow.tcp is not None and flow.flow.category != BEST_EFFORT


def _is_chained(flow: StationFlow) -> bool:
    return flow.tcp is not None and flow.flow.is_up


def refused(options: Options) -> Table[CellScenario]:
    """Return the table of checks that a scenario must pass. The model refuses other scenarios."""
    upload = "option losses = chain, and `{0.key}` is an upload"
    chain = [Check("section VI-C", _is_chained, upload)] if options.losses == "chain" else []
    return (
        Each(
            station_flows,
            Check("section III-B", lambda flow: flow.is_udp, "`{0.key}` is UDP"),
            Check("section III-B", lambda flow: flow.is_paced, "`{0.key}` is " + PACED),
            Check("section III-B", lambda flow: flow.segments, "`{0.key}.segments` = {0.segments}"),
            Check("section III-A", _has_other_law, "`{0.key}` runs {0.tcp.congestion}"),
            Check("section IV-A", lambda flow: flow.tcp and flow.tcp.sack, "`{0.key}.sack` = true"),
            Check("section IV-A", lambda flow: flow.tcp and flow.tcp.ecn, "`{0.key}.ecn` = true"),
            *chain,
            Check("section III-B", _has_category, "`{0.key}.category` is {0.flow.category}"),
        ),
        Messages("section IV-C", _queues),
        Messages("section V", _shares),
        _access,
        Messages("section IV-B", lambda scenario: changing(stations_with_connections(scenario))),
        Check(
            "section II-B",
            lambda scenario: scenario.cell.rate_control != "fixed",
            "`cell.rate_control` = {0.cell.rate_control}",
        ),
        Check("section VI", _uses_rts, "`cell.rts_threshold` enables RTS/CTS"),
        lossless_wire("assumption 1"),
    )


DOUBTED: Table[CellScenario] = (
    Messages("section II", _sensors),
    Messages("section III-B", lambda scenario: unsteady(scenario, connections(scenario))),
    Check(
        "section IV-B",
        lambda scenario: scenario.cell.ack_timeout_s is not None,
        "colliding nodes are taken to wait for EIFS, not for `cell.ack_timeout`",
    ),
    Check(
        "section IV-A",
        any_connection(lambda tcp: tcp.prr or tcp.hystart),
        "neither rate reduction nor HyStart++ is in the window's chain",
    ),
    Check(
        "section IV-A",
        any_connection(lambda tcp: tcp.outgrows_acks),
        "windows of the chain grow per ACK, not per acknowledged segment",
    ),
    Check(
        "section IV-B",
        any_connection(lambda tcp: tcp.ack_processing_s > 0.0),
        "the time that receivers take for an ACK is left out",
    ),
    Check[CellScenario](
        "section IV-B",
        lambda scenario: any(station.snr_db is not None for station in scenario.stations),
        "errors are those of full segments and ACKs at the nominal rates",
    ),
)
"""Checks whose violation causes a warning about a scenario that the model accepts."""


def check_scenario(scenario: CellScenario, options: Options) -> list[Doubt]:
    """Return warnings about a scenario, before it is solved.

    Raises
    ------
    ModelError
        If the scenario breaks assumptions; all of them are named.
    """
    if not connections(scenario):
        raise ModelError("section III-B", "the scenario has no connection")
    refuse(violations(refused(options), scenario))
    return list(dict.fromkeys(violations(DOUBTED, scenario)))


def check_cell(cell: Cell, options: Options) -> list[Doubt]:
    """Return warnings about a cell of the model, before it is solved.

    Raises
    ------
    ModelError
        If the cell breaks assumptions.
    """
    part = cell.occupancy if cell.targets else 1.0
    room = (part * cell.buffer_packets + wire_packets(cell)) / float(cell.counts.sum())
    remaining = part * cell.buffer_packets
    if remaining < MIN_QUEUE:
        raise ModelError(
            "assumption 1",
            f"the AP's queue is to hold {remaining:.2g} packets: it is not always backlogged, and "
            "the cell not the bottleneck",
        )
    if room < MIN_ROOM and not any(cell.uploads):
        raise ModelError(
            "section IV-A",
            f"queue and wire have room for {room:.1f} packets of each connection; below "
            f"{MIN_ROOM:.0f} every loss ends in a timeout, and the window is no chain",
        )
    return list(_doubts_on_cell(cell, options))


def check_channel(cell: Cell) -> None:
    """Raise an error if the channel of a station delivers no frame.

    Raises
    ------
    ModelError
        If the channel of a station loses every frame.
    """
    if any(way.error >= 1.0 for each in cell.classes for way in (each.up, each.down)):
        raise ModelError("section IV-B", "the channel of a station loses every frame")


def _doubts_on_cell(cell: Cell, options: Options) -> Iterator[Doubt]:
    if any(each.up.error >= ACKS_LOST for each in cell.classes if not each.upload):
        yield (
            "assumption 2",
            "ACKs held up by channel errors find the queue full more often when they "
            "call for data; their class gets up to a tenth less than predicted",
        )
    held = wire_packets(cell)
    bursts = options.losses == "bursts" and not any(cell.uploads)
    if bursts and held >= 1.0 and not wire_is_long(cell):
        yield (
            "section IV-C",
            f"the wire holds {held:.0f} packets, about as many as a connection has "
            "in the queue. Losses then depend on the order of packets, and a class with channel "
            "errors gets up to a sixth less than predicted",
        )
    if cell.partitioned and held >= 1.0:
        yield (
            "section V",
            f"the wire holds {held:.0f} packets, and each class has a drop-tail part of the queue: "
            "losses are up to 2.2 times those predicted",
        )
    if any(cell.uploads) and options.losses == "bursts":
        yield (
            "section VI-C",
            "uploads together with downloads are beyond the paper; solved with losses that "
            "meet all packets alike: uploads come out up to a tenth too low, downloads up to a "
            "fifth, and are uncertain if they starve",
        )


def check_solution(solution: Solution, wire_load: float) -> list[Doubt]:
    """Return warnings about the solution.

    Parameters
    ----------
    solution : Solution
    wire_load : float
        Load of the wire in the direction with the higher load. [-]

    Raises
    ------
    ModelError
        If the solution breaks an assumption.
    """
    if solution.occupancy < MIN_QUEUE:
        raise ModelError(
            "assumption 1",
            f"the windows leave {solution.occupancy:.1f} packets for the AP's queue: it is not "
            "always backlogged, and the cell not the bottleneck",
        )
    if wire_load >= BUSY_WIRE:
        raise ModelError(
            "assumption 1", f"the cell would load the wire to {wire_load:.2f} of `wire.rate`"
        )
    return list(_near_misses(solution, wire_load))


def _near_misses(solution: Solution, wire_load: float) -> Iterator[Doubt]:
    if solution.occupancy < SHORT_QUEUE:
        yield "assumption 1", f"the AP's queue holds {solution.occupancy:.1f} packets only"
    if wire_load >= LOADED_WIRE:
        yield "assumption 1", f"the cell loads the wire to about {wire_load:.2f} of its rate"
    if solution.contention.busy.max() >= SATURATED:
        yield "section IV-B", "a station contends nearly always; uploads then wait at the station"
    if solution.episode_rates.max() >= OFTEN:
        yield (
            "section IV-C",
            "the AP's queue overflows in every round trip, so that episodes of "
            "overflow run into each other",
        )
