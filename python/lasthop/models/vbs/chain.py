"""Stationary distribution of a congestion window that grows in steps and falls to a fraction of its
value after a loss.

The Markov chain of paper 000, Eq. (3), and its extension by loss recovery have this form. Window l
is followed by l + 1 or by a loss event, after which the window is at most l. In equilibrium, the
window grows from l to l + 1 as often as a loss event reduces it from above l to at most l.
Therefore the visits are computed from the largest window downwards, as sums of positive numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LARGE = 1e200
"""Value above which visits are rescaled to prevent an overflow. [-]"""

RARE = 1e-12
"""Lower bound of growth probabilities, which prevents a division by 0. [-]"""


@dataclass(frozen=True)
class Visits:
    """Relative numbers of visits to the windows 1, 2, ... in equilibrium.

    Attributes
    ----------
    grown : ndarray
        Visits to each window while the window grows. [-]
    events : ndarray
        Loss events that begin at each window. [-]
    """

    grown: Floats
    events: Floats


def visits(up: Floats, landing: Floats, again: Floats) -> Visits:
    """Return the stationary visits of the chain.

    Parameters
    ----------
    up : ndarray
        Probability that window l = 1, 2, ... grows before the next loss event. The largest window
        cannot grow; its value is the probability that the window does not change, which must be
        below 1. [-]
    landing : ndarray
        Window after a loss event at window l, between 1 and l. The visits at a half-integer value
        are divided equally between the two adjacent windows. [packets]
    again : ndarray
        Probability that another loss event follows before growth begins, for each window l after a
        loss event. [-]
    """
    size = len(up)
    climbs = np.maximum(up, RARE)
    climb, falls = climbs.tolist(), (1.0 - climbs).tolist()
    floor, ceiling, at = np.floor(landing), np.ceil(landing), np.arange(1.0, size + 1.0)
    low, high = floor.astype(int).tolist(), ceiling.astype(int).tolist()
    repeats = np.minimum(again, 1.0 - RARE)
    repeat = repeats.tolist()
    # `own`: probability that a loss event ends at its start window and another loss event follows.
    own = (0.5 * ((at == floor).astype(float) + (at == ceiling)) * repeats).tolist()
    grown, events = [0.0] * size, [0.0] * size
    following = [0.0] * size  # loss events that follow another loss event, by start window
    landed = [0.0] * size  # loss events that ended at each window
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
