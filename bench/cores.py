"""Two replications on two cores: how many times faster than on one, by the clock.

It also measures the machine: two lean loops, processes that share nothing, in parallel and one
after the other. Cores of a virtual machine may be halves of one.
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
#: Simulated scenario, and its duration: one to two seconds of CPU time per replication. [s]
REPLICATED = (
    ("cell of seven", CASES / "seven.toml", 20_000.0),
    ("router of sixty", CASES / "dumbbell.toml", 1_000.0),
)
GOAL = 1.8
ROUNDS = 9
LEAN_S = 40_000.0


@dataclass(frozen=True)
class TwoCores:
    """Rounds of both replications on one core and on two, in turn."""

    name: str
    #: Wall-clock time. [s]
    one_s: Sequence[float]
    two_s: Sequence[float]
    #: 0: shown, not judged.
    goal: float

    @property
    def ratio(self) -> float:
        """How many times faster on two: the median over the rounds."""
        return median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """Round by round."""
        return [
            in_turn_s / at_once_s
            for in_turn_s, at_once_s in zip(self.one_s, self.two_s, strict=True)
        ]

    def missed(self) -> Iterator[str]:
        """The aim, if it is missed."""
        if self.ratio < self.goal:
            yield f"{self.name}: {self.ratio:.2f} times faster on two cores, aim {self.goal}"


def compare() -> list[TwoCores]:
    """Every case and the machine; none where this process has one core only."""
    if len(os.sched_getaffinity(0)) < 2:
        print("two replications on two cores: not measured, since there is one core only")
        return []
    lean.install()
    cases = [
        in_rounds(name, replications(file, length_s), GOAL) for name, file, length_s in REPLICATED
    ]
    return [*cases, machine()]


def replications(file: Path, duration_s: float) -> Callable[[int], object]:
    """Run two replications, this many at a time."""
    scenario = lasthop.Scenario(file, {"duration": f"{duration_s:g} s"})
    return lambda jobs: lasthop.simulate(scenario, replications=2, jobs=jobs)


def machine() -> TwoCores:
    """Two lean loops, which no aim is for."""

    def both(jobs: int) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lean.Cell(), [LEAN_S] * 2))

    return in_rounds("two lean loops", both, goal=0.0)


def in_rounds(name: str, both: Callable[[int], object], goal: float) -> TwoCores:
    """Rounds, warmed up by one of them."""
    both(2)
    rounds = [(clock_s(both, 1), clock_s(both, 2)) for _ in range(ROUNDS)]
    one_s, two_s = zip(*rounds, strict=True)
    return TwoCores(name, one_s, two_s, goal)


def clock_s(both: Callable[[int], object], jobs: int) -> float:
    """How long that takes. [s]"""
    begun_s = time.monotonic()
    both(jobs)
    return time.monotonic() - begun_s
