"""Matching of measured streams with flows of a scenario, by name, direction, category and order.

No other criterion is used. If the user names a station or flow for a file, the file contains the
streams of this station or flow. Uploads match uploads in order, and downloads match downloads. A
file without a name contains the streams of the whole scenario; the numbers of uploads and of
downloads must be equal. TCP and UDP are matched separately. If the names of all streams contain an
access category, streams are matched within each category. If the numbers of streams and flows
differ, only sums are compared. Pings match flows of pings in order, or ICMP pings do if there are
also pings over UDP. Each match is reported in a line.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import Any

from lasthop.answers.estimates import Estimate
from lasthop.answers.fairness import MET_PERCENT, fairness_levels, jain
from lasthop.errors import UserError
from lasthop.measured.observed import Measurement, Stream
from lasthop.measured.qdiscs import Queues, match_queues

__all__ = ["PING", "Flow", "Measured", "match"]

TRANSPORTS = ("tcp", "udp")
"""Transport protocols of measured streams with a goodput."""

PING = "ping"
"""Transport of measured pings and of flows of pings."""
ADD_PINGS = ' (to compare them, add `ping = "200 ms"` to the station that sent them)'
"""Remedy if the scenario has no pings."""

MAX_NAMED = 8
"""Maximum number of names in one message."""

ITEMS = ("flows", "stations", "cells", "classes", "links", "queues", "aps")
"""Lists of a lasthop result whose items are matched by name."""


@dataclass(frozen=True)
class Flow:
    """Properties of a scenario's flow that are used for matching."""

    name: str
    station: str
    direction: str
    class_name: str = ""
    transport: str = "tcp"
    """``"tcp"``, ``"udp"`` or ``"ping"``; any other text marks a flow that no measured stream can
    match."""
    rate_bps: float = 0.0
    """Rate of the flow's application; 0 if the flow uses all available capacity. [bit/s]"""
    reports: bool = False
    """Whether the flow carries sensor reports or pings. Such a flow does not compete for a share of
    the capacity."""
    category: str = ""
    """Access category of the flow; empty for a flow between wired nodes."""


@dataclass(frozen=True)
class Measured:
    """Measurements after matching with a scenario.

    Attributes
    ----------
    lists : mapping
        Items by list and name. Each quantity has its mean and its confidence interval over repeated
        files.
    matched : sequence of str
        Messages about matched and ignored streams.
    files : sequence of str
        Paths of the files.
    qdiscs : frozenset of str
        Names of the queues for which a program recorded qdisc statistics.
    unused : sequence of str
        A message about each file of which no value is compared.
    """

    lists: Mapping[str, Mapping[str, Mapping[str, Any]]]
    matched: Sequence[str]
    files: Sequence[str]
    qdiscs: frozenset[str] = frozenset()
    unused: Sequence[str] = ()

    def items(self, list_name: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the items of a list by name; empty if no value of the list was measured."""
        return self.lists.get(list_name, {})

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements for JSON: lists of items with their names."""
        return {
            "files": list(self.files),
            "matched": list(self.matched),
            **{
                name: [{"name": item, **values} for item, values in items.items()]
                for name, items in self.lists.items()
            },
        }


Samples = dict[tuple[str, str, str], list[float]]
"""Measured values, one per file. The key consists of a list of the result, such as ``"flows"``, the
name of an item, and a quantity."""


def match(
    flows: Sequence[Flow],
    total: tuple[str, str] | None,
    given: Sequence[tuple[str, Measurement]],
    queues: Queues = Queues(),  # noqa: B008 (it cannot change)
) -> Measured:
    """Match measurements with the flows of a scenario.

    Parameters
    ----------
    flows : sequence of Flow
        Flows of the scenario, in order.
    total : (str, str)
        List and name of the item to which the total goodput of all flows belongs, if there is one.
    given : sequence of (str, Measurement)
        Pairs of a name and a measurement. The user sets the name, which may be empty. Measurements
        with the same name are repetitions for confidence intervals.
    queues : Queues
        Names of the scenario's queues.

    Raises
    ------
    UserError
        If the scenario has no station, flow or class with a given name.
    """
    samples: Samples = defaultdict(list)
    lines: list[str] = []
    qdiscs: set[str] = set()
    unused: list[str] = []
    for name, measurement in given:
        before = _count(samples)
        lines += [f"{measurement.source}: {note}" for note in measurement.notes]
        if measurement.program == "lasthop":
            lines.append(_by_names(measurement, samples))
            continue
        if name not in queues.others or named(flows, name):
            lines += _by_order(flows, total, name, measurement, samples)
        elif measurement.streams:
            count = _counted(len(measurement.streams))
            lines.append(f"{measurement.source}: {count} left out: {name} is a queue")
        read: Samples = defaultdict(list)
        lines += match_queues(queues, name, measurement, read)
        qdiscs |= {item for list_name, item, _ in read if list_name == "queues"}
        for place, values in read.items():
            samples[place] += values
        if _count(samples) == before:
            unused.append(_of_nothing(name, measurement, flows))
    _sum_up(flows, total, samples)
    lists: dict[str, dict[str, dict[str, Any]]] = {}
    for (list_name, item, quantity), values in samples.items():
        inside = lists.setdefault(list_name, {}).setdefault(item, {})
        inside[quantity] = Estimate.of(values).to_dict()
    files = [measurement.source for _, measurement in given]
    return Measured(lists, lines, files, frozenset(qdiscs), unused)


def _count(samples: Samples) -> int:
    return sum(map(len, samples.values()))


def _of_nothing(name: str, measurement: Measurement, flows: Sequence[Flow]) -> str:
    """Return the message about a file of which no value is compared."""
    theirs = {
        f"{_worded(each.transport)}{each.direction}"
        for each in measurement.streams
        if each.transport in TRANSPORTS
    }
    own = {
        f"{_worded(each.transport)}{each.direction}"
        for each in named(flows, name)
        if each.direction and each.transport in TRANSPORTS
    }
    why = ""
    if theirs and own:
        whose = name or "the scenario"
        why = (
            f": its streams go {' and '.join(sorted(theirs))}, "
            f"and flows of {whose} go {' and '.join(sorted(own))}"
        )
    given = f"{name}={measurement.source}" if name else measurement.source
    return f"--measured {given}: nothing of this file is compared{why}"


def _by_names(measurement: Measurement, samples: Samples) -> str:
    """Add the values of a lasthop result to `samples` by item name. Return a message about the
    match.
    """
    count = 0
    for list_name in ITEMS:
        items = measurement.summary.get(list_name, [])
        for item in items if isinstance(items, list) else []:
            if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
                raise UserError(f"{measurement.source}: `{list_name}`: an item without a name")
            count += 1
            for quantity, value in item.items():
                mean = value.get("mean") if isinstance(value, Mapping) else None
                if isinstance(mean, int | float) and isfinite(mean):
                    samples[list_name, item["name"], quantity].append(float(mean))
    return f"{measurement.source}: {measurement.summary['kind']} of lasthop: matched by its names"


def _by_order(
    flows: Sequence[Flow],
    total: tuple[str, str] | None,
    name: str,
    measurement: Measurement,
    samples: Samples,
) -> Iterator[str]:
    """Match the streams of a file with the flows that `name` selects, or with all flows if the name
    is empty. Yield messages about the matches.
    """
    own = named(flows, name)
    if name and not own:
        known = list(dict.fromkeys(each.station or each.name for each in flows))
        raise UserError(
            f"measured {name}={measurement.source}: no station or flow is called {name}; "
            f"there are {_listed(known)}"
        )
    is_single = len(own) == 1 and own[0].name == name
    yield from _pings(own, name, measurement, samples)
    if is_single and own[0].transport == PING:
        return
    if not is_single:
        own = [each for each in own if each.transport in TRANSPORTS]
    only_sums = False
    summed: list[Stream] = []
    for way, transport in product(("up", "down"), TRANSPORTS):
        streams = [
            each
            for each in measurement.streams
            if (each.direction, each.transport) == (way, transport)
        ]
        theirs = [
            each for each in own if each.direction in (way, "") and each.transport == transport
        ]
        if not streams:
            continue
        if not theirs and is_single:
            theirs = list(own)  # The file may be from the flow's other end.
        if theirs:
            summed += streams
        if len(streams) == len(theirs):
            paired, how = _paired(streams, theirs)
            for stream, flow in paired:
                for quantity, value in stream.quantities().items():
                    samples["flows", flow.name, quantity].append(value)
            pairs = [f"{stream.name} is {flow.name}" for stream, flow in paired]
            yield f"{measurement.source}: {way}: {_listed(pairs)}, {how}"
            continue
        if not theirs:
            whose = f"{name} has" if name else "the scenario has"
            count = _counted(len(streams), transport)
            yield f"{measurement.source}: {count} {way} left out: {whose} none {way}"
            continue
        if len(theirs) == 1 and len(own) == 1:
            _put_sum(streams, ("flows", theirs[0].name), samples)
            yield f"{measurement.source}: the sum of {len(streams)} streams is {theirs[0].name}"
            continue
        only_sums = True
        whose = name or "the scenario"
        yield (
            f"{measurement.source}: {_counted(len(streams), transport)} {way}, {whose} has "
            f"{len(theirs)}: only sums are compared"
        )
    seen = {(each.direction, each.transport) for each in summed}
    missing = [each for each in own if each.direction and _kind(each) not in seen]
    if only_sums and missing:
        nothing = f"nothing {_worded(missing[0].transport)}{missing[0].direction}"
        yield f"{measurement.source}: {nothing}, so that there is no sum of all"
    elif only_sums:
        place = ("stations", name) if name and any(f.station == name for f in own) else total
        if place is not None:
            _put_sum(summed, place, samples)


def _pings(
    own: Sequence[Flow], name: str, measurement: Measurement, samples: Samples
) -> Iterator[str]:
    """Match the pings of a file with the flows of pings among `own`. Yield messages about the
    matches, and about pings that match no flow.
    """
    streams = [each for each in measurement.streams if each.transport == PING]
    theirs = [each for each in own if each.transport == PING]
    over_icmp = [each for each in streams if "UDP" not in each.name]
    chosen = streams if len(streams) == len(theirs) else over_icmp
    if len(chosen) != len(theirs):
        chosen = []
    if chosen:
        paired, how = _paired(chosen, theirs)
        for stream, flow in paired:
            for quantity, value in stream.quantities().items():
                samples["flows", flow.name, quantity].append(value)
        if len(streams) == 1 and measurement.program in ("ping", "irtt"):
            yield f"{measurement.source}: the pings are compared with {theirs[0].name}"
        else:
            pairs = [f"{stream.name} is {flow.name}" for stream, flow in paired]
            yield f"{measurement.source}: {_listed(pairs)}, {how}"
    for stream in streams:
        if stream not in chosen and stream.rtt_s is not None:
            mean = f"mean {1e3 * stream.rtt_s:.3g} ms"
            remedy = "" if theirs else f": {name or 'the scenario'} has no pings{ADD_PINGS}"
            yield f"{measurement.source}: {stream.name}: {mean}, not compared{remedy}"


def _paired(
    streams: Sequence[Stream], flows: Sequence[Flow]
) -> tuple[list[tuple[Stream, Flow]], str]:
    """Pair streams with the same number of flows. Return the pairs, and the criterion of the
    pairing in words."""
    in_order = list(zip(streams, flows, strict=True))
    messages, asked = ([each.category for each in side] for side in (streams, flows))
    if not all(asked) or (len({*asked}) == 1 and len({*messages} - {*asked, ""}) == 0):
        return in_order, "by order"
    if not all(messages):
        return in_order, "by order, since not all names of streams contain an access category"
    if Counter(messages) != Counter(asked):
        return in_order, "by order, since streams and flows have different access categories"
    left: dict[str, list[Flow]] = defaultdict(list)
    for flow in flows:
        left[flow.category].append(flow)
    return [(stream, left[stream.category].pop(0)) for stream in streams], "by access category"


def _kind(flow: Flow) -> tuple[str, str]:
    return flow.direction, flow.transport


def _worded(transport: str) -> str:
    """Return a transport protocol as a word before a noun; empty for TCP, the default."""
    return "" if transport == "tcp" else f"{transport.upper()} "


def named(flows: Sequence[Flow], name: str) -> list[Flow]:
    """Return the flows that a name selects: the name of a flow, station, class or table of
    stations. If the name is empty, return all flows.
    """
    if not name:
        return list(flows)
    exact = [each for each in flows if each.name == name]
    stations = [each for each in flows if each.station and each.station == name]
    classes = [each for each in flows if each.class_name == name]
    group = [each for each in flows if each.station.rpartition("-")[0] == name]
    return exact or stations or classes or group


def _put_sum(streams: Sequence[Stream], place: tuple[str, str], samples: Samples) -> None:
    rates = [each.goodput_bps for each in streams if each.goodput_bps is not None]
    if rates:
        samples[(*place, "goodput_bps")].append(sum(rates))


def _sum_up(flows: Sequence[Flow], total: tuple[str, str] | None, samples: Samples) -> None:
    """Add the goodputs of stations, and of all flows together, if all their flows were measured."""
    means = {
        name: sum(values) / len(values)
        for (list_name, name, quantity), values in samples.items()
        if list_name == "flows" and quantity == "goodput_bps"
    }
    stations: dict[str, list[float | None]] = defaultdict(list)
    for flow in flows:
        if flow.station and flow.transport != PING:
            stations[flow.station].append(means.get(flow.name))
    sums = {name: _whole(values) for name, values in stations.items()}
    for name, value in sums.items():
        place = ("stations", name, "goodput_bps")
        if value is not None and place not in samples:
            only = [flow.name for flow in flows if flow.station == name and flow.transport != PING]
            values = samples[("flows", only[0], "goodput_bps")] if len(only) == 1 else [value]
            samples[place] += values
    carrying = [flow for flow in flows if flow.transport != PING]
    every = _whole([means.get(flow.name) for flow in carrying])
    if every is None or not every:
        return
    if total is not None and (*total, "goodput_bps") not in samples:
        samples[(*total, "goodput_bps")].append(every)
    if len(sums) > 1 and ("stations", next(iter(sums)), "goodput_share") not in samples:
        unmet = {flow.station for flow in flows if _competes(flow, means.get(flow.name))}
        _shares({name: value or 0.0 for name, value in sums.items()}, unmet, samples)
        _ratio(carrying, means, samples)


def _whole(values: Sequence[float | None]) -> float | None:
    """Return the sum of the values; None if a value is missing."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) and known else None


def _competes(flow: Flow, goodput_bps: float | None) -> bool:
    """Return whether the demand of a flow may be unmet; True for a flow that was not measured."""
    is_met = flow.rate_bps and goodput_bps is not None
    is_met = is_met and 100 * (goodput_bps or 0.0) >= MET_PERCENT * flow.rate_bps
    return not (flow.reports or is_met)


def _shares(sums: Mapping[str, float], unmet: Collection[str], samples: Samples) -> None:
    """Add the goodput shares of stations, and the fairness among the stations in `unmet`, whose
    demand may be unmet. The definitions are those of the registry."""
    total = sum(sums.values())
    for name, value in sums.items():
        samples["stations", name, "goodput_share"].append(value / total)
    sums = {name: value for name, value in sums.items() if name in unmet}
    for name, level in fairness_levels(sums).items():
        samples["stations", name, "fairness_level"].append(level)
    if (index := jain(sums.values())) is not None:
        samples["cells", "cell", "jain"].append(index)


def _ratio(flows: Sequence[Flow], means: Mapping[str, float], samples: Samples) -> None:
    up, down = (
        sum(means[flow.name] for flow in flows if flow.direction == way) for way in ("up", "down")
    )
    if up and down:
        samples["cells", "cell", "updown_ratio"].append(up / down)


def _listed(names: Sequence[str]) -> str:
    if len(names) <= MAX_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} more"


def _counted(number: int, transport: str = "tcp") -> str:
    return f"{number} {_worded(transport)}stream{'s' if number != 1 else ''}"
