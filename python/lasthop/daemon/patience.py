"""Frequency of repairs: immediate at first, slower if another program changes the part back."""

from collections.abc import Iterable
from dataclasses import dataclass

from lasthop.linux.described import Name

MOST_AT_ONCE = 5
"""Number of immediate repairs of a part. Later repairs wait."""
CALM_S = 10.0
"""Time without changes after the last wait, from which repairs are immediate again. [s]"""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
LONGEST_REFUSED_S = 8.0
"""Longest wait if the kernel refuses a repair. [s]"""


@dataclass
class Tries:
    """State of the repairs of one part."""

    count: int = 0
    last_s: float = 0.0
    wait_s: float = 0.0
    until_s: float = 0.0
    """Earliest time of the next repair, on the monotonic clock. [s]"""


class Patience:
    """State of the repairs of all parts, by name."""

    def __init__(self) -> None:
        self.tries: dict[Name, Tries] = {}

    def allows(self, name: Name, now_s: float) -> bool:
        """Return whether a part may be repaired now, and count the repair."""
        tries = self.tries.setdefault(name, Tries())
        if now_s < tries.until_s:
            return False
        if now_s - tries.last_s > CALM_S + tries.wait_s:
            tries.count, tries.wait_s = 0, 0.0
        has_waited = tries.until_s > tries.last_s
        if tries.count >= MOST_AT_ONCE and not has_waited:
            self.wait(tries, now_s, LONGEST_WAIT_S)
            return False
        tries.count += 1
        tries.last_s = now_s
        return True

    def refused(self, names: Iterable[Name], now_s: float) -> None:
        """Delay the next repair of parts if the kernel has refused the last one."""
        for name in names:
            self.wait(self.tries.setdefault(name, Tries(last_s=now_s)), now_s, LONGEST_REFUSED_S)

    def wait(self, tries: Tries, now_s: float, longest_s: float) -> None:
        """Double the waiting time of a part, up to a limit."""
        tries.wait_s = min(max(2 * tries.wait_s, FIRST_WAIT_S), longest_s)
        tries.until_s = now_s + tries.wait_s

    def until_s(self, names: Iterable[Name]) -> float:
        """Return the time at which the first of these parts may be repaired again. [s]"""
        return min(self.tries[name].until_s for name in names if name in self.tries)

    def fights(self, name: Name) -> bool:
        """Return whether a part has used up its immediate repairs."""
        return name in self.tries and self.tries[name].count >= MOST_AT_ONCE

    def forget(self, now_s: float) -> None:
        """Forget parts that have not changed for a long time."""
        for name, tries in list(self.tries.items()):
            if now_s - max(tries.last_s, tries.until_s) > CALM_S + tries.wait_s:
                del self.tries[name]
