"""Progress on standard error: a bar on a terminal, or one line about a long step."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from lasthop.answers.digits import plain
from lasthop.cli.announcing import Announcer, note
from lasthop.cli.quiet import is_quiet
from lasthop.progress.eta import Pace

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from lasthop.batch import BatchProgress
    from lasthop.batch import ProgressCallback as BatchCallback
    from lasthop.simulation.simulate import Progress, ProgressCallback
    from lasthop.tuning.search import ProgressCallback as StageCallback
    from lasthop.tuning.search import TuneProgress

P = ParamSpec("P")

UNKNOWN = "-:--:--"
"""Text instead of an unknown remaining time."""

DRAWN: list["Bar"] = []
"""Progress bars that are visible now."""


@contextmanager
def drawn(
    label: str,
    show: "Callable[Concatenate[Bar, P], None]",
    *,
    title: str = "{task.description}",
    counted: bool = False,
    text: str = "",
    part: "Callable[P, tuple[float, float]] | None" = None,
    only_line: "Callable[P, str]" = lambda *_, **__: "",
    excludes_start: bool = False,
) -> Iterator[Callable[P, None] | None]:
    """Draw a bar with one task while the body runs; draw nothing with --quiet.

    If there is no terminal and `part` is given, a line announces a long step.

    Parameters
    ----------
    label : str
        Name of the step.
    show : callable
        Function that shows new values on a bar. Its first argument is the bar. The body gets a
        function that has only the other arguments.
    title : str
        Template of the label in the format of rich.
    counted : bool
        Whether the number of finished steps and the total are shown after the bar.
    text : str
        Template of a text after the bar, with the fields ``done``, ``rate`` and ``found``.
    part : callable, optional
        Function that returns the finished and the total amount of work from the same values as
        `show`. The remaining time is estimated from these two amounts.
    only_line : callable, optional
        Function that returns a line to print if there is no terminal, or an empty text. Only the
        first line is printed.
    excludes_start : bool
        Whether the estimate of the remaining time excludes the time before the first progress, such
        as the time of a boot.
    """
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        yield None if part is None else announcing(label, part, only_line, excludes_start)
        return
    bar = new_bar(label, title=title, counted=counted, text=text, paced=part is not None)
    with bar:
        try:
            yield partial(show, bar) if part is None else paced(bar, show, part, excludes_start)
        finally:
            forget(bar)


def announcing(
    label: str,
    part: Callable[P, tuple[float, float]],
    only_line: Callable[P, str],
    excludes_start: bool,
) -> Callable[P, None]:
    """Return a callback that prints the remaining time of a long step. When `only_line` returns a
    line, the callback prints this line once, and nothing afterwards.
    """
    announcer = None if excludes_start else Announcer(label)
    has_printed = False

    def hear(*values: P.args, **named: P.kwargs) -> None:
        nonlocal announcer, has_printed
        if announcer is None and part(*values, **named)[0] <= 0.0:
            return
        announcer = announcer or Announcer(label)
        line = only_line(*values, **named)
        if line and not has_printed:
            has_printed = True
            note(line)
        if not has_printed:
            announcer.hear(*part(*values, **named))

    return hear


def paced(
    bar: "Bar",
    show: "Callable[Concatenate[Bar, P], None]",
    part: Callable[P, tuple[float, float]],
    excludes_start: bool,
) -> Callable[P, None]:
    """Return a callback that shows new values and the remaining time on a bar."""
    pace = None if excludes_start else Pace()

    def hear(*values: P.args, **named: P.kwargs) -> None:
        nonlocal pace
        done, total = part(*values, **named)
        if pace is None and done > 0.0:
            pace = Pace()
        rest = None if pace is None else pace.judge(done, total)
        if rest is not None:
            from datetime import timedelta

            clock = str(timedelta(seconds=ceil(rest.left_s)))
            bar.update(bar.task_ids[0], left=f"at least {clock}" if rest.slows else clock)
        show(bar, *values, **named)

    return hear


def new_bar(
    label: str,
    *,
    title: str = "{task.description}",
    counted: bool = False,
    text: str = "",
    paced: bool = False,
) -> "Bar":
    """Return a bar with one task, which is added to `DRAWN`; the caller removes it with
    `forget`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    counts = [MofNCompleteColumn()] if counted else []
    texts = [TextColumn(text)] if text else []
    left = TextColumn("[cyan]{task.fields[left]}") if paced else TimeRemainingColumn()
    columns = (TextColumn(title), BarColumn(bar_width=24), *counts, *texts, left)
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(label, total=None, done="0", rate="", found="", left=UNKNOWN)
    DRAWN.append(bar)
    return bar


def forget(bar: "Bar") -> None:
    """Remove a bar from the list `DRAWN`; the caller removes the bar from the screen."""
    if bar in DRAWN:
        DRAWN.remove(bar)


def take_away() -> None:
    """Remove all bars from the screen, because a visible bar captures printed text.

    Normally, the context manager of a bar removes the bar. Ctrl-C between the first drawing and the
    body prevents the removal.
    """
    while DRAWN:
        DRAWN.pop().stop()


def progress_bar(label: str) -> "AbstractContextManager[ProgressCallback | None]":
    """Draw a bar for simulations: replications, simulated seconds per second, and remaining
    time.
    """

    def show(bar: "Bar", progress: "Progress") -> None:
        [task] = bar.tasks
        elapsed = task.elapsed or 0.0
        done = progress["replications_done"] == progress["replications"]
        bar.update(
            task.id,
            description="computing results" if done else label,
            completed=progress["simulated_s"],
            total=progress["total_s"],
            done=f"{progress['replications_done']}/{progress['replications']}",
            rate=f"{speed(progress['simulated_s'] / elapsed)} s/s" if elapsed > 0 else "",
        )

    text = "{task.percentage:>3.0f} %  {task.fields[done]} runs  {task.fields[rate]}"
    return drawn(label, show, text=text, part=lambda at: (at["simulated_s"], at["total_s"]))


def speed(seconds: float) -> str:
    """Return a number of simulated seconds per second as text, with decimal places if the number is
    below 100.
    """
    return plain(seconds) if seconds < 100.0 else f"{seconds:,.0f}"


def batch_bar(label: str) -> "AbstractContextManager[BatchCallback | None]":
    """Draw a bar for a batch: runs, saved archives, simulated time per CPU time, and
    remaining time.
    """

    def show(bar: "Bar", progress: "BatchProgress") -> None:
        [task] = bar.tasks
        speed = progress["simulated_s_per_cpu_s"]
        rate = "" if speed is None else f"{speed:,.0f} s per CPU s"
        bar.update(
            task.id,
            description=draining(progress) or label,
            completed=progress["simulated_s"],
            total=progress["total_s"],
            done=f"{progress['runs_done']}/{progress['runs']}",
            rate=f"{progress['parts']} parts  {rate}",
        )

    text = "{task.percentage:>3.0f} %  {task.fields[done]}  {task.fields[rate]}"
    return drawn(
        label,
        show,
        text=text,
        part=lambda at: (at["simulated_s"], at["total_s"]),
        only_line=draining,
    )


def draining(progress: "BatchProgress") -> str:
    """Return a text about running simulations after Ctrl-C; empty before Ctrl-C."""
    if not progress["draining"]:
        return ""
    match progress["runs_under_way"]:
        case 0:
            return "finishing the running simulations; press Ctrl-C again to end them"
        case 1:
            return "finishing the running simulation; press Ctrl-C again to end it"
        case count:
            return f"finishing {count} running simulations; press Ctrl-C again to end them"


def stage_bar() -> "AbstractContextManager[StageCallback | None]":
    """Draw a bar for a search: its stage, its number of candidates, and the best value so far."""

    def show(bar: "Bar", progress: "TuneProgress") -> None:
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


def share_bar(
    label: str, *, excludes_start: bool = False
) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """Draw a bar for simulated time: the finished fraction and the remaining time."""
    return drawn(
        label, show_part, part=lambda done, total: (done, total), excludes_start=excludes_start
    )


def show_part(bar: "Bar", done: float, total: float) -> None:
    """Show the finished and the total amount of work on a bar."""
    bar.update(bar.task_ids[0], completed=done, total=total)


def real_time_bar(label: str) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """Draw a bar for a step of known duration: the seconds that have passed, and their total."""
    return drawn(label, show_part)


def emulation_bar(
    label: str, *, virtual: bool
) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """Draw a bar for emulated time; in simulated time, also show the remaining time."""
    return share_bar(label, excludes_start=True) if virtual else real_time_bar(label)


def reading_bar(label: str) -> AbstractContextManager[Callable[[float, float], None] | None]:
    """Draw a bar for the reading of a file: the bytes that were read, and their total."""
    return drawn(label, show_part)


def count_bar(label: str) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Draw a bar for a number of finished steps, with their total."""
    return drawn(label, show_part, counted=True, part=lambda done, total: (done, total))


def step_bar(label: str) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Draw a bar for a number of finished steps, with their total; print nothing without a
    terminal.
    """
    return drawn(label, show_part, counted=True)
