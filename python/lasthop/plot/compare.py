"""The picture of a comparison: who gets what share, how much that is, and where packets wait."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from textwrap import fill, shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from lasthop.digits import plain
from lasthop.models.reading import CellScenario, CsmaScenario, SensorFlow
from lasthop.plot.conflicts import conflict_figure
from lasthop.plot.figure import (
    COLUMN_INCHES,
    EMULATION,
    MEASUREMENT,
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    Place,
    headline,
    house_style,
    title,
    width_inches,
)
from lasthop.plot.panels import in_columns, in_two, stacked, tallest
from lasthop.plot.rows import (
    bars,
    estimates,
    label_rows,
    marks,
    numbers,
    plain_numbers,
    rows_height,
)
from lasthop.swing import Swing

if TYPE_CHECKING:
    from lasthop.answer import Answer
    from lasthop.compare import Comparison

TRACE_MM = 58.0
"""Height of the panel with a queue's trace. [mm]"""

SWINGS_SHOWN = 8.0
"""Periods of the trace that are drawn, its last ones."""

SIMULATED = "simulation, 95 %"
EMULATED = "emulation, once"
MEASURED = "measured"
EQUAL = "equal shares"
TARGET = "target"
TRACE = "simulated queue"
OF_LINKS = "air time and throughput of each link"
REST = {True: "fluid at rest, stable", False: "fluid at rest, unstable"}
CYCLE = "fluid's cycle"
DIAMOND = {"marker": "D", "markersize": 3.2, "color": MODEL, "label": "model"}
CROSS = {"marker": "X", "markersize": 4.4, "color": EMULATION, "label": EMULATED}
TRIANGLE = {"marker": "^", "markersize": 4.0, "color": MEASUREMENT, "label": MEASURED}
"""Marks of a model's, an emulation's and a measurement's values."""

LEGEND = (SIMULATED, TRACE, "model", EMULATED, MEASURED, EQUAL, TARGET, *REST.values(), CYCLE)
"""What has a place in the legend, in its order."""


def comparison_figure(comparison: "Comparison", place: Place | None = None) -> Figure:
    """Three panels, one row a station: share of goodput, goodput, mean queue.

    Classes of wired flows and queues of links stand below the stations. Classes that share the
    access point's queue have a panel of their own on top, with their targets.

    Without a cell: goodput by class of flows, use of links, mean queue.
    """
    simulated = comparison.simulation.summary
    if isinstance(comparison.scenario.typed, CsmaScenario):
        return graph_figure(comparison, place)
    if "stations" not in simulated:
        return network_figure(comparison, place)
    hidden = comparison.shown_with_nodes
    wired = [
        Row(item)
        for item in simulated.get("classes", ())
        if "loss_probability" in item and ("classes", item["name"]) not in hidden
    ]
    links = [
        Row({"name": item["name"], "queue_packets": item["occupancy_packets"]})
        for item in simulated["queues"]
        if ("queues", item["name"]) not in hidden
    ]
    stations = rows_of(comparison, "stations")
    users, nodes = [*stations, *wired], [*rows_of(comparison, "aps"), *stations, *links]
    classes = sharing_classes(comparison)
    shown = [*([classes] if classes else []), stations, users, nodes]
    columns = in_columns([rows_height(len(rows)) for rows in shown])
    hidden_text = ""
    if len(columns) > 1:
        nodes, hidden_text = worth_a_row(nodes, "queue_packets")
    heights = [rows_height(len(rows)) for rows in [*shown[:-1], nodes]]
    columns = in_columns(heights) if len(columns) == 1 else in_two(heights)
    excuse = why_no_model(comparison, len(columns))
    lines = (0 if excuse is None else 2 + excuse.count("\n")) + (
        bool(classes) and len(columns) == 1
    )
    height = tallest(columns, heights) + 12 + 3.2 * lines
    with house_style(height, len(columns), place) as figure:
        *above, shares, goodputs, queues = stacked(figure, columns, heights)
        for axes in above:
            draw_classes(axes, classes)

        title(shares, "Who gets what share")
        side_by_side(shares, stations, "goodput_share", 100)
        shares.axvline(
            100 / len(sharing_stations(comparison)), color=QUIET, linestyle="--", label=EQUAL
        )
        shares.set_xlabel("share of the cell's goodput [%]")

        title(goodputs, "How much that is")
        side_by_side(goodputs, users, "goodput_bps", 1e-6)
        goodputs.set_xlabel("goodput [Mb/s]")

        title(queues, "Where packets wait")
        side_by_side(queues, nodes, "queue_packets", 1)
        queues.set_xlabel(f"mean queue [packets]{hidden_text}")

        headline(figure, comparison.scenario.typed.name)
        several = bool(classes) or comparison.emulation or comparison.measured
        explain(figure, [*above, shares, goodputs], excuse, ncols=2 if several else 3)
    return figure


@dataclass(frozen=True)
class Row:
    """One item of all answers; empty where one says nothing of it."""

    simulated: dict[str, Any]
    predicted: dict[str, Any] = field(default_factory=dict)
    emulated: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)


SMALL_PART = 0.01
"""Part of the largest value below which a value gets no row, where there are many rows. [-]"""


def worth_a_row(rows: list[Row], quantity: str) -> tuple[list[Row], str]:
    """Rows that are worth showing, and a note that tells of the others."""

    def largest(row: Row) -> float:
        answers = (row.simulated, row.predicted, row.emulated, row.measured)
        said = (answer.get(quantity) for answer in answers)
        return max((item["mean"] or 0.0 for item in said if item), default=0.0)

    least = SMALL_PART * max(map(largest, rows), default=0.0)
    kept = [row for row in rows if largest(row) >= least]
    count = len(rows) - len(kept)
    if count < 2:
        return rows, ""
    return kept, f"\n{count} others hold less than {least:.2g}"


def explain(figure: Figure, panels: Sequence[Axes], excuse: str | None, ncols: int) -> None:
    """One legend for all panels, with why there is no model's answer."""
    legend: dict[str, Any] = {}
    for axes in panels:
        lines, names = axes.get_legend_handles_labels()
        legend |= dict(zip(names, lines, strict=True))
    order = [name for name in LEGEND if name in legend]
    wide = width_inches(figure) > 1.5 * COLUMN_INCHES
    figure.legend(
        [legend[name] for name in order],
        order,
        loc="outside lower left",
        ncols=len(order) if wide else ncols,
        columnspacing=1.2,
        title=excuse,
        title_fontsize=6.5,
        alignment="left",
    )


def sharing_stations(comparison: "Comparison") -> set[str]:
    """Stations with more than sensors, which ask for no share; all stations if there are none."""
    known = comparison.scenario.typed
    bulk = (flow for flow in known.flows if not isinstance(flow, SensorFlow))
    return {flow.station for flow in bulk if flow.station} or set(known.station)


def sharing_classes(comparison: "Comparison") -> list[Row]:
    """Classes that share the access point's queue."""
    known = comparison.scenario.typed
    classes = known.cell.vbs_classes if isinstance(known, CellScenario) else ()
    names = {each.name for each in classes}
    every = rows_of(comparison, "classes")
    return [
        row for row in every if row.simulated["name"] in names and "target_share" in row.simulated
    ]


def draw_classes(axes: Axes, classes: Sequence[Row]) -> None:
    """Goodput of each class beside its target, which is a part of what all classes got."""
    title(axes, "What classes get of a shared queue")
    side_by_side(axes, classes, "goodput_bps", 1e-6)
    simulated = [row.simulated for row in classes]
    whole = sum(item["goodput_bps"]["mean"] or 0.0 for item in simulated) / 1e6
    targets = [item["target_share"]["mean"] * whole for item in simulated]
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


def graph_figure(comparison: "Comparison", place: Place | None = None) -> Figure:
    """The conflict graph with air times and throughputs, predicted and simulated."""
    panels: list[tuple[str, Answer]] = []
    if comparison.prediction is not None:
        panels.append((f"model {comparison.prediction.model}: {OF_LINKS}", comparison.prediction))
    panels.append((f"simulation: {'the same' if panels else OF_LINKS}", comparison.simulation))
    figure = conflict_figure(panels, place)
    headline(figure, comparison.scenario.typed.name)
    return figure


def network_figure(comparison: "Comparison", place: Place | None = None) -> Figure:
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
    swing = comparison.swing
    traced = [] if swing is None else [TRACE_MM]
    heights = [*traced, *(rows_height(len(simulated[panel[1]])) for panel in shown)]
    columns = in_columns(heights)
    excuse = why_no_model(comparison, len(columns))
    lines = 0 if excuse is None else 2 + excuse.count("\n")
    height = tallest(columns, heights) + 12 + 3.2 * (lines + (len(columns) == 1))
    with house_style(height, len(columns), place) as figure:
        every = stacked(figure, columns, heights)
        if swing is not None:
            draw_swing(every[0], swing)
        rows = every[len(traced) :]
        for axes, (what, list_name, quantity, scale, label) in zip(rows, shown, strict=True):
            title(axes, what)
            side_by_side(axes, rows_of(comparison, list_name), quantity, scale)
            axes.set_xlabel(label)
        headline(figure, comparison.scenario.typed.name)
        explain(figure, every, excuse, ncols=2)
    return figure


def draw_swing(axes: Axes, swing: Swing) -> None:
    """Draw the end of the queue's trace, the fluid's point of rest, and its cycle if it swings."""
    known = [p for p in (swing.period_s, swing.cycle_s, swing.predicted_s) if p is not None]
    span = swing.times_s[-1] - swing.times_s[0]
    length = min(span, SWINGS_SHOWN * max(known)) if known else span
    start = swing.times_s[-1] - length
    late = swing.times_s >= start
    title(axes, f"How the queue moves: {swing.queue}")
    seen: dict[str, Any] = {"color": SIMULATION, "linewidth": 0.8, "label": TRACE}
    axes.plot(swing.times_s[late], swing.packets[late], **seen)
    if swing.rest_packets is not None:
        kind = REST[bool(swing.stable)]
        axes.axhline(swing.rest_packets, color=MODEL, linestyle="--", linewidth=1.1, label=kind)
    if swing.cycle is not None:
        times, queue = swing.cycle
        turns = int(np.ceil(length / (times[-1] + times[1])))
        whole = np.concatenate([times + k * (times[-1] + times[1]) for k in range(turns)]) + start
        shown = whole <= swing.times_s[-1]
        axes.plot(whole[shown], np.tile(queue, turns)[shown], color=MODEL, label=CYCLE)
    axes.set_xlim(start, swing.times_s[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(period_text(swing))
    axes.set_ylabel("queue [packets]")


def period_text(swing: Swing) -> str:
    """The label of the time axis, with the periods on a line of their own."""
    seen = "no period" if swing.period_s is None else f"period {plain(swing.period_s)} s"
    fluids = "" if swing.cycle_s is None else f"; fluid's cycle {plain(swing.cycle_s)} s"
    return f"time [s]\nsimulation: {seen}{fluids}"


def side_by_side(axes: Axes, rows: Sequence[Row], quantity: str, scale: float) -> None:
    """The simulation's bars with intervals and, where they say something, model and emulation."""
    seen = estimates([row.simulated for row in rows], quantity, scale)
    guesses = estimates([row.predicted for row in rows], quantity, scale)
    real = estimates([row.emulated for row in rows], quantity, scale)
    predicts = not all(isnan(value) for value, _ in guesses)
    bars(axes, seen, SIMULATION, SIMULATED, guesses if predicts else ())
    indent = max(map(len, numbers(seen))) + 2
    if predicts:
        marks(axes, guesses, DIAMOND, indent, down=0.24)
        indent += max(map(len, plain_numbers(guesses))) + 2
    if not all(isnan(value) for value, _ in real):
        marks(axes, real, CROSS, indent, down=-0.14 if predicts else 0.0)
        indent += max(map(len, plain_numbers(real))) + 2
    found = estimates([row.measured for row in rows], quantity, scale)
    if not all(isnan(value) for value, _ in found):
        marks(axes, found, TRIANGLE, indent, down=-0.14 if predicts else 0.0)
    axes.set_xlim(left=0)
    label_rows(axes, [row.simulated["name"] for row in rows])


def why_no_model(comparison: "Comparison", columns: int) -> str | None:
    """What the picture says where it has no diamonds."""
    if comparison.refusal is None:
        return None
    said = shorten(f"No prediction: the scenario {comparison.refusal}", 300 * columns)
    return fill(said, 66 * columns)


def rows_of(comparison: "Comparison", list_name: str) -> list[Row]:
    """Every simulated item of a list, with what prediction and emulation say of it."""
    guesses, real = (
        {} if answer is None else {item["name"]: item for item in answer.summary.get(list_name, ())}
        for answer in (comparison.prediction, comparison.emulation)
    )
    found = {} if comparison.measured is None else comparison.measured.items(list_name)
    return [
        Row(
            item,
            guesses.get(item["name"], {}),
            real.get(item["name"], {}),
            dict(found.get(item["name"], {})),
        )
        for item in comparison.simulation.summary.get(list_name, ())
    ]
