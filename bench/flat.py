"""Compare the cost per segment in large and small networks: instructions and CPU time.

    .venv/bin/python bench/flat.py            six minutes: keep the machine quiet
    .venv/bin/python bench/flat.py --page     the table in bench/README.md

callgrind counts the instructions. The CPU times of both networks are measured in alternating
rounds, so that the load of the machine affects both networks equally. Each round measures lasthop
and the lean loop, a C++ program for this network only (`lean.py`). The script exits with 1 if a
goal is missed.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import hot_spots
import instructions
import lean
import ours
from growth import BUDGET_S, SIMULATORS, Point, short
from growth_page import PAGE
from measure import BenchError, Run, require_release_build
from pages import rewrite, table

HERE = Path(__file__).parent
OUT = HERE / "out" / "flat.json"
SECTION = "Flat cost"
ROUNDS = 7
COUNTED, MIN_COUNTED = 2e5, 0.05
"""Instructions per segment are computed from a short and a long run. The first value is the number
of segments that the long run has in addition. The second value is the minimum difference of the
durations, divided by the start phase.
"""
TIMED, MIN_TIMED = 3e6, 1.0
"""CPU times per segment are computed from a short and a long run. The first value is the number of
segments that the long run has in addition. The second value is the minimum difference of the
durations, divided by the start phase.
"""
GIVEN = ("warmup", "replications")
"""Keys of `settings` that are not passed to `instructions.run`, which sets these keys itself."""
ROUTER, SEVEN = Point("flows", 60, 60), Point("stations", 7, 7, stations=7)


@dataclass(frozen=True)
class Network:
    """A scenario of lasthop, and the network that the lean loop simulates for comparison."""

    point: Point
    #: Name of a file in bench/cases, without its suffix; empty if the file is that of `point`.
    case: str = ""

    @property
    def file(self) -> Path:
        """Return the path of the simulated scenario."""
        return self.point.file.with_stem(self.case) if self.case else self.point.file

    def settings(self, warmup_s: float) -> Mapping[str, object]:
        """Return the settings that replace settings of the scenario file."""
        given = self.point.settings(warmup_s)
        return {key: given[key] for key in GIVEN} if self.case else given

    def count(self, program: Path) -> float:
        """Return the number of instructions per segment after the start phase."""
        lengths_s = self.point.lengths_s(COUNTED, MIN_COUNTED)
        warmup_s = lengths_s[0] / 2
        given = self.settings(warmup_s).items()
        words = tuple(f"{key}={value}" for key, value in given if key not in GIVEN)
        case = instructions.Case(self.file, words)
        first, last = (instructions.run(program, case, each_s, warmup_s) for each_s in lengths_s)
        return instructions.slope(last, first)

    def ours_us(self) -> float:
        """Return the CPU time per segment after the start phase. [us]"""
        short_s, long_s = self.point.lengths_s(TIMED, MIN_TIMED)
        three_s = [short_s, short_s, long_s]
        _, first, last = ours.worker(self.file, self.settings(short_s / 2), three_s)
        return slope_us(first, last)

    def lean_us(self) -> float:
        """Return the CPU time per segment of the lean loop after the start phase. [us]"""
        lengths_s = self.point.lengths_s(TIMED, MIN_TIMED)
        [loop] = (simulator for simulator in SIMULATORS if simulator.name == "lean")
        return slope_us(*loop.runs(self.point, lengths_s, BUDGET_S))


def slope_us(first: Run, last: Run) -> float:
    """Return the CPU time per segment, computed from the difference of two runs. [us]"""
    return (last.cpu_s - first.cpu_s) / (last.segments - first.segments) * 1e6


@dataclass(frozen=True)
class Aim:
    """A small and a large network, and the largest accepted ratios of their costs per segment."""

    what: str
    small: Network
    large: Network
    instructions: float
    cpu: float
    of_lean: float
    """Largest accepted growth of lasthop's CPU time per segment, divided by the lean loop's growth.
    The less strict of the limits `cpu` and `of_lean` applies."""


AIMS = (
    Aim(
        "router: 6,000 flows against 60",
        Network(ROUTER),
        Network(Point("flows", 6_000, 6_000)),
        1.5,
        2.0,
        1.3,
    ),
    Aim(
        "cell: 50 stations, 100 flows each way, against seven downloads",
        Network(SEVEN),
        Network(Point("connections", 10_000, 10_000, stations=50), "ten_thousand_flows"),
        1.5,
        2.0,
        1.3,
    ),
    Aim(
        "cell: 10,003 downloads of seven stations against seven",
        Network(SEVEN),
        Network(Point("connections", 10_003, 10_003, stations=7)),
        1.5,
        2.0,
        1.3,
    ),
    Aim(
        "cell: 1,000 stations, a flow each way, against seven downloads",
        Network(SEVEN),
        Network(Point("stations", 1_000, 2_000, stations=1_000), "thousand_stations"),
        1.5,
        1.5,
        0.0,
    ),
    Aim(
        "cell: 1,000 stations with a download each against seven",
        Network(SEVEN),
        Network(Point("stations", 1_000, 1_000, stations=1_000)),
        1.5,
        1.5,
        0.0,
    ),
)
Pair = Sequence[float]
"""Costs per segment in the small and in the large network."""


@dataclass(frozen=True)
class Growth:
    """Measured costs of the two networks of a goal."""

    what: str
    instructions: Pair
    #: CPU times per segment in each round. [us/segment]
    ours_us: Sequence[Pair]
    lean_us: Sequence[Pair]

    @property
    def aim(self) -> Aim:
        """Return the goal to which the measurements belong."""
        return next(aim for aim in AIMS if aim.what == self.what)

    @property
    def allowed(self) -> float:
        """Return the largest accepted ratio of CPU times per segment."""
        return max(self.aim.cpu, self.aim.of_lean * times(self.lean_us))

    def missed(self) -> Iterator[str]:
        """Yield a message for each missed goal."""
        for quantity, grown, most in (
            ("instructions", times([self.instructions]), self.aim.instructions),
            ("CPU time", times(self.ours_us), self.allowed),
        ):
            if grown > most:
                yield f"{self.what}: {grown:.2f} times the {quantity}, aim {most:.2f}"


def times(pairs: Sequence[Pair]) -> float:
    """Return the ratio of the costs in the large and in the small network. The ratio is the median
    over the rounds.
    """
    return median(large / small for small, large in pairs)


def measure() -> list[Growth]:
    """Measure all pairs of networks. Instructions are counted first, in parallel on all cores. CPU
    times are then measured, one process at a time.
    """
    if not instructions.has_valgrind():
        raise BenchError("instructions are counted by valgrind, which is not there")
    lean.install()
    program = hot_spots.program("summary")
    networks = list(dict.fromkeys(each for aim in AIMS for each in (aim.small, aim.large)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda network: network.count(program), networks)
        counted = dict(zip(networks, counts, strict=True))
    grown = []
    for aim in AIMS:
        both = (aim.small, aim.large)
        mine: list[Pair] = []
        its: list[Pair] = []
        for _ in range(ROUNDS):
            mine.append([network.ours_us() for network in both])
            its.append([network.lean_us() for network in both])
        grown.append(Growth(aim.what, [counted[network] for network in both], mine, its))
        print(" | ".join(row(grown[-1])), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([asdict(each) for each in grown], indent=1) + "\n")
    return grown


def row(growth: Growth) -> list[str]:
    """Return a row of the table."""
    rounds = [large / small for small, large in growth.ours_us]
    small_us, large_us = (median(us) for us in zip(*growth.ours_us, strict=True))
    small, large = map(short, growth.instructions)
    return [
        *NETWORKS[growth.what],
        f"{small}, {large}",
        f"{times([growth.instructions]):.2f}",
        f"{growth.aim.instructions:g}",
        f"{small_us:.3f}, {large_us:.3f}",
        f"{times(growth.ours_us):.2f} ({min(rounds):.2f} to {max(rounds):.2f})",
        f"{times(growth.lean_us):.2f}",
        f"{growth.allowed:.2f}",
    ]


HEAD = [
    "small network",
    "large network",
    "instructions per segment: small network, large network",
    "ratio of instructions",
    "aim for the ratio of instructions",
    "CPU time per segment [us]: small network, large network",
    "ratio of CPU times (least to greatest round)",
    "ratio of CPU times of the minimal program",
    "aim for the ratio of CPU times",
]
SEVEN_WORDS = "cell: 7 stations, 7 downloads"
LARGE_WORDS = (
    "router: 6,000 flows",
    "cell: 50 stations, 10,000 flows, half of them uploads",
    "cell: 7 stations, 10,003 downloads",
    "cell: 1,000 stations, a download and an upload each",
    "cell: 1,000 stations, a download each",
)
NETWORKS = {
    aim.what: ("router: 60 flows" if words.startswith("router") else SEVEN_WORDS, words)
    for aim, words in zip(AIMS, LARGE_WORDS, strict=True)
}
"""Names of the small and the large network in the table, for each goal."""


def known() -> list[Growth]:
    """Return the stored measurements."""
    if not OUT.exists():
        raise BenchError("out/flat.json: not there; `bench/flat.py` writes it")
    return [Growth(**each) for each in json.loads(OUT.read_text())]


def main(*, only_page: bool) -> list[str]:
    """Measure, or only write the table of the page. Return a message for each missed goal."""
    grown = known() if only_page else measure()
    if only_page:
        rewrite(PAGE, {SECTION: table(HEAD, map(row, grown))})
    return [line for growth in grown for line in growth.missed()]


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="whether a segment costs as much in a crowd")
    parser.add_argument("--page", action="store_true", help="write the table of bench/README.md")
    try:
        too_dear = main(only_page=parser.parse_args().page)
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit("\n".join(f"missed: {line}" for line in too_dear) or 0)
