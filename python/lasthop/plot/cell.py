"""Picture of a cell: goodput shares, goodputs, and queues."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from lasthop.answers.estimates import Estimate
from lasthop.answers.items import names_in
from lasthop.display.columns import shown_with_nodes
from lasthop.plot.delays import delay_panels
from lasthop.plot.figure import Figure, Place, headline, headline_mm, house_style, title
from lasthop.plot.panels import in_columns, in_two, stacked, tallest
from lasthop.plot.rows import HEADS_MM, NumberColumns, estimates, rows_height
from lasthop.plot.sharers import Sharer, meaning_of_groups
from lasthop.plot.side_by_side import (
    COLORS,
    TARGET,
    Row,
    SideBySide,
    draw_equal,
    explain,
    says_something,
)
from lasthop.scenario.typed import CellScenario, PingFlow, SensorFlow

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer

SMALL_PART = 0.01
"""Fraction of the largest value below which a value gets no row, unless this applies to one row
only. [-]"""

WAYS = ", ↑ up, ↓ down"
"""Suffix of an axis label that explains arrows in row labels."""


def cell_figure(
    sides: SideBySide,
    name: str,
    place: Place | None = None,
    *,
    shares: bool = True,
    note: str | None = None,
) -> Figure:
    """Draw panels with a row for each station or table of stations: goodput share, goodput, mean
    queue.

    If the scenario has calls or other delay-sensitive traffic, panels of delays come first, and
    another panel shows the mean time in each queue. Classes of wired flows and queues of links are
    below the stations. Classes that share the access point's queue have a separate panel at the
    top, with their targets.

    Parameters
    ----------
    sides : SideBySide
        Results to draw.
    name : str
        Headline of the picture.
    place : Figure or SubFigure, optional
        Figure or subfigure to draw into.
    shares : bool
        Whether goodput shares have a panel of their own.
    note : str, optional
        Note above the legend.
    """
    stations = sides.station_rows()
    delays = delay_panels(sides)
    nodes = nodes_of(sides)
    users = [*(row for _, row in stations), *wired_of(sides)]
    classes = sharing_classes(sides)
    rows = [row for _, row in stations]
    knows = [q for q in ("goodput_share", "goodput_bps") if is_known(sides, rows, q)]
    if not shares and "goodput_bps" in knows:
        knows = ["goodput_bps"]
    rows_of = {"goodput_share": rows, "goodput_bps": users}
    panels = [panel.rows for panel in delays]
    panels += [*([classes] if classes else []), *(rows_of[quantity] for quantity in knows)]
    has_sojourns = delays and is_known(sides, sojourns_of(sides), "sojourn_s")
    waits = is_known(sides, nodes, "queue_packets")
    few_sojourns = few_queues = ""
    if has_sojourns:
        remaining, few_sojourns = worth_a_row(sojourns_of(sides), "sojourn_s", 1e3)
        panels.append(remaining)
    panels += [nodes] * waits
    columns = in_columns([rows_height(len(rows)) for rows in panels])
    if waits and len(columns) > 1:
        panels[-1], few_queues = worth_a_row(nodes, "queue_packets")
    heights = [rows_height(len(rows)) for rows in panels]
    columns = in_columns(heights) if len(columns) == 1 else in_two(heights)
    about = sides.about()
    note = "\n".join(filter(None, (note, meaning_of_groups([row for row, _ in stations])))) or None
    lines = 0 if note is None else 2 + note.count("\n")
    lines += len(columns) == 1 and (bool(classes or delays) or len(sides.answers) > 1)
    numbers = NumberColumns(COLORS)
    height = tallest(columns, heights) + 12 + 3.2 * lines
    height += headline_mm(name, about, len(columns))
    height += HEADS_MM * (len(sides.answers) > 1)
    with house_style(height, len(columns), place) as figure:
        every = stacked(figure, columns, heights)
        for axes, panel in zip(every, delays, strict=False):
            panel.draw(axes, sides, numbers)
        rest = every[len(delays) :]
        for axes in rest[: bool(classes)]:
            draw_classes(axes, sides, classes, numbers)
        for quantity, axes in zip(knows, rest[bool(classes) :], strict=False):
            if quantity == "goodput_share":
                draw_shares(axes, sides, stations, numbers)
            else:
                first = stations if knows[0] == quantity else ()
                draw_goodputs(axes, sides, users, numbers, first)
        if has_sojourns:
            at = -1 - waits
            title(every[at], "Time in queues")
            sides.draw(every[at], panels[at], "sojourn_s", 1e3, numbers)
            every[at].set_xlabel(f"mean time in the queue [ms]{few_sojourns}")
        if waits:
            title(every[-1], "Queues")
            sides.draw(every[-1], panels[-1], "queue_packets", 1, numbers)
            every[-1].set_xlabel(f"mean queue [packets]{few_queues}")
        numbers.write(heads_of=[every[column[0]] for column in columns])
        headline(figure, name, about)
        explain(figure, every, sides.legend, note=note)
    return figure


def is_known(sides: SideBySide, rows: Sequence[Row], quantity: str) -> bool:
    """Return whether any result has a value of the quantity in any of the rows."""
    return any(
        says_something(estimates([row.of(kind) for row in rows], quantity))
        for kind in sides.answers
    )


def draw_shares(
    axes: Axes, sides: SideBySide, stations: Sequence[tuple[Sharer, Row]], numbers: NumberColumns
) -> None:
    """Draw the share of each station in the cell's goodput, and a line for equal shares."""
    title(axes, "Share of the goodput")
    sides.draw(axes, [row for _, row in stations], "goodput_share", 100, numbers)
    draw_equal(axes, stations, asking(sides.first), 100.0)
    axes.set_xlabel(f"share of goodput [%]{ways(stations)}")


def draw_goodputs(
    axes: Axes,
    sides: SideBySide,
    users: Sequence[Row],
    numbers: NumberColumns,
    first: Sequence[tuple[Sharer, Row]] = (),
) -> None:
    """Draw goodputs. If `first` contains all stations, also draw a line for equal goodputs."""
    title(axes, "Goodput")
    sides.draw(axes, users, "goodput_bps", 1e-6, numbers)
    cells = sides.first.contents.get("cells", ())
    if first and len(cells) == 1 and len(users) == len(first):
        total = Estimate.read(cells[0].get("goodput_bps"))
        if total is not None:
            draw_equal(axes, first, asking(sides.first), total.mean / 1e6)
    axes.set_xlabel(f"goodput [Mb/s]{ways(first)}")


def ways(rows: Sequence[tuple[Sharer, Row]]) -> str:
    """Return text on the meaning of the arrows; empty if no row label has an arrow."""
    return WAYS if any(row.name.endswith(("↑", "↓")) for _, row in rows) else ""


def asking(answer: "Answer") -> set[str]:
    """Return the stations with flows other than sensor reports and pings; all stations if there
    are none."""
    every = set(names_in(answer.contents, "stations"))
    if not answer.has_scenario:
        return every
    small = (SensorFlow, PingFlow)
    bulk = (flow for flow in answer.scenario.typed.flows if not isinstance(flow, small))
    return {flow.station for flow in bulk if flow.station} or every


def nodes_of(sides: SideBySide) -> list[Row]:
    """Return a row per access point, station and queue of a link, for the mean queue length."""
    hidden = hidden_of(sides.first)
    links = [
        Row(row.name, {kind: as_node(item) for kind, item in row.items.items()})
        for row in sides.rows("queues")
        if ("queues", row.name) not in hidden
    ]
    stations = [row for _, row in sides.station_rows(by_way=False)]
    return [*sides.rows("aps"), *stations, *links]


def sojourns_of(sides: SideBySide) -> list[Row]:
    """Return a row per queue: access points, stations (one row for equal stations), and links."""
    hidden = hidden_of(sides.first)
    groups: list[tuple[str, Sequence[str]]] = [(row.name, (row.name,)) for row in sides.rows("aps")]
    groups += [(row.label, row.members) for row, _ in sides.station_rows(by_way=False)]
    names = [row.name for row in sides.rows("queues")]
    groups += [(name, (name,)) for name in names if ("queues", name) not in hidden]
    return sides.grouped("queues", groups)


def as_node(queue: object) -> dict[str, object]:
    """Return the mean length of a link's queue under the key that nodes have, ``queue_packets``."""
    known = dict(queue) if isinstance(queue, dict) else {}
    return {"queue_packets": known["occupancy_packets"]} if "occupancy_packets" in known else {}


def wired_of(sides: SideBySide) -> list[Row]:
    """Return a row per class of wired flows."""
    hidden = hidden_of(sides.first)
    kind = next(iter(sides.answers))
    return [
        row
        for row in sides.rows("classes")
        if "loss_probability" in row.of(kind) and ("classes", row.name) not in hidden
    ]


def hidden_of(answer: "Answer") -> set[tuple[str, str]]:
    """Return the list and the name of each item whose values equal those of its station or access
    point.
    """
    return shown_with_nodes(answer.contents, answer.scenario.typed if answer.has_scenario else None)


def sharing_classes(sides: SideBySide) -> list[Row]:
    """Return a row per class that has a target share of the access point's queue."""
    if not sides.first.has_scenario:
        return []
    known = sides.first.scenario.typed
    classes = known.cell.vbs_classes if isinstance(known, CellScenario) else ()
    names = {each.name for each in classes}
    kind = next(iter(sides.answers))
    return [
        row
        for row in sides.rows("classes")
        if row.name in names and {"target_share", "goodput_bps"} <= row.of(kind).keys()
    ]


def draw_classes(
    axes: Axes, sides: SideBySide, classes: Sequence[Row], numbers: NumberColumns
) -> None:
    """Draw goodput and target of each class; the target is the target share of the total
    goodput.
    """
    title(axes, "Goodput of the classes of a shared queue")
    sides.draw(axes, classes, "goodput_bps", 1e-6, numbers)
    kind = next(iter(sides.answers))
    items = [row.of(kind) for row in classes]
    goodputs = (Estimate.read(item.get("goodput_bps")) for item in items)
    total = sum(goodput.mean for goodput in goodputs if goodput is not None) / 1e6
    shares = (Estimate.read(item.get("target_share")) for item in items)
    targets = [share.mean * total for share in shares if share is not None]
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


def worth_a_row(rows: list[Row], quantity: str, scale: float = 1.0) -> tuple[list[Row], str]:
    """Return the rows with values that are large enough to see, and a note on the omitted rows."""

    def largest(row: Row) -> float:
        values = (Estimate.read(item.get(quantity)) for item in row.items.values())
        return max((scale * value.mean for value in values if value is not None), default=0.0)

    least = SMALL_PART * max(map(largest, rows), default=0.0)
    remaining = [row for row in rows if largest(row) >= least]
    count = len(rows) - len(remaining)
    if count < 2:
        return rows, ""
    return remaining, f"\n{count} others have less than {least:.2g}"
