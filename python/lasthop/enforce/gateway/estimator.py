"""Estimate the rate of a bottleneck from pings: select the stations to ping, and process their
replies.

The algorithm is `lasthop.control.CapacityEstimator`, which the simulator also runs. This module
adds the names and addresses of stations, sequence numbers of pings, and messages about stations.
Only stations with traffic are pinged, since only their replies show the queueing delay. An idle
station may sleep longer than any queueing delay, and should not be woken. If no station has
traffic, no pings are sent and the rate does not change. Stations that send much UDP are not pinged
(paper 002, appendix IV). If a station does not answer pings, the round-trip times of its TCP
segments are measured.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple

from lasthop.control import CapacityEstimator
from lasthop.enforce.gateway.config import AccessPoint
from lasthop.linux.segments import RoundTrip
from lasthop.linux.tc import Address

LATEST_S = 5.0
"""Time after which the reply to a ping is ignored as too late. [s]"""
ANOTHER_AFTER = 2
"""Number of unanswered pings after which another address of the station is pinged. [-]"""
SILENT_PINGS = 5
"""Number of consecutive unanswered pings after which a station is silent, if `LATEST_S` has also
passed since the first of these pings. [-]"""

Asks = Iterable[tuple[int, int]]
"""Pings that `CapacityEstimator` requests. Each ping is a pair of numbers: the number of the
station to ping, and the number of the ping.
"""


class Candidate(NamedTuple):
    """Station with traffic, which may be pinged."""

    name: str
    addresses: tuple[Address, ...]
    """Addresses of the station. The first address is pinged first."""


class Sent(NamedTuple):
    """Ping that has not been answered yet."""

    at_s: float
    name: str
    number: int
    """Number by which `CapacityEstimator` identifies the ping."""


class Unanswered(NamedTuple):
    """Number of pings since the last reply, and the time of the first of these pings."""

    pings: int
    since_s: float
    """Time at which the first unanswered ping was sent, on the monotonic clock. [s]"""


class Estimator:
    """Estimator of the rate of one access point's bottleneck.

    Parameters
    ----------
    ap : AccessPoint
    controller : CapacityEstimator
    send : callable
        Sends a ping to an address with a sequence number; returns whether it was sent.
    numbers : callable
        Returns the next sequence number of a ping, which no other estimator uses.
    passed_bytes : callable
        Returns the number of bytes that have left the bottleneck since the start.
    clock : callable
        Monotonic clock. [s]
    """

    def __init__(
        self,
        ap: AccessPoint,
        controller: CapacityEstimator,
        send: Callable[[Address, int], bool],
        numbers: Callable[[], int],
        passed_bytes: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ap = ap
        self.controller = controller
        self.send = send
        self.numbers = numbers
        self.passed_bytes = passed_bytes
        self.clock = clock
        self.stations: dict[str, int] = {}
        """Number by which `CapacityEstimator` identifies each station, by the station's name."""
        self.known: dict[int, Candidate] = {}
        """Stations, by the numbers by which `CapacityEstimator` identifies them."""
        self.unused = count()
        self.under_way: dict[int, Sent] = {}
        self.rtt_s: float | None = None
        """Last measured round-trip time. The field `answered` names the station. [s]"""
        self.answered: str | None = None
        self.pings = self.answers = 0
        self.unanswered: dict[str, Unanswered] = {}
        """Unanswered pings to each station, by the station's name."""
        self.nobody: Unanswered | None = None
        """Unanswered pings to all stations together. A reply of any station, or a timed segment,
        resets this field to None.
        """
        self.passed: deque[tuple[float, int]] = deque()
        """Recent times on the monotonic clock [s], each with the number of bytes that had left the
        bottleneck at this time."""
        self.turns: dict[str, int] = {}
        """Number that selects which of a station's addresses is pinged, by the station's name. This
        number is incremented if replies are missing."""
        self.refused: Address | None = None
        """Address of the last ping, if the kernel refused to send it."""
        self.interval_s = ap.wce.interval_s
        self.due_s = 0.0
        """Time on the monotonic clock at which the next pings are due. [s]"""

    def tick(self, candidates: Iterable[Candidate]) -> int:
        """Send the pings of one interval, and return the new rate of the bottleneck. [bit/s]"""
        now_s = self.clock()
        for sequence, sent in list(self.under_way.items()):
            if sent.at_s < now_s - LATEST_S:
                del self.under_way[sequence]
        present = sorted(self.number_of(candidate) for candidate in candidates)
        self.ping(self.controller.tick(now_s, present, self.passed_now(now_s) if present else 0))
        return self.controller.capacity_bps

    def number_of(self, candidate: Candidate) -> int:
        """Return the number by which `CapacityEstimator` identifies a station. Assign a new number
        if the station is new."""
        number = self.stations.get(candidate.name)
        if number is None:
            number = self.stations[candidate.name] = next(self.unused)
        self.known[number] = candidate
        return number

    def ping(self, asks: Asks) -> None:
        """Send pings, and record each ping as unanswered."""
        for station, number in asks:
            name, addresses = self.known[station]
            address = addresses[self.turns.get(name, 0) % len(addresses)]
            sequence = self.numbers()
            now_s = self.clock()
            unanswered = self.unanswered[name] = one_more(self.unanswered.get(name), now_s)
            if unanswered.pings % ANOTHER_AFTER == 0:
                self.turns[name] = self.turns.get(name, 0) + 1
            self.nobody = one_more(self.nobody, now_s)
            if self.send(address, sequence):
                self.refused = None
                self.under_way[sequence] = Sent(now_s, name, number)
                self.pings += 1
            else:
                self.refused = address
                self.turns[name] = self.turns.get(name, 0) + 1

    def answer(self, sequence: int, at_s: float) -> int | None:
        """Process a reply to a ping that arrived at `at_s`, and return the new rate of the
        bottleneck. [bit/s]

        Return None if the reply belongs to another estimator or program.
        """
        sent = self.under_way.pop(sequence, None)
        if sent is None:
            return None
        rtt_s = max(at_s - sent.at_s, 0.0)
        self.answers += 1
        self.unanswered.pop(sent.name, None)
        self.nobody = None
        self.rtt_s, self.answered = rtt_s, sent.name
        now_s = self.clock()
        passed = self.passed_now(now_s)
        self.ping(self.controller.answer(now_s, sent.number, rtt_s, passed) or ())
        return self.controller.capacity_bps

    def listening(self) -> dict[str, tuple[Address, ...]]:
        """Return the addresses of the stations whose TCP segments should be timed now, by the
        station's name."""
        known = (self.known.get(number) for number in self.controller.listening())
        return {each.name: each.addresses for each in known if each is not None}

    def overhear(self, name: str, trip: RoundTrip) -> int:
        """Process the measured round trip of a TCP segment, and return the new rate of the
        bottleneck. [bit/s]"""
        number = self.stations.get(name)
        if number is not None:
            now_s = self.clock()
            passed = self.passed_now(now_s)
            self.nobody = None
            then = self.passed_at(trip.sent_s)
            asks = self.controller.overhear(now_s, number, *trip, then, passed)
            self.ping(asks)
        return self.controller.capacity_bps

    def passed_now(self, now_s: float) -> int:
        """Return the number of bytes that have left the bottleneck, and record it with the time
        `now_s`."""
        passed = self.passed_bytes()
        self.passed.append((now_s, passed))
        while len(self.passed) > 1 and self.passed[1][0] < now_s - LATEST_S:
            self.passed.popleft()
        return passed

    def passed_at(self, at_s: float) -> int:
        """Return the number of bytes that had left the bottleneck at a recent time, by
        interpolation."""
        before_s, before = self.passed[0]
        for after_s, after in self.passed:
            if after_s >= at_s:
                part = (at_s - before_s) / (after_s - before_s) if after_s > before_s else 0.0
                return before + round(min(max(part, 0.0), 1.0) * (after - before))
            before_s, before = after_s, after
        return before

    @property
    def base_rtt_s(self) -> float | None:
        """Base round-trip time of the station that replied last. [s]"""
        number = self.stations.get(self.answered or "")
        return None if number is None else self.controller.base_rtt_s(number)

    def late_s(self) -> dict[str, float]:
        """Return the excess delay of each station whose late replies are ignored, by the station's
        name. [s]"""
        return {self.known[number].name: late_s for number, late_s in self.controller.doubted()}

    def forget(self, name: str) -> None:
        """Remove all records of a station that has left."""
        self.unanswered.pop(name, None)
        self.turns.pop(name, None)
        for sequence, sent in list(self.under_way.items()):
            if sent.name == name:
                del self.under_way[sequence]
        number = self.stations.pop(name, None)
        if number is not None:
            self.controller.forget(number)
            del self.known[number]

    def heard(self, name: str) -> str | None:
        """Return the source of a station's delay samples: ``"pings"``, or ``"flows"`` for timed TCP
        segments; None if no delay was measured."""
        number = self.stations.get(name)
        return None if number is None else self.controller.heard(number)

    def is_silent(self, name: str, now_s: float) -> bool:
        """Return whether a station does not answer pings."""
        return lasts(self.unanswered.get(name), now_s)

    def faults(self, now_s: float) -> list[str]:
        """Return a message if no station replies, so that the rate cannot adapt, or if the rate is
        reduced because of a single station."""
        c = f"{self.controller.capacity_bps / 1e6:.3g} Mbit/s"
        where = f"access point {self.ap.name}"
        if lasts(self.nobody, now_s):
            why = "no station with traffic answers pings or downloads over TCP"
            if self.refused is not None:
                why = (
                    f"no ping can be sent to {self.refused}: check the route of this machine to it"
                )
            return [f"{where}: {why} (C stays at {c}; `gateway.rate` fixes it)"]
        if (held := self.controller.holds_down()) is not None:
            number, delay_s = held
            name = self.known[number].name
            return [
                f"{where}: {name}, the only station with traffic, answers {delay_s * 1e3:.0f} ms "
                f"late and holds C down, at {c}"
            ]
        return []


def one_more(before: Unanswered | None, now_s: float) -> Unanswered:
    """Return the record of unanswered pings with one more ping."""
    return Unanswered(1, now_s) if before is None else before._replace(pings=before.pings + 1)


def lasts(unanswered: Unanswered | None, now_s: float) -> bool:
    """Return whether these pings show silence: at least `SILENT_PINGS` pings are unanswered, and
    the first of them was sent more than `LATEST_S` ago.
    """
    if unanswered is None:
        return False
    return unanswered.pings >= SILENT_PINGS and now_s - unanswered.since_s > LATEST_S
