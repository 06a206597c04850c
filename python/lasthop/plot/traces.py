"""Time series of one replication: lines in panels, one above the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from matplotlib.lines import Line2D

from lasthop.plot.figure import Figure, house_style, title
from lasthop.plot.legend import legend_columns
from lasthop.plot.palette import DISTINCT, LEVEL

DASHES = (":", "--")
"""Line styles of horizontal lines in a panel, in order."""


@dataclass(frozen=True)
class Trace:
    """One line of a panel.

    Parameters
    ----------
    label : str
        Legend entry of the line; lines with the same label have the same colour.
    time_s, values : sequence of float
        Times [s] and the values recorded at these times.
    """

    label: str
    time_s: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True)
class TracePanel:
    """A panel of time series with its lines.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    traces : sequence of Trace
        Lines to draw.
    title : str
        Title above the axes.
    levels : mapping, optional
        Values at which horizontal lines are drawn, by label.
    """

    y_label: str
    traces: Sequence[Trace]
    title: str = ""
    levels: Mapping[str, float] | None = None


def traces_figure(panels: Sequence[TracePanel], *, panel_mm: float = 36.0) -> Figure:
    """Draw panels over time, one above the other; all vertical axes begin at zero.

    Parameters
    ----------
    panels : sequence of TracePanel
        Panels from top to bottom.
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
