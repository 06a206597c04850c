"""Data of a sweep's picture: values of the swept paths, and quantities at all grid points."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, log, nan
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, cast

from lasthop.answers.calls import DELAY_P99_S, FLOW_NAME, LOSS
from lasthop.answers.items import SummaryItem, names_in, summary_items
from lasthop.answers.quantities import LISTS, registry
from lasthop.display.columns import COLUMNS, MEDIAN
from lasthop.display.delays import Delays, completion_columns
from lasthop.errors import UserError, nearest
from lasthop.plot.rows import Spread, spread
from lasthop.plot.sharers import ARROWS, OF_WAYS, item_of, sharers, together

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.sweep import Sweep
    from lasthop.sweep.columns import Column

DEFAULTS = (
    (("stations", "goodput_share"),),
    (("classes", "goodput_bps"), ("classes", "loss_probability")),
    (("flows", "goodput_bps"),),
)
"""Alternatives for the default quantities of a sweep's picture. Each alternative is a group of
quantities. The picture shows the first group whose first quantity exists.
"""

DELAY = "one_way_delay_p99_s"
"""Quantity for the delay of datagrams."""

SMALL_PART = 0.01
"""Fraction of the largest value that an item must reach at some grid point to be drawn. [-]"""

UNITS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "bps": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "bytes": ((1.0, "bytes"),),
    "m": ((1.0, "m"), (1e-3, "mm")),
}
"""Units of swept values on axes, by SI unit, the largest first; each with its size in the SI
unit.
"""


@dataclass(frozen=True)
class Axis:
    """A swept path as an axis of the picture.

    Parameters
    ----------
    path : str
        Key path, or the key paths of several paths that vary together.
    texts : tuple of str
        Values as text: in increasing order for numbers, in the order of the sweep for categories.
    numbers : tuple of float
        Values as numbers; empty if the values are categories.
    unit : str
        Unit of the numbers, if they have one.
    """

    path: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    unit: str = ""

    @classmethod
    def of(cls, column: "Column") -> "Axis":
        """Return the axis of a swept path."""
        known = column.values
        if not all(isinstance(value, int | float) for value in known.values()) or any(
            isinstance(value, bool) for value in known.values()
        ):
            return cls(column.path, tuple(known))
        numbers = {text: float(cast("float", value)) for text, value in known.items()}
        texts = tuple(sorted(numbers, key=numbers.__getitem__))
        size, unit = unit_of(column.unit, [*numbers.values()])
        return cls(column.path, texts, tuple(numbers[text] / size for text in texts), unit)

    @property
    def label(self) -> str:
        """Label of the axis."""
        return f"{self.path} [{self.unit}]" if self.unit else self.path

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return bool(self.numbers)

    @property
    def logarithmic(self) -> bool:
        """Whether the axis is logarithmic, because ratios of neighbouring values vary less than
        differences.
        """
        if len(self.numbers) < 3 or self.numbers[0] <= 0.0:
            return False
        steps = [b - a for a, b in pairwise(self.numbers)]
        ratios = [log(b / a) for a, b in pairwise(self.numbers)]
        return unevenness(ratios) < unevenness(steps)

    def places(self) -> dict[str, float]:
        """Return the position of each value on the axis: its number, or the index of its
        category.
        """
        places = self.numbers or tuple(map(float, range(len(self.texts))))
        return dict(zip(self.texts, places, strict=True))

    def text_of(self, text: str) -> str:
        """Return a value as text for ticks and legends."""
        if self.numbers:
            return f"{self.numbers[self.texts.index(text)]:.4g}"
        return without_braces(text)


def without_braces(text: str) -> str:
    """Return an inline table of TOML without braces.

    For example, ``{red = {min_th = 5}, limit = 9}`` becomes ``red min_th=5, limit=9``. Quoted
    strings stay unchanged.
    """
    parts = re.split(r"""("(?:[^"\\]|\\.)*"|'[^']*')""", text.strip())
    for number in range(0, len(parts), 2):  # Parts with an even index are outside quotes.
        flat = re.sub(r"\s*([={}])\s*", r"\1", parts[number])
        flat = flat.replace("={}", "").replace("={", " ")
        parts[number] = re.sub(r"\s*,\s*", ", ", re.sub(r"[{}]", "", flat))
    return "".join(parts).strip(", ")


def unevenness(values: Sequence[float]) -> float:
    """Return the ratio of the standard deviation to the mean. [-]"""
    return pstdev(values) / fmean(values)


def unit_of(unit: str, numbers: Sequence[float]) -> tuple[float, str]:
    """Return size and name of the largest unit that does not exceed the largest number."""
    largest = max(map(abs, numbers))
    sizes = UNITS.get(unit, ())
    return next(((size, name) for size, name in sizes if largest >= size), (1.0, unit))


@dataclass(frozen=True)
class Quantity:
    """A quantity of a list, with its label and scale in pictures.

    Parameters
    ----------
    list_name, name : str
        Names of the list and of the quantity, such as ``"stations", "goodput_share"``.
    label : str
        Title and unit.
    scale : float
        Factor that converts the unit of the result to the unit of the label.
    having : str
        Another quantity that an item must have to be drawn; empty for all items.
    limit : float or None
        Limit of a good call, in the unit of the label.
    """

    list_name: str
    name: str
    label: str
    scale: float
    having: str = ""
    limit: float | None = None

    @classmethod
    def of(cls, list_name: str, name: str) -> "Quantity":
        """Return a quantity. Its title and unit are those of the column in printed tables; for
        other quantities, they are the name and the unit in the registry."""
        columns = (
            *COLUMNS.get(list_name, ()),
            *(COLUMNS["reports"] if list_name == "flows" else ()),
            *(COLUMNS["chunks"] if list_name in ("flows", "classes") else ()),
        )
        for column in columns:
            if column.quantity == name:
                unit = column.unit or "-"
                return cls(list_name, name, f"{column.title} [{unit}]", column.scale)
        unit = registry()[name].unit if name in registry() else "-"
        return cls(list_name, name, f"{name.replace('_', ' ')} [{unit}]", 1.0)


def quantities_of(sweep: "Sweep", asked: str | None) -> list[Quantity]:
    """Return the quantities to draw.

    Parameters
    ----------
    sweep : Sweep
        Sweep with at least one point.
    asked : str or None
        Name of a quantity, optionally preceded by its list and a dot: ``"jain"`` or
        ``"classes.jain"``. With None, the quantities depend on the scenario. If there is
        delay-sensitive traffic, delays and losses are drawn. In addition, a cell has goodput
        shares, and a router has goodput and losses.

    Raises
    ------
    UserError
        If no point has the quantity; the message lists the most similar names.
    """
    summary = sweep.points[0].summary
    known = [
        (name, quantity)
        for name in LISTS
        for quantity in dict.fromkeys(
            key
            for item in summary.get(name, ())
            for key, value in item.items()
            if isinstance(value, Mapping) and "mean" in value
        )
    ]
    if asked is None:
        chosen = next((line for line in DEFAULTS if line[0] in known), ())
        others = [Quantity.of(*each) for each in chosen if each in known]
        results = [*delay_quantities(sweep), *others]
        if not results:
            raise UserError("nothing was delivered at the first point; name a quantity to draw")
        return results
    list_name, _, name = asked.rpartition(".")
    order = ("stations", "classes", "cells", "links", "queues", "aps", "flows")
    fitting = [each for each in known if each[1] == name and list_name in ("", each[0])]
    fitting.sort(key=lambda each: order.index(each[0]) if each[0] in order else len(order))
    if not fitting:
        names = dict.fromkeys(quantity for _, quantity in known)
        near = ", ".join(nearest(name, list(names)))
        lists = sorted({each for each, quantity in known if quantity == name})
        where = (
            f" in {list_name}; it is in {', '.join(lists)}"
            if lists
            else f"; the nearest are {near}"
        )
        raise UserError(
            f'no quantity "{name}"{where}', "`lasthop explain --terms` lists all quantities"
        )
    return [Quantity.of(*fitting[0])]


def delay_quantities(sweep: "Sweep") -> list[Quantity]:
    """Return the delays and losses to draw, by the kind of delay-sensitive traffic at the first
    point.

    The kind is datagrams if there are any, else sensor reports, else pings, else transfers.
    """
    point = sweep.points[0]
    delays = Delays.of_summary(point.summary, point.scenario)
    if delays.calls or delays.datagrams:
        name = "flows" if delays.calls else delays.datagram_list
        limits = (1e3 * DELAY_P99_S, 100 * LOSS) if delays.calls else (None, None)
        results = [
            Quantity(name, DELAY, "99 % of packets\nwithin [ms]", 1e3, DELAY, limits[0]),
            Quantity(name, "loss_probability", "lost packets [%]", 100, DELAY, limits[1]),
        ]
    elif delays.reports:
        delay, delivery = "report_delay_p95_s", "report_delivery"
        results = [
            Quantity("flows", delay, "95 % of reports\nwithin [ms]", 1e3, delay),
            Quantity("flows", delivery, "reports in time [%]", 100, delivery),
        ]
    elif delays.pings:
        p99 = "rtt_p99_s"
        results = [
            Quantity("flows", p99, "99 % of replies\nwithin [ms]", 1e3, MEDIAN),
            Quantity("flows", "loss_probability", "lost pings [%]", 100, MEDIAN),
        ]
    else:
        labels = {
            "completion_p95_s": "95 % complete\nwithin [s]",
            "completion_s": "mean completion [s]",
        }
        results = [
            Quantity(delays.transfer_list, name, labels[name], 1.0, name)
            for name in (column.quantity for column in completion_columns(delays.transfers))
        ]
    return results


class Bare:
    """Result of a grid point in the form that `sharers` needs, without samples and scenario."""

    has_scenario = False
    sample_tree: Mapping[str, Any] = {}

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self.contents = summary


def table_of(name: str, tables: Mapping[str, str]) -> str:
    """Return the name of a station's table. The number of stations per table may differ between
    points.
    """
    stem, dash, number = name.rpartition("-")
    known = set(tables.values())
    return tables.get(name) or (stem if dash and number.isdecimal() and stem in known else name)


Read = Callable[[Mapping[str, Any], Quantity], Iterator[tuple[str, Spread]]]
"""Function that yields the items of a result, each with its value of a quantity."""


def reader(sweep: "Sweep") -> Read:
    """Return a function that reads the items of a result. Stations of one table are combined, and
    also their queues and flows.
    """
    tables = {station.name: station.group for station in sweep.scenario.typed.stations}

    def read(summary: Mapping[str, Any], quantity: Quantity) -> Iterator[tuple[str, Spread]]:
        if quantity.list_name != "stations":
            ways = bool(quantity.having)
            for name, every in alike(summary, quantity.list_name, tables, by_way=ways).items():
                items = [item for item in every if is_drawn(item, quantity)]
                if quantity.having == DELAY:
                    items = worst_of_hosts(items, quantity.name)
                if not items:
                    continue
                result = together([[item] for item in items], {}, [quantity.name])
                yield name, spread(result.get(quantity.name) or {}, quantity.scale)
            return
        answer = cast("Answer", Bare(summary))
        names = names_in(summary, "stations")
        groups = {name: table_of(name, tables) for name in names}
        for row in sharers([answer], by_way=quantity.name in OF_WAYS, groups=groups):
            arrow = row.label[-2:] if row.label.endswith(("↑", "↓")) else ""
            result = item_of(answer, row).get(quantity.name) or {}
            yield groups[row.members[0]] + arrow, spread(result, quantity.scale)

    return read


def is_drawn(item: SummaryItem, quantity: Quantity) -> bool:
    """Return whether an item is drawn for a quantity. Sensor reports are not drawn as datagrams."""
    if not quantity.having:
        return True
    return quantity.having in item and not (quantity.having == DELAY and "reports" in item)


def worst_of_hosts(items: Sequence[SummaryItem], quantity: str) -> list[SummaryItem]:
    """For each host, return the item with the largest value, such as the slowest flow of the host's
    calls.
    """
    results: dict[str, tuple[float, SummaryItem]] = {}
    for item in items:
        parts = re.fullmatch(FLOW_NAME, item.name)
        host = item.station or (parts["owner"] if parts else item.name)
        estimate = item.estimate(quantity)
        value = estimate.mean if estimate else 0.0
        if host not in results or value > results[host][0]:
            results[host] = value, item
    return [item for _, item in results.values()]


def alike(
    summary: Mapping[str, Any], list_name: str, tables: Mapping[str, str], *, by_way: bool = False
) -> dict[str, list[SummaryItem]]:
    """Return the items of a list, by label. Items of stations of one table have the same label.

    A queue has the name of its station, and the name of a flow begins with its station. If
    `by_way`, the label of a flow consists of table and direction.
    """
    stations = set(names_in(summary, "stations"))
    results: dict[str, list[SummaryItem]] = {}
    for item in summary_items(summary, list_name):
        name = item.name
        station = item.station or name
        if station in stations and name.startswith(station):
            is_of_way = by_way and item.direction in ARROWS
            rest = f" {ARROWS[item.direction]}" if is_of_way else name[len(station) :]
            name = table_of(station, tables) + rest
        elif by_way and (parts := re.fullmatch(FLOW_NAME, name)) is not None:
            name = f"{parts['owner']} {ARROWS[parts['direction']]}"
        results.setdefault(name, []).append(item)
    return results


@dataclass(frozen=True)
class Swept:
    """Values of a quantity at all grid points.

    Parameters
    ----------
    quantity : Quantity
        Quantity that is drawn.
    items : mapping
        Values by item, then by the settings of a grid point.
    small : tuple of str
        Items that are not drawn because their values are very small and there are many other items.
    lacking : tuple of str
        Items that lack the quantity at every point.
    """

    quantity: Quantity
    items: Mapping[str, Mapping[tuple[str, ...], Spread]]
    small: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def largest(self) -> float:
        """Largest value of all items and points; 0 if there is none."""
        return largest_of(value for points in self.items.values() for value in points.values())

    @property
    def least(self) -> float:
        """Smallest value of all items and points; 0 if there is none."""
        every = (value.value for points in self.items.values() for value in points.values())
        return min((value for value in every if not isnan(value)), default=0.0)


def largest_of(values: Iterator[Spread]) -> float:
    """Return the largest value; 0 if there is none."""
    return max((each.value for each in values if not isnan(each.value)), default=0.0)


def swept(sweep: "Sweep", quantities: Sequence[Quantity]) -> list[Swept]:
    """Return the values of the quantities at all grid points."""
    read = reader(sweep)
    paths = sweep.paths
    results: list[dict[str, dict[tuple[str, ...], Spread]]] = [{} for _ in quantities]
    for point in sweep.points:
        at = tuple(point.settings[path] for path in paths)
        for quantity, items in zip(quantities, results, strict=True):
            for name, value in read(point.summary, quantity):
                items.setdefault(name, {})[at] = value
    return [
        Swept(quantity, *drawn(items, paths))
        for quantity, items in zip(quantities, results, strict=True)
    ]


MAX_LINES = 8
"""Maximum number of lines in a panel that a reader can distinguish."""

Items = Mapping[str, Mapping[tuple[str, ...], Spread]]


def drawn(items: Items, paths: Sequence[str]) -> tuple[Items, tuple[str, ...], tuple[str, ...]]:
    """Divide the items into three groups: to draw, too small to draw, and without a value.

    Items with small values are omitted only if there are more than `MAX_LINES` items. Items that a
    swept path names are never omitted.
    """
    known = {
        name: points
        for name, points in items.items()
        if not all(isnan(value.value) for value in points.values())
    }
    lacking = tuple(name for name in items if name not in known)
    if len(known) <= MAX_LINES:
        return known, (), lacking
    tops = {name: largest_of(iter(points.values())) for name, points in known.items()}
    least = SMALL_PART * max(tops.values(), default=0.0)
    small = tuple(name for name in known if tops[name] < least and not is_named(name, paths))
    return {name: known[name] for name in known if name not in small}, small, lacking


NAMING = re.compile(r"(?:station|flow|link|csma\.link)\.([^.]+)")
"""Pattern of a key path in the table of a station, flow or link."""


def is_named(item: str, paths: Sequence[str]) -> bool:
    """Return whether one of the swept keys is in the table that defines the item."""
    first = re.split(r"[/ ↑↓]", item)[0]
    for path in paths:
        match = NAMING.match(path)
        if match and re.fullmatch(rf"{re.escape(match[1])}(-\d+)?", first):
            return True
    return False


NONE = Spread(nan)
"""Placeholder for the value of a grid point that was not simulated."""
