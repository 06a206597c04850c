"""Oscillation of a simulated queue: its trace and period, and the fluid's equilibrium and cycle."""

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

__all__ = ["Swing", "period_of", "sampled", "swings_of"]

Array = NDArray[np.float64]

LIKE_ITSELF = 0.3
"""Correlation of a trace with itself a period later, from which on it has one. [-]"""
SHARE = 0.15
"""Least part of a trace's variance for an oscillation, echoes of round trips included. [-]"""
AS_GOOD = 0.9
"""Correlation over the best one from which on an earlier time is taken for the period. [-]"""
LEAST_PERIODS = 8.0
"""Periods that a trace must hold. [-]"""
COARSEST, FINEST = 4000, 50_000
"""Least and most samples of a trace."""
MOST_VALUES = 400_000
"""Most samples times flows; beyond, a scenario without prediction is sampled more coarsely."""
BUSY = 0.5
"""Least utilisation of a router's link for which the period of its queue is reported. [-]"""
SAME_RTT = 1.1
"""Ratio of round-trip times up to which they are taken for one. [-]"""
MOST_RTTS = 8
PER_PERIOD = 16
"""Samples that a predicted period is to have."""
INTERVAL = "record.series_interval"


@dataclass(frozen=True)
class Swing:
    """The trace of a queue after the warm-up, with the prediction of the fluid, if there is one.

    Parameters
    ----------
    queue : str
        The queue.
    times_s, packets : array
        The trace of the first replication. [s], [packets]
    period_s : float or None
        Its period; None where it has none. [s]
    rest_packets : float or None
        The fluid's equilibrium. [packets]
    predicted_s : float or None
        Period of the fluid near rest; None if it does not oscillate there. [s]
    stable : bool or None
        Whether the fluid's equilibrium is stable.
    cycle_s : float or None
        Period of the cycle in which the fluid under constraints ends, where the equilibrium is
        not stable. [s]
    cycle : tuple of arrays or None
        Times of one period of that cycle, and its queue. [s], [packets]
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
        """Longest period that the trace is long enough to show. [s]"""
        return float(self.times_s[-1] - self.times_s[0]) / LEAST_PERIODS


def sampled(scenario: Scenario, prediction: Prediction | None) -> Scenario:
    """Return the scenario with samples of its queues, fine enough for a predicted period.

    A scenario that has samples already, a cell, or no TCP is returned as it is.
    """
    known = scenario.typed
    flows = len(known.tcp_flows)
    if isinstance(known, CellScenario) or not flows:
        return scenario
    if known.record.series_interval_s is not None:
        return scenario
    duration = known.duration_s
    interval = duration / COARSEST
    queues = stabilities(prediction.summary) if prediction else []
    period = queues[0].period_s if queues else None
    if period is not None:
        interval = min(interval, period.mean / PER_PERIOD)
    if not queues:
        interval = max(interval, duration * flows / MOST_VALUES)
    interval = max(interval, duration / FINEST, 1e-6)
    return scenario.with_(INTERVAL, f"{round(1e9 * interval)} ns")


def swings_of(scenario: Scenario, prediction: Prediction | None, simulation: Result) -> list[Swing]:
    """Return how the queues of busy routers move, that of the prediction first.

    Without a prediction the busiest comes first. There is none where queues were not sampled.
    """
    known = scenario.typed
    if isinstance(known, CellScenario):
        return []
    summary = {} if prediction is None else prediction.summary
    items = {queue.name: queue for queue in stabilities(summary)}
    routers = {link.name for link in known.routers}
    uses = estimates_of(simulation.summary["links"], "utilisation")
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
        swing = Swing(name, times[late], packets[late], period)
        item = items.get(name)
        results.append(swing if item is None else with_fluid(swing, known, summary, item))
    return results


def with_fluid(swing: Swing, scenario: Typed, summary: Mapping[str, Any], item: Stability) -> Swing:
    """Return a trace with what a fluid says of it."""
    cycle_s, cycle = (None, None) if item.stable else cycle_of(scenario)
    return replace(
        swing,
        rest_packets=estimates_of(summary["queues"], "occupancy_packets")[swing.queue].mean,
        predicted_s=None if item.period_s is None else item.period_s.mean,
        stable=item.stable,
        cycle_s=cycle_s,
        cycle=cycle,
    )


def rtts_of(scenario: Typed, simulation: Result, queue: str) -> list[float]:
    """Return the different round-trip times, queues included, of TCP flows through a queue. [s]"""
    through = {flow.name for flow in scenario.flows if queue in flow.forward}
    rtts = estimates_of(simulation.summary["flows"], "rtt_s")
    measured = sorted(rtt.mean for name, rtt in rtts.items() if name in through)
    results: list[float] = []
    for rtt in measured:
        if not results or rtt > SAME_RTT * results[-1]:
            results.append(rtt)
    return results[:MOST_RTTS]


def period_of(times_s: Array, values: Array, rtts_s: Sequence[float] = ()) -> float | None:
    """Return the period at which a trace is most like itself, by its autocorrelation. [s]

    It is the top of the earliest hump after the first zero that is nearly as high as the highest;
    None where no hump is above `LIKE_ITSELF`, or the trace does not hold `LEAST_PERIODS`.

    Parameters
    ----------
    times_s, values : array
        The trace, at equal intervals.
    rtts_s : sequence of float
        Round-trip times. Packets come back in the order in which they left, so that any queue is
        like itself one of them later. Means over each of these times are free of that; an
        oscillation of windows and queue takes at least two. [s]
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
    # The trace itself must swing, not only what is left of it.
    needed = max(LIKE_ITSELF, SHARE * float(values.var() / smooth.var()))
    if len(places) == 0 or like[places].max() < needed:
        return None
    first = int(places[like[places] >= AS_GOOD * like[places].max()][0])
    ends = np.flatnonzero(like[first:] < 0.5 * like[first])
    lobe = like[first : first + int(ends[0])] if len(ends) else like[first:]
    return float((first + int(np.argmax(lobe))) * step)


def likeness(values: Array) -> Array | None:
    """Return the correlation of a trace with itself by lag; None for a constant or few values."""
    if len(values) < 8:
        return None
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * len(values))) ** 2
    like = np.fft.irfft(power)[: len(values)]
    if like[0] <= 1e-12 * max(1.0, float(np.abs(values).max()) ** 2):
        return None
    like = like / (like[0] * (1.0 - np.arange(len(values)) / len(values)))
    return np.asarray(like[: int(len(values) / LEAST_PERIODS)])


def cycle_of(
    scenario: Typed,
) -> tuple[float | None, tuple[Array, Array] | None]:
    """Return the period of the fluid under constraints, and one of the queue of all flows.

    The queue begins with its least. None where the motion does not oscillate, does not settle, or
    has no queue.
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
