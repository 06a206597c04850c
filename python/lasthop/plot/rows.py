"""One row an item: horizontal bars with intervals, names on the left."""

from collections.abc import Mapping, Sequence
from math import ceil, isnan, nan
from typing import Any

from matplotlib.axes import Axes

from lasthop.digits import estimate

__all__ = ["Estimates", "bars", "diamonds", "estimates", "label_rows", "rows_height"]

LABELLED_ROWS = 16
"""More rows than this are drawn with every n-th name."""

LONGEST_NAME = 16
"""Longer names lose their middle."""

Estimates = Sequence[tuple[float, float]]
"""Value and half width of its interval; NaN where there is none."""


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


def bars(axes: Axes, values: Estimates, color: str, label: str) -> None:
    """Bars from zero with error bars in front of everything, and the numbers on the right."""
    rows = range(len(values))
    axes.barh(rows, [value for value, _ in values], height=0.62, color=color, label=label)
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
    if len(values) > LABELLED_ROWS:
        return
    for row, (value, half) in enumerate(values):
        text = estimate(value, None if isnan(half) else half)
        place = ("axes fraction", "data")
        axes.annotate(text, (1.02, row), xycoords=place, va="center", fontsize=6.5)


def diamonds(axes: Axes, values: Estimates, color: str, label: str) -> None:
    """A diamond a row, in front of bars."""
    axes.plot(
        [value for value, _ in values],
        range(len(values)),
        "D",
        color=color,
        markeredgecolor="white",
        markeredgewidth=0.6,
        markersize=5,
        clip_on=False,
        zorder=3,
        label=label,
    )


def half_widths(values: Estimates) -> list[float]:
    """Half widths as matplotlib takes them: zero where there is none."""
    return [0.0 if isnan(half) else half for _, half in values]
