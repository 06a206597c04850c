"""What a picture of a sweep shows: the values that vary, and a quantity at every point."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, log, nan
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, cast

from lasthop.answers.calls import DELAY_P99_S, FLOW_NAME, LOSS
from lasthop.answers.quantities import LISTS, registry
from lasthop.display.columns import COLUMNS
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
"""Panels of a sweep that asks for none: the first line of which a point has the first quantity."""

DELAY = "one_way_delay_p99_s"
"""Delay of datagrams."""

SMALL_PART = 0.01
"""Part of the largest value that an item must have somewhere to be drawn. [-]"""

UNITS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "bps": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "bytes": ((1.0, "bytes"),),
    "m": ((1.0, "m"), (1e-3, "mm")),
}
"""Units of swept values, the largest first, with their sizes in that of SI."""


@dataclass(frozen=True)
class Axis:
    """A path that varies.

    Parameters
    ----------
    path : str
        Its key path, or those of several together.
    texts : tuple of str
        Its values as they are set, in the order of `numbers`, or as they were given.
    numbers : tuple of float
        The same as numbers; empty where they are categories.
    unit : str
        Unit of the numbers, if they have one.
    """

    path: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    unit: str = ""

    @classmethod
    def of(cls, column: "Column") -> "Axis":
        """The axis of a swept path."""
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
        """What stands along it."""
        return f"{self.path} [{self.unit}]" if self.unit else self.path

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, which have places on a line."""
        return bool(self.numbers)

    @property
    def logarithmic(self) -> bool:
        """Whether ratios between neighbours are more alike than differences are."""
        if len(self.numbers) < 3 or self.numbers[0] <= 0.0:
            return False
        steps = [b - a for a, b in pairwise(self.numbers)]
        ratios = [log(b / a) for a, b in pairwise(self.numbers)]
        return unevenness(ratios) < unevenness(steps)

    def places(self) -> dict[str, float]:
        """Where each value stands: at its number, or one category after the other."""
        places = self.numbers or tuple(map(float, range(len(self.texts))))
        return dict(zip(self.texts, places, strict=True))

    def text_of(self, text: str) -> str:
        """A value as ticks and legends have it: in the axis's unit, a table without its braces."""
        if self.numbers:
            return f"{self.numbers[self.texts.index(text)]:.4g}"
        return without_braces(text)


def without_braces(text: str) -> str:
    """A table of TOML in words: ``{red = {min_th = 5}, limit = 9}`` is ``red min_th=5, limit=9``;
    quoted strings stay as they are.
    """
    parts = re.split(r"""("(?:[^"\\]|\\.)*"|'[^']*')""", text.strip())
    for number in range(0, len(parts), 2):  # outside quotes
        flat = re.sub(r"\s*([={}])\s*", r"\1", parts[number])
        flat = flat.replace("={}", "").replace("={", " ")
        parts[number] = re.sub(r"\s*,\s*", ", ", re.sub(r"[{}]", "", flat))
    return "".join(parts).strip(", ")


def unevenness(values: Sequence[float]) -> float:
    """Standard deviation over mean."""
    return pstdev(values) / fmean(values)


def unit_of(unit: str, numbers: Sequence[float]) -> tuple[float, str]:
    """Size and name of the largest unit of which the largest value has one at least."""
    largest = max(map(abs, numbers))
    sizes = UNITS.get(unit, ())
    return next(((size, name) for size, name in sizes if largest >= size), (1.0, unit))


@dataclass(frozen=True)
class Quantity:
    """One of a list of results, as pictures show it.

    Parameters
    ----------
    list_name, name : str
        ``"stations", "goodput_share"``.
    label : str
        Title and unit.
    scale : float
        Factor from the result's unit.
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
        """Title and unit as tables have them, else as the registry has."""
        columns = (
            *COLUMNS.get(list_name, ()),
            *(COLUMNS["reports"] if list_name == "flows" else ()),
        )
        for column in columns:
            if column.quantity == name:
                unit = column.unit or "-"
                return cls(list_name, name, f"{column.title} [{unit}]", column.scale)
        unit = registry()[name].unit if name in registry() else "-"
        return cls(list_name, name, f"{name.replace('_', ' ')} [{unit}]", 1.0)


def quantities_of(sweep: "Sweep", asked: str | None) -> list[Quantity]:
    """The quantities that are drawn, a panel each.

    Parameters
    ----------
    sweep : Sweep
        With a point at least.
    asked : str or None
        A quantity, perhaps with its list before a point: ``"jain"``, ``"classes.jain"``; None for
        delays and losses that matter, then shares in a cell, or goodput and losses of a router.

    Raises
    ------
    UserError
        If no point has it, with the nearest of those that are there.
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
    """Delays and losses of a sweep that matter at its first point, of one kind: datagrams if there
    are any, else reports of sensors, else transfers.
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
    """A point's result as what sharers read: without samples and without scenario."""

    has_scenario = False
    sample_tree: Mapping[str, Any] = {}

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self.summary = summary


def table_of(name: str, tables: Mapping[str, str]) -> str:
    """The table that a station comes from, whose number of members may vary with the points."""
    stem, dash, number = name.rpartition("-")
    known = set(tables.values())
    return tables.get(name) or (stem if dash and number.isdecimal() and stem in known else name)


Read = Callable[[Mapping[str, Any], Quantity], Iterator[tuple[str, Spread]]]
"""Items of a result with their values."""


def reader(sweep: "Sweep") -> Read:
    """How items of a point are read: stations of a table together, their queues and flows too."""
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
        names = [str(item["name"]) for item in summary.get("stations", ())]
        groups = {name: table_of(name, tables) for name in names}
        for row in sharers([answer], by_way=quantity.name in OF_WAYS, groups=groups):
            arrow = row.label[-2:] if row.label.endswith(("↑", "↓")) else ""
            result = item_of(answer, row).get(quantity.name) or {}
            yield groups[row.members[0]] + arrow, spread(result, quantity.scale)

    return read


def is_drawn(item: Mapping[str, Any], quantity: Quantity) -> bool:
    """Whether an item has what a quantity asks for; sensors are no datagrams of a rate."""
    if not quantity.having:
        return True
    return quantity.having in item and not (quantity.having == DELAY and "reports" in item)


def worst_of_hosts(items: Sequence[Mapping[str, Any]], quantity: str) -> list[Mapping[str, Any]]:
    """The item of each host with the largest value, such as the latest flow of its calls."""
    results: dict[str, tuple[float, Mapping[str, Any]]] = {}
    for item in items:
        parts = FLOW_NAME.fullmatch(str(item["name"]))
        host = str(item.get("station") or (parts["owner"] if parts else item["name"]))
        value = float((item.get(quantity) or {}).get("mean") or 0.0)
        if host not in results or value > results[host][0]:
            results[host] = value, item
    return [item for _, item in results.values()]


def alike(
    summary: Mapping[str, Any], list_name: str, tables: Mapping[str, str], *, by_way: bool = False
) -> dict[str, list[Mapping[str, Any]]]:
    """Items of a list by what they are called: those of stations of one table are one.

    Queues have the names of their stations, and flows begin with them. With `by_way`, flows of
    stations are called by station and direction.
    """
    stations = {str(item["name"]) for item in summary.get("stations", ())}
    results: dict[str, list[Mapping[str, Any]]] = {}
    for item in summary.get(list_name, ()):
        name = str(item["name"])
        station = str(item.get("station") or name)
        if station in stations and name.startswith(station):
            is_of_way = by_way and item.get("direction") in ARROWS
            rest = f" {ARROWS[item['direction']]}" if is_of_way else name[len(station) :]
            name = table_of(station, tables) + rest
        elif by_way and (parts := FLOW_NAME.fullmatch(name)) is not None:
            name = f"{parts['owner']} {ARROWS[parts['direction']]}"
        results.setdefault(name, []).append(item)
    return results


@dataclass(frozen=True)
class Swept:
    """A quantity at all points.

    Parameters
    ----------
    quantity : Quantity
        Which.
    items : mapping
        By item, then by the settings of a point: what it has there.
    small : tuple of str
        Items that are not drawn since they have next to nothing everywhere, and there are many.
    lacking : tuple of str
        Items that have no such quantity at any point.
    """

    quantity: Quantity
    items: Mapping[str, Mapping[tuple[str, ...], Spread]]
    small: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def largest(self) -> float:
        """The largest value."""
        return largest_of(value for points in self.items.values() for value in points.values())

    @property
    def least(self) -> float:
        """The least value; 0 without one."""
        every = (value.value for points in self.items.values() for value in points.values())
        return min((value for value in every if not isnan(value)), default=0.0)


def largest_of(values: Iterator[Spread]) -> float:
    """The largest of some values."""
    return max((each.value for each in values if not isnan(each.value)), default=0.0)


def swept(sweep: "Sweep", quantities: Sequence[Quantity]) -> list[Swept]:
    """Read the quantities at all points, a point at a time."""
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


MOST_LINES = 8
"""Most lines of a panel that are told apart."""

Items = Mapping[str, Mapping[tuple[str, ...], Spread]]


def drawn(items: Items, paths: Sequence[str]) -> tuple[Items, tuple[str, ...], tuple[str, ...]]:
    """Items that are drawn, those that are left out as small, and those without a value.

    Small ones are left out where there are more than a reader tells apart, but never those that a
    swept path names: the sweep asks about them.
    """
    known = {
        name: points
        for name, points in items.items()
        if not all(isnan(value.value) for value in points.values())
    }
    lacking = tuple(name for name in items if name not in known)
    if len(known) <= MOST_LINES:
        return known, (), lacking
    tops = {name: largest_of(iter(points.values())) for name, points in known.items()}
    least = SMALL_PART * max(tops.values(), default=0.0)
    small = tuple(name for name in known if tops[name] < least and not is_named(name, paths))
    return {name: known[name] for name in known if name not in small}, small, lacking


NAMING = re.compile(r"(?:station|flow|link|csma\.link)\.([^.]+)")
"""A path into the table of a station, flow or link."""


def is_named(item: str, paths: Sequence[str]) -> bool:
    """Whether one of these paths is into the table that an item comes from."""
    first = re.split(r"[/ ↑↓]", item)[0]
    for path in paths:
        match = NAMING.match(path)
        if match and re.fullmatch(rf"{re.escape(match[1])}(-\d+)?", first):
            return True
    return False


NONE = Spread(nan)
"""What a point has that was not simulated."""
