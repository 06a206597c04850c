"""Stations of one result, or classes of wired flows: goodput and queue."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.plot.figure import SIMULATION, Figure, headline, house_style
from lasthop.plot.rows import bars, estimates, label_rows, rows_height

if TYPE_CHECKING:
    from lasthop.result import Result


def goodput_figure(result: "Result") -> Figure:
    """Goodput of each station, or of each class of flows where there is no cell, with 95 %
    intervals."""
    stations = result.summary.get("stations") or result.summary["classes"]
    return bars_figure(result, stations, "goodput_bps", 1e-6, "goodput [Mb/s]")


def queue_figure(result: "Result") -> Figure:
    """Mean queue of the access point and each station, or of each link where there is no cell, with
    95 % intervals.
    """
    nodes = [*result.summary.get("aps", ()), *result.summary.get("stations", ())]
    quantity = "queue_packets"
    if not nodes:
        nodes, quantity = result.summary["queues"], "occupancy_packets"
    return bars_figure(result, nodes, quantity, 1, "mean queue [packets]")


def bars_figure(
    result: "Result", items: Sequence[Mapping[str, Any]], quantity: str, scale: float, label: str
) -> Figure:
    """A bar for each item, with 95 % intervals."""
    with house_style(rows_height(len(items))) as figure:
        axes = figure.subplots()
        headline(figure, result.summary["scenario"])
        bars(axes, estimates(items, quantity, scale), SIMULATION, "simulation")
        axes.set_xlabel(f"{label}, 95 % intervals")
        label_rows(axes, [item["name"] for item in items])
    return figure
