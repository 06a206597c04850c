r"""TCP Reno under independent loss: the formulas of Padhye et al.

J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Reno performance: a simple model and its
empirical validation", IEEE/ACM Trans. Networking 8(2), 2000. The hot-spot paper uses Eqs. (32) and
(37) of this paper with a timeout T0 = RTT and b = 2 segments per ACK (definitions d12, d13).

In all functions, ``loss`` is the probability :math:`p` that a segment is lost, given that no
earlier segment of its round is lost. ``window`` is the receive window :math:`W_m` in segments, and
``segments_per_ack`` the number :math:`b` of segments that one ACK acknowledges.
"""

from functools import lru_cache
from math import expm1, log1p, sqrt

from lasthop.scenario.transports import DELAYED_ACK


def _check_loss(loss: float) -> None:
    if not 0.0 <= loss < 1.0:
        raise ValueError(f"loss probability {loss!r} is not in [0, 1)")


def _check_window(window: float) -> None:
    if not window >= 1.0:
        raise ValueError(f"window {window!r} is not at least 1 segment")


def mean_window(loss: float, segments_per_ack: float = DELAYED_ACK) -> float:
    r"""Return the mean congestion window at the end of a loss-free period, :math:`W(p)`. [segments]

    .. math:: W(p) = \frac{2+b}{3b} + \sqrt{\frac{8(1-p)}{3bp} + \Big(\frac{2+b}{3b}\Big)^2}

    Parameters
    ----------
    loss : float
        Segment loss probability, :math:`0 < p < 1`. [-]
    segments_per_ack : float
        Segments per ACK, :math:`b`. [segments]

    Raises
    ------
    ValueError
        If the loss is outside (0, 1).

    Notes
    -----
    The formula is :math:`E[W]` of Padhye et al. 2000, without a window limit.
    """
    _check_loss(loss)
    if loss == 0.0:
        raise ValueError("the unlimited window has no mean at loss 0")
    constant = (2.0 + segments_per_ack) / (3.0 * segments_per_ack)
    return constant + sqrt(8.0 * (1.0 - loss) / (3.0 * segments_per_ack * loss) + constant**2)


def timeout_probability(loss: float, window: float) -> float:
    r"""Return the probability that a loss in a window of :math:`w` segments ends in a timeout,
    :math:`Q(p, w)`. [-]

    .. math::
        Q = \min\Big(1, \frac{(1-(1-p)^3)\,(1+(1-p)^3(1-(1-p)^{w-3}))}{1-(1-p)^w}\Big)

    Parameters
    ----------
    loss : float
        Segment loss probability, :math:`p`. [-]
    window : float
        Congestion window when the loss occurs, :math:`w`. [segments]

    Notes
    -----
    The formula is from Padhye et al. 2000. With a window of at most three segments fewer than three
    duplicate ACKs can return, so that Q = 1. At loss 0 the limit :math:`\min(1, 3/w)` is returned.
    """
    _check_loss(loss)
    if window <= 3.0:
        return 1.0
    if loss == 0.0:
        return 3.0 / window
    survive = log1p(-loss)
    three = -expm1(3.0 * survive)
    rest = -expm1((window - 3.0) * survive)
    total = -expm1(window * survive)
    return min(1.0, three * (1.0 + (1.0 - three) * rest) / total)


def backoff_factor(loss: float) -> float:
    r"""Return the mean duration of a sequence of timeouts, multiplied by 1 - p and divided by the
    first timeout T0: :math:`f(p)`. [-]

    .. math:: f(p) = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6

    Notes
    -----
    The formula is from Padhye et al. 2000. The timeout doubles six times and then remains at 64 T0.
    p is the loss probability.
    """
    _check_loss(loss)
    p = loss
    return 1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))))


def _period(
    loss: float, window: float, rtt: float, rto: float, segments_per_ack: float
) -> tuple[float, float, float]:
    """Return the window, timeout probability and duration [s] of a loss period, which both
    `send_rate` and `receive_rate` use.
    """
    b = segments_per_ack
    unlimited = mean_window(loss, b)
    if unlimited < window:
        size = unlimited
        rounds = b / 2.0 * unlimited + 1.0
    else:
        size = window
        rounds = b / 8.0 * window + (1.0 - loss) / (loss * window) + 2.0
    timeout = timeout_probability(loss, size)
    duration = rtt * rounds + timeout * rto * backoff_factor(loss) / (1.0 - loss)
    return size, timeout, duration


def send_rate(
    loss: float,
    window: float,
    rtt: float,
    rto: float,
    segments_per_ack: float = DELAYED_ACK,
) -> float:
    r"""Return the number of segments that a Reno sender sends per second, :math:`B(p)`.
    [segments/s]

    .. math::
        B = \begin{cases}
        \dfrac{\frac{1-p}{p} + W + \frac{Q(p,W)}{1-p}}
              {RTT(\frac b2 W+1) + Q(p,W)\,T_0\,\frac{f(p)}{1-p}} & W(p) < W_m\\[2ex]
        \dfrac{\frac{1-p}{p} + W_m + \frac{Q(p,W_m)}{1-p}}
              {RTT(\frac b8 W_m + \frac{1-p}{pW_m} + 2) + Q(p,W_m)\,T_0\,\frac{f(p)}{1-p}}
              & \text{else}
        \end{cases}

    Parameters
    ----------
    loss : float
        Segment loss probability, :math:`p`. [-]
    window : float
        Receive window, :math:`W_m`. [segments]
    rtt, rto : float
        Round-trip time and first retransmission timeout, :math:`RTT, T_0`. [s]
    segments_per_ack : float
        Segments per ACK, :math:`b`. [segments]

    Returns
    -------
    float
        Rate including retransmissions. At loss 0 the result is the limit :math:`W_m / RTT`.

    Raises
    ------
    ValueError
        If the loss is outside [0, 1) or the window is below one segment.

    Notes
    -----
    The formula is Padhye et al. 2000, Eq. (32). W(p) is `mean_window`, Q `timeout_probability`, and
    f `backoff_factor`. With b = 2 the two branches agree at W(p) = W_m. With b = 1 and W(p) = W_m
    the second branch is lower than the first by the fraction 0.25 / (W_m / 2 + 1.25).
    """
    _check_loss(loss)
    _check_window(window)
    if loss == 0.0:
        return window / rtt
    size, timeout, duration = _period(loss, window, rtt, rto, segments_per_ack)
    return ((1.0 - loss) / loss + size + timeout / (1.0 - loss)) / duration


def receive_rate(
    loss: float,
    window: float,
    rtt: float,
    rto: float,
    segments_per_ack: float = DELAYED_ACK,
) -> float:
    r"""Return the number of segments that arrive at a Reno receiver per second, :math:`T(p)`.
    [segments/s]

    The formula is that of `send_rate`, Eq. (32), with the numerators :math:`\frac{1-p}{p} + \frac
    W2 + Q(p, W)` and :math:`\frac{1-p}{p} + \frac{W_m}2 + Q(p, W_m)`.

    Parameters
    ----------
    loss, window, rtt, rto, segments_per_ack
        Parameters of :func:`send_rate`.

    Returns
    -------
    float
        Rate of useful segments. At loss 0 the result is the limit :math:`W_m / RTT`.

    Raises
    ------
    ValueError
        If the loss is outside [0, 1) or the window is below one segment.

    Notes
    -----
    The formula is Padhye et al. 2000, Eq. (37).
    """
    _check_loss(loss)
    _check_window(window)
    if loss == 0.0:
        return window / rtt
    size, timeout, duration = _period(loss, window, rtt, rto, segments_per_ack)
    return ((1.0 - loss) / loss + size / 2.0 + timeout) / duration


@lru_cache(maxsize=4096)
def sent_per_rtt(loss: float, window: float, segments_per_ack: float = DELAYED_ACK) -> float:
    r"""Return the number of segments sent per round-trip time, :math:`NSR(p, W)`. [segments]

    .. math:: NSR(p, W) = RTT \cdot B(p) \quad\text{with}\quad T_0 = RTT

    Notes
    -----
    This is definition d12 of the hot-spot paper. :math:`B(p)` is `send_rate`, and :math:`T_0` its
    first timeout. At loss 0 the result is the window.
    """
    return send_rate(loss, window, 1.0, 1.0, segments_per_ack)


@lru_cache(maxsize=4096)
def received_per_rtt(loss: float, window: float, segments_per_ack: float = DELAYED_ACK) -> float:
    r"""Return the number of useful segments received per round-trip time, :math:`T_n(p, W)`.
    [segments]

    .. math:: T_n(p, W) = RTT \cdot T(p) \quad\text{with}\quad T_0 = RTT

    Notes
    -----
    This is definition d13 of the hot-spot paper. :math:`T(p)` is `receive_rate`, and :math:`T_0`
    its first timeout. At loss 0 the result is the window.
    """
    return receive_rate(loss, window, 1.0, 1.0, segments_per_ack)
