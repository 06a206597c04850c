"""Typed values of TCP, UDP and pings in a checked scenario, see `lasthop.scenario.typed`."""

from typing import Literal

from lasthop.scenario.from_json import Table

DELAYED_ACK = 2
"""Number of segments per delayed ACK: RFC 5681, 4.2. [segments]"""


class Compound(Table):
    """Settings of Compound TCP."""

    alpha: float
    beta: float
    k: float
    gamma_packets: float
    zeta: float


class Tcp(Table):
    """Settings of a TCP connection."""

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
    """Size of the transfer; None if the connection never ends. [segments]"""
    after_idle: Literal["keep", "rfc5681", "rfc7661", "linux"] = "keep"
    pacing: bool = False
    abe: bool = False

    @property
    def segments_per_ack(self) -> int:
        """Number of segments that one ACK acknowledges. [segments]"""
        return DELAYED_ACK if self.delayed_ack else 1

    @property
    def segments_per_step(self) -> int:
        """Number of acknowledged segments per step of window growth. [segments]"""
        return 1 if self.byte_counting else self.segments_per_ack

    @property
    def outgrows_acks(self) -> bool:
        """Whether the window grows by more than one segment per ACK in slow start."""
        return self.segments_per_step < self.segments_per_ack

    @property
    def payload_bytes(self) -> int:
        """Payload of a full segment. [bytes]"""
        return self.mss_bytes

    @property
    def packet_bytes(self) -> int:
        """Length of the IP packet of a full segment. [bytes]"""
        return self.mss_bytes + self.header_bytes


class Application(Table):
    """Times at which an application writes the data of a TCP connection."""

    rate_bps: float | None
    """Rate at which the application writes; None if it writes without delay. [bit/s]"""
    size_bytes: int | None
    """Length of a chunk, or of all data without chunks; None without a limit. [bytes]"""
    every_s: float | None
    """Mean time from one chunk to the next; None without chunks. [s]"""
    on_s: float | None
    """Mean duration for which the application writes; None if it does not pause. [s]"""
    off_s: float | None
    """Mean duration of the pauses; None without pauses. [s]"""
    arrivals: Literal["constant", "poisson"]

    @property
    def paces(self) -> bool:
        """Whether the application, and not only TCP, determines when data is sent."""
        return any(value is not None for value in (self.rate_bps, self.every_s, self.on_s))


class Udp(Table):
    """Settings of a datagram source."""

    arrivals: Literal["constant", "poisson", "greedy"]
    rate_bps: float
    payload_bytes: int
    header_bytes: int
    burst_packets: int = 1
    """Number of datagrams in a burst, which are sent back to back. Gaps separate the bursts."""

    @property
    def packet_bytes(self) -> int:
        """Length of the IP packet of a datagram. [bytes]"""
        return self.payload_bytes + self.header_bytes


class Ping(Table):
    """Settings of pings: echo requests at equal intervals."""

    every_s: float
    payload_bytes: int
    header_bytes: int
    """Length of the IPv4 and ICMP headers. [bytes]"""
    deadline_s: float
    """Round-trip time above which a ping counts as lost. [s]"""

    @property
    def packet_bytes(self) -> int:
        """Length of the IP packet of a request or reply. [bytes]"""
        return self.payload_bytes + self.header_bytes


def carrier(tcp: Tcp | None, udp: Udp | None) -> Tcp | Udp:
    """Return the transport settings that are not None."""
    result = udp or tcp
    assert result is not None, "data goes over TCP or UDP"
    return result
