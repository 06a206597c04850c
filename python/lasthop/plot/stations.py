"""Stations of one result, or classes of wired flows: goodput and queue."""

from typing import TYPE_CHECKING

from lasthop.plot.figure import SIMULATION, Figure, headline, house_style
from lasthop.plot.rows import bars, estimates, label_rows, rows_height

if TYPE_CHECKING:
    from lasthop.result import Result

__all__ = ["goodput_figure", "queue_figure"]


def goodput_figure(result: "Result") -> Figure:
    """Goodput of each station, or of each class of flows where there is no cell, with 95 %
    intervals."""
    stations = result.summary.get("stations") or result.summary["classes"]
    with house_style(rows_height(len(stations))) as figure:
        axes = figure.subplots()
        headline(figure, result.summary["scenario"])
        bars(axes, estimates(stations, "goodput_bps", 1e-6), SIMULATION, "simulation")
        axes.set_xlabel("goodput [Mb/s], 95 % intervals")
        label_rows(axes, [item["name"] for item in stations])
    return figure


def queue_figure(result: "Result") -> Figure:
    """Mean queue of the access point and each station, or of each link where there is no cell, with
    95 % intervals.
    """
    nodes = [*result.summary.get("aps", ()), *result.summary.get("stations", ())]
    quantity = "queue_packets"
    if not nodes:
        nodes, quantity = result.summary["queues"], "occupancy_packets"
    with house_style(rows_height(len(nodes))) as figure:
        axes = figure.subplots()
        headline(figure, result.summary["scenario"])
        bars(axes, estimates(nodes, quantity), SIMULATION, "simulation")
        axes.set_xlabel("mean queue [packets], 95 % intervals")
        label_rows(axes, [item["name"] for item in nodes])
    return figure
