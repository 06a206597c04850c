"""Capacity region: the link rates that some schedule can carry (paper 001, section 3.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.models.acsma.errors import ConvergenceError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sets import Floats, maximal_sets


@dataclass(frozen=True)
class Capacity:
    r"""Distance of rates from the boundary of the capacity region.

    Attributes
    ----------
    stretch : float
        Largest factor by which all rates can be multiplied. If it exceeds 1, the rates are in the
        interior of the capacity region :math:`\Pi`; if it is below 1, no schedule carries the
        rates. [-]
    schedule : ndarray, shape (sets,)
        Schedule that carries the multiplied rates: fractions of time :math:`\tau_i` of the maximal
        independent sets. [-]
    sets : ndarray of bool, shape (sets, links)
        Maximal independent sets.
    """

    stretch: float
    schedule: Floats
    sets: NDArray[np.bool_]

    @property
    def inside(self) -> bool:
        """Whether the rates are in the interior of the capacity region."""
        return self.stretch > 1.0


def capacity(graph: ConflictGraph, rates: Floats) -> Capacity:
    r"""Return the distance of link rates from the boundary of the capacity region :math:`\Pi`.

    .. math:: \Pi = \{y \ge 0 \mid y_l \le \sum_{i: l \in i} \tau_i, \sum_i \tau_i = 1, \tau \ge 0\}

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    rates : ndarray, shape (links,)
        Rates of the links as fractions of their capacity, :math:`y`, not all zero. [-]

    Raises
    ------
    TooLargeError
        If there are too many independent sets to list them.
    ValueError
        If there is not one rate per link, if a rate is negative, or if all rates are zero.

    Notes
    -----
    The region is that of Eq. (3.1). The function solves a linear program over the maximal
    independent sets i, which are active for fractions :math:`\tau_i` of the time.
    """
    from scipy.optimize import linprog

    wanted = np.asarray(rates, dtype=np.float64)
    if wanted.shape != (len(graph),) or not (np.isfinite(wanted) & (wanted >= 0.0)).all():
        raise ValueError(f"rates: {len(graph)} numbers from 0 are needed, one per link")
    if not wanted.any():
        raise ValueError("rates: all are 0, which any schedule carries")
    sets = maximal_sets(graph)
    # The unknowns are the times for which the independent sets are active. The least sum of these
    # times is the inverse of the largest factor by which all rates can be multiplied.
    result = linprog(np.ones(len(sets)), A_ub=-sets.T.astype(np.float64), b_ub=-wanted)
    if not result.success or result.fun is None or result.x is None:
        raise ConvergenceError(f"capacity region: {result.message}")
    total = float(result.fun)
    return Capacity(1.0 / total, np.asarray(result.x, dtype=np.float64) / total, sets)
