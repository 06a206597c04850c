"""Figures of studies with the values of the paper, the model and the simulation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.studies.drawing.points import Points
from lasthop.studies.panel import Abscissa, Panel
from lasthop.studies.study import Quantity, Runs

PAPER_BAND = "#DDDDDD"


SHORT_LABEL = 14
"""Length of the longest label with which a legend of three columns is not wider than the page.
[characters]
"""

BARS_MM = 46.0
"""Height of a panel with bars. [mm]"""

BAND = 0.15
"""Largest relative distance from a value of the paper's test-bed that counts as reproduced. [-]

The rule is defined in ``claims.toml``.
"""


@dataclass(frozen=True)
class BarPanel:
    """A panel with groups of bars.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    groups : mapping
        Groups of bars by label. A group has the quantity of each station in one scenario.
    stated : pair of float, optional
        Smallest and largest value that the paper states. Both values are equal if the paper states
        one value.
    """

    y_label: str
    groups: Mapping[str, Sequence[Quantity]]
    stated: tuple[float, float] | None = None


def sweep_figure(
    abscissa: Abscissa, panels: Sequence[Panel], runs: Runs, *, panel_mm: float
) -> Figure:
    """Draw panels one above the other over a common abscissa, with the paper's values."""
    with house_style(panel_mm * len(panels) + 8.0) as figure:
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, panel in zip(rows, panels, strict=True):
            for index, (x, *values) in enumerate(panel.stated):
                _draw_stated(axes, abscissa.places(x), values[0], values[-1], first=index == 0)
            _draw_panel(axes, panel, [Points.of(line, abscissa, runs) for line in panel.lines])
        rows[-1].set_xlabel(abscissa.label)
        handles = [axes.get_legend_handles_labels() for axes in rows]
        by_label = {
            label: handle for group in handles for handle, label in zip(*group, strict=True)
        }
        columns = 3 if max(map(len, by_label)) <= SHORT_LABEL else 2
        figure.legend(by_label.values(), by_label.keys(), loc="outside lower center", ncols=columns)
        return figure


def bar_figure(panels: Sequence[BarPanel]) -> Figure:
    """Draw groups with one bar per station; a line across the bar shows the model's value."""
    with house_style(BARS_MM * len(panels) + 8.0) as figure:
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, panel in zip(rows, panels, strict=True):
            _draw_bars(axes, panel)
        labels = list(panels[-1].groups)
        rows[-1].set_xticks(range(len(labels)), labels)
        figure.legend(*rows[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def _draw_panel(axes: Axes, panel: Panel, lines: Sequence[Points]) -> None:
    for label, level in (panel.levels or {}).items():
        axes.axhline(level, color=QUIET, linestyle=":", label=label)
    for points in lines:
        _draw_line(axes, points)
    axes.set_ylabel(panel.y_label)
    axes.margins(y=0.1)
    if panel.from_zero:
        axes.set_ylim(bottom=0.0)
    if panel.title:
        title(axes, panel.title)


def _draw_stated(axes: Axes, x: float, low: float, high: float, *, first: bool) -> None:
    """Draw the range of values that the paper states, and the band in which a value counts as
    reproduced.
    """
    axes.plot(
        [x, x],
        [low - BAND * abs(low), high + BAND * abs(high)],
        "-",
        color=PAPER_BAND,
        solid_capstyle="butt",
        linewidth=6,
        zorder=1,
        label=f"paper ± {100 * BAND:.0f} %" if first else None,
    )
    axes.plot([x, x], [low, high], "_-", color=QUIET, markersize=6, linewidth=0.8, zorder=1)


def _draw_line(axes: Axes, points: Points) -> None:
    label, hollow = points.line.label, bool(points.line.variant)
    suffix = f", {label}" if label else ""
    places, values = points.model()
    if places:
        line_style = "--" if hollow else "-"
        axes.plot(places, values, color=MODEL, linestyle=line_style, label=f"model{suffix}")
    x, means, half_widths = points.simulation()
    axes.errorbar(
        x,
        means,
        yerr=half_widths,
        fmt="s" if hollow else "o",
        color=SIMULATION,
        markerfacecolor="white" if hollow else SIMULATION,
        markersize=6 if hollow else 4,
        label=f"simulation{suffix}",
    )


def _draw_bars(axes: Axes, panel: BarPanel) -> None:
    if panel.stated is not None:
        low, high = panel.stated
        if low == high:
            axes.axhline(low, color=QUIET, linestyle="--", label="paper", zorder=3)
        else:
            axes.axhspan(low, high, color=PAPER_BAND, alpha=0.6, label="paper's range", zorder=0)
    for place, quantities in enumerate(panel.groups.values()):
        width = 0.8 / len(quantities)
        for index, quantity in enumerate(quantities):
            measured = quantity.measured()
            x = place - 0.4 + width * (index + 0.5)
            first = place == index == 0
            axes.bar(
                x,
                (measured.simulated or 0.0),
                width * 0.85,
                yerr=(measured.ci95 or 0.0),
                color=SIMULATION,
                alpha=1.0 if index == 0 else 0.55,
                error_kw={"elinewidth": 0.8},
                label="simulation" if first else None,
            )
            if measured.predicted is not None:
                across = [x - width * 0.45, x + width * 0.45]
                label = "model" if first else None
                axes.plot(across, [measured.predicted] * 2, color=MODEL, label=label)
    axes.set_ylabel(panel.y_label)
    axes.grid(axis="x", visible=False)
