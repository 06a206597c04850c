"""Two replications on two cores: how many times faster than on one, by the clock."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import lasthop

CASES = Path(__file__).parent / "cases"
#: What is simulated, and for how long: one to two seconds of CPU time a replication. [s]
REPLICATED = (
    ("cell of seven", CASES / "seven.toml", 20_000.0),
    ("router of sixty", CASES / "dumbbell.toml", 1_000.0),
)
GOAL = 1.8
ROUNDS = 5


@dataclass(frozen=True)
class Beside:
    """Rounds of both replications on one core and on two, in turn."""

    name: str
    #: Wall-clock time. [s]
    one_s: Sequence[float]
    two_s: Sequence[float]

    @property
    def ratio(self) -> float:
        """How many times faster on two: the median over the rounds."""
        return median(one / two for one, two in zip(self.one_s, self.two_s, strict=True))

    def missed(self) -> Iterator[str]:
        """The aim, if it is missed."""
        if self.ratio < GOAL:
            yield f"{self.name}: {self.ratio:.2f} times faster on two cores, aim {GOAL}"


def compare() -> list[Beside]:
    """Every case; none where this process has one core only."""
    if len(os.sched_getaffinity(0)) < 2:
        print("two replications on two cores: not measured, since there is one core only")
        return []
    return [beside(*each) for each in REPLICATED]


def beside(name: str, file: Path, duration_s: float) -> Beside:
    """One case in rounds, warmed up by one of them."""
    scenario = lasthop.Scenario(file, {"duration": f"{duration_s:g} s"})
    both(scenario, jobs=2)
    rounds = [(both(scenario, jobs=1), both(scenario, jobs=2)) for _ in range(ROUNDS)]
    one_s, two_s = zip(*rounds, strict=True)
    return Beside(name, one_s, two_s)


def both(scenario: lasthop.Scenario, jobs: int) -> float:
    """Two replications: how long that takes. [s]"""
    begun_s = time.monotonic()
    lasthop.simulate(scenario, replications=2, jobs=jobs)
    return time.monotonic() - begun_s
