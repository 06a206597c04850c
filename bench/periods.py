"""Losses of a single flow over whole periods of its window.

A single flow in front of a queue is periodic: its window grows until the queue drops, and falls. A
run of fixed length cuts the first and the last period. Where few fit into it, the losses that it
happens to contain differ by a factor of two although every period loses the same. Losses per period
and packets per period do not depend on where the run cuts.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import nan
from statistics import fmean, pstdev
from typing import Any

FALL = 0.85
"""A window that falls below this part of its peak has been reduced: CUBIC leaves 0.7, Reno 0.5.
[-]"""
LEAST_PERIODS = 2
"""Whole periods without which nothing is known of their length."""
REGULAR = 0.2
"""Standard deviation of the periods over their mean up to which a flow is periodic. [-]"""


def reductions(
    times_s: Sequence[float], windows: Sequence[float], from_s: float, to_s: float
) -> list[float]:
    """Return the times at which a window fell from a peak, one for each fall. [s]"""
    reduced_at: list[float] = []
    peak = 0.0
    is_falling = False
    for (_, before), (time_s, now) in pairwise(zip(times_s, windows, strict=True)):
        if not is_falling:
            peak = max(peak, before)
            if now < FALL * peak:
                reduced_at.append(time_s)
                is_falling = True
        if is_falling and now > before:  # grows again: the next peak begins
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
        ``time_s`` [s] and ``first``, the window [packets], of the run.
    lost_packets : float
        Packets lost from `from_s` to `to_s`.
    sent_pps : float
        Packets sent a second in that time. [packets/s]

    Returns
    -------
    float or None
        Losses per period over packets per period; NaN if the window falls, but there are too few
        whole periods for a value; None if the flow is not periodic.
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
