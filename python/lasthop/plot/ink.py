"""Colours for pictures with a transparent background, legible on dark and light pages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgba, to_rgba_array
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

INK = (0.48, 0.48, 0.48)
"""Grey with a contrast above 4 on white and on black: red, green, blue."""

THIN = 0.4
"""Opacity of lines that are pale on white, such as grid lines. [-]"""

ON_FILL = "on a fill"
"""Group ID of texts on a coloured area; their colour is not changed."""

COLORLESS = 0.08
"""Largest difference between red, green and blue at which a colour counts as grey. [-]"""

DARK, PALE = 0.2, 0.6
"""Luminance of a grey: below the first number it counts as black, above the second as pale. [-]"""


@contextmanager
def legible_anywhere(figure: MatplotlibFigure) -> Iterator[None]:
    """Replace black and pale lines by a legible grey, and make white transparent, while the context
    is active.

    At the end of the context, the original colours are restored.
    """
    figure.draw_without_rendering()  # This call creates all ticks.
    undo: list[Callable[[], object]] = []
    try:
        for artist in figure.findobj():
            if artist.get_gid() != ON_FILL:
                undo += of_artist(artist)
        yield
    finally:
        for each in reversed(undo):
            each()


def of_artist(artist: Artist) -> Iterator[Callable[[], object]]:
    """Replace the colours of an artist; yield functions that restore them."""
    if isinstance(artist, Line2D):
        yield from of_line(artist)
    yield from in_ink(artist, "color")
    yield from in_ink(artist, "edgecolor")
    yield from in_ink(artist, "markeredgecolor")
    yield from in_ink(artist, "markerfacecolor")
    yield from in_ink(artist, "facecolor", without_white=isinstance(artist, Patch))


def of_line(line: Line2D) -> Iterator[Callable[[], object]]:
    """Replace the colour of a pale line, such as a grid line, and its opacity.

    The line's own opacity must be set, because it overrides the opacity of its colour.
    """
    color, alpha = line.get_color(), line.get_alpha()
    if luminance(to_rgba(color)) > PALE:
        line.set_color(INK)
        line.set_alpha(THIN)
        yield lambda: line.set_color(color)
        yield lambda: line.set_alpha(alpha)


def in_ink(
    artist: Artist, name: str, *, without_white: bool = False
) -> Iterator[Callable[[], object]]:
    """Replace one colour of an artist. A dark colour becomes grey; a pale colour becomes
    transparent if `without_white`.
    """
    get = getattr(artist, f"get_{name}", None)
    set_to: Callable[[Any], object] | None = getattr(artist, f"set_{name}", None)
    if get is None or set_to is None:
        return
    was = get()
    try:
        colors = to_rgba_array(was)
    except (TypeError, ValueError):  # Not a colour, such as "auto"
        return
    light = np.array([luminance(color) for color in colors])
    dark, white = light < DARK, (light > PALE) & without_white
    if not (dark.any() or white.any()):
        return
    colors[dark, :3] = INK
    colors[white, 3] = 0.0
    set_to(colors if len(colors) > 1 else tuple(colors[0]))
    yield lambda: set_to(was)


def luminance(color: Any) -> float:
    """Return the relative luminance of a grey. For other colours return 0.5, which is neither dark
    nor pale.
    """
    *parts, alpha = map(float, color)
    if alpha == 0.0 or max(parts) - min(parts) > COLORLESS:
        return 0.5
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
