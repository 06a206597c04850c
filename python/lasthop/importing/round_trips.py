"""Round-trip times of a TCP connection, from a capture at any point on its path.

A capture in the middle of a path shows neither when a segment was sent nor when its ACK arrived.
But a sender transmits when an ACK allows it: the ACK of segment a allows it to send up to a + W,
where W is its window. The round-trip time of a segment is therefore the time between two ACKs that
pass the capture: the ACK that allowed the segment, and the ACK that acknowledges it. This is true
for any position of the capture, with queues on both sides of it:

::

    sender  |-- wait --|                                    |
    capture            ACK a . . . . . . segment a + W . . . ACK a + W
                       |<------------- round trip ---------------->|

The module computes W as the sender does: by slow start and congestion avoidance from the ACKs that
pass, up to the receiver's window. W is corrected by observations. W is at least the captured data
in flight. At a retransmission, W is the data in flight after the lost segment. The growth rate of W
is measured from one loss to the next. The method is that of Jaiswal, Iannaccone, Diot, Kurose and
Towsley, "Inferring TCP connection characteristics through passive measurements" (INFOCOM 2004).

If both hosts use time stamps (RFC 7323), W is not needed. The echo in an ACK is the time at which
the segment was sent, on the sender's clock. The offset of this clock is taken from the segment with
the smallest delay between sender and capture. This delay is therefore missing from the round-trip
times. For downloads, the smallest response time of the servers is added instead.
"""

from collections import deque
from dataclasses import dataclass, field
from math import ceil, inf, log

from lasthop.importing.segments import ACK, CWR, FIN, SYN, Segment

__all__ = ["RoundTrips"]

MODULUS, HALF = 1 << 32, 1 << 31
ETHERNET_MSS = 1460
"""Longest payload of a segment in an Ethernet frame. [bytes]"""
STAMP_BYTES = 12
"""Bytes of a segment's payload that TCP time stamps replace. [bytes]"""
KEEP_ALIVE_BYTES = 1
"""Largest payload of a keep-alive segment, which repeats the last byte (RFC 9293, 3.8.4).
[bytes]
"""
INITIAL_WINDOW = 10
"""Largest initial window [segments] (RFC 6928). The window in a capture may be smaller."""
DUPACKS = 3
MIN_SSTHRESH = 2
MAX_EDGES = 20_000
"""Maximum number of ACKs that are stored per connection. The oldest ACKs are deleted. The number
exceeds the window on any last hop.
"""
AFTER_LOSS = 0.5
"""Factor by which a loss reduces the window in Reno, NewReno and Compound. [-]"""
MIN_GROWTH = 2.0
"""Smallest window growth between two losses from which the growth rate is estimated. [segments]"""
SPEEDS = (1.0, 6.0)
"""Range of the sender's window growth relative to Reno's growth per ACK. Some senders count
segments or time instead of ACKs. [-]"""
PAUSE_S = 1.0
"""Shortest time without a packet that shows that the sender had nothing to send. It exceeds all
round-trip times. [s]
"""
LONGEST_S = 10.0
"""Largest accepted round-trip time; a longer sample is a pause of the sender. [s]"""
CLOCKS_HZ = (1000.0, 100.0, 250.0, 10.0, 1e6)
"""Possible rates of the clock that generates TCP time stamps. [Hz]"""
CLOCK_ERROR = 0.3
"""Largest relative error of a clock rate that is estimated from time stamps. Growing queues delay
the time stamps. [-]
"""
CLOCK_SPAN_S = 2.0
"""Shortest time over which the clock rate is estimated from time stamps. [s]"""


def ahead(of: int, by: int) -> int:
    """Return sequence number `by` minus sequence number `of`, with its sign. [bytes]"""
    difference = (of - by) % MODULUS
    return difference - MODULUS if difference >= HALF else difference


@dataclass(slots=True)
class Mean:
    """Mean of samples, with their sum, minimum and maximum."""

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = 0.0

    def add(self, value: float) -> None:
        """Add a sample."""
        self.count += 1
        self.total += value
        self.least = min(self.least, value)
        self.most = max(self.most, value)

    @property
    def mean(self) -> float | None:
        """Mean of the samples; None if there are no samples."""
        return self.total / self.count if self.count else None


@dataclass
class RoundTrips:
    """Round-trip times of one direction of a connection, from its data and the returning ACKs.

    Attributes
    ----------
    mss_bytes : int
        Longest payload so far of a transmitted segment. [bytes]
    most_bytes : int
        Longest possible payload of a transmitted segment. A longer segment in the capture was
        merged from several segments by segmentation offload. [bytes]
    losses : int
        Number of window reductions: after a retransmission, or by ECN's CWR.
    by_window, by_stamp : Mean
        Round-trip times that are computed from the window, and from time stamps. [s]
    retransmitted, repeated_bytes : int
        Number of segments that TCP retransmitted, and payload of these segments. Retries of the MAC
        do not count.
    backlog : dict
        Histogram of waiting packets: number of segments, by the number of packets that left after
        the ACK that allowed the segment and before the segment.
    """

    mss_bytes: int = 0
    most_bytes: int = ETHERNET_MSS
    losses: int = 0
    by_window: Mean = field(default_factory=Mean)
    by_stamp: Mean = field(default_factory=Mean)
    window: Mean = field(default_factory=Mean)
    retransmitted: int = 0
    repeated_bytes: int = 0
    backlog: dict[int, int] = field(default_factory=dict)

    _una: int = -1
    _next: int = -1
    _cwnd: float = INITIAL_WINDOW
    _ssthresh: float = float("inf")
    _begun: bool = False
    _grows: bool = False
    _recover: int = -1
    _fast: bool = False
    _speed: float = 1.0
    _expected: float = 0.0
    _after_loss: float = 0.0
    _seen: float = 0.0
    _would: float = 0.0
    _repeated: int = -1
    _dupacks: int = 0
    _limit: float = float("inf")
    _edges: deque[tuple[int, float, int]] = field(default_factory=deque)
    _unseen: deque[tuple[int, int, float]] = field(default_factory=deque)
    _clock: "Clock" = field(default_factory=lambda: Clock())

    def data(self, at_s: float, sent: Segment, passed: int) -> None:
        """Process a segment that passes the capture towards the receiver.

        Parameters
        ----------
        at_s : float
            Time of the segment. [s]
        sent : Segment
            Captured segment with data.
        passed : int
            Number of earlier packets in this direction, of all senders.
        """
        self.mss_bytes = max(self.mss_bytes, min(sent.payload_bytes, self.longest_bytes(sent)))
        length = sent.payload_bytes + bool(sent.flags & (SYN | FIN))
        end = (sent.seq + length) % MODULUS
        if sent.stamp >= 0:
            self._clock.tell(at_s, sent.stamp)
        if self._next < 0:
            self._una, self._next = sent.seq, end
            return
        if sent.flags & CWR and not sent.flags & SYN:
            self.losses += 1
        if sent.payload_bytes == 0:
            self._next = end if ahead(end, self._next) > 0 else self._next
            return
        if ahead(end, self._next) > 0:
            self._note_backlog(at_s, end, passed)
            self._next = end
            if self._recover < 0:
                self._at_least(self._flight())
            return
        if self.is_keep_alive(sent):
            return
        self.retransmitted += self.segments_of(sent)
        self.repeated_bytes += sent.payload_bytes
        if ahead(end, self._una) <= 0:
            self._time_out_for_nothing()
        elif self._recover < 0:
            self._lose(sent.seq)

    def longest_bytes(self, sent: Segment) -> int:
        """Return the longest possible payload of a transmitted segment with the same options.
        [bytes]
        """
        return self.most_bytes - (STAMP_BYTES if sent.stamp >= 0 else 0)

    def segments_of(self, sent: Segment) -> int:
        """Return the number of transmitted segments that were merged into a captured segment."""
        return max(ceil(sent.payload_bytes / max(self.longest_bytes(sent), 1)), 1)

    def is_keep_alive(self, sent: Segment) -> bool:
        """Return whether a segment is a keep-alive, which only tests whether the connection is
        alive."""
        behind = ahead(self._next, sent.seq)
        return sent.payload_bytes <= KEEP_ALIVE_BYTES and behind == 1 and self._next == self._una

    @property
    def all_answered(self) -> bool:
        """Return whether all captured data was acknowledged."""
        return self._next < 0 or ahead(self._una, self._next) >= 0

    @property
    def allowed_segments(self) -> float:
        """Return the mean window at the times of ACKs, at most the receive window. [segments]"""
        mean = self.window.mean
        return min(self._cwnd if mean is None else mean, self._limit)

    def pause(self, at_s: float, passed: int) -> None:
        """Forget the earlier ACKs: the sender had nothing to send, so these ACKs did not trigger
        segments.
        """
        self._edges.clear()
        self._unseen.clear()
        self._allow(at_s, passed)

    def _flight(self) -> float:
        """Return the number of captured segments that are not yet acknowledged."""
        return ahead(self._next, self._una) / max(self.mss_bytes, 1)

    def _at_least(self, segments: float) -> None:
        """Increase the estimated window to at least this number of segments."""
        if segments > self._cwnd:
            self._cwnd = segments
        elif not self._begun:
            self._cwnd = max(segments, 1.0)  # The first segments in flight are the initial window.

    def _lose(self, seq: int) -> None:
        """Process a retransmission: set the window from the data after the lost segment, and begin
        recovery."""
        self.losses += 1
        lost = max(ahead(self._next, seq) / max(self.mss_bytes, 1), 1.0)
        fast = self._dupacks >= DUPACKS
        if fast and self._expected >= MIN_GROWTH:
            self._seen += max(lost - self._after_loss, 0.0)
            self._would += self._expected
            self._speed = min(max(self._seen / self._would, SPEEDS[0]), SPEEDS[1])
        self._ssthresh = max(AFTER_LOSS * lost, MIN_SSTHRESH)
        self._cwnd = self._ssthresh if fast else 1.0
        self._expected, self._after_loss = 0.0, self._ssthresh
        self._recover, self._fast, self._begun = self._next, fast, True

    def _time_out_for_nothing(self) -> None:
        """Process the retransmission of acknowledged data: a spurious timeout reduced the sender's
        window."""
        if self._recover < 0 and (self._repeated < 0 or ahead(self._una, self._repeated) >= 0):
            self._ssthresh = max(AFTER_LOSS * self._cwnd, MIN_SSTHRESH)
            self._cwnd = self._ssthresh
            self._repeated = self._next

    def _note_backlog(self, at_s: float, end: int, passed: int) -> None:
        """Record how many packets left between a segment and the ACK that allowed the segment.

        If no packet left for a long time, the segment did not wait in a queue: the sender had
        nothing to send. The time of the ACK is then unrelated to the time at which the segment was
        sent.
        """
        while self._unseen and ahead(self._unseen[0][0], end) < 0:
            self._unseen.popleft()
        if not self._unseen:
            return
        _, before, allowed_s = self._unseen[0]
        packets = passed - before
        if packets <= 1 and at_s - allowed_s > PAUSE_S:
            self.pause(at_s, passed)
        elif self._recover < 0 and self._grows:
            self.backlog[packets] = self.backlog.get(packets, 0) + 1

    def ack(self, at_s: float, back: Segment, window_bytes: int, passed: int) -> None:
        """Process an ACK that passes the capture towards the sender.

        Parameters
        ----------
        at_s : float
            Time of the ACK. [s]
        back : Segment
            Captured ACK.
        window_bytes : int
            Scaled receive window; 0 if the scale is unknown. [bytes]
        passed : int
            Number of packets towards the receiver so far, of all senders.
        """
        if self._next < 0 or not back.flags & ACK:
            return
        if window_bytes and self.mss_bytes:
            self._limit = max(window_bytes / self.mss_bytes, 1.0)
        if back.flags & SYN or not self.mss_bytes:
            self._una = back.ack  # An ACK of the handshake does not increase the window.
            return
        moved = ahead(back.ack, self._una)
        if moved == 0 and back.payload_bytes == 0 and not back.flags & (SYN | FIN):
            self._dupacks += self._next != self._una
            return
        if moved <= 0 or ahead(back.ack, self._next) > 0:
            return
        if back.echo > 0 and (sent_s := self._clock.sent_s(back.echo)) is not None:
            self._sample(self.by_stamp, at_s - sent_s)
        self._dupacks = 0
        first = self._una
        self._una = back.ack
        if self._recover >= 0:
            if not self._fast:
                self._grow()
            if ahead(back.ack, self._recover) < 0:
                return
            self._recover = -1
            self._edges.clear()
            self._unseen.clear()
        else:
            self._answer(at_s, first)
            self._grow()
        self._allow(at_s, passed)

    def _answer(self, at_s: float, first: int) -> None:
        """Add a round-trip time: the time since the ACK that allowed the first newly acknowledged
        segment."""
        while self._edges and ahead(self._edges[0][0], first) <= 0:
            self._edges.popleft()
        if self._edges:
            self._sample(self.by_window, at_s - self._edges[0][1])
            self.window.add(self._cwnd)

    def _sample(self, mean: Mean, value_s: float) -> None:
        if 0 < value_s < LONGEST_S:
            mean.add(value_s)

    def _grow(self) -> None:
        self._begun = self._grows = True
        if self._cwnd < self._ssthresh:
            self._cwnd += 1.0
        else:
            self._expected += 1.0 / self._cwnd
            self._cwnd += self._speed / self._cwnd
        self._cwnd = min(self._cwnd, self._limit)

    def _allow(self, at_s: float, passed: int) -> None:
        """Record that this ACK allows data up to one window beyond the acknowledged data."""
        edge = (self._una + int(self._cwnd) * self.mss_bytes) % MODULUS
        if not self._edges or ahead(edge, self._edges[-1][0]) > 0:
            self._edges.append((edge, at_s, passed))
            self._unseen.append((edge, passed, at_s))
        if len(self._edges) > MAX_EDGES:
            self._edges.popleft()
        if len(self._unseen) > MAX_EDGES:
            self._unseen.popleft()

    @property
    def stamped(self) -> bool:
        """Whether the round-trip times are computed from time stamps."""
        return self.by_stamp.count > 0

    @property
    def rtt_s(self) -> float | None:
        """Mean round-trip time; computed from time stamps if the connection uses them. [s]"""
        return (self.by_stamp if self.stamped else self.by_window).mean


@dataclass
class Clock:
    """Clock of a sender, estimated from its time stamps: its rate, and its offset to the capture's
    clock.

    Until the rate is known, an offset is computed for each possible rate. The first segments then
    count for the offset, too. They are important, because queues are shortest at the beginning.
    """

    _first: tuple[float, int] | None = None
    _hz: float = 0.0
    _offsets_s: dict[float, float] = field(default_factory=lambda: dict.fromkeys(CLOCKS_HZ, inf))

    def tell(self, at_s: float, stamp: int) -> None:
        """Process the time stamp of a captured segment."""
        if self._first is None:
            self._first = at_s, stamp
        ticks, span_s = (stamp - self._first[1]) % MODULUS, at_s - self._first[0]
        if ticks >= HALF:
            return
        if not self._hz and span_s >= CLOCK_SPAN_S and ticks:
            near = min(CLOCKS_HZ, key=lambda hz: abs(log(hz * span_s / ticks)))
            self._hz = near if abs(near * span_s / ticks - 1.0) < CLOCK_ERROR else 0.0
        for hz in (self._hz,) if self._hz else CLOCKS_HZ:
            self._offsets_s[hz] = min(self._offsets_s[hz], at_s - ticks / hz)

    def sent_s(self, stamp: int) -> float | None:
        """Return the time at which the segment with this time stamp was sent, on the capture's
        clock; None if unknown."""
        if not self._hz or self._first is None:
            return None
        return self._offsets_s[self._hz] + ((stamp - self._first[1]) % MODULUS) / self._hz
