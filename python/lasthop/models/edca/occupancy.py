"""Distribution of the packets over AP and stations, which each solver returns."""

from dataclasses import dataclass

import numpy as np

from lasthop.models.edca.cell import Floats, Integers


@dataclass(frozen=True)
class Occupancy:
    """Stationary distribution of the states at the times of successful transmissions. States with
    equal numbers of active stations and packets at stations are merged.

    Attributes
    ----------
    active : ndarray of int
        Number of active stations in each state, :math:`\\eta`.
    at_stations : ndarray of int
        Packets at the stations in each state, :math:`K`. The other packets are in the AP's queue.
        [packets]
    prob : ndarray
        Stationary probability of each state. [-]
    station_packets : ndarray
        Mean packets that a station sends on its next success. [packets]
    states : int
        Number of states of the chain that was solved.
    """

    active: Integers
    at_stations: Integers
    prob: Floats
    station_packets: Floats
    states: int


def merged(
    active: Integers, at_stations: Integers, prob: Floats, station_packets: Floats
) -> Occupancy:
    """Return the distribution of a chain. States with equal numbers of active stations and of
    packets at stations are merged.
    """
    pairs = np.stack([active, at_stations])
    remaining, index = np.unique(pairs, axis=1, return_inverse=True)
    total = np.bincount(index.ravel(), prob).astype(float)
    weighted = np.bincount(index.ravel(), prob * station_packets)
    mean = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0.0)
    return Occupancy(remaining[0], remaining[1], total, mean, len(prob))
