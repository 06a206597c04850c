"""From a scenario to a prediction of the hot-spot model."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from lasthop.models.errors import ModelError
from lasthop.models.hotspot.access import Access, beta_from_access
from lasthop.models.hotspot.assumptions import (
    ASSUMPTIONS,
    check_access,
    check_equilibrium,
    check_scenario,
)
from lasthop.models.hotspot.fairness import (
    download_goodput,
    fairness_level,
    goodput_by_direction,
    jain_index,
    round_trip,
    updown_index,
    upload_goodput,
)
from lasthop.models.hotspot.lossless import solve_void_rounds
from lasthop.models.hotspot.padhye import DELAYED_ACK
from lasthop.models.hotspot.station import Connections, Equilibrium, Station
from lasthop.models.hotspot.wire import solve_with_wire, traffic, wired_round_trip_s

BUSY_WIRE = 0.8
"""Load of the wire from which on it is no longer taken for free of queueing. [-]"""

Quantities = dict[str, Any]


def predict(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Predict who gets what in a hot-spot.

    The model knows packets and ratios, no time: it gives shares and fairness levels, queues in
    packets and loss, never bits per second.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: of each station ``goodput_share`` [-],
        ``fairness_level`` (goodput of the first station over this one's) [-] and
        ``queue_packets`` [packets]; of the AP ``queue_packets`` [packets]; of each flow
        ``goodput_share`` and ``loss_probability`` [-]; of the cell ``jain`` and
        ``updown_ratio`` [-]; of each queue ``occupancy_packets`` [packets] and
        ``drop_probability`` [-]; and the lists ``assumptions`` and ``warnings``. What the model
        cannot know is absent.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    ConvergenceError
        A solver did not settle.
    """
    warnings = list(check_scenario(scenario))
    stations = stations_of(scenario)
    warnings += check_access(scenario, stations)
    at = solve_with_wire(scenario, stations)
    queues = at
    if at is None:
        queues = _void_rounds(scenario, stations)
        warnings.append(_no_other_root(stations, queues))
    else:
        warnings += check_equilibrium(scenario, stations, at)
        warnings += _check_wire_load(scenario, stations, at)
    lists = _lists(scenario, stations, at, queues)
    return {
        "kind": "prediction",
        "model": "hotspot",
        "scenario": scenario["name"],
        "seed": None,
        "replications": None,
        "version": version("lasthop"),
        "duration_s": None,
        "warmup_s": None,
        **lists,
        "assumptions": list(ASSUMPTIONS),
        "warnings": warnings,
    }


def stations_of(scenario: Mapping[str, Any]) -> tuple[Station, ...]:
    """Stations of a scenario in the model's terms, in the scenario's order.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario of TCP flows.

    Raises
    ------
    ModelError
        A node never gives way to another (assumption a7).
    """
    groups: dict[tuple[str, str], Counter[Connections]] = {}
    for flow in scenario["flows"]:
        groups.setdefault((flow["station"], flow["direction"]), Counter())[_connection(flow)] += 1

    def connections(name: str, direction: str) -> tuple[Connections, ...]:
        kinds = groups.get((name, direction), Counter())
        return tuple(replace(kind, count=count) for kind, count in kinds.items())

    def access(node: Mapping[str, Any]) -> Access:
        return Access(node["cwmin"], node["cwmax"], node["aifsn"], node["attempts_short"])

    cell = scenario["cell"]
    try:
        return tuple(
            Station(
                connections(node["name"], "up"),
                connections(node["name"], "down"),
                beta_from_access(access(node), access(cell["ap"])),
            )
            for node in scenario["stations"]
        )
    except ValueError as error:
        raise ModelError("a7", str(error)) from error


def _connection(flow: Mapping[str, Any]) -> Connections:
    tcp = flow["tcp"]
    per_ack = DELAYED_ACK if tcp["delayed_ack"] else 1
    return Connections(1, float(tcp["window_packets"]), per_ack, int(tcp["mss_bytes"]))


def _void_rounds(scenario: Mapping[str, Any], stations: tuple[Station, ...]) -> Equilibrium | None:
    """Queues by footnote 18, where it holds: without a wire, within the AP's buffer."""
    at = solve_void_rounds(stations)
    fits = at.ap_queue < scenario["cell"]["ap"]["queue_packets"]
    return at if fits and wired_round_trip_s(scenario) == 0.0 else None


def _no_other_root(stations: tuple[Station, ...], queues: Equilibrium | None) -> str:
    alone = sum(station.active for station in stations) == 1
    shares = "its share is trivial" if alone else "no share or fairness level is given"
    known = "queues are footnote 18's approximation" if queues else "no queue is given"
    return (
        "section 3: the balance of queues has no other root than an empty AP buffer "
        f"(Q_ap = 0): the stations, not the AP, are the bottleneck; {shares}, {known}"
    )


def _check_wire_load(
    scenario: Mapping[str, Any], stations: tuple[Station, ...], at: Equilibrium
) -> list[str]:
    rate = scenario["wire"]["rate_bps"]
    if rate is None:
        return []
    passing = traffic(scenario, stations, at)
    busiest = max(passing.wire_up_bytes, passing.wire_down_bytes)
    load = 8.0 * busiest / passing.ap_service_s / rate
    if load >= 1.0:
        raise ModelError("a1", f"the cell would load the wire to {load:.2f} of its rate")
    if load >= BUSY_WIRE:
        return [f"a1: the cell loads the wire to about {load:.2f} of its rate"]
    return []


def _estimate(mean: float) -> Quantities:
    return {"mean": mean, "ci95": None}


def _lists(
    scenario: Mapping[str, Any],
    stations: tuple[Station, ...],
    at: Equilibrium | None,
    queues_from: Equilibrium | None,
) -> dict[str, list[Quantities]]:
    names = [node["name"] for node in scenario["stations"]]
    station_items: list[Quantities] = [{"name": name} for name in names]
    flow_items: list[Quantities] = [
        {"name": flow["name"], "station": flow["station"], "direction": flow["direction"]}
        for flow in scenario["flows"]
    ]
    ap: Quantities = {"name": "ap"}
    cell: Quantities = {"name": "cell"}
    queues: list[Quantities] = []
    # A lone station has everything whatever its round trip is; any equilibrium says so.
    active = [station.active for station in stations]
    shares_from = at
    if at is None and sum(active) == 1:
        shares_from = Equilibrium(1.0, 0.0, tuple(0.0 for _ in stations))
    if shares_from is not None:
        _add_shares(station_items, flow_items, cell, scenario, stations, shares_from)
    if queues_from is not None:
        loss = queues_from.loss
        ap["queue_packets"] = _estimate(queues_from.ap_queue)
        queues.append(_queue("ap", queues_from.ap_queue, loss))
        for item, queue in zip(station_items, queues_from.station_queues, strict=True):
            item["queue_packets"] = _estimate(queue)
            queues.append(_queue(item["name"], queue, 0.0))
        for flow in flow_items:
            flow["loss_probability"] = _estimate(loss if flow["direction"] == "down" else 0.0)
    return {
        "flows": flow_items,
        "stations": station_items,
        "aps": [ap],
        "queues": queues,
        "cells": [cell],
    }


def _queue(name: str, occupancy: float, drop: float) -> Quantities:
    return {
        "name": name,
        "occupancy_packets": _estimate(occupancy),
        "drop_probability": _estimate(drop),
    }


def _add_shares(
    items: list[Quantities],
    flows: list[Quantities],
    cell: Quantities,
    scenario: Mapping[str, Any],
    stations: tuple[Station, ...],
    at: Equilibrium,
) -> None:
    up, down = goodput_by_direction(stations, at)
    goodputs = [u + d for u, d in zip(up, down, strict=True)]
    total = sum(goodputs)
    for index, item in enumerate(items):
        item["goodput_share"] = _estimate(goodputs[index] / total)
        if goodputs[index] > 0.0:
            item["fairness_level"] = _estimate(fairness_level(goodputs, 0, index))
    times = {
        item["name"]: round_trip(station, queue, at)
        for item, station, queue in zip(items, stations, at.station_queues, strict=True)
    }
    for flow, item in zip(scenario["flows"], flows, strict=True):
        one, time = _connection(flow), times[flow["station"]]
        upload = flow["direction"] == "up"
        own = upload_goodput(one, time) if upload else download_goodput(one, time, at.loss)
        item["goodput_share"] = _estimate(own / total)
    # Only stations with connections are compared.
    cell["jain"] = _estimate(jain_index([g for g in goodputs if g > 0.0]))
    if sum(up) > 0.0 and sum(down) > 0.0:
        cell["updown_ratio"] = _estimate(updown_index(up, down))
