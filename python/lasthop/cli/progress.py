"""A progress bar on standard error, where somebody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lasthop.run import Progress, ProgressCallback
from lasthop.tuning.search import ProgressCallback as StageCallback
from lasthop.tuning.search import TuneProgress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

__all__ = ["count_bar", "progress_bar", "real_time_bar", "stage_bar", "take_away"]


DRAWN: list["Bar"] = []
"""Bars on the screen."""


@contextmanager
def drawn(*columns: "ProgressColumn") -> Iterator["Bar"]:
    """Draw a bar while the body runs."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    DRAWN.append(bar)
    with bar:
        yield bar


def take_away() -> None:
    """Take bars off the screen, which takes what is printed for itself as long as it is there.

    Their contexts do, unless Ctrl-C comes between the first drawing and the body.
    """
    while DRAWN:
        DRAWN.pop().stop()


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressCallback | None]:
    """A callback that draws replications, simulated seconds per second and time left."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[done]} runs  {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with drawn(*columns) as bar:
        task = bar.add_task(label, total=None, done="0", rate="")

        def show(progress: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{progress['simulated_s'] / elapsed:,.0f} s/s" if elapsed > 0 else ""
            bar.update(
                task,
                completed=progress["simulated_s"],
                total=progress["total_s"],
                done=f"{progress['replications_done']}/{progress['replications']}",
                rate=rate,
            )

        yield show


@contextmanager
def stage_bar() -> Iterator[StageCallback | None]:
    """A callback that draws the stage of a search and its candidates."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with drawn(*columns) as bar:
        task = bar.add_task("", total=None)

        def show(progress: TuneProgress) -> None:
            if progress["done"] == 0:
                bar.reset(task)
            bar.update(
                task,
                description=progress["stage"],
                completed=progress["done"],
                total=progress["candidates"],
            )

        yield show


@contextmanager
def real_time_bar(label: str) -> Iterator[Callable[[float, float], None] | None]:
    """A callback that draws seconds passed of seconds in all."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeRemainingColumn())
    with drawn(*columns) as bar:
        task = bar.add_task(label, total=None)

        def show(passed_s: float, length_s: float) -> None:
            bar.update(task, completed=passed_s, total=length_s)

        yield show


@contextmanager
def count_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A callback that draws how many of a number of steps are done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with drawn(*columns) as bar:
        task = bar.add_task(label, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
