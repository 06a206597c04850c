"""Reno's congestion avoidance as a fluid, over one connection and several (section 3.4)."""

import numpy as np

from lasthop.models.acsma.sets import Floats


def projected(speed: Floats, value: Floats) -> Floats:
    r"""Return a derivative that does not take a value below zero, :math:`[g]_z^+`.

    Notes
    -----
    Eq. (3.5).
    """
    return np.where(np.asarray(value) <= 0.0, np.maximum(speed, 0.0), speed)


def rate_speed(rate: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the change of the rate of one Reno connection. [packets/s^2]

    .. math:: \dot x_s = \frac{x_s^2}{2} \Bigl(\frac{2}{T_s^2 x_s^2} - \sum_{l \in s} p_l\Bigr)

    Parameters
    ----------
    rate : ndarray
        :math:`x_s`. [packets/s]
    rtt_s : ndarray
        :math:`T_s`. [s]
    price : ndarray
        Probability that a packet is lost on the route. [-]

    Notes
    -----
    Eq. (3.6).
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
    Eq. (3.7), (5.34), (A.3).
    """
    excess = np.maximum(load - capacity, 0.0)
    return np.divide(excess, load, out=np.zeros_like(excess), where=load > 0.0)


def window_speed(window: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the change of the window of one connection. [packets/s]

    .. math:: \dot W_s = \frac{1}{T_s} - \frac{W_s^2}{2 T_s} \sum_{l \in s} p_l

    Notes
    -----
    Eq. (5.5). With :math:`x_s = n_s W_s / T_s` (5.6) it becomes (5.7).
    """
    return 1.0 / rtt_s - window**2 / (2.0 * rtt_s) * price


def rate_speed_of_many(rate: Floats, connections: Floats, rtt_s: Floats, price: Floats) -> Floats:
    r"""Return the change of the rate of all connections of a user together. [packets/s^2]

    .. math:: \dot x_s = \frac{x_s^2}{2 n_s}
              \Bigl(\frac{2 n_s^2}{T_s^2 x_s^2} - \sum_{l \in s} p_l\Bigr)

    Parameters
    ----------
    rate : ndarray
        :math:`x_s` of all connections together. [packets/s]
    connections : ndarray
        :math:`n_s`. [-]
    rtt_s : ndarray
        :math:`T_s`. [s]
    price : ndarray
        Probability that a packet is lost on the route. [-]

    Notes
    -----
    Eq. (5.2), (5.7), (5.31).
    """
    return rate**2 / (2.0 * connections) * (2.0 * connections**2 / (rtt_s * rate) ** 2 - price)


def connections_for_rtt(k: float, rtt_s: Floats) -> Floats:
    """Return the number of connections that a user opens, :math:`n_s = k T_s` (5.1), (5.30),
    (5.40). [-]
    """
    return k * rtt_s


def connections_beside_errors(k: float, rtt_s: Floats, marked: Floats, lost: Floats) -> Floats:
    r"""Return the number of connections that compensates for channel errors. [-]

    .. math:: n_s = k T_s \sqrt{1 + e_s / r_s}

    The equilibrium window is :math:`W = \sqrt{2 / (r + e)}` (3.6), so that :math:`n W / T` is
    :math:`k \sqrt{2 / r}`, the rate of (5.1) and (5.2) without errors. This is beyond the paper and
    answers the outlook of its section 7.2.

    Parameters
    ----------
    k : float
        :math:`k`. [1/s]
    rtt_s : ndarray
        :math:`T_s`. [s]
    marked : ndarray
        :math:`r_s`, price of the route, which is the marking probability. [-]
    lost : ndarray
        :math:`e_s`, the fraction of the packets that the channel loses. [-]
    """
    ratio = np.divide(lost, marked, out=np.zeros_like(lost), where=marked > 0.0)
    return k * rtt_s * np.sqrt(1.0 + ratio)


def connections_for_utility(k: float, marginal: Floats, rtt_s: Floats, rate: Floats) -> Floats:
    r"""Return the number of connections that realises any utility. [-]

    .. math:: n_s = k \sqrt{U'_s(x_s) T_s^2 x_s^2 / 2}

    Parameters
    ----------
    k : float
        :math:`k`. [1/s]
    marginal : ndarray
        :math:`U'_s(x_s)`.
    rtt_s : ndarray
        :math:`T_s`. [s]
    rate : ndarray
        :math:`x_s`. [packets/s]

    Notes
    -----
    Eq. (5.29). For :math:`U = -1/x` it gives :math:`k T_s / \sqrt 2`, not :math:`k T_s`.
    """
    return np.asarray(k * np.sqrt(marginal * rtt_s**2 * rate**2 / 2.0))
