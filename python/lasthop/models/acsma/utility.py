"""Concave utilities of a user's rate (paper 001, section 5.3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from lasthop.models.acsma.errors import NetworkError


@runtime_checkable
class Utility(Protocol):
    r"""A strictly concave, increasing utility :math:`U(x)` of a rate."""

    def value(self, rate: float) -> float:
        """Return the utility of a rate, :math:`U(x)`, up to a constant."""

    def derivative(self, rate: float) -> float:
        """Return the marginal utility of a rate, :math:`U'(x)`."""

    def rate(self, price: float) -> float:
        """Return the rate at which the marginal utility :math:`U'(x)` equals the price. The rate is
        positive and decreases with the price.
        """

    def rate_slope(self, price: float) -> float:
        """Return the derivative of `rate` by the price, which is negative."""


@dataclass(frozen=True)
class AlphaFair:
    r"""Alpha-fair utility of Mo and Walrand, with :math:`U'(x) = w x^{-a}`.

    Attributes
    ----------
    alpha : float
        Fairness parameter, :math:`a > 0`. The value 1 is proportional fairness, 2 means :math:`U(x)
        = -w/x` as in the paper, and large values approach max-min fairness. [-]
    weight : float
        Weight of the utility, :math:`w > 0`. [-]

    Raises
    ------
    NetworkError
        If the utility is not strictly concave or not increasing.
    """

    alpha: float = 2.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < np.inf:
            raise NetworkError(
                f"utility with alpha = {self.alpha:g} is not concave; alpha is to be above 0"
            )
        if not 0.0 < self.weight < np.inf:
            raise NetworkError(f"utility with weight = {self.weight:g} is not increasing")

    def value(self, rate: float) -> float:
        """Return the utility of a rate, :math:`U(x)`."""
        if self.alpha == 1.0:
            return float(self.weight * np.log(rate))
        return float(self.weight * rate ** (1.0 - self.alpha) / (1.0 - self.alpha))

    def derivative(self, rate: float) -> float:
        """Return the marginal utility of a rate, :math:`U'(x)`."""
        return float(self.weight * rate**-self.alpha)

    def rate(self, price: float) -> float:
        """Return the rate at which the marginal utility :math:`U'(x)` equals the price."""
        return float((self.weight / price) ** (1.0 / self.alpha))

    def rate_slope(self, price: float) -> float:
        """Return the derivative of `rate` by the price."""
        return -self.rate(price) / (self.alpha * price)


class ByPoints:
    r"""Concave utility whose derivative is interpolated between given points.

    Between two points, and beyond the first and the last point, :math:`U'` is a power of the rate.

    Parameters
    ----------
    points : sequence of (float, float)
        Rates and marginal utilities, :math:`x, U'(x)`.
    weight : float
        Factor of the marginal utilities.

    Raises
    ------
    NetworkError
        If there are fewer than two points, if a value is not positive, or if U is not increasing or
        not strictly concave. The rates must increase and the derivatives must decrease.
    """

    def __init__(self, points: Sequence[tuple[float, float]], weight: float = 1.0) -> None:
        table = np.asarray(points, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] != 2:
            raise NetworkError("utility: two points of rate and derivative are needed")
        if not (np.isfinite(table).all() and (table > 0.0).all() and 0.0 < weight < np.inf):
            raise NetworkError("utility: rates, derivatives and weight are to be above 0")
        self._rates, self._derivatives = np.log(table).T
        self._derivatives += np.log(weight)
        if not (np.diff(self._rates) > 0.0).all():
            raise NetworkError("utility: the rates of its points are to rise")
        self._slopes = np.diff(self._derivatives) / np.diff(self._rates)
        if not (self._slopes < 0.0).all():
            place = int(np.argmax(self._slopes >= 0.0)) + 1
            raise NetworkError(
                f"utility is not concave: its derivative does not fall before rate "
                f"{table[place, 0]:.3g}"
            )

    def value(self, rate: float) -> float:
        """Return the utility of a rate, :math:`U(x)`, up to a constant."""
        start = np.exp(self._rates[0])
        inner = np.exp(self._rates[1:-1])
        low, high = sorted((start, rate))
        ends = [low, *inner[(inner > low) & (inner < high)], high]
        area = sum(self._area(a, b) for a, b in pairwise(ends))
        return float(area if rate >= start else -area)

    def _area(self, low: float, high: float) -> float:
        """Return the integral of the marginal utility between two rates, if :math:`U'` is a single
        power of the rate between them."""
        power = 1.0 + self._slopes[self._piece(np.log(low * high) / 2.0)]
        at_low, at_high = (self.derivative(rate) * rate for rate in (low, high))
        if abs(power) < 1e-9:
            return at_low * float(np.log(high / low))
        return float((at_high - at_low) / power)

    def _piece(self, log_rate: float) -> int:
        return int(np.searchsorted(self._rates[1:-1], log_rate))

    def derivative(self, rate: float) -> float:
        """Return the marginal utility of a rate, :math:`U'(x)`."""
        log_rate = np.log(rate)
        k = self._piece(log_rate)
        return float(np.exp(self._derivatives[k] + (log_rate - self._rates[k]) * self._slopes[k]))

    def rate(self, price: float) -> float:
        """Return the rate at which the marginal utility :math:`U'(x)` equals the price."""
        k = self._priced(price)
        log_rate = self._rates[k] + (np.log(price) - self._derivatives[k]) / self._slopes[k]
        return float(np.exp(log_rate))

    def _priced(self, price: float) -> int:
        return int(np.searchsorted(-self._derivatives[1:-1], -np.log(price)))

    def rate_slope(self, price: float) -> float:
        """Return the derivative of `rate` by the price. At a given point the derivative is
        one-sided.
        """
        return float(self.rate(price) / (self._slopes[self._priced(price)] * price))
