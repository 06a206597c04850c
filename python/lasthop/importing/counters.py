"""Counts of a capture: what each station and each connection did, packet by packet."""

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

MOST_CONNECTIONS = 20_000
"""Connections that are followed; a capture of a last hop has fewer at work."""

LEAST_SEGMENTS, LEAST_BYTES = 20, 20_000
"""What a connection must have moved to count: less than that is over before windows matter."""

QUIC = 443
"""UDP port of QUIC, whose connections are controlled as TCP's are (RFC 9002)."""

LEAST_DATAGRAMS = 10
LEAST_RATE_BPS = 500.0
"""What datagrams must have moved to count as a source."""


@dataclass
class Way:
    """Data frames of a station in one direction.

    Attributes
    ----------
    sent : Counter
        Bytes by rate and modulation.
    frames, repeats : int
        Frames in all, and those with the retry flag.
    payload_bytes : int
        What they carried, repeats left out. [bytes]
    """

    sent: Counter[Sighting] = field(default_factory=Counter)
    frames: int = 0
    repeats: int = 0
    payload_bytes: int = 0


@dataclass
class Datagrams:
    """UDP of a station in one direction, QUIC left out."""

    payload_bytes: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    lengths: Counter[int] = field(default_factory=Counter)

    def add(self, at_s: float, length: int) -> None:
        """Count a datagram."""
        if not self.lengths:
            self.first_s = at_s
        self.payload_bytes += length
        self.last_s = at_s
        self.lengths[length] += 1

    @property
    def rate_bps(self) -> float:
        """Mean rate while there were any. [bit/s]"""
        span_s = self.last_s - self.first_s
        return 8 * self.payload_bytes / span_s if span_s > 0 else 0.0

    @property
    def counts(self) -> bool:
        """Whether they are a source, and no look-ups."""
        return sum(self.lengths.values()) >= LEAST_DATAGRAMS and self.rate_bps >= LEAST_RATE_BPS


@dataclass
class Connection:
    """A TCP or QUIC connection of a station, both ways."""

    tcp: bool
    first_s: float
    last_s: float = 0.0
    up: RoundTrips = field(default_factory=RoundTrips)
    down: RoundTrips = field(default_factory=RoundTrips)
    payload: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    segments: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    scales: dict[str, int] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    pure_acks: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    far: tuple[float, int] = (float("inf"), 0)
    handshake: Handshake = field(default_factory=Handshake)
    activity: dict[str, Activity] = field(
        default_factory=lambda: {"up": Activity(), "down": Activity()}
    )
    quiet_s: dict[str, tuple[float, float]] = field(default_factory=dict)
    _probe: tuple[int, float, int] | None = None

    def pass_by(
        self,
        at_s: float,
        way: str,
        seen: Segment,
        passed: dict[str, int],
        quiet_s: float | None = None,
    ) -> None:
        """Take a packet of it.

        Parameters
        ----------
        at_s : float
            Time of the packet. [s]
        way : str
            Direction: ``"up"``, from the station, or ``"down"``.
        seen : Segment
            The packet.
        passed : dict
            Packets that have passed so far, up and down.
        quiet_s : float
            Time so far in which the radio heard nothing; None on a wire. [s]
        """
        self.last_s = at_s
        self.payload[way] += seen.payload_bytes
        own, other = (self.up, self.down) if way == "up" else (self.down, self.up)
        self.segments[way] += own.segments_of(seen) if seen.payload_bytes else 0
        if not self.tcp:
            if seen.payload_bytes:
                self._send(at_s, way, seen, quiet_s, passed)
            return
        back = "down" if way == "up" else "up"
        self.handshake.see(at_s, way, seen)
        if seen.flags & SYN:
            self.scales[way] = seen.scale
            if seen.mss_bytes:  # What the other end may send.
                other.most_bytes = seen.mss_bytes
        self._probe_far_side(at_s, way, seen, sum(passed.values()))
        self.pure_acks[way] += not seen.payload_bytes and bool(seen.flags & ACK)
        window = self._window(way, seen)
        self.windows[way] = max(self.windows[way], window)
        if seen.payload_bytes and not own.is_keep_alive(seen):
            self._send(at_s, way, seen, quiet_s, passed)
        again = own.retransmitted
        own.data(at_s, seen, passed[way])
        if own.retransmitted != again:
            self.activity[way].forget_probe()
        unanswered = not other.all_answered
        other.ack(at_s, seen, window, passed[back])
        if unanswered and seen.flags & ACK:
            self.activity[back].ack(at_s, seen.ack, quiet_s)

    def _send(
        self,
        at_s: float,
        way: str,
        seen: Segment,
        quiet_s: float | None,
        passed: dict[str, int],
    ) -> None:
        """Take data of either protocol: whether a pause ends, and how long there was none."""
        own = self.up if way == "up" else self.down
        activity = self.activity[way]
        began_s, _ = self.quiet_s.get(way, (quiet_s or 0.0, 0.0))
        self.quiet_s[way] = began_s, quiet_s or 0.0
        paused = activity.data(
            at_s,
            seen,
            all_answered=not activity.answered or own.all_answered,
            quiet_s=quiet_s,
            trip_s=self.handshake.rtt_s,
            losses=own.losses,
        )
        if paused and self.tcp:
            own.pause(at_s, passed[way])

    def _window(self, way: str, seen: Segment) -> int:
        """The window that a packet announces; 0 where its scale is not known. [bytes]"""
        if seen.flags & SYN:
            return 0
        if len(self.scales) < 2:
            return 0
        both = min(self.scales.values()) >= 0
        return seen.window << (self.scales[way] if both else 0)

    def _probe_far_side(self, at_s: float, way: str, seen: Segment, passed: int) -> None:
        """Time what goes up until the far side answers it, with what passed in between."""
        if way == "up":
            length = seen.payload_bytes + bool(seen.flags & SYN)
            if length and self._probe is None:
                self._probe = (seen.seq + length) % (1 << 32), at_s, passed
        elif self._probe is not None and seen.flags & ACK:
            behind = (seen.ack - self._probe[0]) % (1 << 32)
            if behind < 1 << 31:
                if behind == 0:
                    result = at_s - self._probe[1], passed - self._probe[2]
                    self.far = min(self.far, result)
                self._probe = None

    @property
    def direction(self) -> str:
        """Where most of its payload went."""
        return "up" if self.payload["up"] > self.payload["down"] else "down"

    @property
    def trips(self) -> RoundTrips:
        """Round trips of its data."""
        return self.up if self.direction == "up" else self.down

    @property
    def counts(self) -> bool:
        """Whether it moved so much that windows and queues matter for it."""
        way = self.direction
        return self.segments[way] >= LEAST_SEGMENTS and self.payload[way] >= LEAST_BYTES

    def is_window_limited(self, radio: bool) -> bool:
        """Whether its window limited it; otherwise its application did."""
        way = self.direction
        activity, (began_s, ended_s) = self.activity[way], self.quiet_s.get(way, (0.0, 0.0))
        busy = None
        if radio and activity.span_s > 0:
            busy = 1.0 - (ended_s - began_s) / activity.span_s
        return is_window_limited(
            Evidence(self.handshake, activity, self.trips, way, self.payload[way], busy, self.tcp)
        )

    def flow(self, began_s: float, far_s: float, radio: bool) -> Flow:
        """It as others see it; `far_s` is the least time of the far side. [s]"""
        way, trips = self.direction, self.trips
        moved = max(self.payload[way] - trips.repeated_bytes, 0)
        activity, limited = self.activity[way], self.is_window_limited(radio)
        span_s = activity.span_s
        rtt_s, stamped = trips.rtt_s, trips.stamped
        if stamped and rtt_s is not None and way == "down":
            rtt_s += far_s
        if not limited and not stamped:
            rtt_s = self.handshake.rtt_s  # No ACK was what data waited for.
        return Flow(
            direction=way,
            start_s=activity.first_s - began_s,
            stop_s=activity.last_s - began_s,
            data_bytes=moved,
            goodput_bps=8 * moved / span_s if span_s > 0 else 0.0,
            rtt_s=rtt_s,
            by_time_stamps=stamped,
            segments=self.segments[way],
            retransmitted=trips.retransmitted,
            handshake_s=self.handshake.rtt_s,
            window_limited=limited,
        )


@dataclass
class StationCounters:
    """All that was seen of one station."""

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
        """Frames up or down."""
        return self.up if name == "up" else self.down

    def bulk(self) -> Iterator[Connection]:
        """Connections that count, in order of their beginning."""
        for each in self.connections.values():
            if each.counts:
                yield each


def most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    """Return how many spans of time overlap at most."""
    steps = sorted(
        [(start, 1) for start, _ in spans] + [(stop, -1) for _, stop in spans],
        key=lambda step: (step[0], -step[1]),
    )
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most
