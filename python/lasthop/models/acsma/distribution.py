"""Air time of the links of a CSMA network, by a method that suits the size of the network."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from lasthop.models.acsma.errors import TooLargeError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sampling import sample_airtime
from lasthop.models.acsma.sets import Enumeration, Floats
from lasthop.models.acsma.tree import JunctionTree

Method = Literal["enumeration", "junction tree", "sampling"]
Exact: TypeAlias = Enumeration | JunctionTree

FEW_LINKS = 12
"""Number of links up to which all independent sets are listed: at most 4096 sets."""

ROUNDING = 1e-12
"""Error that is reported for the exact methods, due to rounding. [-]"""


@dataclass(frozen=True)
class Airtime:
    """Fraction of time for which each link is active, and the method of computation.

    Attributes
    ----------
    airtime : ndarray, shape (links,)
        Fraction of time for which each link is active, :math:`y_l` of Eq. (3.3). [-]
    method : str
        ``"enumeration"``, ``"junction tree"`` or ``"sampling"``.
    error : float
        Largest error of any link. For an exact method it is the rounding error. For sampling it is
        the half width of a confidence interval that includes the values of all links with 95 %
        probability. [-]
    states : int
        Size of the computation. It is the number of independent sets (enumeration), the number of
        states of all bags (junction tree), or the number of sweeps of each chain (sampling).
    """

    airtime: Floats
    method: Method
    error: float
    states: int


def exact(graph: ConflictGraph, method: Method | None = None) -> Exact:
    """Return an exact method for a graph: enumeration for a small graph, or a junction tree for a
    larger graph.

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    method : "enumeration" or "junction tree", optional
        Requested method; by default enumeration for a small graph, or else a junction tree.

    Raises
    ------
    TooLargeError
        If the graph is too large and too dense for an exact method.
    """
    if method == "enumeration" or (method is None and len(graph) <= FEW_LINKS):
        return Enumeration(graph)
    return JunctionTree(graph)


def stationary_airtime(
    graph: ConflictGraph,
    log_fugacity: Floats,
    *,
    method: Method | None = None,
    tolerance: float = 0.01,
    seed: int = 1,
) -> Airtime:
    r"""Return the fraction of time for which each link is active if all links are saturated,
    :math:`y_l` of Eq. (3.3).

    A link without an active neighbour counts down for an exponential time with mean
    :math:`\exp(-\beta r_l)`, in units of the mean transmission time. Then it transmits. Only the
    means of both times matter, not their distributions.

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    log_fugacity : ndarray, shape (links,)
        :math:`\beta r_l`: logarithm of the ratio of mean transmission time to mean backoff time.
        [-]
    method : str, optional
        ``"enumeration"``, ``"junction tree"`` or ``"sampling"``; by default an exact method if the
        size and width of the graph allow it, or else sampling.
    tolerance, seed : float, int
        For sampling: largest error of any link, and seed of the random numbers.

    Raises
    ------
    TooLargeError
        If the requested method cannot process the graph.
    ConvergenceError
        If the error of sampling exceeds the tolerance.
    ValueError
        If there is not one finite value per link, or if there is no such method.
    """
    z = np.asarray(log_fugacity, dtype=np.float64)
    if z.shape != (len(graph),) or not np.isfinite(z).all():
        raise ValueError(f"log_fugacity: {len(graph)} finite numbers are needed, one per link")
    if method not in (None, "enumeration", "junction tree", "sampling"):
        raise ValueError(
            f'method: {method!r} is none of "enumeration", "junction tree", "sampling"'
        )
    if method != "sampling":
        try:
            result = exact(graph, method)
        except TooLargeError:
            if method is not None:
                raise
        else:
            method = "enumeration" if isinstance(result, Enumeration) else "junction tree"
            return Airtime(result.airtime(z), method, ROUNDING, result.states)
    sample = sample_airtime(graph, z, tolerance, seed)
    return Airtime(sample.airtime, "sampling", sample.error, sample.sweeps)
