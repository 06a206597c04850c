"""Limit the frequency of repairs: immediate at first, less often if another program repeatedly
reverts the repair."""

from collections.abc import Iterable
from dataclasses import dataclass

from lasthop.linux.described import Name

MAX_AT_ONCE = 5
"""Number of immediate repairs of a part of the kernel's state. Later repairs are delayed."""
CALM_S = 10.0
"""Time without repairs after which repairs of a part of the kernel's state are immediate again.
[s]"""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
LONGEST_REFUSED_S = 8.0
"""Longest delay of a repair if the kernel refuses repairs. [s]"""


@dataclass
class Tries:
    """Number and times of the repairs of one part of the kernel's state."""

    count: int = 0
    last_s: float = 0.0
    wait_s: float = 0.0
    until_s: float = 0.0
    """Earliest time of the next repair, on the monotonic clock. [s]"""


class Patience:
    """Limits on how often each part of the kernel's state is repaired. A part is an object or a
    group of objects, and is identified by its name.
    """

    def __init__(self) -> None:
        self.tries: dict[Name, Tries] = {}

    def allows(self, name: Name, now_s: float) -> bool:
        """Return whether a part of the kernel's state may be repaired now. If it may be repaired,
        record the repair."""
        tries = self.tries.setdefault(name, Tries())
        if now_s < tries.until_s:
            return False
        if now_s - tries.last_s > CALM_S + tries.wait_s:
            tries.count, tries.wait_s = 0, 0.0
        has_waited = tries.until_s > tries.last_s
        if tries.count >= MAX_AT_ONCE and not has_waited:
            self.wait(tries, now_s, LONGEST_WAIT_S)
            return False
        tries.count += 1
        tries.last_s = now_s
        return True

    def refused(self, names: Iterable[Name], now_s: float) -> None:
        """Delay the next repair of these parts of the kernel's state, since the kernel has refused
        the last repair."""
        for name in names:
            self.wait(self.tries.setdefault(name, Tries(last_s=now_s)), now_s, LONGEST_REFUSED_S)

    def wait(self, tries: Tries, now_s: float, longest_s: float) -> None:
        """Delay the next repair by twice the previous delay, but at most by `longest_s`. [s]"""
        tries.wait_s = min(max(2 * tries.wait_s, FIRST_WAIT_S), longest_s)
        tries.until_s = now_s + tries.wait_s

    def until_s(self, names: Iterable[Name]) -> float:
        """Return the earliest time at which one of these parts of the kernel's state may be
        repaired again. [s]"""
        return min(self.tries[name].until_s for name in names if name in self.tries)

    def fights(self, name: Name) -> bool:
        """Return whether a part of the kernel's state was repaired so often that another program
        seems to revert the repairs."""
        return name in self.tries and self.tries[name].count >= MAX_AT_ONCE

    def forget(self, now_s: float) -> None:
        """Delete the records of those parts of the kernel's state that have needed no repair for a
        long time.
        """
        for name, tries in list(self.tries.items()):
            if now_s - max(tries.last_s, tries.until_s) > CALM_S + tries.wait_s:
                del self.tries[name]
