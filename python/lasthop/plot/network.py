"""Picture of a wired network: goodputs, utilisation of links, and queues."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from lasthop.answers.digits import plain
from lasthop.plot.delays import delay_panels
from lasthop.plot.figure import (
    MODEL,
    SIMULATION,
    Figure,
    Place,
    headline,
    headline_mm,
    house_style,
    title,
)
from lasthop.plot.panels import in_columns, stacked, tallest
from lasthop.plot.rows import HEADS_MM, NumberColumns, rows_height
from lasthop.plot.side_by_side import COLORS, Row, SideBySide, explain

if TYPE_CHECKING:
    from lasthop.comparison.oscillation import Oscillation

TRACE_MM = 58.0
"""Height of the panel that shows a queue over time. [mm]"""

SWINGS_SHOWN = 8.0
"""Number of oscillation periods that the panel of a queue over time shows."""

TRACE = "simulated queue"
REST = {True: "fluid model: stable equilibrium", False: "fluid model: unstable equilibrium"}
CYCLE = "fluid model: cycle"

TIME_IN_QUEUES = ("Time in queues", "queues", "sojourn_s", 1e3, "mean time in the queue [ms]")
"""Panel that is added if delays are shown: title, list, quantity, factor, and axis label."""

PANELS = (
    ("Goodput", "classes", "goodput_bps", 1e-6, "goodput of the class [Mb/s]"),
    ("Goodput", "flows", "goodput_bps", 1e-6, "goodput of the flow [Mb/s]"),
    ("Utilisation", "links", "utilisation", 100, "utilisation of the link [%]"),
    ("Utilisation", "links", "airtime_fraction", 100, "air time of the link [%]"),
    TIME_IN_QUEUES,
    ("Queues", "queues", "occupancy_packets", 1, "mean queue [packets]"),
)
"""Panels: title, list, quantity, factor from the result's unit, and axis label. The panel of flows
is drawn only if no class has the quantity.
"""


def network_figure(
    sides: SideBySide,
    name: str,
    place: Place | None = None,
    *,
    oscillation: "Oscillation | None" = None,
    note: str | None = None,
) -> Figure:
    """Draw three panels: goodput per class of flows, utilisation per link, and mean queue per link.

    If the scenario has calls or other delay-sensitive traffic, panels of delays come first, and
    another panel shows the mean time in each queue. A further panel shows the trace of the busiest
    queue. If there is a fluid model, this panel also shows the model's equilibrium and limit cycle.

    Parameters
    ----------
    sides : SideBySide
        Results to draw.
    name : str
        Headline of the picture.
    place : Figure or SubFigure, optional
        Figure or subfigure to draw into.
    oscillation : Oscillation, optional
        Length of a queue over time.
    note : str, optional
        Note above the legend.
    """
    delays = delay_panels(sides)
    shown: list[tuple[str, str, float, str, list[Row]]] = []
    panels = [panel for panel in PANELS if delays or panel is not TIME_IN_QUEUES]
    for above, list_name, quantity, scale, label in panels:
        rows = [
            row
            for row in sides.rows(list_name)
            if any(quantity in item for item in row.items.values())
        ]
        if rows and above not in [panel[0] for panel in shown]:
            shown.append((above, quantity, scale, label, rows))
    traced = [] if oscillation is None else [TRACE_MM]
    heights = [rows_height(len(panel.rows)) for panel in delays]
    heights += [*traced, *(rows_height(len(panel[-1])) for panel in shown)]
    columns = in_columns(heights)
    about = sides.about()
    lines = (0 if note is None else 2 + note.count("\n")) + (len(columns) == 1)
    lines += bool(delays)
    height = tallest(columns, heights) + 12 + 3.2 * lines
    height += headline_mm(name, about, len(columns))
    height += HEADS_MM * (len(sides.answers) > 1)
    numbers = NumberColumns(COLORS)
    with house_style(height, len(columns), place) as figure:
        every = stacked(figure, columns, heights)
        for axes, panel in zip(every, delays, strict=False):
            panel.draw(axes, sides, numbers)
        rest = every[len(delays) :]
        if oscillation is not None:
            draw_oscillation(rest[0], oscillation)
        for axes, (above, quantity, scale, label, rows) in zip(
            rest[len(traced) :], shown, strict=True
        ):
            title(axes, above)
            sides.draw(axes, rows, quantity, scale, numbers)
            axes.set_xlabel(label)
        firsts = [every[column[0]] for column in columns]
        heads_of = [axes for axes in firsts if oscillation is None or axes is not rest[0]]
        numbers.write(heads_of=heads_of or rest[1:2])
        headline(figure, name, about)
        first, *others = sides.legend
        order = [first, TRACE, *others, *REST.values(), CYCLE]
        explain(figure, every, order, note=note)
    return figure


def draw_oscillation(axes: Axes, oscillation: "Oscillation") -> None:
    """Draw the last periods of a queue over time, with equilibrium and limit cycle of the fluid
    model.
    """
    known = [
        p
        for p in (oscillation.period_s, oscillation.cycle_s, oscillation.predicted_s)
        if p is not None
    ]
    span = oscillation.times_s[-1] - oscillation.times_s[0]
    length = min(span, SWINGS_SHOWN * max(known)) if known else span
    start = oscillation.times_s[-1] - length
    late = oscillation.times_s >= start
    title(axes, f"Queue over time: {oscillation.queue}")
    seen: dict[str, Any] = {"color": SIMULATION, "linewidth": 0.8, "label": TRACE}
    axes.plot(oscillation.times_s[late], oscillation.packets[late], **seen)
    if oscillation.rest_packets is not None:
        kind = REST[bool(oscillation.stable)]
        axes.axhline(
            oscillation.rest_packets, color=MODEL, linestyle="--", linewidth=1.1, label=kind
        )
    if oscillation.cycle is not None:
        times, queue = oscillation.cycle
        turns = int(np.ceil(length / (times[-1] + times[1])))
        total = np.concatenate([times + k * (times[-1] + times[1]) for k in range(turns)]) + start
        shown = total <= oscillation.times_s[-1]
        axes.plot(total[shown], np.tile(queue, turns)[shown], color=MODEL, label=CYCLE)
    axes.set_xlim(start, oscillation.times_s[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(period_text(oscillation))
    axes.set_ylabel("queue [packets]")


def period_text(oscillation: "Oscillation") -> str:
    """Return the label of the time axis. Its further lines state the period of the simulation and
    the limit cycle of the model."""
    cycle = (
        "" if oscillation.cycle_s is None else f"fluid model: cycle {plain(oscillation.cycle_s)} s"
    )
    if oscillation.period_s is None:  # No steady period, or one too long to detect.
        none = f"no steady period up to {plain(oscillation.longest_s)} s"
        return "\n".join(filter(None, ("time [s]", f"simulation: {none}, 1/8 of the trace", cycle)))
    seen = f"period {plain(oscillation.period_s)} s"
    return f"time [s]\nsimulation: {'; '.join(filter(None, (seen, cycle)))}"
