"""Stations of one result, or classes of wired flows: goodput and queue."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from lasthop.plot.figure import (
    EMULATION,
    MODEL,
    SIMULATION,
    Figure,
    figure_of,
    headline,
    one_panel,
    title,
)
from lasthop.plot.rows import bars, estimates, label_rows, rows_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.answer import Answer

COLORS = {"simulation": SIMULATION, "prediction": MODEL, "emulation": EMULATION}
"""Colours by the kind of an answer."""


def goodput_figure(result: "Answer", ax: "Axes | None" = None) -> Figure:
    """Goodput of each station, of each class of flows where there is no cell, or of each flow of a
    conflict graph, with 95 % intervals.
    """
    summary = result.summary
    items = summary.get("stations") or summary.get("classes") or summary["flows"]
    return bars_figure(result, items, "goodput_bps", 1e-6, "goodput [Mb/s]", ax)


def queue_figure(result: "Answer", ax: "Axes | None" = None) -> Figure:
    """Mean queue of the access point and each station, or of each link where there is no cell, with
    95 % intervals.
    """
    nodes = [*result.summary.get("aps", ()), *result.summary.get("stations", ())]
    quantity = "queue_packets"
    if not nodes:
        nodes, quantity = result.summary["queues"], "occupancy_packets"
    return bars_figure(result, nodes, quantity, 1, "mean queue [packets]", ax)


def bars_figure(
    result: "Answer",
    items: Sequence[Mapping[str, Any]],
    quantity: str,
    scale: float,
    label: str,
    ax: "Axes | None" = None,
) -> Figure:
    """A bar for each item, with 95 % intervals where there are some."""
    values = estimates(items, quantity, scale)
    name = str(result.summary["scenario"])
    kind = str(result.summary["kind"])
    with one_panel(rows_height(len(items)), ax) as axes:
        if ax is None:
            headline(figure_of(axes), name)
        else:
            title(axes, name)
        bars(axes, values, COLORS[kind], kind)
        has_intervals = not all(isnan(half) for _, half in values)
        axes.set_xlabel(f"{label}, 95 % intervals" if has_intervals else label)
        label_rows(axes, [item["name"] for item in items])
        return figure_of(axes)
