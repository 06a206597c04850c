"""Round-trip times of TCP segments that pass, from departure to the first ACK that covers them.

This module does not use the kernel. It records the first few segments of one flow, and uses the
smallest of their round-trip times, since an ACK may be delayed until the next segment. A
retransmitted segment gives no sample, since it is unknown which transmission an ACK is for (Karn
and Partridge, 1987). With timestamps (RFC 7323) this is known.
"""

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from lasthop.linux.packets import ends, source_and_length
from lasthop.linux.tc import Address

TCP = 6
ACK, RST = 0x10, 0x04
NOP, END, TIMESTAMPS = 1, 0, 8
HEAD = struct.Struct("!HHIIBB")
"""Layout of the TCP header: ports, sequence and acknowledgement number, header length, flags (RFC
9293)."""

TAKEN = 4
"""Number of segments of a flow that are recorded."""
MOST_SEEN = 32
"""Largest number of packets of a station that one probe examines."""
PATIENCE_S = 3.0
"""Time after which an unacknowledged segment is given up. [s]"""
LARGEST_WINDOW = 1 << 30
"""Largest distance of an ACK from known data. A larger one covers data that cannot have been sent
(RFC 7323). [bytes]"""


class Flow(NamedTuple):
    """A TCP connection of a station."""

    station: Address
    station_port: int
    other: Address
    other_port: int


class Segment(NamedTuple):
    """Fields of a TCP segment."""

    source: Address
    source_port: int
    destination: Address
    destination_port: int
    start: int
    """Sequence number of the segment's first byte."""
    end: int
    """Sequence number after the segment's last byte."""
    ack: int | None
    """Next byte that the segment's sender expects; None without the flag ACK."""
    stamp: int | None
    """Timestamp of the segment, TSval."""
    echo: int | None
    """Timestamp that the segment echoes, TSecr."""

    @property
    def to_station(self) -> Flow:
        """Return the flow of a segment that goes to the station."""
        return Flow(self.destination, self.destination_port, self.source, self.source_port)

    @property
    def from_station(self) -> Flow:
        """Return the flow of a segment that comes from the station."""
        return Flow(self.source, self.source_port, self.destination, self.destination_port)


class RoundTrip(NamedTuple):
    """A segment, and the ACK that covers it."""

    sent_s: float
    """Departure time of the segment. [s]"""
    rtt_s: float
    """Time from the departure to the ACK. [s]"""


class Taken(NamedTuple):
    """Segment that has left and is recorded."""

    end: int
    stamp: int | None
    at_s: float


def before(number: int, other: int) -> bool:
    """Return whether a sequence number modulo 2^32 is before another one."""
    return (other - number - 1) & 0xFFFFFFFF < 1 << 31


def parsed(packet: bytes) -> Segment | None:
    """Return the TCP segment in a packet, of which at least the headers are present; None for other
    packets."""
    source, length = source_and_length(packet)
    if source is None:
        return None
    _, destination = ends(packet)
    if source.version == 4:
        at, protocol = 4 * (packet[0] & 0xF), packet[9]
        is_whole = struct.unpack_from("!H", packet, 6)[0] & 0x3FFF == 0
    else:
        at, protocol, is_whole = 40, packet[6], True
    if protocol != TCP or not is_whole or len(packet) < at + 20:
        return None
    source_port, destination_port, start, ack, offset, flags = HEAD.unpack_from(packet, at)
    header = 4 * (offset >> 4)
    if flags & RST or header < 20 or length < at + header:
        return None
    stamp, echo = timestamps(packet[at + 20 : at + header])
    return Segment(
        source,
        source_port,
        destination,
        destination_port,
        start,
        (start + length - at - header) & 0xFFFFFFFF,
        ack if flags & ACK else None,
        stamp,
        echo,
    )


def timestamps(options: bytes) -> tuple[int | None, int | None]:
    """Return TSval and TSecr from the options of a header."""
    at = 0
    while at < len(options) and (kind := options[at]) != END:
        if kind == NOP:
            at += 1
            continue
        if at + 1 >= len(options) or options[at + 1] < 2:
            break
        if kind == TIMESTAMPS and at + 10 <= len(options):
            stamp, echo = struct.unpack_from("!II", options, at + 2)
            return stamp, echo
        at += options[at + 1]
    return None, None


@dataclass
class RoundTripProbe:
    """Probe of one station: it records some segments, then waits for the ACKs that cover them.

    ``open --TAKEN segments, or `close`--> waits --all covered, or too late--> over``
    """

    is_open: bool = True
    """Whether the probe still records segments."""
    is_over: bool = False
    flow: Flow | None = None
    taken: list[Taken] = field(default_factory=list)
    """Recorded segments that are not acknowledged yet."""
    seen: int = 0
    """Number of packets examined so far."""
    highest: int = 0
    """Sequence number after the last byte that has left, while segments are recorded."""
    least: RoundTrip | None = None

    def close(self) -> None:
        """Record no more segments."""
        self.is_open = False
        if not self.taken:
            self.is_over = True

    def leaves(self, segment: Segment, at_s: float) -> None:
        """Process a segment that has left for the station."""
        self.count()
        if segment.start == segment.end:
            return
        if self.flow is None and self.is_open:
            self.flow, self.highest = segment.to_station, segment.start
        if segment.to_station != self.flow:
            return
        if before(segment.start, self.highest):  # a retransmission
            self.taken, self.least = [], None
            if segment.stamp is None or not self.is_open:
                self.is_open, self.is_over = False, True
        if not self.is_open:
            return
        if before(self.highest, segment.end):
            self.highest = segment.end
        self.taken.append(Taken(segment.end, segment.stamp, at_s))
        if len(self.taken) == TAKEN:
            self.is_open = False

    def returns(self, segment: Segment, at_s: float) -> RoundTrip | None:
        """Process a segment from the station. Return the smallest round trip once all recorded
        segments are acknowledged."""
        self.count()
        if self.flow is None or segment.from_station != self.flow or segment.ack is None:
            return None
        ahead = (segment.ack - self.highest) & 0xFFFFFFFF
        if 0 < ahead <= (1 << 31) and (self.is_open or ahead > LARGEST_WINDOW):
            return None  # the ACK covers data that was never sent
        while self.taken and not before(segment.ack, self.taken[0].end):
            first = self.taken[0]
            if (
                first.stamp is not None
                and segment.echo is not None
                and before(segment.echo, first.stamp)
            ):
                break  # the ACK answers an earlier transmission
            trip = RoundTrip(first.at_s, max(at_s - first.at_s, 0.0))
            if self.least is None or trip.rtt_s < self.least.rtt_s:
                self.least = trip
            del self.taken[0]
        if self.taken or self.least is None:
            return None
        self.is_open, self.is_over = False, True
        return self.least

    def count(self) -> None:
        """Count a packet. After too many packets the probe records no more segments."""
        self.seen += 1
        if self.seen >= MOST_SEEN and self.is_open:
            self.close()

    def is_late(self, now_s: float) -> bool:
        """Return whether the probe can no longer give a result."""
        return bool(self.taken) and now_s - self.taken[-1].at_s > PATIENCE_S
