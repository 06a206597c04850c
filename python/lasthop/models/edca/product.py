r"""Product form of the stationary distribution without TXOP; the paper does not contain this form.

If the AP's odds :math:`r` against one active station do not depend on the number of active stations
(equal access parameters: :math:`r = 1`), the chain's stationary distribution is

.. math:: \pi(n_1, ..., n_N) \propto (r\, 1\{Q > 0\} + \eta)\, r^K \frac{Q!}{\prod_s (W - n_s)!}

:math:`n_s` is the number of packets at station s, :math:`K = \sum_s n_s` the number of packets at
all stations, and :math:`\eta` the number of active stations. The AP's queue has :math:`Q = N W - K`
packets, for N stations with windows of W. The distribution satisfies detailed balance. It depends
on the contention only through r. With equal access parameters the distribution is therefore the
same for every CWmin.
"""

import numpy as np

from lasthop.models.edca.arrangements import log_arrangements
from lasthop.models.edca.cell import Floats
from lasthop.models.edca.contention import Contention
from lasthop.models.edca.occupancy import Occupancy

CONSTANT = 1e-9
"""Relative difference of the AP's odds between situations (numbers of active stations), up to which
the odds are considered constant. [-]
"""

NEGLIGIBLE = 40.0
"""A state is left out if the largest state probability is estimated to be more than
exp(`NEGLIGIBLE`) times the probability of the state.
"""

MAX_ODDS = 1e18
"""Upper limit of the odds, at which the AP practically always wins. [-]"""

TILTS = 2000
"""Number of grid points, from an empty to a full AP queue, between which the mean numbers of
stations and packets are interpolated.
"""


def constant_odds(at: Contention) -> float | None:
    """Return the odds of the AP against one station if the odds are equal in all situations, or
    None. [-]
    """
    odds = at.odds
    if not np.isfinite(odds).all() or odds.min() <= 0.0 or np.ptp(odds) > CONSTANT * odds.max():
        return None
    return float(odds.mean())


def solve_product(stations: int, window: int, odds: float) -> Occupancy:
    """Return the distribution in product form, summed over states with equal numbers of active
    stations and packets at stations.

    Parameters
    ----------
    stations, window : int
        Number of stations, :math:`N`, and window of each station, :math:`W` packets.
    odds : float
        Odds of the AP against one active station, :math:`r`. [-]
    """
    *_, most = level_range(stations, window, np.full(stations, odds))
    weights = log_weights(stations, window, most) + np.arange(most + 1) * np.log(odds)
    eta, k = np.nonzero(np.isfinite(weights))
    contends = np.where(k < stations * window, odds, 0.0)
    log_prob = weights[eta, k] + np.log(contends + eta)
    prob = np.exp(log_prob - log_prob.max())
    return Occupancy(eta, k, prob / prob.sum(), np.minimum(eta, 1.0), len(prob))


def log_weights(stations: int, window: int, most: int) -> Floats:
    r"""Return the logarithm of the sum of :math:`Q! / \prod_s (W - n_s)!` over the states with
    equal numbers of active stations, :math:`\eta`, and packets at stations, :math:`K`.

    Returns
    -------
    ndarray
        Logarithms up to a constant, with index :math:`\eta, K`; :math:`K` is at most `most`.
    """
    from scipy.special import gammaln

    eta, k = np.ogrid[: stations + 1, : most + 1]
    which = gammaln(stations + 1) - gammaln(eta + 1) - gammaln(stations - eta + 1)
    at_ap = gammaln(stations * window - k + 1)
    inactive = eta * gammaln(window + 1)
    return np.asarray(which + at_ap + inactive + log_arrangements(stations, window, most))


def level_range(
    stations: int, window: int, odds: Floats, ap_packets: int = 1, station_packets: int = 1
) -> tuple[int, int, int]:
    r"""Return the least, the most likely and the largest number of packets at the stations. Numbers
    outside this range are improbable. [packets]

    The numbers follow from an approximate chain whose state is only the number :math:`K` of packets
    at the stations. The AP's queue is assumed to be mixed at random, so that each station's number
    of packets in it is truncated Poisson. A burst is a step of several packets.

    Parameters
    ----------
    odds : ndarray
        Odds of the AP against one active station, with 1 to N active stations. [-]
    ap_packets, station_packets : int
        TXOP limits of the AP and of a station. [packets]
    """
    from scipy.special import gammaln

    waiting = np.arange(window + 1)
    tilt = np.geomspace(1e-3, 1e5 * window, TILTS)[:, None]
    log_prob = waiting * np.log(tilt) - gammaln(waiting + 1)
    prob = np.exp(log_prob - np.logaddexp.reduce(log_prob, axis=1, keepdims=True))
    at_stations = stations * (window - prob @ waiting)
    active = stations * (1.0 - prob[:, window])
    sent = stations * (prob @ np.minimum(window - waiting, station_packets))

    level = np.arange(stations * window + 1)
    order = slice(None, None, -1)
    eta = np.interp(level, at_stations[order], active[order])
    falls = np.interp(level, at_stations[order], sent[order])
    r = np.interp(eta, np.arange(1, stations + 1), np.clip(odds, 1.0 / MAX_ODDS, MAX_ODDS))
    rise = ap_packets * r / (r + eta)
    fall = falls / (r + eta)
    steps = np.log(rise[:-1]) - np.log(fall[1:])
    log_prob_level = np.append(0.0, np.cumsum(steps)) / max(ap_packets, station_packets)
    likely = np.flatnonzero(log_prob_level > log_prob_level.max() - NEGLIGIBLE)
    least = max(0, int(likely[0]) - 2 * window)
    most = min(stations * window, int(likely[-1]) + 2 * window)
    return least, int(log_prob_level.argmax()), most
