r"""Logarithm of the number of ways in which packets can be arranged at active stations.

.. math:: Z(\eta, K) = [x^K] \Bigl( \sum_{n=1}^{W} \frac{x^n}{(W - n)!} \Bigr)^{\eta}

A cell has :math:`N` stations with windows of :math:`W` packets. :math:`Q!\, Z(\eta, K) / W!^{N -
\eta}` is the number of orders of an AP queue of :math:`Q = N W - K` packets if the other :math:`K`
packets are at :math:`\eta` given stations. These numbers are far outside the range of floating
point (about :math:`e^{-23000}` to 1 for 200 stations with windows of 42). The values for each
:math:`\eta` are therefore computed as probabilities with exponential weights :math:`e^{\theta n}`.
Enough values of :math:`\theta` are used to represent every :math:`Z(\eta, K)` with at least one of
them.
"""

from functools import lru_cache

import numpy as np

from lasthop.models.edca.cell import Floats

LEAST = 1e-290
"""Smallest probability that is used, since subnormal numbers have fewer digits. [-]"""


@lru_cache(maxsize=4)
def log_arrangements(stations: int, window: int, most: int) -> Floats:
    r"""Return :math:`\log Z(\eta, K)` for all numbers :math:`\eta` of active stations and all
    numbers :math:`K` of packets at these stations. The value is :math:`-\infty` if :math:`\eta`
    active stations cannot have :math:`K` packets.

    Parameters
    ----------
    stations, window : int
        Number of stations, :math:`N`, and window of each station, :math:`W` packets.
    most : int
        Largest number of packets at the stations, :math:`K`. [packets]

    Returns
    -------
    ndarray
        Array of shape (stations + 1, most + 1) with index :math:`\eta, K`; it must not be modified.
    """
    eta, k = np.ogrid[: stations + 1, : most + 1]
    possible = (eta <= k) & (k <= eta * window)
    tilts = 1
    while True:
        table = np.full(possible.shape, -np.inf)
        for tilt in _tilts(stations, window, tilts):
            np.maximum(table, _tilted(stations, window, most, tilt), out=table)
        if np.isfinite(table[possible]).all():
            table.setflags(write=False)
            return table
        tilts *= 2


def _tilts(stations: int, window: int, number: int) -> Floats:
    """Return factors ``exp(-theta)``, from the factor that favours full stations to the factor that
    favours empty stations.
    """
    # With the least and the largest factor, on average about half a packet of the whole cell
    # deviates from the arrangement in which all stations are full or empty.
    least = 0.5 / stations
    most = 2.0 * max(window - 1, 1) * stations
    return np.geomspace(least, most, 2 * number + 1)[1::2]


def _tilted(stations: int, window: int, most: int, tilt: float) -> Floats:
    """Return the values of log Z that are computed with the factor `tilt`, ``exp(-theta)``. Values
    whose probability is too small to be used are -inf.
    """
    from scipy.special import gammaln

    n = np.arange(1, window + 1)
    log_terms = (window - n) * np.log(tilt) - gammaln(window - n + 1)
    log_norm = np.logaddexp.reduce(log_terms)
    weights = np.append(0.0, np.exp(log_terms - log_norm))[: most + 1]
    table = np.full((stations + 1, most + 1), -np.inf)
    row = np.ones(1)
    for eta in range(stations + 1):
        taken = np.flatnonzero(row > LEAST)
        waiting_at_ap = eta * window - taken
        table[eta, taken] = np.log(row[taken]) + eta * log_norm - waiting_at_ap * np.log(tilt)
        row = np.convolve(row, weights)[: most + 1]
    return table
