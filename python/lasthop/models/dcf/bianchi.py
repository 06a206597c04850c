r"""Bianchi's saturated cell, with a finite attempt limit, mixed nodes and EIFS.

Every node's counter falls by one in each slot, *busy slots included*. Each node therefore attempts
in a slot with probability :math:`\tau_i`, independently of the other nodes and of the past. Real
stations freeze their counters in busy slots; module `freezing` models this rule.

Differs from the paper in: the backoff is uniform on :math:`[0, CW]` with any integers
:math:`CW_{min}, CW_{max}`; a packet is discarded after a finite number of attempts. Nodes may
differ, and a collision costs the longest frame and EIFS.
"""

import math
from collections.abc import Callable, Sequence

from lasthop.models.dcf.saturation import (
    Contender,
    Saturation,
    alone,
    discards,
    fixed_point,
    longest_frame_s,
    visits,
)


def attempt_prob(node: Contender, failure_prob: float) -> float:
    r"""Return the probability that a node attempts in a slot, :math:`\tau`. [-]

    .. math:: \tau = \frac{\sum_{j=0}^{m-1} p^j}{\sum_{j=0}^{m-1} p^j (CW_j / 2 + 1)}

    This is the mean number of attempts per packet, divided by the mean number of slots per packet.
    An attempt with window :math:`CW_j` takes :math:`CW_j / 2` slots of backoff on average, and one
    slot for the transmission.

    Parameters
    ----------
    node : Contender
        :math:`m` attempts with windows :math:`CW_j`.
    failure_prob : float
        Fraction of attempts that fail, :math:`p`. [-]

    Notes
    -----
    The formula is Bianchi 2000, Eq. (7), for finite :math:`m`. The renewal form is that of Kumar,
    Altman, Miorandi and Goyal, "New insights from a fixed point analysis of single cell IEEE 802.11
    WLANs" (2007).
    """
    often = visits(node, failure_prob)
    slots = sum(v * (cw / 2 + 1) for v, cw in zip(often, node.windows(), strict=True))
    return sum(often) / slots


def failure_probs(nodes: Sequence[Contender], taus: Sequence[float]) -> list[float]:
    r"""Return the fraction of attempts that fail, by collision or channel error, :math:`p_i`. [-]

    .. math:: p_i = 1 - (1 - e_i) \prod_{k \ne i} (1 - \tau_k)

    Notes
    -----
    The formula is Bianchi 2000, Eq. (9), extended to different nodes :math:`i` with channel error
    probabilities :math:`e_i`. :math:`\tau_k` is the attempt probability of node :math:`k`.
    """
    return [
        1 - (1 - node.error_prob) * quiet for node, quiet in zip(nodes, alone(taus), strict=True)
    ]


def settled(
    nodes: Sequence[Contender], failures: Callable[[Sequence[float]], list[float]]
) -> tuple[list[float], list[float]]:
    """Return the attempt and failure probabilities of the nodes at their fixed point. The function
    `failures` computes failure probabilities from attempt probabilities.
    """

    def step(taus: list[float]) -> list[float]:
        return [attempt_prob(node, p) for node, p in zip(nodes, failures(taus), strict=True)]

    taus = fixed_point(step, [attempt_prob(node, 0.0) for node in nodes])
    return taus, failures(taus)


def solve(nodes: Sequence[Contender], slot_s: float, failed_after_s: float) -> Saturation:
    r"""Return the throughput of each node of a saturated cell.

    .. math:: X_i = \frac{P_i}{\sigma \prod_k (1 - \tau_k) + \sum_k P_k T_k + T_{fail}},
              \qquad P_i = \tau_i (1 - p_i)

    :math:`\tau_i` is the attempt probability of node :math:`i`, :math:`p_i` its failure
    probability, and :math:`T_i` the duration of its exchange. :math:`T_{fail}` is the mean time per
    slot that a failure takes: the longest frame and EIFS.

    Parameters
    ----------
    nodes : sequence of Contender
    slot_s : float
        Slot time, :math:`\sigma`. [s]
    failed_after_s : float
        Time from the end of the longest frame of a failed slot to the next slot: EIFS. [s]

    Notes
    -----
    The formula is Bianchi 2000, Eq. (13), extended to different nodes.
    """
    taus, fails = settled(nodes, lambda taus: failure_probs(nodes, taus))
    success = [tau * (1 - p) for tau, p in zip(taus, fails, strict=True)]
    idle = math.prod(1 - tau for tau in taus)

    succeeded_s = sum(s * node.success_s for s, node in zip(success, nodes, strict=True))
    spoilt_s = longest_frame_s(nodes, taus) - sum(
        s * node.first_frame_s for s, node in zip(success, nodes, strict=True)
    )
    failed_s = spoilt_s + (1 - idle - sum(success)) * failed_after_s
    failed_s += sum(
        s * node.error_prob / (1 - node.error_prob) * node.lost_s
        for s, node in zip(success, nodes, strict=True)
    )
    slot_mean_s = idle * slot_s + succeeded_s + failed_s

    rates = [s / slot_mean_s for s in success]
    return Saturation(
        attempt_prob=tuple(taus),
        failure_prob=tuple(fails),
        collision_prob=tuple(1 - quiet for quiet in alone(taus)),
        discard_prob=tuple(discards(node, p) for p, node in zip(fails, nodes, strict=True)),
        packet_rate=tuple(rates),
        goodput_bps=tuple(8 * n.payload_bytes * x for n, x in zip(nodes, rates, strict=True)),
    )
