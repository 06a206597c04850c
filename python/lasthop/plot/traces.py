"""What a run records over time: lines of one replication, panels over one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from matplotlib.lines import Line2D

from lasthop.plot.figure import Figure, house_style, title
from lasthop.plot.legend import legend_columns
from lasthop.plot.palette import DISTINCT, LEVEL

DASHES = (":", "--")
"""Line styles of a panel's levels, one after the other."""


@dataclass(frozen=True)
class Trace:
    """One line.

    Parameters
    ----------
    label : str
        Its entry in the legend; lines of one label have one colour.
    time_s, values : sequence of float
        Instants [s] and what was recorded then.
    """

    label: str
    time_s: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True)
class TracePanel:
    """One pair of axes with its lines.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    traces : sequence of Trace
        What to draw.
    title : str
        A short line over the axes.
    levels : mapping, optional
        Horizontal lines, by their labels.
    """

    y_label: str
    traces: Sequence[Trace]
    title: str = ""
    levels: Mapping[str, float] | None = None


def traces_figure(panels: Sequence[TracePanel], *, panel_mm: float = 36.0) -> Figure:
    """Draw panels over one another along the time, all from zero.

    Parameters
    ----------
    panels : sequence of TracePanel
        From top to bottom.
    panel_mm : float
        Height of a panel. [mm]
    """
    labels = dict.fromkeys(trace.label for panel in panels for trace in panel.traces)
    colors = {label: DISTINCT[k % len(DISTINCT)] for k, label in enumerate(labels)}
    with house_style(panel_mm * len(panels) + 10.0) as figure:
        axes_list = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        keys: dict[str, Line2D] = {}
        for axes, panel in zip(axes_list, panels, strict=True):
            for trace in panel.traces:
                [line] = axes.plot(
                    trace.time_s,
                    trace.values,
                    color=colors[trace.label],
                    linewidth=0.7,
                    label=trace.label,
                )
                keys.setdefault(trace.label, line)
            for (label, level), dashes in zip((panel.levels or {}).items(), cycle(DASHES)):
                look = {**LEVEL, "linestyle": dashes}
                keys.setdefault(label, axes.axhline(level, label=label, **look))
            axes.set_ylabel(panel.y_label)
            axes.margins(x=0)
            axes.set_ylim(bottom=0.0)
            if panel.title:
                title(axes, panel.title)
        axes_list[-1].set_xlabel("time [s]")
        figure.legend(
            handles=[*keys.values()],
            loc="outside lower center",
            ncols=legend_columns(list(keys)),
        )
        return figure
