"""Round-trip times of TCP segments that pass, from departure to the first ACK that covers them.

Nothing here asks the kernel. The first few segments of one flow are taken, and the least of their
round-trip times: an ACK may be delayed until the next segment. What is sent again is no sample,
since nobody could say which one an ACK is for (Karn and Partridge, 1987), unless timestamps tell
(RFC 7323).
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
"""Ports, sequence and acknowledgement number, length of the header, flags (RFC 9293)."""

TAKEN = 4
"""Segments that are taken of a flow."""
MOST_SEEN = 32
"""Packets of a station that are looked at, before it is let alone."""
PATIENCE_S = 3.0
"""What has not been acknowledged for so long will tell nothing. [s]"""
LARGEST_WINDOW = 1 << 30
"""An ACK that is further ahead covers what cannot have been sent (RFC 7323). [bytes]"""


class Flow(NamedTuple):
    """A TCP connection of a station."""

    station: Address
    station_port: int
    other: Address
    other_port: int


class Segment(NamedTuple):
    """What a TCP segment says."""

    source: Address
    source_port: int
    destination: Address
    destination_port: int
    start: int
    """Sequence number of its first byte."""
    end: int
    """Sequence number after its last byte."""
    ack: int | None
    """The next byte that its sender expects."""
    stamp: int | None
    """Its timestamp, TSval."""
    echo: int | None
    """The timestamp that it answers, TSecr."""

    @property
    def to_station(self) -> Flow:
        """Its flow, where it goes to the station."""
        return Flow(self.destination, self.destination_port, self.source, self.source_port)

    @property
    def from_station(self) -> Flow:
        """Its flow, where it comes from the station."""
        return Flow(self.source, self.source_port, self.destination, self.destination_port)


class RoundTrip(NamedTuple):
    """A segment, and the ACK that covers it."""

    sent_s: float
    """When the segment left. [s]"""
    rtt_s: float
    """From then to the ACK. [s]"""


class Taken(NamedTuple):
    """A segment that has left."""

    end: int
    stamp: int | None
    at_s: float


def before(number: int, other: int) -> bool:
    """Return whether a sequence number modulo 2^32 is before another one."""
    return (other - number - 1) & 0xFFFFFFFF < 1 << 31


def parsed(packet: bytes) -> Segment | None:
    """A TCP segment, of which at least the headers are there; None if it is something else."""
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
    """TSval and TSecr of a header's options."""
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
    """A look at a station's segments: some are taken, then their ACKs are waited for.

    ``open --TAKEN segments, or `close`--> waits --all covered, or too late--> over``
    """

    is_open: bool = True
    """Whether segments are still taken."""
    is_over: bool = False
    flow: Flow | None = None
    taken: list[Taken] = field(default_factory=list)
    """Segments that are not covered yet."""
    seen: int = 0
    """Packets so far."""
    highest: int = 0
    """Number after the last byte that has left, while segments are captured."""
    least: RoundTrip | None = None

    def close(self) -> None:
        """Take no more segments."""
        self.is_open = False
        if not self.taken:
            self.is_over = True

    def leaves(self, segment: Segment, at_s: float) -> None:
        """A segment has left for the station."""
        self.count()
        if segment.start == segment.end:
            return
        if self.flow is None and self.is_open:
            self.flow, self.highest = segment.to_station, segment.start
        if segment.to_station != self.flow:
            return
        if before(segment.start, self.highest):  # sent again
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
        """A segment has come from the station; the least round trip, once all is covered."""
        self.count()
        if self.flow is None or segment.from_station != self.flow or segment.ack is None:
            return None
        ahead = (segment.ack - self.highest) & 0xFFFFFFFF
        if 0 < ahead <= (1 << 31) and (self.is_open or ahead > LARGEST_WINDOW):
            return None  # it covers what has not been sent
        while self.taken and not before(segment.ack, self.taken[0].end):
            first = self.taken[0]
            if (
                first.stamp is not None
                and segment.echo is not None
                and before(segment.echo, first.stamp)
            ):
                break  # it answers what was sent before
            trip = RoundTrip(first.at_s, max(at_s - first.at_s, 0.0))
            if self.least is None or trip.rtt_s < self.least.rtt_s:
                self.least = trip
            del self.taken[0]
        if self.taken or self.least is None:
            return None
        self.is_open, self.is_over = False, True
        return self.least

    def count(self) -> None:
        """Count a packet; after too many nothing more is taken."""
        self.seen += 1
        if self.seen >= MOST_SEEN and self.is_open:
            self.close()

    def is_late(self, now_s: float) -> bool:
        """Whether nothing will come of it."""
        return bool(self.taken) and now_s - self.taken[-1].at_s > PATIENCE_S
