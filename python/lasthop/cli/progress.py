"""A progress bar on standard error, where somebody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lasthop.run import Progress, ProgressCallback

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressCallback | None]:
    """A callback that draws replications, simulated seconds per second and time left."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[done]} runs  {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
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
