"""Picture of a what-if comparison: a row for each case, with bars and intervals."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import nan
from textwrap import fill
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from lasthop.answers.calls import DELAY_P99_S, LOSS
from lasthop.answers.digits import span
from lasthop.display.columns import Column, column_of
from lasthop.display.what_if import label, title
from lasthop.plot.about import changes, changes_text
from lasthop.plot.figure import (
    EMULATION,
    MEASUREMENT,
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    Place,
    headline,
    headline_mm,
    house_style,
)
from lasthop.plot.figure import title as above
from lasthop.plot.legend import legend_columns

if TYPE_CHECKING:
    from lasthop.batch.paired import Measure
    from lasthop.whatif.what_if import WhatIf

COLORS = (SIMULATION, MODEL, EMULATION, MEASUREMENT)
"""Colours of the bars in a row, one per item."""

MAX_PANELS = 8
"""Maximum number of panels. If there are more, the headline contains their number."""

BAR_MM = 3.1
"""Height of a bar, including the gap to the next bar. [mm]"""

FRAME_MM = 17.0
"""Height of a panel in addition to its bars. [mm]"""

LEGEND_MM = 5.0
"""Height of one line of the legend. [mm]"""

THICK = 0.8
"""Fraction of a row's height that the bars fill. [-]"""

NUMBER = 6.5
"""Font size of the number next to a bar. [points]"""

NAME_WIDTH = 20
"""Width to which the name of a case is wrapped. [characters]"""

LIMITS = {"one_way_delay_p99_s": DELAY_P99_S, "loss_probability": LOSS}
"""Limits of a good call, by quantity. [s], [-]"""

LIMIT = 0.9
"""Drawing order (zorder) of the limit of a good call: above the grid (0.5) and below the bars (1).
[-]
"""

OF_RUNS = ("replications", "seed")
"""Settings that the headline does not list as changed, because it contains their values anyway."""

Panel = tuple[Column, list["Measure"]]


def what_if_figure(what_if: "WhatIf", place: Place | None = None) -> Figure:
    """Draw a panel per quantity, with a row per case; the unchanged scenario is at the top.

    Each bar has its 95 % interval and its number. The best number of a quantity is bold with a
    star. A grey number differs from that of the unchanged scenario by no more than the noise. A
    dashed line is the limit of a good call.
    """
    every = list(panels(what_if.measures))
    shown = every[:MAX_PANELS]
    rows = len(what_if.runs)
    name = what_if.scenario.typed.name
    more = len(every) - len(shown)
    typed = what_if.scenario.typed
    runs = f"{typed.replications} x {span(typed.duration_s)}, seed {typed.seed}"
    known = changes(what_if.scenario)
    changed = changes_text({path: known[path] for path in known if path not in OF_RUNS})
    parts = [changed, runs, f"{more} more quantities in the table" if more else ""]
    marks = "* best; grey: as it is, within the noise"
    marks += "; dashed: limit of a good call" * bool(what_if.call_measures)
    about = ", ".join(filter(None, [*parts, marks]))
    heights = [FRAME_MM + LEGEND_MM + BAR_MM * max(len(m) * rows, 1.5 * rows) for _, m in shown]
    total_mm = sum(heights) + headline_mm(name, about) + 6.0
    with house_style(total_mm, place=place) as figure:
        column = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (quantity, measures) in zip(column, shown, strict=True):
            draw(axes, what_if, quantity, measures)
        headline(figure, name, about)
    return figure


def panels(measures: Sequence["Measure"]) -> Iterator[Panel]:
    """Yield the panels: the column of a quantity, and at most as many measures as there are
    colours.
    """

    def quantity(measure: "Measure") -> tuple[str, str]:
        return measure.list_name, measure.quantity

    for (list_name, name), result in groupby(measures, quantity):
        column, items = column_of(list_name, name), list(result)
        for first in range(0, len(items), len(COLORS)):
            yield column, items[first : first + len(COLORS)]


def draw(axes: Axes, what_if: "WhatIf", column: Column, measures: Sequence["Measure"]) -> None:
    """Draw the panel of one quantity: a group of bars per case, one bar per item."""
    results = {(each.case, each.measure.key): each for each in what_if.changes}
    height = THICK / len(measures)
    names = [run.case.name for run in what_if.runs]
    for place, (measure, color) in enumerate(zip(measures, COLORS, strict=False)):
        for row, name in enumerate(names):
            value = what_if.estimate(name, measure)
            y = row + (place - (len(measures) - 1) / 2) * height
            mean = nan if value is None else value.mean * column.scale
            half = 0.0 if value is None or value.ci95 is None else value.ci95 * column.scale
            mark: dict[str, Any] = {"color": color, "label": measure.name if not row else "_"}
            if half:
                mark |= {"xerr": half, "ecolor": "black", "error_kw": {"elinewidth": 0.7}}
            axes.barh(y, mean, 0.9 * height, **mark)
            change = results.get((name, measure.key))
            is_best = change is not None and change.is_best
            is_same = change is not None and not change.difference.is_beyond
            if value is not None:
                axes.annotate(
                    f"{short(mean)}{' *' if is_best else ''}",
                    (mean + half, y),
                    (3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=NUMBER,
                    fontweight="bold" if is_best else "normal",
                    color=QUIET if is_same else "black",
                )
    if set(measures) & set(what_if.call_measures):
        limit = LIMITS[measures[0].quantity] * column.scale
        axes.axvline(limit, color="black", linestyle="--", linewidth=0.9, zorder=LIMIT)
    broken = [fill(name, NAME_WIDTH) for name in names]
    axes.set_yticks(range(len(names)), broken, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.18)
    axes.set_xlim(left=0.0)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(f"{title(measures[0])} [{column.unit or '-'}]")
    if len(measures) == 1:
        above(axes, label(measures[0]))
        return
    labels = [measure.name for measure in measures]
    columns = legend_columns(labels, spacing=1.2)
    legend = axes.legend(
        ncols=columns,
        columnspacing=1.2,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.1,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def short(value: float) -> str:
    """Return a number as text with three significant digits."""
    if value == 0.0:
        return "0"
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1.0 else text
