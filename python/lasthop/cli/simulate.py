"""`lasthop simulate`."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.answers.digits import span
from lasthop.answers.overwrite import CAPTURE, refuse_foreign, refuse_if_foreign
from lasthop.answers.saving import MAX_FRAMES, RESULT_FILES
from lasthop.cli import options
from lasthop.cli.boundary import Interrupted, print_either, print_warnings, simulating, warn
from lasthop.cli.footer import print_footer, print_notes
from lasthop.cli.options import (
    File,
    file_name,
    flag,
    out_option,
    read_scenario,
    unset,
    writable,
    writable_file,
)
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture, tell
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.screen import echo
from lasthop.cli.tables import print_answer
from lasthop.display.delays import Delays
from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CellScenario
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import simulate as run

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

EXAMPLE = "write --air 1s..1.02s"


def simulate(
    file: File,
    replications: str | None = options.REPLICATIONS,
    seed: str | None = options.SEED,
    jobs: int | None = options.JOBS,
    settings: list[str] | None = options.SETTINGS,
    series: str | None = unset(
        "TIME", 'Record time series of the first replication at this interval, such as "0.1 s".'
    ),
    tails: bool = flag(
        "--tails",
        "Also report quantities that averages do not show: Jain's index per second, "
        "starved stations, and the 99th percentile of the queueing delay.",
    ),
    out: Path | None = out_option(
        "The files are the result and its tables. By default no files are written."
    ),
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    pcapng: Path | None = unset(
        "FILE", "Write the frames of the first replication, for Wireshark.", parser=file_name
    ),
    air: str | None = unset(
        "FROM..TO",
        "Draw the frames on the air in this interval of the first replication, such as 1s..1.02s.",
    ),
    max_time: float | None = options.RUN_TIME,
    max_memory: float = options.SERIES_MEMORY,
    timing: bool = flag(
        "--timing",
        "Print the run time and the CPU time on standard error: of the simulation, and of the "
        "whole answer with its tables, explanation and files.",
    ),
    as_json: bool = options.JSON,
) -> None:
    """Simulate a scenario packet by packet.

    `lasthop explain TERM` explains a term of the output, such as Jain or airtime_fraction.
    """
    scenario = read_scenario(file, settings, replications=replications, seed=seed, series=series)
    if out is not None:
        writable(out)
        no_folders_for_tables(out)
        refuse_foreign(out, RESULT_FILES)
    elif series is not None and plot is None:
        raise UserError(
            f"{options.as_given('--series', series)}: no option saves or draws the time series: "
            "expected --out DIR or --plot as well"
        )
    shown = None if air is None else stretch(air, scenario)
    if air is not None and series is not None:
        raise UserError(f"--air {air}: cannot be combined with --series: only one picture is drawn")
    asked = "" if shown and plot is None else plot
    parts = () if asked is None else changed(scenario, ("series", series), ("air", air))
    picture = picture_path(asked, scenario, "simulate", parts, out)
    reported = report_path(report, anonymise, file)
    if reported is not None:
        scenario = with_series(scenario)
    frames = None
    if pcapng is not None:
        refuse_without_cell(f"--pcapng {pcapng}", scenario)
        writable_file(pcapng, "--pcapng", file)
        refuse_if_foreign(pcapng, CAPTURE)
    if pcapng is not None or shown is not None:
        frames = scenario.typed.record.frames or MAX_FRAMES
    clock = Clock()
    with simulating() as progress:
        result = run(
            scenario,
            frames=frames,
            tails=tails or reported is not None,
            jobs=jobs,
            progress=progress,
            max_time_s=max_time,
            max_memory_bytes=max_memory,
        )
    simulation_s = clock.seconds()
    try:
        if out is not None:
            result.save(out)
        if pcapng is not None:
            result.save_capture(pcapng)
            if result.frames_full:
                warn(f"{pcapng}: ends after {result.frame_count} frames")
    finally:  # The result is printed even if the disk is full.
        print_either(as_json, result.to_json, lambda: print_result(result))
    if out is not None:
        tell("result and tables", out, as_json=as_json)
    if pcapng is not None:
        tell("capture", pcapng, as_json=as_json)
    print_warnings(result)
    save_picture(drawn(result, series, shown), picture, as_json=as_json)
    save_report(result, reported, anonymise, as_json=as_json)
    if timing:
        print_timing(result, simulation_s, clock.seconds())
    finish(result)


def with_series(scenario: Scenario) -> Scenario:
    """Return the scenario with sampling of time series enabled, because a report shows them."""
    from lasthop.report.report import series_interval_s

    if scenario.typed.record.series_interval_s is not None:
        return scenario
    interval_s = series_interval_s(scenario.typed.duration_s)
    return scenario.with_("record.series_interval", f"{interval_s:g} s")


def drawn(
    result: Result, series: str | None, stretch: tuple[float, float] | None
) -> "Callable[[], Figure]":
    """Return a function that draws frames (--air), time series (--series), or the main picture."""
    if stretch is not None:
        return lambda: air_figure(result, *stretch)
    return (lambda: result.plot.series()) if series is not None else (lambda: result.plot())


def air_figure(result: Result, from_s: float, to_s: float) -> "Figure":
    """Return the picture of --air."""
    try:
        return result.plot.air(from_s, to_s)
    except UserError as error:
        raise UserError(f"--air: {error}", error.hint) from None


def stretch(text: str, scenario: Scenario) -> tuple[float, float]:
    """Return the interval of simulated time from --air. [s]"""
    from lasthop.scenario.values import read_range, sizes

    option = options.as_given("--air", text)
    refuse_without_cell(option, scenario)
    result = read_range(text, "--air")
    if result is None or result.step is not None or result.count is not None:
        raise UserError(f"{option}: expected FROM..TO", EXAMPLE)
    ends = [sizes().get(end.unit or result.high.unit) for end in (result.low, result.high)]
    known = [end for end in ends if end is not None and end[0] == "s"]
    if len(known) < 2:
        raise UserError(f"{option}: the times must have a unit", EXAMPLE)
    from_s, to_s = (
        float(end.number * size)
        for end, (_, size) in zip((result.low, result.high), known, strict=True)
    )
    duration_s = scenario.typed.duration_s
    if not 0.0 <= from_s < to_s <= duration_s:
        raise UserError(
            f"{option}: expected FROM before TO, and both within the run of {duration_s:g} s",
            EXAMPLE,
        )
    return from_s, to_s


def refuse_without_cell(option: str, scenario: Scenario) -> None:
    """Raise an error for an option about frames if the scenario has no cell."""
    if not isinstance(scenario.typed, CellScenario):
        raise UserError(f"{option}: {scenario.source} has no cell, and therefore no frames")


def no_folders_for_tables(directory: Path) -> None:
    """Raise an error before the run if an output file has the name of an existing directory."""
    for path in (directory / name for name in RESULT_FILES):
        if path.is_dir():
            raise UserError(f"--out {directory}: {path} is a directory: expected a file")


def finish(result: Result) -> None:
    """After Ctrl-C, raise an error with the number of finished replications; else do nothing."""
    if result.interrupted:
        asked = result.scenario.typed.replications
        raise Interrupted(f"the result has {result.replications} of {asked} replications")


def print_result(result: Result) -> None:
    """Print verdicts on calls, number and duration of the runs, tables, and a short explanation."""
    delays = Delays.of(result)
    print_runs(result, delays)
    print_answer(result, delays)
    print_footer(result.scenario, result)
    print_notes(result.notes)


def print_runs(result: Result, delays: Delays) -> None:
    """Print the heading: name of the scenario, verdicts on calls, number and duration of the
    runs.
    """
    heading = result.heading
    interval = "± is a 95 % interval" if result.replications > 1 else "one run: no intervals"
    runs = (
        f"{result.replications} x {span(heading.duration_s)}, first {heading.warmup_s:g} s "
        f"cut, seed {result.seed}; {interval}\n"
    )
    echo("\n".join([heading.scenario, *delays.headlines(), runs]))


class Clock:
    """Clock that starts when it is made."""

    def __init__(self) -> None:
        self.started = time.perf_counter(), time.process_time()

    def seconds(self) -> tuple[float, float]:
        """Return the real time and the CPU time since the start. [s]"""
        wall, cpu = self.started
        return time.perf_counter() - wall, time.process_time() - cpu


def print_timing(
    result: Result, simulation_s: tuple[float, float], answer_s: tuple[float, float]
) -> None:
    """Print real time and CPU time of the whole answer, and of the simulation in it, on standard
    error. Results never contain these times.
    """
    from lasthop.cli.progress import speed

    simulated = result.replications * result.heading.duration_s
    wall, cpu = simulation_s
    print(
        f"timing: {answer_s[0]:.2f} s, {answer_s[1]:.2f} s of CPU time; simulation {wall:.2f} s, "
        f"{cpu:.2f} s of CPU time, {speed(simulated / wall)} simulated seconds per second",
        file=sys.stderr,
    )
