"""Compare the cost per segment with ns-2, with the lean loops, and between networks.

    .venv/bin/python bench/floor.py                 a quarter of an hour: keep the machine quiet
    .venv/bin/python bench/floor.py --only router   the rows whose name has this text
    .venv/bin/python bench/floor.py --page          the table in bench/README.md

Each row is a ratio of CPU times per segment. Both costs are measured in turn, in ten rounds, and
the ratio is the median over the rounds. The lean loops are C++ programs that simulate one network
each (`lean.py`). The goals for ns-2 are for processors of AMD; on other processors, these rows are
measured but not checked. The script exits with 1 if a goal is missed.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import dumbbell
import instructions
import lean
import ours
from flat import ROUTER, Network
from growth import Point
from growth_page import PAGE
from measure import BenchError, require_release_build, slope
from pages import rewrite, table
from peers import Ns2, install_ns2

OUT = Path(__file__).parent / "out" / "floor.json"
SECTION = "Ratios of costs"
ROUNDS = 10
SHORT_S, LONG_S = 200.0, 2000.0
"""Simulated times of the short and the long run of the cell. [s]"""

Measure = Callable[[], float]
"""Function that measures a cost per segment. [us]"""


@dataclass(frozen=True)
class Row:
    """Two costs to compare, and the goal for their ratio."""

    name: str
    """Name of the ratio: the dividend and the divisor."""
    dividend: Measure
    divisor: Measure
    goal: float
    is_least: bool = False
    """Whether the goal is the smallest accepted ratio, not the largest."""
    is_for_amd: bool = False
    """Whether the goal is only for processors of AMD."""
    growth_of_lean: Callable[[], float] | None = None
    """Function that measures the same ratio for the lean loop. If half of this ratio is above the
    goal, it replaces the goal."""


@dataclass(frozen=True)
class Compared:
    """Measured costs of a row, round by round."""

    name: str
    processor: str
    goal: float | None
    """None if the goal is for another processor."""
    is_least: bool
    dividend_us: Sequence[float]
    divisor_us: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each round."""
        pairs = zip(self.dividend_us, self.divisor_us, strict=True)
        return [above / below for above, below in pairs]

    def missed(self) -> Iterator[str]:
        """Yield a message if the goal is missed."""
        ratio = median(self.ratios)
        if self.goal is not None and (ratio < self.goal if self.is_least else ratio > self.goal):
            yield f"{self.name}: {ratio:.3g}, aim {self.bound}"

    @property
    def bound(self) -> str:
        """Return the goal as text."""
        if self.goal is None:
            return "for AMD only"
        return f"{'at least' if self.is_least else 'at most'} {self.goal:.3g}"


def engine(case: instructions.Case, short_s: float, long_s: float) -> float:
    """Return lasthop's cost per segment of a case of instructions.py. [us]"""
    settings = dict(setting.split("=", 1) for setting in case.settings)
    return ours.cost(case.file, short_s, long_s, 1, settings).us_per_segment


def ns2_cell() -> float:
    """Return the cost per segment of the cell in ns-2, as installed. [us]"""
    return slope(Ns2("default"), SHORT_S, LONG_S, 1).us_per_segment


def router_in(name: str, case: dumbbell.Case) -> float:
    """Return the cost per segment of a router in another simulator. [us]"""
    peer = next(peer for peer in dumbbell.peers(quick=False) if peer.name == name)
    return slope(partial(peer.bare, case), peer.short_s, peer.long_s, 1).us_per_segment


def ns2_router(rtt_ms: int) -> float:
    """Return the cost per segment of the router with RED in ns-2. [us]"""
    return router_in("ns-2", dumbbell.Case(rtt_ms, "red"))


def lean_cell() -> float:
    """Return the cost per segment of the lean cell. [us]"""
    return slope(lean.Cell(), SHORT_S, LONG_S, 1).us_per_segment


def lean_router(rtt_ms: int) -> float:
    """Return the cost per segment of the lean router with one event per hop. [us]"""
    return router_in("hops", dumbbell.Case(rtt_ms, "droptail"))


LARGE = Network(Point("flows", 6_000, 6_000))
SMALL = Network(ROUTER)
CELL = partial(engine, instructions.CASES["cell of seven"], SHORT_S, LONG_S)
RED_10 = partial(
    engine, instructions.CASES["router, 10 ms, RED"], dumbbell.SHORT_S, dumbbell.LONG_S
)
RED_200 = partial(
    engine, instructions.CASES["router, 200 ms, RED"], dumbbell.SHORT_S, dumbbell.LONG_S
)
AGGREGATES = partial(engine, instructions.CASES["seven, aggregates of 32"], 20.0, 60.0)
STATIONS = partial(engine, instructions.CASES["crowd of 200 stations"], 3.0, 11.0)

ROWS = (
    Row("cell of seven: ns-2 / lasthop", ns2_cell, CELL, 180.0, is_least=True, is_for_amd=True),
    Row(
        "router, 10 ms, RED: ns-2 / lasthop",
        partial(ns2_router, 10),
        RED_10,
        18.0,
        is_least=True,
        is_for_amd=True,
    ),
    Row(
        "router, 200 ms, RED: ns-2 / lasthop",
        partial(ns2_router, 200),
        RED_200,
        15.0,
        is_least=True,
        is_for_amd=True,
    ),
    Row("cell of seven: lasthop / lean loop", CELL, lean_cell, 2.7),
    Row(
        "router, 10 ms: lasthop with RED / lean loop by hops",
        RED_10,
        partial(lean_router, 10),
        0.85,
    ),
    Row(
        "router, 200 ms: lasthop with RED / lean loop by hops",
        RED_200,
        partial(lean_router, 200),
        1.15,
    ),
    Row(
        "router: 6,000 flows / 60 flows",
        LARGE.ours_us,
        SMALL.ours_us,
        1.2,
        growth_of_lean=lambda: LARGE.lean_us() / SMALL.lean_us(),
    ),
    Row("802.11ax, 200 stations / seven stations, aggregates of 32", STATIONS, AGGREGATES, 1.3),
)


def processor() -> str:
    """Return the name of the processor."""
    text = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1] if found else "unknown"


def compare(row: Row, rounds: int) -> Compared:
    """Measure both costs of a row in turn. A first round warms up and is not included."""
    row.dividend(), row.divisor()
    above, below, lean_growth = [], [], []
    for _ in range(rounds):
        above.append(row.dividend())
        below.append(row.divisor())
        if row.growth_of_lean is not None:
            lean_growth.append(row.growth_of_lean())
    goal: float | None = row.goal
    if lean_growth:
        goal = max(row.goal, median(lean_growth) / 2)
    name = processor()
    if row.is_for_amd and "AMD" not in name:
        goal = None
    return Compared(row.name, name, goal, row.is_least, above, below)


def words(compared: Compared) -> list[str]:
    """Return a row of the table."""
    ratios = compared.ratios
    return [
        compared.name,
        f"{median(compared.dividend_us):.3g}, {median(compared.divisor_us):.3g}",
        f"{median(ratios):.3g} ({min(ratios):.3g} to {max(ratios):.3g})",
        compared.bound,
    ]


HEAD = [
    "ratio of CPU times per segment",
    "both CPU times [us]",
    "ratio: median (least to greatest of ten rounds)",
    "aim",
]


def known() -> list[Compared]:
    """Return the stored measurements."""
    if not OUT.exists():
        raise BenchError("out/floor.json: not there; `bench/floor.py` writes it")
    return [Compared(**each) for each in json.loads(OUT.read_text())]


def measure(only: str, rounds: int) -> list[Compared]:
    """Measure the rows whose name contains `only`, and store the measurements after each row."""
    install_ns2()
    lean.install()
    chosen = [row for row in ROWS if only in row.name]
    if not chosen:
        raise BenchError(f"--only {only}: no such row: {', '.join(row.name for row in ROWS)}")
    done = {each.name: each for each in known()} if OUT.exists() else {}
    fresh = []
    for row in chosen:
        fresh.append(compare(row, rounds))
        print(" | ".join(words(fresh[-1])), flush=True)
        done[row.name] = fresh[-1]
        kept = [done[each.name] for each in ROWS if each.name in done]
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps([asdict(each) for each in kept], indent=1) + "\n")
    return fresh


def main() -> list[str]:
    """Measure, or only write the table of the page. Return a message for each missed goal."""
    parser = argparse.ArgumentParser(description="ratios of costs per segment")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of rounds")
    parser.add_argument("--page", action="store_true", help="write the table of bench/README.md")
    options = parser.parse_args()
    compared = known() if options.page else measure(options.only, options.rounds)
    if options.page:
        rewrite(PAGE, {SECTION: table(HEAD, map(words, compared))})
    return [line for each in compared for line in each.missed()]


if __name__ == "__main__":
    require_release_build()
    try:
        missed = main()
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit("\n".join(f"missed: {line}" for line in missed) or 0)
