"""Means of independent values with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % interval, None with fewer than two values."""

    mean: float
    ci95: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """Mean of independent values with Student's interval."""
        if len(values) < 2:
            return cls(fmean(values), None)
        from scipy.special import stdtrit

        quantile = float(stdtrit(len(values) - 1, 0.975))
        return cls(fmean(values), quantile * stdev(values) / sqrt(len(values)))

    def to_dict(self) -> dict[str, float | None]:
        """Return the estimate as results contain it."""
        return {"mean": self.mean, "ci95": self.ci95}
