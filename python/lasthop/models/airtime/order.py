"""Order in which a full queue sends packets, and the effect of this order on the size of
aggregates.

The module simulates exchanges one after another, with mean backoffs. When a packet enters the
queue, its station is drawn at random in proportion to the stations' rates, always with the same
seed. If packets arrived in a fixed order of stations, a queue with short TXOPs would enter one of
several cycles, each with a different result. The number of a station's packets in the queue
determines the length of its aggregates.

In a FIFO, an exchange sends packets to the station of the oldest packet. The aggregate has all
packets of this station in the queue, up to the limits of an aggregate. Packets on the air occupy
the queue until they are acknowledged. With large limits, one exchange removes all packets of a
station from the queue. If the limit for another station is two packets per exchange, most of that
station's packets remain and fill the queue. Thus the packets of a slow station fill a FIFO if
packets for all stations arrive at equal rates.

If each station has its own queue, the queue always has enough packets for the longest allowed
aggregate.
"""

from bisect import bisect
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from itertools import accumulate
from random import Random
from typing import Protocol

from lasthop.models.airtime.receivers import Receiver
from lasthop.progress.cost_limits import check_time

SEED = 1
"""Seed of the random draws, which does not depend on the scenario."""
FIRST, COUNTED = 4, 40
"""Number of packets that are sent before counting starts, and number of packets that are counted,
both divided by the limit of the FIFO.
"""
LEAST = {"fifo": (6000, 300), "rounds": (1000, 20), "airtime": (1000, 20)}
"""Least number of counted exchanges by order of service: in total, and per station."""
LOOKS = 256
"""Number of channel accesses between two checks of the time limit of the computation."""


def drawn(offered: Sequence[float]) -> Iterator[int]:
    """Yield the station of each arriving packet, drawn with probabilities proportional to
    `offered`.
    """
    parts, draws = [*accumulate(offered)], Random(SEED)
    while True:
        yield min(bisect(parts, draws.random() * parts[-1]), len(parts) - 1)


class Waiting(Protocol):
    """Queue of an access point: the packets that wait for each station."""

    def following(self) -> int:
        """Return the index of the station to which the next exchange sends."""

    def available(self, station: int) -> int:
        """Return the number of packets that wait for a station. A queue that always has enough
        packets for the longest PPDU may return any larger number.
        """

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Begin an exchange that sends packets to a station."""

    def pass_by(self, time_ns: float) -> None:
        """Advance the time by `time_ns` and add the packets that arrive meanwhile. [ns]"""

    def settle(self) -> None:
        """End the exchange and remove its packets from the queue."""


class Fifo:
    """One drop-tail queue for all stations.

    Parameters
    ----------
    room : int
        Largest number of packets in the queue, including packets on the air.
    comes : iterator of int
        Index of the station of each packet that enters the queue.
    rate_pps : float
        Arrival rate of packets; infinite if the queue is always full. [packets/s]
    """

    def __init__(self, room: int, comes: Iterator[int], rate_pps: float) -> None:
        self._room = room
        self._greedy = rate_pps == float("inf")
        self._comes = comes
        self._per_ns = 1e-9 * rate_pps
        self._waiting = defaultdict[int, deque[int]](deque)
        self._order = deque[tuple[int, int]]()
        self._inside = 0
        self._on_air = 0
        self._come = 0
        self._credit = 0.0
        self._fill(room)

    def _fill(self, packets: int) -> None:
        for _ in range(min(packets, self._room - self._inside)):
            station = next(self._comes)
            self._waiting[station].append(self._come)
            self._order.append((self._come, station))
            self._come += 1
            self._inside += 1

    def following(self) -> int:
        """Return the station of the oldest packet, or of the next arriving packet if no packet
        waits.
        """
        if self._inside == self._on_air:
            self._credit = 0.0
            self._fill(1)
        # `_order` still contains packets that were already sent as part of an aggregate.
        while True:
            number, station = self._order[0]
            own = self._waiting[station]
            if own and own[0] == number:
                return station
            self._order.popleft()

    def available(self, station: int) -> int:
        """Return the number of packets that wait for a station."""
        return len(self._waiting[station])

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Begin an exchange that sends a station's oldest packets. The packets occupy the queue
        until `settle`.
        """
        for _ in range(packets):
            self._waiting[station].popleft()
        self._on_air = packets

    def pass_by(self, time_ns: float) -> None:
        """Add the packets that arrive within the time `time_ns`. Packets that arrive at a full
        queue are lost. [ns]
        """
        if self._greedy:
            return
        self._credit += time_ns * self._per_ns
        total = int(self._credit)
        self._credit -= total
        self._fill(total)

    def settle(self) -> None:
        """Remove the packets of the finished exchange from the queue."""
        self._inside -= self._on_air
        self._on_air = 0
        if self._greedy:
            self._fill(self._room)


class Rounds:
    """One queue per station; all queues are full and are served in turn.

    Parameters
    ----------
    stations : int
        Number of stations.
    """

    def __init__(self, stations: int) -> None:
        self._stations = stations
        self._last = -1

    def following(self) -> int:
        """Return the station after the last served station."""
        return (self._last + 1) % self._stations

    def available(self, station: int) -> int:
        """Return more packets than fit into a PPDU."""
        return 1 << 30

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Advance to the next station."""
        self._last = station

    def pass_by(self, time_ns: float) -> None:
        """Do nothing: arrivals do not change full queues."""

    def settle(self) -> None:
        """Do nothing: the queues remain full after an exchange."""


class Airtime(Rounds):
    """One queue per station; all queues are full, and the next exchange is with the station that
    has had the least air time.

    Parameters
    ----------
    stations : int
        Number of stations.
    """

    def __init__(self, stations: int) -> None:
        super().__init__(stations)
        self._had = [(0, station) for station in range(stations)]

    def following(self) -> int:
        """Return the station that has had the least air time."""
        return self._had[0][1]

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Add the duration of a PPDU to the station's air time."""
        had_ns, _ = self._had[0]
        heapreplace(self._had, (had_ns + ppdu_ns, station))


@dataclass
class Counters:
    """Counters of transmissions, by station.

    Attributes
    ----------
    exchanges, packets, mpdus, exchange_ns, ppdu_ns : list of int
        Totals per station: number of exchanges, number of packets and number of MPDUs in these
        exchanges, duration of the exchanges, and air time of the PPDUs. [-, -, -, ns, ns]
    accesses : int
        Number of times that the access point contended for the medium.
    """

    exchanges: list[int]
    packets: list[int]
    mpdus: list[int]
    exchange_ns: list[int]
    ppdu_ns: list[int]
    accesses: int = 0

    @classmethod
    def empty(cls, stations: int) -> "Counters":
        """Return counters with the value 0."""
        exchanges, packets, mpdus, exchange_ns, ppdu_ns = ([0] * stations for _ in range(5))
        return cls(exchanges, packets, mpdus, exchange_ns, ppdu_ns)


def serve(
    receivers: Sequence[Receiver],
    waiting: Waiting,
    access_s: float,
    least: int,
    first: int = 0,
    counted: int = 0,
) -> Counters:
    """Simulate the transmissions of a queue, one channel access after another, and return their
    counters.

    Parameters
    ----------
    receivers : sequence of Receiver
        Stations to which the access point sends.
    waiting : Waiting
        Queue of the access point.
    access_s : float
        AIFS and mean backoff before an access. [s]
    least : int
        Least number of counted exchanges.
    first, counted : int
        Number of packets that are sent before counting starts, and least number of packets that are
        then counted.
    """
    sending = receivers[0].sending
    limit_ns, sifs_ns, access_ns = sending.limit_ns, sending.sifs_ns, 1e9 * access_s
    most_exchanges = sending.access.txop_packets
    tally, sent, done = Counters.empty(len(receivers)), 0, 0
    warm = first == 0
    while not warm or sent < counted or done < least:
        if not warm and sent >= first:
            tally, sent, done, warm = Counters.empty(len(receivers)), 0, 0, True
        tally.accesses += 1
        if tally.accesses % LOOKS == 0:
            check_time("the order of a queue")
        waiting.pass_by(access_ns)
        over_ns, opens, exchanges = 0, True, 0
        while True:
            station = waiting.following()
            own = receivers[station]
            left_ns = None if limit_ns is None else limit_ns - over_ns
            packets = min(own.most_packets(left_ns, opens=opens), waiting.available(station))
            if packets == 0:
                break
            frames = own.frames
            exchange_ns = (frames.opening_ns if opens else frames.following_ns)[packets - 1]
            waiting.take(station, packets, frames.ppdu_ns[packets - 1])
            waiting.pass_by(exchange_ns)
            waiting.settle()
            tally.exchanges[station] += 1
            tally.packets[station] += packets
            tally.mpdus[station] += frames.ppdus[packets - 1].count
            tally.exchange_ns[station] += exchange_ns
            tally.ppdu_ns[station] += frames.ppdu_ns[packets - 1]
            sent += packets
            done += 1
            exchanges += 1
            over_ns, opens = over_ns + exchange_ns + sifs_ns, False
            if limit_ns is None or exchanges == most_exchanges:
                break
            waiting.pass_by(sifs_ns)
    return tally
