"""Distribution of the packets over the queues, which each solver returns."""

from dataclasses import dataclass

import numpy as np

from lasthop.models.edca.cell import Floats, Integers


@dataclass(frozen=True)
class Occupancy:
    """States at the ends of virtual slots; states with equal virtual slots are merged.

    Attributes
    ----------
    active : ndarray of int
        Active stations, :math:`\\eta`.
    at_stations : ndarray of int
        Packets at the stations, :math:`K`; the AP's queue holds the rest. [packets]
    prob : ndarray
        Stationary probability. [-]
    station_packets : ndarray
        Mean packets that a station sends on its next success. [packets]
    states : int
        States of the chain that was solved.
    """

    active: Integers
    at_stations: Integers
    prob: Floats
    station_packets: Floats
    states: int


def merged(
    active: Integers, at_stations: Integers, prob: Floats, station_packets: Floats
) -> Occupancy:
    """Return the occupancy of a chain's states, with states of equal counts merged."""
    pairs = np.stack([active, at_stations])
    remaining, index = np.unique(pairs, axis=1, return_inverse=True)
    total = np.bincount(index.ravel(), prob).astype(float)
    weighted = np.bincount(index.ravel(), prob * station_packets)
    mean = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0.0)
    return Occupancy(remaining[0], remaining[1], total, mean, len(prob))
