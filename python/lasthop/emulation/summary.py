"""The result of an emulation: what the network has measured, with what the kernel's sockets have
sent and received."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lasthop._core import VERSION
from lasthop.emulation.traffic import Driven
from lasthop.models.reading import Scenario as Typed

Item = dict[str, Any]


def summary(scenario: Typed, traffic: Sequence[Driven], lists: Mapping[str, Any]) -> Item:
    """The result as one tree; `lists` are the network's."""
    length_s = scenario.duration_s - scenario.warmup_s
    goodputs = {each.flow.name: 8 * each.received_bytes / length_s for each in traffic}
    total = sum(goodputs.values())
    measured = {
        "flows": flows(traffic, goodputs, total),
        "stations": stations(scenario, traffic, goodputs, total),
        "cells": {"cell": cell(traffic, goodputs, total)},
        "classes": classes(traffic, goodputs, total),
    }
    return {
        "kind": "emulation",
        "scenario": scenario.name,
        "seed": scenario.seed,
        "replications": 1,
        "version": VERSION,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        **{name: put_together(items, measured.get(name, {})) for name, items in lists.items()},
    }


def put_together(items: Iterable[Item], measured: Mapping[str, Mapping[str, float]]) -> list[Item]:
    """Items of the network with what the sockets say of them."""
    return [item | estimates(measured.get(item["name"], {})) for item in items]


def flows(
    traffic: Sequence[Driven], goodputs: Mapping[str, float], total: float
) -> dict[str, dict[str, float]]:
    """What is known of each flow."""
    return {
        each.flow.name: share(goodputs[each.flow.name], total) | each.quantities()
        for each in traffic
    }


def stations(
    scenario: Typed, traffic: Sequence[Driven], goodputs: Mapping[str, float], total: float
) -> dict[str, dict[str, float]]:
    """What is known of each station."""
    sums = by_station(scenario, traffic, goodputs)
    first = next(iter(sums.values()), 0.0)
    known = {name: share(own, total) for name, own in sums.items()}
    for name, own in sums.items():
        if own > 0:
            known[name]["fairness_level"] = first / own
    return known


def by_station(
    scenario: Typed, traffic: Sequence[Driven], goodputs: Mapping[str, float]
) -> dict[str, float]:
    """Goodput of each station. [bit/s]"""
    sums = {station.name: 0.0 for station in scenario.stations}
    for each in traffic:
        if each.flow.station:
            sums[each.flow.station] += goodputs[each.flow.name]
    return sums


def cell(
    traffic: Sequence[Driven], goodputs: Mapping[str, float], total: float
) -> dict[str, float]:
    """What is known of the cell as a whole."""
    known = {"goodput_bps": total}
    rates: dict[str, float] = {}
    sides = {"up": 0.0, "down": 0.0, "": 0.0}
    for each in traffic:
        goodput = goodputs[each.flow.name]
        sides[each.flow.direction] += goodput
        if each.flow.station:
            rates[each.flow.station] = rates.get(each.flow.station, 0.0) + goodput
    if (index := jain(rates.values())) is not None:
        known["jain"] = index
    if sides["up"] and sides["down"]:
        known["updown_ratio"] = sides["up"] / sides["down"]
    return known


def classes(
    traffic: Sequence[Driven], goodputs: Mapping[str, float], total: float
) -> dict[str, dict[str, float]]:
    """What is known of flows by the table they come from."""
    members: dict[str, list[Driven]] = {}
    for each in traffic:
        members.setdefault(each.flow.class_name, []).append(each)
    known = {}
    for name, own in members.items():
        rates = [goodputs[each.flow.name] for each in own]
        values = share(sum(rates), total)
        if (index := jain(rates)) is not None:
            values["jain"] = index
        each_has = [each.quantities() for each in own]
        for quantity in ("rtt_s", "cwnd_packets", "one_way_delay_s", "completion_s"):
            some = [has[quantity] for has in each_has if quantity in has]
            if some:
                values[quantity] = sum(some) / len(some)
        unfinished = [has["unfinished"] for has in each_has if "unfinished" in has]
        if unfinished:
            values["unfinished"] = sum(unfinished)
        known[name] = values
    return known


def jain(rates: Iterable[float]) -> float | None:
    """Jain's index, if anything was received (paper 002, eq. 27)."""
    rates = list(rates)
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else None


def share(goodput_bps: float, total_bps: float) -> dict[str, float]:
    """A goodput, and its part of all."""
    known = {"goodput_bps": goodput_bps}
    return known if total_bps == 0 else known | {"goodput_share": goodput_bps / total_bps}


def estimates(values: Mapping[str, float]) -> Item:
    """Values of a single run: no interval."""
    return {name: {"mean": value, "ci95": None} for name, value in values.items()}
