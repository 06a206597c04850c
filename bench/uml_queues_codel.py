"""Computes the CoDel algorithm of RFC 8289 for equal packets at equal gaps, for `uml_queues.py`.

The next drop is interval / sqrt(n) after the previous drop, where n is the number of drops in the
dropping state. Linux computes 1 / sqrt(n) by one step of Newton's method per drop, with 16 bits
(include/net/codel_impl.h). The first results are inaccurate: 1, 0.5, 0.563, 0.488 instead of 1,
0.707, 0.577, 0.5.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

TARGET_S, INTERVAL_S = 0.005, 0.1
RECENT = 16
"""If the previous dropping state ended less than this number of intervals ago, dropping starts
again at the drop rate of that state."""
ONE = 1 << 16


@dataclass
class CoDel:
    """A CoDel queue. Each packet is represented by its arrival time."""

    is_newton: bool
    """Whether 1 / sqrt(count) is computed by Newton's method, as in Linux."""
    waiting: deque[float] = field(default_factory=deque)
    gone: list[tuple[float, float]] = field(default_factory=list)
    """Arrival and departure times of all packets, including dropped packets. [s]"""
    dropped_s: list[float] = field(default_factory=list)
    count: int = 0
    last_count: int = 0
    root: int = ONE - 1
    """1 / sqrt(count) in the number format of Linux, in units of 2^-16."""
    is_dropping: bool = False
    next_s: float = 0.0
    above_s: float | None = None
    """Time from which packets may be dropped, if their delay stays above the target until then;
    None while the delay is below the target. [s]"""

    def gap_s(self) -> float:
        """Return the time between two drops at the present count. [s]"""
        return INTERVAL_S * (self.root / ONE if self.is_newton else 1 / sqrt(self.count))

    def step(self) -> None:
        """Update `root` for a new count by one step of Newton's method, in the kernel's integer
        arithmetic."""
        root = self.root << 16
        self.root = (((((3 << 32) - self.count * (root * root >> 32)) >> 2) * root) >> 31) >> 16

    def take(self, now_s: float) -> tuple[bool, bool]:
        """Dequeue a packet. Return whether the queue had a packet, and whether this packet may be
        dropped."""
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
        """Dequeue packets and drop those that CoDel drops. Return whether a packet is sent on the
        link."""
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
        """Start the dropping state. The drop rate is that of the last dropping state if this state
        ended recently."""
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
    """Results of the computation."""

    drops: list[int]
    """Number of drops until each of the times `looks_s`."""
    lost: float
    """Fraction of packets lost after the warm-up. [-]"""
    queue_packets: float
    """Mean queue length, including the packet on the link. [packets]"""


def worked_out(
    arrivals_per_s: float,
    served_per_s: float,
    looks_s: Sequence[float],
    settled_s: float,
    *,
    is_newton: bool,
) -> WorkedOut:
    """Compute the drops for packets at equal gaps, whose rate exceeds the rate of the link, until
    the last of the times `looks_s`."""
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
