"""Losses of a single flow over whole periods of its window.

A single flow in front of a queue is periodic: its window grows until the queue drops, and falls. A
run of fixed length cuts the first and the last period. If a run contains few periods, its losses
can vary by a factor of two, although every period has the same losses. Losses per period and
packets per period do not depend on where the run cuts.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import nan
from statistics import fmean, pstdev
from typing import Any

FALL = 0.85
"""Fraction of its peak below which a window has been reduced. CUBIC reduces it to 0.7, Reno to 0.5.
[-]"""
LEAST_PERIODS = 2
"""Smallest number of whole periods from which their length is known."""
REGULAR = 0.2
"""Largest ratio of the periods' standard deviation to their mean for which a flow is periodic.
[-]"""


def reductions(
    times_s: Sequence[float], windows: Sequence[float], from_s: float, to_s: float
) -> list[float]:
    """Return the times at which the window fell from a peak, one time per fall. [s]"""
    reduced_at: list[float] = []
    peak = 0.0
    is_falling = False
    for (_, before), (time_s, now) in pairwise(zip(times_s, windows, strict=True)):
        if not is_falling:
            peak = max(peak, before)
            if now < FALL * peak:
                reduced_at.append(time_s)
                is_falling = True
        if is_falling and now > before:  # the window grows again: the next peak begins
            is_falling, peak = False, now
    return [time_s for time_s in reduced_at if from_s <= time_s <= to_s]


def loss_by_period(
    track: Mapping[str, Any],
    *,
    lost_packets: float,
    sent_pps: float,
    from_s: float,
    to_s: float,
) -> float | None:
    """Return the loss of a periodic flow over whole periods. [-]

    Parameters
    ----------
    track : mapping
        Times ``time_s`` [s] and windows ``first`` [packets] of the run.
    lost_packets : float
        Number of packets lost from `from_s` to `to_s`.
    sent_pps : float
        Rate of sent packets in this time. [packets/s]

    Returns
    -------
    float or None
        Losses per period divided by packets per period. NaN if the window falls, but there are too
        few whole periods for a value. None if the flow is not periodic.
    """
    falls = reductions(track["time_s"], track["first"], from_s, to_s)
    periods = [later - earlier for earlier, later in pairwise(falls)]
    if not falls or sent_pps <= 0.0:
        return None
    if len(periods) < LEAST_PERIODS:
        return nan
    period_s = fmean(periods)
    if pstdev(periods) > REGULAR * period_s:
        return None
    return lost_packets / len(falls) / (sent_pps * period_s)
