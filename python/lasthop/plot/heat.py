"""Map of a quantity over two swept paths, with a coloured cell per grid point."""

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

MAX_NUMBERED = (9, 14)
"""Maximum numbers of columns and rows of a map for which values are written into the cells."""

MAX_TICKS = 10
"""Maximum number of ticks on a side of a map. If there are more values, some have no tick."""

COLORS = "viridis"

DARK = 0.55
"""Limit of the brightness of a cell's colour. In darker cells, numbers are white. [-]"""


MAX_DECIMALS = 4
"""Maximum number of decimals in a cell. If more are needed, scientific notation is used."""


@dataclass(frozen=True)
class Scale:
    """Colour scale and number format that all maps of a quantity have in common.

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
        """Return a scale for the values. Numbers have enough decimals for three digits of the
        largest value, and for two digits of the largest difference.
        """
        known = [value for value in values if not isnan(value)] or [0.0]
        low, high = min(known), max(known)
        digits = [(2, max(map(abs, known))), (1, high - low)]
        needed = [count - floor(log10(size)) for count, size in digits if size > 0.0]
        return cls(low, high, max([0, *needed]))

    def text_of(self, value: float) -> str:
        """Return a value as text for a cell."""
        if self.decimals > MAX_DECIMALS:
            return f"{value:.1e}"
        return f"{value:.{self.decimals}f}"


def draw_map(axes: Axes, drawn: tuple[Swept, str], how: "Layout", scale: Scale) -> None:
    """Draw the map of one item. Neighbouring values have equal distances on both axes."""
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
    if len(how.x.texts) <= MAX_NUMBERED[0] and len(lines.texts) <= MAX_NUMBERED[1]:
        write_numbers(axes, values, scale)


def name_side(axes: Axes, side: str, axis: Axis) -> None:
    """Write ticks at all or some of the values on a side of a map."""
    step = -(-len(axis.texts) // MAX_TICKS)
    places = range(0, len(axis.texts), step)
    labels = [axis.text_of(axis.texts[place]) for place in places]
    if side == "x":
        axes.set_xticks(places, labels, parse_math=False)
        axes.set_xlabel(axis.label)
    else:
        axes.set_yticks(places, labels, parse_math=False)
        axes.set_ylabel(axis.label)


def write_numbers(axes: Axes, values: np.ndarray, scale: Scale) -> None:
    """Write each value into its cell: white on dark colours, black on bright colours."""
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
