"""Counters for each station and each connection of a capture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lasthop.importing.activity import Activity, Handshake
from lasthop.importing.observed import Flow
from lasthop.importing.ppdu import Sighting
from lasthop.importing.round_trips import RoundTrips
from lasthop.importing.segments import ACK, SYN, Segment
from lasthop.importing.window_limit import Evidence, is_window_limited

__all__ = ["Connection", "Datagrams", "StationCounters", "Way", "most_at_once"]

MAX_CONNECTIONS = 20_000
"""Maximum number of connections that are followed. A last hop has fewer active connections."""

MIN_SEGMENTS, MIN_BYTES = 20, 20_000
"""Minimum number of segments and bytes of a connection that is imported. Windows do not limit
shorter connections."""

QUIC = 443
"""UDP port of QUIC, whose congestion control is similar to that of TCP (RFC 9002)."""

MIN_DATAGRAMS = 10
MIN_RATE_BPS = 500.0
"""Smallest rate of datagrams that is imported as UDP traffic. [bit/s]"""


@dataclass
class Way:
    """Counters of a station's data frames in one direction.

    Attributes
    ----------
    sent : Counter
        Number of bytes, by rate and modulation.
    frames, repeats : int
        Number of all frames, and of frames with the retry flag.
    payload_bytes : int
        Payload of the frames, without retries. [bytes]
    """

    sent: Counter[Sighting] = field(default_factory=Counter)
    frames: int = 0
    repeats: int = 0
    payload_bytes: int = 0


@dataclass
class Datagrams:
    """Counters of a station's UDP datagrams in one direction, without QUIC."""

    payload_bytes: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    lengths: Counter[int] = field(default_factory=Counter)

    def add(self, at_s: float, length: int) -> None:
        """Update the counters with a datagram."""
        if not self.lengths:
            self.first_s = at_s
        self.payload_bytes += length
        self.last_s = at_s
        self.lengths[length] += 1

    @property
    def rate_bps(self) -> float:
        """Mean rate from the first to the last datagram. [bit/s]"""
        span_s = self.last_s - self.first_s
        return 8 * self.payload_bytes / span_s if span_s > 0 else 0.0

    @property
    def counts(self) -> bool:
        """Whether there are enough datagrams at a high enough rate to be imported as UDP
        traffic.
        """
        return sum(self.lengths.values()) >= MIN_DATAGRAMS and self.rate_bps >= MIN_RATE_BPS


@dataclass
class Side:
    """Data of a connection in one direction, and the receive window that the sender of the data
    announces.
    """

    trips: RoundTrips = field(default_factory=RoundTrips)
    activity: Activity = field(default_factory=Activity)
    payload_bytes: int = 0
    segments: int = 0
    pure_acks: int = 0
    window_bytes: int = 0
    """Largest receive window that the sender of this direction announced. [bytes]"""
    scale: int | None = None
    """Window scale that the sender of this direction announced in its SYN; -1 if the SYN has no
    window scale option, None before the SYN."""
    began_quiet_s: float | None = None
    """Total idle time of the radio channel until the first data; None before the first data. [s]"""
    ended_quiet_s: float = 0.0
    """Total idle time of the radio channel until the last data. [s]"""


@dataclass
class Connection:
    """TCP or QUIC connection of a station, in both directions."""

    tcp: bool
    first_s: float
    last_s: float = 0.0
    up: Side = field(default_factory=Side)
    down: Side = field(default_factory=Side)
    far: tuple[float, int] = (float("inf"), 0)
    handshake: Handshake = field(default_factory=Handshake)
    _probe: tuple[int, float, int] | None = None

    def pass_by(
        self,
        at_s: float,
        way: str,
        seen: Segment,
        passed: dict[str, int],
        quiet_s: float | None = None,
    ) -> None:
        """Process a packet of the connection.

        Parameters
        ----------
        at_s : float
            Time of the packet. [s]
        way : str
            Direction: ``"up"`` from the station, or ``"down"`` to the station.
        seen : Segment
            Captured packet.
        passed : dict
            Number of packets of all connections so far, by direction.
        quiet_s : float
            Total time so far without frames on the radio channel; None in a wired capture. [s]
        """
        self.last_s = at_s
        own, other = (self.up, self.down) if way == "up" else (self.down, self.up)
        back = "down" if way == "up" else "up"
        own.payload_bytes += seen.payload_bytes
        own.segments += own.trips.segments_of(seen) if seen.payload_bytes else 0
        if not self.tcp:
            if seen.payload_bytes:
                self._send(at_s, own, seen, quiet_s, passed[way])
            return
        self.handshake.see(at_s, way, seen)
        if seen.flags & SYN:
            own.scale = seen.scale
            if seen.mss_bytes:  # The MSS limits the segments in the other direction.
                other.trips.most_bytes = seen.mss_bytes
        self._probe_far_side(at_s, way, seen, sum(passed.values()))
        own.pure_acks += not seen.payload_bytes and bool(seen.flags & ACK)
        window = announced_bytes(own, other, seen)
        own.window_bytes = max(own.window_bytes, window)
        if seen.payload_bytes and not own.trips.is_keep_alive(seen):
            self._send(at_s, own, seen, quiet_s, passed[way])
        before = own.trips.retransmitted
        own.trips.data(at_s, seen, passed[way])
        if own.trips.retransmitted != before:
            own.activity.forget_probe()
        unanswered = not other.trips.all_answered
        other.trips.ack(at_s, seen, window, passed[back])
        if unanswered and seen.flags & ACK:
            other.activity.ack(at_s, seen.ack, quiet_s)

    def _send(
        self, at_s: float, own: Side, seen: Segment, quiet_s: float | None, passed: int
    ) -> None:
        """Process data of a connection: check for the end of a pause, and update the idle time."""
        own.ended_quiet_s = quiet_s or 0.0
        if own.began_quiet_s is None:
            own.began_quiet_s = own.ended_quiet_s
        paused = own.activity.data(
            at_s,
            seen,
            all_answered=not own.activity.answered or own.trips.all_answered,
            quiet_s=quiet_s,
            trip_s=self.handshake.rtt_s,
            losses=own.trips.losses,
        )
        if paused and self.tcp:
            own.trips.pause(at_s, passed)

    def _probe_far_side(self, at_s: float, way: str, seen: Segment, passed: int) -> None:
        """Measure the time from uplink data to the server's ACK, and count the packets of the cell
        that pass in this time.
        """
        if way == "up":
            length = seen.payload_bytes + bool(seen.flags & SYN)
            if length and self._probe is None:
                self._probe = (seen.seq + length) % (1 << 32), at_s, passed
        elif self._probe is not None and seen.flags & ACK:
            behind = (seen.ack - self._probe[0]) % (1 << 32)
            if behind < 1 << 31:
                if behind == 0:
                    self.far = min(self.far, (at_s - self._probe[1], passed - self._probe[2]))
                self._probe = None

    @property
    def direction(self) -> str:
        """Direction in which most of the connection's payload was sent."""
        return "up" if self.up.payload_bytes > self.down.payload_bytes else "down"

    @property
    def main(self) -> Side:
        """Counters of the direction with most of the payload."""
        return self.up if self.direction == "up" else self.down

    @property
    def back(self) -> Side:
        """Counters of the direction with less payload."""
        return self.down if self.direction == "up" else self.up

    @property
    def trips(self) -> RoundTrips:
        """Round-trip times of the direction with most of the payload."""
        return self.main.trips

    @property
    def counts(self) -> bool:
        """Whether the connection sent enough data to be imported."""
        main = self.main
        return main.segments >= MIN_SEGMENTS and main.payload_bytes >= MIN_BYTES

    def is_window_limited(self, radio: bool) -> bool:
        """Return whether the window limited the connection; if False, its application limited
        it."""
        main, busy = self.main, None
        span_s = main.activity.span_s
        if radio and span_s > 0:
            busy = 1.0 - (main.ended_quiet_s - (main.began_quiet_s or 0.0)) / span_s
        evidence = Evidence(
            self.handshake,
            main.activity,
            main.trips,
            self.direction,
            main.payload_bytes,
            busy,
            self.tcp,
        )
        return is_window_limited(evidence)

    def flow(self, began_s: float, far_s: float, radio: bool) -> Flow:
        """Return the measured properties of the connection. `far_s` is the response time of the
        servers. [s]"""
        way, main, trips = self.direction, self.main, self.trips
        moved = max(main.payload_bytes - trips.repeated_bytes, 0)
        activity, limited = main.activity, self.is_window_limited(radio)
        span_s = activity.span_s
        rtt_s, stamped = trips.rtt_s, trips.stamped
        if stamped and rtt_s is not None and way == "down":
            rtt_s += far_s
        if not limited and not stamped:
            rtt_s = self.handshake.rtt_s  # The connection never waited for an ACK.
        return Flow(
            direction=way,
            start_s=activity.first_s - began_s,
            stop_s=activity.last_s - began_s,
            data_bytes=moved,
            goodput_bps=8 * moved / span_s if span_s > 0 else 0.0,
            rtt_s=rtt_s,
            by_time_stamps=stamped,
            segments=main.segments,
            retransmitted=trips.retransmitted,
            handshake_s=self.handshake.rtt_s,
            window_limited=limited,
        )


def announced_bytes(own: Side, other: Side, seen: Segment) -> int:
    """Return the receive window that a packet announces; 0 if its scale is unknown. [bytes]"""
    if seen.flags & SYN or own.scale is None or other.scale is None:
        return 0
    return seen.window << (own.scale if min(own.scale, other.scale) >= 0 else 0)


@dataclass
class StationCounters:
    """All counters of one station."""

    address: str
    up: Way = field(default_factory=Way)
    down: Way = field(default_factory=Way)
    udp_up: Datagrams = field(default_factory=Datagrams)
    udp_down: Datagrams = field(default_factory=Datagrams)
    connections: dict[tuple[object, ...], Connection] = field(default_factory=dict)
    protected: int = 0
    qos: int = 0
    signals: Counter[int] = field(default_factory=Counter)
    sequences: dict[str, int] = field(default_factory=dict)

    def way(self, name: str) -> Way:
        """Return the frame counters of one direction, ``"up"`` or ``"down"``."""
        return self.up if name == "up" else self.down

    def bulk(self) -> Iterator[Connection]:
        """Yield the connections that are long enough to be imported, in the order of their
        start.
        """
        for each in self.connections.values():
            if each.counts:
                yield each


def most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    """Return the maximum number of overlapping time spans, which are pairs of start and stop."""
    steps = sorted(
        [(start, 1) for start, _ in spans] + [(stop, -1) for _, stop in spans],
        key=lambda step: (step[0], -step[1]),
    )
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most
