"""Air time of links under legacy CSMA, in which all links use the same backoff (paper 001, section
4.1).
"""

import numpy as np

from lasthop.models.acsma.distribution import Airtime, Method, stationary_airtime
from lasthop.models.acsma.graph import ConflictGraph

PAPER_ACCESS_INTENSITY = 2.24
r"""Ratio of mean transmission time to mean backoff time, :math:`\rho`, in the simulations of paper
001 (section 4.1, after Wang and Kar). [-]
"""


def legacy_airtime(
    graph: ConflictGraph,
    access_intensity: float = PAPER_ACCESS_INTENSITY,
    method: Method | None = None,
) -> Airtime:
    r"""Return the fraction of time for which each link is active under legacy CSMA, if all links
    are saturated.

    .. math:: y_l = \frac{\sum_{i: l \in i} \rho^{|i|}}{\sum_{i'} \rho^{|i'|}}

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    access_intensity : float
        Ratio of mean transmission time to mean backoff time, :math:`\rho`, which is equal for all
        links. [-]
    method : str, optional
        Method, as for :func:`~lasthop.models.acsma.distribution.stationary_airtime`.

    Notes
    -----
    The formula is Eq. (4.1), with sums over independent sets i of links.
    """
    if not 0.0 < access_intensity < np.inf:
        raise ValueError(f"access_intensity = {access_intensity:g} is not above 0")
    z = np.full(len(graph), np.log(access_intensity))
    return stationary_airtime(graph, z, method=method)


def middle_of_topology_a(access_intensity: float) -> float:
    r"""Return the air time fraction of link 2 of topology a of paper 001 under legacy CSMA. [-]

    .. math:: y_2 = \frac{\rho}{2 \rho^2 + 4 \rho + 1}

    Notes
    -----
    The formula is Eq. (4.2). :math:`\rho` is the ratio of mean transmission time to mean backoff
    time.
    """
    rho = access_intensity
    return rho / (2.0 * rho**2 + 4.0 * rho + 1.0)
