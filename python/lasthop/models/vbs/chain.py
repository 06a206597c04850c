"""Stationary visits of a window that grows step by step and falls to a fraction of itself.

The chain of Eq. (3) and its extension by recovery have this form. Window l is followed by l + 1 or
by a loss event, after which the window is at most l. Across each cut between l and l + 1 the upward
and downward flows are equal. Therefore the visits follow from the largest window downwards, as sums
of positive numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LARGE = 1e200
"""Value above which visits are rescaled, long before they overflow. [-]"""

RARE = 1e-12
"""Least growth probability that is distinguished from 0. [-]"""


@dataclass(frozen=True)
class Visits:
    """Numbers of visits to the windows 1, 2, ..., in any common unit.

    Attributes
    ----------
    grown : ndarray
        Visits during growth. [-]
    events : ndarray
        Loss events that begin at each window. [-]
    """

    grown: Floats
    events: Floats


def visits(up: Floats, landing: Floats, again: Floats) -> Visits:
    """Solve the balance of the chain.

    Parameters
    ----------
    up : ndarray
        Probability that window l = 1, 2, ... grows before the next loss event. At the largest
        window it is the probability to stay there; it must be below 1. [-]
    landing : ndarray
        Window after a loss event at l, between 1 and l; a half-integer value is divided equally
        between its two neighbours. [packets]
    again : ndarray
        Probability that a loss event after which the window is l is followed by another loss event
        before growth begins, by l. [-]
    """
    size = len(up)
    climbs = np.maximum(up, RARE)
    climb, falls = climbs.tolist(), (1.0 - climbs).tolist()
    floor, ceiling, at = np.floor(landing), np.ceil(landing), np.arange(1.0, size + 1.0)
    low, high = floor.astype(int).tolist(), ceiling.astype(int).tolist()
    repeats = np.minimum(again, 1.0 - RARE)
    repeat = repeats.tolist()
    # an event, or a half of it, may end at the window where it began
    own = (0.5 * ((at == floor).astype(float) + (at == ceiling)) * repeats).tolist()
    grown, events = [0.0] * size, [0.0] * size
    following = [0.0] * size  # events that follow other events, by the window where they begin
    landed = [0.0] * size  # events that ended at a window, from higher windows and from this window
    grown[-1] = 1.0
    for k in range(size - 1, -1, -1):
        if k < size - 1:
            grown[k] = sum(landed[: k + 1]) / climb[k]
        events[k] = (falls[k] * grown[k] + following[k]) / (1.0 - own[k])
        half = 0.5 * events[k]
        for window in (low[k] - 1, high[k] - 1):
            landed[window] += half
            if window != k:
                following[window] += half * repeat[window]
        if events[k] > LARGE:
            grown, events, following, landed = (
                [value / LARGE for value in values] for values in (grown, events, following, landed)
            )
    return Visits(np.array(grown), np.array(events))
