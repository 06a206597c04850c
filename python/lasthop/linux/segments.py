"""Measure round-trip times of captured TCP segments, from a segment's departure to the first ACK
that covers it.

This module has no I/O. It records the first few segments of one flow. The smallest of their
round-trip times is used, since an ACK may be delayed until the next segment. A retransmitted
segment gives no sample, since the ACK may answer either transmission (Karn and Partridge, 1987).
With TCP timestamps (RFC 7323), the echoed timestamp identifies the transmission.
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
"""Number of segments of a flow that a probe records."""
MAX_SEEN = 32
"""Largest number of packets of a station that one probe examines before all its segments are
recorded."""
PATIENCE_S = 3.0
"""Time after which a probe stops waiting for the ACK of a recorded segment. [s]"""
LARGEST_WINDOW = 1 << 30
"""Largest plausible difference between an acknowledgement number and the sequence number of a
recorded segment. With a larger difference, the ACK would cover data that cannot have been sent (RFC
7323). [bytes]"""


class Flow(NamedTuple):
    """TCP connection of a station: addresses and ports of both ends."""

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
    """Acknowledgement number: the next byte that the segment's sender expects; None without the
    flag ACK."""
    stamp: int | None
    """Timestamp of the segment (TSval); None without the timestamps option."""
    echo: int | None
    """Timestamp that the segment echoes (TSecr); None without the timestamps option."""

    @property
    def to_station(self) -> Flow:
        """Return the flow of a segment that is sent to the station."""
        return Flow(self.destination, self.destination_port, self.source, self.source_port)

    @property
    def from_station(self) -> Flow:
        """Return the flow of a segment that is sent by the station."""
        return Flow(self.source, self.source_port, self.destination, self.destination_port)


class RoundTrip(NamedTuple):
    """Measured round trip of a segment."""

    sent_s: float
    """Departure time of the segment. [s]"""
    rtt_s: float
    """Time from the segment's departure to the ACK that covers it. [s]"""


class Taken(NamedTuple):
    """Recorded segment that has been sent to the station."""

    end: int
    stamp: int | None
    at_s: float


def before(number: int, other: int) -> bool:
    """Return whether a sequence number is before another sequence number, modulo 2^32."""
    return (other - number - 1) & 0xFFFFFFFF < 1 << 31


def parsed(packet: bytes) -> Segment | None:
    """Return the TCP segment in a packet; None if the packet contains no TCP segment. The packet
    may be truncated after its headers."""
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
    """Return TSval and TSecr from the options of a TCP header."""
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
    """Probe of one station, which records some segments and then waits for the ACKs that cover
    these segments.

    A new probe is open. After `TAKEN` segments, or a call of `close`, the probe waits. The probe is
    over when all its segments have been acknowledged, or when it has waited for too long.
    """

    is_open: bool = True
    """Whether the probe still records segments."""
    is_over: bool = False
    flow: Flow | None = None
    taken: list[Taken] = field(default_factory=list)
    """Recorded segments that are not acknowledged yet."""
    seen: int = 0
    """Number of packets that the probe has examined."""
    highest: int = 0
    """Sequence number after the last recorded byte."""
    least: RoundTrip | None = None

    def close(self) -> None:
        """Stop recording segments. Without recorded segments, the probe ends."""
        self.is_open = False
        if not self.taken:
            self.is_over = True

    def leaves(self, segment: Segment, at_s: float) -> None:
        """Process a segment that is sent to the station."""
        self.count()
        if segment.start == segment.end:
            return
        if self.flow is None and self.is_open:
            self.flow, self.highest = segment.to_station, segment.start
        if segment.to_station != self.flow:
            return
        if before(segment.start, self.highest):  # the segment is a retransmission
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
        """Process a segment from the station. If it acknowledges the last recorded segment, return
        the smallest round trip."""
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
        """Count an examined packet. After `MAX_SEEN` packets, stop recording segments."""
        self.seen += 1
        if self.seen >= MAX_SEEN and self.is_open:
            self.close()

    def is_late(self, now_s: float) -> bool:
        """Return whether more than `PATIENCE_S` have passed since the last recorded segment was
        sent, so that the probe can be given up."""
        return bool(self.taken) and now_s - self.taken[-1].at_s > PATIENCE_S
