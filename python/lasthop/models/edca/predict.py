"""From a scenario to a prediction of the 802.11e model."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from lasthop.models.dcf import airtime
from lasthop.models.edca.assumptions import (
    ASSUMPTIONS,
    BEST_EFFORT,
    active_stations,
    check_performance,
    check_scenario,
)
from lasthop.models.edca.cell import Access, Cell, Connection, Packet, Station
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import Performance, solve
from lasthop.models.errors import ModelError

Quantities = dict[str, Any]

ROUNDING = 1e-9
"""Part of a packet that a TXOP limit may miss by rounding. [-]"""


def predict(scenario: Mapping[str, Any], options: Options | None = None) -> dict[str, Any]:
    """Predict goodput, contention and queues of a cell with TCP traffic.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario. Of a node, ``txop_packets`` and ``txop_limit_s`` limit its bursts, and
        ``queue_order`` of the AP is its queue's order, if they are there.
    options : Options, optional
        Readings of the paper; by default what the engine does.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: of the cell ``goodput_bps`` [bit/s],
        ``active_stations``, ``jain`` and ``updown_ratio`` [-]; of each station and flow
        ``goodput_bps`` and ``goodput_share``; of each flow ``rtt_s`` [s]; of each station and the
        AP ``collision_rate`` [-] and ``queue_packets`` [packets]; ``solver`` and ``states``,
        ``options``; and the lists ``assumptions`` and ``warnings``. What the model cannot know is
        absent.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    ConvergenceError
        A solver did not settle.
    """
    options = options or Options()
    warnings = check_scenario(scenario)
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
    on the wire or the channel, neither wire nor ACK processing delays anything, and every queue has
    room for all packets that can be outstanding.
    """
    stations = {flow["station"] for flow in scenario["flows"]}
    if len(stations) != len(scenario["flows"]):
        return False
    try:
        doubts = check_scenario(scenario)
        cell_of(scenario, Options())
    except ModelError:
        return False
    outstanding = sum(flow["tcp"]["window_packets"] for flow in scenario["flows"])
    wire = scenario["wire"]
    processing_s = max(flow["tcp"].get("ack_processing_s", 0.0) for flow in scenario["flows"])
    return (
        not doubts
        and processing_s == 0.0
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

    Raises
    ------
    ModelError
        A TXOP limit in time is not a number of packets, the same for all stations.
    """
    cell = scenario["cell"]
    nodes = active_stations(scenario)
    category = scenario["flows"][0].get("category", BEST_EFFORT)
    eifs_rate = options.eifs_rate_bps or cell["eifs_rate_bps"]
    stations = tuple(
        Station(
            tuple(
                _connection(cell, node, flow)
                for flow in scenario["flows"]
                if flow["station"] == node["name"]
            )
        )
        for node in nodes
    )
    accesses = [
        _access(cell, node, category, [one.up for one in station.connections])
        for node, station in zip(nodes, stations, strict=True)
    ]
    if len({access.txop_packets for access in accesses}) > 1:
        raise ModelError(
            "section 4", "a TXOP limit in time holds more packets of one station than of another"
        )
    down = [one.down for station in stations for one in station.connections]
    return Cell(
        stations=stations,
        station_access=accesses[0],
        ap_access=_access(cell, cell["ap"], category, down),
        slot_s=float(cell["slot_s"]),
        sifs_s=float(cell["sifs_s"]),
        eifs_lead_s=float(cell["sifs_s"]) + airtime.frame_s(cell, airtime.ACK_BYTES, eifs_rate),
        ap_queue=cell["ap"].get("queue_order", "fifo"),
    )


def _access(
    cell: Mapping[str, Any], node: Mapping[str, Any], category: str, packets: Sequence[Packet]
) -> Access:
    """Access parameters of a node for what it sends."""
    of_category = node if category == BEST_EFFORT else node[category]
    return Access(
        cwmin=of_category["cwmin"],
        cwmax=of_category["cwmax"],
        aifsn=of_category["aifsn"],
        attempts=node["attempts_short"],
        txop_packets=_txop_packets(cell, of_category, packets),
    )


def _txop_packets(
    cell: Mapping[str, Any], access: Mapping[str, Any], packets: Sequence[Packet]
) -> int:
    """TXOP limit in packets; a limit in time admits those whose MAC ACK ends within it."""
    limit_s = access.get("txop_limit_s")
    most = access.get("txop_packets", 1)
    if limit_s is None:
        return int(most)
    lengths = {packet.exchange_s for packet in packets}
    if len(lengths) > 1:
        raise ModelError(
            "section 4", "a TXOP limit in time holds different numbers of packets of unequal length"
        )
    sifs_s = float(cell["sifs_s"])
    fitting = int((limit_s + sifs_s) / (lengths.pop() + sifs_s) + ROUNDING)
    return max(1, fitting if most is None else min(fitting, int(most)))


def _connection(
    cell: Mapping[str, Any], node: Mapping[str, Any], flow: Mapping[str, Any]
) -> Connection:
    tcp = flow["tcp"]

    def packet(payload: int, rate: float, sender: float, receiver: float) -> Packet:
        size = payload + tcp["header_bytes"]
        return Packet(
            exposed_s=airtime.first_frame_s(cell, size, rate, sender),
            exchange_s=airtime.exchange_s(cell, size, rate, sender, receiver),
            payload_bytes=payload,
        )

    uploads = flow["direction"] == "up"
    data = int(tcp["mss_bytes"])
    up_control = node["uplink_rts_rate_bps"], node["uplink_response_rate_bps"]
    down_control = node["downlink_rts_rate_bps"], node["downlink_response_rate_bps"]
    return Connection(
        window=int(tcp["window_packets"]),
        up=packet(data if uploads else 0, node["rate_bps"], *up_control),
        down=packet(0 if uploads else data, node["downlink_rate_bps"], *down_control),
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
    """Each flow's part of its station's goodput: packets by windows, each with its payload.

    Its whole window is outstanding all the time, so that by Little's law a round trip takes the
    window over the rate of its segments.
    """
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
                "rtt_s": _estimate(8.0 * weight[flow["name"]] / own),
            }
        )
    return items
