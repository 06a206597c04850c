"""Legends that fit the picture's width."""

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
    """Return the number of columns of labels that fit the legend, filled column by column.

    Parameters
    ----------
    labels : sequence of str
        Texts of the keys.
    width : int
        Width of the picture. [columns of a paper]
    most : int
        Most columns.
    spacing : float
        Gap between columns: matplotlib's ``columnspacing``. [font sizes]
    """
    font = FontProperties(size=rcParams["legend.fontsize"])
    size = font.get_size_in_points()
    texts = [text_to_path.get_text_width_height_descent(text, font, False)[0] for text in labels]
    key = size * (rcParams["legend.handlelength"] + rcParams["legend.handletextpad"])
    edges = 2.0 * size * (rcParams["legend.borderpad"] + rcParams["legend.borderaxespad"])

    def needed(columns: int) -> float:
        parts = np.array_split(texts, columns)  # Matplotlib splits labels in the same way.
        gaps = size * spacing * (columns - 1)
        widths = [key + float(part.max(initial=0.0)) for part in parts]
        return float(edges + gaps + sum(widths))

    room = width * COLUMN_INCHES * POINTS_PER_INCH
    return next((n for n in range(most, 1, -1) if needed(n) <= room), 1)
