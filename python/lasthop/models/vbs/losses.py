r"""Losses of a growing flow: hazards, bursts, and the packets that the AP's buffer loses.

A full drop-tail buffer loses one packet for each packet by which the windows grow, until the first
sender detects its loss. These *episodes* last about one round trip, and there are :math:`\varphi`
of them per round trip. In an episode a flow loses

- with probability a the additional packet of its own growth. This packet arrives immediately after
  another packet and finds the buffer full if no station has an ACK waiting, :math:`a = e^{-\rho}`
  for :math:`\rho` contending stations;
- a fraction of all other lost packets that equals its fraction of all arrivals.
"""

from dataclasses import dataclass
from math import factorial

import numpy as np

from lasthop.models.vbs.chain import Floats

MOST_LOST = 16
"""Largest number of losses of one flow in one burst that is distinguished. [packets]"""

ROWS = np.arange(MOST_LOST + 1)
FACTORIALS = np.array([float(factorial(k)) for k in ROWS])
"""Numbers of losses, and their factorials. [packets], [-]"""

CERTAIN = 0.999
"""Largest loss probability that is used in the chain. [-]"""


@dataclass(frozen=True)
class Hazard:
    """Losses of a flow's packets, by the flow's window.

    Attributes
    ----------
    loss : ndarray
        Probability that a packet begins a loss event. [-]
    overflow : ndarray
        Fraction of the loss events that the AP's buffer causes. [-]
    lost : ndarray, MOST_LOST rows
        Row k: probability that a loss event has k + 1 losses. [-]
    overflow_losses : ndarray
        Mean packets that a loss event loses at the buffer. [packets]
    """

    loss: Floats
    overflow: Floats
    lost: Floats
    overflow_losses: Floats


@dataclass(frozen=True)
class Episodes:
    """Effect of one overflow of the AP's buffer on a flow.

    Attributes
    ----------
    rate : float
        Episodes per round trip, :math:`\\varphi`. [-]
    own : float
        Probability that the additional packet of the flow's own growth is lost, a. [-]
    spread : float
        Losses per episode that affect all packets equally, per packet that arrives in it. [-]
    """

    rate: float
    own: float
    spread: float


def losses_in_episode(own: Floats, spread: Floats) -> Floats:
    """Return the distribution of a flow's losses in one episode; row k is the probability of k. [-]

    Parameters
    ----------
    own : ndarray
        Mean losses of the flow's own growth. The integer part is certain; the fraction is the
        probability of one more loss.
    spread : ndarray
        Mean losses among those that affect any packet; their number is Poisson.
    """
    poisson = np.exp(-spread) * spread ** ROWS[:, None] / FACTORIALS[:, None]
    total = np.floor(own).astype(int)
    rest = own - total
    result: Floats = np.zeros((len(ROWS), len(spread)))
    for shift in np.unique(total):
        those = total == shift
        for more, part in ((0, 1.0 - rest[those]), (1, rest[those])):
            first = min(int(shift) + more, MOST_LOST)
            result[first:, those] += part * poisson[: len(ROWS) - first, those]
    return result


def in_episodes(window: Floats, growth: Floats, discard: float, episodes: Episodes) -> Hazard:
    r"""Return the hazard of a flow at a buffer that overflows in episodes.

    .. math:: x_\ell = p_d + \varphi\, q_\ell / \ell, \qquad q_\ell = \Pr(K_\ell > 0)

    Parameters
    ----------
    window, growth : ndarray
        Windows, and their growth per round trip. [packets]
    discard : float
        Probability that the MAC layer gives a packet up, :math:`p_d`. [-]
    episodes : Episodes
    """
    counts = losses_in_episode(episodes.own * growth, episodes.spread * window)
    hit = 1.0 - counts[0]
    from_buffer = episodes.rate * hit / window
    loss = np.clip(discard + from_buffer, 1e-12, CERTAIN)
    overflow = from_buffer / np.maximum(discard + from_buffer, 1e-12)
    lost = overflow * counts[1:] / hit
    lost[0] += 1.0 - lost.sum(axis=0)
    mean = np.arange(1.0, MOST_LOST + 1.0) @ counts[1:] / hit
    return Hazard(loss, overflow, lost, overflow * mean)


def independent(window: Floats, discard: float, overflow: float) -> Hazard:
    r"""Return the hazard of a flow whose packets are lost independently of each other.

    Parameters
    ----------
    Window of the flow. [packets]
        [packets]
    discard, overflow : float
        Probabilities that a packet is lost at the MAC layer, :math:`p_d`, and at the AP's buffer,
        :math:`p_b`. [-]

    Notes
    -----
    :math:`p_m = p_b + (1 - p_b) p_d`, as in Eq. (19). Further losses in the round trip until the
    first is detected are Poisson.
    """
    loss = float(np.clip(overflow + (1.0 - overflow) * discard, 1e-12, CERTAIN))
    part = np.full(len(window), min(overflow / loss, 1.0))
    more = losses_in_episode(np.zeros(len(window)), loss * window)[:MOST_LOST]
    more[0] += 1.0 - more.sum(axis=0)
    mean = np.arange(1.0, MOST_LOST + 1.0) @ more
    return Hazard(np.full(len(window), loss), part, more, part * mean)
