"""How every picture looks: size of a paper's column, palette, fonts."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias, cast

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.figure import SubFigure

from lasthop import _core
from lasthop.errors import UserError

COLUMN_INCHES = 85 / 25.4
"""Width of a picture: a paper's column of 85 mm."""

HOUSE = "lasthop.plot.house"

# Colours of the palette in house.mplstyle.
SIMULATION = "#56B4E9"
MODEL = "#D55E00"
EMULATION = "#007A5E"
MEASUREMENT = "#7B3294"
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


Place: TypeAlias = MatplotlibFigure | SubFigure
"""A figure of the caller's, or a part of one, that takes panels."""


@contextmanager
def house_style(height_mm: float, columns: int = 1, place: Place | None = None) -> Iterator[Figure]:
    """An empty figure so many columns wide, in house style while the context lasts.

    `place` is a figure of the caller's, or a part of one, that is drawn into in the caller's own
    style; a figure without a layout engine gets the constrained one, which keeps legends apart.
    """
    if place is not None:
        if not isinstance(place, MatplotlibFigure | SubFigure):
            raise UserError(f"figure={place!r}: not a figure of matplotlib, or a part of one")
        whole = cast("Figure", place.figure)
        if whole.get_layout_engine() is None:
            whole.set_layout_engine("constrained")
        yield cast("Figure", place)
        return
    with style.context(HOUSE):
        size = (columns * COLUMN_INCHES, height_mm / 25.4)
        yield Figure(figsize=size, layout="constrained")


@contextmanager
def one_panel(height_mm: float, ax: Axes | None) -> Iterator[Axes]:
    """The caller's axes, or those of a new figure in house style."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise UserError(f"ax={ax!r}: not axes of matplotlib; one panel is drawn")
        yield ax
        return
    with house_style(height_mm) as figure:
        yield figure.subplots()


def figure_of(axes: Axes) -> Figure:
    """The whole picture of which axes are a part."""
    return cast("Figure", axes.figure.figure)


def width_inches(figure: Place) -> float:
    """Width of a figure, or of a part of one. [inches]"""
    return float(figure.bbox.width / figure.figure.dpi)


def title(axes: Axes, text: str) -> None:
    """A short line over the axes."""
    axes.set_title(fill(text, 52), pad=4)


def headline(figure: Figure, text: str) -> None:
    """A line above the whole picture, from its left edge on."""
    columns = max(1, round(width_inches(figure) / COLUMN_INCHES))
    with style.context(HOUSE):
        figure.suptitle(fill(text, 46 * columns), x=0.02 / columns, ha="left")
