"""Loss of a single flow over whole periods of its window.

The window of a single flow in front of a queue is periodic: it grows until the queue drops a
packet, and is then reduced. A run of fixed length contains only parts of its first and last period.
In a run with few periods, the losses per run can vary by a factor of two, although every period has
the same number of losses. The losses and packets per whole period do not depend on the start and
the end of the run.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import nan
from statistics import fmean, pstdev
from typing import Any

FALL = 0.85
"""A window below this fraction of its peak is considered reduced. CUBIC reduces the window to 0.7
of its peak, Reno to 0.5. [-]"""
MIN_PERIODS = 2
"""Smallest number of whole periods from which the length of a period is computed."""
REGULAR = 0.2
"""A flow is considered periodic if the standard deviation of its periods, divided by their mean, is
at most this value. [-]"""


def reductions(
    times_s: Sequence[float], windows: Sequence[float], from_s: float, to_s: float
) -> list[float]:
    """Return the times at which the window was reduced, one time per reduction. [s]"""
    reduced_at: list[float] = []
    peak = 0.0
    is_falling = False
    for (_, before), (time_s, now) in pairwise(zip(times_s, windows, strict=True)):
        if not is_falling:
            peak = max(peak, before)
            if now < FALL * peak:
                reduced_at.append(time_s)
                is_falling = True
        if is_falling and now > before:  # the window grows again
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
    """Return the fraction of packets that a periodic flow loses, over whole periods. [-]

    Parameters
    ----------
    track : mapping
        Times ``time_s`` [s] and windows ``first`` [packets] of the run.
    lost_packets : float
        Number of packets lost from `from_s` to `to_s`.
    sent_pps : float
        Rate of sent packets from `from_s` to `to_s`. [packets/s]

    Returns
    -------
    float or None
        Losses per period divided by packets per period. NaN if the window is reduced, but the run
        has too few whole periods. None if the flow is not periodic.
    """
    falls = reductions(track["time_s"], track["first"], from_s, to_s)
    periods = [later - earlier for earlier, later in pairwise(falls)]
    if not falls or sent_pps <= 0.0:
        return None
    if len(periods) < MIN_PERIODS:
        return nan
    period_s = fmean(periods)
    if pstdev(periods) > REGULAR * period_s:
        return None
    return lost_packets / len(falls) / (sent_pps * period_s)
