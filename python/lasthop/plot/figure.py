"""How every picture looks: size of a paper's column, palette, fonts."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from lasthop import _core

COLUMN_INCHES = 85 / 25.4
"""Width of a picture: a paper's column of 85 mm."""

HOUSE = "lasthop.plot.house"

# Colours of the palette in house.mplstyle.
SIMULATION = "#56B4E9"
MODEL = "#D55E00"
EMULATION = "#007A5E"
QUIET = "#666666"


class Figure(MatplotlibFigure):
    """A figure that shows itself in notebooks and needs no window system."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the picture in house style, naming lasthop in PNG; see matplotlib."""
        named = Path(fname).suffix[1:] if isinstance(fname, str | PathLike) else ""
        if (options.get("format") or named or "png").lower() == "png":
            options.setdefault("metadata", {"Software": f"lasthop {_core.VERSION}"})
        with style.context(HOUSE):
            super().savefig(fname, **options)


@contextmanager
def house_style(height_mm: float, columns: int = 1) -> Iterator[Figure]:
    """An empty figure so many columns wide, in house style while the context lasts."""
    with style.context(HOUSE):
        size = (columns * COLUMN_INCHES, height_mm / 25.4)
        yield Figure(figsize=size, layout="constrained")


def title(axes: Axes, text: str) -> None:
    """A short line over the axes."""
    axes.set_title(fill(text, 52), pad=4)


def headline(figure: Figure, text: str) -> None:
    """A line above the whole picture, from its left edge on."""
    columns = round(figure.get_figwidth() / COLUMN_INCHES)
    with style.context(HOUSE):
        figure.suptitle(fill(text, 46 * columns), x=0.02 / columns, ha="left")
