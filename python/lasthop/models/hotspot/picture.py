"""Conversion of a scenario to stations and connections of the hot-spot model."""

from collections import Counter
from dataclasses import dataclass, replace

from lasthop.models.access import Access
from lasthop.models.dcf.airtime import aifs_s, exchange_s
from lasthop.models.errors import ModelError
from lasthop.models.hotspot.access import beta_from_access
from lasthop.models.hotspot.station import Connections, StationLoad
from lasthop.scenario.typed import BEST_EFFORT, CellScenario, Node, Station, TcpFlow


@dataclass(frozen=True)
class Packets:
    """Packets of a connection in one direction.

    Attributes
    ----------
    size_bytes : int
        Length of a packet on the wire. [bytes]
    access_s : float
        AIFS of the sending node. [s]
    exchange_s : float
        Duration of the exchange of one packet, without AIFS. [s]
    """

    size_bytes: int
    access_s: float
    exchange_s: float


@dataclass(frozen=True)
class Connection:
    """A TCP flow of the scenario.

    Attributes
    ----------
    station : int
        Index of the flow's station.
    upload : bool
        Whether the data comes from the station.
    kind : Connections
        The flow as connections of the model, with ``count`` 1.
    up, down : Packets
        Packets that the station sends, and packets that the AP sends. In an upload, the station
        sends data and the AP sends TCP ACKs; in a download, it is the reverse.
    """

    station: int
    upload: bool
    kind: Connections
    up: Packets
    down: Packets


@dataclass(frozen=True)
class HotSpot:
    """A hot-spot of the model: a cell, its wire and its TCP connections.

    Attributes
    ----------
    stations : tuple of StationLoad
        Stations, in the scenario's order.
    connections : tuple of Connection
        Connections, in the scenario's order.
    ap_buffer : int
        Size of the AP's buffer, :math:`B`. [packets]
    ap_cwmin : int
        Smallest contention window of the AP. [slots]
    slot_s : float
        Slot time. [s]
    wired_round_trip_s : float
        Round-trip time of the wire for a full segment and an ACK, without queueing. [s]
    """

    stations: tuple[StationLoad, ...]
    connections: tuple[Connection, ...]
    ap_buffer: int
    ap_cwmin: int
    slot_s: float
    wired_round_trip_s: float


def hot_spot(scenario: CellScenario, beta: float | None = None) -> HotSpot:
    r"""Return the hot-spot of a scenario of TCP flows.

    Parameters
    ----------
    scenario : CellScenario
    beta : float, optional
        Access priority of every station, :math:`\beta`; by default it follows from the access
        parameters of the station and the AP. [-]

    Raises
    ------
    ModelError
        If a node always sends before another node and starves it (assumption a7).
    """
    index = {station.name: k for k, station in enumerate(scenario.stations)}
    return HotSpot(
        stations=_stations(scenario, beta),
        connections=tuple(
            _connection(scenario, flow, index[flow.station]) for flow in scenario.tcp_flows
        ),
        ap_buffer=scenario.cell.ap.queue_packets,
        ap_cwmin=scenario.cell.ap.cwmin,
        slot_s=scenario.cell.slot_s,
        wired_round_trip_s=scenario.wired_round_trip_s,
    )


def _stations(scenario: CellScenario, beta: float | None) -> tuple[StationLoad, ...]:
    """Return the stations of a scenario of TCP flows as stations of the model, in the scenario's
    order.

    Raises
    ------
    ModelError
        If a node always sends before another node and starves it (assumption a7).
    """
    alike: dict[tuple[str, bool], Counter[Connections]] = {}
    for flow in scenario.tcp_flows:
        alike.setdefault((flow.station, flow.is_up), Counter())[_kind(flow)] += 1

    def connections(station: Station, *, up: bool) -> tuple[Connections, ...]:
        kinds = alike.get((station.name, up), Counter())
        return tuple(replace(kind, count=count) for kind, count in kinds.items())

    def access(node: Node) -> Access:
        return Access.of(node, txop_packets=node.access(BEST_EFFORT).txop_packets or 1)

    ap = access(scenario.cell.ap)
    try:
        return tuple(
            StationLoad(
                connections(station, up=True),
                connections(station, up=False),
                beta_from_access(access(station), ap) if beta is None else beta,
            )
            for station in scenario.stations
        )
    except ValueError as error:
        raise ModelError("a7", str(error)) from error


def _kind(flow: TcpFlow) -> Connections:
    tcp = flow.tcp
    return Connections(1, float(tcp.window_packets), tcp.segments_per_ack, tcp.mss_bytes)


def _connection(scenario: CellScenario, flow: TcpFlow, index: int) -> Connection:
    cell, station, tcp = scenario.cell, scenario.stations[index], flow.tcp
    sizes = (tcp.packet_bytes, tcp.header_bytes)
    up_bytes, down_bytes = sizes if flow.is_up else sizes[::-1]
    return Connection(
        station=index,
        upload=flow.is_up,
        kind=_kind(flow),
        up=Packets(
            up_bytes,
            aifs_s(cell, station.aifsn),
            exchange_s(cell, up_bytes, station.rate_bps, *station.uplink_control_bps),
        ),
        down=Packets(
            down_bytes,
            aifs_s(cell, cell.ap.aifsn),
            exchange_s(cell, down_bytes, station.downlink_rate_bps, *station.downlink_control_bps),
        ),
    )
