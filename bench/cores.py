"""Measure the speedup of two replications on two cores compared with one core, in wall-clock time.

    python bench/cores.py

This command measures a sweep of 1,000 points and 4,000 scenarios of `simulate_many` on one and on
two cores. It prints their speedups, the speedup of the lean loops in the same rounds, and the
ratios of both. `run.py` measures the replications.

The script also measures the speedup that the machine permits. For this it runs two independent C++
programs (the lean loop of `lean.py`) in parallel and one after the other. This speedup may be below
2, because two cores of a virtual machine may be two threads of one physical core.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import lean
from measure import require_release_build

import lasthop

CASES = Path(__file__).parent / "cases"
#: Scenarios and their simulated durations [s]. A replication takes one to two seconds of CPU time.
REPLICATED = (
    ("cell of seven", CASES / "seven.toml", 20_000.0),
    ("router of sixty", CASES / "dumbbell.toml", 1_000.0),
)
GOAL = 1.8
ROUNDS = 9
LEAN_S = 40_000.0

PAIRS = 10
"""Rounds of a batch and of the lean loops, in turn."""

GOAL_OF_BATCHES = 0.95
"""Goal: the speedup of a batch, divided by that of the lean loops in the same round, is at least
this value."""

BATCHED = Path(__file__).parents[1] / "examples" / "hotspot.toml"
POINTS, POINT_S = 1_000, 20.0
"""Number of points of the sweep, and simulated time of a point. [s]"""
SCENARIOS, SCENARIO_S = 4_000, 5.0
"""Number of scenarios of `simulate_many`, and simulated time of a scenario. [s]"""


@dataclass(frozen=True)
class TwoCores:
    """Measurements of a scenario on one core and on two cores. Rounds on one and on two cores
    alternate.
    """

    name: str
    #: Wall-clock times of the rounds on one core; the next field contains those on two cores. [s]
    one_s: Sequence[float]
    two_s: Sequence[float]
    #: Smallest accepted speedup; 0 if the speedup is printed but not checked.
    goal: float

    @property
    def ratio(self) -> float:
        """Speedup on two cores: the median over the rounds."""
        return median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """Return the speedups of all rounds."""
        return [
            in_turn_s / at_once_s
            for in_turn_s, at_once_s in zip(self.one_s, self.two_s, strict=True)
        ]

    def missed(self) -> Iterator[str]:
        """Yield a message if the speedup is below the goal."""
        if self.ratio < self.goal:
            yield f"{self.name}: {self.ratio:.2f} times faster on two cores, aim {self.goal}"


def compare() -> list[TwoCores]:
    """Measure all scenarios and the machine. Return an empty list if this process has only one
    core.
    """
    if len(os.sched_getaffinity(0)) < 2:
        print("two replications on two cores: not measured, since there is one core only")
        return []
    lean.install()
    cases = [
        in_rounds(name, replications(file, length_s), GOAL) for name, file, length_s in REPLICATED
    ]
    return [*cases, machine()]


def replications(file: Path, duration_s: float) -> Callable[[int], object]:
    """Return a function that runs two replications. Its argument is the number of replications that
    run in parallel.
    """
    scenario = lasthop.Scenario(file, {"duration": f"{duration_s:g} s"})
    return lambda jobs: lasthop.simulate(scenario, replications=2, jobs=jobs)


def machine() -> TwoCores:
    """Measure two lean loops. Their speedup has no goal."""
    return in_rounds("two lean loops", two_lean_loops, goal=0.0)


def two_lean_loops(jobs: int) -> None:
    """Run two lean loops, `jobs` of them in parallel."""
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lean.Cell(), [LEAN_S] * 2))


def swept(jobs: int) -> None:
    """Run a sweep on `jobs` threads."""
    settings = {"duration": f"{POINT_S:g} s", "warmup": "1 s"}
    over = {"seed": f"1..{POINTS}"}
    lasthop.sweep(BATCHED, over, replications=1, settings=settings, jobs=jobs)


def many(jobs: int) -> None:
    """Run `simulate_many` on `jobs` threads."""
    lasthop.simulate_many(
        BATCHED,
        quantities=["cells.jain", "stations.goodput_bps"],
        settings={"duration": f"{SCENARIO_S:g} s", "warmup": "1 s"},
        seeds=range(1, SCENARIOS + 1),
        replications=1,
        jobs=jobs,
    )


BATCHES: Sequence[tuple[str, Callable[[int], object]]] = (
    (f"sweep of {POINTS:,} points", swept),
    (f"simulate_many of {SCENARIOS:,} scenarios", many),
)


@dataclass(frozen=True)
class Gains:
    """Speedups of a batch and of the lean loops on two cores, round by round."""

    name: str
    batch: Sequence[float]
    lean: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        """Return the speedup of the batch divided by that of the lean loops, in each round."""
        return [ours / floor for ours, floor in zip(self.batch, self.lean, strict=True)]

    def text(self) -> str:
        """Return the medians, with the smallest and the largest ratio, as a line."""
        ratios = self.ratios
        return (
            f"{self.name}: {median(self.batch):.2f} times faster on two cores, lean loops "
            f"{median(self.lean):.2f}; ratio {median(ratios):.3f} ({min(ratios):.3f} to "
            f"{max(ratios):.3f} in {len(ratios)} pairs), aim {GOAL_OF_BATCHES}"
        )


def gains(name: str, batch: Callable[[int], object]) -> Gains:
    """Measure a batch and the lean loops in turn. An earlier round warms up and is not included."""
    batch(2)
    two_lean_loops(2)
    rounds = [(speedup(batch), speedup(two_lean_loops)) for _ in range(PAIRS)]
    ours, floor = zip(*rounds, strict=True)
    return Gains(name, ours, floor)


def speedup(work: Callable[[int], object]) -> float:
    """Return the wall-clock time on one core divided by that on two cores."""
    return clock_s(work, 1) / clock_s(work, 2)


def main() -> int:
    """Measure and print the gains of the batches. Return 1 if a goal is missed."""
    if len(os.sched_getaffinity(0)) < 2:
        print("not measured, since there is one core only")
        return 0
    lean.install()
    measured = [gains(name, batch) for name, batch in BATCHES]
    for each in measured:
        print(each.text(), flush=True)
    return int(any(median(each.ratios) < GOAL_OF_BATCHES for each in measured))


def in_rounds(name: str, both: Callable[[int], object], goal: float) -> TwoCores:
    """Return the measurements of several rounds. An earlier round warms up and is not included."""
    both(2)
    rounds = [(clock_s(both, 1), clock_s(both, 2)) for _ in range(ROUNDS)]
    one_s, two_s = zip(*rounds, strict=True)
    return TwoCores(name, one_s, two_s, goal)


def clock_s(both: Callable[[int], object], jobs: int) -> float:
    """Return the wall-clock time of two replications or loops, `jobs` of them in parallel. [s]"""
    begun_s = time.monotonic()
    both(jobs)
    return time.monotonic() - begun_s


if __name__ == "__main__":
    require_release_build()
    sys.exit(main())
