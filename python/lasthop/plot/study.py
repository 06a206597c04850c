"""Figures of studies: what the paper states, what the model gives, what the simulation measures."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.studies.study import Quantity

__all__ = ["BarPanel", "Bars", "Curve", "Panel", "Stated", "bar_figure", "sweep_figure"]

PAPER_BAND = "#DDDDDD"


@dataclass(frozen=True)
class Curve:
    """One quantity over a sweep: points with intervals, and the model's line where it has one."""

    x: Sequence[float]
    quantities: Sequence[Quantity]
    label: str = ""
    hollow: bool = False


SHORT_LABEL = 14
"""Longest label with which a legend's three columns fit the page's. [characters]"""

BAND = 0.15
"""Around a value of a test-bed, within which it counts as reproduced; ``claims.toml``. [-]"""


@dataclass(frozen=True)
class Stated:
    """Ranges that the paper states, drawn with the band within which they count as reproduced."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]

    @classmethod
    def value(cls, x: Sequence[float], y: Sequence[float]) -> "Stated":
        """Return ranges of one value each."""
        return cls(x, y, y)


@dataclass(frozen=True)
class Panel:
    """One pair of axes with curves.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    curves : sequence of Curve
        What to draw.
    stated : Stated, optional
        What the paper says.
    title : str
        A short line over the axes.
    at_most : float, optional
        Upper limit that the paper states.
    from_zero : bool
        Whether the ordinate starts at 0.
    """

    y_label: str
    curves: Sequence[Curve]
    stated: Stated | None = None
    title: str = ""
    at_most: float | None = None
    from_zero: bool = True


@dataclass(frozen=True)
class Bars:
    """One group of bars: a case, with a quantity for each station."""

    label: str
    quantities: Sequence[Quantity]


@dataclass(frozen=True)
class BarPanel:
    """One pair of axes with groups of bars.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    groups : sequence of Bars
        What to draw.
    stated : pair of float, optional
        Range that the paper states; twice the same for a value.
    """

    y_label: str
    groups: Sequence[Bars]
    stated: tuple[float, float] | None = None


def sweep_figure(x_label: str, panels: Sequence[Panel], *, panel_mm: float = 50.0) -> Figure:
    """Draw panels over one another along a common abscissa."""
    with house_style(panel_mm * len(panels) + 8.0) as figure:
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, panel in zip(rows, panels, strict=True):
            _draw_panel(axes, panel)
        rows[-1].set_xlabel(x_label)
        handles = [axes.get_legend_handles_labels() for axes in rows]
        by_label = {
            label: handle for group in handles for handle, label in zip(*group, strict=True)
        }
        columns = 3 if max(map(len, by_label)) <= SHORT_LABEL else 2
        figure.legend(by_label.values(), by_label.keys(), loc="outside lower center", ncols=columns)
        return figure


def bar_figure(panels: Sequence[BarPanel], *, panel_mm: float = 46.0) -> Figure:
    """Draw groups of bars, a bar a station, the model's value as a line across the bar."""
    with house_style(panel_mm * len(panels) + 8.0) as figure:
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, panel in zip(rows, panels, strict=True):
            _draw_bars(axes, panel)
        labels = [group.label for group in panels[-1].groups]
        rows[-1].set_xticks(range(len(labels)), labels)
        figure.legend(*rows[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    if panel.stated is not None:
        _draw_stated(axes, panel.stated)
    if panel.at_most is not None:
        axes.axhline(panel.at_most, color=QUIET, linestyle=":", label="paper: at most")
    for curve in panel.curves:
        _draw_curve(axes, curve)
    axes.set_ylabel(panel.y_label)
    axes.margins(y=0.1)
    if panel.from_zero:
        axes.set_ylim(bottom=0.0)
    if panel.title:
        title(axes, panel.title)


def _draw_stated(axes: Axes, stated: Stated) -> None:
    for index, (x, low, high) in enumerate(zip(stated.x, stated.low, stated.high, strict=True)):
        label = f"paper ± {100 * BAND:.0f} %" if index == 0 else None
        ends = [low - BAND * abs(low), high + BAND * abs(high)]
        axes.plot(
            [x, x],
            ends,
            "-",
            color=PAPER_BAND,
            solid_capstyle="butt",
            linewidth=6,
            zorder=1,
            label=label,
        )
        axes.plot([x, x], [low, high], "_-", color=QUIET, markersize=6, linewidth=0.8, zorder=1)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    suffix = f", {curve.label}" if curve.label else ""
    measured = list(zip(curve.x, (each.measured() for each in curve.quantities), strict=True))
    model = [(x, one.predicted) for x, one in measured if one.predicted is not None]
    if model:
        axes.plot(
            [x for x, _ in model],
            [y for _, y in model],
            color=MODEL,
            linestyle="--" if curve.hollow else "-",
            label=f"model{suffix}",
        )
    points = [
        (x, one.simulated, one.ci95 or 0.0) for x, one in measured if one.simulated is not None
    ]
    axes.errorbar(
        [x for x, _, _ in points],
        [y for _, y, _ in points],
        yerr=[half for _, _, half in points],
        fmt="s" if curve.hollow else "o",
        color=SIMULATION,
        markerfacecolor="white" if curve.hollow else SIMULATION,
        markersize=6 if curve.hollow else 4,
        label=f"simulation{suffix}",
    )


def _draw_bars(axes: Axes, panel: BarPanel) -> None:
    if panel.stated is not None:
        low, high = panel.stated
        if low == high:
            axes.axhline(low, color=QUIET, linestyle="--", label="paper", zorder=3)
        else:
            axes.axhspan(low, high, color=PAPER_BAND, alpha=0.6, label="paper's range", zorder=0)
    for place, group in enumerate(panel.groups):
        width = 0.8 / len(group.quantities)
        for index, quantity in enumerate(group.quantities):
            one = quantity.measured()
            x = place - 0.4 + width * (index + 0.5)
            first = place == index == 0
            axes.bar(
                x,
                (one.simulated or 0.0),
                width * 0.85,
                yerr=(one.ci95 or 0.0),
                color=SIMULATION,
                alpha=1.0 if index == 0 else 0.55,
                error_kw={"elinewidth": 0.8},
                label="simulation" if first else None,
            )
            if one.predicted is not None:
                level = one.predicted
                axes.plot(
                    [x - width * 0.45, x + width * 0.45],
                    [level, level],
                    color=MODEL,
                    label="model" if first else None,
                )
    axes.set_ylabel(panel.y_label)
    axes.grid(axis="x", visible=False)
