"""`lasthop sweep`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from lasthop.answers.digits import plain
from lasthop.answers.estimates import Estimate
from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.quantities import check_name, registry
from lasthop.answers.saving import TABLE_FILES
from lasthop.cli import options
from lasthop.cli.boundary import Interrupted, note, warn
from lasthop.cli.elsewhere import CLUSTER, ON_SLURM, SLURM_OPTIONS, workers
from lasthop.cli.limits import kept_in_sweep
from lasthop.cli.options import (
    File,
    file_name,
    flag,
    out_option,
    pairs,
    read_scenario,
    stem,
    unset,
    writable,
)
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture, tell
from lasthop.cli.progress import batch_bar
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.tables import COLUMNS, MAX_ROWS, TITLES, print_table, printed
from lasthop.display.columns import column_of
from lasthop.display.swept import delay_table
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.scenario.scenario import Scenario, blaming
from lasthop.scenario.values import twice, values_of
from lasthop.sweep import Point, Sweep, SweepInterrupted
from lasthop.sweep import sweep as run_sweep
from lasthop.sweep.grid import Grid, grid

EXAMPLE = "cell.ap.cwmin=15,31"

TABLES = "write --over 'queue=100,{red={min_th=50,max_th=100}}'"
"""Example of --over whose values are tables."""

GO_ON = "run the same command again to continue"
"""Hint that is printed after Ctrl-C."""

MAX_GROUPS = 5
"""Maximum number of tables of stations whose goodput shares are printed."""

MAX_LOOKED_AT = 200
"""Maximum number of grid points whose warnings are read."""


def sweep(
    file: File,
    over: list[str] | None = unset(
        "PATH=VALUES",
        "Simulate with each of these values: V1,V2,V3 or A..B (whole numbers) or A..B:STEP or "
        "A..B log N. A table in braces is one value. If there are several paths, every "
        "combination is simulated.",
    ),
    points: Path | None = unset(
        "FILE.csv",
        "Simulate the points of this file: key paths in the first line, one point in each "
        "further line.",
        parser=file_name,
    ),
    together: bool = flag(
        "--zip", "Combine the first values of all paths, then the second values, and so on."
    ),
    replications: str | None = options.REPLICATIONS,
    seed: str | None = options.SEED,
    series: str | None = unset(
        "TIME",
        "Record time series of the first replication of each point at this interval, such as "
        '"0.1 s".',
    ),
    jobs: int | None = options.JOBS,
    cluster: str | None = CLUSTER,
    on_slurm: bool = ON_SLURM,
    slurm_options: list[str] | None = SLURM_OPTIONS,
    settings: list[str] | None = options.SETTINGS,
    max_memory: float = options.SERIES_MEMORY,
    out: Path | None = out_option(
        "The files are results and tables; a resumed sweep reuses the results. "
        "Default: out/NAME-sweep."
    ),
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    quantity: str | None = unset(
        "NAME",
        "Draw this quantity, such as jain or queues.sojourn_s. By default the picture shows the "
        "delays and losses of datagrams, sensors and web pages. It also shows the shares of the "
        "stations of a cell, or goodput and losses of a router.",
    ),
    show: list[str] | None = unset(
        "NAME",
        "Also print this quantity, one column per item, such as flows.rtt_s; repeatable.",
    ),
    as_json: bool = options.JSON,
) -> None:
    """Simulate a scenario at many settings; finished points are reused."""
    need("lasthop sweep")
    scenario = read_scenario(file, settings, replications=replications, seed=seed, series=series)
    given = {"replications": replications, "seed": seed, "record.series_interval": series}
    names = {"record.series_interval": "--series"}
    set_by = {
        path: names.get(path, f"--{path}") for path, value in given.items() if value is not None
    }
    set_by |= {path: f"--set {path}" for path, _ in scenario.settings if path not in set_by}
    asked = asked_points(over or [], points, together, set_by)
    for line in kept_in_sweep(scenario, asked):
        note(f"note: {line}", err=True)
    directory = writable(Path("out") / f"{stem(scenario)}-sweep" if out is None else out)
    refuse_foreign(directory, TABLE_FILES)
    for name in show or ():
        check_name(name)
    reported = report_path(report, anonymise, file)
    picture = None
    if plot is not None:
        picture = sweep_picture(plot, quantity, scenario, asked, points, directory)
    elif quantity is not None:
        raise UserError(f"--quantity {quantity}: no picture was requested: expected --plot as well")
    interrupted = None
    with (
        workers(cluster, on_slurm, slurm_options, jobs, directory) as executor,
        batch_bar("sweeping") as progress,
    ):
        try:
            with blaming(blamed(asked, points)):
                result = run_sweep(
                    scenario,
                    asked,
                    directory=directory,
                    jobs=jobs,
                    executor=executor,
                    progress=progress,
                    max_memory_bytes=max_memory,
                )
        except SweepInterrupted as stop:
            interrupted, result = stop, stop.finished
    absent = []
    try:
        result.save(directory)
    except KeyboardInterrupt:
        raise Interrupted(
            f"{len(result.points)} points are saved, but not all tables", GO_ON
        ) from None
    finally:  # The result is printed even if the disk is full.
        if as_json:
            for piece in result.json_pieces():
                sys.stdout.write(piece)
        else:
            print_sweep(result)
            asked_for = show or () if result.points else ()
            absent = [name for name in asked_for if not print_quantity(result, name)]
    tell("tables", directory, as_json=as_json)
    warn(*result.notes, *first_warning(result))
    if result.points:  # There may be no points after Ctrl-C.
        save_picture(lambda: result.plot(quantity), picture, as_json=as_json)
        save_report(result, reported, anonymise, as_json=as_json)
    if interrupted is not None:
        raise Interrupted(str(interrupted), GO_ON)
    if absent:
        raise no_point_has(absent[0], result.points[0])


def sweep_picture(
    plot: str,
    quantity: str | None,
    scenario: Scenario,
    asked: Grid,
    points: Path | None,
    directory: Path,
) -> Path | None:
    """Return the path of the picture; raise an error before the sweep if a picture cannot show
    this many values.
    """
    from lasthop.plot.layout import layout_of
    from lasthop.plot.swept import Axis
    from lasthop.sweep.columns import column

    if quantity is not None:
        check_name(quantity)
    layout_of(asked, [Axis.of(column(path, asked.column(path))) for path in asked.paths])
    if points is not None:
        values = [("points", points.stem)]
    else:
        values = [(path, ",".join(asked.column(path))) for path in asked.paths]
    more: list[tuple[str, str | None]] = [*values, ("quantity", quantity)]
    return picture_path(plot, scenario, "sweep", changed(scenario, *more), directory)


def first_warning(result: Sweep) -> Iterator[str]:
    """Yield the first warning about the grid points, with the number of further warnings."""
    warnings = list(result.iter_warnings(MAX_LOOKED_AT))
    if warnings:
        more = len(warnings) - 1
        warnings_text = f"warning{'s' if more > 1 else ''}"
        rest = (
            f" (and {more} more {warnings_text}; in Python: `warnings` of the sweep)"
            if more
            else ""
        )
        yield f"{warnings[0]}{rest}"


def asked_points(
    over: list[str], points: Path | None, together: bool, set_by: Mapping[str, str]
) -> Grid:
    """Return the grid of --over or --points. For a key path that another option sets to a single
    value, `set_by` contains the name of this option.
    """
    if points is not None:
        if over or together:
            raise UserError(f"--points {points}: cannot be combined with --over or --zip")
        result = grid(points, named="--points")
    elif not over:
        raise UserError(
            "no values to simulate: expected --over or --points", f"add --over {EXAMPLE}"
        )
    else:
        result = grid(swept(over, together), "zip" if together else "grid", "--over")
    for path in result.paths:
        if path in set_by:
            where = f"--over {path}" if points is None else f"--points {points}: {path}"
            raise UserError(
                f"{where}: {set_by[path]} also sets this path: expected only one of the two options"
            )
    return result


def swept(over: list[str], together: bool = False) -> dict[str, list[str]]:
    """Return the values of the --over options by key path."""
    values: dict[str, list[str]] = {}
    for path, text in pairs(over, "--over", "PATH=V1,V2", EXAMPLE):
        if path in values:
            raise UserError(
                f"--over {path}: the path is given twice",
                f"give all values together: --over {path}=V1,V2",
            )
        values[path] = values_of(text, f"--over {path}", TABLES)
        if not together and (value := twice(values[path])) is not None:
            raise UserError(f"--over {path}: the value {value} is given twice")
    return values


def blamed(asked: Grid, points: Path | None) -> dict[str, str]:
    """Return the option that set the values of each key path, for error messages."""
    if points is not None:
        return {path: f"--points {points}: {path}" for path in asked.paths}
    lines = {}
    for path in asked.paths:
        text = ",".join(asked.column(path))
        lines[path] = f"--over {path}={text if len(text) <= LONGEST else text[:LONGEST] + '...'}"
    return lines


LONGEST = 60
"""Maximum length of a list of values in an error message. [characters]"""


def print_sweep(result: Sweep) -> None:
    """Print tables with a row per grid point: delays, goodput shares, then quantities of the
    cell.
    """
    paths = list(result.paths)
    seen = result.points[:MAX_ROWS]
    late, delays = delay_table(seen)
    if late:
        print_table([*paths, *late], delays, names=len(paths))
    groups = list(dict.fromkeys(group for point in seen for group in members(point)))
    shown = groups[:MAX_GROUPS]
    rows = [
        [*point.settings.values(), *(share(members(point).get(group, [])) for group in shown)]
        for point in seen
    ]
    headers = [*paths, *(f"{group}\nshare\n[%]" for group in shown)]
    if shown:
        print_table(headers, rows, names=len(paths))
    if len(groups) > len(shown):
        typer.echo(f"... and {len(groups) - len(shown)} more stations: see the saved tables\n")

    for list_name in ("cells", "classes", "links", "queues"):
        print_list(list_name, seen, paths)
    if len(result.points) > len(seen):
        typer.echo(f"... and {len(result.points) - len(seen)} more points: see the saved tables\n")


def print_list(list_name: str, points: Sequence[Point], paths: list[str]) -> None:
    """Print one list of the results, such as ``cells``: a row per grid point and item."""
    results = [(point, item) for point in points for item in printed(point.summary, list_name)]
    items = [item for _, item in results]
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
        for point, item in results
    ]
    titles = [*paths, TITLES[list_name]] if many else paths
    headers = [*titles, *(column.header for column in columns)]
    if columns:
        print_table(headers, rows, names=len(titles))


def print_quantity(result: Sweep, asked: str) -> bool:
    """Print one quantity: a row per grid point, and a column per item that has the quantity.
    Return whether any point has the quantity.
    """
    list_name, _, quantity = asked.rpartition(".")
    seen = result.points[:MAX_ROWS]
    for each in [list_name] if list_name else registry()[quantity].lists:
        column = column_of(each, quantity)
        cells = [
            {str(item["name"]): column.cell(item) for item in point.summary.get(each, ())}
            for point in seen
        ]
        names = list(
            dict.fromkeys(n for known in cells for n, cell in known.items() if cell != "-")
        )
        if names:
            break
    else:
        return False
    rows = [
        [*point.settings.values(), *(known.get(name, "-") for name in names)]
        for point, known in zip(seen, cells, strict=True)
    ]
    headers = [*result.paths, *(f"{name}\n{column.header}" for name in names)]
    print_table(headers, rows, names=len(result.paths))
    return True


def no_point_has(asked: str, point: Point) -> UserError:
    """Return the error for a quantity that no point has, with the quantities of the same items."""
    list_name, _, quantity = asked.rpartition(".")
    lists = [list_name] if list_name else registry()[quantity].lists
    items = [(each, item) for each in lists for item in point.summary.get(each, ())]
    known = dict.fromkeys(f"{each}.{key}" for each, item in items for key in item)
    names = [name for name in known if name.rpartition(".")[2] in registry()]
    expected = f"; expected one of {', '.join(names)}" if names else ""
    return UserError(f"--show {asked}: no point has this quantity{expected}")


def members(point: Point) -> dict[str, list[Mapping[str, Any]]]:
    """Return the results of a grid point's stations, grouped by their table in the scenario."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    stations = point.scenario.typed.stations
    for station, result in zip(stations, point.summary.get("stations", ()), strict=True):
        groups.setdefault(station.group, []).append(result)
    return groups


def share(stations: list[Mapping[str, Any]]) -> str:
    """Return the goodput share of a station with its interval, or the mean share of a table's
    stations.
    """
    column = next(each for each in COLUMNS["stations"] if each.quantity == "goodput_share")
    if len(stations) == 1:
        return column.cell(stations[0])
    shares = [Estimate.read(each[column.quantity]) for each in stations if column.quantity in each]
    means = [share.mean for share in shares if share is not None]
    if not means or len(means) < len(shares):
        return "-"
    return f"{plain(100 * sum(means) / len(means))} each of {len(stations)}"
