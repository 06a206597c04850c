"""Style of all pictures: width of a journal column, colours, and fonts."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import fill, shorten
from typing import Any, TypeAlias, cast

from matplotlib import rcParams, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.figure import SubFigure
from matplotlib.text import Annotation

from lasthop import _core
from lasthop.errors import UserError
from lasthop.plot.ink import legible_anywhere

COLUMN_INCHES = 85 / 25.4
"""Width of a journal column: 85 mm. [inches]"""

HOUSE = "lasthop.plot.house"

# Colours of simulations, models, emulations and measurements, from house.mplstyle.
SIMULATION = "#56B4E9"
MODEL = "#D55E00"
EMULATION = "#008767"
MEASUREMENT = "#9B59B6"
QUIET = "#666666"

WIDEST_NAME, WIDEST_ABOUT = 46, 62
"""Maximum number of characters per line in the headline, and in the text below it. [characters per
journal column]
"""

LINE_MM = 3.9
"""Line height of the headline. [mm]"""

LEFT = 0.02
"""Left margin of the headline. [journal columns]"""

ABOUT = 6.5
"""Font size of the line below the headline. [points]"""
SPREAD = "#2B6CA3"
"""Colour of the bar from the minimum to the maximum over the items of a row."""


NAME = f"lasthop {_core.VERSION}"
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": NAME},
    "pdf": {"Creator": NAME, "CreationDate": None},
    "svg": {"Creator": NAME, "Date": None},
}
"""Metadata of picture files, by format: the program without a date, so that equal pictures have
equal bytes."""

COMMAND_KEY = {"png": "Description", "pdf": "Subject", "svg": "Description"}
"""Metadata key for the command, by format."""


LONGEST_COMMAND = 1_000
"""Maximum length of the command in the metadata. A longer text would move the program's name in an
SVG too far from the start to be found. [characters]"""


def metadata(kind: str, command: str = "") -> dict[str, Any]:
    """Return the metadata of a picture file: the version, and the command that drew the picture.

    Parameters
    ----------
    kind : str
        Format: png, pdf or svg. Other formats have no metadata.
    command : str
        Command line that drew the picture; may be empty.
    """
    known = dict(METADATA.get(kind, {}))
    if command and kind in COMMAND_KEY:
        known[COMMAND_KEY[kind]] = shorten(command, LONGEST_COMMAND)
    return known


class Figure(MatplotlibFigure):
    """A matplotlib figure that notebooks display and that needs no window system."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the picture in house style, with lasthop in its metadata; see matplotlib.

        With ``transparent=True``, a grey that is legible on light and dark backgrounds replaces
        black.
        """
        named = Path(fname).suffix[1:] if isinstance(fname, str | PathLike) else ""
        kind = (options.get("format") or named or "png").lower()
        if kind in METADATA:
            options.setdefault("metadata", METADATA[kind])
        transparent = options.get("transparent")
        if transparent is None:
            transparent = rcParams["savefig.transparent"]
        ink = legible_anywhere(self) if transparent else nullcontext()
        with style.context(HOUSE), ink:
            super().savefig(fname, **options)


Place: TypeAlias = MatplotlibFigure | SubFigure
"""Figure or subfigure of the caller."""


@contextmanager
def house_style(height_mm: float, columns: int = 1, place: Place | None = None) -> Iterator[Figure]:
    """Yield an empty figure of `columns` journal columns; the house style is active in the context.

    If `place` is given, yield this figure or subfigure of the caller without the house style. If
    `place` has no layout engine, it gets the constrained layout, so that legends do not overlap
    panels.
    """
    if place is not None:
        if not isinstance(place, MatplotlibFigure | SubFigure):
            raise UserError(f"figure={place!r}: expected a figure of matplotlib or a part of one")
        total = cast("Figure", place.figure)
        if total.get_layout_engine() is None:
            total.set_layout_engine("constrained")
        yield cast("Figure", place)
        return
    with style.context(HOUSE):
        size = (columns * COLUMN_INCHES, height_mm / 25.4)
        yield Figure(figsize=size, layout="constrained")


@contextmanager
def one_panel(height_mm: float, ax: Axes | None) -> Iterator[Axes]:
    """Yield the caller's axes, or the axes of a new figure in house style."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise UserError(f"ax={ax!r}: not axes of matplotlib; one panel is drawn")
        yield ax
        return
    with house_style(height_mm) as figure:
        yield figure.subplots()


def figure_of(axes: Axes) -> Figure:
    """Return the figure to which the axes belong."""
    return cast("Figure", axes.figure.figure)


def width_inches(figure: Place) -> float:
    """Return the width of a figure or subfigure. [inches]"""
    return float(figure.bbox.width / figure.figure.dpi)


def title(axes: Axes, text: str) -> None:
    """Write a short title above the axes, wrapped to the width of a column."""
    axes.set_title(fill(text, 52), pad=4, parse_math=False)


def headline_mm(text: str, about: str = "", columns: int = 1) -> float:
    """Return the additional height of a headline, compared with a headline of one line. [mm]"""
    lines = len(fill(text, WIDEST_NAME * columns).splitlines()) - 1
    return LINE_MM * (lines + len(fill(about, WIDEST_ABOUT * columns).splitlines()))


def headline(figure: Figure, text: str, about: str = "") -> None:
    """Write a headline at the top left, and the text `about` below it in a smaller font."""
    columns = max(1, round(width_inches(figure) / COLUMN_INCHES))
    below = fill(about, WIDEST_ABOUT * columns)
    room = "\n" * (len(below.splitlines()))
    with style.context(HOUSE):
        above = fill(text, WIDEST_NAME * columns) + room
        line = figure.suptitle(above, x=LEFT / columns, ha="left", parse_math=False)
        if below:
            annotation = Annotation(
                below,
                (0.0, 0.0),
                xycoords=line,
                va="bottom",
                fontsize=ABOUT,
                color=QUIET,
                parse_math=False,
            )
            annotation.set_in_layout(False)
            figure.add_artist(annotation)
