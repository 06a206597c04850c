"""Legends that fit the picture's width."""

from collections.abc import Sequence

import numpy as np

LEGEND_WIDTH, KEY_WIDTH = 62, 8
"""Width of the legend, and of a key with the gaps beside it. [characters]"""


def legend_columns(labels: Sequence[str], width: int = 1, most: int = 3) -> int:
    """Return how many columns of these labels, filled one after the other, fit the legend.

    Parameters
    ----------
    labels : sequence of str
        What stands beside the keys.
    width : int
        Width of the picture. [columns of a paper]
    most : int
        Most columns.
    """

    def needed(columns: int) -> int:
        lengths = np.array_split([len(label) for label in labels], columns)  # as matplotlib does
        return sum(KEY_WIDTH + int(part.max(initial=0)) for part in lengths)

    return next((n for n in range(most, 1, -1) if needed(n) <= width * LEGEND_WIDTH), 1)
