"""Pictures of time series: one quantity with a panel per item, or one panel per quantity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lasthop.answers.quantities import registry
from lasthop.errors import UserError, nearest
from lasthop.plot.about import about
from lasthop.plot.figure import QUIET, Figure, Place, headline, headline_mm, house_style
from lasthop.plot.palette import DISTINCT
from lasthop.plot.sharers import title_of

if TYPE_CHECKING:
    from lasthop.simulation.result import Result

MAX_PANELS = 12
"""Maximum number of panels with one item each. If there are more items, their number is written."""

MAX_NAMES = 5
"""Maximum number of labels in a legend."""

LINE, MARK = 64, 5
"""Length of a legend line, and of the symbol before a label. [characters]"""

FEW_LINES = 3
"""Maximum number of items of a group for which the lines of the items have normal width."""

COLORS = (*DISTINCT, "#56B4E9", "#000000")
"""Colours of groups that a reader can distinguish."""

PANEL_MM = 34.0
"""Height of the panel of one quantity. [mm]"""

WARM_UP = "#EEEEEE"

QUANTITIES = (
    ("occupancy_packets", "queue"),
    ("cwnd_packets", "window"),
    ("goodput_bps", "goodput"),
    ("airtime_fraction", "air time"),
    ("utilisation", "utilisation"),
    ("capacity_bps", "rate of the bottleneck"),
    ("ping_rtt_s", "ping"),
    ("rtt_s", "round trip"),
    ("connections", "connections"),
    ("aggressiveness", "r"),
)
"""Quantities of the first panels, in order, with the names on the axes."""

SCALES = {"bit/s": ("Mb/s", 1e-6), "s": ("ms", 1e3)}
"""Units on axes, by the unit in the registry, with the factor between these units."""

NO_SERIES = UserError("no series were sampled", "ask for them: simulate(..., series='0.1 s')")


def multiples_figure(result: "Result", place: Place | None = None) -> Figure:
    """Draw all sampled quantities of the first replication: one panel per quantity, one time axis.

    Stations of one table and their flows have the same colour. If there are few groups, the picture
    has a legend. The warm-up is shaded.
    """
    tracks = result.tracks
    if not tracks:
        raise NO_SERIES
    known = dict.fromkeys(quantity for _, _, quantity in tracks)
    order = [name for name, _ in QUANTITIES if name in known]
    order += [name for name in known if name not in order]
    groups = Groups.of(result)
    warm_up_s = result.heading.warmup_s
    text = about(result)
    name = result.heading.scenario
    height = 12 + PANEL_MM * len(order) + headline_mm(name, text)
    with house_style(height, place=place) as figure:
        panels = figure.subplots(len(order), sharex=True, squeeze=False)[:, 0]
        for axes, quantity in zip(panels, order, strict=True):
            items = [track for track in tracks if track[2] == quantity]
            draw_items(axes, result, items, groups)
            axes.set_ylabel(label_of(quantity))
            if warm_up_s > 0.0:
                axes.axvspan(0.0, warm_up_s, color=WARM_UP, zorder=0, linewidth=0)
            axes.margins(x=0)
        panels[0].set_xlim(left=0.0)
        shaded = "; shaded: warm-up" if warm_up_s > 0.0 else ""
        panels[-1].set_xlabel(f"time [s], first replication{shaded}")
        figure.align_ylabels(panels)
        headline(figure, name, text)
    return figure


@dataclass(frozen=True)
class Groups:
    """Groups of items with a common colour: stations of a table with their flows, or flows of a
    class.

    Parameters
    ----------
    of_name : mapping
        Group of each item, by the item's name.
    ways : mapping
        Direction of a flow by its name, for groups with flows in both directions.
    colors : mapping
        Colours, by list and group. Lists with too many groups have no colours.
    """

    of_name: Mapping[str, str]
    ways: Mapping[str, str]
    colors: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, result: "Result") -> "Groups":
        """Return the groups of the items with time series in a result."""
        known: dict[str, str] = {}
        ways: dict[str, str] = {}
        if result.has_scenario:
            typed = result.scenario.typed
            known = {station.name: station.group for station in typed.stations}
            both: dict[str, set[str]] = {}
            for flow in typed.flows:
                known[flow.name] = known.get(flow.station, flow.class_name or flow.name)
                both.setdefault(known[flow.name], set()).add(flow.direction)
            ways = {
                flow.name: flow.direction for flow in typed.flows if len(both[known[flow.name]]) > 1
            }
        tracks = dict.fromkeys((kind, known.get(name, name)) for kind, name, _ in result.tracks)
        return cls(known, ways, colors_of(list(tracks)))

    def split(self, names: Sequence[str]) -> dict[tuple[str, str], list[str]]:
        """Divide names of items by group and direction; the order of the names does not change."""
        results: dict[tuple[str, str], list[str]] = {}
        for name in names:
            key = self.of_name.get(name, name), self.ways.get(name, "")
            results.setdefault(key, []).append(name)
        return results


def colors_of(tracks: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a colour per list and group. If there are too few colours for all groups, each list
    uses the colours from the first on.
    """
    groups = list(dict.fromkeys(group for _, group in tracks))
    if len(groups) <= len(COLORS):
        return {(kind, group): COLORS[groups.index(group)] for kind, group in tracks}
    colors = dict[tuple[str, str], str]()
    for kind in dict.fromkeys(kind for kind, _ in tracks):
        own = [track for track in tracks if track[0] == kind]
        if len(own) <= len(COLORS):
            colors |= dict(zip(own, COLORS, strict=False))
    return colors


def draw_items(
    axes: Axes, result: "Result", items: Sequence[tuple[str, str, str]], groups: Groups
) -> None:
    """Draw a line for each item in the colour of its group. If there are few groups, draw a
    legend.
    """
    split = groups.split([name for _, name, _ in items])
    list_of = {name: list_name for list_name, name, _ in items}
    _, scale = unit_of(items[0][2])
    handles = []
    for (group, way), names in split.items():
        many = len(names) > FEW_LINES
        look: dict[str, Any] = {
            "color": groups.colors.get((list_of[names[0]], group), QUIET),
            "linestyle": "--" if way == "down" else "-",
        }
        for name in names:
            times, values = result.track(list_of[name], name, items[0][2])
            heights = [nan if value is None else scale * value for value in values]
            axes.plot(
                times, heights, linewidth=0.5 if many else 0.8, alpha=0.6 if many else 1.0, **look
            )
        handles.append(Line2D([], [], label=label_text(group, way, names), linewidth=1.2, **look))
    axes.set_ylim(bottom=0.0)
    looks = {(str(handle.get_color()), handle.get_linestyle()) for handle in handles}
    if len(looks) > 1 and len(split) <= MAX_NAMES:
        axes.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=in_a_line([str(handle.get_label()) for handle in handles]),
            borderpad=0.0,
            borderaxespad=0.2,
            handlelength=1.4,
            columnspacing=1.2,
        )
        return
    text = handles[0].get_label() if len(handles) == 1 else f"{len(items)} lines"
    axes.annotate(str(text), (1.0, 1.03), xycoords="axes fraction", ha="right", fontsize=7)


def in_a_line(labels: Sequence[str]) -> int:
    """Return the number of labels per line of the legend, chosen so that every line fits into the
    width."""
    count = len(labels)
    while count > 1 and count * max(len(label) + MARK for label in labels) > LINE:
        count -= 1
    return -(-len(labels) // -(-len(labels) // count))


def label_text(group: str, way: str, names: Sequence[str]) -> str:
    """Return the legend label of a group: the only name, or the group and its number of items."""
    if len(names) == 1:
        return names[0]
    total = title_of(group, names)
    if ".." not in total:
        total = f"{group}{f' {way}' if way else ''} ({len(names)})"
    return total


def unit_of(quantity: str) -> tuple[str, float]:
    """Return the unit of a quantity on axes, and the factor from the unit in the registry."""
    unit = registry()[quantity].unit if quantity in registry() else "-"
    return SCALES.get(unit, (unit, 1.0))


def label_of(quantity: str) -> str:
    """Return the label of a quantity's axis: the name, and the unit on a second line."""
    name, unit = dict(QUANTITIES).get(quantity) or words(quantity), unit_of(quantity)[0]
    return f"{name}\n[{'-' if unit == name else unit}]"


def series_figure(result: "Result", quantity: str, place: Place | None = None) -> Figure:
    """Draw a quantity over time in the first replication: one panel per item, with equal scales."""
    tracks = [track for track in result.tracks if track[2] == quantity]
    if not tracks:
        known = sorted({name for _, _, name in result.tracks})
        if not known:
            raise NO_SERIES
        near = ", ".join(nearest(str(quantity), known))
        raise UserError(
            f"no series of {quantity}; there are {near}", f"sampled: {', '.join(known)}"
        )
    unit, scale = unit_of(quantity)
    shown = tracks[:MAX_PANELS]
    name, text = result.heading.scenario, about(result)
    height = 24 + 11 * len(shown) + headline_mm(name, text)
    with house_style(height, place=place) as figure:
        rows = figure.subplots(len(shown), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, track in zip(rows, shown, strict=True):
            times, values = result.track(*track)
            heights = [nan if value is None else scale * value for value in values]
            axes.plot(times, heights, linewidth=0.8)
            axes.annotate(
                track[1],
                (1.02, 0.5),
                xycoords="axes fraction",
                va="center",
                fontsize=6.5,
                parse_math=False,
            )
            axes.margins(x=0)
        rows[0].set_xlim(left=0)
        rows[0].set_ylim(bottom=0)
        rows[-1].set_xlabel("time [s]")
        figure.supylabel(f"{words(quantity)} [{unit}]", fontsize=7.5)
        headline(figure, name, text)
        if len(tracks) > len(shown):
            rows[0].set_title(f"the first {len(shown)} of {len(tracks)}", color=QUIET, fontsize=7)
    return figure


def words(quantity: str) -> str:
    """Return the name of a quantity without its unit; ``cwnd_packets`` becomes ``cwnd``."""
    for unit in ("_packets", "_bps", "_s"):
        quantity = quantity.removesuffix(unit)
    return quantity.replace("_", " ")
