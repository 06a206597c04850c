"""Flows and what carries them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from lasthop.typed import named

DELAYED_ACK = 2
"""Segments that a delayed ACK answers: RFC 5681, 4.2. [segments]"""


@dataclass(frozen=True, kw_only=True)
class Compound:
    """Parameters of Compound TCP."""

    alpha: float
    beta: float
    k: float
    gamma_packets: float
    zeta: float


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """A TCP connection."""

    congestion: str
    compound: Compound
    hystart: bool
    ecn: bool
    sack: bool
    prr: bool
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
    def payload_bytes(self) -> int:
        """What a full segment carries. [bytes]"""
        return self.mss_bytes

    @property
    def packet_bytes(self) -> int:
        """IP packet of a full segment. [bytes]"""
        return self.mss_bytes + self.header_bytes


@dataclass(frozen=True, kw_only=True)
class Udp:
    """A source of datagrams."""

    arrivals: Literal["constant", "poisson", "greedy"]
    rate_bps: float
    payload_bytes: int
    header_bytes: int

    @property
    def packet_bytes(self) -> int:
        """IP packet of a datagram. [bytes]"""
        return self.payload_bytes + self.header_bytes


@dataclass(frozen=True, kw_only=True)
class Web:
    """Web traffic: connections that come and go."""

    connections_per_s: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """When a sensor reports, and over which protocol: one of the two."""

    every_s: float
    tcp: Tcp | None = None
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """What carries the reports."""
        if self.udp is not None:
            return self.udp
        assert self.tcp is not None, "a report goes over TCP or UDP"
        return self.tcp


@dataclass(frozen=True, kw_only=True)
class Flow:
    """What all flows have in common."""

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
        """The class of a flow."""
        if "sensor" in tree:
            return SensorFlow
        return TcpFlow if "tcp" in tree else UdpFlow

    @property
    def is_up(self) -> bool:
        """Whether its data goes from a station to the access point."""
        return self.direction == "up"

    @property
    def transport(self) -> Tcp | Udp:
        """What carries its data."""
        raise NotImplementedError

    @property
    def setting(self) -> str:
        """The key of a station's table that makes such flows."""
        up, down = self.settings
        return up if self.is_up else down


@dataclass(frozen=True, kw_only=True)
class TcpFlow(Flow):
    """A flow over TCP."""

    settings = ("upload", "download")
    tcp: Tcp
    web: Web | None = None

    @property
    def transport(self) -> Tcp:
        """What carries its data."""
        return self.tcp


@dataclass(frozen=True, kw_only=True)
class UdpFlow(Flow):
    """A flow of datagrams."""

    settings = ("udp_up", "udp_down")
    udp: Udp

    @property
    def transport(self) -> Udp:
        """What carries its data."""
        return self.udp


@dataclass(frozen=True, kw_only=True)
class SensorFlow(Flow):
    """A flow of rare reports."""

    settings = ("sensor_up", "sensor_down")
    sensor: Report

    @property
    def transport(self) -> Tcp | Udp:
        """What carries its data."""
        return self.sensor.transport
