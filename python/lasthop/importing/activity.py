"""Handshake, pauses, and data per round trip of a connection in a capture.

From these values, `window_limit` decides whether a connection was limited by its window or by its
application.
"""

from collections import deque
from dataclasses import dataclass, field

from lasthop.importing.round_trips import Mean
from lasthop.importing.segments import ACK, SYN, Segment

__all__ = ["Activity", "Handshake"]

MIN_PAUSE_S, PAUSE_TRIPS = 0.25, 4.0
"""Shortest gap that counts as a pause: as a time, and as a multiple of the handshake's round-trip
time. A pause exceeds both. [s], [-]
"""
UNKNOWN_PAUSE_S = 0.5
"""Shortest pause if the capture does not contain the handshake of the connection. [s]"""
TIMEOUT_S = 3.0
"""Shortest pause of a connection with losses, so that a retransmission timeout is no pause. [s]"""
UNKNOWN_TRIP_S = 0.1
"""Interval for `peak_bytes` if the capture does not contain the handshake of the connection. [s]"""


@dataclass(slots=True)
class Handshake:
    """Three-way handshake of a TCP connection, as it passes the capturing device.

    Attributes
    ----------
    opener : str
        Direction of the SYN, ``"up"`` or ``"down"``; empty before the SYN was captured.
    answered_s, completed_s : float
        Time from SYN to SYN-ACK, and from SYN-ACK to ACK; None if not captured. [s]
    """

    opener: str = ""
    answered_s: float | None = None
    completed_s: float | None = None
    _last_s: float = 0.0
    _repeated: bool = False

    def see(self, at_s: float, way: str, seen: Segment) -> None:
        """Process a segment of the connection.

        If the SYN is repeated, it is unknown which SYN was answered, so no time is measured.
        """
        if self.completed_s is not None:
            return
        if seen.flags & SYN and not seen.flags & ACK:
            self._repeated = self._repeated or bool(self.opener)
            self.opener, self._last_s = way, at_s
        elif not self.opener or self._repeated:
            return
        elif seen.flags & SYN and way != self.opener:
            self._repeated = self.answered_s is not None
            self.answered_s, self._last_s = at_s - self._last_s, at_s
        elif seen.flags & ACK and way == self.opener and self.answered_s is not None:
            self.completed_s = at_s - self._last_s

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the whole path; None unless the whole handshake was captured. [s]"""
        if self._repeated or self.answered_s is None or self.completed_s is None:
            return None
        return max(self.answered_s + self.completed_s, 0.0)

    def beyond_s(self, way: str) -> float | None:
        """Return the time from the capturing device to the receiver and back, for data in this
        direction. [s]"""
        if self.rtt_s is None:
            return None
        return self.answered_s if way == self.opener else self.completed_s


@dataclass(slots=True)
class Activity:
    """Times at which a connection sent data in one direction.

    Attributes
    ----------
    first_s, last_s : float
        Time of the first and the last data. [s]
    idle_s : float
        Total duration of pauses, in which the connection had nothing to send. [s]
    peak_bytes : int
        Largest payload that passed within one round-trip time of the handshake. [bytes]
    answers, waits : Mean
        Time from data to its ACK, and from the ACK of all data to the next data. [s]
    answered : bool
        Whether any ACK of the data was captured.
    """

    first_s: float = -1.0
    last_s: float = -1.0
    idle_s: float = 0.0
    peak_bytes: int = 0
    answers: Mean = field(default_factory=Mean)
    waits: Mean = field(default_factory=Mean)
    answered: bool = False
    _event_s: float = 0.0
    _quiet_s: float = 0.0
    _within: deque[tuple[float, int]] = field(default_factory=deque)
    _sum: int = 0
    _probe: tuple[int, float] | None = None

    @property
    def span_s(self) -> float:
        """Time from the first to the last data. [s]"""
        return self.last_s - self.first_s

    def data(
        self,
        at_s: float,
        sent: Segment,
        *,
        all_answered: bool,
        quiet_s: float | None,
        trip_s: float | None,
        losses: int,
    ) -> bool:
        """Process a segment with data; return whether a pause ended with the segment.

        Parameters
        ----------
        at_s : float
            Time of the segment. [s]
        sent : Segment
            Segment with data.
        all_answered : bool
            Whether all previous data was acknowledged, or the capture has no ACKs.
        quiet_s : float
            Total time so far without frames on the radio channel; None in a wired capture. [s]
        trip_s : float
            Round-trip time of the handshake; None if the handshake was not captured. [s]
        losses : int
            Losses of the connection so far.
        """
        paused = False
        if self.first_s < 0:
            self.first_s = at_s
        elif all_answered:
            gap_s = at_s - self._event_s
            if self.answered:
                self.waits.add(gap_s)
            # Frames of other stations do not count as a pause: the data may have waited for the
            # channel.
            own_s = gap_s if quiet_s is None else min(gap_s, quiet_s - self._quiet_s)
            if own_s > _shortest_pause_s(trip_s, losses):
                self.idle_s += own_s
                paused = True
        self.last_s = self._event_s = at_s
        self._quiet_s = quiet_s or 0.0
        self._add_up(at_s, sent.payload_bytes, UNKNOWN_TRIP_S if trip_s is None else trip_s)
        if self._probe is None:
            self._probe = (sent.seq + sent.payload_bytes) % (1 << 32), at_s
        return paused

    def ack(self, at_s: float, acknowledged: int, quiet_s: float | None) -> None:
        """Process an ACK of all data before the sequence number `acknowledged`."""
        self.answered = True
        self._event_s, self._quiet_s = at_s, quiet_s or 0.0
        if self._probe is not None and (acknowledged - self._probe[0]) % (1 << 32) < 1 << 31:
            self.answers.add(at_s - self._probe[1])
            self._probe = None

    def forget_probe(self) -> None:
        """Ignore the ACK of the segment that is timed, since the segment was retransmitted
        (Karn).
        """
        self._probe = None

    def _add_up(self, at_s: float, payload_bytes: int, trip_s: float) -> None:
        self._within.append((at_s, payload_bytes))
        self._sum += payload_bytes
        while self._within[0][0] < at_s - trip_s:
            self._sum -= self._within.popleft()[1]
        self.peak_bytes = max(self.peak_bytes, self._sum)


def _shortest_pause_s(trip_s: float | None, losses: int) -> float:
    known_s = UNKNOWN_PAUSE_S if trip_s is None else max(MIN_PAUSE_S, PAUSE_TRIPS * trip_s)
    return max(known_s, TIMEOUT_S) if losses > 1 else known_s
