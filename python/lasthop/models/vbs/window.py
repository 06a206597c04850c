r"""Congestion window of Compound TCP: growth, and the Markov chain of paper 000, section IV-A."""

from dataclasses import dataclass

import numpy as np

from lasthop.models.vbs.chain import Floats, Visits, visits
from lasthop.models.vbs.options import Increase, Mean

GROWTH_ALGORITHMS = ("compound", "reno", "newreno")
"""Congestion controls whose window the model supports."""


@dataclass(frozen=True)
class WindowGrowth:
    r"""Growth and reduction of the window of a connection.

    Attributes
    ----------
    limit : int
        Receive window, :math:`W_{max}`. [packets]
    alpha, kappa, beta : float
        Scalability, exponent and decrease of Compound TCP, :math:`\alpha, \kappa, \beta`. Reno has
        ``alpha = 0`` and a decrease of one half. [-]
    gamma : float
        Number of the flow's packets in the queue, above which the flow's delay window decreases.
        [packets]
    segments_per_ack : int
        Segments per ACK: 2 with delayed ACKs, 1 without. [segments]
    """

    limit: int
    alpha: float
    kappa: float
    beta: float
    gamma: float
    segments_per_ack: int


def increase_per_rtt(
    growth: WindowGrowth, window: Floats, queued: float, variant: Increase
) -> Floats:
    r"""Return the window increase in a round trip without loss, :math:`W \delta(W)`. [packets]

    .. math:: W\delta(W) = \max(1, \alpha W^\kappa) \;\text{(engine)}, \quad
              \alpha W^\kappa \;\text{(compound)}, \quad
              \alpha W^{\kappa+1} \;\text{(printed)}

    The result is divided by the segments per ACK, since windows grow per ACK.

    Parameters
    ----------
    growth : WindowGrowth
    window : ndarray
        Window, :math:`W`. [packets]
    queued : float
        Fraction of a flow's packets that wait in queues, :math:`1 - RTT_b/RTT`. If ``queued`` * W
        reaches ``gamma``, the increase is 1 with the variant ``"engine"``. [-]
    variant : "engine", "compound" or "printed"

    Notes
    -----
    The growth is that of Eqs. (1) and (2). Eq. (2) states :math:`\alpha W^\kappa` as the increase
    per ACK. However, :math:`\alpha W^\kappa` is the increase per round trip; the increase per ACK
    is :math:`\alpha W^{\kappa-1}`, as in Eq. (23).
    """
    power = growth.alpha * window**growth.kappa
    if variant == "printed":
        grown = power * window
    elif variant == "compound" and growth.alpha > 0.0:
        grown = power
    else:
        grown = np.where(queued * window < growth.gamma, np.maximum(1.0, power), 1.0)
    return np.asarray(grown / growth.segments_per_ack, dtype=np.float64)


def climb_prob(loss_prob: float, increase_per_ack: Floats) -> Floats:
    r"""Return the probability that the window grows by one before a loss. [-]

    .. math:: \Pr(\ell \to \ell + 1) = (1 - p_m)^{1/\delta(\ell)}

    Notes
    -----
    The probability is the first line of Eq. (3); the second line is its complement. :math:`p_m` is
    the loss probability of a packet, and :math:`\delta(\ell)` the increase per ACK at window
    :math:`\ell`.
    """
    return np.asarray((1.0 - loss_prob) ** (1.0 / increase_per_ack), dtype=np.float64)


def window_chain(loss_prob: float, increase_per_ack: Floats) -> Visits:
    r"""Return the stationary distribution of the window after its changes, :math:`\Pi_w`, not
    normalised. [-]

    Parameters
    ----------
    loss_prob : float
        Loss probability of a packet by any cause, :math:`p_m`, above 0. [-]
    increase_per_ack : ndarray
        Window increase per ACK, :math:`\delta(\ell)`, at windows :math:`\ell = 1, 2, \dots,
        W_{max}`. [packets]

    Notes
    -----
    The chain is that of Eq. (3): after a loss at window :math:`\ell` the window is :math:`\lceil
    \ell/2 \rceil`.
    """
    levels = np.arange(1.0, len(increase_per_ack) + 1.0)
    climb = climb_prob(loss_prob, increase_per_ack)
    return visits(climb, np.ceil(levels / 2.0), np.zeros(len(levels)))


def mean_window(loss_prob: float, increase_per_ack: Floats, mean: Mean) -> float:
    r"""Return the expected congestion window, :math:`E[W]`. [packets]

    .. math:: E[W] = \sum_\ell \ell\, \Pi_w(\ell) \;\text{(jumps)}, \qquad
              E[W] = \frac{\sum_\ell \Pi_w(\ell) A_\ell}{\sum_\ell \Pi_w(\ell) A_\ell / \ell}
              \;\text{(time)}, \qquad A_\ell = \frac{1 - (1-p_m)^{1/\delta(\ell)}}{p_m}

    :math:`A_\ell` is the mean number of packets sent at window :math:`\ell`, which take
    :math:`A_\ell/\ell` round trips. :math:`\Pi_w` is the distribution from `window_chain`.

    Parameters
    ----------
    loss_prob : float
        Loss probability of a packet, :math:`p_m`. [-]
    increase_per_ack : ndarray
        Window increase per ACK, :math:`\delta(\ell)`. [packets]
    mean : "time" or "jumps"

    Notes
    -----
    In Eq. (4) every change of the window has the same weight, however long the window remains at
    this value.
    """
    levels = np.arange(1.0, len(increase_per_ack) + 1.0)
    if loss_prob <= 0.0:
        return float(levels[-1])
    grown = window_chain(loss_prob, increase_per_ack).grown
    if mean == "jumps":
        return float(grown @ levels / grown.sum())
    packets = (1.0 - climb_prob(loss_prob, increase_per_ack)) / loss_prob
    return float(grown @ packets / (grown @ (packets / levels)))
