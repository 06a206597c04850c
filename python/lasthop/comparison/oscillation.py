"""Oscillation of a simulated queue, compared with the equilibrium and limit cycle of a fluid
model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.answers.estimates import estimates_of
from lasthop.answers.stability import Stability, stabilities
from lasthop.errors import ConvergenceError
from lasthop.prediction.prediction import Prediction
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CellScenario
from lasthop.scenario.typed import Scenario as Typed
from lasthop.simulation.result import Result

__all__ = ["Oscillation", "oscillations_of", "period_of", "sampled"]

Array = NDArray[np.float64]

LIKE_ITSELF = 0.3
"""Smallest autocorrelation of a periodic trace at a lag of one period. [-]"""
SHARE = 0.15
"""Smallest fraction of a periodic trace's variance that must come from the oscillation. This part
of the variance is the variance of the moving averages over each round-trip time, times their
autocorrelation at a lag of one period. [-]
"""
AS_GOOD = 0.9
"""Smallest ratio of the autocorrelation at a lag of one period to the largest autocorrelation. The
period is the lag of the first maximum that reaches this ratio. [-]
"""
MIN_PERIODS = 8.0
"""Smallest number of periods that a trace must contain. [-]"""
COARSEST, FINEST = 4000, 50_000
"""Smallest and largest number of samples of a queue's trace."""
MAX_VALUES = 400_000
"""Limit of the number of samples times the number of flows, if there is no prediction. The sampling
interval is increased until the limit is met.
"""
BUSY = 0.5
"""Smallest utilisation of a router's link for which the period of its queue is reported. [-]"""
SAME_RTT = 1.1
"""Largest ratio of two round-trip times that count as equal. [-]"""
MAX_RTTS = 8
PER_PERIOD = 16
"""Number of samples per predicted period of the oscillation."""
INTERVAL = "record.series_interval"


@dataclass(frozen=True)
class Oscillation:
    """Trace of a queue after the warm-up, with the prediction of a fluid model if there is one.

    Parameters
    ----------
    queue : str
        Name of the queue.
    times_s, packets : array
        Trace of the first replication. [s], [packets]
    period_s : float or None
        Period of the trace; None if the trace is not periodic. [s]
    rest_packets : float or None
        Queue length at the equilibrium of the fluid model. [packets]
    predicted_s : float or None
        Period of the fluid model near its equilibrium; None if the model does not oscillate. [s]
    stable : bool or None
        Whether the equilibrium of the fluid model is stable.
    cycle_s : float or None
        Period of the limit cycle of the constrained fluid model, if the equilibrium is unstable.
        [s]
    cycle : tuple of arrays or None
        Points in time during one period of the limit cycle, and the queue lengths. [s], [packets]
    """

    queue: str
    times_s: Array
    packets: Array
    period_s: float | None
    rest_packets: float | None = None
    predicted_s: float | None = None
    stable: bool | None = None
    cycle_s: float | None = None
    cycle: tuple[Array, Array] | None = None

    @property
    def longest_s(self) -> float:
        """Longest detectable period: the trace must contain `MIN_PERIODS` periods. [s]"""
        return float(self.times_s[-1] - self.times_s[0]) / MIN_PERIODS


def sampled(scenario: Scenario, prediction: Prediction | None) -> Scenario:
    """Return the scenario with sampling of its queues. If the model predicts a period, the sampling
    interval is derived from this period.

    A scenario with a cell, with its own sampling interval, or without TCP is returned unchanged.
    """
    known = scenario.typed
    flows = len(known.tcp_flows)
    if isinstance(known, CellScenario) or not flows:
        return scenario
    if known.record.series_interval_s is not None:
        return scenario
    duration = known.duration_s
    interval = duration / COARSEST
    queues = stabilities(prediction.contents) if prediction else []
    period = queues[0].period_s if queues else None
    if period is not None:
        interval = min(interval, period.mean / PER_PERIOD)
    if not queues:
        interval = max(interval, duration * flows / MAX_VALUES)
    interval = max(interval, duration / FINEST, 1e-6)
    return scenario.with_(INTERVAL, f"{round(1e9 * interval)} ns")


def oscillations_of(
    scenario: Scenario, prediction: Prediction | None, simulation: Result
) -> list[Oscillation]:
    """Return the traces of the queues of busy routers, with the predicted queue first.

    Without a prediction, the queue of the busiest link comes first. Queues that were not sampled
    are omitted.
    """
    known = scenario.typed
    if isinstance(known, CellScenario):
        return []
    summary = {} if prediction is None else prediction.contents
    items = {queue.name: queue for queue in stabilities(summary)}
    routers = {link.name for link in known.routers}
    uses = estimates_of(simulation.contents["links"], "utilisation")
    used = {name: use.mean for name, use in uses.items() if name in routers}
    busy = [name for name, use in used.items() if use >= BUSY or name in items]
    busy.sort(key=lambda name: (name not in items, -used[name]))
    results = []
    for name in busy:
        of_queue = ("queues", name, "occupancy_packets")
        if of_queue not in simulation.tracks:
            continue
        track = simulation.track(*of_queue)
        times, packets = (np.asarray(each, dtype=np.float64) for each in track)
        late = times > known.warmup_s
        rtts = rtts_of(known, simulation, name)
        period = period_of(times[late], packets[late], rtts)
        oscillation = Oscillation(name, times[late], packets[late], period)
        item = items.get(name)
        results.append(
            oscillation if item is None else with_fluid(oscillation, known, summary, item)
        )
    return results


def with_fluid(
    oscillation: Oscillation, scenario: Typed, summary: Mapping[str, Any], item: Stability
) -> Oscillation:
    """Return a queue's trace with equilibrium, period and limit cycle of the fluid model."""
    cycle_s, cycle = (None, None) if item.stable else cycle_of(scenario)
    return replace(
        oscillation,
        rest_packets=estimates_of(summary["queues"], "occupancy_packets")[oscillation.queue].mean,
        predicted_s=None if item.period_s is None else item.period_s.mean,
        stable=item.stable,
        cycle_s=cycle_s,
        cycle=cycle,
    )


def rtts_of(scenario: Typed, simulation: Result, queue: str) -> list[float]:
    """Return the distinct round-trip times of TCP flows through a queue, including queueing. [s]"""
    through = {flow.name for flow in scenario.flows if queue in flow.forward}
    rtts = estimates_of(simulation.contents["flows"], "rtt_s")
    measured = sorted(rtt.mean for name, rtt in rtts.items() if name in through)
    results: list[float] = []
    for rtt in measured:
        if not results or rtt > SAME_RTT * results[-1]:
            results.append(rtt)
    return results[:MAX_RTTS]


def period_of(times_s: Array, values: Array, rtts_s: Sequence[float] = ()) -> float | None:
    """Return the period of a trace, from its autocorrelation. [s]

    Only maxima after the first zero of the autocorrelation count. The period is the lag of the
    first maximum that is at least `AS_GOOD` times the largest. The period is None if no maximum
    exceeds `LIKE_ITSELF`, or if the trace is shorter than `MIN_PERIODS` periods.

    Parameters
    ----------
    times_s, values : array
        Trace, sampled at equal intervals.
    rtts_s : sequence of float
        Round-trip times of the flows. The trace of a queue correlates with itself after one
        round-trip time, since ACKs return in the order of the packets. Moving averages over each
        round-trip time remove this correlation. The period of an oscillation of windows and queue
        is at least two round-trip times, so the moving averages do not remove the oscillation. [s]
    """
    if len(values) < 8:
        return None
    step = (times_s[-1] - times_s[0]) / (len(times_s) - 1)
    smooth = values
    for rtt in rtts_s:
        count = min(round(rtt / step), len(values) // 8)
        if count > 1:
            smooth = np.convolve(smooth, np.full(count, 1.0 / count), "valid")
    like = likeness(smooth)
    if like is None:
        return None
    below = np.flatnonzero(like < 0.0)
    if len(below) == 0:
        return None
    later = np.arange(len(like))
    tops = (later[1:-1] > below[0]) & (like[1:-1] >= like[:-2]) & (like[1:-1] > like[2:])
    places = np.flatnonzero(tops) + 1
    # The second term is large if the moving average has only a small part of the trace's variance:
    # the oscillation must also be visible in the trace itself.
    needed = max(LIKE_ITSELF, SHARE * float(values.var() / smooth.var()))
    if len(places) == 0 or like[places].max() < needed:
        return None
    first = int(places[like[places] >= AS_GOOD * like[places].max()][0])
    ends = np.flatnonzero(like[first:] < 0.5 * like[first])
    lobe = like[first : first + int(ends[0])] if len(ends) else like[first:]
    return float((first + int(np.argmax(lobe))) * step)


def likeness(values: Array) -> Array | None:
    """Return the autocorrelation of a trace by lag; None if the trace is constant or has fewer than
    8 values.
    """
    if len(values) < 8:
        return None
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * len(values))) ** 2
    like = np.fft.irfft(power)[: len(values)]
    if like[0] <= 1e-12 * max(1.0, float(np.abs(values).max()) ** 2):
        return None
    like = like / (like[0] * (1.0 - np.arange(len(values)) / len(values)))
    return np.asarray(like[: int(len(values) / MIN_PERIODS)])


def cycle_of(
    scenario: Typed,
) -> tuple[float | None, tuple[Array, Array] | None]:
    """Return the period of the constrained fluid model's limit cycle, and the total queue during
    one period.

    The cycle begins at the minimum of the queue. The values are None if the model does not
    oscillate, does not settle, or has no queue.
    """
    from lasthop.models.red import fluid
    from lasthop.stability import settled

    result = fluid(scenario)
    try:
        ended = settled(result.case)
    except ConvergenceError:
        return None, None
    if ended.period is None or "queue" not in result.case.model.states:
        return ended.period, None
    states = ended.states(801)
    served = 0.0 if result.sees_service else 1.0
    queue = states[result.case.model.states.index("queue")][:-1] * result.flows
    queue = queue + served * (queue > 0.0)
    queue = np.roll(queue, -int(np.argmin(queue)))
    return ended.period, (np.linspace(0.0, ended.period, len(queue), endpoint=False), queue)
