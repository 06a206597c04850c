"""How a simulated queue moves, beside the fluid that predicts it: trace, period, rest and cycle."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.errors import ConvergenceError
from lasthop.result import Prediction, Result
from lasthop.scenario import Scenario

__all__ = ["Swing", "period_of", "sampled", "swing_of"]

Array = NDArray[np.float64]

LIKE_ITSELF = 0.3
"""Correlation of a trace with itself a period later, from which on it has one. [-]"""
AS_GOOD = 0.9
"""Correlation over the best one from which on an earlier time is taken for the period. [-]"""
LEAST_PERIODS = 8.0
"""Periods that a trace must hold. [-]"""
COARSEST, FINEST = 4000, 50_000
"""Samples of a trace: at least and at most."""
PER_PERIOD = 16
"""Samples that a predicted period is to have."""
INTERVAL = "record.series_interval"


@dataclass(frozen=True)
class Swing:
    """The trace of a queue after the warm-up, with what the fluid says of it.

    Parameters
    ----------
    queue : str
        The queue.
    times_s, packets : array
        The trace of the first replication. [s], [packets]
    period_s : float or None
        Its period; None where it has none. [s]
    rest_packets : float
        The fluid's point of rest. [packets]
    predicted_s : float or None
        Period of the fluid near rest; None if it does not swing there. [s]
    stable : bool
        Whether the fluid's point of rest is stable.
    cycle : tuple of arrays or None
        Times of one period and the queue of the cycle in which the fluid under constraints ends,
        where the point of rest is not stable. [s], [packets]
    """

    queue: str
    times_s: Array
    packets: Array
    period_s: float | None
    rest_packets: float
    predicted_s: float | None
    stable: bool
    cycle: tuple[Array, Array] | None


def sampled(scenario: Scenario, prediction: Prediction | None) -> Scenario:
    """Return the scenario with samples of its queues, fine enough for a predicted period.

    A scenario that has samples already, or none to compare with, is returned as it is.
    """
    if not (prediction and prediction.summary.get("stability")):
        return scenario
    if scenario["record"]["series_interval_s"] is not None:
        return scenario
    [item] = prediction.summary["stability"]
    duration = float(scenario["duration_s"])
    interval = duration / COARSEST
    if "period_s" in item:
        interval = min(interval, item["period_s"]["mean"] / PER_PERIOD)
    interval = max(interval, duration / FINEST, 1e-6)
    return scenario.with_(INTERVAL, f"{round(1e9 * interval)} ns")


def swing_of(scenario: Scenario, prediction: Prediction, simulation: Result) -> Swing | None:
    """Return the trace of the queue that a fluid predicts; None if there is neither."""
    items = prediction.summary.get("stability")
    if not items:
        return None
    [item] = items
    track = simulation.track("queues", item["name"], "occupancy_packets")
    if track is None:
        return None
    times, packets = (np.asarray(each, dtype=np.float64) for each in track)
    late = times > scenario["warmup_s"]
    rest = next(
        float(queue["occupancy_packets"]["mean"])
        for queue in prediction.summary["queues"]
        if queue["name"] == item["name"]
    )
    return Swing(
        item["name"],
        times[late],
        packets[late],
        period_of(times[late], packets[late]),
        rest,
        item["period_s"]["mean"] if "period_s" in item else None,
        item["stable"],
        None if item["stable"] else cycle_of(scenario.to_dict()),
    )


def period_of(times_s: Array, values: Array) -> float | None:
    """Return the period at which a trace is most like itself, by its autocorrelation. [s]

    The top of the earliest hump after the first zero that is nearly as high as the highest; None
    where none is above `LIKE_ITSELF`, or the trace does not hold `LEAST_PERIODS`.
    """
    if len(values) < 8:
        return None
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * len(values))) ** 2
    like = np.fft.irfft(power)[: len(values)]
    if like[0] <= 1e-12 * max(1.0, float(np.abs(values).max()) ** 2):
        return None
    like = like / (like[0] * (1.0 - np.arange(len(values)) / len(values)))
    like = like[: int(len(values) / LEAST_PERIODS)]
    below = np.flatnonzero(like < 0.0)
    if len(below) == 0:
        return None
    later = np.arange(len(like))
    tops = (later[1:-1] > below[0]) & (like[1:-1] >= like[:-2]) & (like[1:-1] > like[2:])
    places = np.flatnonzero(tops) + 1
    if len(places) == 0 or like[places].max() < LIKE_ITSELF:
        return None
    first = int(places[like[places] >= AS_GOOD * like[places].max()][0])
    ends = np.flatnonzero(like[first:] < 0.5 * like[first])
    lobe = like[first : first + int(ends[0])] if len(ends) else like[first:]
    return float((first + int(np.argmax(lobe))) * (times_s[-1] - times_s[0]) / (len(times_s) - 1))


def cycle_of(scenario: Mapping[str, Any]) -> tuple[Array, Array] | None:
    """Return a period of the queue of all flows in the fluid under constraints, from its least on.

    None where the motion has no queue, or does not settle.
    """
    from lasthop.models.red import fluid
    from lasthop.stability import settled

    found = fluid(scenario)
    if "queue" not in found.case.model.states:
        return None
    try:
        ended = settled(found.case)
    except ConvergenceError:
        return None
    if ended.period is None:
        return None
    states = ended.states(801)
    served = 0.0 if found.sees_service else 1.0
    queue = states[found.case.model.states.index("queue")][:-1] * found.flows
    queue = queue + served * (queue > 0.0)
    queue = np.roll(queue, -int(np.argmin(queue)))
    return np.linspace(0.0, ended.period, len(queue), endpoint=False), queue
