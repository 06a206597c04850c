"""Assumptions of the model of a virtual shared bottleneck, and checks whether a scenario meets
them."""

from collections.abc import Iterator

from lasthop.models.cells import ADAPTS, PACED
from lasthop.models.checks import Check, Table, violations
from lasthop.models.dcf.airtime import aifs_s, exchange_s
from lasthop.models.errors import Doubt
from lasthop.scenario.typed import (
    AggregatingCell,
    CellScenario,
    Flow,
    SensorFlow,
    SharedBottleneck,
    Station,
    TcpFlow,
    UdpFlow,
)

BOTTLENECK: Table[SharedBottleneck] = (
    Check(
        "assumption 1",
        lambda vsb: vsb.rate_bps is None,
        "the rate is estimated, since `vsb.rate` is missing",
    ),
    Check(
        "assumption 1",
        lambda vsb: vsb.start_s > 0.0,
        "the bottleneck is not there from the start: `vsb.start` must be 0 s",
    ),
    Check(
        "assumption 5", lambda vsb: vsb.fairness != "station", '`vsb.fairness` is "{0.fairness}"'
    ),
)
"""Checks of the settings of the virtual shared bottleneck."""


def broken(scenario: CellScenario, vsb: SharedBottleneck) -> Iterator[Doubt]:
    """Yield each broken assumption of the model with the setting of the scenario that breaks it."""
    yield from violations(BOTTLENECK, vsb)
    if isinstance(scenario.cell, AggregatingCell):
        yield "assumption 2", f"a cell of {scenario.cell.phy} sends several packets in one exchange"
    for flow in scenario.flows:
        if isinstance(flow, SensorFlow) or (isinstance(flow, TcpFlow) and flow.web is not None):
            yield "assumption 3", f"flow {flow.name} does not send all the time"
        elif isinstance(flow, TcpFlow) and flow.is_paced:
            yield "assumption 3", f"flow {flow.name} is {PACED}"
        elif isinstance(flow, UdpFlow) and flow.adapts:
            yield "assumption 3", f"flow {flow.name} {ADAPTS}"
        elif isinstance(flow, UdpFlow) and flow.is_up and vsb.udp == "down":
            yield "assumption 3", f'flow {flow.name} bypasses the bottleneck: `vsb.udp` is "down"'
        if not flow.station or flow.forward or flow.back:
            yield "assumption 2", f"flow {flow.name} uses links other than the cell's wire"
    if scenario.wire.rate_bps is not None or scenario.wire.loss > 0.0:
        yield "assumption 2", "the wire has a rate or loses packets"
    for station in scenario.stations:
        if station.power_save_s is not None:
            yield "assumption 2", f"`{station.table}.power_save` delays packets"
        if station.channel_changes or scenario.cell.rate_control != "fixed":
            yield "assumption 2", f"the rate of station {station.name} changes"
        errors = (station.error_up, station.error_down, station.ack_error_up)
        if any(error > 0.0 for error in (*errors, station.ack_error_down)):
            yield "assumption 2", f"station {station.name} loses frames to the channel"


def airtime(scenario: CellScenario, flow: Flow, goodput_bps: float) -> float:
    """Return the fraction of time that the exchanges of a flow occupy the channel, without backoff
    and collisions. [-]
    """
    station = next(each for each in scenario.stations if each.name == flow.station)
    carried = flow.transport
    packets = goodput_bps / (8.0 * carried.payload_bytes)
    total = packets * taken_s(scenario, station, carried.packet_bytes, is_up=flow.is_up)
    if isinstance(flow, TcpFlow):
        acks = packets / flow.tcp.segments_per_ack
        total += acks * taken_s(scenario, station, flow.tcp.header_bytes, is_up=not flow.is_up)
    return total


def taken_s(scenario: CellScenario, station: Station, packet_bytes: int, *, is_up: bool) -> float:
    """Return the duration of the exchange of a packet to or from a station, including AIFS. [s]"""
    rate_bps = station.rate_bps if is_up else station.downlink_rate_bps
    control = station.uplink_control_bps if is_up else station.downlink_control_bps
    return exchange_s(scenario.cell, packet_bytes, rate_bps, *control) + aifs_s(scenario.cell, 2)
