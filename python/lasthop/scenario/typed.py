"""Typed values of a checked scenario, which are converted once and not checked again.

The engine has checked the scenario and filled in every default. Each class contains those settings
of a table that Python code uses. The name of a field is that of the normalised key, with the unit.
`lasthop.scenario.from_json` converts JSON to these classes.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, ClassVar, Literal, TypeAlias

from lasthop.scenario.csma import Csma
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.scenario.queues import Queue
from lasthop.scenario.transports import Application, Ping, Stream, Tcp, Udp, carrier


class Web(Table):
    """Settings of web traffic, which consists of short connections."""

    connections_per_s: float


class Report(Table):
    """Settings of a sensor's reports; the transport protocol is either TCP or UDP."""

    every_s: float
    arrivals: Literal["constant", "poisson"]
    deadline_s: float
    """Largest delay of a report; a report that arrives later counts as lost. [s]"""
    tcp: Tcp | None = None
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport protocol of the reports."""
        return carrier(self.tcp, self.udp)


class CallControl(Table):
    """Congestion control of a call's video, and the bounds of its rate."""

    name: Literal["gcc"]
    min_rate_bps: float
    start_rate_bps: float
    """Rate before the first feedback. [bit/s]"""
    max_rate_bps: float


class CallPart(Table):
    """Call to which a flow belongs, and the flow's direction in the call."""

    number: int
    """Number of the call at its station or host, starting with 1."""
    medium: Literal["audio", "video"]
    direction: Literal["up", "down"]
    """Direction of the flow in the call; a call between wired nodes also has directions."""
    control: CallControl | None = None
    """Congestion control of a video that adapts; None if the rate is constant."""


class FlowHosts(Table):
    """Hosts and DSCP of a flow between wired nodes, by which CAKE distinguishes flows."""

    from_host: str
    """Name of the host at the node `from`; empty if the host has no other flow."""
    to_host: str
    from_nat: str
    """Router with NAT in front of the host at the node `from`; empty if there is none."""
    to_nat: str
    dscp: str


class Flow(Table, ABC):
    """Settings that all kinds of flows have in common."""

    name: str
    class_name: str = named("class")
    station: str
    """Name of the flow's station; empty for a flow between wired nodes."""
    direction: str
    """Direction of the flow's data at its station; empty for a flow between wired nodes."""
    forward: tuple[str, ...]
    """Names of the wired links on the data's path. A cell and its wire are not listed."""
    back: tuple[str, ...]
    """Names of the wired links on the ACKs' path. A cell and its wire are not listed."""
    category: str
    start_s: float
    start_spread_s: float
    stop_s: float | None
    hosts: FlowHosts | None = None
    """Hosts and DSCP of a flow between wired nodes; None if the file sets none of them."""
    settings: ClassVar[tuple[str, str]]
    """Keys in a station's table that define flows of this kind: the uplink key, then the downlink
    key.
    """

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Flow]":
        """Return the class for the kind of a flow."""
        if "sensor" in tree:
            return SensorFlow
        if "ping" in tree:
            return PingFlow
        return TcpFlow if "tcp" in tree else UdpFlow

    @property
    def is_up(self) -> bool:
        """Whether the flow's data is sent by a station to the access point."""
        return self.direction == "up"

    @property
    @abstractmethod
    def transport(self) -> Tcp | Udp | Ping:
        """Settings of the transport protocol that carries the data, or of the pings."""

    @property
    def setting(self) -> str:
        """Key in a station's table that defines this flow."""
        up, down = self.settings
        return up if self.is_up else down


class TcpFlow(Flow):
    """A flow over TCP."""

    settings = ("upload", "download")

    @property
    def group(self) -> str:
        """Name of the flow's group of connections at its station; empty without a group."""
        parts = self.name.split("/")
        return parts[2] if self.station and len(parts) == 4 else ""

    @property
    def setting(self) -> str:
        """Key path in a station's table that defines this flow."""
        key = super().setting
        if self.station and (self.web or self.stream):
            key = "web" if self.web else "stream"
        return f"{key}.{self.group}" if self.group else key

    tcp: Tcp
    web: Web | None = None
    """Web pages whose responses are the data; None for other connections."""
    stream: Stream | None = None
    """Adaptive video that the connection carries; None for other connections."""
    application: Application | None = None
    """Application that writes the data; None if TCP always has data to send."""

    @property
    def is_paced(self) -> bool:
        """Whether an application determines when the connection has data to send."""
        written = self.application
        return self.stream is not None or (written is not None and written.paces)

    @property
    def has_periods(self) -> bool:
        """Whether an application writes chunks, or pauses."""
        written = self.application
        if written is None:
            return self.stream is not None
        return (written.every_s, written.on_s) != (None, None)

    @property
    def transport(self) -> Tcp:
        """Settings of the TCP connection."""
        return self.tcp


class UdpFlow(Flow):
    """A flow of datagrams."""

    settings = ("udp_up", "udp_down")
    udp: Udp
    call: CallPart | None = None

    @property
    def adapts(self) -> bool:
        """Whether the flow is the video of a call, and adapts its rate to the network."""
        return self.call is not None and self.call.control is not None

    @property
    def setting(self) -> str:
        """Key in a station's table that defines this flow."""
        return super().setting if self.call is None else "call"

    @property
    def transport(self) -> Udp:
        """Settings of the datagram source."""
        return self.udp


class SensorFlow(Flow):
    """A flow of sensor reports."""

    settings = ("sensor_up", "sensor_down")
    sensor: Report

    @property
    def transport(self) -> Tcp | Udp:
        """Settings of the transport protocol that carries the reports."""
        return self.sensor.transport


class PingFlow(Flow):
    """A flow of pings, which measures round-trip times and does not compete for capacity. Requests
    have the direction of the flow, and replies the opposite direction."""

    settings = ("ping", "ping")
    ping: Ping

    @property
    def transport(self) -> Ping:
        """Settings of the pings."""
        return self.ping


def without_pings(flows: Sequence[Flow]) -> Sequence[Flow]:
    """Return the flows that carry traffic, without pings."""
    return tuple(flow for flow in flows if not isinstance(flow, PingFlow))


BEST_EFFORT = "best-effort"
"""Default access category of flows. The fields of `Node` are the EDCA parameters of this category.
"""


class Aggregation(Table):
    """Limits of the aggregates that a node sends."""

    mpdus: int
    """Maximum number of MPDUs in an A-MPDU, and size of the BlockAck window."""
    most_bytes: int = named("bytes")
    """Longest PSDU. [bytes]"""
    time_s: float
    """Longest PPDU. [s]"""
    amsdu_bytes: int | None
    """Longest A-MSDU; None if each MPDU contains one packet. [bytes]"""
    attempts: int | None
    """Maximum number of attempts per MPDU; None if there is no limit."""
    bar_after_failure: bool
    reorder_timeout_s: float | None


class AccessCategory(Table):
    """EDCA parameters of one access category at a node."""

    aifsn: int
    cwmin: int
    cwmax: int
    txop_packets: int | None
    txop_limit_s: float | None
    aggregation: Aggregation | None = None
    """Limits of aggregates in this category, if they differ from those of best effort; None in
    cells without aggregation.
    """

    @property
    def has_bursts(self) -> bool:
        """Whether more than one packet may be sent per TXOP."""
        return self.txop_packets != 1 or self.txop_limit_s is not None


class Node(AccessCategory):
    """An access point or station. The EDCA parameters that the class inherits from `AccessCategory`
    are those of best effort."""

    attempts_short: int
    attempts_long: int
    queue_packets: int
    queue: Queue
    voice: AccessCategory
    video: AccessCategory
    background: AccessCategory

    def access(self, category: str) -> AccessCategory:
        """Return the EDCA parameters of an access category at this node."""
        others = {"voice": self.voice, "video": self.video, "background": self.background}
        return self if category == BEST_EFFORT else others[category]

    def aggregates(self, category: str) -> Aggregation | None:
        """Return the limits of aggregates in an access category; None in a cell without
        aggregation.
        """
        return self.access(category).aggregation or self.aggregation


class AccessPoint(Node):
    """The access point of a cell."""

    queue_order: Literal["fifo", "mixed"]


class Channel(Table):
    """Frame errors and data rates of a station's channel."""

    error_up: float
    error_down: float
    ack_error_up: float
    ack_error_down: float
    snr_db: float | None


class ChannelChange(Channel):
    """Values of a station's channel from a point in time on."""

    at_s: float


class Station(Node, Channel):
    """A station of a cell."""

    name: str
    group: str
    """Name of the station's table in the file. One table may define several stations."""
    rate_bps: float
    downlink_rate_bps: float
    uplink_rts_rate_bps: float
    uplink_response_rate_bps: float
    downlink_rts_rate_bps: float
    downlink_response_rate_bps: float
    channel_changes: tuple[ChannelChange, ...] = ()
    power_save_s: float | None = None
    """Time for which a station in power save stays awake after a frame; None without power save.
    [s]
    """
    phy: Literal["802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"] | None = None
    """Physical layer of the station; None in a cell without aggregation."""
    mcs: int | None = None
    streams: int | None = None
    mcs_by_snr: bool = False
    """Whether the MCS is derived from the SNR."""

    @property
    def table(self) -> str:
        """Key path of the station's table in the file."""
        return f"station.{self.group}"

    @property
    def uplink_control_bps(self) -> tuple[float, float]:
        """PHY rates for uplink frames: the rate of the RTS, and the rate of CTS and ACK. [bit/s]"""
        return self.uplink_rts_rate_bps, self.uplink_response_rate_bps

    @property
    def downlink_control_bps(self) -> tuple[float, float]:
        """PHY rates for downlink frames: the rate of the RTS, and the rate of CTS and ACK.
        [bit/s]"""
        return self.downlink_rts_rate_bps, self.downlink_response_rate_bps


class VbsClass(Table):
    """Class of flows with a common target in the access point's queue."""

    name: str
    share: float
    target_share: float
    flows: tuple[str, ...]


class Cell(Table):
    """Settings of a WLAN cell."""

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
        """Return the class for a cell, with or without aggregation."""
        return AggregatingCell if "band" in tree else Cell


class AggregatingCell(Cell):
    """Settings of a cell of 802.11n, ac or ax."""

    band: Literal["2.4 GHz", "5 GHz", "6 GHz"]
    width: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz"]
    guard_interval_s: float
    ltf_s: float | None
    """Duration of the HE-LTF symbol without its guard interval; None before 802.11ax. [s]"""
    packet_padding_s: float | None
    """Nominal packet padding; None before 802.11ax. [s]"""
    coding: Literal["bcc", "ldpc"]
    durations: Literal["standard", "ns-3"]
    eifs: Literal["expected", "ack"]
    rts_longer_than_s: float | None


class Trace(Table):
    """Trace of the times at which a link may send. The trace replaces a constant rate. The rate of
    such a link is the mean of the trace.
    """

    opportunities: int
    period_s: float


class Wire(Table):
    """Settings of the wire between a cell and the servers."""

    rate_bps: float | None
    """Rate towards the cell; None if it is unlimited. If the rate follows a trace, the value is the
    mean rate of the trace. [bit/s]
    """
    delay_s: float
    loss: float
    back_rate_bps: float | None = None
    """Rate towards the servers; None if it equals `rate_bps`. [bit/s]"""
    trace: Trace | None = None
    back_trace: Trace | None = None
    queue_packets: int = 0
    queue: Queue | None = None
    """Queue of each direction of the wire; None if the wire has no queue. With `back_queue`, the
    queue is that towards the cell.
    """
    back_queue_packets: int | None = None
    back_queue: Queue | None = None
    """Queue towards the servers; None if it equals `queue`."""
    loss_every: int | None = None
    """N if one of every N packets is lost; None if losses are not periodic."""

    @property
    def slower_bps(self) -> float | None:
        """Rate of the slower direction; None if both directions are unlimited. [bit/s]"""
        return min(filter(None, (self.rate_bps, self.back_rate_bps)), default=None)


class Link(Table):
    """Settings of a wired link."""

    name: str
    rate_bps: float | None
    """Rate of the link; None if it is unlimited. If the rate follows a trace, the value is the mean
    rate of the trace. [bit/s]
    """
    delay_s: float
    queue_packets: int
    queue: Queue
    loss: float
    of_host: bool
    """Whether the link is an access link of a host with a single flow."""
    jitter_s: float = 0.0
    loss_every: int | None = None
    """N if one of every N packets is lost; None if losses are not periodic."""
    trace: Trace | None = None


class Recording(Table):
    """Settings for the recording of time series and frames in the first replication."""

    series_interval_s: float | None
    frames: int | None
    from_s: float


class Program(Table):
    """A program that an emulation runs at a node."""

    place: str
    commands: tuple[str, ...]


class StationGroup(Table):
    """Group of stations with one common share of a virtual shared bottleneck."""

    share: float
    max_bps: float | None
    stations: tuple[str, ...]


class SharedBottleneck(Table):
    """Settings of a virtual shared bottleneck (VSB) in front of a cell."""

    fairness: str
    udp: str
    rate_bps: float | None
    """Fixed rate C of the bottleneck; None if C is estimated. [bit/s]"""
    start_s: float
    groups: tuple[StationGroup, ...] = ()


class Scenario(Table):
    """A checked scenario. The base class is a wired network; a subclass has a cell or a conflict
    graph.
    """

    name: str
    duration_s: float
    warmup_s: float
    replications: int
    seed: int
    wire: Wire
    vsb: SharedBottleneck | None
    stations: Sequence[Station]
    links: Sequence[Link]
    """Links of the network: first links of routers, then access links of hosts."""
    flows: Sequence[Flow]
    record: Recording
    programs: tuple[Program, ...] = ()

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Scenario]":
        """Return the class for a scenario."""
        if tree.get("csma"):
            return CsmaScenario
        return Scenario if tree["cell"] is None else CellScenario

    @property
    def is_network(self) -> bool:
        """Whether the scenario has only wired links."""
        return type(self) is Scenario

    @cached_property
    def routers(self) -> tuple[Link, ...]:
        """Links of routers. The access links of hosts are not read, because a network may have very
        many of them.
        """
        return tuple(takewhile(lambda link: not link.of_host, self.links))

    @cached_property
    def tcp_flows(self) -> tuple[TcpFlow, ...]:
        """TCP flows, except sensor reports over TCP."""
        return tuple(flow for flow in self.flows if isinstance(flow, TcpFlow))

    @cached_property
    def udp_flows(self) -> tuple[UdpFlow, ...]:
        """Datagram flows, except sensor reports over UDP."""
        return tuple(flow for flow in self.flows if isinstance(flow, UdpFlow))

    @property
    def wired_round_trip_s(self) -> float:
        """Round-trip time of the first TCP flow over the wire, without queueing. [s]"""
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
        """Return the key path in the file that defines a station's flow."""
        return f"{self.station[flow.station].table}.{flow.setting}"


class CellScenario(Scenario):
    """A scenario with a WLAN cell, which may be connected to wired links."""

    cell: Cell

    def nodes(self) -> Iterator[tuple[str, Node]]:
        """Yield the access point and all stations, each with the key path of its table in the
        file.
        """
        yield "cell.ap", self.cell.ap
        for station in self.stations:
            yield station.table, station


class CsmaScenario(Scenario):
    """A scenario with a conflict graph."""

    csma: Csma


Readable: TypeAlias = Scenario | Mapping[str, Any]
"""A scenario as typed values, or the normalised tree."""


def read(scenario: Readable) -> Scenario:
    """Return a normalised scenario as typed values. Typed values are returned unchanged."""
    return scenario if isinstance(scenario, Scenario) else read_as(Scenario, scenario)
