"""`lasthop sweep`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lasthop.cli.boundary import INTERRUPTED, print_error
from lasthop.cli.options import (
    File,
    Jobs,
    Json,
    Replications,
    Seed,
    Settings,
    pairs,
    read_scenario,
    stem,
    writable,
)
from lasthop.cli.progress import progress_bar
from lasthop.errors import UserError
from lasthop.sweep import Sweep, SweepInterrupted
from lasthop.sweep import sweep as run_sweep

__all__ = ["sweep"]


def sweep(
    file: File,
    over: Annotated[
        list[str],
        typer.Option(metavar="PATH=V1,V2,...", help="Values to try; may be given repeatedly."),
    ],
    replications: Replications = None,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Results and tables; found again when the sweep is resumed. "
            "By default out/NAME-sweep.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario at every combination of values; what is done is not done again."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    directory = writable(out or Path("out") / f"{stem(scenario)}-sweep")
    values = {path: values_of(path, text) for path, text in pairs(over, "--over")}
    interrupted = None
    with progress_bar("sweeping") as progress:
        try:
            result = run_sweep(scenario, values, directory=directory, jobs=jobs, progress=progress)
        except SweepInterrupted as stop:
            interrupted, result = stop, stop.finished
    result.save(directory)
    if as_json:
        sys.stdout.write(result.to_json())
    else:
        print_sweep(result, list(values))
        typer.echo(f"tables: {directory}")
    if interrupted is not None:
        print_error(f"interrupted: {interrupted}", "the same command goes on from there")
        raise typer.Exit(INTERRUPTED)


def values_of(path: str, text: str) -> list[str]:
    """The values after the equals sign."""
    values = [value.strip() for value in text.split(",")]
    if not all(values):
        raise UserError(f'--over {path}: an empty value in "{text}"', "--over cell.ap.cwmin=15,31")
    return values


def print_sweep(result: Sweep, paths: list[str]) -> None:
    """One row a point: the values and what became of the cell."""
    from lasthop.cli.tables import COLUMNS, print_table

    columns = COLUMNS["cells"]
    rows = [
        [*point.settings.values(), *(column.cell(cell) for column in columns)]
        for point in result.points
        for cell in point.summary.get("cells", ())
    ]
    headers = [*paths, *(column.header for column in columns)]
    print_table(headers, rows, names=len(paths))
