"""Whom to ping, and what an answer means: from pings to the rate of a bottleneck.

The rule that sets the rate is the capacity estimator that the simulator runs too; here is what a
real network adds. Pings go to stations with traffic, since only those tell of the queue in front
of them. An idle station may sleep for longer than any queue lasts: its quick answers count, its
slow ones do not. Stations that send much UDP are left out (paper 002, appendix IV).
"""

import random
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from lasthop.gateway.config import AccessPoint
from lasthop.linux.tc import Address

__all__ = ["Candidate", "Controller", "Estimator"]

LATEST_S = 5.0
"""An answer is waited for no longer. [s]"""


class Controller(Protocol):
    """What the capacity estimator is to this module (lasthop.control.Wce)."""

    @property
    def capacity_bps(self) -> int:
        """The rate. [bit/s]"""

    @property
    def last_step(self) -> str | None:
        """What the last step did."""

    @property
    def base_rtt_s(self) -> float | None:
        """Round-trip time without a queue, once it is known. [s]"""

    @property
    def thresholds_s(self) -> tuple[float, float, float]:
        """Round-trip times at which the step changes. [s]"""

    def step(self, now_s: float, rtt_s: float | None) -> int:
        """Take an observation; the rate from now on. [bit/s]"""


class Candidate(NamedTuple):
    """A station that may be pinged."""

    name: str
    address: Address
    is_active: bool
    """Its leaf has sent something lately."""


class Sent(NamedTuple):
    """A ping that is under way."""

    at_s: float
    name: str
    is_active: bool


class Estimator:
    """The rate of one access point's bottleneck.

    Parameters
    ----------
    ap : AccessPoint
    controller : Controller
    send : callable
        Sends a ping to an address with a sequence number; whether it left.
    numbers : callable
        The next sequence number, which no other estimator has.
    seed : int
        Of the random choice of stations.
    """

    def __init__(
        self,
        ap: AccessPoint,
        controller: Controller,
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
        chosen = self.choose(list(candidates))
        if chosen is not None:
            sequence = self.numbers()
            if self.send(chosen.address, sequence):
                self.under_way[sequence] = Sent(clock_s, chosen.name, chosen.is_active)
                self.pings += 1
        return self.controller.capacity_bps

    def choose(self, candidates: list[Candidate]) -> Candidate | None:
        """Somebody at random: among those with traffic, if there are any."""
        active = [each for each in candidates if each.is_active]
        return self.draw.choice(active or candidates) if candidates else None

    def answer(self, sequence: int, now_s: float, at_s: float) -> int | None:
        """Take an answer; the rate [bit/s], None if it is to somebody else's ping."""
        sent = self.under_way.pop(sequence, None)
        if sent is None:
            return None
        rtt_s = at_s - sent.at_s
        if rtt_s < 0:
            return self.controller.capacity_bps  # the clock was set back
        self.answers += 1
        sleeps = not sent.is_active and rtt_s > self.controller.thresholds_s[1]
        if not sleeps:
            self.heard = True
            self.rtt_s = rtt_s
            self.controller.step(now_s, rtt_s)
        return self.controller.capacity_bps
