"""Columns of a what-if question: the default quantities of a scenario, or the requested quantities.

Delay and loss come first if the scenario has calls, sensors, web pages or finite flows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lasthop.answers.calls import MAX_CALLS, Call
from lasthop.answers.quantities import registry
from lasthop.batch.paired import REDUCTIONS, Measure
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import Flow, PingFlow, UdpFlow
from lasthop.simulation.result import Result

__all__ = ["default_measures", "over_common_stations", "requested_measures"]

MAX_ITEMS = 4
"""Largest number of items, such as flows, for which each item has its own column. If there are more
items, a single column has the values of the worst item.
"""

DIRECTION_LABELS = {"up": "all uploads", "down": "all downloads", "": "all flows"}
"""Labels of the columns of total goodput, by direction; flows between wired nodes have no
direction.
"""

CALL_QUANTITIES = ("one_way_delay_p99_s", "loss_probability")
"""Quantities of calls. A call has flows in both directions; its value is that of the worst flow."""

CHUNKS = "chunk_completion_p95_s"
"""Quantity of applications that write chunks, and of adaptive video."""

STALLED = "stalled_fraction"
"""Quantity of adaptive video that viewers notice first."""

Items = Mapping[str, Mapping[str, Sequence[float | None]]]
"""Values per replication, by the name of the item (such as a flow) and by quantity."""


def default_measures(result: Result, calls: Sequence[Call]) -> list[Measure]:
    """Return the default columns of a scenario.

    The first columns are the delay and the loss of each call and of other datagrams at a rate.
    Columns for the delivery of reports, the completion times of chunks and transfers, the
    round-trip times of pings, and the stalls, bitrates and chunks of adaptive video follow. Without
    datagrams and sensors, the mean RTT of the TCP flows is the delay. The goodput of all other
    flows in each direction and Jain's index follow. With calls, Jain's index is a column only if
    several stations have other flows, all in one direction. For other scenarios with calls, equal
    shares are not the aim, so that the column is left out.
    """
    tree: Mapping[str, Items] = result.sample_tree
    flows, classes, cells = (tree.get(name, {}) for name in ("flows", "classes", "cells"))
    typed = result.scenario.typed.flows
    greedy = {f.name for f in typed if isinstance(f, UdpFlow) and f.udp.rate_bps == 0}
    paced = [name for name in having(flows, "one_way_delay_p99_s") if name not in greedy]
    in_calls = {name for call in calls for name in call.flows}
    others = [name for name in paced if name not in in_calls]
    sensors = having(flows, "report_delivery")
    finite = having(flows, "completion_s")
    pings = [flow.name for flow in typed if isinstance(flow, PingFlow) and flow.name in flows]
    pages = having(flows, "completion_p95_s")
    streams = having(flows, "video_bitrate_bps")
    chunks = [name for name in having(flows, CHUNKS) if name not in streams]
    probes = {*paced, *in_calls, *sensors, *finite, *pings, *pages, *streams}
    rest = [name for name in flows if name not in probes]
    results = [
        *measures_of_calls(calls),
        *(m for name in CALL_QUANTITIES for m in each_or_worst("flows", name, others, "max")),
        *each_or_worst("flows", "report_delivery", sensors, "min"),
        *each_or_worst("flows", CHUNKS, chunks, "max"),
        *each_or_worst("classes", "completion_p95_s", having(classes, "completion_p95_s"), "max"),
    ]
    results += each_or_worst("flows", "rtt_p99_s", pings, "max")
    results += each_or_worst("flows", "completion_p95_s", pages, "max")
    results += each_or_worst("flows", STALLED, streams, "max")
    results += each_or_worst("flows", "video_bitrate_bps", streams, "min")
    results += each_or_worst("flows", CHUNKS, having(flows, CHUNKS, streams), "max")
    videos = having(flows, "sent_rate_bps")
    results += each_or_worst("flows", "frozen_fraction", videos, "max")
    results += each_or_worst("flows", "sent_rate_bps", videos, "min")
    if ending := [name for name in finite if name not in pages]:
        results.append(Measure("flows", "completion_s", tuple(ending), "mean", "finite flows"))
    if (tcp := having(flows, "rtt_s", rest)) and not paced and not sensors:
        results.append(Measure("flows", "rtt_s", tuple(tcp), "mean", "TCP flows"))
    directions = {flow.name: flow.direction for flow in typed}
    for direction, label in DIRECTION_LABELS.items():
        items = [name for name in rest if directions.get(name, "") == direction]
        if items:
            results.append(Measure("flows", "goodput_bps", tuple(items), "sum", label))
    if calls and not are_alike([flow for flow in typed if flow.name in set(rest)]):
        return results
    jain = each_or_worst("cells", "jain", always_having(cells, "jain"), "min")
    jain = jain or each_or_worst("classes", "jain", always_having(classes, "jain"), "min")
    if not jain and len(rest) > 1:
        jain = [Measure("flows", "goodput_bps", tuple(rest), "min", "least of all flows")]
    return results + jain


def are_alike(flows: Sequence[Flow]) -> bool:
    """Return whether flows belong to several stations and all have the same direction."""
    directions, stations = {flow.direction for flow in flows}, {flow.station for flow in flows}
    return len(directions) == 1 and len(stations) > 1


def measures_of_calls(calls: Sequence[Call]) -> Iterator[Measure]:
    """Yield columns for the delay and the loss of each call, or of the worst call if there are many
    calls.
    """
    flows: dict[str, list[str]] = {}
    for call in calls:
        flows.setdefault(f"{call.name}'s call", []).extend(call.flows)
    if len(flows) > MAX_CALLS:
        flows = {"worst call": [name for names in flows.values() for name in names]}
    for label, names in flows.items():
        for quantity in CALL_QUANTITIES:
            yield Measure("flows", quantity, tuple(names), "max", label)


def requested_measures(requested: str, result: Result) -> list[Measure]:
    """Return a column for each item that has the requested quantity, such as ``queues.sojourn_s``.

    If the request names no list (such as ``queues``), the first list that has the quantity is used.
    """
    list_name, _, quantity = requested.rpartition(".")
    lists = [list_name] if list_name else registry()[quantity].lists
    for each in lists:
        items = having(result.sample_tree.get(each, {}), quantity)
        if items:
            return [Measure(each, quantity, (item,)) for item in items]
    return []


def having(items: Items, quantity: str, names: Sequence[str] | None = None) -> list[str]:
    """Return the names of items that have a value of a quantity in at least one replication."""
    return [
        name
        for name in (items if names is None else names)
        if any(value is not None for value in items[name].get(quantity, ()))
    ]


def always_having(items: Items, quantity: str) -> list[str]:
    """Return the names of items that have a value of a quantity in every replication.

    Jain's index has no value in a replication in which the demand of all stations except one is
    met. A comparison of only the other replications would be biased.
    """
    return [
        name
        for name in having(items, quantity)
        if all(value is not None for value in items[name][quantity])
    ]


def each_or_worst(list_name: str, quantity: str, names: Sequence[str], worst: str) -> list[Measure]:
    """Return a column for each item, such as a flow, or one column with the worst item if there are
    more than `MAX_ITEMS` items.
    """
    if len(names) <= MAX_ITEMS:
        return [Measure(list_name, quantity, (name,)) for name in names]
    label = f"worst of {len(names)} {list_name}"
    return [Measure(list_name, quantity, tuple(names), worst, label)]


def measures_of(
    result: Result, requested: Sequence[str], calls: Sequence[Call] = ()
) -> Iterator[Measure]:
    """Yield the requested columns of a result, or the default columns if none are requested. A
    column with the key of an earlier column is left out.
    """
    value = (
        [each for name in requested for each in requested_measures(name, result)]
        if requested
        else default_measures(result, calls)
    )
    yield from {measure.key: measure for measure in value}.values()


def over_common_stations(
    by_case: Sequence[Mapping[str, Measure]], scenarios: Sequence[Scenario]
) -> list[dict[str, Measure]]:
    """Return the columns of each case. Columns that are sums over stations include only the
    stations that exist in all cases.

    Flows between wired nodes are matched by their classes. A sum does not change if all cases have
    the same stations, or if the cases have no station in common.
    """
    owners = [
        {flow.name: flow.station or flow.class_name for flow in scenario.typed.flows}
        for scenario in scenarios
    ]

    def stations_of(measure: Measure | None, of: Mapping[str, str]) -> set[str]:
        # In a CSMA network the result has one flow per user. This flow is treated as a station
        # here.
        return {of.get(name, name) for name in measure.items} if measure else set()

    results = [dict(columns) for columns in by_case]
    sums = {
        key for columns in by_case for key, each in columns.items() if each.label.startswith("all ")
    }
    for key in sums:
        pairs = [(columns.get(key), of) for columns, of in zip(by_case, owners, strict=True)]
        stations = [stations_of(each, of) for each, of in pairs]
        shared = set[str].intersection(*stations)
        if not shared or all(each == shared for each in stations):
            continue
        for columns, (measure, of) in zip(results, pairs, strict=True):
            if measure is not None:
                items = tuple(name for name in measure.items if of.get(name, name) in shared)
                label = re.sub("^all ", "common ", measure.label)
                columns[key] = replace(measure, items=items, label=label)
    return [{measure.key: measure for measure in columns.values()} for columns in results]


def to_dict(measure: Measure) -> dict[str, Any]:
    """Return a column as JSON."""
    return {
        "list": measure.list_name,
        "quantity": measure.quantity,
        "items": list(measure.items),
        "over": measure.over,
        "label": measure.label,
    }


def of_dict(tree: Mapping[str, Any]) -> Measure:
    """Return the column from a tree that `to_dict` returned.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the tree is not a column.
    """
    measure = Measure(
        str(tree["list"]),
        str(tree["quantity"]),
        tuple(map(str, tree["items"])),
        str(tree["over"]),
        str(tree["label"]),
    )
    if (
        measure.list_name not in registry()[measure.quantity].lists
        or measure.over not in REDUCTIONS
    ):
        raise ValueError(f"not a column: {measure.key}")
    return measure
