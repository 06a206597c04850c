"""Prediction for a scenario with a virtual shared bottleneck."""

from collections.abc import Mapping, Sequence
from math import inf

from lasthop.models.answer import Lists, Quantities, cell_item, item, prediction
from lasthop.models.bottleneck.assumptions import airtime, broken
from lasthop.models.bottleneck.shares import Party, of_flows, shared
from lasthop.models.cells import active_stations
from lasthop.models.errors import Doubt, ModelError, refuse
from lasthop.scenario.typed import (
    CellScenario,
    Flow,
    Readable,
    Scenario,
    SharedBottleneck,
    TcpFlow,
    UdpFlow,
    read,
)

MAX_AIRTIME = 0.8
"""Air time fraction, without backoff, above which the WLAN may be unable to carry the rate of the
bottleneck. [-]
"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario has a cell with a virtual shared bottleneck in front of it."""
    return isinstance(scenario, CellScenario) and bool(scenario.vsb)


def predict(scenario: Readable) -> Quantities:
    """Predict the goodput of flows, stations and the cell after a bottleneck of fixed rate.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: of each flow and station ``goodput_bps`` [bit/s] and
        ``goodput_share`` [-]; of the cell ``goodput_bps``, ``jain`` and ``updown_ratio``; the lists
        ``assumptions`` and ``warnings``.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    """
    known = read(scenario)
    if not isinstance(known, CellScenario) or not known.vsb:
        raise ModelError("assumption 1", "the scenario has no `[vsb]`")
    refuse(broken(known, known.vsb))
    rates = _rates(known, known.vsb)
    goodputs = {
        flow.name: rates[flow.name] * flow.transport.payload_bytes / _bytes(flow)
        for flow in known.flows
    }
    busy = sum(airtime(known, flow, goodputs[flow.name]) for flow in known.flows)
    if busy > 1.0:
        what = f"the exchanges of these shares would take {100 * busy:.0f} % of the time"
        raise ModelError("assumption 2", what)
    warnings: list[Doubt] = list(_limited(known, rates))
    if busy > MAX_AIRTIME:
        what = f"the exchanges take {100 * busy:.0f} % of the time, without backoff and collisions"
        warnings.append(("assumption 2", what))
    return prediction("bottleneck", known, _lists(known, goodputs), warnings)


def _lists(scenario: CellScenario, goodputs: Mapping[str, float]) -> Lists:
    total = sum(goodputs.values())

    def shared(name: str, goodput_bps: float, direction: str | None = None) -> Quantities:
        share = goodput_bps / total if total > 0.0 else None
        return item(name, goodput_bps=goodput_bps, goodput_share=share, direction=direction)

    by_station: dict[str, float] = {station.name: 0.0 for station in active_stations(scenario)}
    for flow in scenario.flows:
        by_station[flow.station] += goodputs[flow.name]
    flows = [(flow, goodputs[flow.name]) for flow in scenario.flows]
    return {
        "flows": [shared(flow.name, goodput_bps, flow.direction) for flow, goodput_bps in flows],
        "stations": [shared(name, goodput_bps) for name, goodput_bps in by_station.items()],
        "cells": [cell_item(total, len(by_station), by_station.values(), flows)],
    }


def _limited(scenario: CellScenario, rates: dict[str, float]) -> list[Doubt]:
    """Return warnings about TCP connections whose receive windows are too small for their predicted
    rates.
    """
    round_trip_s = 2.0 * scenario.wire.delay_s
    results = []
    for flow in scenario.tcp_flows:
        most_bits = 8.0 * flow.tcp.window_packets * flow.tcp.packet_bytes
        if most_bits < rates[flow.name] * round_trip_s:
            results.append(("assumption 4", f"flow {flow.name} is limited by `window`"))
    return results


def _bytes(flow: Flow) -> float:
    """Return the number of bytes that pass the bottleneck for each data packet of a flow, including
    the bytes of the packet's TCP ACK. [bytes]
    """
    size = float(flow.transport.packet_bytes)
    if isinstance(flow, TcpFlow):
        size += flow.tcp.header_bytes / flow.tcp.segments_per_ack
    return size


def _demand_bps(flow: Flow) -> float:
    """Return the demand of a flow, headers included; infinite for TCP. [bit/s]"""
    if isinstance(flow, UdpFlow) and flow.udp.arrivals != "greedy":
        return flow.udp.rate_bps * flow.udp.packet_bytes / flow.udp.payload_bytes
    return inf


def _rates(scenario: CellScenario, vsb: SharedBottleneck) -> dict[str, float]:
    """Return the rate at which each flow uses the bottleneck, including headers and TCP ACKs.
    [bit/s]
    """
    flows_of = {
        station.name: [flow for flow in scenario.flows if flow.station == station.name]
        for station in scenario.stations
    }
    stations = [name for name, flows in flows_of.items() if flows]
    demand = {name: sum(map(_demand_bps, flows_of[name])) for name in stations}
    members, parties = _parties(vsb, stations, demand)
    results: dict[str, float] = {}
    for names, rates in zip(members, shared(vsb.rate_bps or 0.0, parties), strict=True):
        for name, rate in zip(names, rates, strict=True):
            own = flows_of[name]
            parts = of_flows(rate, [_demand_bps(flow) for flow in own])
            results.update(zip((flow.name for flow in own), parts, strict=True))
    return results


def _parties(
    vsb: SharedBottleneck, stations: Sequence[str], demand: dict[str, float]
) -> tuple[list[list[str]], list[Party]]:
    """Return two lists: the names of the stations of each party, and the parties. A party is a
    group, or a single station that belongs to no group.
    """
    groups = vsb.groups
    members = [[name for name in group.stations if name in demand] for group in groups]
    named = {name for names in members for name in names}
    parties = [
        Party(group.share, group.max_bps or inf, [demand[name] for name in names])
        for group, names in zip(groups, members, strict=True)
    ]
    alone = [name for name in stations if name not in named]
    members += [[name] for name in alone]
    parties += [Party(1.0, inf, [demand[name]]) for name in alone]
    remaining = [k for k, names in enumerate(members) if names]
    return [members[k] for k in remaining], [parties[k] for k in remaining]
