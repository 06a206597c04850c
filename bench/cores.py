"""Measure the speedup of two replications on two cores compared with one core, in wall-clock time.

The script also measures the speedup that the machine permits. For this it runs two independent C++
programs (the lean loop of `lean.py`) in parallel and one after the other. This speedup may be below
2, because two cores of a virtual machine may be two threads of one physical core.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import lean

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

    def both(jobs: int) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lean.Cell(), [LEAN_S] * 2))

    return in_rounds("two lean loops", both, goal=0.0)


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
