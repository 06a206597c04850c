"""Stability charts: the rightmost root over a rectangle of two parameters."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.progress.steps import step
from lasthop.stability.axis import Axis, axis_of
from lasthop.stability.case import Case
from lasthop.stability.cells import Cell, cells
from lasthop.stability.cost import check_cost
from lasthop.stability.curve import HopfCurve, hopf_curves
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError, ParameterError
from lasthop.stability.spectrum import leading, resolved_by

HALVINGS = 24
"""Number of bisections between two grid points that locate a corner of the equations: a point at
which their derivatives jump.
"""

SEEN = 14
"""Number of values of each parameter from which the cost of a chart is estimated. [-]
"""

Part = tuple[slice, slice]
"""Part of a grid: a slice of its rows and a slice of its columns."""

Progress = Callable[[int, int], None]
"""Function that is called with the number of finished rows and the number of all rows."""


@dataclass(frozen=True)
class Chart:
    """Stability chart: stability of a case over two parameters.

    Parameters
    ----------
    case : Case
        Case with all other parameters.
    x, y : Axis
        Axes of the two parameters.
    x_values, y_values : array
        Values of the grid.
    abscissa : array
        Real part of the rightmost root, one row per y; NaN without an equilibrium. [1/s]
    frequency : array
        Imaginary part of the rightmost root, one row per y. [rad/s]
    curves : list of HopfCurve
        Curves of Hopf points; they bound the stable region where their `boundary` is true.
    jumps : array
        Points of x and y, one row per point, at which stability changes without a Hopf point
        because the equilibrium reaches a corner of the equations. The points are on the lines of
        the grid.
    cells : list of Cell
        Cells of the grid that are refined, because the grid does not show the edge of stability in
        these cells correctly.
    """

    case: Case
    x: Axis
    y: Axis
    x_values: NDArray[np.float64]
    y_values: NDArray[np.float64]
    abscissa: NDArray[np.float64]
    frequency: NDArray[np.float64]
    curves: list[HopfCurve]
    jumps: NDArray[np.float64]
    cells: list[Cell]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether the equilibrium is stable, for each point of the grid; false without an
        equilibrium.
        """
        return np.asarray(self.abscissa < 0.0)


def chart(case: Case, x: Axis, y: Axis, size: int = 100, progress: Progress | None = None) -> Chart:
    """Return the stability chart of a case over two parameters.

    Parameters
    ----------
    case : Case
        Case with all other parameters.
    x, y : Axis
        Axes of the two parameters.
    size : int
        Number of values of each axis, unless the axis sets it. [-]
    progress : callable, optional
        Function that is called with the number of finished rows and the number of all rows.

    Raises
    ------
    ConvergenceError
        If the rightmost root is not certain at a point of the chart.
    NoEquilibriumError
        If there is no equilibrium at any point of the chart.
    TooCostlyError
        If the computation would need more time or memory than its limits.
    """
    for axis in (x, y):
        if not isinstance(axis, Axis):
            raise ParameterError(f"{axis!r} is no Axis", 'Axis("rtt", 0.01, 1.0) is one')
    if size < 2:
        raise ParameterError(f"`size`: {size} is not at least 2")
    if x.name == y.name:
        raise ParameterError(f"`{x.name}`: both axes of the chart are the same parameter")
    for axis, other in ((x, y), (y, x)):
        if case.model.overrides.get(axis.name) == other.name:
            raise ParameterError(f"`{other.name}` determines `{axis.name}`: vary only one of them")
        axis_of(case, axis.name, axis.low, axis.high)
    x_values, y_values = (axis.value(axis.places(size)) for axis in (x, y))
    wide, high = len(x_values), len(y_values)
    _check_cost(case, x, y, wide, high)
    result = np.full((high, wide), np.nan + 0j)
    pieces = np.zeros((high, wide), dtype=np.int64)

    def fill(row: int) -> None:
        present = {x.name: x_values, y.name: np.full(wide, y_values[row])}
        pieces[row] = case.pieces(**present)
        rest, linear = case.over(**present)
        sound = np.all(np.isfinite(rest), axis=0)
        if sound.any():
            result[row, sound] = leading(linear[sound])
        if np.any(np.isnan(result[row, sound])):
            raise ConvergenceError(
                f"{case.model.name}: the rightmost root is not sure everywhere "
                f"along {y.name} = {y_values[row]:g}"
            )

    # Each thread runs in a copy of the context, because the context contains the cost limits.
    contexts = [copy_context() for _ in range(high)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # numpy releases the GIL
        for row, _ in enumerate(pool.map(lambda row: contexts[row].run(fill, row), range(high))):
            if progress is not None:
                progress(row + 1, high)
    if not np.isfinite(result).any():
        # The case has no equilibrium; this line raises the error that contains the reason.
        _ = case.with_(**{x.name: x.low, y.name: y.low}).equilibrium
        raise NoEquilibriumError(f"{case.model.name}: no equilibrium anywhere in the chart")
    with step("looking for edges of stability") as edges:
        part = np.mean(result.real < 0.0)
        edges.report_early(f"stable on {part:.1%} of the chart; its edges are looked for")
        ends = (wide - 1.0, high - 1.0)
        jumps, smooth = split(
            case, x, y, changes(result.real) / ends, corners(result.real, pieces) / ends
        )
        curves = hopf_curves(case, x, y, smooth)
        finer = cells(case, x, y, result.real, curves, jumps)
    return Chart(
        case, x, y, x_values, y_values, result.real, np.abs(result.imag), curves, jumps, finer
    )


def _check_cost(case: Case, x: Axis, y: Axis, wide: int, high: int) -> None:
    """Raise an error if the grid would exceed the cost limits, by an estimate from some of its
    points.
    """
    across, up = min(wide, SEEN), min(high, SEEN)
    at = np.meshgrid(
        x.value((np.arange(across) + 0.5) / across), y.value((np.arange(up) + 0.5) / up)
    )
    rest, linear = case.over(**{x.name: at[0].ravel(), y.name: at[1].ravel()})
    sound = linear[np.all(np.isfinite(rest), axis=0)]
    what = f"{case.model.name}: a chart of {wide} x {high} values of {x.name} and {y.name}"
    check_cost(what, sound, resolved_by(sound), copies=(wide / across) * (high / up))


def changes(abscissa: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return pairs of neighbouring grid points, one stable and one unstable. The axes of the array
    are the pair, the point of the pair (first or second), and the coordinate (index on x or on y).
    """
    sign = np.sign(abscissa)
    # At a point without an equilibrium the sign is NaN, so that the comparison is false.
    return _pairs(lambda near, far: sign[near] * sign[far] < 0.0)


def corners(abscissa: NDArray[np.float64], pieces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return pairs of neighbouring grid points between which the equations have a corner: the
    points belong to different smooth pieces.

    The function also returns pairs of two stable points, since the unstable strip between a corner
    and a Hopf point may be arbitrarily thin.
    """
    rests = np.isfinite(abscissa)
    return _pairs(lambda near, far: rests[near] & rests[far] & (pieces[near] != pieces[far]))


def _pairs(between: Callable[[Part, Part], NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Return the pairs of neighbouring grid points that pass a test. The function `between` is
    called with two slices of the grid, which contain the first and the second points of the pairs.
    The function `between` returns whether each pair passes.
    """
    results = []
    for along in ((0, 1), (1, 0)):
        far = (slice(along[0], None), slice(along[1], None))
        near = (slice(None, -along[0] or None), slice(None, -along[1] or None))
        places = np.argwhere(between(near, far))[:, ::-1]
        results.append(np.stack([places, places + along[::-1]], axis=1))
    return np.concatenate(results).astype(np.float64)


def split(
    case: Case,
    x: Axis,
    y: Axis,
    pairs: NDArray[np.float64],
    cornered: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points x and y at which stability changes at a corner of the equations, and the
    pairs of neighbours without such a point.

    Parameters
    ----------
    case : Case
        Case that sets all other parameters.
    x, y : Axis
        Axes of the two parameters.
    pairs : array
        Pairs of neighbouring points, one stable and one unstable.
    cornered : array
        Pairs of neighbouring points between which the equations have a corner.
    """

    def values(at: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return {x.name: x.value(at[:, 0]), y.name: y.value(at[:, 1])}

    def stable(at: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(leading(case.over(**values(at))[1]).real < 0.0)

    if len(cornered) == 0:
        return np.empty((0, 2)), pairs
    low, high = cornered[:, 0], cornered[:, 1]
    first = case.pieces(**values(low))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = (case.pieces(**values(middle)) == first)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    differ = stable(low) != stable(high)
    # If stability changes at a corner, there need not be a Hopf point between the stable and the
    # unstable point of the pair. If stability is equal on both sides of the corner, a Hopf point is
    # close to the corner.
    known = {pair.tobytes() for pair in cornered[differ]}
    smooth = np.array([pair.tobytes() not in known for pair in pairs], dtype=np.bool_)
    jumps = low[differ]
    return np.stack([x.value(jumps[:, 0]), y.value(jumps[:, 1])], axis=-1), pairs[smooth]
