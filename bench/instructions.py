"""Count the instructions per delivered segment with callgrind, and compare them with stored counts.

The counted program is the engine's example `summary`. The script also counts the instructions of
short commands (`start_up`).

    make bench ONLY=instructions                     full form: all cases
    .venv/bin/python bench/instructions.py --short   the form that `make test-long PART=rust` runs

A count is the slope between two runs: of 20 s and 30 s in the full form, and of 4 s and 6 s in the
short form. Three cases have durations of their own (`Case.runs`).

CPU time depends on the load of the machine, and the number of instructions does not. The stored
counts are in instructions.toml, and are valid for one version of the compiler.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tomllib
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import hot_spots
import start_up
from measure import BenchError, callgrind, require_release_build
from peers import apt_install

HERE = Path(__file__).parent
COUNTS_FILE = HERE / "instructions.toml"
#: Largest accepted excess over the stored count, as a fraction. [-]
MAX_EXCESS = 0.03

Form = Literal["full", "short"]
RUNS: Mapping[Form, tuple[float, float]] = {"full": (20, 30), "short": (4, 6)}
"""Simulated times of the two runs of a case, in the full and in the short form of the benchmark.
The instructions per segment are the slope between the two runs. [s]"""

RED = "{ limit = 2084, red = { min_th = 50, max_th = 100 } }"
CELL = HERE / "cases" / "seven.toml"
AGGREGATES = HERE / "cases" / "aggregates_of_32.toml"
ROUTER = HERE / "cases" / "dumbbell.toml"
STATIONS_200 = HERE / "cases" / "crowd.toml"


@dataclass(frozen=True)
class Case:
    """A scenario file, and settings that replace settings of the file."""

    file: Path
    settings: tuple[str, ...] = ()
    #: Simulated times of the two runs of this case; None for the default. [s]
    runs: tuple[float, float] | None = None


FLOWS_1800 = ("dumbbell.flows=1800", "dumbbell.bottleneck=3 Gbps", "queue=450")
"""Settings for thirty times as many flows, at thirty times the rate. All flows start within the
first second."""

CASES: Mapping[str, Case] = {
    "cell, 7 stations": Case(CELL),
    "cell, 7 stations, aggregates of 32": Case(AGGREGATES),
    "router, 10 ms, drop-tail": Case(ROUTER),
    "router, 1,800 flows, start-up": Case(ROUTER, FLOWS_1800, (0.2, 1.2)),
    "router, 10 ms, RED": Case(ROUTER, (f"queue={RED}",)),
    "router, 10 ms, FQ-CoDel": Case(ROUTER, ("queue={ fq_codel = {} }",)),
    "router, 10 ms, CAKE": Case(ROUTER, ("queue={ cake = {} }",)),
    "router, 200 ms, RED": Case(ROUTER, (f"queue={RED}", "dumbbell.rtt=200 ms")),
    "router, 10 ms, RED, SACK": Case(ROUTER, (f"queue={RED}", "tcp.sack=true")),
    "router, 50 ms, BBR": Case(
        ROUTER, ("queue=1000", "dumbbell.rtt=50 ms", "tcp.congestion=bbr"), runs=(4, 6)
    ),
    "router, 50 ms, BBR v3": Case(
        ROUTER, ("queue=1000", "dumbbell.rtt=50 ms", "tcp.congestion=bbr3"), runs=(4, 6)
    ),
    "cell, 200 stations, 802.11ax": Case(STATIONS_200, runs=(2, 3)),
}


@dataclass(frozen=True)
class Run:
    """Result of one run under callgrind."""

    instructions: int
    #: Number of segments delivered after the warm-up.
    segments: float


def run(program: Path, case: Case, duration_s: float, warmup_s: float) -> Run:
    """Run one replication and count its instructions."""
    settings = [f"duration={duration_s:g} s", f"warmup={warmup_s:g} s", "replications=1"]
    argv = [str(program), str(case.file), "1", *settings, *case.settings]
    instructions, printed = callgrind(argv)
    [totals] = json.loads(printed)["totals"]
    return Run(instructions, totals["packets_delivered"]["mean"])


def measure(program: Path, names: list[str], form: Form) -> dict[str, float]:
    """Return the instructions per segment of each case. Each processor runs one case at a time."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def begin(name: str) -> list[Future[Run]]:
            case = CASES[name]
            short_s, long_s = case.runs or RUNS[form]
            return [pool.submit(run, program, case, s, short_s / 2) for s in (long_s, short_s)]

        pairs = {name: begin(name) for name in names}
        return {
            name: slope(*(process.result() for process in pair)) for name, pair in pairs.items()
        }


def slope(long: Run, short: Run) -> float:
    """Return the instructions per segment, computed from the difference of two runs."""
    return (long.instructions - short.instructions) / (long.segments - short.segments)


def has_valgrind() -> bool:
    """Return whether valgrind is available. If it is missing, try to install it."""
    if shutil.which("valgrind") is None:
        try:
            apt_install("valgrind")
        except BenchError as error:
            print(error)
    return shutil.which("valgrind") is not None


def main(form: Form) -> list[str]:
    """Print the tables of segments and of short commands. Return a message for each count above its
    limit.
    """
    if not has_valgrind():
        print("instructions: not measured: valgrind is not installed")
        return ["no instructions were counted"] if os.environ.get("CI") == "true" else []
    stored = tomllib.loads(COUNTS_FILE.read_text())
    return [*segments(stored, form), *start_up.main(stored["start"])]


def segments(stored: Mapping[str, Any], form: Form) -> list[str]:
    """Print the instructions per segment of each case. Return a message for each case above its
    limit.
    """
    stored_counts: dict[str, int] = stored[form]
    version = hot_spots.run(["rustc", "--version"]).stdout.strip()
    is_checked = (version, platform.machine()) == (stored["rustc"], stored["machine"])
    measured = measure(hot_spots.program("summary"), list(stored_counts), form)
    print(f"instructions per segment, {version}, {platform.machine()}")
    missed = []
    for name, count in measured.items():
        stored_count = stored_counts[name]
        print(
            f"  {name:34} {count:6.0f}  {count / stored_count - 1:+6.1%} relative to {stored_count}"
        )
        missed.extend(excess(name, count, stored_count))
    if not is_checked:
        made_with = f"{stored['rustc']}, {stored['machine']}"
        print(f"  not checked: the counts in {COUNTS_FILE.name} are for {made_with}")
    return missed if is_checked else []


def excess(name: str, count: float, stored_count: int) -> list[str]:
    """Return a message if a count is above its limit, and otherwise an empty list."""
    limit = stored_count * (1 + MAX_EXCESS)
    if count <= limit:
        return []
    accepted = f"at most {limit:.0f} ({stored_count} + {MAX_EXCESS:.0%})".replace("%", " %")
    return [f"{name}: {count:.0f} instructions per segment; expected {accepted}"]


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="instructions per delivered segment")
    parser.add_argument("--short", action="store_true", help="fewer cases, shorter runs")
    try:
        too_many = main("short" if parser.parse_args().short else "full")
    except BenchError as error:
        sys.exit(f"error: {error}")
    sys.exit("\n".join(f"missed: {line}" for line in too_many) or 0)
