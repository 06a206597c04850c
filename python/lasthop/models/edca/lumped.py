r"""Lumped chain, whose states are the number of active stations and the number of packets at the
stations. This chain is not in the paper.

In state :math:`(\eta, K)`, :math:`\eta` of the :math:`N` stations are active, and :math:`K` packets
are at stations. The AP's queue has :math:`Q = N W - K` packets, for windows of :math:`W`. The AP's
next packet goes to an inactive station with probability :math:`(N - \eta) W / Q`, which is exact.
The number of packets at the winning station is distributed as in the product form given
:math:`(\eta, K)`, which does not depend on the odds of the AP:

.. math:: P(n = i \mid \eta, K) = \frac{Z(\eta - 1, K - i)}{(W - i)!\, Z(\eta, K)}

The lumped chain is therefore exact if the product form holds, and a good approximation if the odds
depend on :math:`\eta`. Its states have two dimensions, so that sparse elimination is cheap. With
long bursts the chain is solved by the iteration of module `levels` instead.
"""

from typing import TYPE_CHECKING

import numpy as np

from lasthop.models.edca.arrangements import log_arrangements
from lasthop.models.edca.cell import Floats, Integers
from lasthop.models.edca.contention import Contention
from lasthop.models.edca.elimination import eliminated
from lasthop.models.edca.levels import Chain, stationary, transitions
from lasthop.models.edca.occupancy import Occupancy
from lasthop.models.edca.product import NEGLIGIBLE, level_range, log_weights

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPILL = 1e-12
"""Largest accepted total probability of the outermost included levels. At a higher probability,
more levels are included. A level is a number of packets at the stations. [-]
"""

MAX_FILL = 3e7
"""Measured limit of the cost up to which elimination is faster than the iteration by levels. The
cost is :math:`n^3 s^2` for :math:`n` states per level. Here :math:`s` is the sum of the largest
burst of the AP and the largest burst of a station, in levels.
"""


def solve_lumped(
    stations: int, window: int, at: Contention, ap_packets: int = 1, station_packets: int = 1
) -> Occupancy:
    """Return the stationary distribution of the lumped chain.

    Parameters
    ----------
    stations, window, at, ap_packets, station_packets
        Parameters of :func:`~lasthop.models.edca.full.solve_full`.
    """
    total = stations * window
    burst = min(station_packets, window)
    least, usual, most = level_range(stations, window, at.odds, ap_packets, burst)
    while True:
        result = _solve(stations, window, (least, usual, most), at, ap_packets, burst)
        above = result.prob[result.at_stations > most - ap_packets].sum()
        below = result.prob[result.at_stations < least + burst].sum()
        if (most == total or above <= SPILL) and (least == 0 or below <= SPILL):
            return result
        width = most - least
        most = min(total, most + width) if above > SPILL else most
        least = max(0, least - width) if below > SPILL else least


def _solve(
    stations: int,
    window: int,
    levels: tuple[int, int, int],
    at: Contention,
    ap_packets: int,
    station_packets: int,
) -> Occupancy:
    """Return the distribution over the states between a smallest and a largest number of packets at
    the stations.

    The chain is restricted to this range. At the largest number of packets, the AP is assumed never
    to win. At small numbers of packets, from which a station's burst could leave the range,
    stations are assumed never to win.
    """
    least, usual, most = levels
    weights = log_weights(stations, window, most)
    # Without TXOP, states that are improbable in the product form are left out. With TXOP they are
    # included. A burst can empty a station, so that states with few active stations are more
    # probable than in the product form.
    left_out = NEGLIGIBLE if max(ap_packets, station_packets) == 1 else np.inf
    k, eta = np.nonzero((weights > weights.max(axis=0) - left_out)[:, least:].T)
    k = k + least
    index = np.full((stations + 1, most + 1), -1)
    index[eta, k] = np.arange(len(k))

    sizes = _queue_sizes(window, station_packets, eta, k, log_arrangements(stations, window, most))
    at_ap = stations * window - k
    wins = at.ap_wins[np.where(at_ap > 0, eta, stations + 1)]
    lowest = (k < least + station_packets) & (least > 0)
    chain = Chain(
        first=np.searchsorted(k, np.arange(least, most + 2)),
        ap_wins=np.where(k < most, np.where(lowest, 1.0, wins), 0.0),
        one_packet=_one_packet(at_ap, stations, window, eta, k, index),
        station_burst=_station_burst(eta, k, index, sizes),
        ap_packets=min(ap_packets, most - least),
        station_packets=station_packets,
    )
    span = chain.ap_packets + station_packets
    prob = None
    if (len(k) / chain.levels) ** 3 * span**2 <= MAX_FILL:
        prob = eliminated(chain, index[weights[:, usual].argmax(), usual])
    if prob is None:
        prob = stationary(chain, np.exp((weights - weights.max(axis=0))[eta, k]))
    longer = np.arange(station_packets - 1, -1, -1)
    sent = np.where(eta > 0, station_packets - sizes @ longer, 0.0)
    return Occupancy(eta, k, prob, sent, len(k))


def _queue_sizes(
    window: int, most_packets: int, eta: Integers, k: Integers, log_ways: Floats
) -> Floats:
    """Return for each state the probability that an active station has 1, 2, ... packets, up to
    `most_packets`. [-]
    """
    from scipy.special import gammaln

    table = np.zeros((len(eta), most_packets))
    for packets in range(1, most_packets + 1):
        rows = np.flatnonzero((eta > 0) & (k >= packets))
        before = log_ways[eta[rows] - 1, k[rows] - packets]
        log_prob = before - log_ways[eta[rows], k[rows]] - gammaln(window - packets + 1)
        table[rows, packets - 1] = np.exp(log_prob)
    return table


def _one_packet(
    at_ap: Integers, stations: int, window: int, eta: Integers, k: Integers, index: Integers
) -> "csr_array":
    rows = np.flatnonzero(k < k[-1])
    to_inactive = (stations - eta[rows]) * window / at_ap[rows]
    parts = []
    for more, prob in ((1, to_inactive), (0, 1.0 - to_inactive)):
        target = np.minimum(eta[rows] + more, stations)
        parts.append((rows, index[target, k[rows] + 1], prob))
    return transitions(parts, len(eta))


def _station_burst(eta: Integers, k: Integers, index: Integers, sizes: Floats) -> "csr_array":
    """Return the transition probabilities for a success of a station. Rows are in the order of the
    states. Within a row, transitions with larger bursts come first. A station with exactly as many
    packets as its TXOP limit comes before a station with more packets.
    """
    from scipy.sparse import csr_array

    states, limit = sizes.shape
    target = np.full((states, limit + 1), -1, dtype=np.int32)
    prob = np.zeros((states, limit + 1))
    for packets in range(1, limit + 1):
        place = 0 if packets == limit else limit + 1 - packets
        rows = np.flatnonzero(sizes[:, packets - 1] > 0.0)
        target[rows, place] = index[eta[rows] - 1, k[rows] - packets]
        prob[:, place] = sizes[:, packets - 1]
    longer = np.maximum(1.0 - sizes.sum(axis=1), 0.0)
    rows = np.flatnonzero((longer > 0.0) & (eta > 0) & (k >= limit))
    target[rows, 1], prob[rows, 1] = index[eta[rows], k[rows] - limit], longer[rows]
    remaining = target >= 0
    starts = np.concatenate([[0], np.cumsum(remaining.sum(axis=1))])
    return csr_array(
        (prob[remaining], target[remaining], starts.astype(np.int32)), shape=(states, states)
    )
