"""A progress bar on standard error, where somebody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.run import Progress, ProgressCallback
from lasthop.tuning.search import ProgressCallback as StageCallback
from lasthop.tuning.search import TuneProgress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["count_bar", "progress_bar", "real_time_bar", "stage_bar", "take_away"]


DRAWN: list["Bar"] = []
"""Bars on the screen."""


@dataclass(frozen=True)
class Drawn:
    """A bar on the screen, with its one task."""

    bar: "Bar"
    task: "TaskID"

    @property
    def elapsed_s(self) -> float:
        """Time since it was drawn. [s]"""
        return self.bar.tasks[0].elapsed or 0.0

    def begin(self) -> None:
        """Begin at nothing again."""
        self.bar.reset(self.task)

    def update(self, **fields: Any) -> None:
        """Show other values."""
        self.bar.update(self.task, **fields)


@contextmanager
def drawn(
    label: str, *, title: str = "{task.description}", counted: bool = False, text: str = ""
) -> Iterator[Drawn | None]:
    """Draw a bar while the body runs; none where nobody watches.

    Parameters
    ----------
    label : str
        What is under way.
    title : str
        How that is written.
    counted : bool
        Whether steps done and steps in all stand behind the bar.
    text : str
        Template of a text behind the bar, with the fields ``done`` and ``rate``.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    behind = [MofNCompleteColumn()] if counted else []
    texts = [TextColumn(text)] if text else []
    columns = (TextColumn(title), BarColumn(bar_width=24), *behind, *texts, TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    DRAWN.append(bar)
    with bar:
        yield Drawn(bar, bar.add_task(label, total=None, done="0", rate=""))


def take_away() -> None:
    """Take bars off the screen, which takes what is printed for itself as long as it is there.

    Their contexts do, unless Ctrl-C comes between the first drawing and the body.
    """
    while DRAWN:
        DRAWN.pop().stop()


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressCallback | None]:
    """A callback that draws replications, simulated seconds per second and time left."""
    text = "{task.percentage:>3.0f} %  {task.fields[done]} runs  {task.fields[rate]}"
    with drawn(label, text=text) as bar:

        def show(progress: Progress) -> None:
            assert bar is not None
            elapsed = bar.elapsed_s
            bar.update(
                completed=progress["simulated_s"],
                total=progress["total_s"],
                done=f"{progress['replications_done']}/{progress['replications']}",
                rate=f"{progress['simulated_s'] / elapsed:,.0f} s/s" if elapsed > 0 else "",
            )

        yield show if bar else None


@contextmanager
def stage_bar() -> Iterator[StageCallback | None]:
    """A callback that draws the stage of a search and its candidates."""
    with drawn("", title="{task.description:<10}", counted=True) as bar:

        def show(progress: TuneProgress) -> None:
            assert bar is not None
            if progress["done"] == 0:
                bar.begin()
            bar.update(
                description=progress["stage"],
                completed=progress["done"],
                total=progress["candidates"],
            )

        yield show if bar else None


@contextmanager
def real_time_bar(label: str) -> Iterator[Callable[[float, float], None] | None]:
    """A callback that draws seconds passed of seconds in all."""
    with drawn(label) as bar:

        def show(passed_s: float, length_s: float) -> None:
            assert bar is not None
            bar.update(completed=passed_s, total=length_s)

        yield show if bar else None


@contextmanager
def count_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A callback that draws how many of a number of steps are done."""
    with drawn(label, counted=True) as bar:

        def show(done: int, total: int) -> None:
            assert bar is not None
            bar.update(completed=done, total=total)

        yield show if bar else None
