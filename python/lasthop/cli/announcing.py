"""Estimates of run time, printed on standard error before a long step of a command."""

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
"""Shortest estimated run time that is announced. [s]"""

WRONG = 2.0
"""Largest ratio of the new estimate to the announced run time of a step. If the ratio is larger,
the step is announced again. [-]
"""

SHORTER = 4.0
"""Largest ratio of the announced run time of a step to the new estimate. If the ratio is larger,
the step is announced again. [-]
"""

SOON_S = 1.0
"""Delay after which a step reports a preliminary finding. A step that ends earlier does not report
one. [s]
"""


def announce(what: str, time_s: float, how_sure: str = "up to") -> None:
    """Print a step's estimated run time if the time is long; print nothing with ``--quiet``."""
    if time_s >= LONG_S:
        note(f"{what}: {how_sure} {cost_text(time_s, TIMES)}")


def note(line: str) -> None:
    """Print a note on standard error while a command runs; print nothing with ``--quiet``."""
    if not is_quiet():
        print(f"note: {line}", file=sys.stderr, flush=True)


class Announced:
    """Announcements of long steps, for a command whose standard error is not a terminal. Each
    announcement is printed once.
    """

    def __init__(self) -> None:
        self._announced: set[str] = set()

    @contextmanager
    def watch(self, what: str, total: int | None) -> Iterator[Step]:
        """Announce a step while the body runs, if the step takes long."""
        watched = _Watched(self, what, total)
        try:
            yield watched
        finally:
            watched.over()

    def expect(self, what: str, time_s: float) -> None:
        """Announce a long computation, unless it was already announced."""
        if time_s >= LONG_S and what not in self._announced:
            self._announced.add(what)
            announce(what.rstrip(","), time_s)


class _Watched:
    """One step of a command, while it runs."""

    def __init__(self, announced: Announced, what: str, total: int | None) -> None:
        self._announcements, self._total = announced, total
        self._announcer = Announcer(what)
        self._timer: Timer | None = None

    def done(self, count: int) -> None:
        """Estimate the remaining time of the step from the finished parts, and announce a long
        time.
        """
        if self._total is not None:
            self._announcer.hear(count, self._total)

    def expect(self, what: str, time_s: float) -> None:
        """Announce a part of the step if the estimated run time of this part is long."""
        self._announcements.expect(what, time_s)

    def report_early(self, what: str) -> None:
        """Print a preliminary finding, unless the step ends within `SOON_S`."""
        self._timer = Timer(SOON_S, note, [what])
        self._timer.daemon = True
        self._timer.start()

    def over(self) -> None:
        """Cancel the preliminary finding at the end of the step."""
        if self._timer is not None:
            self._timer.cancel()


class Announcer:
    """Announcements of a step's remaining time. If an announced time was wrong, a corrected time is
    announced.
    """

    def __init__(self, what: str, announced_s: float = 0.0) -> None:
        self._what = what
        self._pace = Pace()
        self._announced_s = announced_s if announced_s >= LONG_S else None
        """Announced total run time of the step; None before an announcement. [s]"""

    def hear(self, done: float, total: float) -> None:
        """Update the estimate of the remaining time; `done` and `total` are amounts of work."""
        rest = self._pace.judge(done, total)
        if rest is None or rest.left_s < LONG_S:
            return
        total_s = rest.passed_s + rest.left_s
        if self._announced_s is None:
            announce(self._what, rest.left_s, rest.how_sure)
        elif total_s > WRONG * self._announced_s:
            announce(f"{self._what} takes longer than estimated", rest.left_s, rest.how_sure)
        elif SHORTER * total_s < self._announced_s:
            announce(f"{self._what} takes less than estimated", rest.left_s, rest.how_sure)
        else:
            return
        self._announced_s = total_s
