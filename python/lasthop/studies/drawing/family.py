"""Families of curves. The model's line and the simulated points of a curve have the same colour."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lasthop.plot.figure import QUIET, Figure, house_style, title
from lasthop.plot.legend import legend_columns
from lasthop.plot.palette import INTERVAL, LEVEL, PAPER, Style, styles
from lasthop.studies.drawing.points import Points
from lasthop.studies.panel import Abscissa, Line, Panel
from lasthop.studies.study import Runs

FEW_TICKS = 4
"""Number of ticks below which the abscissa has a margin on the left and on the right."""


def family_figure(
    abscissa: Abscissa, panels: Sequence[Panel], runs: Runs, *, panel_mm: float
) -> Figure:
    """Draw panels one above the other over a common abscissa, with a colour for each label.

    Parameters
    ----------
    abscissa : Abscissa
        Abscissa that the panels share.
    panels : sequence of Panel
        Panels from top to bottom.
    runs : mapping
        Runs that the lines are read from.
    panel_mm : float
        Height of a panel. [mm]
    """
    drawn = [[Points.of(line, abscissa, runs) for line in panel.lines] for panel in panels]
    every = [points for lines in drawn for points in lines]
    result = styles(list(dict.fromkeys(points.line.label for points in every)))
    middle = (len(result) - 1) / 2.0
    shifts = {label: (k - middle) * abscissa.offset for k, label in enumerate(result)}
    keys = [*_keys(result, every), *_other_keys(panels)]
    columns = legend_columns([str(key.get_label()) for key in keys])
    rows = -(-len(keys) // columns)
    with house_style(panel_mm * len(panels) + 4.5 * rows + 4.0) as figure:
        axes_list = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        common = [axes for axes, panel in zip(axes_list, panels, strict=True) if not panel.x_label]
        for axes in common[:-1]:
            axes.sharex(common[-1])
            axes.tick_params(labelbottom=False)
        for axes, panel, lines in zip(axes_list, panels, drawn, strict=True):
            for points in lines:
                label = points.line.label
                _draw_line(axes, points, result[label], shifts[label])
            _furnish(axes, panel, abscissa)
        common[-1].set_xlabel(abscissa.label)
        ticks = abscissa.labels()
        if ticks:
            common[-1].set_xticks(list(ticks), list(ticks.values()))
            for axes in common if len(ticks) < FEW_TICKS else ():
                axes.margins(x=0.2)
        figure.legend(handles=keys, loc="outside lower center", ncols=columns)
        return figure


def _furnish(axes: Axes, panel: Panel, abscissa: Abscissa) -> None:
    """Draw the paper's values, the horizontal lines and the labels of a panel."""
    places = [abscissa.places(stated[0]) for stated in panel.stated]
    axes.plot(places, [stated[1] for stated in panel.stated], **PAPER)
    for level in (panel.levels or {}).values():
        axes.axhline(level, **LEVEL)
    axes.set_ylabel(panel.y_label)
    axes.set_xlabel(panel.x_label)
    axes.margins(y=0.08)
    if panel.log_from is not None:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(panel.log_from, 2.0 * axes.dataLim.y1)
    elif panel.from_zero:
        axes.set_ylim(0.0, 1.06 * axes.dataLim.y1)
    if panel.title:
        title(axes, panel.title)


def _draw_line(axes: Axes, points: Points, style: Style, shift: float) -> None:
    axes.plot(*points.model(), **_line(points.line, style.color))
    x, means, half_widths = points.simulation()
    axes.errorbar(
        [place + shift for place in x],
        means,
        yerr=half_widths,
        markersize=style.size,
        elinewidth=0.8,
        capsize=1.5,
        **_mark(points.line, style.color),
    )


def _line(line: Line, color: str) -> dict[str, Any]:
    """Return the style of a line that shows the model's values."""
    return {"color": color, "linewidth": 0.9, "linestyle": "--" if line.variant else "-"}


def _mark(line: Line, color: str) -> dict[str, Any]:
    """Return the style of the points that show simulated values."""
    face, marker = ("white", "s") if line.variant else (color, "o")
    shape = {"marker": marker, "markerfacecolor": face, "markeredgewidth": 0.8}
    return {"color": color, "linestyle": "", **shape}


def _keys(style_of: Mapping[str, Style], every: Sequence[Points]) -> list[Line2D]:
    """Return the legend entries: the colour of each label, and the styles of model and
    simulation.
    """
    keys = [
        Line2D([], [], color=style.color, linewidth=2.5, label=label)
        for label, style in style_of.items()
    ]
    for variant in dict.fromkeys(points.line.variant for points in every):
        suffix = f", {variant}" if variant else ""
        own = [points for points in every if points.line.variant == variant]
        if any(points.model()[0] for points in own):
            keys.append(Line2D([], [], label=f"model{suffix}", **_line(own[0].line, QUIET)))
        keys.append(Line2D([], [], label=f"simulation{suffix}", **_mark(own[0].line, QUIET)))
    if any(half > 0.0 for points in every for half in points.simulation()[2]):
        keys.append(Line2D([], [], label="95 %", **INTERVAL))
    return keys


def _other_keys(panels: Sequence[Panel]) -> list[Line2D]:
    labels = dict.fromkeys(label for panel in panels for label in panel.levels or {})
    keys = [Line2D([], [], label=label, **LEVEL) for label in labels]
    if any(panel.stated for panel in panels):
        keys.append(Line2D([], [], label="paper", **PAPER))
    return keys
