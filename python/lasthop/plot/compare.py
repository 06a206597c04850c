"""The picture of a comparison: who gets what share, how much that is, and where packets wait."""

from math import isnan
from textwrap import fill, shorten
from typing import Any

from matplotlib.axes import Axes

from lasthop.compare import Comparison
from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, headline, house_style, title
from lasthop.plot.rows import bars, diamonds, estimates, label_rows, numbers, rows_height

__all__ = ["comparison_figure"]

SIMULATED = "simulation, 95 %"
EQUAL = "equal shares"


def comparison_figure(comparison: Comparison) -> Figure:
    """Three panels, one row a station: share of goodput, goodput, mean queue.

    Without a cell: goodput by class of flows, use of links, mean queue.
    """
    simulated = comparison.simulation.summary
    if "stations" not in simulated:
        return network_figure(comparison)
    stations = simulated["stations"]
    nodes = [*simulated["aps"], *stations]
    guesses = {what: aligned_guesses(comparison, what) for what in ("aps", "stations")}
    heights = [rows_height(len(rows)) for rows in (stations, stations, nodes)]
    excuse = why_no_model(comparison)
    lines = 0 if excuse is None else 2 + excuse.count("\n")
    with house_style(sum(heights) + 12 + 3.2 * lines) as figure:
        shares, goodputs, queues = figure.subplots(3, height_ratios=heights)

        title(shares, "Who gets what share")
        side_by_side(shares, stations, guesses["stations"], "goodput_share", 100)
        shares.axvline(100 / len(stations), color=QUIET, linestyle="--", label=EQUAL)
        shares.set_xlabel("share of the cell's goodput [%]")

        title(goodputs, "How much that is")
        side_by_side(goodputs, stations, guesses["stations"], "goodput_bps", 1e-6)
        goodputs.set_xlabel("goodput [Mb/s]")

        title(queues, "Where packets wait")
        every_guess = [*guesses["aps"], *guesses["stations"]]
        side_by_side(queues, nodes, every_guess, "queue_packets", 1)
        queues.set_xlabel("mean queue [packets]")

        lines, names = shares.get_legend_handles_labels()
        legend = dict(zip(names, lines, strict=True))
        order = [name for name in (SIMULATED, "model", EQUAL) if name in legend]
        headline(figure, comparison.scenario["name"])
        handles = [legend[name] for name in order]
        figure.legend(
            handles,
            order,
            loc="outside lower left",
            ncols=3,
            columnspacing=1.2,
            title=excuse,
            title_fontsize=6.5,
            alignment="left",
        )
    return figure


def network_figure(comparison: Comparison) -> Figure:
    """Three panels: goodput of each class of flows, use of each link, its mean queue."""
    simulated = comparison.simulation.summary
    panels = (
        ("Who gets how much", "classes", "goodput_bps", 1e-6, "goodput of the class [Mb/s]"),
        ("What is used", "links", "utilisation", 100, "utilisation of the link [%]"),
        ("Where packets wait", "queues", "occupancy_packets", 1, "mean queue [packets]"),
    )
    shown = [panel for panel in panels if simulated.get(panel[1])]
    heights = [rows_height(len(simulated[panel[1]])) for panel in shown]
    with house_style(sum(heights) + 18) as figure:
        every = figure.subplots(len(shown), height_ratios=heights, squeeze=False)[:, 0]
        for axes, (what, list_name, quantity, scale, label) in zip(every, shown, strict=True):
            items = simulated[list_name]
            title(axes, what)
            bars(axes, estimates(items, quantity, scale), SIMULATION, SIMULATED)
            axes.set_xlim(left=0)
            axes.set_xlabel(label)
            label_rows(axes, [item["name"] for item in items])
        headline(figure, comparison.scenario["name"])
        handles, names = every[0].get_legend_handles_labels()
        figure.legend(
            handles[:1],
            names[:1],
            loc="outside lower left",
            title=why_no_model(comparison),
            title_fontsize=6.5,
            alignment="left",
        )
    return figure


def side_by_side(
    axes: Axes,
    simulated: list[dict[str, Any]],
    predicted: list[dict[str, Any]],
    quantity: str,
    scale: float,
) -> None:
    """The simulation's bars with intervals and, where it says something, the model's diamonds."""
    seen = estimates(simulated, quantity, scale)
    guesses = estimates(predicted, quantity, scale)
    if all(isnan(value) for value, _ in guesses):
        bars(axes, seen, SIMULATION, SIMULATED)
    else:
        bars(axes, seen, SIMULATION, SIMULATED, guesses)
        diamonds(axes, guesses, MODEL, "model", max(map(len, numbers(seen))))
    axes.set_xlim(left=0)
    label_rows(axes, [item["name"] for item in simulated])


def why_no_model(comparison: Comparison) -> str | None:
    """What the picture says where it has no diamonds."""
    if comparison.refusal is None:
        return None
    return fill(shorten(f"No prediction: the scenario {comparison.refusal}", 300), 66)


def aligned_guesses(comparison: Comparison, list_name: str) -> list[dict[str, Any]]:
    """What the model says of each simulated item, in order; empty where it says nothing."""
    predicted = {} if comparison.prediction is None else comparison.prediction.summary
    guesses = {item["name"]: item for item in predicted.get(list_name, ())}
    simulated = comparison.simulation.summary[list_name]
    return [guesses.get(item["name"], {}) for item in simulated]
