"""Estimates of a command's duration, printed on standard error before its long part."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from lasthop.cli.quiet import is_quiet
from lasthop.progress.cost_limits import TIMES, cost_text
from lasthop.progress.eta import Pace
from lasthop.progress.steps import Step

__all__ = ["Announced", "Announcer", "announce", "note"]

LONG_S = 5.0
"""Shortest duration that is announced. [s]"""

WRONG = 2.0
"""Factor by which a step must be longer than estimated for a new announcement. [-]"""

SHORTER = 4.0
"""Factor by which a step must be shorter than estimated for a new announcement. [-]"""

SOON_S = 1.0
"""A step that takes less time than this does not report preliminary findings. [s]"""


def announce(what: str, time_s: float, how_sure: str = "up to") -> None:
    """Print the expected duration of a step if it is long; print nothing with ``--quiet``."""
    if time_s >= LONG_S:
        note(f"{what}: {how_sure} {cost_text(time_s, TIMES)}")


def note(line: str) -> None:
    """Print a note on standard error while a command runs; print nothing with ``--quiet``."""
    if not is_quiet():
        print(f"note: {line}", file=sys.stderr, flush=True)


class Announced:
    """Steps of a command whose standard error is not a terminal; each line is printed once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    @contextmanager
    def watch(self, what: str, total: int | None) -> Iterator[Step]:
        """Watch a step, and announce the parts of it that may take long."""
        watched = _Watched(self, what, total)
        try:
            yield watched
        finally:
            watched.over()

    def expect(self, what: str, time_s: float) -> None:
        """Announce a computation that may take long, unless it was already announced."""
        if time_s >= LONG_S and what not in self._said:
            self._said.add(what)
            announce(what.rstrip(","), time_s)


class _Watched:
    """A step that is running."""

    def __init__(self, announced: Announced, what: str, total: int | None) -> None:
        self._whole, self._total = announced, total
        self._announcer = Announcer(what)
        self._timer: Timer | None = None

    def done(self, count: int) -> None:
        """Announce the remaining time, estimated from the finished parts, if it is long."""
        if self._total is not None:
            self._announcer.hear(count, self._total)

    def expect(self, what: str, time_s: float) -> None:
        """Announce a part that may take long."""
        self._whole.expect(what, time_s)

    def report_early(self, what: str) -> None:
        """Report a preliminary finding, unless the step ends soon."""
        self._timer = Timer(SOON_S, note, [what])
        self._timer.daemon = True
        self._timer.start()

    def over(self) -> None:
        """Stop announcements of this step."""
        if self._timer is not None:
            self._timer.cancel()


class Announcer:
    """Announces the remaining time of a step, and corrects the announcement if it was wrong."""

    def __init__(self, what: str, announced_s: float = 0.0) -> None:
        self._what = what
        self._pace = Pace()
        self._told_s = announced_s if announced_s >= LONG_S else None
        """Announced total time; None without an announcement. [s]"""

    def hear(self, done: float, total: float) -> None:
        """Update the estimate with the finished amount and the total."""
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
