"""From a scenario to a prediction of the model."""

from collections.abc import Sequence

import numpy as np

from lasthop.answers.fairness import fairness_levels
from lasthop.models.answer import Lists, Quantities, cell_item, estimate, prediction
from lasthop.models.cells import cell_scenario, is_cell
from lasthop.models.errors import ModelError
from lasthop.models.vbs.assumptions import (
    ASSUMPTIONS,
    check_cell,
    check_channel,
    check_scenario,
    check_solution,
)
from lasthop.models.vbs.fixed_point import Solution, solutions
from lasthop.models.vbs.options import Options
from lasthop.models.vbs.picture import Picture, connections, picture_of
from lasthop.scenario.queues import Vbs
from lasthop.scenario.typed import CellScenario, Readable, Scenario, Station, VbsClass


def predict(scenario: Readable, options: Options | None = None) -> Quantities:
    """Predict goodput, windows and losses of TCP connections in a cell with channel errors.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, read or to be read.
    options : Options, optional
        Readings of the paper; by default what the engine does.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Flows have ``goodput_bps`` [bit/s], ``goodput_share``
        [-], ``cwnd_packets`` [packets], ``loss_probability`` [-] and ``rtt_s`` [s]. Stations and
        the AP have ``collision_rate``, ``frame_failure_rate`` and ``discard_probability`` [-], the
        AP and its queue also the mean occupancy [packets] and ``drop_probability``. The cell has
        ``goodput_bps``, ``jain``, ``updown_ratio`` and ``active_stations``, and classes that share
        the AP's queue have their shares. Other values are ``solutions`` (number of fixed points
        that the starting points lead to), ``options``, and the lists ``assumptions`` and
        ``warnings``.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    ConvergenceError
        The components did not settle.
    """
    scenario = cell_scenario(scenario)
    options = options or Options()
    warnings = check_scenario(scenario, options)
    picture = picture_of(scenario)
    warnings += check_cell(picture.cell, options)
    result = solutions(picture.cell, options)
    for each in result:
        warnings += check_solution(each, _wire_load(scenario, picture, each))
    check_channel(picture.cell)
    if len(result) > 1:
        others = "; ".join(
            ", ".join(f"{rate:.1f}/s" for rate in each.goodput) for each in result[1:]
        )
        warnings.append(
            (
                "section IV-D",
                f"{len(result)} fixed points, of which the first is shown, that of equal shares at "
                f"the start; goodputs per connection by class elsewhere: {others}",
            )
        )
    return prediction(
        "vbs",
        scenario,
        _lists(scenario, picture, result[0]),
        solutions=len(result),
        options=options.to_dict(),
        assumptions=ASSUMPTIONS,
        warnings=dict.fromkeys(warnings),
    )


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario has a shared queue, or meets all assumptions of this model and has
    channel errors or Compound TCP."""
    if not is_cell(scenario):
        return False
    known = cell_scenario(scenario)
    if isinstance(known.cell.ap.queue, Vbs):
        return True
    active = {flow.station for flow in connections(known)}
    errors = any(loses_frames(station) for station in known.stations if station.name in active)
    if not errors and all(flow.tcp.congestion != "compound" for flow in known.tcp_flows):
        return False
    options = Options()
    try:
        check_scenario(known, options)
        check_cell(picture_of(known).cell, options)
    except ModelError:
        return False
    return True


def loses_frames(station: Station) -> bool:
    """Return whether the channel destroys some kind of a station's frames."""
    errors = (station.error_up, station.error_down, station.ack_error_up, station.ack_error_down)
    return any(error > 0.0 for error in errors)


def _wire_load(scenario: CellScenario, picture: Picture, solution: Solution) -> float:
    rate = scenario.wire.slower_bps
    if rate is None:
        return 0.0
    down = up = 0.0
    for flow in scenario.tcp_flows:
        k = picture.class_of[flow.name]
        segments = solution.goodput[k]
        data = 8.0 * segments * flow.tcp.packet_bytes
        acks = 8.0 * segments * flow.tcp.header_bytes / flow.tcp.segments_per_ack
        down += acks if flow.is_up else data / (1.0 - solution.overflow[k])
        up += data if flow.is_up else acks
    return float(max(down, up) / rate)


def _lists(scenario: CellScenario, picture: Picture, solution: Solution) -> Lists:
    flows = _flows(scenario, picture, solution)
    total = sum(flow["goodput_bps"]["mean"] for flow in flows)
    stations = _stations(scenario.stations, picture, solution, flows, total)
    mac = solution.contention
    offered = (
        np.array([response.sent for response in solution.responses])
        / solution.rtt_s
        * picture.cell.counts
    )
    drop = float(offered @ solution.overflow / offered.sum())
    ap: Quantities = {
        "name": "ap",
        "collision_rate": estimate(mac.ap_collision),
        "frame_failure_rate": estimate(mac.ap_failure),
        "discard_probability": estimate(mac.ap_discard),
        "queue_packets": estimate(solution.occupancy),
    }
    queue: Quantities = {
        "name": "ap",
        "occupancy_packets": estimate(solution.occupancy),
        "drop_probability": estimate(drop),
        "sojourn_s": estimate(solution.occupancy / mac.service_rate),
    }
    cell = cell_item(total, mac.active, stations, flows)
    lists = {
        "flows": flows,
        "stations": stations,
        "aps": [ap],
        "queues": [queue],
        "cells": [cell],
    }
    if picture.cell.targets:
        lists["classes"] = _classes(scenario.cell.vbs_classes, picture, solution, flows, total)
    return lists


def _flows(scenario: CellScenario, picture: Picture, solution: Solution) -> list[Quantities]:
    cell, mac = picture.cell, solution.contention
    payload = [8.0 * each.payload_bytes for each in cell.classes]
    total = float(cell.counts @ (solution.goodput * payload))
    items: list[Quantities] = []
    for flow in scenario.tcp_flows:
        k = picture.class_of[flow.name]
        goodput = solution.goodput[k] * payload[k]
        if cell.classes[k].upload:
            loss = mac.station_discards[k]
        else:
            loss = solution.overflow[k] + (1.0 - solution.overflow[k]) * mac.ap_discards[k]
        items.append(
            {
                "name": flow.name,
                "station": flow.station,
                "direction": flow.direction,
                "goodput_bps": estimate(goodput),
                "goodput_share": estimate(goodput / total),
                "rtt_s": estimate(solution.rtt_s[k]),
                "cwnd_packets": estimate(solution.responses[k].cwnd),
                "loss_probability": estimate(loss),
            }
        )
    return items


def _stations(
    nodes: Sequence[Station],
    picture: Picture,
    solution: Solution,
    flows: list[Quantities],
    total: float,
) -> list[Quantities]:
    goodput = dict.fromkeys(picture.station_of, 0.0)
    for flow in flows:
        goodput[flow["station"]] += flow["goodput_bps"]["mean"]
    mac = solution.contention
    levels = fairness_levels(goodput)
    items: list[Quantities] = []
    for node in nodes:
        item: Quantities = {"name": node.name}
        if node.name in goodput:
            k, own = picture.station_of[node.name], goodput[node.name]
            item["goodput_bps"] = estimate(own)
            item["goodput_share"] = estimate(own / total)
            item["fairness_level"] = estimate(levels[node.name])
            item["collision_rate"] = estimate(mac.station_collisions[k])
            item["frame_failure_rate"] = estimate(mac.station_failures[k])
            item["discard_probability"] = estimate(mac.discards_by_station[k])
        items.append(item)
    return items


def _classes(
    classes: Sequence[VbsClass],
    picture: Picture,
    solution: Solution,
    flows: list[Quantities],
    total: float,
) -> list[Quantities]:
    goodput = {flow["name"]: flow["goodput_bps"]["mean"] for flow in flows}
    items: list[Quantities] = []
    for each in classes:
        members = [name for name in each.flows if name in goodput]  # without the reports of sensors
        if not members:
            continue
        own = sum(goodput[name] for name in members)
        kinds = sorted({picture.class_of[name] for name in members})
        share = float(solution.shares[kinds].sum())
        offered = np.array(
            [solution.responses[k].sent * picture.cell.counts[k] / solution.rtt_s[k] for k in kinds]
        )
        items.append(
            {
                "name": each.name,
                "goodput_bps": estimate(own),
                "goodput_share": estimate(own / total),
                "queue_share": estimate(share),
                "occupancy_packets": estimate(share * solution.occupancy),
                "drop_probability": estimate(offered @ solution.overflow[kinds] / offered.sum()),
            }
        )
    return items
