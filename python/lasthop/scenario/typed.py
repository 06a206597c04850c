"""The checked scenario as typed values: read once, and then trusted.

The engine has checked the scenario and filled in every default. A class has the settings of a table
that Python uses, and a field has the name of its key, with the unit. `lasthop.scenario.from_json`
reads the classes. A setting of the engine that no Python code uses needs no field.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, ClassVar, Literal, TypeAlias

from lasthop.scenario.csma import Csma
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.scenario.queues import Queue
from lasthop.scenario.transports import Tcp, Udp, carrier


class Web(Table):
    """Web traffic: connections that come and go."""

    connections_per_s: float


class Report(Table):
    """When a sensor reports, and over which protocol: one of the two."""

    every_s: float
    arrivals: Literal["constant", "poisson"]
    deadline_s: float
    """A report that arrives later counts as lost."""
    tcp: Tcp | None = None
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport of the reports."""
        return carrier(self.tcp, self.udp)


class CallPart(Table):
    """The part of a call that a flow is."""

    number: int
    """Number of the call at its host, from 1 on."""
    medium: Literal["audio", "video"]
    direction: Literal["up", "down"]
    """Direction of the flow, also between wired nodes."""


class Flow(Table, ABC):
    """Common values of all flows."""

    name: str
    class_name: str = named("class")
    station: str
    """Its station; empty between wired nodes."""
    direction: str
    """The way of its data; empty between wired nodes."""
    forward: tuple[str, ...]
    """Links of its data, beyond a cell and its wire."""
    back: tuple[str, ...]
    """Links of its ACKs, beyond a cell and its wire."""
    category: str
    start_s: float
    start_spread_s: float
    stop_s: float | None
    settings: ClassVar[tuple[str, str]]
    """Keys of a station's table that make such flows, up and down."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Flow]":
        """Return the class of a flow."""
        if "sensor" in tree:
            return SensorFlow
        return TcpFlow if "tcp" in tree else UdpFlow

    @property
    def is_up(self) -> bool:
        """Whether its data goes from a station to the access point."""
        return self.direction == "up"

    @property
    @abstractmethod
    def transport(self) -> Tcp | Udp:
        """Transport of its data."""

    @property
    def setting(self) -> str:
        """The key of a station's table that makes such flows."""
        up, down = self.settings
        return up if self.is_up else down


class TcpFlow(Flow):
    """A flow over TCP."""

    settings = ("upload", "download")
    tcp: Tcp
    web: Web | None = None

    @property
    def transport(self) -> Tcp:
        """Transport of its data."""
        return self.tcp


class UdpFlow(Flow):
    """A flow of datagrams."""

    settings = ("udp_up", "udp_down")
    udp: Udp
    call: CallPart | None = None

    @property
    def setting(self) -> str:
        """The key of a station's table that makes such flows."""
        return super().setting if self.call is None else "call"

    @property
    def transport(self) -> Udp:
        """Transport of its data."""
        return self.udp


class SensorFlow(Flow):
    """A flow of rare reports."""

    settings = ("sensor_up", "sensor_down")
    sensor: Report

    @property
    def transport(self) -> Tcp | Udp:
        """Transport of its data."""
        return self.sensor.transport


BEST_EFFORT = "best-effort"
"""Category of flows that name none; its access parameters are the node's own."""


class Aggregation(Table):
    """How a node aggregates, and what it takes."""

    mpdus: int
    """MPDUs in an A-MPDU, and the window of a block acknowledgement."""
    most_bytes: int = named("bytes")
    """Longest PSDU. [bytes]"""
    time_s: float
    """Longest PPDU. [s]"""
    amsdu_bytes: int | None
    """Longest A-MSDU; None: an MPDU has one packet."""
    attempts: int | None
    """Attempts for an MPDU; None: no limit."""
    bar_after_failure: bool
    reorder_timeout_s: float | None


class AccessCategory(Table):
    """Access parameters of a category at a node."""

    aifsn: int
    cwmin: int
    cwmax: int
    txop_packets: int | None
    txop_limit_s: float | None
    aggregation: Aggregation | None = None
    """Where a category differs from best effort; None in cells without aggregates."""

    @property
    def has_bursts(self) -> bool:
        """Whether more than one packet may be sent at an access."""
        return self.txop_packets != 1 or self.txop_limit_s is not None


class Node(AccessCategory):
    """Access point or station; its own access parameters are those of best effort."""

    attempts_short: int
    attempts_long: int
    queue_packets: int
    queue: Queue
    voice: AccessCategory
    video: AccessCategory
    background: AccessCategory

    def access(self, category: str) -> AccessCategory:
        """Access parameters of a category."""
        others = {"voice": self.voice, "video": self.video, "background": self.background}
        return self if category == BEST_EFFORT else others[category]

    def aggregates(self, category: str) -> Aggregation | None:
        """Return the aggregation of the node in a category; None in a cell without aggregates."""
        return self.access(category).aggregation or self.aggregation


class AccessPoint(Node):
    """The access point of a cell."""

    queue_order: Literal["fifo", "mixed"]


class Channel(Table):
    """Errors and rates of a station's channel."""

    error_up: float
    error_down: float
    ack_error_up: float
    ack_error_down: float
    snr_db: float | None


class ChannelChange(Channel):
    """The channel of a station from an instant on."""

    at_s: float


class Station(Node, Channel):
    """A station of a cell."""

    name: str
    group: str
    """Its table in the file."""
    rate_bps: float
    downlink_rate_bps: float
    uplink_rts_rate_bps: float
    uplink_response_rate_bps: float
    downlink_rts_rate_bps: float
    downlink_response_rate_bps: float
    channel_changes: tuple[ChannelChange, ...] = ()
    power_save_s: float | None = None
    """How long it stays awake after a frame; None: it never sleeps."""
    phy: Literal["802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"] | None = None
    """Physical layer of a station in a cell that aggregates."""
    mcs: int | None = None
    streams: int | None = None
    mcs_by_snr: bool = False
    """Whether the SNR chooses the MCS."""

    @property
    def table(self) -> str:
        """Key path of its table."""
        return f"station.{self.group}"

    @property
    def uplink_control_bps(self) -> tuple[float, float]:
        """Rates of RTS and of the responses, on the uplink. [bit/s]"""
        return self.uplink_rts_rate_bps, self.uplink_response_rate_bps

    @property
    def downlink_control_bps(self) -> tuple[float, float]:
        """Rates of RTS and of the responses, on the downlink. [bit/s]"""
        return self.downlink_rts_rate_bps, self.downlink_response_rate_bps


class VbsClass(Table):
    """Flows that have a share of the access point's queue."""

    name: str
    share: float
    target_share: float
    flows: tuple[str, ...]


class Cell(Table):
    """A WLAN cell."""

    phy: Literal["802.11b", "802.11g", "802.11g-long", "802.11a", "802.11n", "802.11ac", "802.11ax"]
    slot_s: float
    sifs_s: float
    preamble_s: float
    eifs_rate_bps: float
    mac_header_bytes: int
    llc_bytes: int
    rts_threshold_bytes: int | None
    ack_timeout_s: float | None
    countdown: Literal["dcf", "edca"]
    cf_end: bool
    rate_control: str
    ap: AccessPoint
    vbs_classes: tuple[VbsClass, ...] = ()

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Cell]":
        """Return the class of a cell."""
        return AggregatingCell if "band" in tree else Cell


class AggregatingCell(Cell):
    """A cell of 802.11n, ac or ax."""

    band: Literal["2.4 GHz", "5 GHz", "6 GHz"]
    width: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz"]
    guard_interval_s: float
    ltf_s: float | None
    """HE-LTF without its guard interval; None: no HE. [s]"""
    packet_padding_s: float | None
    """Nominal packet padding; None: no HE. [s]"""
    coding: Literal["bcc", "ldpc"]
    durations: Literal["standard", "ns-3"]
    eifs: Literal["expected", "ack"]
    rts_longer_than_s: float | None


class Trace(Table):
    """Opportunities to send in the place of a constant rate, which is then their mean."""

    opportunities: int
    period_s: float


class Wire(Table):
    """The wire between a cell and the servers."""

    rate_bps: float | None
    """Rate towards the cell, of a trace its mean."""
    delay_s: float
    loss: float
    back_rate_bps: float | None = None
    """Rate towards the servers, if it is another."""
    trace: Trace | None = None
    back_trace: Trace | None = None
    queue_packets: int = 0
    queue: Queue | None = None
    """The queue of each direction."""
    loss_every: int | None = None
    """Number of packets per loss, if losses are periodic."""

    @property
    def slower_bps(self) -> float | None:
        """Rate of the slower direction; None if neither has one."""
        return min(filter(None, (self.rate_bps, self.back_rate_bps)), default=None)


class Link(Table):
    """A wired link."""

    name: str
    rate_bps: float | None
    """Rate, of a trace its mean."""
    delay_s: float
    queue_packets: int
    queue: Queue
    loss: float
    of_host: bool
    """Whether it leads to or from the host of a single flow."""
    jitter_s: float = 0.0
    loss_every: int | None = None
    """Number of packets per loss, if losses are periodic."""
    trace: Trace | None = None


class Recording(Table):
    """Recorded parts of the first replication."""

    series_interval_s: float | None
    frames: int | None
    from_s: float


class Program(Table):
    """Program at a place of an emulation."""

    place: str
    commands: tuple[str, ...]


class StationGroup(Table):
    """Stations with a share of a virtual shared bottleneck."""

    share: float
    max_bps: float | None
    stations: tuple[str, ...]


class SharedBottleneck(Table):
    """Virtual shared bottleneck in front of a cell."""

    fairness: str
    udp: str
    rate_bps: float | None
    """Fixed rate; None if it is estimated. [bit/s]"""
    start_s: float
    groups: tuple[StationGroup, ...] = ()


class Scenario(Table):
    """A checked scenario; a network of wires if it is of no class below."""

    name: str
    duration_s: float
    warmup_s: float
    replications: int
    seed: int
    wire: Wire
    vsb: SharedBottleneck | None
    stations: Sequence[Station]
    links: Sequence[Link]
    """Links of routers, then links of hosts."""
    flows: Sequence[Flow]
    record: Recording
    programs: tuple[Program, ...] = ()

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Scenario]":
        """Return the class of a scenario."""
        if tree.get("csma"):
            return CsmaScenario
        return Scenario if tree["cell"] is None else CellScenario

    @property
    def is_network(self) -> bool:
        """Whether it has only wires."""
        return type(self) is Scenario

    @cached_property
    def routers(self) -> tuple[Link, ...]:
        """Links of no host; those of hosts are not read for it."""
        return tuple(takewhile(lambda link: not link.of_host, self.links))

    @cached_property
    def tcp_flows(self) -> tuple[TcpFlow, ...]:
        """Flows over TCP, without sensors' reports."""
        return tuple(flow for flow in self.flows if isinstance(flow, TcpFlow))

    @cached_property
    def udp_flows(self) -> tuple[UdpFlow, ...]:
        """Flows of datagrams, without sensors' reports."""
        return tuple(flow for flow in self.flows if isinstance(flow, UdpFlow))

    @property
    def wired_round_trip_s(self) -> float:
        """Round-trip time of the wire for the first TCP flow's segments, without queueing. [s]"""
        time, rate_bps = 2.0 * self.wire.delay_s, self.wire.slower_bps
        if rate_bps is not None and self.tcp_flows:
            tcp = self.tcp_flows[0].tcp
            time += 8.0 * (tcp.mss_bytes + 2 * tcp.header_bytes) / rate_bps
        return time

    @cached_property
    def station(self) -> Mapping[str, Station]:
        """Stations by name."""
        return {station.name: station for station in self.stations}

    def flow_key(self, flow: Flow) -> str:
        """Key path of the table of a station's flow."""
        return f"{self.station[flow.station].table}.{flow.setting}"


class CellScenario(Scenario):
    """A scenario with a WLAN cell, perhaps connected to wires."""

    cell: Cell

    def nodes(self) -> Iterator[tuple[str, Node]]:
        """Yield the access point and all stations, each with the key path of its table."""
        yield "cell.ap", self.cell.ap
        for station in self.stations:
            yield station.table, station


class CsmaScenario(Scenario):
    """A scenario by a conflict graph."""

    csma: Csma


Readable: TypeAlias = Scenario | Mapping[str, Any]
"""A scenario read, or the normalised tree that is to be read."""


def read(scenario: Readable) -> Scenario:
    """Return a normalised scenario as typed values; a scenario that has been read is unchanged."""
    return scenario if isinstance(scenario, Scenario) else read_as(Scenario, scenario)
