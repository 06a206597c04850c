"""Layout of a sweep's picture: which swept path is the abscissa, and which paths form lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.errors import UserError
from lasthop.plot.about import cut
from lasthop.plot.swept import MAX_LINES, Axis
from lasthop.plot.ticks import MAX_POINTS, Ticks, ticks_beside

if TYPE_CHECKING:
    from lasthop.sweep import Sweep
    from lasthop.sweep.grid import Grid

MAX_CATEGORIES = 40
"""Maximum number of categories on the abscissa, each with a row. More categories are an error."""

FEW_FOR_LINES = 6
"""Maximum number of values of a path for which each value is drawn as a line. A path with more
values becomes a side of a map.
"""


@dataclass(frozen=True)
class Layout:
    """Assignment of the swept paths to the parts of a picture.

    Parameters
    ----------
    x : Axis
        Abscissa.
    x_paths, line_paths : tuple of int
        Indices of the paths that form the axis `x`, and of the paths that form the axis `lines`.
    lines : Axis, optional
        Axis whose values are the lines, or the rows of a map.
    is_map : bool
        Whether `x` and `lines` are the sides of a map.
    others : tuple of Axis
        Other paths that vary together with `x`.
    ticks : Ticks, optional
        Ticks of `x` with the values of all paths, if there is space.
    """

    x: Axis
    x_paths: tuple[int, ...]
    lines: Axis | None = None
    line_paths: tuple[int, ...] = ()
    is_map: bool = False
    others: tuple[Axis, ...] = ()
    ticks: Ticks | None = None

    @property
    def label(self) -> str:
        """Label of the abscissa."""
        if self.ticks is not None:
            return "\n".join(axis.label for axis in (self.x, *self.others))
        paths = cut(JOIN.join(axis.path for axis in self.others))
        return f"{self.x.label}, with {paths}" if paths else self.x.label

    def at(self, settings: tuple[str, ...]) -> tuple[str, str]:
        """Return the value on the abscissa, and the line, of a grid point with these settings."""
        return tuple(  # type: ignore[return-value]
            JOIN.join(settings[path] for path in paths) for paths in (self.x_paths, self.line_paths)
        )


JOIN = ", "


def layout_of(points: "Grid", axes: Sequence[Axis]) -> Layout:
    """Return the layout for the grid points of a sweep.

    The path with the most numeric values is the abscissa, and the other paths form lines. Two paths
    with many values form a map. If not all combinations of values are simulated, each point is a
    category whose name contains the values of all paths. An exception is a single path that
    distinguishes all points.

    Raises
    ------
    UserError
        If there are too many lines or categories to distinguish.
    """
    numbers = tuple(range(len(axes)))
    if len(axes) == 1:
        return checked(Layout(axes[0], numbers))
    if len(points.axes) < len(axes):
        return checked(of_table(points, axes))
    by_length = sorted(
        numbers, key=lambda k: (axes[k].is_numeric, len(axes[k].texts), -k), reverse=True
    )
    first, *others = by_length
    rest = tuple(sorted(others))
    if len(axes) == 2:
        other = axes[rest[0]]
        both = min(len(axes[first].texts), len(other.texts))
        if both > FEW_FOR_LINES:
            return checked(Layout(axes[first], (first,), other, rest, is_map=True))
        if len(other.texts) > FEW_FOR_LINES:  # These are too many values for lines.
            return checked(Layout(other, rest, axes[first], (first,)))
        return checked(Layout(axes[first], (first,), other, rest))
    lines = joined([axes[k] for k in rest], [tuple(p.values()) for p in points], rest)
    return checked(Layout(axes[first], (first,), lines, rest))


def of_table(points: "Grid", axes: Sequence[Axis]) -> Layout:
    """Return the layout for a list of points that does not contain all combinations of values.

    Each point is labelled with the values of all paths, unless there are many points.
    """
    rows = [tuple(point.values()) for point in points]
    for k, axis in enumerate(axes):
        if not axis.is_numeric or len(axis.texts) < len(rows):
            continue
        others = (*axes[:k], *axes[k + 1 :])
        ticks = ticks_beside(axis, others, {row[k]: row[:k] + row[k + 1 :] for row in rows})
        if ticks is not None or len(rows) > MAX_POINTS:
            return Layout(axis, (k,), others=others, ticks=ticks)
    every = tuple(range(len(axes)))
    return Layout(joined(axes, rows, every), every)


def joined(axes: Sequence[Axis], rows: Sequence[tuple[str, ...]], paths: Sequence[int]) -> Axis:
    """Return an axis whose categories are the combined values of several paths."""
    texts = dict.fromkeys(JOIN.join(row[path] for path in paths) for row in rows)
    return Axis(JOIN.join(axis.path for axis in axes), tuple(texts))


def checked(layout: Layout) -> Layout:
    """Return the layout; raise an error if it has too many lines or rows to distinguish."""
    lines = layout.lines
    if lines is not None and not layout.is_map and len(lines.texts) > MAX_LINES:
        raise UserError(
            f"a picture of {len(lines.texts)} lines, one for each of {lines.path}: at most "
            f"{MAX_LINES} can be distinguished",
            "use fewer values, or sweep only one or two paths",
        )
    if not layout.x.is_numeric and len(layout.x.texts) > MAX_CATEGORIES:
        raise UserError(
            f"a picture of {len(layout.x.texts)} values of {layout.x.path} that are not numbers: "
            f"at most {MAX_CATEGORIES} have a row each"
        )
    return layout


def layout(sweep: "Sweep") -> Layout:
    """Return the layout of a sweep's picture."""
    return layout_of(sweep.points.grid, [Axis.of(column) for column in sweep.columns])
