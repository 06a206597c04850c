"""Colours of what is told apart: few members by hue, many ordered ones along a colour map."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.colors import to_hex

DISTINCT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Colours of few members, of the palette in house.mplstyle."""

DARKEST, LIGHTEST = 0.0, 0.86
"""Part of the colour map over which many ordered members are spread."""

LARGEST_MARK, SMALLEST_MARK = 4.6, 3.0
"""Sizes of the first label's points and of the last one's, so that a point under another one shows.
[points]"""


@dataclass(frozen=True)
class Look:
    """Colour, and size of the points."""

    color: str
    size: float


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """A look for each member, in their order."""
    count = len(labels)
    parts = [k / max(1, count - 1) for k in range(count)]
    colormap = matplotlib.colormaps["plasma"]
    spread = [to_hex(colormap(DARKEST + (LIGHTEST - DARKEST) * part)) for part in parts]
    colors = DISTINCT[:count] if count <= len(DISTINCT) else spread
    return {
        label: Look(color, LARGEST_MARK + (SMALLEST_MARK - LARGEST_MARK) * part)
        for label, color, part in zip(labels, colors, parts, strict=True)
    }
