"""What the model assumes (section 3.1), and where a scenario leaves it.

A broken assumption raises :class:`~lasthop.models.errors.ModelError`; a near miss is a warning
that the user must weigh.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lasthop.models.edca.cell import Cell
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import Performance, packets_held_together
from lasthop.models.errors import ModelError

ASSUMPTIONS = (
    "a1: queues overflow neither at the AP nor at a station",
    "a2: every TCP segment is acknowledged at once",
    "a3: an ideal channel, no lost frame and no lost packet",
    "a4: every connection has its whole window outstanding; the stations have equal windows",
    "a5: no processing delay, and the wire holds no packets",
    "section 2.2: p-persistent backoff; stations have equal access parameters",
    "section 4: the AP's queue is randomly mixed",
)
"""Section 3.1 of the paper, and what its sections 2.2 and 4 add."""

OVERFLOW = 1e-6
"""Part of the time with a queue above the AP's limit from which on a1 is broken. [-]"""

DISCARD_DOUBTED, DISCARD_BROKEN = 1e-4, 2e-2
"""Probability that a frame is given up from which on a3 is doubted, and broken. [-]"""

SMALL_WINDOW = 15
"""CWmin below which p-persistent backoff is no longer exponential backoff's equal. [slots]"""

HELD_ELSEWHERE = 0.5
"""Packets delayed over packets in the AP's queue, and load of the wire, from which on a5 is
broken. [-]"""

BEST_EFFORT = "best-effort"
"""Access category of flows that name none."""


def active_stations(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Stations that have flows; the others never contend."""
    with_flows = {flow["station"] for flow in scenario["flows"]}
    return [station for station in scenario["stations"] if station["name"] in with_flows]


def check_scenario(scenario: Mapping[str, Any]) -> Iterator[str]:
    """Warnings on what the scenario asks for, before it is solved.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.

    Yields
    ------
    str
        A near miss, beginning with the assumption's number.

    Raises
    ------
    ModelError
        The scenario breaks an assumption.
    """
    flows, cell = scenario["flows"], scenario["cell"]
    if not flows:
        raise ModelError("a4", "the scenario has no connection")
    for flow in flows:
        _check_flow(flow)
    _check_channel(scenario)
    _check_alike(scenario)
    _check_rts(scenario)
    late = sum(flow["start_s"] > scenario["warmup_s"] for flow in flows)
    if late:
        yield f"a4: flows that start after the warm-up, {late} of {len(flows)}"
    early = sum(
        flow["stop_s"] is not None and flow["stop_s"] < scenario["duration_s"] for flow in flows
    )
    if early:
        yield f"a4: flows that stop before the end, {early} of {len(flows)}"
    if cell["ack_timeout_s"] is not None:
        yield "section 2.2: colliding nodes are taken to wait for EIFS, not for `cell.ack_timeout`"
    accesses = [cell["ap"], *scenario["stations"]]
    limited = any(access.get("txop_limit_s") is not None for access in accesses)
    if cell.get("cf_end") and limited:
        yield "section 4: the time that CF-End frames take is left out"


def _check_flow(flow: Mapping[str, Any]) -> None:
    name, tcp = flow["name"], flow.get("tcp")
    if tcp is None:
        raise ModelError("a4", f"flow `{name}` is UDP; the model knows TCP only")
    if tcp["segments"] is not None:
        raise ModelError("a4", f"flow `{name}` ends after {tcp['segments']} segments")
    if tcp["delayed_ack"]:
        raise ModelError("a2", f"flow `{name}` delays its ACKs")


def _check_channel(scenario: Mapping[str, Any]) -> None:
    loss = scenario["wire"]["loss"]
    if loss > 0.0:
        raise ModelError("a3", f"the wire loses packets, `wire.loss` = {loss:g}")
    for station in active_stations(scenario):
        for key in ("error_up", "error_down"):
            if station[key] > 0.0:
                where = f"station `{station['name']}`"
                raise ModelError("a3", f"{where} has channel errors, {key} = {station[key]:g}")


def _check_alike(scenario: Mapping[str, Any]) -> None:
    """Flows of one category, stations with equal windows that fit; see `cell_of` for access."""
    stations, flows = active_stations(scenario), scenario["flows"]
    categories = sorted({flow.get("category", BEST_EFFORT) for flow in flows})
    if len(categories) > 1:
        raise ModelError("section 2.1", f"flows of several categories: {', '.join(categories)}")
    first = stations[0]
    windows = {station["name"]: 0 for station in stations}
    for flow in flows:
        windows[flow["station"]] += flow["tcp"]["window_packets"]
    for name, window in windows.items():
        if window != windows[first["name"]]:
            raise ModelError(
                "a4",
                f"stations `{first['name']}` and `{name}` have windows of "
                f"{windows[first['name']]} and {window} packets; the chain needs equal ones",
            )
    for station in stations:
        if windows[station["name"]] > station["queue_packets"]:
            raise ModelError(
                "a1",
                f"station `{station['name']}` has room for {station['queue_packets']} of its "
                f"{windows[station['name']]} packets",
            )


def check_performance(
    scenario: Mapping[str, Any], cell: Cell, found: Performance, options: Options
) -> Iterator[str]:
    """Warnings on the solution.

    Raises
    ------
    ModelError
        The solution breaks an assumption.
    """
    yield from _check_ap_queue(scenario, found)
    yield from _check_delays(scenario, found)
    for who, access, discard in (
        ("the AP", cell.ap_access, found.ap_discard),
        ("a station", cell.station_access, found.station_discard),
    ):
        what = f"{who} gives up a frame with probability {discard:.1g} ({access.attempts} attempts)"
        if discard >= DISCARD_BROKEN:
            raise ModelError("a3", what)
        if discard >= DISCARD_DOUBTED:
            yield f"a3: {what}"
    smallest = min(access.cwmin for access in _backing_off(cell, found))
    if smallest < SMALL_WINDOW:
        yield (
            f"section 2.2: CWmin {smallest} is below {SMALL_WINDOW}; exponential backoff then "
            "favours the last winner, which p-persistent backoff does not"
        )
    yield from _check_order(cell, found, options)


def _backing_off(cell: Cell, found: Performance) -> Sequence[Any]:
    """Access parameters of the nodes whose backoff matters: not those of an AP always first."""
    if found.solver == "pifs":
        return [cell.station_access]
    return [cell.station_access, cell.ap_access]


def _check_ap_queue(scenario: Mapping[str, Any], found: Performance) -> Iterator[str]:
    limit = scenario["cell"]["ap"]["queue_packets"]
    queue, time = found.queue_time
    if queue.max() <= limit:
        return
    above = float(np.sum(time[queue > limit]))
    what = f"the windows do not fit the AP's queue of {limit}, which would be exceeded"
    if above > OVERFLOW:
        raise ModelError("a1", f"{what} for {above:.2g} of the time")
    yield f"a1: {what} for {above:.1g} of the time"


def _check_delays(scenario: Mapping[str, Any], found: Performance) -> Iterator[str]:
    wire = scenario["wire"]
    processing_s = max(flow["tcp"].get("ack_processing_s", 0.0) for flow in scenario["flows"])
    for where, delay_s in (
        ("the wire", 2.0 * wire["delay_s"]),
        ("TCP ACK processing", processing_s),
    ):
        if delay_s > 0.0:
            held = delay_s * found.packet_rate
            what = f"{where} would hold {held:.1f} packets, the AP's queue {found.ap_queue:.1f}"
            if held >= HELD_ELSEWHERE * found.ap_queue:
                raise ModelError("a5", f"{what}: the cell is not the bottleneck")
            yield f"a5: {what}"
    if wire["rate_bps"] is not None and found.goodput_bps >= HELD_ELSEWHERE * wire["rate_bps"]:
        raise ModelError(
            "a5", f"the cell would load the wire to {found.goodput_bps / wire['rate_bps']:.2f}"
        )


def _check_rts(scenario: Mapping[str, Any]) -> None:
    cell = scenario["cell"]
    nodes = [cell["ap"], *active_stations(scenario)]
    bursts = any(
        node.get("txop_packets", 1) != 1 or node.get("txop_limit_s") is not None for node in nodes
    )
    if bursts and cell["rts_threshold_bytes"] is not None:
        raise ModelError("section 4", "RTS in a transmission opportunity of several packets")


def _check_order(cell: Cell, found: Performance, options: Options) -> Iterator[str]:
    txop = max(cell.ap_access.txop_packets, cell.station_access.txop_packets) > 1
    if not txop:
        return
    bursts = min(cell.station_access.txop_packets, cell.window) > 1
    ordered = (options.ap_queue or cell.ap_queue) == "fifo"
    if ordered and bursts and packets_held_together(cell) == 1:
        yield (
            "section 4: the stations' TXOP limit does not divide the window and the AP's limit; "
            "solved for a mixed AP queue, whose goodput is up to about 2 % below a FIFO queue's"
        )
    if found.solver == "lumped":
        yield "section 4.1: with TXOP the lumped chain is accurate to about 0.5 % in goodput"
