"""Truncated Taylor arithmetic, compared with derivatives computed by hand."""

import numpy as np
import pytest

from lasthop.stability.series import Series, exp, log

X = Series.line(2.0, 1.0, order=3)

BY_HAND = {
    "sum": (lambda x: 3.0 + x + x - 1.0, (6.0, 2.0, 0.0, 0.0)),
    "difference from the left": (lambda x: 5.0 - x, (3.0, -1.0, 0.0, 0.0)),
    "product": (lambda x: x * x * x, (8.0, 12.0, 6.0, 1.0)),
    "reciprocal": (lambda x: 1.0 / x, (0.5, -0.25, 0.125, -0.0625)),
    "quotient": (lambda x: x / (1.0 + x), (2 / 3, 1 / 9, -1 / 27, 1 / 81)),
    "root": (lambda x: x**0.5, (2**0.5, 2**-1.5, -(2**-4.5), 2**-6.5)),
    "logarithm": (log, (np.log(2.0), 0.5, -0.125, 1 / 24)),
    "exponential": (exp, tuple(np.exp(2.0) / f for f in (1, 1, 2, 6))),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_operation_has_the_coefficients_of_its_taylor_series(name: str) -> None:
    function, expected = BY_HAND[name]
    assert np.allclose(function(X).coefficients, expected, rtol=1e-14, atol=1e-15)


def test_arrays_may_be_on_either_side() -> None:
    x = Series.line(np.array([2.0, 3.0]), np.ones(2), order=2)
    factor = np.array([10.0, 100.0])
    assert np.array_equal((factor * x).coefficients, (x * factor).coefficients)
    assert np.allclose((factor / x).value, [5.0, 100.0 / 3.0], rtol=1e-15)
