"""CoDel computed directly: equal packets at equal gaps through the algorithm of RFC 8289, for
`uml_queues.py`.

The algorithm gives the time of the next drop: interval / sqrt(n) after the last drop. Linux
computes 1 / sqrt(n) by one step of Newton's method per drop, with 16 bits
(include/net/codel_impl.h). The first results are inaccurate: 1, 0.5, 0.563, 0.488 instead of 1,
0.707, 0.577, 0.5.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

TARGET_S, INTERVAL_S = 0.005, 0.1
RECENT = 16
"""Number of intervals for which the drop rate is remembered."""
ONE = 1 << 16


@dataclass
class CoDel:
    """A queue of packets, which are stored as arrival times."""

    is_newton: bool
    """Whether roots are computed as in Linux."""
    waiting: deque[float] = field(default_factory=deque)
    gone: list[tuple[float, float]] = field(default_factory=list)
    """Arrival and departure times of all packets, including dropped packets. [s]"""
    dropped_s: list[float] = field(default_factory=list)
    count: int = 0
    last_count: int = 0
    root: int = ONE - 1
    """1 / sqrt(count) as stored in Linux, in units of 2^-16."""
    is_dropping: bool = False
    next_s: float = 0.0
    above_s: float | None = None
    """Time at which packets will have been above the target for an interval."""

    def gap_s(self) -> float:
        """Return the time to the next drop. [s]"""
        return INTERVAL_S * (self.root / ONE if self.is_newton else 1 / sqrt(self.count))

    def step(self) -> None:
        """Make one step of Newton's method for a new count, in the kernel's integers."""
        root = self.root << 16
        self.root = (((((3 << 32) - self.count * (root * root >> 32)) >> 2) * root) >> 31) >> 16

    def take(self, now_s: float) -> tuple[bool, bool]:
        """Dequeue a packet. Return whether there was a packet, and whether it may be dropped."""
        if not self.waiting:
            self.above_s = None
            return False, False
        came_s = self.waiting.popleft()
        self.gone.append((came_s, now_s))
        if now_s - came_s < TARGET_S or len(self.waiting) <= 1:
            self.above_s = None
            return True, False
        if self.above_s is None:
            self.above_s = now_s + INTERVAL_S
            return True, False
        return True, now_s >= self.above_s

    def serve(self, now_s: float) -> bool:
        """Return whether a packet is sent on the link."""
        is_there, may_drop = self.take(now_s)
        if not self.is_dropping and may_drop:
            self.dropped_s.append(now_s)
            is_there, _ = self.take(now_s)
            self.begin(now_s)
            return is_there
        self.is_dropping = self.is_dropping and may_drop
        while self.is_dropping and now_s >= self.next_s:
            self.count += 1
            self.step()
            self.dropped_s.append(now_s)
            is_there, self.is_dropping = self.take(now_s)
            if self.is_dropping:
                self.next_s += self.gap_s()
        return is_there

    def begin(self, now_s: float) -> None:
        """Start dropping, at the last drop rate if the last dropping state was recent."""
        delta = self.count - self.last_count
        self.is_dropping = True
        if delta > 1 and now_s - self.next_s < RECENT * INTERVAL_S:
            self.count = delta
            self.step()
        else:
            self.count, self.root = 1, ONE - 1
        self.last_count = self.count
        self.next_s = now_s + self.gap_s()


@dataclass(frozen=True)
class WorkedOut:
    """Results for the packets."""

    drops: list[int]
    """Number of drops until each of the given times."""
    lost: float
    """Fraction of packets lost after the warm-up. [-]"""
    queue_packets: float
    """Mean queue, including the packet on the link. [packets]"""


def worked_out(
    arrivals_per_s: float,
    served_per_s: float,
    looks_s: Sequence[float],
    settled_s: float,
    *,
    is_newton: bool,
) -> WorkedOut:
    """Compute packets at equal gaps, at a rate above the link's, until the last of the given
    times."""
    queue, came, now_s = CoDel(is_newton), 0, 0.0
    while now_s < looks_s[-1]:
        while came / arrivals_per_s <= now_s:
            queue.waiting.append(came / arrivals_per_s)
            came += 1
        now_s = now_s + 1 / served_per_s if queue.serve(now_s) else came / arrivals_per_s
    length_s = looks_s[-1] - settled_s
    waited_s = sum(max(0.0, went_s - max(came_s, settled_s)) for came_s, went_s in queue.gone)
    return WorkedOut(
        [sum(at_s <= look_s for at_s in queue.dropped_s) for look_s in looks_s],
        sum(at_s > settled_s for at_s in queue.dropped_s) / (arrivals_per_s * length_s),
        waited_s / length_s + 1,
    )
