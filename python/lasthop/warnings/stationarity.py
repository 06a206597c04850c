"""Checks whether a simulation was in a steady state while it was measured.

Means over a transient do not describe a steady state. Two signs of a transient need no further
simulation: a warm-up of few round-trip times, and different goodputs in the two halves of the
measured time. The second sign is ignored if the scenario itself changes with time.
"""

import json
from collections.abc import Iterator, Mapping
from math import ceil, floor, log10
from typing import Any

from lasthop.answers.digits import estimate
from lasthop.answers.summary import estimates_in
from lasthop.errors import listed
from lasthop.scenario.typed import CellScenario, CsmaScenario, Scenario, SensorFlow, TcpFlow

__all__ = ["ROUND_TRIPS", "enough_s", "unsteady_runs"]

ROUND_TRIPS = 10.0
"""Minimum number of round-trip times in a warm-up. Slow start doubles the window in each round-trip
time. [-]
"""

APART = 0.02
"""Largest ignored difference between the goodputs of the two halves, divided by their mean. [-]"""

WAYS = {"up": "of uploads", "down": "of downloads", "other": "of all flows"}
"""Directions whose goodputs are compared, with their phrases in warnings."""


def unsteady_runs(scenario: Scenario, summary: Mapping[str, Any], halves_json: str) -> list[str]:
    """Return warnings if values were measured before a steady state.

    Parameters
    ----------
    scenario : Scenario
        Simulated scenario.
    summary : mapping
        Summary of the result.
    halves_json : str
        Goodput of each direction in both halves of the measured time, with intervals; null if
        nothing was measured. [bit/s]
    """
    results = list(_short_warmup(scenario, summary))
    halves = json.loads(halves_json)
    if halves is not None and not _changes(scenario):
        results += _halves_apart(scenario, halves)
    return results


def _short_warmup(scenario: Scenario, summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning about flows for which the warm-up contains too few round-trip times."""
    lasting = _lasting(scenario)
    rtts = estimates_in(summary, "flows", "rtt_s")
    late = {
        name: rtt.mean
        for name, rtt in rtts.items()
        if name in lasting and ROUND_TRIPS * rtt.mean > scenario.warmup_s
    }
    if not late:
        return
    longest = max(late, key=late.__getitem__)
    yield (
        f"`warmup` = {scenario.warmup_s:g} s is shorter than {ROUND_TRIPS:g} round trips of "
        f"{listed(list(late))}, of {late[longest]:.2g} s: means may be of the start; "
        f"{enough_s(late[longest]):g} s is long enough"
    )


def _lasting(scenario: Scenario) -> set[str]:
    """Return the names of the TCP flows that begin during the warm-up and never end."""
    if isinstance(scenario, CsmaScenario):
        return {flow.name for flow in scenario.csma.flows if flow.tcp is not None}
    return {
        flow.name
        for flow in scenario.tcp_flows
        if flow.web is None
        and flow.tcp.segments is None
        and not flow.is_paced
        and flow.start_s <= scenario.warmup_s
    }


def _changes(scenario: Scenario) -> bool:
    """Return whether the traffic or channels of a scenario change during the measured time."""
    stations = scenario.stations if isinstance(scenario, CellScenario) else ()
    wire = scenario.wire
    return (
        any(each.channel_changes for each in stations)
        or any(item is not None for item in (wire.trace, wire.back_trace))
        or any(link.trace is not None for link in scenario.routers)
        or any(
            flow.start_s > scenario.warmup_s
            or (flow.stop_s is not None and flow.stop_s < scenario.duration_s)
            or isinstance(flow, SensorFlow)
            or (isinstance(flow, TcpFlow) and _ends(flow))
            for flow in scenario.flows
        )
    )


def _ends(flow: TcpFlow) -> bool:
    """Return whether a TCP flow consists of finite transfers, or of chunks or pauses."""
    return flow.web is not None or flow.tcp.segments is not None or flow.has_periods


def _halves_apart(
    scenario: Scenario, halves: Mapping[str, list[dict[str, float | None]]]
) -> Iterator[str]:
    """Yield a warning per direction whose goodputs differ significantly between the two halves."""
    for way, words in WAYS.items():
        (first, first_ci95), (second, second_ci95) = (
            (half["mean"] or 0.0, half["ci95"]) for half in halves[way]
        )
        if first_ci95 is None or second_ci95 is None:  # Intervals are None with one replication.
            continue
        allowed = max(first_ci95 + second_ci95, APART * 0.5 * (first + second))
        if abs(second - first) <= allowed:
            continue
        goodputs = [
            estimate(1e-6 * mean, 1e-6 * ci95)
            for mean, ci95 in ((first, first_ci95), (second, second_ci95))
        ]
        yield (
            f"the goodput {words} is {goodputs[0]} Mb/s in the first half of the measured time and "
            f"{goodputs[1]} in the second: the run is not in a steady state; a `warmup` longer "
            f"than {scenario.warmup_s:g} s, or a longer `duration`, may help"
        )


def enough_s(rtt_s: float) -> float:
    """Return a warm-up that is long enough for a round-trip time. [s]"""
    return _ceiling(ROUND_TRIPS * rtt_s)


def _ceiling(seconds: float) -> float:
    """Return a time, rounded up to two significant digits. [s]"""
    unit = 10.0 ** (floor(log10(seconds)) - 1)
    return float(f"{ceil(seconds / unit) * unit:.2g}")
