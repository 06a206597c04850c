"""How often something is mended: at once, but not for ever against somebody who changes it back."""

from collections.abc import Iterable
from dataclasses import dataclass

from lasthop.linux.described import Name

MOST_AT_ONCE = 5
"""So often something is mended at once; after that there is a wait before each try."""
CALM_S = 10.0
"""What has been well for so long, beyond the last wait, is mended at once again. [s]"""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
LONGEST_REFUSED_S = 8.0
"""Longest wait where it is the kernel that refuses. [s]"""


@dataclass
class Tries:
    """Tries at one thing."""

    count: int = 0
    last_s: float = 0.0
    wait_s: float = 0.0
    until_s: float = 0.0
    """No try before; on the clock that never jumps."""


class Patience:
    """Tries at things, by their names."""

    def __init__(self) -> None:
        self.tries: dict[Name, Tries] = {}

    def allows(self, name: Name, now_s: float) -> bool:
        """Whether something that is wrong may be mended now, which then counts as a try."""
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
        """The kernel has refused to mend these: there is a wait before the next try."""
        for name in names:
            self.wait(self.tries.setdefault(name, Tries(last_s=now_s)), now_s, LONGEST_REFUSED_S)

    def wait(self, tries: Tries, now_s: float, longest_s: float) -> None:
        """Wait twice as long as the last time."""
        tries.wait_s = min(max(2 * tries.wait_s, FIRST_WAIT_S), longest_s)
        tries.until_s = now_s + tries.wait_s

    def until_s(self, names: Iterable[Name]) -> float:
        """When the first of these may be tried again."""
        return min(self.tries[name].until_s for name in names if name in self.tries)

    def fights(self, name: Name) -> bool:
        """Whether something has been mended more often than at once."""
        return name in self.tries and self.tries[name].count >= MOST_AT_ONCE

    def forget(self, now_s: float) -> None:
        """Forget what has been well for long."""
        for name, tries in list(self.tries.items()):
            if now_s - max(tries.last_s, tries.until_s) > CALM_S + tries.wait_s:
                del self.tries[name]
