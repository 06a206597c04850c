"""Order in which a full queue sends, and its effect on aggregates.

The model is a recursion over exchanges with mean backoffs. The station of the packet that finds
room is drawn by the stations' rates, always with the same seed. If stations came in turn, a queue
with short opportunities would fall into one of several cycles. The packets of a station in the
queue determine the length of its aggregates.

FIFO: an exchange goes to the station of the oldest packet, and takes all its packets in the queue,
up to the limits of an aggregate. Packets on the air keep their room until they are acknowledged. A
station with large limits therefore empties its part of the queue in one exchange. A station of
which two packets fit into an exchange has the rest of the room. Thus a slow station fills a FIFO
with equal arrivals for all.

A queue for each station always has enough for an aggregate as long as the limits allow.
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
"""Seed of what is drawn, whatever the scenario's."""
FIRST, COUNTED = 4, 40
"""How often the packets that a FIFO has room for are sent before something is counted, and then."""
LEAST = {"fifo": (6000, 300), "rounds": (1000, 20), "airtime": (1000, 20)}
"""Exchanges that are counted at least, and at least for each station."""
LOOKS = 256
"""Accesses after which the clock is looked at."""


def drawn(offered: Sequence[float]) -> Iterator[int]:
    """For which station each packet is, by the packets that are offered for each. [-]"""
    parts, draws = [*accumulate(offered)], Random(SEED)
    while True:
        yield min(bisect(parts, draws.random() * parts[-1]), len(parts) - 1)


class Waiting(Protocol):
    """Packets that wait in the queue of an access point."""

    def following(self) -> int:
        """Give the station whose turn it is."""

    def available(self, station: int) -> int:
        """Give the packets that wait for a station, or more than fit."""

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Begin an exchange."""

    def pass_by(self, time_ns: float) -> None:
        """Let time pass, in which packets come. [ns]"""

    def settle(self) -> None:
        """End the exchange: its packets are gone."""


class Fifo:
    """One drop-tail queue for all.

    Parameters
    ----------
    room : int
        Packets that it has room for, those on the air included.
    comes : iterator of int
        For which station each packet that finds room is.
    rate_pps : float
        At which rate packets come; infinite: it is always full. [packets/s]
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
        """Give the station of the oldest packet; of the next that comes, where none waits."""
        if self._inside == self._on_air:
            self._credit = 0.0
            self._fill(1)
        while True:  # what has been sent from behind is still in the order
            number, station = self._order[0]
            own = self._waiting[station]
            if own and own[0] == number:
                return station
            self._order.popleft()

    def available(self, station: int) -> int:
        """Give the packets that wait for a station."""
        return len(self._waiting[station])

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Take a station's oldest packets; they keep their room."""
        for _ in range(packets):
            self._waiting[station].popleft()
        self._on_air = packets

    def pass_by(self, time_ns: float) -> None:
        """Let packets come, as far as there is room; the others are lost. [ns]"""
        if self._greedy:
            return
        self._credit += time_ns * self._per_ns
        total = int(self._credit)
        self._credit -= total
        self._fill(total)

    def settle(self) -> None:
        """Free the room of what was on the air."""
        self._inside -= self._on_air
        self._on_air = 0
        if self._greedy:
            self._fill(self._room)


class Rounds:
    """A queue for each station, all of them full, served in turn.

    Parameters
    ----------
    stations : int
        How many.
    """

    def __init__(self, stations: int) -> None:
        self._stations = stations
        self._last = -1

    def following(self) -> int:
        """Give the station after the last."""
        return (self._last + 1) % self._stations

    def available(self, station: int) -> int:
        """Give more than fit."""
        return 1 << 30

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Go on to the next station."""
        self._last = station

    def pass_by(self, time_ns: float) -> None:
        """Let time pass: the queues are full anyway."""

    def settle(self) -> None:
        """End the exchange: the queues are full anyway."""


class Airtime(Rounds):
    """A queue for each station, all of them full; next is who has had least of the air.

    Parameters
    ----------
    stations : int
        How many.
    """

    def __init__(self, stations: int) -> None:
        super().__init__(stations)
        self._had = [(0, station) for station in range(stations)]

    def following(self) -> int:
        """Give the station with the least air time."""
        return self._had[0][1]

    def take(self, station: int, packets: int, ppdu_ns: int) -> None:
        """Charge the PPDU."""
        had_ns, _ = self._had[0]
        heapreplace(self._had, (had_ns + ppdu_ns, station))


@dataclass
class Counters:
    """Counts of transmissions, by station.

    Attributes
    ----------
    exchanges, packets, mpdus, exchange_ns, ppdu_ns : list of int
        Exchanges, packets and MPDUs in them, their time and air time of PPDUs. [-, -, -, ns, ns]
    accesses : int
        Times that the access point contended for the medium.
    """

    exchanges: list[int]
    packets: list[int]
    mpdus: list[int]
    exchange_ns: list[int]
    ppdu_ns: list[int]
    accesses: int = 0

    @classmethod
    def empty(cls, stations: int) -> "Counters":
        """Return counts of nothing."""
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
    """Return the transmissions of a queue, access by access.

    Parameters
    ----------
    receivers : sequence of Receiver
        The stations.
    waiting : Waiting
        The queue.
    access_s : float
        AIFS and mean backoff before an access. [s]
    least : int
        Exchanges that are counted at least.
    first, counted : int
        Packets that are sent before anything is counted, and then at least.
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
