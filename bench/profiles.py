"""Write bench/profiles.md: the functions and lines that cost the engine most per segment.

    .venv/bin/python bench/profiles.py             all cases; writes the page; two minutes
    .venv/bin/python bench/profiles.py --only RED  prints the cases whose names match

The cases are those of `instructions.py`, and the minimal programs (`lean.py`). Each case runs with
two durations under callgrind, which simulates the L1 data cache and the branch predictor. A cost is
the difference of the two runs, divided by the difference of the delivered segments. All counts
depend only on the compiled program and the simulated cache.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import hot_spots
import instructions
import lean
from callgrind_profile import Profile, read_profile
from kernel_tcp import pattern
from measure import ONE_LIBC, BenchError, require_release_build
from pages import table
from peers import must

HERE = Path(__file__).parent
PAGE = HERE / "profiles.md"
SUMMARY = "Summary"
L1_CACHES = {"32 kB": "32768,8,64", "48 kB": "49152,12,64"}
"""L1 data caches as size, number of ways, and length of a cache line. [bytes]"""
OTHER_CACHES = ("--I1=32768,8,64", "--LL=33554432,16,64")
"""The other caches, which are the same in all runs."""
DURATIONS_S = (4.0, 6.0)
"""Simulated times of the two runs of a minimal program. [s]"""
ROWS = 14
"""Largest number of rows of a table of functions or lines."""
LEAST = 0.01
"""Smallest fraction of a case's instructions for a row. [-]"""
WIDTH = 70
"""Largest length of a line of source code in a table. [characters]"""


@dataclass(frozen=True)
class Program:
    """A case: the command of a program, and how to read the number of delivered segments."""

    command: Sequence[str]
    durations_s: tuple[float, float]
    is_minimal: bool = False

    def argv(self, duration_s: float) -> list[str]:
        """Return the command with its duration and warm-up."""
        warmup_s = self.durations_s[0] / 2
        if self.is_minimal:
            program, *settings = self.command
            return [program, f"{duration_s:g}", f"{warmup_s:g}", "1", *settings]
        return [*self.command, f"duration={duration_s:g} s", f"warmup={warmup_s:g} s"]

    def segments(self, printed: str) -> float:
        """Return the number of segments delivered after the warm-up."""
        if self.is_minimal:
            return float(printed.split("delivered ", 1)[1].split()[1])
        [totals] = json.loads(printed)["totals"]
        return float(totals["packets_delivered"]["mean"])


@dataclass(frozen=True)
class Costs:
    """Costs per delivered segment."""

    instructions: float
    misses: tuple[float, ...]
    """Misses in each of `L1_CACHES`."""
    mispredicted: float

    def cells(self) -> list[str]:
        """Return the costs as the cells of a row."""
        rare = (*self.misses, self.mispredicted)
        return [f"{self.instructions:.0f}", *(f"{max(each, 0.0):.2f}" for each in rare)]


HEAD = (
    "instructions per segment",
    *(f"L1 data cache misses, {name}" for name in L1_CACHES),
    "mispredicted branches",
)


@dataclass(frozen=True)
class Measured:
    """Costs of a case in all, and by function and line."""

    total: Costs
    functions: Mapping[str, Costs]
    lines: Mapping[str, Costs]


def programs() -> dict[str, Program]:
    """Return all cases. Compile the programs that are missing."""
    summary = str(hot_spots.program("summary"))

    def ours(case: instructions.Case) -> Program:
        words = [summary, str(case.file), "1", "replications=1", *case.settings]
        return Program(words, case.runs or instructions.RUNS["short"])

    minimal_cell, minimal_router = compiled_minimal_programs()
    cell = [minimal_cell, "7", "1", str(lean.QUEUE)]
    router = [minimal_router, "60"]
    return {
        **{name: ours(case) for name, case in instructions.CASES.items()},
        "minimal program, cell, 7 stations": Program(cell, DURATIONS_S, True),
        "minimal program, one event per hop, router, 10 ms": Program(
            [*router, "10", "15", "hops"], DURATIONS_S, True
        ),
        "minimal program, one event per hop, router, 200 ms": Program(
            [*router, "200", "15", "hops"], DURATIONS_S, True
        ),
    }


def compiled_minimal_programs() -> list[str]:
    """Compile the minimal programs with line numbers. Return the paths of the programs."""
    lean.install()
    built = []
    for program in (lean.CELL, lean.ROUTER):
        source = HERE / "peers" / f"{program.name.replace('-', '_')}.cc"
        with_lines = program.with_name(f"{program.name}-lines")
        must(["g++", "-std=c++17", "-O3", "-g", str(source), "-o", str(with_lines)])
        built.append(str(with_lines))
    return built


def measure(program: Program) -> Measured:
    """Run a case under callgrind with each cache, and return its costs."""
    profiles, segments = [], 0.0
    for cache in L1_CACHES.values():
        (short, few), (long, many) = (profile_of(program, s, cache) for s in program.durations_s)
        profiles.append(long.minus(short))
        segments = many - few

    def costs(by_cache: Sequence[Counter[str]]) -> Costs:
        count = by_cache[0]
        return Costs(
            count["Ir"] / segments,
            tuple((each["D1mr"] + each["D1mw"]) / segments for each in by_cache),
            (count["Bcm"] + count["Bim"]) / segments,
        )

    def by_name(tables: Sequence[Mapping[str, Counter[str]]]) -> dict[str, Costs]:
        return {name: costs([each.get(name, Counter()) for each in tables]) for name in tables[0]}

    return Measured(
        costs([profile.totals for profile in profiles]),
        by_name([profile.functions for profile in profiles]),
        by_name([profile.lines for profile in profiles]),
    )


def profile_of(program: Program, duration_s: float, cache: str) -> tuple[Profile, float]:
    """Run a program under callgrind. Return its profile and the number of delivered segments."""
    with tempfile.NamedTemporaryFile("r", suffix=".callgrind") as file:
        simulated = ["--cache-sim=yes", "--branch-sim=yes", f"--D1={cache}", *OTHER_CACHES]
        argv = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file.name}", *simulated]
        argv += program.argv(duration_s)
        env = {**os.environ, **ONE_LIBC}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"`{' '.join(argv)}` exited with {done.returncode}\n{done.stderr}")
        return read_profile(file), program.segments(done.stdout)


# -- the page -----------------------------------------------------------------------------------


def largest(costs: Mapping[str, Costs], total: Costs) -> list[tuple[str, Costs]]:
    """Return the entries with most instructions, in decreasing order."""
    ordered = sorted(costs.items(), key=lambda entry: -entry[1].instructions)
    return [each for each in ordered[:ROWS] if each[1].instructions > LEAST * total.instructions]


def function_name(name: str) -> str:
    """Return the name of a function without the path of its crate and without its type arguments'
    paths.
    """
    short = re.sub(r"\b(?:[a-z_0-9]+::)+(?=[A-Z<{])", "", name.removeprefix("lasthop_engine::"))
    return f"`{short[:WIDTH]}`"


def line_name(place: str) -> str:
    """Return the place of a line, and its source code if the line is in this project."""
    file, _, number = place.rpartition(":")
    path = Path(file)
    if not path.is_relative_to(HERE.parent):
        return "/".join(path.parts[-3:]) + f":{number}"
    lines = path.read_text().splitlines() if path.exists() else []
    code = lines[int(number) - 1].strip() if 0 < int(number) <= len(lines) else ""
    shown = f" `{code[:WIDTH]}`" if code else ""
    return f"{path.relative_to(HERE.parent)}:{number}{shown}".replace("|", "\\|")


def section(title: str, measured: Measured) -> Iterator[str]:
    """Yield the lines of the section about one case."""
    yield from ("", f"## {title[0].upper()}{title[1:]}")
    for kind, costs, name in (
        ("function", measured.functions, function_name),
        ("line", measured.lines, line_name),
    ):
        chosen = largest(costs, measured.total)
        yield from table((kind, *HEAD), ([name(key), *each.cells()] for key, each in chosen))


def page(all_measured: Mapping[str, Measured]) -> str:
    """Return the text of the page. The text above the summary is that of the present page."""
    before, _, rest = PAGE.read_text().partition(f"## {SUMMARY}\n")
    by_hand = rest.partition("\n<!-- written by hand -->\n")[2].partition("\n<!-- end -->\n")[0]
    compiler = hot_spots.run(["rustc", "--version"]).stdout.strip()
    valgrind = hot_spots.run(["valgrind", "--version"]).stdout.strip()
    rows = ([name, *each.total.cells()] for name, each in all_measured.items())
    lines = [
        f"## {SUMMARY}",
        "",
        f"Compiled with {compiler}; measured with {valgrind}.",
        *table(("case", *HEAD), rows),
        "",
        "<!-- written by hand -->",
        by_hand,
        "<!-- end -->",
        *(line for name, each in all_measured.items() for line in section(name, each)),
    ]
    return before + "\n".join(lines) + "\n"


def main() -> None:
    """Measure the cases and write the page, or print some cases."""
    require_release_build()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", type=pattern, metavar="PATTERN", help="Print only cases whose names match."
    )
    only = parser.parse_args().only
    if not instructions.has_valgrind():
        raise BenchError("valgrind: not installed: it counts the instructions")
    cases = programs()
    chosen = {name: case for name, case in cases.items() if only is None or only.search(name)}
    if not chosen:
        raise BenchError(f"--only: no case matches; the cases are: {'; '.join(cases)}")
    with ThreadPoolExecutor(2) as pool:
        measured = dict(zip(chosen, pool.map(measure, chosen.values()), strict=True))
    if only is None:
        PAGE.write_text(page(measured))
        print(PAGE)
        return
    for name, each in measured.items():
        print("\n".join(section(name, each)))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"error: {error}")
