"""Styles of lines: distinct hues for a few lines, a colour map for many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.colors import to_hex

from lasthop.plot.figure import QUIET

DISTINCT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Distinct colours for a few lines, from house.mplstyle."""

DARKEST, LIGHTEST = 0.0, 0.86
"""Range of the colour map for many lines. [-]"""

LARGEST_MARK, SMALLEST_MARK = 4.6, 3.0
"""Point sizes of the first and the last line. Later points are smaller, so that they do not hide
earlier points. [points]
"""


PAPER: Mapping[str, Any] = {
    "color": "black",
    "marker": "x",
    "markersize": 6,
    "linestyle": "",
    "markeredgewidth": 1.2,
}
INTERVAL: Mapping[str, Any] = {"color": QUIET, "marker": "|", "markersize": 8, "linestyle": ""}
LEVEL: Mapping[str, Any] = {"color": QUIET, "linestyle": ":", "linewidth": 0.9}


@dataclass(frozen=True)
class Style:
    """Colour of a line, and size of its points in points."""

    color: str
    size: float


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """Return a style for each label, in order."""
    count = len(labels)
    parts = [k / max(1, count - 1) for k in range(count)]
    colormap = matplotlib.colormaps["plasma"]
    spread = [to_hex(colormap(DARKEST + (LIGHTEST - DARKEST) * part)) for part in parts]
    colors = DISTINCT[:count] if count <= len(DISTINCT) else spread
    return {
        label: Style(color, LARGEST_MARK + (SMALLEST_MARK - LARGEST_MARK) * part)
        for label, color, part in zip(labels, colors, parts, strict=True)
    }
