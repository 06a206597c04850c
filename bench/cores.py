"""Measure the speedup of a sweep and of `simulate_many` on two cores, in wall-clock time.

    python bench/cores.py

The sweep has 1,000 points, and `simulate_many` has 4,000 scenarios. For comparison, the script
measures the speedup that the machine permits: it runs two independent C++ programs (the minimal
program of `lean.py`) in parallel and one after the other. This speedup may be below 2, because two
cores of a virtual machine may be two threads of one physical core. The script prints the speedups,
and the ratios of the speedups in the same rounds. It exits with 1 if an aim is missed.

`run.py` uses `compare` of this module for two long replications.
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
    ("cell, 7 stations", CASES / "seven.toml", 20_000.0),
    ("router, 60 flows", CASES / "dumbbell.toml", 1_000.0),
)
AIM = 1.8
"""Smallest accepted speedup of two replications."""
ROUNDS = 9
"""Number of rounds in which work on one core and work on two cores alternate."""
MINIMAL_S = 40_000.0
"""Simulated time of a minimal program. [s]"""

BATCH_ROUNDS = 10
"""Number of rounds in which a batch and the minimal programs alternate."""

BATCH_AIM = 0.95
"""Smallest accepted speedup of a batch, divided by the speedup of the minimal programs in the same
round."""

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
    """Name of the scenario."""
    one_core_s: Sequence[float]
    """Wall-clock times of the rounds on one core. [s]"""
    two_cores_s: Sequence[float]
    """Wall-clock times of the rounds on two cores. [s]"""
    aim: float
    """Smallest accepted speedup; 0 if the speedup is printed but not checked."""

    @property
    def ratio(self) -> float:
        """Speedup on two cores: the median over the rounds."""
        return median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """Return the speedups of all rounds."""
        pairs = zip(self.one_core_s, self.two_cores_s, strict=True)
        return [one_core_s / two_cores_s for one_core_s, two_cores_s in pairs]

    def missed(self) -> Iterator[str]:
        """Yield a message if the speedup is below the aim."""
        if self.ratio < self.aim:
            yield f"{self.name}: speedup {self.ratio:.2f} on two cores, aim {self.aim}"


def has_two_cores() -> bool:
    """Return whether this process may use two cores. Print a message if it may not."""
    if len(os.sched_getaffinity(0)) > 1:
        return True
    print("speedup: not measured: this process may use only one core; expected two")
    return False


def compare() -> list[TwoCores]:
    """Measure two replications of all scenarios, and the machine. Return an empty list if this
    process has only one core.
    """
    if not has_two_cores():
        return []
    lean.install()
    cases = [
        in_rounds(name, replications(file, length_s), AIM) for name, file, length_s in REPLICATED
    ]
    return [*cases, machine_speedup()]


def replications(file: Path, duration_s: float) -> Callable[[int], object]:
    """Return a function that runs two replications. Its argument is the number of replications that
    run in parallel.
    """
    scenario = lasthop.Scenario(file, {"duration": f"{duration_s:g} s"})
    return lambda jobs: lasthop.simulate(scenario, replications=2, jobs=jobs)


def machine_speedup() -> TwoCores:
    """Measure two minimal programs. Their speedup has no aim."""
    return in_rounds("two minimal programs", run_minimal_programs, aim=0.0)


def run_minimal_programs(jobs: int) -> None:
    """Run two minimal programs, `jobs` of them in parallel."""
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lean.Cell(), [MINIMAL_S] * 2))


def run_sweep(jobs: int) -> None:
    """Run a sweep on `jobs` threads."""
    settings = {"duration": f"{POINT_S:g} s", "warmup": "1 s"}
    over = {"seed": f"1..{POINTS}"}
    lasthop.sweep(BATCHED, over, replications=1, settings=settings, jobs=jobs)


def run_simulate_many(jobs: int) -> None:
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
    (f"sweep of {POINTS:,} points", run_sweep),
    (f"simulate_many of {SCENARIOS:,} scenarios", run_simulate_many),
)


@dataclass(frozen=True)
class BatchSpeedup:
    """Speedups of a batch and of the minimal programs on two cores, round by round."""

    name: str
    """Name of the batch."""
    batch: Sequence[float]
    """Speedups of the batch."""
    minimal: Sequence[float]
    """Speedups of the minimal programs."""

    @property
    def ratios(self) -> list[float]:
        """Return the speedup of the batch divided by that of the minimal programs, in each
        round.
        """
        pairs = zip(self.batch, self.minimal, strict=True)
        return [batch / minimal for batch, minimal in pairs]

    def text(self) -> str:
        """Return the medians, with the smallest and the largest ratio, as a line."""
        ratios = self.ratios
        return (
            f"{self.name}: speedup {median(self.batch):.2f} on two cores, minimal programs "
            f"{median(self.minimal):.2f}; ratio {median(ratios):.3f} ({min(ratios):.3f} to "
            f"{max(ratios):.3f} in {len(ratios)} rounds), aim {BATCH_AIM}"
        )


def measure_batch(name: str, batch: Callable[[int], object]) -> BatchSpeedup:
    """Measure a batch and the minimal programs alternately. An earlier round warms up and is not
    included.
    """
    batch(2)
    run_minimal_programs(2)
    rounds = [(speedup(batch), speedup(run_minimal_programs)) for _ in range(BATCH_ROUNDS)]
    of_batch, of_minimal = zip(*rounds, strict=True)
    return BatchSpeedup(name, of_batch, of_minimal)


def speedup(work: Callable[[int], object]) -> float:
    """Return the wall-clock time on one core divided by that on two cores."""
    return clock_s(work, 1) / clock_s(work, 2)


def main() -> int:
    """Measure and print the speedups of the batches. Return 1 if an aim is missed."""
    if not has_two_cores():
        return 0
    lean.install()
    measured = [measure_batch(name, batch) for name, batch in BATCHES]
    for each in measured:
        print(each.text(), flush=True)
    return int(any(median(each.ratios) < BATCH_AIM for each in measured))


def in_rounds(name: str, work: Callable[[int], object], aim: float) -> TwoCores:
    """Return the measurements of several rounds. An earlier round warms up and is not included."""
    work(2)
    rounds = [(clock_s(work, 1), clock_s(work, 2)) for _ in range(ROUNDS)]
    one_core_s, two_cores_s = zip(*rounds, strict=True)
    return TwoCores(name, one_core_s, two_cores_s, aim)


def clock_s(work: Callable[[int], object], jobs: int) -> float:
    """Return the wall-clock time of `work` with `jobs` parallel jobs. [s]"""
    start_s = time.monotonic()
    work(jobs)
    return time.monotonic() - start_s


if __name__ == "__main__":
    require_release_build()
    sys.exit(main())
