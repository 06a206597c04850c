"""Truncated Taylor arithmetic: exact derivatives of a formula along a direction.

A `Series` is a polynomial in one small variable s, truncated after a given power. If the argument
of a formula is the series ``x + s v`` instead of x, the result contains the Taylor coefficients of
the formula. The k-th derivative in the direction v is k! times coefficient k. Coefficients may be
complex and may have further axes, so that one evaluation serves a whole chart.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Series:
    """A polynomial in one small variable, truncated after its highest power.

    Parameters
    ----------
    coefficients : array
        Coefficient of power k at index k of the first axis.
    """

    # The value None makes numpy leave operations between an array and a series to the methods of
    # `Series`.
    __array_ufunc__ = None

    def __init__(self, coefficients: Any) -> None:
        self.coefficients: NDArray[Any] = np.asarray(coefficients)

    @classmethod
    def line(cls, *coefficients: Any, order: int) -> "Series":
        """Return a series of the given order from its lowest coefficients; higher coefficients are
        0.
        """
        given = np.broadcast_arrays(*map(np.asarray, coefficients))
        rest = np.zeros((order + 1 - len(given), *given[0].shape))
        return cls(np.concatenate([np.stack(given), rest]))

    @property
    def value(self) -> Any:
        """Value of the series at s = 0."""
        return self.coefficients[0]

    def __add__(self, other: Any) -> "Series":
        if isinstance(other, Series):
            return Series(self.coefficients + other.coefficients)
        return self._with_first(self.coefficients[0] + other, self.coefficients)

    __radd__ = __add__

    def __neg__(self) -> "Series":
        return Series(-self.coefficients)

    def __sub__(self, other: Any) -> "Series":
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> "Series":
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> "Series":
        if not isinstance(other, Series):
            return Series(self.coefficients * other)
        a, b = self.coefficients, other.coefficients
        return _stacked([sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Series":
        if isinstance(other, Series):
            return self.__mul__(other.__pow__(-1.0))
        return Series(self.coefficients / other)

    def __rtruediv__(self, other: Any) -> "Series":
        return self.__pow__(-1.0).__mul__(other)

    def __pow__(self, exponent: Any) -> "Series":
        x = self.coefficients
        y = [x[0] ** exponent]
        for k in range(1, len(x)):
            terms = ((j * exponent - (k - j)) * x[j] * y[k - j] for j in range(1, k + 1))
            y.append(sum(terms) / (k * x[0]))
        return _stacked(y)

    def log(self) -> "Series":
        """Return the natural logarithm of the series."""
        x = self.coefficients
        y: list[Any] = [np.log(x[0])]
        for k in range(1, len(x)):
            inner = sum(j * y[j] * x[k - j] for j in range(1, k))
            y.append((x[k] - inner / k) / x[0])
        return _stacked(y)

    def exp(self) -> "Series":
        """Return the exponential of the series."""
        x = self.coefficients
        y: list[Any] = [np.exp(x[0])]
        for k in range(1, len(x)):
            y.append(sum(j * x[j] * y[k - j] for j in range(1, k + 1)) / k)
        return _stacked(y)

    @staticmethod
    def _with_first(first: Any, rest: NDArray[Any]) -> "Series":
        return _stacked([first, *rest[1:]])


def unit_lines(values: NDArray[np.float64]) -> list[Series]:
    """Return a series of first order for each value, each with a separate direction of change.

    If a formula is evaluated with these series, coefficient 1 of the result has the derivatives by
    all values, one row per value.
    """
    count = len(values)
    unit = np.eye(count).reshape(count, count, *[1] * (values.ndim - 1))
    pairs = zip(values, unit, strict=True)
    shape = (count, *values.shape[1:])
    return [Series(np.stack([np.broadcast_to(each, shape) for each in pair])) for pair in pairs]


def _stacked(coefficients: Sequence[Any]) -> Series:
    return Series(np.stack(np.broadcast_arrays(*coefficients)))


def log(x: Any) -> Any:
    """Return the natural logarithm of a number, an array or a series."""
    return x.log() if isinstance(x, Series) else np.log(x)


def exp(x: Any) -> Any:
    """Return the exponential of a number, an array or a series."""
    return x.exp() if isinstance(x, Series) else np.exp(x)


def larger(x: Any, least: float) -> Any:
    """Return the maximum of a value (a number, an array or a series) and a constant.

    A series is compared by its value at s = 0. The derivatives of the result therefore jump where
    this value equals `least`.
    """
    if not isinstance(x, Series):
        return np.maximum(x, least) if isinstance(x, np.ndarray) else max(x, least)
    constant = np.zeros_like(x.coefficients)
    constant[0] = least
    return Series(np.where(np.real(x.coefficients[0]) < least, constant, x.coefficients))
