"""Result of an emulation, from the measurements of the network and of the kernel's sockets."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop._core import FORMAT, VERSION
from lasthop.answers.fairness import fairness_levels, jain
from lasthop.emulated.emulation import REAL
from lasthop.emulation.datagrams import Datagrams, percentile_99
from lasthop.emulation.pings import Counted, Pings
from lasthop.emulation.pings import quantities_of as quantities_of_pings
from lasthop.emulation.traffic import Driven
from lasthop.emulation.user import User
from lasthop.scenario.from_json import read_as
from lasthop.scenario.typed import CsmaScenario, PingFlow, SensorFlow
from lasthop.scenario.typed import Scenario as Typed

Item = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """Measured traffic of one flow, or of one direction of a program's connection."""

    name: str
    class_name: str
    """Name of the flow's table in the scenario; empty for a program's connection."""
    station: str
    direction: str
    goodput_bps: float
    quantities: Mapping[str, float]
    connection: str = ""
    """Protocol and both ends of a program's connection; empty for flows of the scenario."""
    traffic: str = ""
    """Protocol, service port and direction of a program's connection; empty for flows of the
    scenario."""
    delays_s: Sequence[float] = ()
    """Delay of each datagram of a UDP flow; empty for other flows. [s]"""
    competes: bool = True
    """Whether the flow gets less than its demand, so that it competes for the capacity
    (`lasthop.answers.fairness`)."""
    pings: Counted | None = None
    """Pings of the flow; None for other flows."""
    existed: float = 1.0
    """Fraction of the measured time in which a conflict graph user was active, between its start
    and its stop; 1 for other flows. [-]"""

    @property
    def is_finished(self) -> bool:
        """Whether the flow is a finite transfer that has ended."""
        return self.quantities.get("unfinished") == 0


@dataclass(frozen=True)
class ProgramTraffic:
    """Traffic in one direction of a program's connection, measured in the network."""

    place: str
    protocol: str
    own: str
    """Address and port of the connection at the host of the program."""
    other: str
    leaves: bool
    """Whether the host of the program sends the data."""
    payload_bytes: int
    lost: int
    arrived: int


def summary(
    scenario: Typed,
    traffic: Sequence[Driven],
    lists: Mapping[str, Any],
    until_s: float,
    run: Mapping[str, float],
    losses: Mapping[str, float | None],
) -> Item:
    """Return the result of a run. `lists` contains the measurements of the network, and `until_s`
    is the time at which the run ended. [s]

    `run` contains the quantities of the whole run. `losses` contains the loss probability of each
    greedy flow, by the flow's name; None if it is not known.
    """
    length_s = max(until_s - scenario.warmup_s, 1e-9)
    programs = list(of_programs(scenario, lists["programs"], length_s))
    seen = [*(of_flow(each, length_s) for each in traffic), *programs]
    total_bps = sum(each.goodput_bps for each in seen)
    measured: dict[str, Mapping[str, Mapping[str, float]]] = {
        "flows": {
            item.name: ({} if item.pings is not None else share(item.goodput_bps, total_bps))
            | dict(item.quantities)
            | ({} if (lost := losses.get(item.name)) is None else {"loss_probability": lost})
            for item in seen
        },
        "stations": stations(scenario, seen, total_bps),
        "cells": {"cell": cell(scenario, seen, total_bps)},
        "classes": classes(seen, total_bps),
        "totals": {"run": run},
        "links": links(scenario, seen),
    }
    items = {name: own for name, own in lists.items() if name != "programs"}
    items |= {"flows": [*lists["flows"], *map(labels, programs)]}
    return {
        "kind": "emulation",
        "scenario": scenario.name,
        "seed": scenario.seed,
        "replications": 1,
        "version": VERSION,
        "format": FORMAT,
        "time": REAL,
        "kernel": os.uname().release,
        "duration_s": until_s,
        "warmup_s": scenario.warmup_s,
        **{name: put_together(own, measured.get(name, {})) for name, own in items.items()},
    }


def of_flow(each: Driven, length_s: float) -> Seen:
    """Return the measured traffic of a flow of the scenario."""
    flow = each.flow
    goodput_bps = 8 * each.received_bytes / length_s
    own = each.quantities()
    delays_s = each.delays_s if isinstance(each, Datagrams) else ()
    return Seen(
        flow.name,
        flow.class_name,
        flow.station,
        flow.direction,
        goodput_bps,
        own,
        existed=each.existed if isinstance(each, User) else 1.0,
        delays_s=delays_s,
        competes=not (
            isinstance(flow, SensorFlow | PingFlow) or (isinstance(each, Datagrams) and each.is_met)
        ),
        pings=each.counted() if isinstance(each, Pings) else None,
    )


def of_programs(scenario: Typed, items: Iterable[Item], length_s: float) -> Iterable[Seen]:
    """Yield the measured traffic of programs' connections. Each direction counts as a flow."""
    names = [station.name for station in scenario.stations]
    count: Counter[str] = Counter()
    for row in (read_as(ProgramTraffic, item) for item in items):
        count[row.place] += 1
        is_station = row.place in names
        ends = (row.own, row.other) if row.leaves else (row.other, row.own)
        yield Seen(
            f"{row.place}/program/{count[row.place]}",
            "",
            row.place if is_station else "",
            ("up" if row.leaves else "down") if is_station else "",
            8 * row.payload_bytes / length_s,
            loss(row.lost, row.arrived),
            " ".join((row.protocol, *ends)),
            traffic(row.protocol, ends, "out" if row.leaves else "in"),
        )


def loss(lost: int, arrived: int) -> dict[str, float]:
    """Return the loss probability among packets that were lost or have arrived; empty without such
    packets.

    A packet is counted only when it arrives or is lost, as in a simulation. The result is therefore
    in [0, 1].
    """
    decided = lost + arrived
    return {"loss_probability": lost / decided} if decided else {}


def traffic(protocol: str, ends: Iterable[str], way: str) -> str:
    """Return the kind of a connection as text: protocol, service port (the lower port), and
    direction."""
    ports = [int(port) for _, colon, port in (end.partition(":") for end in ends) if colon]
    return " ".join([protocol, *([str(min(ports))] if ports else []), way])


def labels(seen: Seen) -> Item:
    """Return the labels of a program's connection in a result."""
    known = {"name": seen.name, "connection": seen.connection, "traffic": seen.traffic}
    if seen.station:
        known |= {"station": seen.station, "direction": seen.direction}
    return known


def put_together(items: Iterable[Item], measured: Mapping[str, Mapping[str, float]]) -> list[Item]:
    """Return the items that the network measured. Quantities that were measured at sockets are
    added to the items.
    """
    return [item | estimates(measured.get(item["name"], {})) for item in items]


def stations(
    scenario: Typed, seen: Sequence[Seen], total_bps: float
) -> dict[str, dict[str, float]]:
    """Return the quantities of each station, by name."""
    known = {name: share(own, total_bps) for name, own in goodputs(scenario, seen).items()}
    for name, level in fairness_levels(competing(scenario, seen)).items():
        known[name]["fairness_level"] = level
    return known


def goodputs(scenario: Typed, seen: Sequence[Seen]) -> dict[str, float]:
    """Return the goodput of each station, by name. [bit/s]"""
    sums = {station.name: 0.0 for station in scenario.stations}
    for each in seen:
        if each.station:
            sums[each.station] += each.goodput_bps
    return sums


def competing(scenario: Typed, seen: Sequence[Seen]) -> dict[str, float]:
    """Return the goodput of each station whose demand is not met, by name. [bit/s]"""
    names = {each.station for each in seen if each.competes}
    return {name: own for name, own in goodputs(scenario, seen).items() if name in names}


def cell(scenario: Typed, seen: Sequence[Seen], total_bps: float) -> dict[str, float]:
    """Return the quantities of the cell, such as Jain's index."""
    known = {"goodput_bps": total_bps}
    up_bps = sum(each.goodput_bps for each in seen if each.direction == "up")
    down_bps = sum(each.goodput_bps for each in seen if each.direction == "down")
    if (index := jain(competing(scenario, seen).values())) is not None:
        known["jain"] = index
    if up_bps and down_bps:
        known["updown_ratio"] = up_bps / down_bps
    return known


def links(scenario: Typed, seen: Sequence[Seen]) -> dict[str, dict[str, float]]:
    """Return the number of connections that pass each link of a conflict graph, if flows may have
    several connections."""
    if not isinstance(scenario, CsmaScenario) or scenario.csma.connections == "one":
        return {}
    of_flow = {each.name: each.quantities.get("connections", 0.0) * each.existed for each in seen}
    sums = {link.name: 0.0 for link in scenario.csma.links}
    for user in scenario.csma.flows:
        for link in sums.keys() & set(user.route):
            sums[link] += of_flow[user.name]
    back = {f"{name}/back": own for name, own in sums.items()}
    return {name: {"connections": own} for name, own in (sums | back).items()}


def classes(seen: Sequence[Seen], total_bps: float) -> dict[str, dict[str, float]]:
    """Return the quantities of each flow table of the scenario, by the table's name."""
    members: dict[str, list[Seen]] = {}
    for each in seen:
        if each.class_name:
            members.setdefault(each.class_name, []).append(each)
    return {name: of_class(own, total_bps) for name, own in members.items()}


def of_class(members: Sequence[Seen], total_bps: float) -> dict[str, float]:
    """Return the quantities of all flows of one table."""
    pings = [member.pings for member in members if member.pings is not None]
    if len(pings) == len(members):
        return quantities_of_pings(pings)
    members = [member for member in members if member.pings is None]
    rates = [member.goodput_bps for member in members]
    values = share(sum(rates), total_bps)
    if "connections_finished" in members[0].quantities:
        return values | dict(members[0].quantities)  # a table of web traffic has a single flow
    shares = [
        member.goodput_bps for member in members if member.competes and not member.is_finished
    ]
    if (index := jain(shares)) is not None:
        values["jain"] = index
    for quantity in ("rtt_s", "cwnd_packets", "one_way_delay_s", "completion_s"):
        if present := quantities_of(members, quantity):
            values[quantity] = sum(present) / len(present)
    if delays_s := [delay_s for member in members for delay_s in member.delays_s]:
        values["one_way_delay_p99_s"] = percentile_99(delays_s)
    if unfinished := quantities_of(members, "unfinished"):
        values["unfinished"] = sum(unfinished)
    return values


def quantities_of(members: Sequence[Seen], quantity: str) -> list[float]:
    """Return the values of a quantity, for all flows that have this quantity."""
    return [each.quantities[quantity] for each in members if quantity in each.quantities]


def share(goodput_bps: float, total_bps: float) -> dict[str, float]:
    """Return a goodput, and its fraction of the total goodput."""
    known = {"goodput_bps": goodput_bps}
    return known if total_bps == 0 else known | {"goodput_share": goodput_bps / total_bps}


def estimates(values: Mapping[str, float]) -> Item:
    """Return values of a single run in the form of estimates, without confidence intervals."""
    return {name: {"mean": value, "ci95": None} for name, value in values.items()}
