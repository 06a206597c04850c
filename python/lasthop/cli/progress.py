"""Progress on standard error: a bar on a terminal, elsewhere a line that says what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from lasthop.batch import BatchProgress
from lasthop.batch import ProgressCallback as BatchCallback
from lasthop.cli.announcing import Pace
from lasthop.cli.quiet import is_quiet
from lasthop.digits import plain
from lasthop.run import Progress, ProgressCallback
from lasthop.tuning.search import ProgressCallback as StageCallback
from lasthop.tuning.search import TuneProgress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

P = ParamSpec("P")

DRAWN: list["Bar"] = []
"""Bars on the screen."""


@contextmanager
def drawn(
    label: str,
    show: "Callable[Concatenate[Bar, P], None]",
    *,
    title: str = "{task.description}",
    counted: bool = False,
    text: str = "",
    part: "Callable[P, tuple[float, float]] | None" = None,
) -> Iterator[Callable[P, None] | None]:
    """Draw a bar with one task while the body runs; none with --quiet.

    Where nobody watches, what takes long is announced in a line instead, if `part` is given.

    Parameters
    ----------
    label : str
        What is under way.
    show : callable
        Shows other values on the bar, its first argument; the body gets it without that.
    title : str
        How the label is written.
    counted : bool
        Whether steps done and steps in all stand behind the bar.
    text : str
        Template of a text behind the bar, with the fields ``done``, ``rate`` and ``found``.
    part : callable, optional
        How much is done of how much, of the same values.
    """
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        yield None if part is None else announcing(label, part)
        return
    bar = new_bar(label, title=title, counted=counted, text=text)
    with bar:
        try:
            yield partial(show, bar)
        finally:
            forget(bar)


def announcing(label: str, part: Callable[P, tuple[float, float]]) -> Callable[P, None]:
    """A callback that says once how long the rest takes."""
    pace = Pace(label)

    def hear(*values: P.args, **named: P.kwargs) -> None:
        pace.hear(*part(*values, **named))

    return hear


def new_bar(
    label: str, *, title: str = "{task.description}", counted: bool = False, text: str = ""
) -> "Bar":
    """A bar with one task, see `drawn`; whoever starts it takes it out of `DRAWN` again."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    behind = [MofNCompleteColumn()] if counted else []
    texts = [TextColumn(text)] if text else []
    columns = (TextColumn(title), BarColumn(bar_width=24), *behind, *texts, TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(label, total=None, done="0", rate="", found="")
    DRAWN.append(bar)
    return bar


def forget(bar: "Bar") -> None:
    """Leave a bar to whoever takes it off the screen."""
    if bar in DRAWN:
        DRAWN.remove(bar)


def take_away() -> None:
    """Take bars off the screen, which takes what is printed for itself as long as it is there.

    Their contexts do, unless Ctrl-C comes between the first drawing and the body.
    """
    while DRAWN:
        DRAWN.pop().stop()


def progress_bar(label: str) -> AbstractContextManager[ProgressCallback | None]:
    """A callback that draws replications, simulated seconds per second and time left."""

    def show(bar: "Bar", progress: Progress) -> None:
        [task] = bar.tasks
        elapsed = task.elapsed or 0.0
        done = progress["replications_done"] == progress["replications"]
        bar.update(
            task.id,
            description="summing up" if done else label,
            completed=progress["simulated_s"],
            total=progress["total_s"],
            done=f"{progress['replications_done']}/{progress['replications']}",
            rate=f"{speed(progress['simulated_s'] / elapsed)} s/s" if elapsed > 0 else "",
        )

    text = "{task.percentage:>3.0f} %  {task.fields[done]} runs  {task.fields[rate]}"
    return drawn(label, show, text=text, part=lambda at: (at["simulated_s"], at["total_s"]))


def speed(seconds: float) -> str:
    """Simulated seconds in a second, which may be few."""
    return plain(seconds) if seconds < 100.0 else f"{seconds:,.0f}"


def batch_bar(label: str) -> AbstractContextManager[BatchCallback | None]:
    """A callback that draws scenarios, parts, simulated seconds per processor second, time left."""

    def show(bar: "Bar", progress: BatchProgress) -> None:
        [task] = bar.tasks
        speed = progress["simulated_s_per_cpu_s"]
        rate = "" if speed is None else f"{speed:,.0f} s per CPU s"
        drained = "finishing what is under way; Ctrl-C again ends it"
        bar.update(
            task.id,
            description=drained if progress["draining"] else label,
            completed=progress["simulated_s"],
            total=progress["total_s"],
            done=f"{progress['runs_done']}/{progress['runs']}",
            rate=f"{progress['parts']} parts  {rate}",
        )

    text = "{task.percentage:>3.0f} %  {task.fields[done]}  {task.fields[rate]}"
    return drawn(label, show, text=text, part=lambda at: (at["simulated_s"], at["total_s"]))


def stage_bar() -> AbstractContextManager[StageCallback | None]:
    """A callback that draws the stage of a search, its candidates, and the best value so far."""

    def show(bar: "Bar", progress: TuneProgress) -> None:
        [task] = bar.task_ids
        if progress["done"] == 0:
            bar.reset(task)
        bar.update(
            task,
            description=progress["stage"],
            completed=progress["done"],
            total=progress["candidates"],
            found=progress["so_far"] and f"so far {progress['so_far']}",
        )

    return drawn(
        "", show, title="{task.description:<10}", counted=True, text="{task.fields[found]}"
    )


def show_part(bar: "Bar", done: float, total: float) -> None:
    """Show how much is done of how much."""
    bar.update(bar.task_ids[0], completed=done, total=total)


def real_time_bar(label: str) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """A callback that draws seconds passed of seconds in all."""
    return drawn(label, show_part)


def reading_bar(label: str) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """A callback that draws bytes read of bytes in all."""
    return drawn(label, show_part)


def count_bar(label: str) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """A callback that draws how many of a number of steps are done."""
    return drawn(label, show_part, counted=True, part=lambda done, total: (done, total))
