"""Compare the cost per segment in large and small networks: instructions and CPU time.

    .venv/bin/python bench/flat.py            six minutes: keep the machine quiet
    .venv/bin/python bench/flat.py --page     the table in bench/README.md

callgrind counts the instructions. The CPU times of both networks are measured in alternating
rounds, so that the load of the machine affects both networks equally. Each round measures lasthop
and the minimal program, a C++ program for this network only (`lean.py`). The script exits with 1 if
an aim is missed.
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
SECTION = "Cost in small and large networks"
ROUNDS = 7
COUNTED, MIN_COUNTED = 2e5, 0.05
"""Instructions per segment are computed from a short and a long run. The first value is the number
of segments that the long run has in addition. The second value is the minimum difference of the
durations, divided by the short duration.
"""
TIMED, MIN_TIMED = 3e6, 1.0
"""CPU times per segment are computed from a short and a long run. The first value is the number of
segments that the long run has in addition. The second value is the minimum difference of the
durations, divided by the short duration.
"""
GIVEN = ("warmup", "replications")
"""Keys of `settings` that are not passed to `instructions.run`, which sets these keys itself."""
ROUTER, SEVEN = Point("flows", 60, 60), Point("stations", 7, 7, stations=7)


@dataclass(frozen=True)
class Network:
    """A scenario of lasthop, and the network that the minimal program simulates for comparison."""

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
        """Return the number of instructions per segment."""
        lengths_s = self.point.lengths_s(COUNTED, MIN_COUNTED)
        warmup_s = lengths_s[0] / 2
        given = self.settings(warmup_s).items()
        words = tuple(f"{key}={value}" for key, value in given if key not in GIVEN)
        case = instructions.Case(self.file, words)
        first, last = (instructions.run(program, case, each_s, warmup_s) for each_s in lengths_s)
        return instructions.slope(last, first)

    def lasthop_us(self) -> float:
        """Return the CPU time per segment. [us]"""
        short_s, long_s = self.point.lengths_s(TIMED, MIN_TIMED)
        three_s = [short_s, short_s, long_s]
        _, first, last = ours.worker(self.file, self.settings(short_s / 2), three_s)
        return slope_us(first, last)

    def minimal_us(self) -> float:
        """Return the CPU time per segment of the minimal program. [us]"""
        lengths_s = self.point.lengths_s(TIMED, MIN_TIMED)
        [program] = (simulator for simulator in SIMULATORS if simulator.name == "lean")
        return slope_us(*program.runs(self.point, lengths_s, BUDGET_S))


def slope_us(first: Run, last: Run) -> float:
    """Return the CPU time per segment, computed from the difference of two runs. [us]"""
    return (last.cpu_s - first.cpu_s) / (last.segments - first.segments) * 1e6


@dataclass(frozen=True)
class Aim:
    """A small and a large network, and the largest accepted ratios of their costs per segment."""

    name: str
    """Name of the aim in messages."""
    small: Network
    """Small network."""
    large: Network
    """Large network."""
    instructions: float
    """Largest accepted ratio of the instructions per segment."""
    cpu: float
    """Largest accepted ratio of the CPU times per segment."""
    minimal_factor: float
    """Largest accepted ratio of lasthop's CPU times, divided by that of the minimal program. The
    less strict of the limits `cpu` and `minimal_factor` applies."""


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
    """Measured costs of the two networks of an aim."""

    name: str
    """Name of the aim."""
    instructions: Pair
    """Instructions per segment."""
    lasthop_us: Sequence[Pair]
    """CPU times per segment of lasthop in each round. [us/segment]"""
    minimal_us: Sequence[Pair]
    """CPU times per segment of the minimal program in each round. [us/segment]"""

    @property
    def aim(self) -> Aim:
        """Return the aim to which the measurements belong."""
        return next(aim for aim in AIMS if aim.name == self.name)

    @property
    def cpu_aim(self) -> float:
        """Return the largest accepted ratio of CPU times per segment."""
        return max(self.aim.cpu, self.aim.minimal_factor * times(self.minimal_us))

    def missed(self) -> Iterator[str]:
        """Yield a message for each missed aim."""
        for quantity, ratio, aim in (
            ("instructions", times([self.instructions]), self.aim.instructions),
            ("CPU time", times(self.lasthop_us), self.cpu_aim),
        ):
            if ratio > aim:
                yield f"{self.name}: {ratio:.2f} times the {quantity}, aim {aim:.2f}"


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
        raise BenchError("valgrind: not installed: it counts the instructions")
    lean.install()
    program = hot_spots.program("summary")
    networks = list(dict.fromkeys(each for aim in AIMS for each in (aim.small, aim.large)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda network: network.count(program), networks)
        counted = dict(zip(networks, counts, strict=True))
    grown = []
    for aim in AIMS:
        both = (aim.small, aim.large)
        lasthop_us: list[Pair] = []
        minimal_us: list[Pair] = []
        for _ in range(ROUNDS):
            lasthop_us.append([network.lasthop_us() for network in both])
            minimal_us.append([network.minimal_us() for network in both])
        counts_of_aim = [counted[network] for network in both]
        grown.append(Growth(aim.name, counts_of_aim, lasthop_us, minimal_us))
        print(" | ".join(row(grown[-1])), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([asdict(each) for each in grown], indent=1) + "\n")
    return grown


def row(growth: Growth) -> list[str]:
    """Return a row of the table."""
    rounds = [large / small for small, large in growth.lasthop_us]
    small_us, large_us = (median(us) for us in zip(*growth.lasthop_us, strict=True))
    small, large = map(short, growth.instructions)
    return [
        *NETWORKS[growth.name],
        f"{small}, {large}",
        f"{times([growth.instructions]):.2f}",
        f"{growth.aim.instructions:g}",
        f"{small_us:.3f}, {large_us:.3f}",
        f"{times(growth.lasthop_us):.2f} ({min(rounds):.2f} to {max(rounds):.2f})",
        f"{times(growth.minimal_us):.2f}",
        f"{growth.cpu_aim:.2f}",
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
    aim.name: ("router: 60 flows" if words.startswith("router") else SEVEN_WORDS, words)
    for aim, words in zip(AIMS, LARGE_WORDS, strict=True)
}
"""Names of the small and the large network in the table, for each aim."""


def stored() -> list[Growth]:
    """Return the stored measurements."""
    if not OUT.exists():
        raise BenchError("out/flat.json: file not found\nhint: run `bench/flat.py`")
    return [Growth(**each) for each in json.loads(OUT.read_text())]


def main(*, only_page: bool) -> list[str]:
    """Measure, or only write the table of the page. Return a message for each missed aim."""
    grown = stored() if only_page else measure()
    if only_page:
        rewrite(PAGE, {SECTION: table(HEAD, map(row, grown))})
    return [line for growth in grown for line in growth.missed()]


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(
        description="Compare the cost of a segment in small and large networks."
    )
    parser.add_argument(
        "--page", action="store_true", help="Write the table of bench/README.md; measure nothing."
    )
    try:
        missed = main(only_page=parser.parse_args().page)
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit("\n".join(f"missed: {line}" for line in missed) or 0)
