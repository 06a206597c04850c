"""Compare simulations with emulations in simulated time, for one scenario of the grid.

Emulation and simulation have the same network. If a link loses packets at random, emulation and
simulation with the same seed lose the same packets: both lose the n-th packet, or neither does.
Their results are then compared seed by seed. The confidence interval is that of the differences,
which vary much less than the results. In all other scenarios, the means of emulations and
simulations are independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from equivalence import Agreement, Difference
from kernel_tcp_page import QUANTITIES, Both, estimate
from kernel_tcp_points import AS_THEY_ARE, Point

from lasthop.answers.estimates import Estimate

JUDGED = ("goodput_bps", "loss", "queue_packets")
"""Quantities for which equality is tested."""

Seen = Mapping[str, Any]


def is_paired(point: Point) -> bool:
    """Return whether emulation and simulation with the same seed lose the same packets, so that
    they are compared seed by seed.
    """
    return "loss" in point.tree["link"]["bottleneck"]


def needs_more(point: Point, engine: Seen) -> bool:
    """Return whether more replications are needed, because a confidence interval of the simulations
    is too wide. An interval is too wide if its half width exceeds half the band of equality.

    If simulations are compared with emulations seed by seed, no more replications are needed.
    """
    if is_paired(point):
        return False
    for key in JUDGED:
        by_period = engine["by_period"] if key == "loss" and engine.get("by_period") else None
        simulated = estimate(by_period or [run[key] for run in engine["runs"]])
        if (
            simulated is not None
            and simulated.ci95 is not None
            and simulated.ci95 > QUANTITIES[key][3] / 2 * abs(simulated.mean)
        ):
            return True
    return False


def paired_difference(
    reference: Sequence[float], other: Sequence[float], band: float
) -> Difference:
    """Return the relative difference of the mean of `other` from the mean of `reference`. The
    values of both have the same seeds, in the same order.
    """
    size = fmean(reference)
    if size == 0.0:
        return Difference.of(Estimate.of(reference), Estimate.of(other), band)
    paired = Estimate.of([b - a for a, b in zip(reference, other, strict=True)])
    half = None if paired.ci95 is None else paired.ci95 / size
    return Difference(paired.mean / size, half, band)


@dataclass(frozen=True)
class Compared(Both):
    """Results of a scenario in simulated time. The kernel's results are ordered by seed."""

    @classmethod
    def of(cls, point: Point, engine: Seen | None, kernel: Sequence[Seen]) -> "Compared":
        """Return the comparison of a simulation with emulations. The seeds of the emulations are 1,
        2, ...
        """
        return cls(point, AS_THEY_ARE, engine, kernel, [])

    def pairs(self, key: str) -> bool:
        """Return whether a quantity of the simulations and the emulations is compared seed by
        seed.
        """
        has_both = self.engine is not None and bool(self.kernel)
        return has_both and is_paired(self.point) and not self.counts_periods(key)

    def by_seed(self, key: str) -> list[float]:
        """Return the values of the simulations that have the seeds of the emulations."""
        runs = [] if self.engine is None else self.engine["by_seed"]
        return [run[key] for run in runs[: len(self.kernel)]]

    def of_engine(self, key: str) -> Estimate | None:
        """Return the mean of a quantity over the simulations. If simulations and emulations are
        compared seed by seed, only simulations with the seeds of the emulations count.
        """
        return Estimate.of(self.by_seed(key)) if self.pairs(key) else super().of_engine(key)

    def difference(self, key: str) -> Difference | None:
        """Return the relative difference of the kernel's value from the engine's, with its
        confidence interval.
        """
        if not self.pairs(key):
            return super().difference(key)
        theirs = [run["figures"][key] for run in self.kernel]
        return paired_difference(self.by_seed(key), theirs, QUANTITIES[key][3])

    def how_far(self, key: str) -> str:
        """Return the difference of the kernel's value from the engine's, as text."""
        if self.difference(key) is None and self.counts_periods(key):
            return "packet loss unknown: too few periods"
        return super().how_far(key)

    @property
    def is_undecided(self) -> bool:
        """Whether the comparison is undecided for at least one quantity."""
        return any(self.agreement(key) is Agreement.UNDECIDED for key in JUDGED)
