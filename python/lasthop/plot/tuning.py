"""The picture of a search: the confirmed settings, what each gives, and which was chosen."""

from collections.abc import Callable, Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from lasthop.estimates import Estimate
from lasthop.plot.about import changes, told
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
from lasthop.plot.rows import Estimates, Spread, half_widths, scaled
from lasthop.tuning.categories import CATEGORIES, delay_quantity
from lasthop.tuning.measures import estimated
from lasthop.tuning.search import Trial

if TYPE_CHECKING:
    from lasthop.tune import Tuning

PANELS = (
    ("goodput_bps", 1e-6, "Goodput", "goodput of the cell [Mb/s]"),
    ("sojourn_s", 1e3, "Delay at the access point", "mean time in its queue [ms]"),
    ("jain", 1.0, "Fairness", "Jain's index of the stations [-]"),
)
"""Quantity, factor from the result's unit, title and label of each panel."""

CALLS = ("calls", 1.0, "Calls", "most calls beside the other traffic")
"""The panel of a search for calls, which stands first."""

ROW_MM = 4.2
"""Height of a setting's row. [mm]"""

MOST_TICKS = 5
"""Most intervals of an axis: Jain's indices of six digits must not run into each other."""

SIMULATED = "simulation, 95 %"
CHOSEN_BAND = "#E5F2E9"


def tuning_figure(tuning: "Tuning", place: Place | None = None) -> Figure:
    """Panels with a row for each confirmed setting: points with intervals, the model's diamonds.

    Goodput, delay and fairness, and the delay of every other category that has flows.
    """
    trials = tuning.confirmed
    counted = [CALLS] if tuning.calls is not None else []
    panels = [*counted, *PANELS, *_other_categories(tuning)]
    height = 16 + ROW_MM * len(trials)
    name = tuning.base.typed.name
    about = ", ".join(filter(None, (f"tuned for {tuning.objective}", told(changes(tuning.base)))))
    total_mm = len(panels) * height + 14 + headline_mm(name, about)
    with house_style(total_mm, place=place) as figure:
        rows = figure.subplots(len(panels), 1)
        for axes, (quantity, scale, above, label) in zip(rows, panels, strict=True):
            title(axes, above)
            _points(axes, trials, quantity, scale)
            _name_rows(axes, tuning)
            axes.set_xlabel(label)
            if quantity == CALLS[0]:
                axes.xaxis.get_major_locator().set_params(integer=True)
        headline(figure, name, about)
        lines, names = rows[0].get_legend_handles_labels()
        legend = dict(zip(names, lines, strict=True))
        order = [name for name in (SIMULATED, "model", "chosen") if name in legend]
        handles = [legend[name] for name in order]
        figure.legend(handles, order, loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


def _other_categories(tuning: "Tuning") -> Iterator[tuple[str, float, str, str]]:
    """A panel for the delay of each category that has flows and is not tuned."""
    for category in CATEGORIES:
        name = delay_quantity(category)
        if name in tuning.present.samples:
            label = "mean time in its slowest queue [ms]"
            yield name, 1e3, f"Delay of category {category}", label


def _points(axes: Axes, trials: Sequence[Trial], quantity: str, scale: float) -> None:
    measured = _row_by_row(trials, lambda trial: estimated(trial.samples).get(quantity), scale)
    axes.errorbar(
        [each.value for each in measured],
        range(len(trials)),
        xerr=half_widths(measured),
        fmt="o",
        color=SIMULATION,
        ecolor="black",
        elinewidth=0.8,
        zorder=4,
        label=SIMULATED,
    )

    def guess(trial: Trial) -> Estimate | None:
        known = trial.predicted or {}
        return Estimate(known[quantity], None) if quantity in known else None

    guesses = _row_by_row(trials, guess, scale)
    if any(guess(trial) for trial in trials):
        axes.plot(
            [each.value for each in guesses], range(len(trials)), "D", color=MODEL, label="model"
        )


def _row_by_row(
    trials: Sequence[Trial], value: Callable[[Trial], Estimate | None], scale: float
) -> Estimates:
    found = [value(trial) or Estimate(nan, None) for trial in trials]
    return [Spread(one.mean * scale, scaled(one.ci95, scale)) for one in found]


def _name_rows(axes: Axes, tuning: "Tuning") -> None:
    """Names down the left side, the chosen one on a band, the present one in grey."""
    trials = tuning.confirmed
    labels = axes.set_yticks(range(len(trials)), [trial.name for trial in trials])
    chosen = trials.index(tuning.chosen)
    axes.axhspan(chosen - 0.5, chosen + 0.5, color=CHOSEN_BAND, zorder=0, label="chosen")
    for trial, tick in zip(trials, labels, strict=True):
        tick.label1.set_fontweight("bold" if trial is tuning.chosen else "normal")
        tick.label1.set_color(QUIET if trial is tuning.present else "black")
    axes.set_ylim(len(trials) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, pad=5)
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=MOST_TICKS)
