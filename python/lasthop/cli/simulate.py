"""`lasthop simulate`."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from lasthop.cli.boundary import Interrupted, print_either, simulating, warn
from lasthop.cli.options import (
    File,
    Jobs,
    Json,
    Replications,
    Seed,
    Settings,
    directory,
    file_name,
    read_scenario,
    unset,
    writable,
    writable_file,
)
from lasthop.cli.predict import print_warnings
from lasthop.cli.tables import print_answer
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.models.reading import CellScenario
from lasthop.ownership import refuse_foreign
from lasthop.result import Result
from lasthop.run import simulate as run
from lasthop.saving import MOST_FRAMES, RESULT_FILES


def simulate(
    file: File,
    replications: Replications = None,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Settings = None,
    series: Annotated[
        str | None,
        unset("TIME", 'Record time series of the first replication this often: "0.1 s".'),
    ] = None,
    tails: Annotated[
        bool,
        typer.Option(
            "--tails",
            help="Measure also what means hide in a cell: Jain's index second by second, stations "
            "that starve, the 99th percentile of the time in its queues.",
        ),
    ] = False,
    out: Annotated[
        Path | None, directory("Write result.json, record.json, and all tables as Parquet and CSV.")
    ] = None,
    pcapng: Annotated[
        Path | None,
        unset(
            "FILE", "Write the frames of the first replication, for Wireshark.", parser=file_name
        ),
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Print time spent to standard error.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Simulate a scenario packet by packet."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed, series=series)
    if out is not None:
        need("lasthop simulate --out", "pandas", "pyarrow")
        writable(out)
        no_folders_for_tables(out)
        refuse_foreign(out, RESULT_FILES)
    elif series is not None:
        raise UserError(f"--series {series}: --out DIR is needed, where the series go")
    frames = None
    if pcapng is not None:
        if not isinstance(scenario.typed, CellScenario):
            raise UserError(f"--pcapng {pcapng}: {scenario.source} has no cell, and no frames")
        writable_file(pcapng, "--pcapng", file)
        frames = scenario.typed.record.frames or MOST_FRAMES
    wall, cpu = time.perf_counter(), time.process_time()
    with simulating() as progress:
        result = run(scenario, frames=frames, tails=tails, jobs=jobs, progress=progress)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    try:
        if out is not None:
            result.save(out)
        if pcapng is not None:
            result.save_capture(pcapng)
            if result.frame_count == frames:
                warn(f"{pcapng}: ends after {frames} frames")
    finally:  # A full disk must not cost the result.
        print_either(as_json, result.to_json, lambda: print_result(result))
    print_warnings(result)
    if timing:
        print_timing(result, wall, cpu)
    finish(result)


def no_folders_for_tables(directory: Path) -> None:
    """Refuse folders that stand where files are to be written, before the run."""
    for path in (directory / name for name in RESULT_FILES):
        if path.is_dir():
            raise UserError(f"--out {directory}: {path} is a directory, not a file")


def finish(result: Result) -> None:
    """Say what Ctrl-C left, and exit accordingly."""
    if result.interrupted:
        asked = result.scenario.typed.replications
        raise Interrupted(f"{result.replications} of {asked} replications kept")


def print_result(result: Result) -> None:
    """The result as tables."""
    print_runs(result)
    print_answer(result.summary, result.scenario.typed)


def print_runs(result: Result) -> None:
    """What was simulated: its name, and how often and how long."""
    summary = result.summary
    interval = "± is a 95 % interval" if result.replications > 1 else "one run: no intervals"
    typer.echo(
        f"{summary['scenario']}\n{result.replications} x {summary['duration_s']:g} s, first "
        f"{summary['warmup_s']:g} s cut, seed {result.seed}; {interval}\n"
    )


def print_timing(result: Result, wall: float, cpu: float) -> None:
    """Time spent, on standard error: it never is part of a result."""
    simulated = result.replications * result.summary["duration_s"]
    print(
        f"timing: {wall:.2f} s, {cpu:.2f} s of processor time, "
        f"{simulated / wall:,.0f} simulated seconds a second",
        file=sys.stderr,
    )
