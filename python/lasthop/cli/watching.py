"""Display of long steps: name, progress and estimated run time.

On a terminal, a bar shows each step that is not over soon. If another bar is already visible, the
step is shown on that bar until the step ends. If there is no terminal, a line announces each long
step.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lasthop.cli.announcing import Announced
from lasthop.cli.progress import DRAWN, UNKNOWN, forget, new_bar
from lasthop.cli.quiet import is_quiet
from lasthop.progress.cost_limits import TIMES, cost_text
from lasthop.progress.steps import Step, Watcher

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["watch", "watcher"]

SOON_S = 1.0
"""Duration after which a step is shown; a shorter step is not shown. [s]"""

LONG_S = 2.0
"""Estimated run time from which a step is shown immediately. [s]"""


class Shown:
    """A step that is shown on a bar of its own, or on the bar that is already visible."""

    def __init__(self, what: str, total: int | None) -> None:
        self.what, self.total, self.count = what, total, 0
        self._bar: Bar | None = None
        self._lock = threading.Lock()
        self._over = False
        self._borrowed: tuple[str, float | None, float] | None = None
        self._timer = threading.Timer(SOON_S, self.show) if what else None
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def done(self, count: int) -> None:
        """Show the number of finished parts of the step."""
        self.count = count
        self._update()

    def expect(self, what: str, time_s: float) -> None:
        """Show a part of the step and its estimated run time, if the time is long."""
        if time_s >= LONG_S:
            self.what = f"{what.rstrip(',')}: up to {cost_text(time_s, TIMES)}"
            self.show()
            self._update()

    def report_early(self, what: str) -> None:
        """Show a preliminary finding."""
        self.what = what
        self._update()

    def show(self) -> None:
        """Draw a bar, or use the bar that is already visible."""
        with self._lock:
            if self._over or self._bar is not None or is_quiet() or not sys.stderr.isatty():
                return
            if DRAWN:
                self._bar = DRAWN[-1]
                [task] = self._bar.tasks
                self._borrowed = (task.description, task.total, task.completed)
                self._bar.reset(task.id, description=self.what, total=self.total, **self._fields())
            else:
                self._bar = new_bar(self.what, text="{task.fields[done]}")
            self._update()
            if self._borrowed is None:
                self._bar.start()

    def over(self) -> None:
        """Remove the bar, or restore the contents that the bar had before the step."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._over = True
            bar, self._bar = self._bar, None
        if bar is None:
            return
        if self._borrowed is None:
            bar.stop()
            forget(bar)
            return
        before, total, completed = self._borrowed
        [task] = bar.tasks
        bar.reset(
            task.id,
            total=total,
            completed=int(completed),
            description=before,
            done="0",
            rate="",
            left=UNKNOWN,
        )

    def _update(self) -> None:
        if self._bar is None:
            return
        [task] = self._bar.task_ids
        self._bar.update(
            task, description=self.what, total=self.total, completed=self.count, **self._fields()
        )

    def _fields(self) -> dict[str, Any]:
        """Return the texts that are shown after the bar."""
        done = f"{self.count:,}/{self.total:,}" if self.total else ""
        return {"done": done, "rate": "", "left": UNKNOWN}


@contextmanager
def watch(what: str, total: int | None) -> Iterator[Step]:
    """Show a step while the body runs."""
    shown = Shown(what, total)
    try:
        yield shown
    finally:
        shown.over()


def watcher() -> Watcher:
    """Return the display for the steps of a command: a bar on a terminal, else lines."""
    return watch if sys.stderr.isatty() else Announced().watch
