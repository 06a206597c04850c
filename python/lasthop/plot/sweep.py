"""Picture of a sweep: a quantity over one path, or over two paths as lines or as a map."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from lasthop.errors import UserError, listed
from lasthop.plot.about import changes, changes_text
from lasthop.plot.figure import (
    COLUMN_INCHES,
    QUIET,
    Figure,
    Place,
    headline,
    headline_mm,
    house_style,
    title,
    width_inches,
)
from lasthop.plot.heat import Scale, draw_map
from lasthop.plot.layout import Layout, layout
from lasthop.plot.legend import legend_columns
from lasthop.plot.palette import Style, styles
from lasthop.plot.rows import Spread, half_widths, label_rows, rows_height
from lasthop.plot.side_by_side import CALL_LIMIT
from lasthop.plot.swept import (
    MAX_LINES,
    NONE,
    Axis,
    Quantity,
    Swept,
    is_named,
    largest_of,
    quantities_of,
    swept,
)
from lasthop.plot.ticks import Ticks

if TYPE_CHECKING:
    from lasthop.sweep import Sweep

PANEL_MM = 50.0
"""Height of a panel with lines. [mm]"""

MAX_PANELS = 6
"""Maximum number of panels. If there are more, a note contains their number."""

ROOM = 1.025
"""Smallest ratio of the end of an axis to the largest value, so that symbols are not cut off.
[-]
"""

MAX_TICKS = 8
"""Maximum number of values for which each value has a tick."""

WIDEST = 20
"""Width to which names of categories are wrapped. [characters]"""

NOTE_WIDTH = 66
"""Width to which the note below the panels is wrapped. [characters]"""

NOTE_LINE_MM = 3.2
"""Height of each line of the note after the first. [mm]"""


def sweep_figure(sweep: "Sweep", quantity: str | None = None, place: Place | None = None) -> Figure:
    """Draw a quantity over the paths of a sweep.

    With one path, each item has a line with intervals. A group of stations has a line for its mean
    and a band for its range. With two paths, each item has a panel, with a line for each value of
    one path. If both paths have many values, the panel is a map. If the values of the path are not
    numbers, each value has a row. The abscissa is logarithmic if the ratios between neighbouring
    values vary less than the differences.

    Raises
    ------
    UserError
        If there is no such quantity, if there is no point, or if there are more lines than a
        picture can distinguish.
    """
    if not len(sweep.points):
        raise UserError("no point is finished, so that nothing can be drawn")
    how = layout(sweep)
    results = [each for each in swept(sweep, quantities_of(sweep, quantity)) if not is_idle(each)]
    panels = panels_of(results, how)
    if len(panels) > MAX_PANELS:  # Panels at the end are omitted.
        panels.sort(key=lambda panel: rank(panel, sweep.paths))
    shown = panels[:MAX_PANELS]
    note = note_of(results, panels, shown, how)
    keys = keys_of(shown, how)
    text = changes_text(changes(sweep.scenario))
    by_rows = not how.is_map and not how.x.is_numeric
    columns = 2 if how.is_map and len(shown) > 1 else 1
    rows = -(-len(shown) // columns)
    each_mm = rows_height(2 * len(how.x.texts)) if by_rows else PANEL_MM
    if how.is_map and how.lines is not None:
        each_mm = max(PANEL_MM, 22 + 4.2 * min(len(how.lines.texts), 12))
    name = sweep.scenario.typed.name
    height = each_mm * rows + 8 + 4.5 * (-(-len(keys) // 3)) + headline_mm(name, text, columns)
    height += NOTE_LINE_MM * note.count("\n")
    if how.ticks is not None:
        height += how.ticks.extra_mm
    scales = scales_of(shown) if how.is_map else {}
    style_of_line = styles(list(line_names(shown, how)))
    with house_style(height, columns, place) as figure:
        along = not how.is_map and not by_rows
        grid = figure.subplots(rows, columns, sharex=along, squeeze=False)
        every = list(grid.flat)
        for axes in every[len(shown) :]:
            axes.set_axis_off()
        for axes, panel in zip(every, shown, strict=False):
            if how.is_map:
                draw_map(axes, panel.only, how, scales[panel.swept.quantity])
            elif by_rows:
                draw_rows(axes, panel, how, style_of_line)
            else:
                draw_lines(axes, panel, how, style_of_line)
            if panel.title:
                title(axes, panel.title)
        if along:
            every[-1].set_xlabel(how.label)
        headline(figure, name, text)
        legend(figure, keys, note)
    return figure


def rank(panel: "Panel", paths: Sequence[str]) -> tuple[bool, bool]:
    """Return the sort key of a panel: delays first, then items whose tables in the scenario contain
    swept keys.
    """
    is_asked = any(is_named(name, paths) for name in panel.names)
    return not panel.swept.quantity.having, not is_asked


def is_idle(each: Swept) -> bool:
    """Return whether a quantity is a loss rate that is 0 everywhere and was not requested."""
    quantity = each.quantity
    return bool(quantity.having) and quantity.name == "loss_probability" and each.largest == 0


@dataclass(frozen=True)
class Panel:
    """A panel: one item with one or several lines, or several items with one line each."""

    swept: Swept
    title: str
    names: tuple[str, ...]
    """Names of the items in the panel. If there are several items, each item is a line."""

    @property
    def only(self) -> tuple[Swept, str]:
        """Swept quantity and item of a panel with a single item."""
        return self.swept, self.names[0]


def panels_of(swepts: Sequence[Swept], how: Layout) -> list[Panel]:
    """Return the panels: one per quantity; if the lines are values of a path, one per item."""
    panels = []
    for each in swepts:
        names = tuple(each.items)
        if how.lines is None and len(names) <= MAX_LINES:
            panels.append(Panel(each, "", names))
        else:
            several = len(names) > 1
            panels += [Panel(each, name if several else "", (name,)) for name in names]
    return panels


def scales_of(panels: Sequence[Panel]) -> dict[Quantity, Scale]:
    """Return the colour scale of each quantity, which all its maps have in common."""
    results: dict[Quantity, list[float]] = {}
    for panel in panels:
        each = panel.swept.items[panel.names[0]].values()
        results.setdefault(panel.swept.quantity, []).extend(value.value for value in each)
    return {quantity: Scale.of(values) for quantity, values in results.items()}


def lines_of(panel: Panel, how: Layout) -> dict[str, dict[str, Spread]]:
    """Return the values of each line, by value of the abscissa."""
    lines: dict[str, dict[str, Spread]] = {}
    for name in panel.names:
        for settings, value in panel.swept.items[name].items():
            x, line = how.at(settings)
            lines.setdefault(line if how.lines is not None else name, {})[x] = value
    return lines


def line_names(panels: Sequence[Panel], how: Layout) -> dict[str, str]:
    """Return the legend labels of the lines, in order."""
    if how.lines is not None:
        return {text: how.lines.text_of(text) for text in how.lines.texts}
    return {name: name for panel in panels for name in panel.names}


def keys_of(panels: Sequence[Panel], how: Layout) -> list[Line2D]:
    """Return the items of the legend, one per line.

    The legend is empty if the title of each panel names its only line.
    """
    names = line_names(panels, how)
    has_titles = how.lines is None and all(panel.title for panel in panels)
    if how.is_map or has_titles or len(names) < 2:
        return []
    return [
        Line2D([], [], color=style.color, marker="o", markersize=3, linewidth=1.2, label=names[key])
        for key, style in styles(list(names)).items()
    ]


def draw_lines(axes: Axes, panel: Panel, how: Layout, every: Mapping[str, Style]) -> None:
    """Draw the lines of a panel over a numeric abscissa."""
    places = how.x.places()
    for line, values in lines_of(panel, how).items():
        texts = [text for text in how.x.texts if text in values]
        x, known = [places[text] for text in texts], [values[text] for text in texts]
        style: dict[str, Any] = {"color": every[line].color, "linestyle": "-"}
        axes.errorbar(
            x,
            [each.value for each in known],
            yerr=half_widths(known),
            marker="o",
            markersize=3,
            elinewidth=0.8,
            capsize=1.5,
            **style,
        )
        if any(each.most > each.least for each in known):
            low, high = [each.least for each in known], [each.most for each in known]
            axes.fill_between(x, low, high, color=every[line].color, alpha=0.18, linewidth=0)
    furnish(axes, panel)
    if how.x.logarithmic:
        axes.set_xscale("log")
    if how.ticks is not None:
        name_ticks(axes, how.x, how.ticks)
    elif len(how.x.texts) <= MAX_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(list(how.x.numbers)))
        axes.set_xticks(list(how.x.numbers), [how.x.text_of(text) for text in how.x.texts])
        axes.xaxis.set_minor_locator(NullLocator())


def name_ticks(axes: Axes, axis: Axis, ticks: Ticks) -> None:
    """Write ticks with the values of all paths at each point."""
    axes.xaxis.set_major_locator(FixedLocator(list(axis.numbers)))
    turned: dict[str, Any] = {"rotation": 90} if ticks.is_upright else {}
    axes.set_xticks(list(axis.numbers), ticks.labels, parse_math=False, **turned)
    axes.xaxis.set_minor_locator(NullLocator())


def furnish(axes: Axes, panel: Panel, *, sideways: bool = False) -> None:
    """Label the axis of the quantity, and draw the limit of a good call if there is one.

    If the quantity has no negative values, the axis begins at zero. An axis that begins elsewhere
    would make small differences look like a trend.
    """
    from_zero = panel.swept.least >= 0.0
    known = (value for name in panel.names for value in panel.swept.items[name].values())
    limit = panel.swept.quantity.limit
    room = ROOM * max(largest_of(known), limit or 0.0)
    if limit is not None:
        mark = axes.axvline if sideways else axes.axhline
        mark(limit, color=QUIET, linestyle="-.", linewidth=1.0, zorder=1)
    if sideways:
        axes.set_xlabel(panel.swept.quantity.label.replace("\n", " "))
        if from_zero:
            axes.set_xlim(0.0, max(axes.get_xlim()[1], room))
    else:
        axes.set_ylabel(panel.swept.quantity.label)
        if from_zero:
            axes.set_ylim(0.0, max(axes.get_ylim()[1], room))


def draw_rows(axes: Axes, panel: Panel, how: Layout, every: Mapping[str, Style]) -> None:
    """Draw a row for each value of a non-numeric path, with a point for each line."""
    lines = lines_of(panel, how)
    step = 0.7 / max(1, len(lines))
    for number, (line, values) in enumerate(lines.items()):
        offset = step * (number - (len(lines) - 1) / 2)
        rows = [row + offset for row in range(len(how.x.texts))]
        known = [values.get(text, NONE) for text in how.x.texts]
        color = every[line].color
        axes.errorbar(
            [each.value for each in known],
            rows,
            xerr=half_widths(known),
            fmt="o",
            markersize=3.5,
            elinewidth=0.8,
            capsize=1.5,
            color=color,
        )
        low, high = [each.least for each in known], [each.most for each in known]
        axes.hlines(rows, low, high, color=color, alpha=0.25, linewidth=3.0)
    furnish(axes, panel, sideways=True)
    label_rows(axes, [how.x.text_of(text) for text in how.x.texts])
    axes.set_yticks(
        range(len(how.x.texts)),
        [fill(how.x.text_of(text), WIDEST) for text in how.x.texts],
        parse_math=False,
    )
    axes.set_ylabel(how.label)


def note_of(
    swepts: Sequence[Swept], panels: Sequence[Panel], shown: Sequence[Panel], how: Layout
) -> str:
    """Return the note below the panels: meaning of lines and bands, and omitted items."""
    notes = [] if how.lines is None or how.is_map else [f"lines: {how.lines.label}"]
    values = [
        value
        for panel in shown
        for name in panel.names
        for value in panel.swept.items[name].values()
    ]
    if not how.is_map and any(value.most > value.least for value in values):
        # The points of a sweep have no samples, from which the interval of a group would follow.
        if any(value.half > 0.0 for value in values):
            notes.append("error bars: 95 % interval; a group: mean and range (pale), no interval")
        else:
            notes.append("a group: mean and range (pale)")
    if not how.is_map and any(panel.swept.quantity.limit is not None for panel in shown):
        notes.append(f"dash-dotted: {CALL_LIMIT}")
    if len(panels) > len(shown):
        notes.append(f"the first {len(shown)} of {len(panels)} panels")
    notes += dict.fromkeys(fault for each in swepts for fault in missing(each))
    return fill("; ".join(notes), NOTE_WIDTH)


def missing(each: Swept) -> Iterator[str]:
    """Yield phrases on the items that lack the quantity, and on items that are omitted as too
    small.
    """
    title = each.quantity.label.partition(" [")[0].replace("\n", " ")
    if each.lacking:
        yield f"no {title}: {listed(each.lacking)}"
    if each.small:
        yield f"{title} below 1 % of the largest: {listed(each.small)}"


def legend(figure: Figure, keys: Sequence[Line2D], note: str) -> None:
    """Draw one legend below all panels, with the note."""
    if not keys and not note:
        return
    labels = [str(key.get_label()) for key in keys]
    wide = max(1, round(width_inches(figure) / COLUMN_INCHES))
    figure.legend(
        handles=list(keys),
        loc="outside lower left",
        ncols=legend_columns(labels, wide, 4 * wide) if labels else 1,
        title=note or None,
        title_fontsize=6.5,
        alignment="left",
        labelcolor="black" if keys else QUIET,
    )
