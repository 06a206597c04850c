"""Oscillation of the queues of links whose aggressiveness is set at fixed intervals."""

from itertools import pairwise

import numpy as np

from lasthop.models.acsma.distribution import exact
from lasthop.models.acsma.network import Network
from lasthop.models.acsma.sets import Floats

EMPTY = 1e-9
"""Aggressiveness up to which a link's queue is treated as empty, since so small a value may be a
residual of the solver. [-]
"""


def queue_modes(network: Network, rates: Floats, aggressiveness: Floats, beta: float) -> Floats:
    r"""Return the eigenvalues of the linearised queue dynamics at the optimum, divided by the
    service rate C and by the aggressiveness per packet, alpha. [-]

    The queue of a link grows by its arrivals less its departures. The derivative of link i's
    departures with respect to the aggressiveness r of link j is the covariance of the activity of
    links i and j. The aggressiveness is set from the queues at intervals T and is constant in
    between. From one reading of the queues to the next, a mode with eigenvalue :math:`\lambda` is
    therefore multiplied by :math:`1 + \alpha C \lambda T`. If this factor is below -1, the mode
    oscillates with a growing amplitude. The rates of users are assumed to be constant.

    Parameters
    ----------
    network : Network
        Links and flows.
    rates : ndarray, shape (flows,)
        Rate of each flow at the optimum, :math:`x_s`. [packets/s]
    aggressiveness : ndarray, shape (wireless links,)
        Aggressiveness of each link at the optimum, :math:`r_l`. [-]
    beta : float
        Factor of the aggressiveness in the exponent of the backoff, :math:`\beta`. [-]

    Notes
    -----
    This analysis is not in the paper, where r follows the queue without delay, Eq. (5.1).
    """
    graph = network.graph.within(network.carrying)
    r = aggressiveness[list(network.carrying)]
    waiting = [int(link) for link in np.flatnonzero(r > EMPTY)]
    links = exact(graph)
    sent = [links.response(beta * r, direction)[waiting] for direction in np.eye(len(graph))]
    arriving = _onward(network, rates, [graph.links[link] for link in waiting])
    change = (arriving - np.eye(len(waiting))) @ np.transpose(sent)[:, waiting]
    return np.asarray(np.linalg.eigvals(beta * change))


def _onward(network: Network, rates: Floats, links: list[str]) -> Floats:
    """Return a matrix of fractions of packets. The value in row i and column j is the fraction of
    the packets of link j that link i forwards next.
    """
    place = {name: number for number, name in enumerate(links)}
    load, onward = np.zeros(len(links)), np.zeros((len(links), len(links)))
    for flow, rate in zip(network.flows, rates, strict=True):
        route = [place[link] for link in flow.route if link in place]
        load[route] += rate
        for link, following in pairwise(route):
            onward[following, link] += rate
    return onward / load
