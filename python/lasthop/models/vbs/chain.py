"""Stationary visits of a window that climbs step by step and falls to a part of itself.

The chain of Eq. (3) and its extension by recovery have this shape: from window l either to l + 1 or
into a loss event, from which the window lands at most at l. Across each cut between l and l + 1 as
much goes up as comes down, so that the visits follow from the top down by sums of positive numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LARGE = 1e200
"""Visits are scaled down from there, long before they overflow. [-]"""

RARE = 1e-12
"""Least probability to climb that is distinguished from 0. [-]"""


@dataclass(frozen=True)
class Visits:
    """How often windows 1, 2, ... are visited, in any common unit.

    Attributes
    ----------
    grown : ndarray
        Visits in growth. [-]
    events : ndarray
        Loss events that begin at this window. [-]
    """

    grown: Floats
    events: Floats


def visits(up: Floats, landing: Floats, again: Floats) -> Visits:
    """Solve the balance of the chain.

    Parameters
    ----------
    up : ndarray
        Probability that window l = 1, 2, ... grows before the next loss event. At the largest
        window that means to stay there; it must be below 1 there. [-]
    landing : ndarray
        Window after a loss event at l, between 1 and l; a half lands on either side of it
        alike. [packets]
    again : ndarray
        Probability that a loss event from which the window lands at l is followed by another before
        growth begins, by l. [-]
    """
    size = len(up)
    climbs = np.maximum(up, RARE)
    climb, falls = climbs.tolist(), (1.0 - climbs).tolist()
    floor, ceiling, at = np.floor(landing), np.ceil(landing), np.arange(1.0, size + 1.0)
    low, high = floor.astype(int).tolist(), ceiling.astype(int).tolist()
    repeats = np.minimum(again, 1.0 - RARE)
    repeat = repeats.tolist()
    # an event, or a half of it, may land where it began
    own = (0.5 * ((at == floor).astype(float) + (at == ceiling)) * repeats).tolist()
    grown, events = [0.0] * size, [0.0] * size
    following = [0.0] * size  # events that follow others, by the window where they begin
    landed = [0.0] * size  # what has landed at a window, from those above and from itself
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
