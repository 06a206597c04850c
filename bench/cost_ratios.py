"""Compare the cost per segment with ns-2, with the minimal programs, and between networks.

    .venv/bin/python bench/cost_ratios.py                 fifteen minutes: keep the machine quiet
    .venv/bin/python bench/cost_ratios.py --only router   the rows whose name has this text
    .venv/bin/python bench/cost_ratios.py --page          the table in bench/README.md

Each row is a ratio of CPU times per segment. Both costs are measured alternately, in ten rounds,
and the ratio is the median over the rounds. The minimal programs are C++ programs that simulate one
network each (`lean.py`). The aims for ns-2 apply to AMD processors only. On other processors, these
ratios are measured but not checked. The script exits with 1 if an aim is missed.
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

OUT = Path(__file__).parent / "out" / "cost_ratios.json"
SECTION = "Cost compared with other programs and network sizes"
ROUNDS = 10
SHORT_S, LONG_S = 200.0, 2000.0
"""Simulated times of the short and the long run of the cell. [s]"""

Measure = Callable[[], float]
"""Function that measures a cost per segment. [us]"""


@dataclass(frozen=True)
class CostRatio:
    """Two costs to compare, and the aim for their ratio."""

    name: str
    """Name of the ratio: the networks or programs of the numerator and of the denominator."""
    numerator: Measure
    """Function that measures the first cost. [us]"""
    denominator: Measure
    """Function that measures the second cost. [us]"""
    aim: float
    """Largest accepted ratio, or the smallest accepted ratio if `is_minimum`."""
    is_minimum: bool = False
    """Whether the aim is the smallest accepted ratio, not the largest."""
    is_amd_only: bool = False
    """Whether the aim applies to AMD processors only."""
    minimal_growth: Callable[[], float] | None = None
    """Function that measures the same ratio for the minimal program. The aim is `aim` or half of
    this ratio, whichever is larger."""


@dataclass(frozen=True)
class Measurement:
    """Measured costs of a ratio, round by round."""

    name: str
    """Name of the ratio."""
    processor: str
    """Name of the processor."""
    aim: float | None
    """Largest or smallest accepted ratio; None if the aim is not checked on this processor."""
    is_minimum: bool
    """Whether the aim is the smallest accepted ratio, not the largest."""
    numerators_us: Sequence[float]
    """First cost in each round. [us]"""
    denominators_us: Sequence[float]
    """Second cost in each round. [us]"""

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each round."""
        pairs = zip(self.numerators_us, self.denominators_us, strict=True)
        return [numerator_us / denominator_us for numerator_us, denominator_us in pairs]

    def missed(self) -> Iterator[str]:
        """Yield a message if the aim is missed."""
        ratio = median(self.ratios)
        if self.aim is not None and (ratio < self.aim if self.is_minimum else ratio > self.aim):
            yield f"{self.name}: {ratio:.3g}, aim {self.aim_text}"

    @property
    def aim_text(self) -> str:
        """Return the aim as text."""
        if self.aim is None:
            return "not checked (AMD only)"
        return f"{'at least' if self.is_minimum else 'at most'} {self.aim:.3g}"


def lasthop_us(case: instructions.Case, short_s: float, long_s: float) -> float:
    """Return lasthop's cost per segment of a case of instructions.py. [us]"""
    settings = dict(setting.split("=", 1) for setting in case.settings)
    return ours.cost(case.file, short_s, long_s, 1, settings).us_per_segment


def ns2_cell_us() -> float:
    """Return the cost per segment of the cell in ns-2, as installed. [us]"""
    return slope(Ns2("default"), SHORT_S, LONG_S, 1).us_per_segment


def router_us(name: str, case: dumbbell.Case) -> float:
    """Return the cost per segment of a router in another simulator. [us]"""
    peer = next(peer for peer in dumbbell.peers(quick=False) if peer.name == name)
    return slope(partial(peer.bare, case), peer.short_s, peer.long_s, 1).us_per_segment


def ns2_router_us(rtt_ms: int) -> float:
    """Return the cost per segment of the router with RED in ns-2. [us]"""
    return router_us("ns-2", dumbbell.Case(rtt_ms, "red"))


def minimal_cell_us() -> float:
    """Return the cost per segment of the cell in its minimal program. [us]"""
    return slope(lean.Cell(), SHORT_S, LONG_S, 1).us_per_segment


def minimal_router_us(rtt_ms: int) -> float:
    """Return the cost per segment of the router in the minimal program with one event per hop.
    [us]
    """
    return router_us("hops", dumbbell.Case(rtt_ms, "droptail"))


LARGE = Network(Point("flows", 6_000, 6_000))
SMALL = Network(ROUTER)
CELL = partial(lasthop_us, instructions.CASES["cell, 7 stations"], SHORT_S, LONG_S)
RED_10 = partial(
    lasthop_us, instructions.CASES["router, 10 ms, RED"], dumbbell.SHORT_S, dumbbell.LONG_S
)
RED_200 = partial(
    lasthop_us, instructions.CASES["router, 200 ms, RED"], dumbbell.SHORT_S, dumbbell.LONG_S
)
AGGREGATES = partial(
    lasthop_us, instructions.CASES["cell, 7 stations, aggregates of 32"], 20.0, 60.0
)
STATIONS_200 = partial(lasthop_us, instructions.CASES["cell, 200 stations, 802.11ax"], 3.0, 11.0)

RATIOS = (
    CostRatio(
        "cell, 7 stations: ns-2 / lasthop",
        ns2_cell_us,
        CELL,
        180.0,
        is_minimum=True,
        is_amd_only=True,
    ),
    CostRatio(
        "router, 10 ms, RED: ns-2 / lasthop",
        partial(ns2_router_us, 10),
        RED_10,
        18.0,
        is_minimum=True,
        is_amd_only=True,
    ),
    CostRatio(
        "router, 200 ms, RED: ns-2 / lasthop",
        partial(ns2_router_us, 200),
        RED_200,
        15.0,
        is_minimum=True,
        is_amd_only=True,
    ),
    CostRatio("cell, 7 stations: lasthop / minimal program", CELL, minimal_cell_us, 2.7),
    CostRatio(
        "router, 10 ms: lasthop with RED / minimal program, one event per hop",
        RED_10,
        partial(minimal_router_us, 10),
        0.85,
    ),
    CostRatio(
        "router, 200 ms: lasthop with RED / minimal program, one event per hop",
        RED_200,
        partial(minimal_router_us, 200),
        1.15,
    ),
    CostRatio(
        "router: 6,000 flows / 60 flows",
        LARGE.lasthop_us,
        SMALL.lasthop_us,
        1.2,
        minimal_growth=lambda: LARGE.minimal_us() / SMALL.minimal_us(),
    ),
    CostRatio(
        "cell, 802.11ax: 200 stations / 7 stations, aggregates of 32",
        STATIONS_200,
        AGGREGATES,
        1.3,
    ),
)


def processor() -> str:
    """Return the name of the processor."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return model[1] if model else "unknown"


def compare(ratio: CostRatio, rounds: int) -> Measurement:
    """Measure both costs alternately. A first round warms up and is not included."""
    ratio.numerator(), ratio.denominator()
    numerators_us, denominators_us, minimal_growths = [], [], []
    for _ in range(rounds):
        numerators_us.append(ratio.numerator())
        denominators_us.append(ratio.denominator())
        if ratio.minimal_growth is not None:
            minimal_growths.append(ratio.minimal_growth())
    aim: float | None = ratio.aim
    if minimal_growths:
        aim = max(ratio.aim, median(minimal_growths) / 2)
    name = processor()
    if ratio.is_amd_only and "AMD" not in name:
        aim = None
    return Measurement(ratio.name, name, aim, ratio.is_minimum, numerators_us, denominators_us)


HEAD = [
    "ratio of CPU times per segment",
    "CPU times: numerator, denominator [us/segment]",
    "ratio: median (least to greatest of ten rounds)",
    "aim",
]


def table_row(measurement: Measurement) -> list[str]:
    """Return a row of the table."""
    ratios = measurement.ratios
    numerator_us = median(measurement.numerators_us)
    denominator_us = median(measurement.denominators_us)
    return [
        measurement.name,
        f"{numerator_us:.3g}, {denominator_us:.3g}",
        f"{median(ratios):.3g} ({min(ratios):.3g} to {max(ratios):.3g})",
        measurement.aim_text,
    ]


def stored() -> list[Measurement]:
    """Return the stored measurements."""
    if not OUT.exists():
        raise BenchError("out/cost_ratios.json: file not found\nhint: run `bench/cost_ratios.py`")
    return [Measurement(**each) for each in json.loads(OUT.read_text())]


def measure(only: str, rounds: int) -> list[Measurement]:
    """Measure the rows whose name contains `only`, and store the measurements after each row."""
    chosen = [ratio for ratio in RATIOS if only in ratio.name]
    if not chosen:
        names = "; ".join(ratio.name for ratio in RATIOS)
        raise BenchError(f"--only {only}: no row contains this text; expected a part of: {names}")
    install_ns2()
    lean.install()
    by_name = {each.name: each for each in stored()} if OUT.exists() else {}
    new = []
    for ratio in chosen:
        new.append(compare(ratio, rounds))
        print(" | ".join(table_row(new[-1])), flush=True)
        by_name[ratio.name] = new[-1]
        ordered = [by_name[each.name] for each in RATIOS if each.name in by_name]
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps([asdict(each) for each in ordered], indent=1) + "\n")
    return new


def main() -> list[str]:
    """Measure, or only write the table of the page. Return a message for each missed aim."""
    parser = argparse.ArgumentParser(description="Measure ratios of costs per segment.")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="Measure only rows whose name has this text."
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="Set the number of rounds.")
    parser.add_argument(
        "--page", action="store_true", help="Write the table of bench/README.md; measure nothing."
    )
    options = parser.parse_args()
    measurements = stored() if options.page else measure(options.only, options.rounds)
    if options.page:
        rewrite(PAGE, {SECTION: table(HEAD, map(table_row, measurements))})
    return [line for each in measurements for line in each.missed()]


if __name__ == "__main__":
    require_release_build()
    try:
        missed = main()
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit("\n".join(f"missed: {line}" for line in missed) or 0)
