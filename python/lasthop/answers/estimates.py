"""Means of independent values, with confidence intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from lasthop.answers.digits import estimate
from lasthop.answers.student_t import student_t_975


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % confidence interval. The half width is None with fewer
    than two values.
    """

    mean: float
    ci95: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """Return the mean of independent values with Student's confidence interval."""
        from statistics import fmean, stdev

        if len(values) < 2:
            return cls(fmean(values), None)
        half = student_t_975(len(values) - 1) * stdev(values) / sqrt(len(values))
        return cls(fmean(values), half)

    @classmethod
    def read(cls, value: Mapping[str, Any] | None) -> "Estimate | None":
        """Return the estimate from its JSON object in a result; None if the object has no mean."""
        if value is None or value.get("mean") is None:
            return None
        return cls(float(value["mean"]), value.get("ci95"))

    def text(self, scale: float = 1.0) -> str:
        """Return mean and half width as text, after multiplication by a factor."""
        return estimate(self.mean * scale, None if self.ci95 is None else self.ci95 * scale)

    def to_dict(self) -> dict[str, float | None]:
        """Return the estimate as an object with the keys ``mean`` and ``ci95``."""
        return {"mean": self.mean, "ci95": self.ci95}


def estimate_text(value: Estimate | None, scale: float = 1.0) -> str:
    """Return an estimate as text, after multiplication by a factor; `-` if there is no estimate."""
    return "-" if value is None else value.text(scale)


def estimates_of(items: Iterable[Mapping[str, Any]], quantity: str) -> dict[str, Estimate]:
    """Return the estimates of a quantity by item name. Items without the quantity are left out."""
    values = ((item["name"], Estimate.read(item.get(quantity))) for item in items)
    return {name: value for name, value in values if value is not None}
