"""Map of a quantity over two paths: one cell per point, with its number if it fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isnan, log10
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from lasthop.plot.ink import ON_FILL
from lasthop.plot.rows import NUMBERS
from lasthop.plot.swept import Axis, Swept

if TYPE_CHECKING:
    from lasthop.plot.layout import Layout

MOST_NUMBERED = (9, 14)
"""Largest numbers of columns and rows of a map whose cells contain their numbers."""

MOST_TICKS = 10
"""Largest number of ticks of a side; with more values, only some values have a tick."""

COLORS = "viridis"

DARK = 0.55
"""Position in the colour map below which a number in a cell is white. [-]"""


MOST_DECIMALS = 4
"""Largest number of decimals in a cell; a number that needs more is written with a power of ten."""


@dataclass(frozen=True)
class Scale:
    """Scale of colours and numbers that all maps of a quantity share, so that they can be compared.

    Parameters
    ----------
    low, high : float
        Values at the two ends of the colour map.
    decimals : int
        Number of decimals of the numbers in cells.
    """

    low: float
    high: float
    decimals: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Scale":
        """Return a scale for the values: three digits of the largest value, two of the
        differences."""
        known = [value for value in values if not isnan(value)] or [0.0]
        low, high = min(known), max(known)
        digits = [(2, max(map(abs, known))), (1, high - low)]
        needed = [count - floor(log10(size)) for count, size in digits if size > 0.0]
        return cls(low, high, max([0, *needed]))

    def text_of(self, value: float) -> str:
        """Return a number as text for a cell."""
        if self.decimals > MOST_DECIMALS:
            return f"{value:.1e}"
        return f"{value:.{self.decimals}f}"


def draw_map(axes: Axes, drawn: tuple[Swept, str], how: "Layout", scale: Scale) -> None:
    """Draw a map of one item; both axes have equal steps between values."""
    result, name = drawn
    lines = how.lines
    assert lines is not None
    values = np.full((len(lines.texts), len(how.x.texts)), np.nan)
    for settings, value in result.items[name].items():
        x, line = how.at(settings)
        values[lines.texts.index(line), how.x.texts.index(x)] = value.value
    image = axes.imshow(values, origin="lower", aspect="auto", cmap=COLORS)
    image.set_clim(scale.low, scale.high)
    axes.grid(visible=False)
    for side, axis in (("x", how.x), ("y", lines)):
        name_side(axes, side, axis)
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label(result.quantity.label)
    bar.outline.set_visible(False)
    if len(how.x.texts) <= MOST_NUMBERED[0] and len(lines.texts) <= MOST_NUMBERED[1]:
        write_numbers(axes, values, scale)


def name_side(axes: Axes, side: str, axis: Axis) -> None:
    """Write the ticks of a side at all or some of its values."""
    step = -(-len(axis.texts) // MOST_TICKS)
    places = range(0, len(axis.texts), step)
    labels = [axis.text_of(axis.texts[place]) for place in places]
    if side == "x":
        axes.set_xticks(places, labels, parse_math=False)
        axes.set_xlabel(axis.label)
    else:
        axes.set_yticks(places, labels, parse_math=False)
        axes.set_ylabel(axis.label)


def write_numbers(axes: Axes, values: np.ndarray, scale: Scale) -> None:
    """Write each value into its cell: white on dark colours, black on light colours."""
    low, high = scale.low, scale.high
    cmap = matplotlib.colormaps[COLORS]
    for (row, column), value in np.ndenumerate(values):
        if isnan(value):
            continue
        red, green, blue, _ = cmap((value - low) / (high - low) if high > low else 0.5)
        bright = 0.299 * red + 0.587 * green + 0.114 * blue
        axes.annotate(
            scale.text_of(float(value)),
            (column, row),
            ha="center",
            va="center",
            fontsize=NUMBERS - 1.0,
            color="white" if bright < DARK else "black",
            gid=ON_FILL,
        )
