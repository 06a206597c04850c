"""The picture of a comparison: who gets what share, how much that is, and where packets wait."""

from math import isnan
from textwrap import fill, shorten
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.figure import SubFigure

from lasthop.compare import Comparison
from lasthop.digits import plain
from lasthop.plot.conflicts import conflict_figure
from lasthop.plot.figure import (
    EMULATION,
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    headline,
    house_style,
    title,
)
from lasthop.plot.rows import (
    bars,
    crosses,
    diamonds,
    estimates,
    label_rows,
    numbers,
    plain_numbers,
    rows_height,
)
from lasthop.result import Answer
from lasthop.swing import Swing

__all__ = ["comparison_figure"]

TRACE_MM = 58.0
"""Height of the panel with a queue's trace. [mm]"""

SWINGS_SHOWN = 8.0
"""Periods of the trace that are drawn, its last ones."""

SIMULATED = "simulation, 95 %"
EMULATED = "emulation, once"
EQUAL = "equal shares"
TARGET = "target"


def comparison_figure(comparison: Comparison) -> Figure:
    """Three panels, one row a station: share of goodput, goodput, mean queue.

    Classes of wired flows and queues of links stand below the stations. Classes that share the
    access point's queue have a panel of their own on top, with their targets.

    Without a cell: goodput by class of flows, use of links, mean queue.
    """
    simulated = comparison.simulation.summary
    if comparison.scenario.get("csma"):
        return graph_figure(comparison)
    if "stations" not in simulated:
        return network_figure(comparison)
    stations = simulated["stations"]
    hidden = comparison.shown_with_nodes
    wired = [
        item
        for item in simulated.get("classes", ())
        if "loss_probability" in item and ("classes", item["name"]) not in hidden
    ]
    links = [
        {"name": item["name"], "queue_packets": item["occupancy_packets"]}
        for item in simulated["queues"]
        if ("queues", item["name"]) not in hidden
    ]
    users, nodes = [*stations, *wired], [*simulated["aps"], *stations, *links]
    guesses = {what: aligned_guesses(comparison, what) for what in ("aps", "stations")}
    real = {what: aligned(comparison.emulation, comparison, what) for what in ("aps", "stations")}
    classes = sharing_classes(comparison)
    shown = (*([classes] if classes else []), stations, users, nodes)
    heights = [rows_height(len(rows)) for rows in shown]
    excuse = why_no_model(comparison)
    lines = (0 if excuse is None else 2 + excuse.count("\n")) + bool(classes)
    with house_style(sum(heights) + 12 + 3.2 * lines) as figure:
        *above, shares, goodputs, queues = figure.subplots(len(heights), height_ratios=heights)
        for axes in above:
            draw_classes(axes, comparison, classes)

        title(shares, "Who gets what share")
        side_by_side(shares, stations, guesses["stations"], "goodput_share", 100, real["stations"])
        shares.axvline(100 / len(stations), color=QUIET, linestyle="--", label=EQUAL)
        shares.set_xlabel("share of the cell's goodput [%]")

        title(goodputs, "How much that is")
        blank: list[dict[str, Any]] = [{}] * len(wired)
        known = [[*answers["stations"], *blank] for answers in (guesses, real)]
        side_by_side(goodputs, users, known[0], "goodput_bps", 1e-6, known[1])
        goodputs.set_xlabel("goodput [Mb/s]")

        title(queues, "Where packets wait")
        blank = [{}] * len(links)
        known = [[*answers["aps"], *answers["stations"], *blank] for answers in (guesses, real)]
        side_by_side(queues, nodes, known[0], "queue_packets", 1, known[1])
        queues.set_xlabel("mean queue [packets]")

        legend: dict[str, Any] = {}
        for axes in (*above, shares):
            lines, names = axes.get_legend_handles_labels()
            legend |= dict(zip(names, lines, strict=True))
        every = (SIMULATED, "model", EMULATED, EQUAL, TARGET)
        order = [name for name in every if name in legend]
        headline(figure, comparison.scenario["name"])
        handles = [legend[name] for name in order]
        figure.legend(
            handles,
            order,
            loc="outside lower left",
            ncols=2 if classes or comparison.emulation is not None else 3,
            columnspacing=1.2,
            title=excuse,
            title_fontsize=6.5,
            alignment="left",
        )
    return figure


def sharing_classes(comparison: Comparison) -> list[dict[str, Any]]:
    """What is simulated of the classes that share the access point's queue."""
    names = {each["name"] for each in comparison.scenario["cell"].get("vbs_classes", ())}
    simulated = comparison.simulation.summary.get("classes", ())
    return [item for item in simulated if item["name"] in names and "target_share" in item]


def draw_classes(axes: Axes, comparison: Comparison, classes: list[dict[str, Any]]) -> None:
    """Goodput of each class, and what its target is of what all classes got."""
    title(axes, "What classes get of a shared queue")
    predicted = {} if comparison.prediction is None else comparison.prediction.summary
    guesses = {item["name"]: item for item in predicted.get("classes", ())}
    aligned = [guesses.get(item["name"], {}) for item in classes]
    side_by_side(axes, classes, aligned, "goodput_bps", 1e-6)
    whole = sum(item["goodput_bps"]["mean"] or 0.0 for item in classes) / 1e6
    targets = [item["target_share"]["mean"] * whole for item in classes]
    rows = range(len(classes))
    axes.vlines(
        targets,
        [row - 0.4 for row in rows],
        [row + 0.4 for row in rows],
        "black",
        "dotted",
        label=TARGET,
        zorder=7,
    )
    axes.set_xlim(right=1.04 * max(axes.get_xlim()[1] / 1.04, *targets))
    axes.set_xlabel("goodput of the class [Mb/s]")


def graph_figure(comparison: Comparison) -> Figure:
    """The conflict graph with air times and throughputs, predicted and simulated."""
    panels: list[tuple[str, Answer]] = []
    if comparison.prediction is not None:
        text = f"model {comparison.prediction.model}: air time and throughput of each link"
        panels.append((text, comparison.prediction))
    panels.append(("simulation: the same", comparison.simulation))
    figure = conflict_figure(panels)
    headline(figure, comparison.scenario["name"])
    return figure


def network_figure(comparison: Comparison) -> Figure:
    """Three panels: goodput of each class of flows, use of each link, its mean queue.

    A fourth on top, the trace of the busiest queue: with rest and cycle of the fluid, if any.
    """
    simulated = comparison.simulation.summary
    panels = (
        ("Who gets how much", "classes", "goodput_bps", 1e-6, "goodput of the class [Mb/s]"),
        ("What is used", "links", "utilisation", 100, "utilisation of the link [%]"),
        ("Where packets wait", "queues", "occupancy_packets", 1, "mean queue [packets]"),
    )
    shown = [panel for panel in panels if simulated.get(panel[1])]
    heights = [rows_height(len(simulated[panel[1]])) for panel in shown]
    swing = comparison.swing
    height = sum(heights) + 18
    with house_style(height + (0 if swing is None else TRACE_MM)) as figure:
        below: MatplotlibFigure | SubFigure = figure
        if swing is not None:  # Apart, so that the names of the rows below take no width from it.
            ratios = [TRACE_MM, height]
            above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=ratios)[:, 0]
            draw_swing(above, swing)
        every = below.subplots(len(heights), height_ratios=heights, squeeze=False)[:, 0]
        for axes, (what, list_name, quantity, scale, label) in zip(every, shown, strict=True):
            items = simulated[list_name]
            title(axes, what)
            guesses = aligned_guesses(comparison, list_name)
            side_by_side(axes, items, guesses, quantity, scale)
            axes.set_xlabel(label)
        headline(figure, comparison.scenario["name"])
        handles, names = every[0].get_legend_handles_labels()
        legend = dict(zip(names, handles, strict=True))
        order = [name for name in (SIMULATED, "model") if name in legend]
        below.legend(
            [legend[name] for name in order],
            order,
            loc="outside lower left",
            ncols=2,
            title=why_no_model(comparison),
            title_fontsize=6.5,
            alignment="left",
        )
    return figure


def draw_swing(figure: SubFigure, swing: Swing) -> None:
    """Draw the end of the queue's trace, the fluid's point of rest, and its cycle if it swings."""
    axes = figure.subplots()
    known = [p for p in (swing.period_s, swing.cycle_s, swing.predicted_s) if p is not None]
    span = swing.times_s[-1] - swing.times_s[0]
    length = min(span, SWINGS_SHOWN * max(known)) if known else span
    start = swing.times_s[-1] - length
    late = swing.times_s >= start
    title(axes, f"How the queue moves: {swing.queue}")
    seen: dict[str, Any] = {"color": SIMULATION, "linewidth": 0.8, "label": "simulation"}
    axes.plot(swing.times_s[late], swing.packets[late], **seen)
    if swing.rest_packets is not None:
        kind = "at rest, stable" if swing.stable else "at rest, unstable"
        axes.axhline(swing.rest_packets, color=MODEL, linestyle="--", linewidth=1.1, label=kind)
    if swing.cycle is not None:
        times, queue = swing.cycle
        turns = int(np.ceil(length / (times[-1] + times[1])))
        whole = np.concatenate([times + k * (times[-1] + times[1]) for k in range(turns)]) + start
        shown = whole <= swing.times_s[-1]
        axes.plot(whole[shown], np.tile(queue, turns)[shown], color=MODEL, label="fluid's cycle")
    axes.set_xlim(start, swing.times_s[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(period_text(swing))
    axes.set_ylabel("queue [packets]")
    figure.legend(loc="outside lower left", ncols=3, columnspacing=1.2)


def period_text(swing: Swing) -> str:
    """The label of the time axis, with the periods on a line of their own."""
    seen = "none" if swing.period_s is None else f"{plain(swing.period_s)} s"
    fluids = "" if swing.cycle_s is None else f", fluid's cycle {plain(swing.cycle_s)} s"
    return f"time [s]\nperiod: simulation {seen}{fluids}"


def side_by_side(
    axes: Axes,
    simulated: list[dict[str, Any]],
    predicted: list[dict[str, Any]],
    quantity: str,
    scale: float,
    emulated: list[dict[str, Any]] | None = None,
) -> None:
    """The simulation's bars with intervals and, where they say something, model and emulation."""
    seen = estimates(simulated, quantity, scale)
    guesses = estimates(predicted, quantity, scale)
    real = estimates(emulated or [], quantity, scale)
    predicts = not all(isnan(value) for value, _ in guesses)
    bars(axes, seen, SIMULATION, SIMULATED, guesses if predicts else ())
    indent = max(map(len, numbers(seen))) + 2
    if predicts:
        diamonds(axes, guesses, MODEL, "model", indent)
        indent += max(map(len, plain_numbers(guesses))) + 2
    if not all(isnan(value) for value, _ in real):
        crosses(axes, real, EMULATION, EMULATED, indent, down=-0.14 if predicts else 0.0)
    axes.set_xlim(left=0)
    label_rows(axes, [item["name"] for item in simulated])


def why_no_model(comparison: Comparison) -> str | None:
    """What the picture says where it has no diamonds."""
    if comparison.refusal is None:
        return None
    return fill(shorten(f"No prediction: the scenario {comparison.refusal}", 300), 66)


def aligned_guesses(comparison: Comparison, list_name: str) -> list[dict[str, Any]]:
    """What the model says of each simulated item, in order; empty where it says nothing."""
    return aligned(comparison.prediction, comparison, list_name)


def aligned(answer: Answer | None, comparison: Comparison, list_name: str) -> list[dict[str, Any]]:
    """What an answer says of each simulated item, in order; empty where it says nothing."""
    said = {} if answer is None else answer.summary
    known = {item["name"]: item for item in said.get(list_name, ())}
    return [known.get(item["name"], {}) for item in comparison.simulation.summary[list_name]]
