"""How long a command may take, said in a line on standard error before the long part of it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from lasthop.allowance import TIMES, told
from lasthop.cli.quiet import is_quiet
from lasthop.pace import Pace
from lasthop.underway import Step

__all__ = ["Announced", "Announcer", "announce", "note"]

LONG_S = 5.0
"""What takes less is not announced. [s]"""

WRONG = 2.0
"""Repeat the estimate if a step takes this many times longer. [-]"""

SHORTER = 4.0
"""Repeat the estimate if a step is this many times shorter. [-]"""

SOON_S = 1.0
"""A step that is over by then does not say what it has found first. [s]"""


def announce(what: str, time_s: float, how_sure: str = "up to") -> None:
    """Say how long something may take, if that is long; not with --quiet."""
    if time_s >= LONG_S:
        note(f"{what}: {how_sure} {told(time_s, TIMES)}")


def note(line: str) -> None:
    """Say something on standard error while a command works; not with --quiet."""
    if not is_quiet():
        print(f"note: {line}", file=sys.stderr, flush=True)


class Announced:
    """Steps of a command whose standard error no terminal shows; each line is said once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    @contextmanager
    def watch(self, what: str, total: int | None) -> Iterator[Step]:
        """Watch a step, and announce what may take long in it."""
        watched = _Watched(self, what, total)
        try:
            yield watched
        finally:
            watched.over()

    def expect(self, what: str, time_s: float) -> None:
        """Say it, if it may take long and has not been said."""
        if time_s >= LONG_S and what not in self._said:
            self._said.add(what)
            announce(what.rstrip(","), time_s)


class _Watched:
    """A step that is under way."""

    def __init__(self, whole: Announced, what: str, total: int | None) -> None:
        self._whole, self._total = whole, total
        self._announcer = Announcer(what)
        self._timer: Timer | None = None

    def done(self, count: int) -> None:
        """Say how long the rest takes, judged by the parts that are done, if that is long."""
        if self._total is not None:
            self._announcer.hear(count, self._total)

    def expect(self, what: str, time_s: float) -> None:
        """Say what may take long in it."""
        self._whole.expect(what, time_s)

    def found(self, what: str) -> None:
        """Say what is found, if the step is not over soon."""
        self._timer = Timer(SOON_S, note, [what])
        self._timer.daemon = True
        self._timer.start()

    def over(self) -> None:
        """Say no more."""
        if self._timer is not None:
            self._timer.cancel()


class Announcer:
    """Says how long the rest of something takes, and says it again if that was wrong."""

    def __init__(self, what: str, announced_s: float = 0.0) -> None:
        self._what = what
        self._pace = Pace()
        self._told_s = announced_s if announced_s >= LONG_S else None
        """How long it takes in all, as was said; None: nothing was. [s]"""

    def hear(self, done: float, total: float) -> None:
        """Hear how much is done of how much."""
        rest = self._pace.judge(done, total)
        if rest is None or rest.left_s < LONG_S:
            return
        whole_s = rest.passed_s + rest.left_s
        if self._told_s is None:
            announce(self._what, rest.left_s, rest.how_sure)
        elif whole_s > WRONG * self._told_s:
            announce(f"{self._what} takes longer than estimated", rest.left_s, rest.how_sure)
        elif SHORTER * whole_s < self._told_s:
            announce(f"{self._what} takes less than estimated", rest.left_s, rest.how_sure)
        else:
            return
        self._told_s = whole_s
