"""From a scenario to a prediction of the 802.11e model."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from lasthop.models.dcf import airtime
from lasthop.models.edca.assumptions import (
    ASSUMPTIONS,
    active_stations,
    check_performance,
    check_scenario,
)
from lasthop.models.edca.cell import Access, Cell, Connection, Packet, Station
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import Performance, solve
from lasthop.models.errors import ModelError

Quantities = dict[str, Any]


def predict(scenario: Mapping[str, Any], options: Options | None = None) -> dict[str, Any]:
    """Predict goodput, contention and queues of a cell with TCP traffic.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario. A node's ``txop_packets``, if it has that key, is its TXOP limit.
    options : Options, optional
        Readings of the paper; by default what the engine does.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: of the cell ``goodput_bps`` [bit/s],
        ``active_stations``, ``jain`` and ``updown_ratio`` [-]; of each station and flow
        ``goodput_bps`` and ``goodput_share``; of each station and the AP ``collision_rate`` [-]
        and ``queue_packets`` [packets]; ``solver`` and ``states``, ``options``; and the lists
        ``assumptions`` and ``warnings``. What the model cannot know is absent.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    ConvergenceError
        A solver did not settle.
    """
    options = options or Options()
    warnings = list(check_scenario(scenario))
    cell = cell_of(scenario, options)
    try:
        found = solve(cell, options)
    except ValueError as error:
        raise ModelError("section 2.2", str(error)) from error
    warnings += check_performance(scenario, cell, found, options)
    return {
        "kind": "prediction",
        "model": "edca",
        "scenario": scenario["name"],
        "seed": None,
        "replications": None,
        "version": version("lasthop"),
        "duration_s": None,
        "warmup_s": None,
        **_lists(scenario, found),
        "solver": found.solver,
        "states": found.states,
        "options": options.to_dict(),
        "assumptions": list(ASSUMPTIONS),
        "warnings": warnings,
    }


def applies(scenario: Mapping[str, Any]) -> bool:
    """Whether a scenario is what this model was made for, without reservation.

    Each station that has a flow has exactly one long-lived TCP connection, windows and the
    stations' access parameters are equal, every segment is acknowledged at once, nothing is lost
    on the wire or the channel, the wire has no delay and no rate, and every queue has room for all
    packets that can be outstanding.
    """
    stations = {flow["station"] for flow in scenario["flows"]}
    if len(stations) != len(scenario["flows"]):
        return False
    try:
        doubts = list(check_scenario(scenario))
    except ModelError:
        return False
    outstanding = sum(flow["tcp"]["window_packets"] for flow in scenario["flows"])
    wire = scenario["wire"]
    return (
        not doubts
        and wire["delay_s"] == 0.0
        and wire["rate_bps"] is None
        and outstanding <= scenario["cell"]["ap"]["queue_packets"]
    )


def cell_of(scenario: Mapping[str, Any], options: Options) -> Cell:
    """A scenario of TCP flows in the model's terms; stations without flows are left out.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario that `check_scenario` has let pass.
    options : Options
        ``eifs_rate_bps`` replaces the scenario's.
    """
    cell = scenario["cell"]
    stations = active_stations(scenario)
    eifs_rate = options.eifs_rate_bps or cell["eifs_rate_bps"]
    ack_s = airtime.frame_s(cell, airtime.ACK_BYTES, eifs_rate)
    return Cell(
        stations=tuple(
            Station(
                tuple(
                    _connection(cell, node, flow)
                    for flow in scenario["flows"]
                    if flow["station"] == node["name"]
                )
            )
            for node in stations
        ),
        station_access=_access(stations[0]),
        ap_access=_access(cell["ap"]),
        slot_s=float(cell["slot_s"]),
        sifs_s=float(cell["sifs_s"]),
        eifs_lead_s=float(cell["sifs_s"]) + ack_s,
    )


def _access(node: Mapping[str, Any]) -> Access:
    return Access(
        cwmin=node["cwmin"],
        cwmax=node["cwmax"],
        aifsn=node["aifsn"],
        attempts=node["attempts_short"],
        txop_packets=node.get("txop_packets", 1),
    )


def _connection(
    cell: Mapping[str, Any], node: Mapping[str, Any], flow: Mapping[str, Any]
) -> Connection:
    tcp, ap = flow["tcp"], cell["ap"]

    def packet(payload: int, rate: float, sender: float, receiver: float) -> Packet:
        size = payload + tcp["header_bytes"]
        return Packet(
            exposed_s=airtime.first_frame_s(cell, size, rate, sender),
            exchange_s=airtime.exchange_s(cell, size, rate, sender, receiver),
            payload_bytes=payload,
        )

    uploads = flow["direction"] == "up"
    data = int(tcp["mss_bytes"])
    node_control, ap_control = node["control_rate_bps"], ap["control_rate_bps"]
    return Connection(
        window=int(tcp["window_packets"]),
        up=packet(data if uploads else 0, node["rate_bps"], node_control, ap_control),
        down=packet(0 if uploads else data, node["downlink_rate_bps"], ap_control, node_control),
    )


def _estimate(mean: float) -> Quantities:
    return {"mean": mean, "ci95": None}


def _lists(scenario: Mapping[str, Any], found: Performance) -> dict[str, list[Quantities]]:
    goodput = dict(
        zip(
            (node["name"] for node in active_stations(scenario)),
            found.station_goodput_bps,
            strict=True,
        )
    )
    total = found.goodput_bps
    stations: list[Quantities] = []
    for node in scenario["stations"]:
        item: Quantities = {"name": node["name"]}
        if node["name"] in goodput:
            own = goodput[node["name"]]
            item["goodput_bps"] = _estimate(own)
            item["goodput_share"] = _estimate(own / total)
            item["collision_rate"] = _estimate(found.station_collision_rate)
            item["queue_packets"] = _estimate(found.station_queue)
        stations.append(item)
    ap: Quantities = {
        "name": "ap",
        "collision_rate": _estimate(found.ap_collision_rate),
        "queue_packets": _estimate(found.ap_queue),
    }
    flows = _flows(scenario, goodput)
    cell: Quantities = {
        "name": "cell",
        "goodput_bps": _estimate(total),
        "active_stations": _estimate(found.active_stations),
        "jain": _estimate(total**2 / len(goodput) / sum(own**2 for own in goodput.values())),
    }
    up, down = (
        sum(item["goodput_bps"]["mean"] for item in flows if item["direction"] == way)
        for way in ("up", "down")
    )
    if up and down:
        cell["updown_ratio"] = _estimate(up / down)
    return {"flows": flows, "stations": stations, "aps": [ap], "cells": [cell]}


def _flows(scenario: Mapping[str, Any], goodput: Mapping[str, float]) -> list[Quantities]:
    """Each flow's part of its station's goodput: packets by windows, each with its payload."""
    weight = {
        flow["name"]: flow["tcp"]["window_packets"] * flow["tcp"]["mss_bytes"]
        for flow in scenario["flows"]
    }
    whole = dict.fromkeys(goodput, 0)
    for flow in scenario["flows"]:
        whole[flow["station"]] += weight[flow["name"]]
    total = sum(goodput.values())
    items: list[Quantities] = []
    for flow in scenario["flows"]:
        own = goodput[flow["station"]] * weight[flow["name"]] / whole[flow["station"]]
        items.append(
            {
                "name": flow["name"],
                "station": flow["station"],
                "direction": flow["direction"],
                "goodput_bps": _estimate(own),
                "goodput_share": _estimate(own / total),
            }
        )
    return items
