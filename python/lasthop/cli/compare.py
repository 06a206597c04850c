"""`lasthop compare`."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import typer

from lasthop.answers.digits import estimate, plain, signed
from lasthop.cli.boundary import print_either, print_warnings, simulating, warn
from lasthop.cli.footer import print_footer
from lasthop.cli.model import MODEL
from lasthop.cli.options import (
    JOBS,
    JSON,
    MAX_MEMORY,
    MAX_TIME,
    OPTIONS,
    REPLICATIONS,
    SEED,
    SETTINGS,
    File,
    flag,
    model_options,
    out_option,
    read_scenario,
    unset,
)
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture
from lasthop.cli.progress import emulation_bar
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.simulate import finish, print_runs
from lasthop.cli.tables import print_table
from lasthop.comparison.compare import OF_MEASURED, Comparison, Row, check_emulation, with_emulation
from lasthop.comparison.compare import compare as compare_results
from lasthop.display.compared import MEASURED_DIFFERENCE, SHOWN, measured_difference
from lasthop.display.delays import MAX_ROWS, Delays
from lasthop.display.stability import stability_lines
from lasthop.extras import need
from lasthop.measured import measurements
from lasthop.scenario.typed import CsmaScenario

OF_DELAYS = ("one_way_delay_s", "loss_probability")
"""Quantities that are printed first if the scenario has calls or other delay-sensitive traffic."""

LAST = ("stations", "flows")
"""Lists whose rows are printed after the rows of all other lists."""

OF_PREDICTION = (2, 4)
"""Places of the columns that are omitted if there is no prediction."""

MAX_ITEMS = 12
"""Maximum number of rows per quantity in the table; --json prints all rows."""


def compare(
    file: File,
    model: str | None = MODEL,
    options: list[str] | None = OPTIONS,
    replications: str | None = REPLICATIONS,
    seed: str | None = SEED,
    jobs: int | None = JOBS,
    settings: list[str] | None = SETTINGS,
    out: Path = out_option("The file is a picture of the comparison.", Path("out")),
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    emulate: bool = flag(
        "--emulate", "Also emulate the scenario in real time with the TCP of Linux; needs root."
    ),
    virtual: bool = flag(
        "--virtual",
        "Also emulate the scenario in simulated time with the TCP of Linux; needs no root.",
    ),
    measured: list[str] | None = unset(
        "[NAME=]FILE",
        "Compare with a measurement: a file of flent, iperf3 --json, ping or irtt, or a "
        "result.json. NAME is the measured station, flow or queue; by default the file has all "
        "flows, in the order of the scenario.",
    ),
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Predict and simulate a scenario, and compare the results in a table and a picture.

    With --measured, the table also has measurements of a real network. NAME=FILE is the measurement
    of one station or flow: the uploads and the downloads in the file are matched, in order, to the
    flows of NAME. FILE without a name is the measurement of all flows. If the numbers of streams
    and flows differ, only sums are compared. The command prints which stream it matched to which
    flow.
    """
    need("lasthop compare")
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    files = [measurement(text) for text in measured or []]
    # Report errors in measurements before the simulation.
    others = measurements(scenario, files)
    if others is not None:
        warn(*others.unused)
    given = model_options(options)
    # A measurement of one station or flow is `NAME=FILE`, of which the name of a picture has FILE.
    measured_files = [("measured", Path(path).stem) for _, path in files]
    parts = changed(scenario, ("model", model), *given.items(), *measured_files)
    picture = picture_path(plot or "", scenario, "compare", parts, out)
    reported = report_path(report, anonymise, file)
    if emulate or virtual:
        check_emulation(scenario, f"lasthop compare --{'virtual' if virtual else 'emulate'}")
    with simulating() as progress:
        comparison = compare_results(
            scenario,
            model=model,
            options=given,
            jobs=jobs,
            progress=progress,
            measured=others or (),
            max_time_s=max_time,
            max_memory_bytes=max_memory,
        )
    if emulate or virtual:
        with emulation_bar("emulating", virtual=virtual) as emulated:
            comparison = with_emulation(comparison, emulated, virtual=virtual)
    print_either(as_json, comparison.to_json, lambda: print_comparison(comparison, given))
    save_picture(comparison.figure, picture, as_json=as_json)
    save_report(comparison, reported, anonymise, as_json=as_json)
    answers = (comparison.prediction, comparison.simulation, comparison.emulation)
    print_warnings(*(answer for answer in answers if answer is not None))
    if comparison.emulation is not None:
        from lasthop.cli.emulate import print_lateness

        print_lateness(comparison.emulation)
    finish(comparison.simulation)


def measurement(text: str) -> tuple[str, str]:
    """Return name and file from a value of --measured. The path of an existing file may contain
    "=".
    """
    name, equals, rest = text.partition("=")
    if not equals or Path(text).exists():
        return "", text
    return name.strip(), rest


def print_comparison(comparison: Comparison, options: Mapping[str, object]) -> None:
    """Print each quantity: predicted value, simulated value with interval, and difference."""
    delays = Delays.of(comparison.simulation)
    print_runs(comparison.simulation, delays)
    if comparison.emulation is not None:
        count = comparison.emulation.heading.replications
        times = "once" if count == 1 else f"{count} times"
        typer.echo(f"emulated {times} in {comparison.emulation.clock}\n")
    for table in delays.tables():
        typer.echo(f"simulated {table.title}:")
        print_table(table.heads, table.rows, table.names, MAX_ROWS)
    if options and comparison.prediction is not None:
        given = ", ".join(f"{name} {value}" for name, value in options.items())
        model = comparison.prediction.model
        typer.echo(f"model {model} with {given}; the simulation has no such option\n")
    if comparison.refusal is not None:
        for reason in comparison.refusal.replace("; breaks ", "\nbreaks ").splitlines():
            typer.echo(f"no prediction: the scenario {reason}")
        typer.echo()
    # Except in a conflict graph, rows of stations and classes replace the rows of flows.
    summed = not isinstance(comparison.scenario.typed, CsmaScenario)
    rows = []
    first = OF_DELAYS if delays else ()
    order = (*first, *(quantity for quantity in SHOWN if quantity not in first))
    for quantity in order:
        title, scale = SHOWN[quantity]
        chosen = [
            row
            for row in comparison.rows
            if row.quantity == quantity
            and not (
                summed
                and row.list == "flows"
                and not of_interest(row)
                and not comparison.is_only_loss(row)
                and not comparison.is_of_pings(row)
            )
            and not comparison.repeats_a_node(row)
        ]
        # First print the rows of the cell and the access point, then those of stations, then flows.
        last = LAST if summed else LAST[:1]
        chosen.sort(key=lambda row: last.index(row.list) if row.list in last else -1)
        # If only one row would be omitted, print it instead of a line "... and 1 more".
        most = MAX_ITEMS + 1 if len(chosen) == MAX_ITEMS + 1 else MAX_ITEMS
        shown = [[row.name, *numbers(row, scale)] for row in chosen[:most]]
        if quantity == "period_s":
            shown = [[row.name, *periods(row, comparison)] for row in chosen[:most]]
        if comparison.emulation is not None:
            for cells, row in zip(shown, chosen, strict=False):
                cells.append(with_interval(row.emulated, row.emulated_ci95, scale))
        if comparison.measured is not None:
            for cells, row in zip(shown, chosen, strict=False):
                cells.append(with_interval(row.measured, row.measured_ci95, scale))
                cells.append(measured_difference(row, scale))
        if len(chosen) > most:
            rest = [""] * (len(shown[0]) - 1)
            shown.append([f"... and {len(chosen) - most} more", *rest])
        rows += [[title if index == 0 else "", *row] for index, row in enumerate(shown)]
    headers = ["quantity", "item", "predicted", "simulated", "difference"]
    if comparison.emulation is not None:
        headers.append("emulated")
    if comparison.measured is not None:
        headers += ["measured", MEASURED_DIFFERENCE]
    if comparison.prediction is None:
        headers = without(headers, OF_PREDICTION)
        rows = [without(row, OF_PREDICTION) for row in rows]
    print_table(headers, rows, names=2, most=None)
    if comparison.beyond_stated:
        typer.echo("".join(f"{line}\n" for line in comparison.beyond_stated))
    if comparison.measured is not None:
        typer.echo("".join(f"measured: {line}\n" for line in comparison.measured.matched))
    if comparison.prediction is not None:
        for line in stability_lines(comparison.prediction.contents, with_time=True):
            typer.echo(line)
    print_footer(comparison.scenario, comparison.simulation)


def of_interest(row: Row) -> bool:
    """Return whether the row of a flow is shown in addition to the rows of stations, because it has
    a measured value.
    """
    return row.measured is not None and row.quantity in OF_MEASURED


def with_interval(mean: float | None, half: float | None, scale: float) -> str:
    """Return an emulated or measured value as text, with its interval if there are several runs."""
    return estimate(None if mean is None else mean * scale, None if half is None else half * scale)


def without(cells: Sequence[str], places: Collection[int]) -> list[str]:
    """Return the cells of a row, except those at the given places."""
    return [cell for place, cell in enumerate(cells) if place not in places]


def periods(row: Row, comparison: Comparison) -> list[str]:
    """Return the periods of the fluid model's limit cycle and of the simulated queue, and their
    difference, as text.

    If there is no period, the text says so."""
    [oscillation] = [each for each in comparison.oscillations if each.queue == row.name]
    predicted, simulated, difference = numbers(row, 1.0)
    if oscillation.stable:
        predicted = "none"
    if row.simulated is None:
        simulated = f"none up to {plain(oscillation.longest_s)}"
    return [predicted, simulated, difference]


def numbers(row: Row, scale: float) -> list[str]:
    """Return predicted value, simulated value and difference as text."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    half = scaled(row.ci95)
    return [
        plain(scaled(row.predicted)),
        estimate(scaled(row.simulated), half),
        signed(scaled(row.difference), half),
    ]
