"""Picture of one quantity, with a row per station, table of stations, or class of wired flows."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from lasthop.errors import UserError
from lasthop.plot.cell import asking, nodes_of, ways
from lasthop.plot.figure import LINE_MM, Figure, figure_of, headline, headline_mm, one_panel, title
from lasthop.plot.rows import NumberColumns, estimates, rows_height
from lasthop.plot.sharers import meaning_of_groups
from lasthop.plot.side_by_side import COLORS, STYLES, Row, SideBySide, draw_equal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.answers.answer import Answer

GOODPUT = ("goodput_bps", 1e-6, "goodput [Mb/s]")
SHARE = ("goodput_share", 100.0, "share of the goodput [%]")


def goodput_figure(answer: "Answer", ax: "Axes | None" = None) -> Figure:
    """Draw the goodput of each station or table of stations, with 95 % intervals.

    Without a cell, draw the goodput of each class of flows; for a conflict graph, of each flow.
    """
    return of_sharers(answer, *GOODPUT, ax)


def share_figure(answer: "Answer", ax: "Axes | None" = None) -> Figure:
    """Draw the goodput share of each station or table of stations, and a line for equal shares."""
    return of_sharers(answer, *SHARE, ax)


def queue_figure(answer: "Answer", ax: "Axes | None" = None) -> Figure:
    """Draw the mean queue of the access point and of each station or table of stations, with 95 %
    intervals.

    Without a cell, draw the mean queue of each link.
    """
    others = SideBySide.of(answer)
    if "stations" in answer.contents:
        rows, quantity = nodes_of(others), "queue_packets"
        meaning = meaning_of_groups([row for row, _ in others.station_rows(by_way=False)])
    else:
        rows, quantity, meaning = others.rows("queues"), "occupancy_packets", ""
    return bars_figure(others, rows, quantity, 1, "mean queue [packets]", ax, meaning=meaning)


def of_sharers(
    answer: "Answer", quantity: str, scale: float, label: str, ax: "Axes | None"
) -> Figure:
    """Draw a quantity with a row for each station or table of stations."""
    others = SideBySide.of(answer)
    if not answer.contents.get("stations"):
        every = (others.rows(name) for name in ("classes", "flows"))
        return bars_figure(others, next(filter(None, every), []), quantity, scale, label, ax)
    stations = others.station_rows()
    rows = [row for _, row in stations]
    meaning = meaning_of_groups([row for row, _ in stations])
    figure = bars_figure(others, rows, quantity, scale, label + ways(stations), ax, meaning=meaning)
    if quantity == SHARE[0]:
        draw_equal(figure.axes[0] if ax is None else ax, stations, asking(answer), 100.0)
    return figure


def bars_figure(
    sides: SideBySide,
    rows: Sequence[Row],
    quantity: str,
    scale: float,
    label: str,
    ax: "Axes | None" = None,
    *,
    meaning: str = "",
) -> Figure:
    """Draw a bar for each row, with its 95 % interval if known.

    The text `meaning`, which explains rows of several stations, is written below the axis.
    """
    [kind] = sides.answers
    values = estimates([row.of(kind) for row in rows], quantity, scale)
    if all(isnan(each.value) for each in values):
        raise UserError(f"the {STYLES[kind].name} of this scenario has no {quantity}")
    name, about = sides.first.heading.scenario, sides.about()
    height = rows_height(len(rows)) + (LINE_MM if meaning else 0.0)
    with one_panel(height + headline_mm(name, about), ax) as axes:
        if ax is None:
            headline(figure_of(axes), name, about)
        else:
            title(axes, name)
        numbers = NumberColumns(COLORS)
        sides.draw(axes, rows, quantity, scale, numbers)
        numbers.write()
        has_intervals = not all(isnan(each.half) for each in values)
        text = f"{label}, 95 % intervals" if has_intervals else label
        axes.set_xlabel(f"{text}\n{meaning}" if meaning else text)
        return figure_of(axes)
