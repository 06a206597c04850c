"""Conversion of a normalised scenario to a cell of the vbs model."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from lasthop.models.access import Access
from lasthop.models.dcf import airtime
from lasthop.models.vbs.cell import Cell, FlowClass, Frame, StationKind
from lasthop.models.vbs.window import WindowGrowth
from lasthop.scenario import typed
from lasthop.scenario.queues import Vbs
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import CellScenario, Flow, SensorFlow, Station, TcpFlow

NO_SHARING = 0.6
"""Arbitrary value of `Cell.occupancy` for a cell without virtual buffer sharing. [-]
"""


@dataclass(frozen=True)
class Picture:
    """A cell of the model, with the class of each flow and the group of each station of the
    scenario.

    Attributes
    ----------
    cell : Cell
    class_of : Mapping
        Index of each flow's class in `cell.classes`, by the name of the flow.
    station_of : Mapping
        Index of each station's group in `cell.stations`, by the name of the station; stations
        without flows are left out.
    """

    cell: Cell
    class_of: Mapping[str, int]
    station_of: Mapping[str, int]


def connections(scenario: CellScenario) -> list[Flow]:
    """Return all flows except the flows of sensors. The load of sensors is negligible."""
    return [flow for flow in scenario.flows if not isinstance(flow, SensorFlow)]


def picture_of(scenario: CellScenario) -> Picture:
    """Return the cell of a scenario of TCP flows.

    Parameters
    ----------
    scenario : CellScenario
        Scenario that `check_scenario` has accepted.
    """
    cell, queue = scenario.cell, scenario.cell.ap.queue
    sharing = _sharing(scenario)
    flows_at: dict[str, list[TcpFlow]] = {}
    for flow in scenario.tcp_flows:
        flows_at.setdefault(flow.station, []).append(flow)
    kinds: dict[Hashable, int] = {}
    station_of: dict[str, int] = {}
    nodes: list[Station] = []
    for node in scenario.stations:
        if node.name not in flows_at:
            continue
        what = Counter(_likeness(flow, sharing) for flow in flows_at[node.name])
        key = (_station_likeness(node), frozenset(what.items()))
        if key not in kinds:
            kinds[key] = len(nodes)
            nodes.append(node)
        station_of[node.name] = kinds[key]
    members = Counter(station_of.values())
    class_of: dict[str, int] = {}
    classes: dict[Hashable, int] = {}
    examples: list[TcpFlow] = []
    for flow in scenario.tcp_flows:
        kind = (station_of[flow.station], _likeness(flow, sharing))
        if kind not in classes:
            classes[kind] = len(examples)
            examples.append(flow)
        class_of[flow.name] = classes[kind]
    counts = Counter(class_of.values())
    shared = queue if isinstance(queue, Vbs) else None
    return Picture(
        Cell(
            classes=tuple(
                _flow_class(
                    cell,
                    nodes[station_of[flow.station]],
                    flow,
                    counts[k],
                    station_of[flow.station],
                    sharing.get(flow.name),
                )
                for k, flow in enumerate(examples)
            ),
            stations=tuple(
                StationKind(members[k], Access.of(node)) for k, node in enumerate(nodes)
            ),
            ap=Access.of(cell.ap),
            buffer_packets=cell.ap.queue_packets,
            slot_s=cell.slot_s,
            wire_s=scenario.wired_round_trip_s,
            frozen=cell.countdown == "dcf",
            targets=tuple(vbs_class.share for vbs_class in cell.vbs_classes) if shared else (),
            names=tuple(vbs_class.name for vbs_class in cell.vbs_classes) if shared else (),
            occupancy=shared.occupancy if shared else NO_SHARING,
            regulated=shared is not None and shared.algorithm == "regulated",
            partitioned=shared is not None and shared.algorithm == "partition",
        ),
        class_of,
        station_of,
    )


def _sharing(scenario: CellScenario) -> dict[str, int]:
    """Return the index of each flow's class in virtual buffer sharing, by the name of the flow."""
    if not isinstance(scenario.cell.ap.queue, Vbs):
        return {}
    classes = scenario.cell.vbs_classes
    return {name: k for k, vbs_class in enumerate(classes) for name in vbs_class.flows}


def _station_likeness(node: Station) -> Hashable:
    """Return the properties of a station, except for its connections, that must be equal within a
    group.
    """
    return (
        node.rate_bps,
        node.downlink_rate_bps,
        node.uplink_response_rate_bps,
        node.downlink_response_rate_bps,
        node.error_up,
        node.error_down,
        node.ack_error_up,
        node.ack_error_down,
        node.cwmin,
        node.cwmax,
        node.attempts_short,
    )


def _likeness(flow: TcpFlow, sharing: Mapping[str, int]) -> Hashable:
    """Return the properties of a connection that must be equal within a class."""
    tcp = flow.tcp
    return (
        flow.direction,
        sharing.get(flow.name),
        tcp.compound if tcp.congestion == "compound" else None,
        tcp.window_packets,
        tcp.delayed_ack,
        tcp.mss_bytes,
        tcp.header_bytes,
        tcp.min_rto_s,
    )


def _flow_class(
    cell: typed.Cell,
    node: Station,
    flow: TcpFlow,
    count: int,
    station: int,
    sharing: int | None,
) -> FlowClass:
    tcp, upload = flow.tcp, flow.is_up
    return FlowClass(
        count=count,
        station=station,
        upload=upload,
        down=_frame(
            cell,
            tcp.header_bytes if upload else tcp.packet_bytes,
            node.downlink_rate_bps,
            node.downlink_response_rate_bps,
            cell.ap.aifsn,
            node.ack_error_down if upload else node.error_down,
        ),
        up=_frame(
            cell,
            tcp.packet_bytes if upload else tcp.header_bytes,
            node.rate_bps,
            node.uplink_response_rate_bps,
            node.aifsn,
            node.error_up if upload else node.ack_error_up,
        ),
        growth=_growth(tcp),
        payload_bytes=tcp.mss_bytes,
        min_rto_s=tcp.min_rto_s,
        sharing=sharing,
    )


def _frame(
    cell: typed.Cell,
    packet_bytes: int,
    rate_bps: float,
    response_bps: float,
    aifsn: int,
    error: float,
) -> Frame:
    data_s = airtime.frame_s(cell, airtime.data_bytes(cell, packet_bytes), rate_bps)
    exchange_s = airtime.exchange_s(cell, packet_bytes, rate_bps, response_bps, response_bps)
    return Frame(
        success_s=exchange_s + airtime.aifs_s(cell, aifsn),
        failure_s=data_s + airtime.eifs_s(cell, aifsn),
        error=error,
    )


def _growth(tcp: Tcp) -> WindowGrowth:
    """Return the growth and reduction of a connection's window. Reno is treated as Compound TCP
    without the delay window.
    """
    is_compound, compound = tcp.congestion == "compound", tcp.compound
    return WindowGrowth(
        tcp.window_packets,
        alpha=compound.alpha if is_compound else 0.0,
        kappa=compound.k,
        beta=compound.beta if is_compound else 0.5,
        gamma=compound.gamma_packets,
        segments_per_ack=tcp.segments_per_ack,
    )
