"""Legends that fit the width of a picture."""

from collections.abc import Sequence

import numpy as np
from matplotlib import rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from lasthop.plot.figure import COLUMN_INCHES

POINTS_PER_INCH = 72.0


def legend_columns(
    labels: Sequence[str], width: int = 1, most: int = 3, spacing: float = 2.0
) -> int:
    """Return the largest number of legend columns that fits the width of the picture.

    Parameters
    ----------
    labels : sequence of str
        Labels of the legend.
    width : int
        Width of the picture. [journal columns]
    most : int
        Maximum number of legend columns.
    spacing : float
        Gap between columns: matplotlib's ``columnspacing``. [font sizes]
    """
    font = FontProperties(size=rcParams["legend.fontsize"])
    size = font.get_size_in_points()
    texts = [text_to_path.get_text_width_height_descent(text, font, False)[0] for text in labels]
    key = size * (rcParams["legend.handlelength"] + rcParams["legend.handletextpad"])
    edges = 2.0 * size * (rcParams["legend.borderpad"] + rcParams["legend.borderaxespad"])

    def needed(columns: int) -> float:
        parts = np.array_split(texts, columns)  # Same division as in matplotlib
        gaps = size * spacing * (columns - 1)
        widths = [key + float(part.max(initial=0.0)) for part in parts]
        return float(edges + gaps + sum(widths))

    room = width * COLUMN_INCHES * POINTS_PER_INCH
    return next((n for n in range(most, 1, -1) if needed(n) <= room), 1)
