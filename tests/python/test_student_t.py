"""Quantiles of Student's t distribution."""

import pytest
from scipy.special import stdtrit

from lasthop.answers.student_t import student_t_975


@pytest.mark.parametrize("degrees", [*range(1, 60), 100, 500, 998, 999, 1000, 5000])
def test_quantile_is_that_of_scipy(degrees: int) -> None:
    # Versions of scipy may differ by rounding errors of some units in the last place.
    assert student_t_975(degrees) == pytest.approx(float(stdtrit(degrees, 0.975)), rel=1e-14)


def test_quantile_worked_by_hand() -> None:
    # With 2 degrees of freedom, t = u / sqrt(2 p (1 - p)) with u = 2 p - 1 and p = 0.975.
    assert student_t_975(2) == pytest.approx(0.95 / (2 * 0.975 * 0.025) ** 0.5, rel=1e-14)
