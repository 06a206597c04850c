r"""Losses of a growing flow: probability of a loss event, number of losses in a burst, and losses
at the AP's buffer.

A full drop-tail buffer loses one packet for each packet by which the windows grow, until the first
sender detects its loss. Such a period is an *episode*. It lasts about one round trip, and there are
:math:`\varphi` episodes per round trip. In an episode a flow loses

- with probability a the additional packet of its own growth. This packet arrives immediately after
  another packet and finds the buffer full if no station has an ACK to send. For :math:`\rho`
  contending stations, :math:`a = e^{-\rho}`;
- a share of the other lost packets. This share is equal to the flow's share of all arriving
  packets.
"""

from dataclasses import dataclass
from math import factorial

import numpy as np

from lasthop.models.vbs.chain import Floats

MAX_LOST = 16
"""Largest number of losses of one flow in one episode; larger numbers are neglected. [packets]"""

ROWS = np.arange(MAX_LOST + 1)
FACTORIALS = np.array([float(factorial(k)) for k in ROWS])
"""Factorials of the numbers of losses in `ROWS`. [-]"""

CERTAIN = 0.999
"""Upper bound of the loss probability of a packet. [-]"""


@dataclass(frozen=True)
class Hazard:
    """Losses of a flow's packets, for each value of the flow's window.

    Attributes
    ----------
    loss : ndarray
        Probability that a packet begins a loss event. [-]
    overflow : ndarray
        Fraction of the loss events that the AP's buffer causes. [-]
    lost : ndarray, MAX_LOST rows
        Row k has the probability that a loss event has k + 1 losses. [-]
    overflow_losses : ndarray
        Mean number of packets that the AP's buffer loses in a loss event. [packets]
    """

    loss: Floats
    overflow: Floats
    lost: Floats
    overflow_losses: Floats


@dataclass(frozen=True)
class Episodes:
    """Effect of overflow episodes of the AP's buffer on a flow.

    Attributes
    ----------
    rate : float
        Episodes per round trip, :math:`\\varphi`. [-]
    own : float
        Probability a that the additional packet of the flow's own growth is lost. [-]
    spread : float
        Number of losses that affect all packets equally, divided by the number of packets that
        arrive in an episode. [-]
    """

    rate: float
    own: float
    spread: float


def losses_in_episode(own: Floats, spread: Floats) -> Floats:
    """Return the distribution of the number of a flow's losses in an episode; row k has the
    probability of k losses. [-]

    Parameters
    ----------
    own : ndarray
        Mean number of losses of the flow's own growth. The integer part is certain; the fractional
        part is the probability of one more loss.
    spread : ndarray
        Mean number of the flow's losses among losses that affect all packets equally; the number is
        Poisson.
    """
    poisson = np.exp(-spread) * spread ** ROWS[:, None] / FACTORIALS[:, None]
    total = np.floor(own).astype(int)
    rest = own - total
    result: Floats = np.zeros((len(ROWS), len(spread)))
    for shift in np.unique(total):
        those = total == shift
        for more, part in ((0, 1.0 - rest[those]), (1, rest[those])):
            first = min(int(shift) + more, MAX_LOST)
            result[first:, those] += part * poisson[: len(ROWS) - first, those]
    return result


def in_episodes(window: Floats, growth: Floats, discard: float, episodes: Episodes) -> Hazard:
    r"""Return the loss probabilities of a flow at a buffer that overflows in episodes.

    .. math:: x_\ell = p_d + \varphi\, q_\ell / \ell, \qquad q_\ell = \Pr(K_\ell > 0)

    Parameters
    ----------
    window, growth : ndarray
        Values :math:`\ell` of the window, and growth of each window per round trip. [packets]
    discard : float
        Probability that the MAC layer discards a packet, :math:`p_d`. [-]
    episodes : Episodes
    """
    counts = losses_in_episode(episodes.own * growth, episodes.spread * window)
    hit = 1.0 - counts[0]
    from_buffer = episodes.rate * hit / window
    loss = np.clip(discard + from_buffer, 1e-12, CERTAIN)
    overflow = from_buffer / np.maximum(discard + from_buffer, 1e-12)
    lost = overflow * counts[1:] / hit
    lost[0] += 1.0 - lost.sum(axis=0)
    mean = np.arange(1.0, MAX_LOST + 1.0) @ counts[1:] / hit
    return Hazard(loss, overflow, lost, overflow * mean)


def independent(window: Floats, discard: float, overflow: float) -> Hazard:
    r"""Return the loss probabilities of a flow whose packets are lost independently of each other.

    Parameters
    ----------
    window : ndarray
        Values of the flow's window. [packets]
    discard, overflow : float
        Probabilities that a packet is lost at the MAC layer, :math:`p_d`, and at the AP's buffer,
        :math:`p_b`. [-]

    Notes
    -----
    The loss probability of a packet is :math:`p_m = p_b + (1 - p_b) p_d`, as in Eq. (19). The
    number of further losses in the round trip until the first loss is detected is Poisson.
    """
    loss = float(np.clip(overflow + (1.0 - overflow) * discard, 1e-12, CERTAIN))
    part = np.full(len(window), min(overflow / loss, 1.0))
    more = losses_in_episode(np.zeros(len(window)), loss * window)[:MAX_LOST]
    more[0] += 1.0 - more.sum(axis=0)
    mean = np.arange(1.0, MAX_LOST + 1.0) @ more
    return Hazard(np.full(len(window), loss), part, more, part * mean)
