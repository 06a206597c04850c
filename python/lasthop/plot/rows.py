"""A row for each item: horizontal bars with intervals, names on the left."""

from collections.abc import Mapping, Sequence
from math import ceil, isnan, nan
from typing import Any

from matplotlib.axes import Axes

from lasthop.digits import estimate, plain

LABELLED_ROWS = 16
"""Most rows that are drawn with all their names."""

NUMBERS = 6.5
"""Size of the numbers beside the rows. [points]"""

CHARACTER = 0.58 * NUMBERS
"""Width of one of their digits. [points]"""

LONGEST_NAME = 18
"""Length of the longest name that is written whole; longer ones lose their middle."""

Estimates = Sequence[tuple[float, float]]
"""Values with the half widths of their intervals; NaN where there is none."""


def estimates(items: Sequence[Mapping[str, Any]], quantity: str, scale: float = 1) -> Estimates:
    """A quantity of each item with the half width of its interval, both times `scale`."""
    found = [item.get(quantity) or {"mean": None, "ci95": None} for item in items]
    return [(scaled(one["mean"], scale), scaled(one["ci95"], scale)) for one in found]


def scaled(value: float | None, scale: float) -> float:
    """The value times `scale`; NaN for none."""
    return nan if value is None else value * scale


def rows_height(rows: int) -> float:
    """Height of a panel with this many rows, axis and title included. [mm]"""
    return 17 + 4.2 * min(rows, LABELLED_ROWS)


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write the names down the left side, the first on top."""
    step = ceil(len(names) / LABELLED_ROWS)
    axes.set_yticks(range(0, len(names), step), [short(name) for name in names[::step]])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, pad=5)


def short(name: str) -> str:
    """A long name without its middle: the number at its end tells stations apart."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 6]}…{name[-5:]}"


def bars(axes: Axes, values: Estimates, color: str, label: str, beside: Estimates = ()) -> None:
    """Bars from zero with error bars in front of everything, and the numbers on the right.

    Where `beside` has a value, it is drawn below the bar by `marks`, and the bar makes room.
    """
    height, up = (0.44, 0.14) if beside else (0.62, 0.0)
    rows = [row - up for row in range(len(values))]
    axes.barh(rows, [value for value, _ in values], height=height, color=color, label=label)
    axes.errorbar(
        [value for value, _ in values],
        rows,
        xerr=half_widths(values),
        fmt="none",
        ecolor="black",
        elinewidth=0.8,
        capthick=0.8,
        zorder=5,
    )
    column(axes, numbers(values), 0, "black")


def numbers(values: Estimates) -> list[str]:
    """Each value with its interval as text, empty where there is none."""
    return [
        "" if isnan(value) else estimate(value, None if isnan(half) else half)
        for value, half in values
    ]


def marks(
    axes: Axes, values: Estimates, look: Mapping[str, Any], indent: int, *, down: float
) -> None:
    """A hollow symbol in each row, `down` rows below its middle, with its value right of the bar's.

    The value stands `indent` characters right of the axes.
    """
    axes.plot(
        [value for value, _ in values],
        [row + down for row in range(len(values))],
        linestyle="",
        markerfacecolor="white",
        markeredgewidth=1.0,
        clip_on=False,
        zorder=6,
        **look,
    )
    column(axes, plain_numbers(values), indent, look["color"])


def plain_numbers(values: Estimates) -> list[str]:
    """Each value as text, empty where there is none."""
    return ["" if isnan(value) else plain(value) for value, _ in values]


def column(axes: Axes, texts: Sequence[str], indent: int, color: str) -> None:
    """Write a text beside each row, `indent` characters right of the axes."""
    if len(texts) > LABELLED_ROWS:
        return
    for row, text in enumerate(texts):
        axes.annotate(
            text,
            (1.02, row),
            xycoords=("axes fraction", "data"),
            xytext=(indent * CHARACTER, 0),
            textcoords="offset points",
            va="center",
            fontsize=NUMBERS,
            color=color,
        )


def half_widths(values: Estimates) -> list[float]:
    """Half widths as matplotlib takes them: no bar where there is none."""
    return [half for _, half in values]
