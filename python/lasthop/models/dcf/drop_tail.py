r"""Poisson packets on a fixed-rate drop-tail link: M/D/1 and M/D/1/K.

Internally, time is measured in service times :math:`D`; arguments and results are in seconds. The
limit :math:`K` includes the packet in service, as in a scenario.

Reference: D. Gross, J. F. Shortle, J. M. Thompson, C. M. Harris, "Fundamentals of Queueing
Theory", 4th ed. (2008), sections 5.1.1 and 5.1.7.
"""

import math
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class DropTail:
    """Loss, occupancy and delay of a drop-tail link in equilibrium.

    Attributes
    ----------
    loss_prob : float
        Fraction of packets that are dropped at arrival. [-]
    occupancy_packets : float
        Time average of the packets waiting and in service. [packets]
    sojourn_s : float
        Mean waiting and service time of an accepted packet. [s]
    """

    loss_prob: float
    occupancy_packets: float
    sojourn_s: float


def md1_sojourn_s(arrival_rate: float, service_s: float) -> float:
    r"""Return the mean time in an M/D/1 queue without limit, including service. [s]

    .. math:: T = D + \frac{\rho D}{2 (1 - \rho)}, \qquad \rho = \lambda D

    Parameters
    ----------
    arrival_rate : float
        Poisson arrivals, :math:`\lambda`. [1/s]
    service_s : float
        Fixed service time, :math:`D`. [s]

    Notes
    -----
    The formula is that of Pollaczek and Khinchine for constant service times.
    """
    load = arrival_rate * service_s
    if not load < 1:
        raise ValueError(f"load {load:g} is not below 1: the queue has no steady state")
    return service_s + load * service_s / (2 * (1 - load))


def md1k(arrival_rate: float, service_s: float, limit: int) -> DropTail:
    r"""Return the state of an M/D/1/K queue.

    .. math:: P_K = 1 - \frac{1}{\pi_0 + \rho}, \qquad
              P_k = \frac{\pi_k}{\pi_0 + \rho} \; (k < K), \qquad
              T = \frac{\sum_k k P_k}{\lambda (1 - P_K)}

    :math:`P_k` is the probability that the queue has :math:`k` packets, and :math:`\rho = \lambda
    D` the load. :math:`\pi_k` is the stationary probability that :math:`k` packets remain when a
    packet departs.

    Parameters
    ----------
    arrival_rate : float
        Poisson arrivals, :math:`\lambda`. [1/s]
    service_s : float
        Fixed service time, :math:`D`. [s]
    limit : int
        Packets waiting plus the one in service, :math:`K`, at least 1. [packets]
    """
    load = arrival_rate * service_s
    left_behind = _left_behind(load, limit)
    scale = left_behind[0] + load
    loss = 1 - 1 / scale
    occupancy = sum(k * pi / scale for k, pi in enumerate(left_behind)) + limit * loss
    return DropTail(loss, occupancy, occupancy / (arrival_rate * (1 - loss)))


def _left_behind(load: float, limit: int) -> list[float]:
    r"""Return the distribution of the packets that remain at a departure, :math:`\pi_0 \dots
    \pi_{K-1}`. [-]

    .. math:: \pi_{k+1} a_0 = \pi_k - \pi_0 a_k - \sum_{i=1}^{k} \pi_i a_{k+1-i}, \qquad
              a_j = e^{-\rho} \rho^j / j!

    The code uses an equivalent recursion that has only sums of positive numbers, so that no digits
    cancel. The recursion equates the rates of the transitions from :math:`k` to :math:`k + 1`
    packets and back:

    .. math:: \pi_{k+1} a_0 = \pi_0 \bar a_{k} + \sum_{i=1}^{k} \pi_i \bar a_{k+1-i}, \qquad
              \bar a_j = \sum_{l > j} a_l
    """
    terms = limit + 60 + round(10 * load)  # omitted: Poisson tail below 1e-17
    arrivals = [math.exp(-load + j * math.log(load) - math.lgamma(j + 1)) for j in range(terms)]
    more = [*list(accumulate(reversed(arrivals)))[-2::-1], 0.0]
    weights = [1.0]
    for k in range(limit - 1):
        rising = weights[0] * more[k] + sum(weights[i] * more[k + 1 - i] for i in range(1, k + 1))
        weights.append(rising / arrivals[0])
    total = math.fsum(weights)
    return [weight / total for weight in weights]
