"""Whom to ping, and what an answer means: from pings to the rate of a bottleneck.

The rule that sets the rate is the capacity estimator that the simulator runs too; here is what a
real network adds. The paper pings any station; here pings go to those with traffic alone, since
only they tell of the queue in front of them: an idle station may sleep for longer than any queue
lasts, and should be left asleep. Where nobody has traffic nobody is pinged, and the rate holds.
Stations that send much UDP are left out (paper 002, appendix IV).
"""

import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lasthop.control import Wce
from lasthop.gateway.config import AccessPoint
from lasthop.linux.tc import Address

LATEST_S = 5.0
"""An answer is waited for no longer. [s]"""
SILENT_PINGS = 5
"""Who has not answered so many pings, the first of them `LATEST_S` ago, is silent."""


class Candidate(NamedTuple):
    """A station with traffic, which may be pinged."""

    name: str
    address: Address


class Sent(NamedTuple):
    """A ping that is under way."""

    at_s: float
    name: str


class Unanswered(NamedTuple):
    """Pings since the last answer."""

    pings: int
    since_s: float
    """When the first was sent, on the clock that never jumps."""


class Estimator:
    """The rate of one access point's bottleneck.

    Parameters
    ----------
    ap : AccessPoint
    controller : Wce
    send : callable
        Sends a ping to an address with a sequence number; whether it left.
    numbers : callable
        The next sequence number, which no other estimator has.
    seed : int
        Seed of the random choice of stations.
    """

    def __init__(
        self,
        ap: AccessPoint,
        controller: Wce,
        send: Callable[[Address, int], bool],
        numbers: Callable[[], int],
        seed: int | None = None,
    ) -> None:
        self.ap = ap
        self.controller = controller
        self.send = send
        self.numbers = numbers
        self.draw = random.Random(seed)
        self.under_way: dict[int, Sent] = {}
        self.heard = False
        """Whether an answer has come since the last tick."""
        self.rtt_s: float | None = None
        """The last round-trip time that counted."""
        self.pings = self.answers = 0
        self.unanswered: dict[str, Unanswered] = {}
        """Pings that stations have not answered."""
        self.nobody: Unanswered | None = None
        """Pings since anybody has answered."""
        self.refused: Address | None = None
        """The address to which the kernel sent no ping, if that was the last."""
        self.interval_s = float(ap.wce["interval_s"])
        self.due_s = 0.0
        """When the next tick is due, on the clock that never jumps."""

    def tick(self, now_s: float, clock_s: float, candidates: Iterable[Candidate]) -> int:
        """Once an interval: tell the controller of silence, ping somebody; the rate. [bit/s]

        `now_s` is on a clock that never jumps, `clock_s` on that of the answers' stamps.
        """
        if not self.heard:
            self.controller.step(now_s, None)
        self.heard = False
        for sequence, sent in list(self.under_way.items()):
            if not clock_s - LATEST_S <= sent.at_s <= clock_s:
                del self.under_way[sequence]
        there = list(candidates)
        if there:
            self.ping(self.draw.choice(there), now_s, clock_s)
        return self.controller.capacity_bps

    def ping(self, station: Candidate, now_s: float, clock_s: float) -> None:
        """Send a ping, and count it as one without an answer."""
        self.unanswered[station.name] = one_more(self.unanswered.get(station.name), now_s)
        self.nobody = one_more(self.nobody, now_s)
        sequence = self.numbers()
        if self.send(station.address, sequence):
            self.refused = None
            self.under_way[sequence] = Sent(clock_s, station.name)
            self.pings += 1
        else:
            self.refused = station.address

    def answer(self, sequence: int, now_s: float, at_s: float) -> int | None:
        """Take an answer; the rate [bit/s], None if it is to somebody else's ping."""
        sent = self.under_way.pop(sequence, None)
        if sent is None:
            return None
        rtt_s = at_s - sent.at_s
        if rtt_s < 0:
            return self.controller.capacity_bps  # the clock was set back
        self.answers += 1
        self.unanswered.pop(sent.name, None)
        self.nobody = None
        self.heard = True
        self.rtt_s = rtt_s
        return self.controller.step(now_s, rtt_s)

    def forget(self, name: str) -> None:
        """Forget a station that has left."""
        self.unanswered.pop(name, None)

    def is_silent(self, name: str, now_s: float) -> bool:
        """Whether a station does not answer pings."""
        return lasts(self.unanswered.get(name), now_s)

    def faults(self, now_s: float) -> list[str]:
        """Why the rate follows nothing, in words, if that is so."""
        if not lasts(self.nobody, now_s):
            return []
        why = "nobody with traffic answers pings"
        if self.refused is not None:
            why = f"no ping can be sent to {self.refused}: has this machine a route to it?"
        held = f"C stays at {self.controller.capacity_bps / 1e6:g} Mbit/s"
        return [f"access point {self.ap.name}: {why} ({held}; `gateway.rate` fixes it)"]


def one_more(before: Unanswered | None, now_s: float) -> Unanswered:
    """One ping more without an answer."""
    return Unanswered(1, now_s) if before is None else before._replace(pings=before.pings + 1)


def lasts(unanswered: Unanswered | None, now_s: float) -> bool:
    """Whether pings have been without an answer for so long that none will come."""
    if unanswered is None:
        return False
    return unanswered.pings >= SILENT_PINGS and now_s - unanswered.since_s > LATEST_S
