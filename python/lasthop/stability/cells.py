"""Refinement of a chart: grid cells are subdivided if the grid does not show the edge of stability
correctly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.axis import Axis
from lasthop.stability.case import Case
from lasthop.stability.curve import HopfCurve
from lasthop.stability.spectrum import leading

Array = NDArray[np.float64]

FINEST = 8
"""Largest number of parts into which the side of a grid cell is divided. [-]"""
PARTS = 400
"""Largest number of parts into which the side of the whole chart is divided, if all its cells are
refined. [-]
"""
BATCH = 400
"""Number of points of a chart whose roots are computed in one batch. The number limits the memory
of the matrices. [-]
"""


@dataclass(frozen=True)
class Cell:
    """A refined cell of a chart's grid.

    Parameters
    ----------
    column, row : int
        Indices of the cell's lower corner on the grid of x and y. [-]
    abscissa : array
        Real part of the rightmost root at equally spaced points of the cell, including its edges;
        one row per value of y. [1/s]
    """

    column: int
    row: int
    abscissa: Array


def cells(
    case: Case, x: Axis, y: Axis, abscissa: Array, curves: Sequence[HopfCurve], jumps: Array
) -> list[Cell]:
    """Return the refined cells of a grid. An edge of stability crosses each of these cells,
    although all four corners of the cell are stable or all are unstable. Cells next to a jump are
    also refined.

    In a cell with a jump of the rightmost root, stability between the corners is unknown. If all
    corners of a crossed cell are stable, or all are unstable, the cell contains a strip that is
    thinner than the cell.
    """
    high, wide = abscissa.shape
    parts = min(FINEST, PARTS // max(high, wide))
    if parts < 2:
        return []
    shape = np.array([wide - 1, high - 1])
    corners = np.stack([(abscissa < 0.0)[k : high - 1 + k, j : wide - 1 + j] for k, j in _CORNERS])
    alike = np.all(corners == corners[0], axis=0)
    passed = {(i, j) for i, j in _passed(x, y, curves, shape) if alike[j, i]}
    passed |= _neighbours(x, y, jumps, shape)
    if not passed:
        return []
    order = np.array(sorted(passed))
    steps = np.arange(parts + 1) / parts
    across = (order[:, 0, None, None] + steps[None, None, :]) / shape[0] + 0.0 * steps[:, None]
    up = (order[:, 1, None, None] + steps[None, :, None]) / shape[1] + 0.0 * steps
    values = _abscissa(case, x, y, across.ravel(), up.ravel()).reshape(across.shape)
    return [Cell(int(i), int(j), value) for (i, j), value in zip(order, values, strict=True)]


_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _passed(
    x: Axis, y: Axis, curves: Sequence[HopfCurve], shape: NDArray[np.int64]
) -> set[tuple[int, int]]:
    """Return the cells through which Hopf curves pass. Only pieces of a curve that bound the stable
    region are used.
    """
    results: set[tuple[int, int]] = set()
    for curve in curves:
        places = np.stack([_places(x, curve.x), _places(y, curve.y)], axis=-1) * shape
        for k in np.flatnonzero(curve.boundary[:-1] & curve.boundary[1:]):
            ways = places[k + 1] - places[k]
            part = np.linspace(0.0, 1.0, 2 + int(4.0 * np.abs(ways).max()))[:, None]
            on = np.clip((places[k] + part * ways).astype(int), 0, shape - 1)
            results |= {(int(i), int(j)) for i, j in on}
    return results


def _neighbours(x: Axis, y: Axis, jumps: Array, shape: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Return the two grid cells next to each jump. A jump is a point on a grid line at which the
    derivatives of the equations change abruptly.
    """
    places = np.stack([_places(x, jumps[:, 0]), _places(y, jumps[:, 1])], axis=-1) * shape
    ends = [np.clip(np.floor(places + s).astype(int), 0, shape - 1) for s in (-1e-5, 1e-5)]
    return {(int(i), int(j)) for end in ends for i, j in end}


def _places(axis: Axis, values: Array) -> Array:
    """Return the relative positions of values on an axis, from 0 to 1."""
    return np.array([axis.place(float(value)) for value in values])


def _abscissa(case: Case, x: Axis, y: Axis, across: Array, up: Array) -> Array:
    """Return the real part of the rightmost root at points of a chart; NaN without an equilibrium.
    [1/s]
    """
    result = np.full(len(across), np.nan)
    for start in range(0, len(across), BATCH):
        some = slice(start, start + BATCH)
        rest, linear = case.over(**{x.name: x.value(across[some]), y.name: y.value(up[some])})
        sound = np.all(np.isfinite(rest), axis=0)
        if sound.any():
            result[np.flatnonzero(sound) + start] = leading(linear[sound]).real
    return result
