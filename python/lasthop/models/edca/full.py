r"""Full Markov chain of the paper (section 3.2), with and without TXOP (section 4.1).

A state consists of the numbers of stations with 0, 1, ..., W packets, for N stations with windows
of W packets. There are :math:`\binom{N + W}{W}` states: 330 for the paper's seven stations and
window 4.
"""

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from lasthop.models.edca.cell import Integers
from lasthop.models.edca.contention import Contention
from lasthop.models.edca.elimination import eliminated
from lasthop.models.edca.levels import Chain, stationary, transitions
from lasthop.models.edca.occupancy import Occupancy, merged

MAX_STATES = 60_000
"""Largest number of states for which the full chain is used by default. A chain of this size is
solved in one or two seconds on one processor.
"""

FEW_STATES = 2000
"""Number of states up to which elimination is faster than the iteration by levels. With 1,300
states elimination is ten times faster.
"""

SHORT_BURST = 2
"""Largest AP burst for which elimination was measured to be faster than the iteration by levels.
With longer bursts the matrix is dense, since a transition leads to most of the states. [packets]
"""

HASH = np.uint64(6364136223846793005)
"""Odd multiplier. The hash of a state is the sum of its numbers of stations, multiplied by powers
of this value.
"""


def state_count(stations: int, window: int) -> int:
    r"""Return the number of states, :math:`M = \binom{N + W}{W}`, for N stations with windows of W
    packets.
    """
    return comb(stations + window, window)


def solve_full(
    stations: int, window: int, at: Contention, ap_packets: int = 1, station_packets: int = 1
) -> Occupancy:
    """Return the stationary distribution of the full chain.

    Parameters
    ----------
    stations, window : int
        Number of stations, :math:`N`, and window of each station, :math:`W` packets.
    at : Contention
        Probabilities that the next success is a success of the AP or of a station, by situation.
    ap_packets, station_packets : int
        TXOP limits of the AP and of a station, :math:`\\xi_{AP}` and :math:`\\xi_{STA}`. [packets]
    """
    counts = states(stations, window)
    chain, active, at_stations = build(counts, at, ap_packets, station_packets)
    prob = None
    if len(counts) <= FEW_STATES and chain.ap_packets <= SHORT_BURST:
        prob = eliminated(chain, reference=0)
    if prob is None:
        prob = stationary(chain, np.ones(len(counts)))
    packets = np.minimum(np.arange(window + 1), station_packets)
    sent = (counts @ packets) / np.maximum(active, 1)
    return merged(active, at_stations, prob, sent)


def states(stations: int, window: int) -> Integers:
    """Return all states: the numbers of stations with 0 to W packets, :math:`N^0 ... N^W` (eq. 2).
    The states are sorted by the number of packets at the stations.
    """
    queues = np.array(
        list(combinations_with_replacement(range(window + 1), stations)), dtype=np.int64
    )
    queues = queues[np.argsort(queues.sum(axis=1), kind="stable")]
    return np.stack([(queues == packets).sum(axis=1) for packets in range(window + 1)], axis=1)


def build(
    counts: Integers, at: Contention, ap_packets: int, station_packets: int
) -> tuple[Chain, Integers, Integers]:
    """Return the Markov chain over the given states. For each state, also return the number of
    active stations and the number of packets at stations.

    Notes ----- The transitions are those of Eqs. (3), (5), (6), (8)-(10) and (26). A burst of the
    AP is a sequence of single packets (eqs. 23-25), which :mod:`~lasthop.models.edca.levels`
    follows without powers of a matrix. The condition of section 4.1.1 is :math:`Q_k - Q_m = n`:
    from state :math:`k` to state :math:`m`, the AP's queue shrinks by the :math:`n` packets of a
    burst.
    """
    window = counts.shape[1] - 1
    stations = int(counts[0].sum())
    classes = np.arange(window + 1)
    at_stations = counts @ classes
    at_ap = stations * window - at_stations
    active = stations - counts[:, 0]
    multiplier = np.cumprod(np.full(window + 1, HASH))
    index = _Index(counts, multiplier)

    up, down = [], []
    for packets in range(window):
        rows = np.flatnonzero(counts[:, packets])
        columns = index.after(rows, packets, packets + 1)
        prob = counts[rows, packets] * (window - packets) / at_ap[rows]
        up.append((rows, columns, prob))
    for packets in range(1, window + 1):
        rows = np.flatnonzero(counts[:, packets])
        columns = index.after(rows, packets, max(packets - station_packets, 0))
        down.append((rows, columns, counts[rows, packets] / active[rows]))

    situation = np.where(at_ap > 0, active, stations + 1)
    chain = Chain(
        first=np.searchsorted(at_stations, np.arange(stations * window + 2)),
        ap_wins=at.ap_wins[situation],
        one_packet=transitions(up, len(counts)),
        station_burst=transitions(down, len(counts)),
        ap_packets=min(ap_packets, stations * window),
        station_packets=min(station_packets, window),
    )
    return chain, active, at_stations


class _Index:
    """Index of states by a hash that is linear in the numbers of stations, modulo 2^64."""

    def __init__(self, counts: Integers, multiplier: np.ndarray) -> None:
        self.multiplier = multiplier
        self.keys = (counts.astype(np.uint64) * multiplier).sum(axis=1, dtype=np.uint64)
        self.order = np.argsort(self.keys)
        self.sorted = self.keys[self.order]
        if np.any(self.sorted[1:] == self.sorted[:-1]):
            raise ArithmeticError("two states have the same key")

    def after(self, rows: Integers, taken: int, given: int) -> Integers:
        """Return the indices of the states that follow if one station changes from `taken` to
        `given` packets.
        """
        with np.errstate(over="ignore"):
            keys = self.keys[rows] - self.multiplier[taken] + self.multiplier[given]
        return np.asarray(self.order[np.searchsorted(self.sorted, keys)])
