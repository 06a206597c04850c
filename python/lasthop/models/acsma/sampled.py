"""Oscillation of the queues of links whose aggressiveness is set at fixed intervals."""

from itertools import pairwise

import numpy as np

from lasthop.models.acsma.distribution import exact
from lasthop.models.acsma.network import Network
from lasthop.models.acsma.sets import Floats

EMPTY = 1e-9
"""Aggressiveness of a link whose queue counts as empty; it is the solver's residual. [-]"""


def queue_modes(network: Network, rates: Floats, aggressiveness: Floats, beta: float) -> Floats:
    r"""Return the eigenvalues of the queue dynamics near the optimum, per packet/s and r per
    packet. [-]

    A queue grows by its arrivals less the departures from its link. The departures follow every r
    by the covariance of the links' activity. Between two readings of the queues, a time T apart, r
    is constant. From one reading to the next, a mode with eigenvalue :math:`\lambda` is multiplied
    by :math:`1 + \alpha C \lambda T`. If this factor is below -1, the mode oscillates with a
    growing amplitude. The rates of users are assumed to be constant.

    Parameters
    ----------
    network : Network
        Links and flows.
    rates : ndarray, shape (flows,)
        :math:`x_s` at the optimum. [packets/s]
    aggressiveness : ndarray, shape (wireless links,)
        :math:`r_l` at the optimum. [-]
    beta : float
        Factor of r in the exponent of the backoff, :math:`\beta`. [-]

    Notes
    -----
    Not in the paper, where r follows its queue without delay (5.1).
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
    """Return the fraction of the packets from each of these links (column) that go to each link
    (row) next.
    """
    place = {name: number for number, name in enumerate(links)}
    load, onward = np.zeros(len(links)), np.zeros((len(links), len(links)))
    for flow, rate in zip(network.flows, rates, strict=True):
        route = [place[link] for link in flow.route if link in place]
        load[route] += rate
        for link, following in pairwise(route):
            onward[following, link] += rate
    return onward / load
