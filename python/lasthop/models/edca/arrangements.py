r"""Number of ways in which packets can wait at active stations, as logarithms.

.. math:: Z(\eta, K) = [x^K] \Bigl( \sum_{n=1}^{W} \frac{x^n}{(W - n)!} \Bigr)^{\eta}

:math:`Q!\, Z(\eta, K) / W!^{N - \eta}` counts the orders of an AP queue of :math:`Q = N W - K`
packets in which :math:`\eta` given stations miss :math:`K` packets. These numbers are far outside
the range of floating point (about :math:`e^{-23000}` to 1 for 200 stations with windows of 42).
Each row is therefore computed as a probability with exponential weights :math:`e^{\theta n}`. There
are enough values of :math:`\theta` that every entry is representable with one of them.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from lasthop.models.edca.cell import Floats

LEAST = 1e-290
"""Smallest probability that is used; subnormal numbers lose digits. [-]"""


@lru_cache(maxsize=4)
def log_arrangements(stations: int, window: int, most: int) -> Floats:
    r"""Return the table of :math:`\log Z(\eta, K)`; :math:`-\infty` if there is no such
    arrangement.

    Parameters
    ----------
    stations, window : int
        :math:`N` and :math:`W`.
    most : int
        Largest :math:`K`. [packets]

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
    """Return exponents between those that favour the fullest and the emptiest stations."""
    # At either end, about half a packet in the whole row differs from its extreme.
    least = 0.5 / stations
    most = 2.0 * max(window - 1, 1) * stations
    return np.geomspace(least, most, 2 * number + 1)[1::2]


def _tilted(stations: int, window: int, most: int, tilt: float) -> Floats:
    """Return the table from one exponent; -inf if the probability is too small to be used."""
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
