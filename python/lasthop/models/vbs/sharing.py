r"""Shares of the classes in the AP's queue, and losses of the queue (paper 000, section IV-C)."""

from collections.abc import Callable

import numpy as np

from lasthop.models.errors import ConvergenceError
from lasthop.models.vbs.chain import Floats

LEAST, MOST = 1e-9, 1e3
"""Lower and upper limit of the search for the loss rate. [-]"""

NEAR = 0.01
"""Relative distance between the initial guess and the first two trial values in the search for the
loss rate. [-]
"""


def head_of_line_shares(counts: Floats, in_flight: Floats) -> Floats:
    r"""Return the fraction of the AP's queue that each class has, :math:`h_i`. [-]

    .. math:: h_i = \frac{n_i E[W_i]}{\sum_j n_j E[W_j]}

    Parameters
    ----------
    counts : ndarray
        Connections of each class, :math:`n_i`. [connections]
    in_flight : ndarray
        Mean packets per connection of each class in the network, :math:`E[W_i]`, or any measure of
        its arrivals at the AP. [packets]

    Notes
    -----
    The formula is Eq. (17), which applies if all connections have the same round-trip time.
    """
    offered = counts * in_flight
    return np.asarray(offered / offered.sum())


def shares_of_throughput(counts: Floats, goodput: Floats, discards: Floats) -> Floats:
    r"""Return the shares of the classes in the AP's queue, computed from delivered packets. [-]

    .. math:: h_i = \frac{n_i \Theta_i / (1 - p_{d,i})}{\sum_j n_j \Theta_j / (1 - p_{d,j})}

    Notes
    -----
    The formula is the last form of Eq. (17), where the paper prints :math:`1 + p_{d,i}` instead of
    :math:`1/(1 - p_{d,i})`. :math:`n_i` is the number of connections, :math:`\Theta_i` their
    goodput, and :math:`p_{d,i}` the discard probability.
    """
    return head_of_line_shares(counts, goodput / (1.0 - discards))


def packets_offered(counts: Floats, windows: Floats) -> float:
    r"""Return the packets in flight of all connections, :math:`\sum_i n_i E[W_i]`. [packets]

    Notes
    -----
    The sum is Eq. (18): :math:`n_i` connections of class i with the mean window :math:`E[W_i]`.
    """
    return float(counts @ windows)


def packets_held(buffer: float, counts: Floats, goodput: Floats, wire_s: float) -> float:
    r"""Return the packets in a full buffer and on the wire, :math:`B_{ap} + \sum_i n_i \Theta_i T`.
    [packets]

    Parameters
    ----------
    buffer : float
        Size of the AP's buffer, :math:`B_{ap}`. [packets]
    counts : ndarray
        Number of connections of each class. [connections]
    goodput : ndarray
        Goodput of each connection, :math:`\Theta_i`. [packets/s]
    wire_s : float
        Round-trip propagation time, :math:`T`. [s]

    Notes
    -----
    The sum is the left side of Eq. (20) and, without delay, of Eq. (19).
    """
    return buffer + float(counts @ goodput) * wire_s


def loss_rate(excess: Callable[[float], float], guess: float) -> float:
    """Return the loss rate at which the packets in flight (`packets_offered`) equal the packets in
    a full buffer and on the wire (`packets_held`). The result is 0 if at every loss rate fewer
    packets are in flight than the full buffer and the wire can contain.

    Parameters
    ----------
    excess : callable
        Function that is given a loss rate and returns the first of these two numbers less the
        second. It must decrease with the loss rate.
    guess : float
        Initial guess.

    Notes
    -----
    The function solves Eq. (19) or (20) for :math:`p_b`.
    """
    from scipy.optimize import brentq

    low = min(max(guess * (1.0 - NEAR), LEAST), MOST / 2.0)
    at_low = excess(low)
    step = 1.0 + 2.0 * NEAR
    while at_low < 0.0:
        if low <= LEAST:
            return 0.0
        low, step = max(low / step, LEAST), 8.0 * step
        at_low = excess(low)
    high, step = low * (1.0 + 4.0 * NEAR), 2.0
    while excess(high) > 0.0:
        if high >= MOST:
            raise ConvergenceError("no loss rate brings the offered load down to the AP's service")
        low, high, step = high, min(step * high, MOST), 2.0 * step
    return float(brentq(excess, low, high, xtol=1e-12, rtol=1e-9))
