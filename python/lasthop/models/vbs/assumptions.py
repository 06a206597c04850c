"""What the model assumes (sections III-B and IV), and where a scenario leaves it.

Broken assumptions raise :class:`~lasthop.models.errors.ModelError`, which names them all; a near
miss is a warning that the user must weigh.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lasthop.models.channels import changing
from lasthop.models.dcf import airtime
from lasthop.models.errors import ModelError
from lasthop.models.queues import PLAIN
from lasthop.models.vbs.cell import Cell
from lasthop.models.vbs.fixed_point import Solution, wire_is_long, wire_packets
from lasthop.models.vbs.options import Options
from lasthop.models.vbs.scenario import connections
from lasthop.models.vbs.window import LAWS

ASSUMPTIONS = (
    "assumption 1: the AP always has a packet to send; the cell, not the wire, is the bottleneck",
    "assumption 2: a lost TCP ACK costs nothing but the growth of the window",
    "section III-B: long-lived Compound, Reno or NewReno connections without SACK, basic access",
    "section IV-A: the window moves as a Markov chain; recovery as NewReno's",
    "section IV-B: attempts in a slot are independent; a station has one rate and quality",
    "section IV-C: the AP serves its packets in the order of arrival",
)
"""Sections III-B and IV of the paper."""

LEAST_QUEUE = 3.0
"""Packets in the AP's queue below which it is not saturated. [packets]"""

SHORT_QUEUE = 10.0
"""Packets in the AP's queue below which its saturation is doubted. [packets]"""

BUSY_WIRE, LOADED_WIRE = 0.95, 0.8
"""Load of the wire from which on it is the bottleneck, and doubted not to be. [-]"""

SATURATED = 0.9
"""Part of the slots in which a station contends from which on uploads wait at the stations. [-]"""

LEAST_ROOM = 4.0
"""Packets in queue and wire for each connection below which no loss is found by duplicate ACKs.
[packets]"""

ACKS_LOST = 0.05
"""Error probability of frames with TCP ACKs from which on assumption 2 is doubted. [-]"""

OFTEN = 1.0
"""Episodes of overflow in a round trip from which on they are none. [-]"""

Broken = tuple[str, str]


def check_scenario(scenario: Mapping[str, Any], options: Options) -> list[str]:
    """Warnings on what the scenario asks for, before it is solved.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.
    options : Options

    Raises
    ------
    ModelError
        The scenario breaks assumptions; all of them are named.
    """
    if not connections(scenario):
        raise ModelError("section III-B", "the scenario has no connection")
    broken = dict.fromkeys(
        one
        for check in (_flows, _queues, _shares, _access, _wire)
        for one in check(scenario, options)
    )
    if broken:
        (assumption, message), *more = broken
        raise ModelError(assumption, message, more)
    return list(dict.fromkeys(_doubts(scenario)))


def _flows(scenario: Mapping[str, Any], options: Options) -> Iterator[Broken]:
    groups = {station["name"]: station["group"] for station in scenario["stations"]}
    for flow in connections(scenario):
        tcp, up = flow.get("tcp"), flow["direction"] == "up"
        table = f"station.{groups[flow['station']]}"
        if tcp is None:
            key = f"{table}.udp_{'up' if up else 'down'}"
            yield "section III-B", f"long-lived TCP connections only, but `{key}` is UDP"
            continue
        key = f"{table}.{'upload' if up else 'download'}"
        if tcp["segments"] is not None:
            ends = f"`{key}.segments` = {tcp['segments']}"
            yield "section III-B", f"long-lived connections only, but {ends}"
        if tcp["congestion"] not in LAWS:
            what = f"but `{key}` runs {tcp['congestion']}"
            yield "section III-A", f"{', '.join(LAWS)} only, {what}"
        if tcp.get("sack"):
            yield "section IV-A", f"recovery without SACK only, but `{key}.sack` = true"
        if tcp.get("ecn"):
            yield "section IV-A", f"losses only, but `{key}.ecn` = true"
        if up and options.losses == "chain":
            what = f"the chain of Eq. (3) has no uploads, but `{key}` has"
            yield "section VI-C", what
        if flow.get("category", "best-effort") != "best-effort":
            yield "section III-B", f"DCF only, but `{key}.category` is {flow['category']}"


def _queues(scenario: Mapping[str, Any], _options: Options) -> Iterator[Broken]:
    windows: dict[str, int] = {}
    for flow in connections(scenario):
        if "tcp" in flow:
            windows[flow["station"]] = (
                windows.get(flow["station"], 0) + flow["tcp"]["window_packets"]
            )
    for station in scenario["stations"]:
        window, room = windows.get(station["name"], 0), station["queue_packets"]
        if window > room:
            what = f"`station.{station['group']}.queue` has room for {room} of its {window} packets"
            yield "section IV-C", what
        discipline = station.get("queue", {}).get("discipline", "drop_tail")
        if discipline not in PLAIN:
            what = f"`station.{station['group']}.queue.{discipline}` manages the queue"
            yield "section IV-C", f"{what}; the model knows drop-tail there"
    discipline = scenario["cell"]["ap"].get("queue", {}).get("discipline", "drop_tail")
    if discipline not in (*PLAIN, "vbs"):
        what = f"`cell.ap.queue.{discipline}` manages the queue"
        yield "section IV-C", f"{what}; the model knows drop-tail and virtual buffer sharing"
    if scenario["cell"]["ap"].get("queue_order", "fifo") != "fifo":
        yield "section IV-C", "`cell.ap.queue_order` is not fifo"


def _shares(scenario: Mapping[str, Any], _options: Options) -> Iterator[Broken]:
    queue = scenario["cell"]["ap"].get("queue", {})
    if queue.get("discipline") != "vbs":
        return
    classes = scenario["cell"].get("vbs_classes", [])
    shared = {name for one in classes for name in one["flows"]}
    for flow in connections(scenario):
        if flow["name"] not in shared:
            yield "section V", f"flow {flow['name']} is in no class that shares the AP's queue"
    if queue.get("algorithm") == "printed":
        what = "Algorithm 1 as printed also blocks while the queue is short"
        yield "section V", f"{what}: it has no steady state near c B"
    ups = any(flow["direction"] == "up" for flow in connections(scenario))
    if ups and queue.get("share_of") == "service":
        yield "section V", "shares of the service with uploads, which lost ACKs do not slow down"


def _access(scenario: Mapping[str, Any], _options: Options) -> Iterator[Broken]:
    cell = scenario["cell"]
    active = {flow["station"] for flow in connections(scenario)}
    stations = [one for one in scenario["stations"] if one["name"] in active]
    for node, table in ((cell["ap"], "cell.ap"), *((s, f"station.{s['group']}") for s in stations)):
        if node["aifsn"] != 2:
            yield "section III-B", f"DCF only, but `{table}.aifsn` = {node['aifsn']}"
        if node.get("txop_packets", 1) != 1 or node.get("txop_limit_s") is not None:
            yield "section III-B", f"one packet for each access, but `{table}` has a txop limit"
        if node["cwmin"] < 1:
            yield "section IV-B", f"`{table}.cwmin` = 0: the node never gives way"
    for what in changing(stations):
        yield "section IV-B", what
    if cell.get("rate_control", "fixed") != "fixed":
        what = f"`cell.rate_control` = {cell['rate_control']}"
        yield "section II-B", f"fixed rates only, but {what}"
    for flow in connections(scenario):
        tcp = flow.get("tcp")
        if tcp and airtime.uses_rts(cell, tcp["mss_bytes"] + tcp["header_bytes"]):
            yield "section VI", "basic access only, but `cell.rts_threshold` asks for RTS/CTS"
            return


def _wire(scenario: Mapping[str, Any], _options: Options) -> Iterator[Broken]:
    loss = scenario["wire"]["loss"]
    if loss > 0.0:
        yield "assumption 1", f"the wire loses packets, `wire.loss` = {loss:g}"


def _doubts(scenario: Mapping[str, Any]) -> Iterator[str]:
    flows = connections(scenario)
    reports = sum(1.0 / one["sensor"]["every_s"] for one in scenario["flows"] if "sensor" in one)
    if reports:
        yield f"section II: the reports of sensors, {reports:.3g} a second, are left out"
    late = sum(flow["start_s"] > scenario["warmup_s"] for flow in flows)
    if late:
        yield f"section III-B: flows that start after the warm-up, {late} of {len(flows)}"
    early = sum(
        flow["stop_s"] is not None and flow["stop_s"] < scenario["duration_s"] for flow in flows
    )
    if early:
        yield f"section III-B: flows that stop before the end, {early} of {len(flows)}"
    if scenario["cell"]["ack_timeout_s"] is not None:
        yield "section IV-B: colliding nodes are taken to wait for EIFS, not for `cell.ack_timeout`"
    if any(flow["tcp"].get("prr") or flow["tcp"].get("hystart") for flow in flows):
        yield "section IV-A: neither rate reduction nor HyStart++ is in the window's chain"
    if any(flow["tcp"].get("ack_processing_s", 0.0) > 0.0 for flow in flows):
        yield "section IV-B: the time that receivers take for an ACK is left out"
    stations = [one for one in scenario["stations"] if one.get("snr_db") is not None]
    if stations:
        yield "section IV-B: errors are those of full segments and ACKs at the nominal rates"


def check_cell(cell: Cell, options: Options) -> list[str]:
    """Warnings on the cell in the model's terms, before it is solved.

    Raises
    ------
    ModelError
        It breaks assumptions.
    """
    part = cell.occupancy if cell.targets else 1.0
    room = (part * cell.buffer_packets + wire_packets(cell)) / float(cell.counts.sum())
    if room < LEAST_ROOM and not any(cell.uploads):
        raise ModelError(
            "section IV-A",
            f"queue and wire have room for {room:.1f} packets of each connection; below "
            f"{LEAST_ROOM:.0f} every loss ends in a timeout, and the window is no chain",
        )
    return list(_doubts_on_cell(cell, options))


def _doubts_on_cell(cell: Cell, options: Options) -> Iterator[str]:
    if any(one.up.error >= ACKS_LOST for one in cell.classes if not one.upload):
        yield (
            "assumption 2: ACKs held up by channel errors find the queue full more often when they "
            "call for data; their class gets up to a tenth less than predicted"
        )
    held = wire_packets(cell)
    bursts = options.losses == "bursts" and not any(cell.uploads)
    if bursts and held >= 1.0 and not wire_is_long(cell):
        yield (
            f"section IV-C: the wire holds {held:.0f} packets, about as many as a connection has "
            "in the queue; who loses packets then depends on their order, and a class with channel "
            "errors gets up to a sixth less than predicted"
        )
    if any(cell.uploads) and options.losses == "bursts":
        yield (
            "section VI-C: uploads beside downloads are beyond the paper; solved with losses that "
            "meet all packets alike: uploads come out up to a tenth too low, downloads up to a "
            "fifth, and are a guess where they starve"
        )


def check_solution(scenario: Mapping[str, Any], found: Solution, wire_load: float) -> list[str]:
    """Warnings on the solution.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.
    found : Solution
    wire_load : float
        Load of the wire's busier direction. [-]

    Raises
    ------
    ModelError
        The solution breaks an assumption.
    """
    if found.occupancy < LEAST_QUEUE:
        raise ModelError(
            "assumption 1",
            f"the windows leave {found.occupancy:.1f} packets for the AP's queue: it is not "
            "always backlogged, and the cell not the bottleneck",
        )
    if wire_load >= BUSY_WIRE:
        raise ModelError(
            "assumption 1", f"the cell would load the wire to {wire_load:.2f} of `wire.rate`"
        )
    return list(_near_misses(found, wire_load))


def _near_misses(found: Solution, wire_load: float) -> Iterator[str]:
    if found.occupancy < SHORT_QUEUE:
        yield f"assumption 1: the AP's queue holds {found.occupancy:.1f} packets only"
    if wire_load >= LOADED_WIRE:
        yield f"assumption 1: the cell loads the wire to about {wire_load:.2f} of its rate"
    if found.contention.busy.max() >= SATURATED:
        yield "section IV-B: a station contends nearly always; uploads then wait at the station"
    if found.episode_rates.max() >= OFTEN:
        yield (
            "section IV-C: the AP's queue overflows in every round trip, so that episodes of "
            "overflow run into each other"
        )
