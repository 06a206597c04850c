"""`lasthop sweep`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lasthop.cli.boundary import Interrupted, print_either, warn
from lasthop.cli.options import (
    File,
    Jobs,
    Json,
    Replications,
    Seed,
    Settings,
    directory,
    pairs,
    read_scenario,
    stem,
    writable,
)
from lasthop.cli.progress import progress_bar
from lasthop.cli.tables import COLUMNS, TITLES, print_table, printed
from lasthop.digits import plain
from lasthop.errors import UserError
from lasthop.ownership import refuse_foreign
from lasthop.saving import TABLE_FILES
from lasthop.scenario import blaming
from lasthop.sweep import Point, Sweep, SweepInterrupted
from lasthop.sweep import sweep as run_sweep

EXAMPLE = "cell.ap.cwmin=15,31"

GO_ON = "the same command goes on from there"
"""What to do after Ctrl-C."""

MOST_GROUPS = 5
"""Most groups of stations whose shares are printed."""


def sweep(
    file: File,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=V1,V2,...",
            help="Values to try; a table in braces is one. Given for several paths: every "
            "combination.",
        ),
    ],
    replications: Replications = None,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        directory(
            "Results and tables; found again when the sweep is resumed. By default out/NAME-sweep."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario at every combination of values; what is done is not done again."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    given = {"replications": replications, "seed": seed}
    alone = {path: f"--{path}" for path, value in given.items() if value is not None}
    alone |= {path: f"--set {path}" for path, _ in scenario.settings if path not in alone}
    values = swept(over, alone)
    directory = writable(Path("out") / f"{stem(scenario)}-sweep" if out is None else out)
    refuse_foreign(directory, TABLE_FILES)
    interrupted = None
    with progress_bar("sweeping") as progress:
        try:
            with blaming({path: f"--over {path}={','.join(values[path])}" for path in values}):
                result = run_sweep(
                    scenario, values, directory=directory, jobs=jobs, progress=progress
                )
        except SweepInterrupted as stop:
            interrupted, result = stop, stop.finished
    try:
        result.save(directory)
    except KeyboardInterrupt:
        raise Interrupted(f"{len(result.points)} points kept, not all tables", GO_ON) from None
    finally:  # A full disk must not cost the result.
        print_either(as_json, result.to_json, lambda: print_sweep(result, list(values)))
    if not as_json:
        typer.echo(f"tables: {directory}")
    for warning in result.warnings[:1]:
        more = len(result.warnings) - 1
        rest = f" (so do {more} more: warnings of the sweep in Python)" if more else ""
        warn(f"{warning}{rest}")
    if interrupted is not None:
        raise Interrupted(str(interrupted), GO_ON)


def swept(over: list[str], alone: Mapping[str, str]) -> dict[str, list[str]]:
    """Values by path; `alone` names the options that give a path one value."""
    values: dict[str, list[str]] = {}
    for path, text in pairs(over, "--over", "PATH=V1,V2,...", EXAMPLE):
        if path in values:
            raise UserError(f"--over {path}: given twice", f"--over {path}=V1,V2 takes all values")
        if path in alone:
            raise UserError(f"--over {path}: {alone[path]} gives it one value; needed is either")
        values[path] = parts(path, text)
        if not all(values[path]):
            raise UserError(f'--over {path}: an empty value in "{text}"', f"--over {EXAMPLE}")
        if twice := [value for value in values[path] if values[path].count(value) > 1]:
            raise UserError(f"--over {path}: the value {twice[0]} is given twice")
    return values


OPENING, CLOSING = "[{", "]}"


def parts(path: str, text: str) -> list[str]:
    """What stands between commas, those inside braces, brackets and quotes not counted."""
    found, open_brackets, quote = [""], 0, ""
    for sign in text:
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
        elif sign in OPENING or (sign in CLOSING and open_brackets):
            open_brackets += 1 if sign in OPENING else -1
        elif sign == "," and not open_brackets:
            found.append("")
            continue
        found[-1] += sign
    if open_brackets or quote:
        what = f"a quote {quote}" if quote else "a brace or bracket"
        raise UserError(f'--over {path}: {what} is not closed in "{text}"', TABLES)
    return [value.strip() for value in found]


TABLES = "--over 'queue=100,{red={min_th=50,max_th=100}}'"
"""An example of values that are tables."""


def print_sweep(result: Sweep, paths: list[str]) -> None:
    """Print a row for each point: the shares, then what became of the cell."""
    groups = list(dict.fromkeys(group for point in result.points for group in members(point)))
    shown = groups[:MOST_GROUPS]
    rows = [
        [*point.settings.values(), *(share(members(point).get(group, [])) for group in shown)]
        for point in result.points
    ]
    headers = [*paths, *(f"{group}\nshare\n[%]" for group in shown)]
    if shown:
        print_table(headers, rows, names=len(paths))
    if len(groups) > len(shown):
        typer.echo(f"... and {len(groups) - len(shown)} more stations: see the tables\n")

    for list_name in ("cells", "classes", "links", "queues"):
        found = [
            (point, item) for point in result.points for item in printed(point.summary, list_name)
        ]
        items = [item for _, item in found]
        columns = [
            column
            for column in COLUMNS[list_name]
            if any(column.says_something(item) for item in items)
        ]
        many = len({item["name"] for item in items}) > 1
        rows = [
            [
                *point.settings.values(),
                *([item["name"]] if many else []),
                *(column.cell(item) for column in columns),
            ]
            for point, item in found
        ]
        titles = [*paths, TITLES[list_name]] if many else paths
        headers = [*titles, *(column.header for column in columns)]
        if columns:
            print_table(headers, rows, names=len(titles))


def members(point: Point) -> dict[str, list[Mapping[str, Any]]]:
    """Results of a point's stations by the table that makes them."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    stations = point.scenario.typed.stations
    for station, result in zip(stations, point.summary.get("stations", ()), strict=True):
        groups.setdefault(station.group, []).append(result)
    return groups


def share(stations: list[Mapping[str, Any]]) -> str:
    """Share of a station with its interval, or the mean share of a group's members."""
    column = next(each for each in COLUMNS["stations"] if each.quantity == "goodput_share")
    if len(stations) == 1:
        return column.cell(stations[0])
    means = [each["goodput_share"]["mean"] for each in stations if "goodput_share" in each]
    if not means or None in means:
        return "-"
    return f"{plain(100 * sum(means) / len(means))} each of {len(stations)}"
