"""Prediction of the vbs model for a scenario."""

from collections.abc import Sequence

import numpy as np

from lasthop.answers.fairness import fairness_levels
from lasthop.models.answer import CellValues, Lists, Quantities, Values, item, prediction
from lasthop.models.cells import cell_scenario, is_cell
from lasthop.models.errors import ModelError
from lasthop.models.vbs.assumptions import (
    check_cell,
    check_channel,
    check_scenario,
    check_solution,
)
from lasthop.models.vbs.fixed_point import Solution, solutions
from lasthop.models.vbs.options import Options
from lasthop.models.vbs.picture import Picture, connections, picture_of
from lasthop.scenario.queues import Vbs
from lasthop.scenario.typed import CellScenario, Flow, Readable, Scenario, Station, VbsClass


def predict(scenario: Readable, options: Options | None = None) -> Quantities:
    """Predict goodput, windows and losses of TCP connections in a cell with channel errors.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.
    options : Options, optional
        Choices where the paper leaves a rule open; by default the rules of lasthop's simulation
        engine.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Flows have ``goodput_bps`` [bit/s], ``goodput_share``
        [-], ``cwnd_packets`` [packets], ``loss_probability`` [-] and ``rtt_s`` [s]. Stations and
        the AP have ``collision_rate``, ``frame_failure_rate`` and ``discard_probability`` [-], and
        the AP and its queue also have the mean occupancy [packets] and ``drop_probability``. The
        cell has ``goodput_bps``, ``jain``, ``updown_ratio`` and ``active_stations``, and classes
        that share the AP's queue have their shares. Other values are ``solutions`` (number of fixed
        points that the starting points lead to), ``options``, and the lists ``assumptions`` and
        ``warnings``.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption of the model.
    ConvergenceError
        If the components do not converge.
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
        dict.fromkeys(warnings),
        solutions=len(result),
        options=options.to_dict(),
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
    """Return whether the channel destroys some frames of a station."""
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
    mac, rtts_s = solution.contention, solution.rtt_s
    offered = np.array([response.sent for response in solution.responses]) / rtts_s
    offered = offered * picture.cell.counts
    flows = _flows(scenario, picture, solution)
    values = CellValues(scenario, sum(goodput_bps for _, goodput_bps, _ in flows))
    values.flows = flows
    goodputs = dict.fromkeys(picture.station_of, 0.0)
    for flow, goodput_bps, _ in flows:
        goodputs[flow.station] += goodput_bps
    levels = fairness_levels(goodputs)
    for name, k in picture.station_of.items():
        values.stations[name] = values.shares(goodputs[name]) | {
            "fairness_level": levels[name],
            "collision_rate": mac.station_collisions[k],
            "frame_failure_rate": mac.station_failures[k],
            "discard_probability": mac.discards_by_station[k],
        }
    values.ap = {
        "collision_rate": mac.ap_collision,
        "frame_failure_rate": mac.ap_failure,
        "discard_probability": mac.ap_discard,
        "queue_packets": solution.occupancy,
    }
    queue = item(
        "ap",
        occupancy_packets=solution.occupancy,
        drop_probability=float(offered @ solution.overflow / offered.sum()),
        sojourn_s=solution.occupancy / mac.service_rate,
    )
    lists = values.lists(mac.active)
    cells = lists.pop("cells")
    lists |= {"queues": [queue], "cells": cells}
    if picture.cell.targets:
        lists |= {"classes": _classes(scenario.cell.vbs_classes, picture, solution, values)}
    return lists


def _flows(
    scenario: CellScenario, picture: Picture, solution: Solution
) -> list[tuple[Flow, float, Values]]:
    mac, classes = solution.contention, picture.cell.classes
    payload_bits = [8.0 * each.payload_bytes for each in classes]
    total_bps = float(picture.cell.counts @ (solution.goodput * payload_bits))
    flows: list[tuple[Flow, float, Values]] = []
    for flow in scenario.tcp_flows:
        k = picture.class_of[flow.name]
        goodput_bps, overflow = solution.goodput[k] * payload_bits[k], solution.overflow[k]
        if classes[k].upload:
            loss = mac.station_discards[k]
        else:
            loss = overflow + (1.0 - overflow) * mac.ap_discards[k]
        values = {
            "goodput_share": goodput_bps / total_bps,
            "rtt_s": solution.rtt_s[k],
            "cwnd_packets": solution.responses[k].cwnd,
            "loss_probability": loss,
        }
        flows.append((flow, float(goodput_bps), values))
    return flows


def _classes(
    classes: Sequence[VbsClass], picture: Picture, solution: Solution, values: CellValues
) -> list[Quantities]:
    goodput = {flow.name: goodput_bps for flow, goodput_bps, _ in values.flows}
    items: list[Quantities] = []
    for each in classes:
        # Flows of sensors have no goodput here and are left out.
        members = [name for name in each.flows if name in goodput]
        if not members:
            continue
        own = sum(goodput[name] for name in members)
        kinds = sorted({picture.class_of[name] for name in members})
        share = float(solution.shares[kinds].sum())
        offered = np.array(
            [solution.responses[k].sent * picture.cell.counts[k] / solution.rtt_s[k] for k in kinds]
        )
        drop = offered @ solution.overflow[kinds] / offered.sum()
        items.append(
            item(
                each.name,
                **values.shares(own),
                queue_share=share,
                occupancy_packets=share * solution.occupancy,
                drop_probability=drop,
            )
        )
    return items
