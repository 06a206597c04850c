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


@dataclass(frozen=True)
class Compared(Both):
    """Results of a scenario in simulated time. The kernel's results are ordered by seed."""

    @classmethod
    def of(cls, point: Point, engine: Seen | None, kernel: Sequence[Seen]) -> "Compared":
        """Return the comparison of a simulation with emulations. The seeds of the emulations are 1,
        2, ...
        """
        return cls(point, AS_THEY_ARE, engine, kernel, [])

    def difference(self, key: str) -> Difference | None:
        """Return the relative difference of the kernel's value from the engine's, with its
        confidence interval.
        """
        if not is_paired(self.point) or self.counts_periods(key) or self.engine is None:
            return super().difference(key)
        theirs = [run["figures"][key] for run in self.kernel]
        ours = [run[key] for run in self.engine["by_seed"][: len(theirs)]]
        paired = Estimate.of([b - a for a, b in zip(ours, theirs, strict=True)])
        reference = fmean(ours)
        if reference == 0.0:
            return super().difference(key)
        half = None if paired.ci95 is None else paired.ci95 / reference
        return Difference(paired.mean / reference, half, QUANTITIES[key][3])

    def how_far(self, key: str) -> str:
        """Return the difference of the kernel's value from the engine's, as text."""
        if self.difference(key) is None and self.counts_periods(key):
            return "packet loss unknown: too few periods"
        return super().how_far(key)

    @property
    def is_undecided(self) -> bool:
        """Whether the comparison is undecided for at least one quantity."""
        return any(self.agreement(key) is Agreement.UNDECIDED for key in JUDGED)
