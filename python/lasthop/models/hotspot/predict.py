"""Prediction of the hot-spot model for a scenario."""

from lasthop.answers.fairness import fairness_levels, jain
from lasthop.models.answer import Lists, Quantities, Values, item, prediction
from lasthop.models.cells import cell_scenario, is_aggregating
from lasthop.models.errors import Doubt, ModelError
from lasthop.models.hotspot import assumptions
from lasthop.models.hotspot.fairness import (
    download_goodput,
    goodput_by_direction,
    round_trip,
    updown_index,
    upload_goodput,
)
from lasthop.models.hotspot.lossless import solve_void_rounds
from lasthop.models.hotspot.options import Options
from lasthop.models.hotspot.picture import HotSpot, hot_spot
from lasthop.models.hotspot.station import Equilibrium, StationLoad
from lasthop.models.hotspot.wire import solve_with_wire, traffic
from lasthop.scenario.typed import CellScenario, Readable, Scenario, read

BUSY_WIRE = 0.8
"""Load of the wire above which queueing on the wire is no longer negligible. [-]"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario has a cell; `predict` raises an error about settings that the model
    does not support.
    """
    return isinstance(scenario, CellScenario)


def predict(scenario: Readable, options: Options | None = None) -> Quantities:
    """Predict the shares of stations and flows in a hot-spot.

    The model contains packets and ratios, but no time. It predicts shares, fairness levels, queues
    in packets and losses, but no rates in bit/s.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.
    options : Options, optional
        Options of the model, which are not part of a scenario.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Stations have ``goodput_share`` [-], ``fairness_level``
        (goodput of the first station with connections, divided by the station's goodput) [-] and
        ``queue_packets`` [packets], which the AP also has. Flows have ``goodput_share`` and
        ``loss_probability`` [-], the cell ``jain`` and ``updown_ratio`` [-], and queues
        ``occupancy_packets`` [packets] and ``drop_probability`` [-]. Other values are ``options``
        and the lists ``assumptions`` and ``warnings``. Unknown values are absent.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption of the model.
    ConvergenceError
        If a solver does not converge.
    """
    options = options or Options()
    known = read(scenario)
    if is_aggregating(known) and options.beta is None:
        raise ModelError(
            "cell",
            f"a cell of {known.cell.phy} sends several packets in one exchange; option `beta` sets "
            "how many a backlogged station sends per packet of the access point, as in a run",
        )
    scenario = cell_scenario(known, aggregates=True)
    warnings: list[Doubt | str] = [*assumptions.check_scenario(scenario)]
    if is_aggregating(scenario):
        warnings += assumptions.check_aggregates(scenario)
    spot = hot_spot(scenario, options.beta)
    warnings += assumptions.check_access(scenario.stations, spot.stations)
    at = solve_with_wire(spot)
    queues = at
    if at is None:
        queues = _void_rounds(spot)
        warnings.append(_no_other_root(spot.stations, queues))
    else:
        warnings += assumptions.check_equilibrium(scenario.stations, spot.stations, at)
        if is_aggregating(scenario) and at.loss > 0.0:
            raise ModelError(
                "a5",
                "aggregates empty the buffer, so that it is not full; expected that no packet is "
                "lost: a smaller `tcp.window`, such as 42, or a longer `cell.ap_queue`",
            )
        warnings += _check_wire_load(scenario.wire.slower_bps, spot, at)
    lists = _lists(scenario, spot, at, queues)
    return prediction("hotspot", scenario, lists, warnings, options=options.to_dict())


def _void_rounds(spot: HotSpot) -> Equilibrium | None:
    """Return the queues, computed by the approximation in footnote 18. The result is None if the
    wire has a delay or if the AP's buffer would overflow.
    """
    at = solve_void_rounds(spot.stations)
    return at if at.ap_queue < spot.ap_buffer and spot.wired_round_trip_s == 0.0 else None


def _no_other_root(stations: tuple[StationLoad, ...], queues: Equilibrium | None) -> Doubt:
    alone = sum(station.active for station in stations) == 1
    shares = "its share is trivial" if alone else "no share or fairness level is given"
    known = "queues are an approximation" if queues else "no queue is given"
    return (
        "section 3",
        "the balance of queues has no other root than an empty AP buffer (Q_ap = 0): the stations, "
        f"not the AP, are the bottleneck; {shares}, {known}",
    )


def _check_wire_load(rate_bps: float | None, spot: HotSpot, at: Equilibrium) -> list[Doubt]:
    if rate_bps is None:
        return []
    passing = traffic(spot, at)
    busiest = max(passing.wire_up_bytes, passing.wire_down_bytes)
    load = 8.0 * busiest / passing.ap_service_s / rate_bps
    if load >= 1.0:
        raise ModelError("a1", f"the cell would load the wire to {load:.2f} of its rate")
    if load >= BUSY_WIRE:
        return [("a1", f"the cell loads the wire to about {load:.2f} of its rate")]
    return []


def _lists(
    scenario: CellScenario, spot: HotSpot, at: Equilibrium | None, queues_from: Equilibrium | None
) -> Lists:
    stations: dict[str, Values] = {station.name: {} for station in scenario.stations}
    flows: dict[str, Values] = {flow.name: {} for flow in scenario.flows}
    ap: Values = {}
    queues: list[Quantities] = []
    # If only one station is active, it has the whole goodput. Its share is therefore correct for
    # any equilibrium.
    active = [station.active for station in spot.stations]
    shares_from = at
    if at is None and sum(active) == 1:
        shares_from = Equilibrium(1.0, 0.0, tuple(0.0 for _ in spot.stations))
    cell = item("cell")
    if shares_from is not None:
        cell = _add_shares(stations, flows, spot, shares_from)
    if queues_from is not None:
        ap = {"queue_packets": queues_from.ap_queue}
        queues = [_queue("ap", queues_from.ap_queue, queues_from.loss)]
        for (name, values), queue in zip(stations.items(), queues_from.station_queues, strict=True):
            values |= {"queue_packets": queue}
            queues.append(_queue(name, queue, 0.0))
        for flow in scenario.flows:
            flows[flow.name] |= {"loss_probability": 0.0 if flow.is_up else queues_from.loss}
    return {
        "flows": [
            item(flow.name, station=flow.station, direction=flow.direction, **flows[flow.name])
            for flow in scenario.flows
        ],
        "stations": [item(name, **values) for name, values in stations.items()],
        "aps": [item("ap", **ap)],
        "queues": queues,
        "cells": [cell],
    }


def _queue(name: str, occupancy: float, drop: float) -> Quantities:
    return item(name, occupancy_packets=occupancy, drop_probability=drop)


def _add_shares(
    stations: dict[str, Values], flows: dict[str, Values], spot: HotSpot, at: Equilibrium
) -> Quantities:
    """Add the goodput shares to the values of stations and flows; return the values of the cell."""
    up, down = goodput_by_direction(spot.stations, at)
    goodputs = [u + d for u, d in zip(up, down, strict=True)]
    total = sum(goodputs)
    # Fairness is computed only between stations with connections.
    competing = {name: own for name, own in zip(stations, goodputs, strict=True) if own > 0.0}
    levels = fairness_levels(competing)
    for own, (name, values) in zip(goodputs, stations.items(), strict=True):
        values |= {"goodput_share": own / total}
        if own > 0.0:
            values |= {"fairness_level": levels[name]}
    times = [
        round_trip(station, queue, at)
        for station, queue in zip(spot.stations, at.station_queues, strict=True)
    ]
    for entry, values in zip(spot.connections, flows.values(), strict=True):
        time = times[entry.station]
        if entry.upload:
            own = upload_goodput(entry.kind, time)
        else:
            own = download_goodput(entry.kind, time, at.loss)
        values |= {"goodput_share": own / total}
    has_both = sum(up) > 0.0 and sum(down) > 0.0
    ratio = updown_index(up, down) if has_both else None
    return item("cell", jain=jain(competing.values()), updown_ratio=ratio)
