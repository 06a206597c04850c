"""Rows for the stations of a cell: a row for equal stations, divided by direction if possible."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any

from lasthop.answers.estimates import Estimate
from lasthop.answers.items import SummaryItem, names_in, summary_items
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer

Samples = Mapping[str, Mapping[str, Mapping[str, Sequence[float | None]]]]
"""Values of all replications, by list, name and quantity."""

ARROWS = {"up": "↑", "down": "↓"}
"""Arrows at the end of the label of a row, by direction."""

OF_WAYS = ("goodput_bps", "goodput_share")
"""Quantities of a station that are the sum over its flows."""


@dataclass(frozen=True)
class Sharer:
    """A row for the stations of one table, or for one direction of their flows.

    Parameters
    ----------
    label : str
        Label of the row.
    members : tuple of str
        Names of the stations.
    way : str
        ``up`` or ``down`` if the row shows only this direction; empty for both directions.
    """

    label: str
    members: tuple[str, ...]
    way: str = ""


def sharers(
    answers: Sequence["Answer"],
    *,
    by_way: bool = True,
    apart: Set[str] = frozenset(),
    groups: Mapping[str, str] | None = None,
) -> list[Sharer]:
    """Return the rows of a figure of stations. Each row has values of all results.

    Stations that one table of the scenario file defines (``count = 5``) share a row. A station that
    sends and receives has one row per direction, if all results that contain its goodput also
    contain the goodput of each direction. If `by_way` is false, no row is limited to one direction.
    If the cell has flows in both directions, the labels have arrows.

    Parameters
    ----------
    answers : sequence of Answer
        Results to draw. The first result contains all stations.
    by_way : bool
        Whether rows may be limited to one direction.
    apart : set of str
        Stations with additional values, such as measurements. Stations of one table share a row
        only if all or none of these stations have additional values.
    groups : mapping, optional
        Table of each station; by default from the scenario of the first result.
    """
    first = answers[0]
    names = names_in(first.contents, "stations")
    groups = groups_of(first, names) if groups is None else groups
    torn = {groups[name] for name in names if name in apart}
    torn &= {groups[name] for name in names if name not in apart}
    ways = ways_of(first) if by_way else {}
    several = len({way for of_one in ways.values() for way in of_one}) > 1
    parted = {
        name
        for name, of_one in ways.items()
        if len(of_one) > 1 and all(knows_ways(each, name) for each in answers)
    }
    rows = []

    def alike(name: str) -> tuple[str, tuple[str, ...], str]:
        group = groups[name]
        return group, tuple(ways.get(name, ())), name if group in torn else ""

    for (group, of_group, _), result in groupby(names, alike):
        members = tuple(result)
        name = title_of(group, members)
        if members[0] in parted:
            rows += [Sharer(f"{name} {ARROWS[way]}", members, way) for way in of_group]
        elif several and len(of_group) == 1:
            rows.append(Sharer(f"{name} {ARROWS[of_group[0]]}", members))
        else:
            rows.append(Sharer(name, members))
    return rows


def groups_of(answer: "Answer", names: Sequence[str]) -> dict[str, str]:
    """Return the name of each station's table. Without a scenario, the table's name is assumed to
    be the station's name without a number.
    """
    if answer.has_scenario:
        known = {station.name: station.group for station in answer.scenario.typed.stations}
        return {name: known.get(name, name) for name in names}
    results = {}
    for name in names:
        stem, dash, number = name.rpartition("-")
        results[name] = stem if dash and number.isdecimal() else name
    return results


def title_of(group: str, members: Sequence[str]) -> str:
    """Return the name of a single station, or the table's name with the first and last number."""
    if len(members) == 1:
        return members[0]
    numbers = [name.removeprefix(f"{group}-") for name in members]
    if all(number.isdecimal() for number in numbers):
        return f"{group}-{numbers[0]}..{numbers[-1]}"
    return f"{group} ({len(members)})"


def meaning_of_groups(rows: Sequence[Sharer]) -> str:
    """Return a note that the bar of several stations is their average; empty if each row has one
    station.
    """
    groups = list(dict.fromkeys(row.members for row in rows if len(row.members) > 1))
    if not groups:
        return ""
    labels = list(dict.fromkeys(row.label.rstrip(" ↑↓") for row in rows if len(row.members) > 1))
    return f"{labels[0] if len(labels) == 1 else 'groups'}: average of the members"


def ways_of(answer: "Answer") -> dict[str, list[str]]:
    """Return the directions in which each station has flows, ``up`` first."""
    results: dict[str, set[str]] = {}
    for flow in flows_of_stations(answer):
        results.setdefault(flow.station, set()).add(flow.direction)
    return {name: [way for way in ARROWS if way in of_one] for name, of_one in results.items()}


def flows_of_stations(answer: "Answer") -> Iterator[SummaryItem]:
    """Yield the flows of stations."""
    for flow in summary_items(answer.contents, "flows"):
        if flow.station and flow.direction in ARROWS:
            yield flow


def flows_of(answer: "Answer", station: str, way: str) -> list[SummaryItem]:
    """Return the flows of a station in one direction."""
    every = flows_of_stations(answer)
    return [flow for flow in every if (flow.station, flow.direction) == (station, way)]


def knows_ways(answer: "Answer", name: str) -> bool:
    """Return whether goodput and share are known for every flow of a station."""
    stations = {item.name: item for item in summary_items(answer.contents, "stations")}
    own = [flow for flow in flows_of_stations(answer) if flow.station == name]
    quantities = [each for each in OF_WAYS if name in stations and each in stations[name]]
    return all(quantity in flow for quantity in quantities for flow in own)


def item_of(answer: "Answer", row: Sharer) -> dict[str, Any]:
    """Return the values of a row in a result: mean, minimum and maximum over the row's
    stations.
    """
    samples = samples_of(answer)
    if row.way:
        parts = [flows_of(answer, name, row.way) for name in row.members]
        return {"name": row.label} | together(parts, samples.get("flows", {}), OF_WAYS)
    stations = {item.name: item for item in summary_items(answer.contents, "stations")}
    parts = [[stations[name]] for name in row.members if name in stations]
    known = [
        key for key, value in (parts[0][0].values if parts else {}).items() if is_estimate(value)
    ]
    return {"name": row.label} | together(parts, samples.get("stations", {}), known)


def together(
    parts: Sequence[Sequence[SummaryItem]],
    samples: Mapping[str, Mapping[str, Sequence[float | None]]],
    quantities: Sequence[str],
) -> dict[str, Any]:
    """Return the mean of each quantity over several stations. Each element of `parts` contains the
    items of one station, whose values are added.

    A quantity that an item lacks is omitted."""
    results: dict[str, Any] = {}
    for quantity in quantities:
        items = [item for part in parts for item in part]
        if not items or any(not part for part in parts):
            continue
        values = [[item.estimate(quantity) for item in part] for part in parts]
        if any(value is None for part in values for value in part):
            continue
        if len(items) == 1:
            results[quantity] = items[0].values[quantity]
            continue
        sums = [sum(value.mean for value in part if value is not None) for part in values]
        runs = [samples.get(item.name, {}).get(quantity) for item in items]
        results[quantity] = {"mean": fmean(sums), "ci95": interval(runs, len(parts))}
        if len(sums) > 1:
            results[quantity] |= {"least": min(sums), "most": max(sums)}
    return results


def interval(runs: Sequence[Sequence[float | None] | None], members: int) -> float | None:
    """Return the half width of the confidence interval of a mean over `members` stations; None if
    any samples are missing.
    """
    columns = [run for run in runs if run is not None]
    if len(columns) < len(runs) or len({len(run) for run in columns}) != 1:
        return None
    values = list(zip(*columns, strict=True))
    if any(value is None for run in values for value in run):
        return None
    means = [sum(value for value in run if value is not None) / members for run in values]
    return Estimate.of(means).ci95


def samples_of(answer: "Answer") -> Samples:
    """Return the values of all replications; empty if the result has none."""
    tree: Samples
    try:
        tree = getattr(answer, "sample_tree", {})
    except UserError:
        return {}
    return tree


def is_estimate(value: object) -> bool:
    """Return whether a value of an item is an estimate."""
    return isinstance(value, Mapping) and "mean" in value
