"""Stability charts: the rightmost root over a rectangle of two parameters."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.axis import Axis, axis_of
from lasthop.stability.case import Case
from lasthop.stability.curve import HopfCurve, hopf_curves
from lasthop.stability.errors import NoEquilibriumError, ParameterError
from lasthop.stability.spectrum import collocated

__all__ = ["Chart", "chart"]

POINTS = 12
"""Chebyshev points: the rightmost root to about 1e-8 of 1/tau."""

Progress = Callable[[int, int], None]
"""Told how many rows are done, of how many."""


@dataclass(frozen=True)
class Chart:
    """Where a case is stable, over two parameters.

    Parameters
    ----------
    case : Case
        All other parameters.
    x, y : Axis
        The two parameters.
    x_values, y_values : array
        The grid.
    abscissa : array
        Real part of the rightmost root, a row for each y; NaN without equilibrium. [1/s]
    frequency : array
        Its imaginary part. [rad/s]
    curves : list of HopfCurve
        Hopf points, traced; they bound the stable region where `boundary` says so.
    """

    case: Case
    x: Axis
    y: Axis
    x_values: NDArray[np.float64]
    y_values: NDArray[np.float64]
    abscissa: NDArray[np.float64]
    frequency: NDArray[np.float64]
    curves: list[HopfCurve]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Where the equilibrium is stable; false without one."""
        return np.asarray(self.abscissa < 0.0)


def chart(case: Case, x: Axis, y: Axis, size: int = 100, progress: Progress | None = None) -> Chart:
    """Return the stability chart of a case over two parameters.

    Parameters
    ----------
    case : Case
        All other parameters.
    x, y : Axis
        The two parameters.
    size : int
        Values of each. [-]
    progress : callable, optional
        Told how many rows are done, of how many.

    Raises
    ------
    NoEquilibriumError
        If there is no equilibrium anywhere.
    """
    for axis in (x, y):
        if not isinstance(axis, Axis):
            raise ParameterError(f"{axis!r} is no Axis", 'Axis("rtt", 0.01, 1.0) is one')
    if x.name == y.name:
        raise ParameterError(f"`{x.name}`: both axes of the chart are the same parameter")
    for axis, other in ((x, y), (y, x)):
        if case.model.overrides.get(axis.name) == other.name:
            raise ParameterError(f"`{other.name}` decides what `{axis.name}` is: vary one of them")
        axis_of(case, axis.name, axis.low, axis.high)
    x_values, y_values = (axis.value(np.linspace(0.0, 1.0, size)) for axis in (x, y))
    leading = np.full((size, size), np.nan + 0j)
    for row, value in enumerate(y_values):
        rest, linear = case.over(**{x.name: x_values, y.name: np.full(size, value)})
        sound = np.all(np.isfinite(rest), axis=0)
        if sound.any():
            leading[row, sound] = collocated(linear[sound], POINTS)[:, 0]
        if progress is not None:
            progress(row + 1, size)
    if not np.isfinite(leading).any():
        _ = case.with_(**{x.name: x.low, y.name: y.low}).equilibrium  # Says why.
        raise NoEquilibriumError(f"{case.model.name}: no equilibrium anywhere in the chart")
    curves = hopf_curves(case, x, y)
    return Chart(case, x, y, x_values, y_values, leading.real, np.abs(leading.imag), curves)
