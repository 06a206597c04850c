"""From a normalised scenario to the model's picture of the cell."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.models.dcf import airtime
from lasthop.models.vbs.cell import Access, Cell, FlowClass, Frame, Station
from lasthop.models.vbs.window import Law

ACCESS_KEYS = (
    "rate_bps",
    "downlink_rate_bps",
    "uplink_response_rate_bps",
    "downlink_response_rate_bps",
    "error_up",
    "error_down",
    "ack_error_up",
    "ack_error_down",
    "cwmin",
    "cwmax",
    "attempts_short",
)
"""What stations must have in common to be alike, besides their connections."""


@dataclass(frozen=True)
class Picture:
    """A cell, and where a scenario's flows and stations are in it.

    Attributes
    ----------
    cell : Cell
    class_of : Mapping
        Index of a flow's class by its name.
    station_of : Mapping
        Index of a station's kind by its name; stations without flows are not in it.
    """

    cell: Cell
    class_of: Mapping[str, int]
    station_of: Mapping[str, int]


def connections(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All flows but the rare reports of sensors, whose load is nothing beside theirs."""
    return [flow for flow in scenario["flows"] if "sensor" not in flow]


def picture_of(scenario: Mapping[str, Any]) -> Picture:
    """A scenario of TCP flows in the model's terms.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario that `check_scenario` has let pass.
    """
    sharing = _sharing(scenario)
    flows_at: dict[str, list[Mapping[str, Any]]] = {}
    for flow in connections(scenario):
        flows_at.setdefault(flow["station"], []).append(flow)
    kinds: dict[Any, int] = {}
    station_of: dict[str, int] = {}
    nodes: list[Mapping[str, Any]] = []
    for node in scenario["stations"]:
        if node["name"] not in flows_at:
            continue
        what = Counter(_flow_key(flow, sharing) for flow in flows_at[node["name"]])
        key = (tuple(node.get(one) for one in ACCESS_KEYS), frozenset(what.items()))
        if key not in kinds:
            kinds[key] = len(nodes)
            nodes.append(node)
        station_of[node["name"]] = kinds[key]
    members = Counter(station_of.values())
    class_of: dict[str, int] = {}
    classes: dict[Any, int] = {}
    examples: list[Mapping[str, Any]] = []
    for flow in connections(scenario):
        kind = (station_of[flow["station"]], _flow_key(flow, sharing))
        if kind not in classes:
            classes[kind] = len(examples)
            examples.append(flow)
        class_of[flow["name"]] = classes[kind]
    counts = Counter(class_of.values())
    cell = scenario["cell"]
    queue = cell["ap"].get("queue", {})
    shared = queue.get("discipline") == "vbs"
    return Picture(
        Cell(
            classes=tuple(
                _flow_class(
                    cell,
                    nodes[station_of[flow["station"]]],
                    flow,
                    counts[k],
                    station_of[flow["station"]],
                    sharing.get(flow["name"]),
                )
                for k, flow in enumerate(examples)
            ),
            stations=tuple(Station(members[k], _access(node)) for k, node in enumerate(nodes)),
            ap=_access(cell["ap"]),
            buffer_packets=int(cell["ap"]["queue_packets"]),
            slot_s=float(cell["slot_s"]),
            wire_s=wired_round_trip_s(scenario),
            frozen=cell.get("countdown", "dcf") == "dcf",
            targets=tuple(float(one["share"]) for one in cell["vbs_classes"]) if shared else (),
            names=tuple(str(one["name"]) for one in cell["vbs_classes"]) if shared else (),
            occupancy=float(queue["occupancy"]) if shared else 0.6,
            regulated=shared and queue["algorithm"] == "regulated",
        ),
        class_of,
        station_of,
    )


def wired_round_trip_s(scenario: Mapping[str, Any]) -> float:
    """Round-trip time of the wire for a full segment and an ACK, without queueing. [s]"""
    wire = scenario["wire"]
    time = 2.0 * float(wire["delay_s"])
    if wire["rate_bps"] is not None:
        tcp = connections(scenario)[0]["tcp"]
        time += 8.0 * (tcp["mss_bytes"] + 2 * tcp["header_bytes"]) / wire["rate_bps"]
    return time


def _sharing(scenario: Mapping[str, Any]) -> dict[str, int]:
    """Index of the class that shares the AP's queue, by flow."""
    if scenario["cell"]["ap"].get("queue", {}).get("discipline") != "vbs":
        return {}
    classes = scenario["cell"].get("vbs_classes", [])
    return {name: k for k, one in enumerate(classes) for name in one["flows"]}


def _flow_key(flow: Mapping[str, Any], sharing: Mapping[str, int]) -> Any:
    tcp = flow["tcp"]
    law = tcp["congestion"] == "compound"
    parameters = tuple(sorted(tcp["compound"].items())) if law else ()
    return (
        flow["direction"],
        sharing.get(flow["name"]),
        law,
        parameters,
        tcp["window_packets"],
        tcp["delayed_ack"],
        tcp["mss_bytes"],
        tcp["header_bytes"],
        tcp["min_rto_s"],
    )


def _access(node: Mapping[str, Any]) -> Access:
    # without RTS all frames count as short
    return Access(node["cwmin"], node["cwmax"], node["attempts_short"])


def _flow_class(
    cell: Mapping[str, Any],
    node: Mapping[str, Any],
    flow: Mapping[str, Any],
    count: int,
    station: int,
    sharing: int | None,
) -> FlowClass:
    tcp, upload = flow["tcp"], flow["direction"] == "up"
    segment, ack = tcp["mss_bytes"] + tcp["header_bytes"], tcp["header_bytes"]
    errors = {
        way: (node[f"error_{way}"], node.get(f"ack_error_{way}", node[f"error_{way}"]))
        for way in ("up", "down")
    }
    return FlowClass(
        count=count,
        station=station,
        upload=upload,
        down=_frame(
            cell,
            ack if upload else segment,
            node["downlink_rate_bps"],
            node["downlink_response_rate_bps"],
            cell["ap"]["aifsn"],
            errors["down"][upload],
        ),
        up=_frame(
            cell,
            segment if upload else ack,
            node["rate_bps"],
            node["uplink_response_rate_bps"],
            node["aifsn"],
            errors["up"][not upload],
        ),
        law=_law(tcp),
        payload_bytes=int(tcp["mss_bytes"]),
        min_rto_s=float(tcp["min_rto_s"]),
        sharing=sharing,
    )


def _frame(
    cell: Mapping[str, Any],
    packet_bytes: int,
    rate_bps: float,
    response_bps: float,
    aifsn: int,
    error: float,
) -> Frame:
    data_s = airtime.frame_s(cell, airtime.data_bytes(cell, packet_bytes), rate_bps)
    exchange_s = airtime.exchange_s(cell, packet_bytes, rate_bps, response_bps, response_bps)
    return Frame(
        success_s=exchange_s + airtime.aifs_s(cell, aifsn),
        failure_s=data_s + airtime.eifs_s(cell, aifsn),
        error=float(error),
    )


def _law(tcp: Mapping[str, Any]) -> Law:
    segments = 2 if tcp["delayed_ack"] else 1
    limit = int(tcp["window_packets"])
    if tcp["congestion"] != "compound":
        return Law(limit, alpha=0.0, beta=0.5, segments_per_ack=segments)
    compound = tcp["compound"]
    return Law(
        limit,
        alpha=float(compound["alpha"]),
        kappa=float(compound["k"]),
        beta=float(compound["beta"]),
        gamma=float(compound["gamma_packets"]),
        segments_per_ack=segments,
    )
