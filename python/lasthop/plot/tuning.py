"""Picture of a search for parameters: values of the settings that full simulations confirmed."""

from collections.abc import Callable, Iterator, Sequence
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from lasthop.answers.estimates import Estimate
from lasthop.display.answers import NAMES_OF_SETTINGS
from lasthop.plot.about import changes, changes_text
from lasthop.plot.figure import (
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    Place,
    headline,
    headline_mm,
    house_style,
    title,
)
from lasthop.plot.legend import legend_columns
from lasthop.plot.rows import Estimates, Spread, half_widths, scaled
from lasthop.tuning.categories import CATEGORIES, delay_quantity
from lasthop.tuning.measures import estimated
from lasthop.tuning.trial import Trial

if TYPE_CHECKING:
    from lasthop.tuning.tune import Tuning

PANELS = (
    ("goodput_bps", 1e-6, "Goodput", "goodput of the cell [Mb/s]"),
    ("sojourn_s", 1e3, "Delay at the access point", "mean time in its queue [ms]"),
    ("jain", 1.0, "Fairness", "Jain's index of the stations [-]"),
)
"""Panels: quantity, factor from the result's unit, title, and axis label."""

CALLS = ("calls", 1.0, "Calls", "most calls with the other traffic")
"""Additional first panel of a search with the aim calls."""

ROW_MM = 4.2
"""Height of the row of one setting. [mm]"""

MAX_TICKS = 5
"""Maximum number of intervals on an axis, so that tick labels of six digits do not overlap."""

FAIRNESS = "jain"
"""Quantity whose axis ends at 1, its largest possible value."""

NARROWEST = 0.05
"""Smallest range of the axis of Jain's index. On a smaller range, noise looks like a difference.
[-]
"""

SIMULATED = "simulation, 95 %"
RULED_OUT = "x ruled out"

NOTE_MM = 4.0
"""Height of the note on the names of settings, and of each line of the legend after the first.
[mm]
"""
CHOSEN_BAND = "#E5F2E9"


def tuning_figure(tuning: "Tuning", place: Place | None = None) -> Figure:
    """Draw panels with a row per setting that full simulations confirmed: means, intervals,
    predictions.

    The panels show goodput, delay and fairness, and the delay of every other access category that
    has flows. Predictions are diamonds. Settings that were ruled out have hollow symbols.
    """
    trials = tuning.confirmed
    counted = [CALLS] if tuning.calls is not None else []
    panels = [*counted, *PANELS, *_other_categories(tuning)]
    height = 16 + ROW_MM * len(trials)
    name = tuning.base.typed.name
    about = ", ".join(
        filter(None, (f"tuned for {tuning.objective}", changes_text(changes(tuning.base))))
    )
    is_long = any(map(tuning.objection, trials))
    total_mm = len(panels) * height + 14 + NOTE_MM * (1 + is_long) + headline_mm(name, about)
    with house_style(total_mm, place=place) as figure:
        rows = figure.subplots(len(panels), 1)
        for axes, (quantity, scale, above, label) in zip(rows, panels, strict=True):
            title(axes, above)
            _points(axes, tuning, quantity, scale)
            _name_rows(axes, tuning)
            axes.set_xlabel(label)
            if quantity == CALLS[0]:
                axes.xaxis.get_major_locator().set_params(integer=True)
        headline(figure, name, about)
        lines, names = rows[0].get_legend_handles_labels()
        legend = dict(zip(names, lines, strict=True))
        order = [name for name in (SIMULATED, "model", "chosen", RULED_OUT) if name in legend]
        handles = [legend[name] for name in order]
        figure.legend(
            handles,
            order,
            loc="outside lower left",
            ncols=legend_columns(order, spacing=1.2),
            columnspacing=1.2,
            title=NAMES_OF_SETTINGS,
            title_fontsize=6.5,
            alignment="left",
        )
    return figure


def _other_categories(tuning: "Tuning") -> Iterator[tuple[str, float, str, str]]:
    """Yield a delay panel for each access category that has flows and whose parameters are not
    searched.
    """
    for category in CATEGORIES:
        name = delay_quantity(category)
        if name in tuning.present.samples:
            label = "mean time in its slowest queue [ms]"
            yield name, 1e3, f"Delay of category {category}", label


def _points(axes: Axes, tuning: "Tuning", quantity: str, scale: float) -> None:
    """Draw simulated means with intervals, and predictions. Symbols are hollow for settings that
    were ruled out.
    """
    trials = tuning.confirmed
    measured = _row_by_row(trials, lambda trial: estimated(trial.samples).get(quantity), scale)

    def guess(trial: Trial) -> Estimate | None:
        known = trial.predicted or {}
        return Estimate(known[quantity], None) if quantity in known else None

    guesses = _row_by_row(trials, guess, scale)
    for is_out in (False, True):
        rows = [k for k, trial in enumerate(trials) if is_out is bool(tuning.objection(trial))]
        if not rows:
            continue
        hollow: dict[str, Any] = {"markerfacecolor": "white"} if is_out else {}
        axes.errorbar(
            [measured[k].value for k in rows],
            rows,
            xerr=_arms([measured[k] for k in rows], most=1.0 if quantity == FAIRNESS else inf),
            fmt="o",
            color=QUIET if is_out else SIMULATION,
            ecolor=QUIET if is_out else "black",
            elinewidth=0.8,
            zorder=4,
            clip_on=False,
            label=RULED_OUT if is_out else SIMULATED,
            **hollow,
        )
        if any(guess(trials[k]) for k in rows):
            axes.plot(
                [guesses[k].value for k in rows],
                rows,
                "D",
                color=MODEL,
                clip_on=False,
                label="_" if is_out else "model",
                **hollow,
            )
    axes.margins(x=0.08)
    if quantity == FAIRNESS:
        _widen(axes, [*measured, *guesses])


def _arms(values: Estimates, most: float) -> tuple[list[float], list[float]]:
    """Return the lengths of error bars to the left and to the right. On the right, the bars end at
    `most`.
    """
    halves = half_widths(values)
    rooms = [max(0.0, most - each.value) for each in values]
    return halves, [min(half, room) for half, room in zip(halves, rooms, strict=True)]


def _widen(axes: Axes, values: Estimates) -> None:
    """Set the axis of Jain's index: it ends at 1, and its range is at least `NARROWEST`."""
    ends = [each.value - (0.0 if isnan(each.half) else each.half) for each in values]
    low = min((end for end in ends if not isnan(end)), default=1.0)
    low = max(0.0, low - 0.08 * (1.0 - low))
    axes.set_xlim(min(low, 1.0 - NARROWEST), 1.0)


def _row_by_row(
    trials: Sequence[Trial], value: Callable[[Trial], Estimate | None], scale: float
) -> Estimates:
    results = [value(trial) or Estimate(nan, None) for trial in trials]
    return [Spread(each.mean * scale, scaled(each.ci95, scale)) for each in results]


def _name_rows(axes: Axes, tuning: "Tuning") -> None:
    """Write the names of settings on the left side.

    The chosen setting has a coloured band, and the present setting is grey. An x marks settings
    that were ruled out, as in the table.
    """
    trials = tuning.confirmed
    names = [f"{trial.name} x" if tuning.objection(trial) else trial.name for trial in trials]
    labels = axes.set_yticks(range(len(trials)), names)
    chosen = trials.index(tuning.chosen)
    axes.axhspan(chosen - 0.5, chosen + 0.5, color=CHOSEN_BAND, zorder=0, label="chosen")
    for trial, tick in zip(trials, labels, strict=True):
        tick.label1.set_fontweight("bold" if trial is tuning.chosen else "normal")
        tick.label1.set_color(QUIET if trial is tuning.present else "black")
    axes.set_ylim(len(trials) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, pad=5)
    axes.locator_params(axis="x", nbins=MAX_TICKS)
