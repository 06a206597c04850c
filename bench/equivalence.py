"""Test whether two means are equal within a band. The result is equal, different, or undecided.

The means are equal if the whole 95 % confidence interval of their difference is inside the band.
The means are different if the whole interval is outside the band. In all other cases the result is
undecided, and more runs are needed. Overlapping intervals do not show equality: wide intervals
overlap even if the means differ (D. J. Schuirmann, "A comparison of the two one-sided tests
procedure ...", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). All benchmarks in this
folder use this test.
"""

from dataclasses import dataclass
from enum import Enum
from math import hypot, inf

from lasthop.answers.estimates import Estimate


class Agreement(Enum):
    """Outcome of a comparison of two means."""

    EQUAL = "equal"
    APART = "apart"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Difference:
    """Relative difference of a mean from a reference.

    Attributes
    ----------
    part : float
        Difference divided by the reference; infinite if only the reference is 0. [-]
    half : float or None
        Half width of the 95 % interval of `part`, for independent means; None if a mean has no
        interval. [-]
    band : float
        Largest relative difference at which two means are called equal. [-]
    """

    part: float
    half: float | None
    band: float

    @classmethod
    def of(cls, reference: Estimate, other: Estimate, band: float) -> "Difference":
        """Return the difference of the mean `other` from the mean `reference`. `band` is the
        largest relative difference at which the two are called equal."""
        halves = reference.ci95, other.ci95
        half = None if None in halves else hypot(*(each or 0.0 for each in halves))
        difference = other.mean - reference.mean
        if reference.mean == 0.0:
            return cls(inf if difference else 0.0, inf if half else half, band)
        size = abs(reference.mean)
        return cls(difference / size, None if half is None else half / size, band)

    @property
    def agreement(self) -> Agreement:
        """Return equal, different, or undecided: the confidence interval is inside the band,
        outside, or partly inside.
        """
        if self.half is None or self.half == inf:
            return Agreement.UNDECIDED
        if abs(self.part) + self.half <= self.band:
            return Agreement.EQUAL
        if abs(self.part) - self.half > self.band:
            return Agreement.APART
        return Agreement.UNDECIDED

    @property
    def words(self) -> str:
        """Return the difference as text, with a question mark if the result is undecided."""
        much = "none in the reference" if self.part == inf else f"{self.part:+.0%}"
        if self.agreement is not Agreement.UNDECIDED:
            return much
        half = "no interval" if self.half is None else f"± {self.half:.0%}"
        return f"{much} {half} (?)" if self.half != inf else f"{much} (?)"


def agreement(reference: Estimate | None, other: Estimate | None, band: float) -> Agreement:
    """Return whether two means are equal within a band. The result is undecided if a mean is
    missing.
    """
    if reference is None or other is None:
        return Agreement.UNDECIDED
    return Difference.of(reference, other, band).agreement
