"""Arrangement of panels: one above the other, or in two columns if they are too tall for a
screen.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

TALLEST_MM = 125.0
"""Maximum total height of panels in one column. If the panels are taller, they form two columns.
[mm]"""

Columns = Sequence[Sequence[int]]


def in_columns(heights_mm: Sequence[float]) -> list[list[int]]:
    """Return the indices of the panels per column: one column, or two of about equal height.

    Parameters
    ----------
    heights_mm : sequence of float
        Height of each panel. [mm]
    """
    every = list(range(len(heights_mm)))
    if sum(heights_mm) <= TALLEST_MM or len(every) < 2:
        return [every]
    return in_two(heights_mm)


def in_two(heights_mm: Sequence[float]) -> list[list[int]]:
    """Return the indices of the panels in two columns of about equal height."""
    every = list(range(len(heights_mm)))
    first = min(every[1:], key=lambda k: max(sum(heights_mm[:k]), sum(heights_mm[k:])))
    return [every[:first], every[first:]]


def tallest(columns: Columns, heights_mm: Sequence[float]) -> float:
    """Return the height of the tallest column. [mm]"""
    return max(sum(heights_mm[k] for k in column) for column in columns)


def stacked(figure: MatplotlibFigure, columns: Columns, heights_mm: Sequence[float]) -> list[Axes]:
    """Create the axes of all panels, and return them in order. Below the shorter column, space is
    empty.
    """
    total = tallest(columns, heights_mm)
    places = [figure]
    if (
        len(columns) > 1
    ):  # With subfigures, long row names in one column do not affect the width of the other.
        places = list(figure.subfigures(1, len(columns)))  # type: ignore[arg-type]
    axes = []
    for place, column in zip(places, columns, strict=True):
        heights = [heights_mm[k] for k in column]
        rest = total - sum(heights)
        ratios = [*heights, rest] if rest > 0.0 else heights
        grid = place.add_gridspec(len(ratios), 1, height_ratios=ratios)
        axes += [place.add_subplot(grid[row]) for row in range(len(heights))]
    return axes
