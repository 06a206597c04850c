"""Pictures of the stability workbench."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from lasthop.plot.figure import MODEL, Figure, house_style, title
from lasthop.stability.chart import Chart

__all__ = ["axis_label", "chart_figure", "draw_chart"]

STABLE = "#D5ECE3"
"""Shade of the stable region: the palette's green, pale."""
NOTHING = "#EEEEEE"
"""Shade of where there is no equilibrium."""

SYMBOLS = {
    "alpha": "α",
    "capacity": "capacity per flow C",
    "gamma": "gain of the average γ",
    "min_th": "lower threshold",
    "q_th": "threshold $q_{th}$",
    "rtt": "round-trip time τ",
}
"""How some parameters are called on an axis."""


def axis_label(name: str, unit: str) -> str:
    """Return a parameter's name and unit."""
    said = SYMBOLS.get(name, name)
    return said if unit == "-" else f"{said} [{unit}]"


def chart_figure(chart: Chart) -> Figure:
    """Draw where a case is stable over two parameters."""
    with house_style(68.0) as figure:
        axes = figure.subplots()
        draw_chart(axes, chart)
        title(axes, chart.case.model.title)
        patches = [
            Patch(color=STABLE, label="stable"),
            Patch(facecolor="white", edgecolor="#999999", label="unstable"),
        ]
        figure.legend(handles=patches, loc="outside lower center", ncols=2)
        return figure


def draw_chart(axes: Axes, chart: Chart) -> None:
    """Shade the stable region and draw the Hopf curves."""
    values = np.where(np.isfinite(chart.abscissa), chart.abscissa, 0.0)
    scaled = np.sign(values) * np.sqrt(np.abs(values))  # A smoother zero line for the shading.
    axes.contourf(
        chart.x_values, chart.y_values, scaled, levels=[-np.inf, 0.0], colors=[STABLE], zorder=0
    )
    if not np.isfinite(chart.abscissa).all():
        none = np.where(np.isfinite(chart.abscissa), 0.0, 1.0)
        axes.contourf(
            chart.x_values, chart.y_values, none, levels=[0.5, 1.5], colors=[NOTHING], zorder=0
        )
    for curve in chart.curves:
        look: dict[str, Any] = {"color": MODEL, "linewidth": 1.1}
        axes.plot(curve.x, np.where(curve.boundary, curve.y, np.nan), **look)
        axes.plot(curve.x, np.where(curve.boundary, np.nan, curve.y), linestyle=":", **look)
    for axis, scale, label in (
        (chart.x, axes.set_xscale, axes.set_xlabel),
        (chart.y, axes.set_yscale, axes.set_ylabel),
    ):
        scale("log" if axis.logarithmic else "linear")
        label(axis_label(axis.name, chart.case.number(axis.name).unit))
    axes.set_xlim(chart.x.low, chart.x.high)
    axes.set_ylim(chart.y.low, chart.y.high)
