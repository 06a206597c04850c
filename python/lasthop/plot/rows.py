"""Rows with a horizontal bar per item, the name on the left, and the number on the right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isnan, nan
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from lasthop.answers.digits import estimate
from lasthop.plot.figure import SPREAD

LABELLED_ROWS = 16
"""Maximum number of rows for which all names and numbers are written."""

NUMBERS = 6.5
"""Font size of the numbers to the right of the rows. [points]"""

CHARACTER = 0.58 * NUMBERS
"""Width of a digit of the numbers to the right of the rows. [points]"""

GAP = 2
"""Space between two columns of numbers. [digits]"""

HEADS_MM = 3.0
"""Height of the headers above the columns of numbers. [mm]"""

LONGEST_NAME = 18
"""Maximum length of a name that is written in full. The middle of a longer name is omitted.
[characters]
"""


def of_group(label: str) -> str:
    """Return the legend label of the bar from the minimum to the maximum over the items of a row.

    The label of the row's results may end with their interval, such as ``simulation, 95 %``.
    """
    return f"range of a group, {label.partition(',')[0]}"


SEEN = 0.015
"""Smallest range over the items of a row that is drawn, as a fraction of the width of the axis.
[-]
"""


class Spread(NamedTuple):
    """A value with the half width of its interval; for the mean of a group, also minimum and
    maximum.

    A missing number is NaN.
    """

    value: float
    half: float = nan
    least: float = nan
    most: float = nan


Estimates = Sequence[Spread]
"""Values of one quantity, one per row."""


def estimates(items: Sequence[Mapping[str, Any]], quantity: str, scale: float = 1) -> Estimates:
    """Return the values of a quantity, one per item, multiplied by `scale`."""
    return [spread(item.get(quantity) or {}, scale) for item in items]


def spread(result: Mapping[str, Any], scale: float = 1) -> Spread:
    """Return an estimate as a `Spread`, multiplied by `scale`. The result may lack `least` and
    `most`.
    """
    keys = ("mean", "ci95", "least", "most")
    return Spread(*(scaled(result.get(key), scale) for key in keys))


def scaled(value: float | None, scale: float) -> float:
    """Return the value multiplied by `scale`; NaN if the value is None."""
    return nan if value is None else value * scale


def rows_height(rows: int) -> float:
    """Return the height of a panel with this number of rows, including axis and title. [mm]"""
    return 17 + 4.2 * min(rows, LABELLED_ROWS)


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of the rows on the left side, the first name at the top."""
    step = ceil(len(names) / LABELLED_ROWS)
    labels = [short(name) for name in names[::step]]
    axes.set_yticks(range(0, len(names), step), labels, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, pad=5)


def short(name: str) -> str:
    """Return a long name without its middle. The end remains, since a number there distinguishes
    stations.
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 8]}…{name[-7:]}"


def bars(
    axes: Axes, values: Estimates, color: str, label: str, *, has_marks: bool = False
) -> list[str]:
    """Draw bars with error bars; return the numbers to write on the right side.

    If `has_marks`, the bars are thinner, which leaves space for the symbols of `marks`.
    """
    height, up = (0.44, 0.14) if has_marks else (0.62, 0.0)
    rows = [row - up for row in range(len(values))]
    axes.barh(rows, [each.value for each in values], height=height, color=color, label=label)
    axes.errorbar(
        [each.value for each in values],
        rows,
        xerr=half_widths(values),
        fmt="none",
        ecolor="black",
        elinewidth=0.8,
        capthick=0.8,
        zorder=5,
    )
    groups = [(row, each) for row, each in zip(rows, values, strict=True) if each.most > each.least]
    if is_seen(values):
        axes.barh(
            [row for row, _ in groups],
            [each.most - each.least for _, each in groups],
            height=0.45 * height,
            left=[each.least for _, each in groups],
            color=SPREAD,
            alpha=0.75,
            linewidth=0.6,
            edgecolor=SPREAD,
            zorder=4,
            label=of_group(label),
        )
    return numbers(values)


def is_seen(values: Estimates) -> bool:
    """Return whether the range over the items of any row is wide enough to be drawn."""
    ends = [max(v for v in (*each, each.value + each.half, 0.0) if not isnan(v)) for each in values]
    widest = max((each.most - each.least for each in values if each.most > each.least), default=0.0)
    return widest > SEEN * max(ends, default=0.0)


def numbers(values: Estimates) -> list[str]:
    """Return each value with its interval as text; empty text for a missing value."""
    return [
        "" if isnan(each.value) else estimate(each.value, None if isnan(each.half) else each.half)
        for each in values
    ]


def marks(axes: Axes, values: Estimates, look: Mapping[str, Any], *, down: float) -> list[str]:
    """Draw a hollow symbol in each row; return the numbers to write on the right side.

    The symbols are `down` rows below the middle of the row.
    """
    axes.plot(
        [each.value for each in values],
        [row + down for row in range(len(values))],
        linestyle="",
        markerfacecolor="white",
        markeredgewidth=1.0,
        clip_on=False,
        zorder=6,
        **look,
    )
    return numbers(values)


def half_widths(values: Estimates) -> list[float]:
    """Return the half widths of error bars; matplotlib draws none for NaN."""
    return [each.half for each in values]


@dataclass
class NumberColumns:
    """Columns of numbers to the right of the rows, in all panels of a figure.

    There is one column per result, at the same position in every panel.
    """

    colors: Mapping[str, str]
    """Headers of the possible columns of numbers, from left to right, with their colours."""
    panels: list[tuple[Axes, dict[str, list[str]]]] = field(default_factory=list)

    def add(self, axes: Axes, numbers: dict[str, list[str]]) -> None:
        """Add the numbers of a panel: a list of texts for each header."""
        self.panels.append((axes, numbers))

    @property
    def several(self) -> bool:
        """Whether there are several columns of numbers; only then headers are written."""
        return len(self._widths()) > 1

    def write(self, heads_of: Sequence[Axes] = ()) -> None:
        """Write all numbers, and the headers above the panels in `heads_of`."""
        indent = 0
        for axes in heads_of if self.several else ():
            _raise_title(axes)
        for who, width in self._widths().items():
            for axes, numbers in self.panels:
                if len(numbers.get(who, ())) <= LABELLED_ROWS:
                    for row, text in enumerate(numbers.get(who, ())):
                        _beside(axes, text, (1.02, row), indent, self.colors[who])
                if self.several and axes in heads_of:
                    _above(axes, who, indent, self.colors[who])
            indent += width + GAP

    def _widths(self) -> dict[str, int]:
        """Return the width of each column that contains numbers, including its header. [digits]"""
        widths = {}
        for who in self.colors:
            texts = [text for _, message in self.panels for text in message.get(who, ())]
            if any(texts):
                widths[who] = max(map(len, [*texts, who]))
        return widths


def _beside(axes: Axes, text: str, at: tuple[float, float], indent: int, color: str) -> None:
    if text:
        axes.annotate(
            text,
            at,
            xycoords=("axes fraction", "data"),
            xytext=(indent * CHARACTER, 0),
            textcoords="offset points",
            va="center",
            fontsize=NUMBERS,
            color=color,
        )


def _raise_title(axes: Axes) -> None:
    for side in ("left", "center", "right"):
        if text := axes.get_title(loc=side):
            axes.set_title(text, loc=side, pad=4.0 + HEADS_MM * 72 / 25.4)


def _above(axes: Axes, text: str, indent: int, color: str) -> None:
    axes.annotate(
        text,
        (1.02, 1.0),
        xycoords="axes fraction",
        xytext=(indent * CHARACTER, 1),
        textcoords="offset points",
        va="bottom",
        fontsize=NUMBERS,
        fontstyle="italic",
        color=color,
    )
