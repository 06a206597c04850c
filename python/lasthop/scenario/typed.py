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

from lasthop.scenario.from_json import Table, named, read_as


class Queue(Table):
    """Queue of a node or a link, of any discipline whose settings no model asks for."""

    discipline: str
    ecn: bool = False
    """Whether it marks packets that can be marked."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Queue]":
        """Return the class of a discipline."""
        return DISCIPLINES.get(tree["discipline"], Queue)


class Threshold(Queue):
    """Drop-tail at a threshold below the limit."""

    threshold_packets: int


class Red(Queue):
    """Random early detection."""

    form: Literal["ns-2", "published"]
    min_th_packets: float
    max_th_packets: float
    max_p: float
    weight: float | Literal["auto"]
    """Weight of an arrival in the average; 0: that of one second. [-]"""
    gentle: bool
    wait: bool
    counts_bytes: bool = named("bytes")
    mean_packet_bytes: int


class Proportional(Queue):
    """Drops in proportion to the queue."""

    slope: float
    """Drop probability of each packet in the queue. [1/packet]"""


class Pi(Queue):
    """A proportional-integral controller of the drop probability."""

    target_packets: int
    a: float
    b: float
    """Weights of the distance from the target at a step, and at the one before. [-]"""
    update_s: float


class Pie(Queue):
    """A proportional-integral controller of the drop probability by the queueing delay."""

    target_s: float
    update_s: float
    alpha_per_s: float
    """Weight of the distance from the target. [1/s]"""
    max_burst_s: float


class Vbs(Queue):
    """Virtual buffer sharing."""

    limit_packets: int
    occupancy: float
    """Part of the limit that is kept filled. [-]"""
    share_of: Literal["queue", "service"]
    algorithm: Literal["corrected", "printed", "regulated", "partition"]


class Mac80211(Queue):
    """The queues of a Linux access point: one for each station and category."""

    airtime_fairness: bool
    """Whether stations have the same air time; if not, they have a turn each."""
    aql: bool
    """Whether the device takes packets up to an estimated air time of each station."""


DISCIPLINES: Mapping[str, type[Queue]] = {
    "threshold": Threshold,
    "red": Red,
    "proportional": Proportional,
    "pi": Pi,
    "pie": Pie,
    "vbs": Vbs,
    "mac80211": Mac80211,
}
"""Disciplines whose settings models ask for."""


DELAYED_ACK = 2
"""Segments that a delayed ACK answers: RFC 5681, 4.2. [segments]"""


class Compound(Table):
    """Parameters of Compound TCP."""

    alpha: float
    beta: float
    k: float
    gamma_packets: float
    zeta: float


class Tcp(Table):
    """A TCP connection."""

    congestion: str
    compound: Compound
    hystart: bool
    byte_counting: bool
    ecn: bool
    sack: bool
    rack: bool
    prr: bool
    undo: bool
    window_packets: int
    initial_cwnd_packets: int
    delayed_ack: bool
    ack_delay_s: float
    ack_processing_s: float
    mss_bytes: int
    header_bytes: int
    min_rto_s: float
    initial_rto_s: float
    segments: int | None
    """Segments after which it ends; None: never."""

    @property
    def segments_per_ack(self) -> int:
        """Segments that an ACK answers. [segments]"""
        return DELAYED_ACK if self.delayed_ack else 1

    @property
    def segments_per_step(self) -> int:
        """Segments that are acknowledged for each step of the window's growth. [segments]"""
        return 1 if self.byte_counting else self.segments_per_ack

    @property
    def outgrows_acks(self) -> bool:
        """Whether its window grows by more than a step for an ACK."""
        return self.segments_per_step < self.segments_per_ack

    @property
    def payload_bytes(self) -> int:
        """Payload of a full segment. [bytes]"""
        return self.mss_bytes

    @property
    def packet_bytes(self) -> int:
        """IP packet of a full segment. [bytes]"""
        return self.mss_bytes + self.header_bytes


class Udp(Table):
    """A source of datagrams."""

    arrivals: Literal["constant", "poisson", "greedy"]
    rate_bps: float
    payload_bytes: int
    header_bytes: int
    burst_packets: int = 1
    """Datagrams sent back to back; the gaps are between bursts."""

    @property
    def packet_bytes(self) -> int:
        """IP packet of a datagram. [bytes]"""
        return self.payload_bytes + self.header_bytes


def carrier(tcp: Tcp | None, udp: Udp | None) -> Tcp | Udp:
    """Return the argument that is not None."""
    result = udp or tcp
    assert result is not None, "data goes over TCP or UDP"
    return result


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


class CsmaLink(Table):
    """A wireless link of a conflict graph."""

    name: str
    conflicts: tuple[str, ...]
    disturbs: tuple[str, ...]
    """Links whose frames it destroys, since they do not hear it."""
    from_node: str = named("from")
    """Where it begins; empty where nodes have no places."""
    to_node: str = named("to")
    """Where it ends."""
    r: float | None
    """Its aggressiveness, if it is given. [-]"""
    error: float


class CsmaNode(Table):
    """A node with its place."""

    name: str
    x_m: float
    y_m: float


class CsmaFlow(Table):
    """A flow over links of a conflict graph and over wires."""

    name: str
    class_name: str = named("class")
    route: tuple[str, ...]
    weight: float
    marginal_utility: tuple[tuple[float, float], ...] | None
    start_s: float
    start_spread_s: float
    stop_s: float | None
    tcp: Tcp | None = None
    """Settings of its connections; None: it sends datagrams."""
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport of its data."""
        return carrier(self.tcp, self.udp)


class CsmaPace(Table):
    """How time goes by for backoffs that have a mean."""

    slot_s: float | None
    difs_s: float
    eifs_s: float


class Csma(Table):
    """A network by its conflict graph."""

    links: tuple[CsmaLink, ...]
    nodes: tuple[CsmaNode, ...]
    flows: tuple[CsmaFlow, ...]
    access: Literal["adaptive", "legacy", "dcf"]
    access_intensity: float | None
    service_rate_pps: float
    overhead_s: float
    beta: float
    r_per_packet: float
    r_max: float | None
    r_interval_s: float
    aqm: bool
    queue_packets: int
    dummy: bool
    acks: Literal["priority", "contend"]
    attempts: int
    pace: CsmaPace | None
    connections: Literal["rtt", "utility", "marks", "one"]
    connections_interval_s: float
    rounding: Literal["down", "nearest"]
    smoothing: float
    k_per_s: float | None
    fairness: float | None

    @property
    def k(self) -> float:
        """Factor of the number of connections, except where each flow has one. [1/s]"""
        assert self.k_per_s is not None, "one connection a flow"
        return self.k_per_s

    def active_rate_pps(self, part: float) -> float:
        """Packets that a link which never pauses sends in a second; each is this part of the
        longest. [packets/s]
        """
        return 1 / (self.overhead_s + (1 / self.service_rate_pps - self.overhead_s) * part)

    @property
    def intensity(self) -> float:
        """Access intensity of legacy access. [-]"""
        assert self.access_intensity is not None, "not legacy access"
        return self.access_intensity

    @cached_property
    def conflicts(self) -> Mapping[str, tuple[str, ...]]:
        """Conflicts of each link by its name."""
        return {link.name: link.conflicts for link in self.links}

    @cached_property
    def carrying(self) -> frozenset[str]:
        """Links, wireless and wired, that some flow passes."""
        return frozenset(link for flow in self.flows for link in flow.route)

    @property
    def saturated(self) -> bool:
        """Whether every wireless link that carries a flow has an aggressiveness of its own."""
        own = [link.r for link in self.links if link.name in self.carrying]
        return bool(own) and None not in own

    @property
    def one_flow_per_link(self) -> bool:
        """Whether each flow passes one wireless link, and each of these one flow."""
        wireless = {link.name for link in self.links}
        links = [flow.route[0] for flow in self.flows]
        return all(len(flow.route) == 1 for flow in self.flows) and (
            set(links) <= wireless and len(set(links)) == len(links)
        )


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
