"""Fluid model of Reno's congestion avoidance, for one connection and for several connections of a
user (paper 001, section 3.4).
"""

import numpy as np

from lasthop.models.acsma.sets import Floats


def projected(speed: Floats, value: Floats) -> Floats:
    r"""Return a derivative that is set to 0 where it would make a value negative, :math:`[g]_z^+`.

    Notes
    -----
    The notation is that of Eq. (3.5): the derivative :math:`g` of a value :math:`z`.
    """
    return np.where(np.asarray(value) <= 0.0, np.maximum(speed, 0.0), speed)


def rate_speed(rate: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the time derivative of the rate of one Reno connection. [packets/s^2]

    .. math:: \dot x_s = \frac{x_s^2}{2} \Bigl(\frac{2}{T_s^2 x_s^2} - \sum_{l \in s} p_l\Bigr)

    Parameters
    ----------
    rate : ndarray
        Rate of the connection, :math:`x_s`. [packets/s]
    rtt_s : ndarray
        Round-trip time, :math:`T_s`. [s]
    price : ndarray
        Probability that a packet is lost on the route. [-]

    Notes
    -----
    The formula is Eq. (3.6). :math:`p_l` is the loss probability of link :math:`l`.
    """
    return rate**2 / 2.0 * (2.0 / (rtt_s**2 * rate**2) - price)


def drop_tail_loss(load: Floats, capacity: Floats) -> Floats:
    r"""Return the fraction of the packets that a full drop-tail queue loses. [-]

    .. math:: p_l = (\sum_{s: l \in s} x_s - y_l)^+ / \sum_{s: l \in s} x_s

    Parameters
    ----------
    load, capacity : ndarray
        Rates of arrival and of departure. [packets/s]

    Notes
    -----
    The formula is that of Eqs. (3.7), (5.34) and (A.3).
    """
    excess = np.maximum(load - capacity, 0.0)
    return np.divide(excess, load, out=np.zeros_like(excess), where=load > 0.0)


def window_speed(window: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the time derivative of the window of one Reno connection. [packets/s]

    .. math:: \dot W_s = \frac{1}{T_s} - \frac{W_s^2}{2 T_s} \sum_{l \in s} p_l

    Notes ----- The formula is Eq. (5.5). :math:`T_s` is the round-trip time, and :math:`\sum_{l \in
    s} p_l` the loss probability of the route. With the rate :math:`x_s = n_s W_s / T_s` of Eq.
    (5.6), for :math:`n_s` connections, the formula becomes Eq. (5.7).
    """
    return 1.0 / rtt_s - window**2 / (2.0 * rtt_s) * price


def rate_speed_of_many(rate: Floats, connections: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the time derivative of the total rate of a user's connections. [packets/s^2]

    .. math:: \dot x_s = \frac{x_s^2}{2 n_s}
              \Bigl(\frac{2 n_s^2}{T_s^2 x_s^2} - \sum_{l \in s} p_l\Bigr)

    Parameters
    ----------
    rate : ndarray
        Total rate of all connections, :math:`x_s`. [packets/s]
    connections : ndarray
        Number of connections, :math:`n_s`. [-]
    rtt_s : ndarray
        Round-trip time, :math:`T_s`. [s]
    price : ndarray
        Probability that a packet is lost on the route. [-]

    Notes
    -----
    The formula is that of Eqs. (5.2), (5.7) and (5.31).
    """
    return rate**2 / (2.0 * connections) * (2.0 * connections**2 / (rtt_s * rate) ** 2 - price)


def connections_for_rtt(k: float, rtt_s: Floats) -> Floats:
    """Return the number of connections that a user opens for the round-trip time :math:`T_s`:
    :math:`n_s = k T_s`, Eqs. (5.1), (5.30), (5.40). [-]
    """
    return k * rtt_s


def connections_beside_errors(k: float, rtt_s: Floats, marked: Floats, lost: Floats) -> Floats:
    r"""Return the number of connections with which channel errors do not affect a user's rate. [-]

    .. math:: n_s = k T_s \sqrt{1 + e_s / r_s}

    By Eq. (3.6) the equilibrium window is :math:`W = \sqrt{2 / (r + e)}`. The rate :math:`n W / T`
    is therefore :math:`k \sqrt{2 / r}`, as in Eqs. (5.1) and (5.2) without channel errors. The
    formula is not in the paper; it solves a problem that section 7.2 leaves open.

    Parameters
    ----------
    k : float
        Number of connections per second of round-trip time without errors, :math:`k`. [1/s]
    rtt_s : ndarray
        Round-trip time, :math:`T_s`. [s]
    marked : ndarray
        Price of the route, :math:`r_s`, which is the marking probability. [-]
    lost : ndarray
        Fraction of the packets that the channel loses, :math:`e_s`. [-]
    """
    ratio = np.divide(lost, marked, out=np.zeros_like(lost), where=marked > 0.0)
    return k * rtt_s * np.sqrt(1.0 + ratio)


def connections_for_utility(k: float, marginal: Floats, rtt_s: Floats, rate: Floats) -> Floats:
    r"""Return the number of connections that leads to the optimum for a given utility. [-]

    .. math:: n_s = k \sqrt{U'_s(x_s) T_s^2 x_s^2 / 2}

    Parameters
    ----------
    k : float
        Factor of the number of connections, :math:`k`. [1/s]
    marginal : ndarray
        Marginal utility, :math:`U'_s(x_s)`.
    rtt_s : ndarray
        Round-trip time, :math:`T_s`. [s]
    rate : ndarray
        Rate of the user, :math:`x_s`. [packets/s]

    Notes
    -----
    The formula is Eq. (5.29). For :math:`U = -1/x` the result is :math:`k T_s / \sqrt 2`, not
    :math:`k T_s`.
    """
    return np.asarray(k * np.sqrt(marginal * rtt_s**2 * rate**2 / 2.0))
