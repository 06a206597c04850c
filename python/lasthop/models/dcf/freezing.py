r"""Saturated cell with the freezing rule of the standard.

When the medium becomes busy, a station stops its backoff counter. It continues counting down when
the medium has been idle for AIFS. A counter that was not 0 when the medium became busy is at least
1 afterwards. Therefore only nodes that have just transmitted and then drew a backoff of 0 can send
in the slot just after a busy period. After a success this can be only one node, which cannot
collide. After a collision, all colliding nodes that drew 0 send in this slot.

Time is counted in *open* slots: the slots that follow an idle slot, in which every node may
transmit. Each open slot is preceded by one slot time, in which each node's counter falls by one.

References: Bianchi and Tinnirello 2005; C. H. Foh, J. W. Tantra, "Comments on IEEE 802.11
saturation throughput analysis with freezing of backoff counters", IEEE Communications Letters 9(2),
2005. Differs from these papers in: mixed nodes, a finite number of attempts, and colliding nodes
that may use the slot after their collision.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.models.dcf.saturation import (
    Contender,
    Saturation,
    alone,
    fixed_point,
    longest_frame_s,
    retained,
)


@dataclass(frozen=True)
class _Attempts:
    """Mean numbers of attempts and slots of one node for one packet."""

    open_: float  # attempts in open slots
    at_once: float  # attempts in the slot just after the node's own transmission
    at_once_collided: float  # attempts of `at_once` that collide
    at_once_lost: float  # attempts of `at_once` that do not collide and are lost to channel errors
    slots: float  # open slots in which the counter falls
    failed: float  # attempts that fail
    collided: float  # attempts that collide
    discarded: float  # probability that the packet is discarded
    zero_after_failure: float  # probability that a draw of 0 follows a failed attempt


def _attempts(node: Contender, collision: float, rival: float, discard: float) -> _Attempts:
    r"""Return the mean numbers of attempts and slots of one packet.

    At window :math:`CW_j` the backoff is 0 with probability :math:`z_j = 1/(CW_j + 1)`. The packet
    is then sent immediately: the attempt collides with probability `rival` after a failure, and
    never after a success. With a positive backoff the attempt collides with probability
    `collision`. The mean backoff, including 0, is :math:`CW_j / 2` slots. `discard` is the
    probability that the previous packet was discarded.
    """
    zeros = [1 / (cw + 1) for cw in node.windows()]
    open_ = at_once = at_once_collided = at_once_lost = slots = 0.0
    failed = collided = discarded = zero_next = 0.0
    # Probability that the packet reaches this backoff stage. If channel losses are counted
    # separately from collisions, the list has one value per number of channel losses so far.
    packets = [1.0]
    for stage, zero in enumerate(zeros):
        visit = sum(packets)
        if visit == 0.0:
            break
        rivals = rival if stage else discard * rival
        collides = (1 - zero) * collision + zero * rivals
        loses = node.error_prob * (1 - collides)
        open_ += visit * (1 - zero)
        at_once += visit * zero
        at_once_collided += visit * zero * rivals
        at_once_lost += visit * zero * (1 - rivals) * node.error_prob
        slots += visit * (1 / zero - 1) / 2
        failed += visit * (collides + loses)
        collided += visit * collides
        packets = retained(node, stage, packets, collides, loses)
        discarded += max(visit * (collides + loses) - sum(packets), 0.0)
        if stage + 1 < len(zeros):
            zero_next += sum(packets) * zeros[stage + 1]
    zero_next += discarded * zeros[0]
    return _Attempts(
        open_=open_,
        at_once=at_once,
        at_once_collided=at_once_collided,
        at_once_lost=at_once_lost,
        slots=slots,
        failed=failed,
        collided=collided,
        discarded=discarded,
        zero_after_failure=zero_next / failed if failed > 0 else 0.0,
    )


def solve(nodes: Sequence[Contender], slot_s: float, failed_after_s: float) -> Saturation:
    r"""Return the throughput of the saturated cell with freezing.

    .. math:: \tau_i = \frac{\text{attempts in open slots}}{\text{open slots}}, \qquad
              X_i = \frac{S_i}{\sigma + \sum_k S_k T_k + T_{fail}}

    :math:`\tau_i` is the attempt probability of node :math:`i` in an open slot, and :math:`S_i` the
    packets that it delivers per open slot, including packets sent immediately. :math:`T_k` is the
    duration of the exchange of node :math:`k`, and :math:`T_{fail}` the mean time per open slot
    that failures take.

    Parameters
    ----------
    nodes : sequence of Contender
        Contending nodes. Every `cwmin` is at least 1: a node with `cwmin` 0 never releases the
        medium.
    slot_s : float
        Slot time, :math:`\sigma`. [s]
    failed_after_s : float
        Time from the end of the longest frame of a failed slot to the next slot: EIFS. [s]

    Notes
    -----
    The attempt probabilities of the result are per open slot; its failure probabilities refer to
    all attempts. Equal nodes are solved only once.
    """
    if any(node.cwmin < 1 for node in nodes):
        raise ValueError("cwmin must be at least 1 in the model with freezing")
    counted = Counter(nodes)
    kinds, counts = list(counted), list(counted.values())
    size = len(kinds)

    def packets(values: list[float]) -> list[_Attempts]:
        taus, zeros, discards = values[:size], values[size : 2 * size], values[2 * size :]
        quiet = alone(taus, counts)
        # `no_rival` is the probability that no other node transmitted in the open slot and then
        # drew a backoff of 0.
        rivals = alone([tau * zero for tau, zero in zip(taus, zeros, strict=True)], counts)
        result = []
        for node, others_quiet, no_rival, discard in zip(
            kinds, quiet, rivals, discards, strict=True
        ):
            fail = 1 - (1 - node.error_prob) * others_quiet
            rival = (1 - no_rival) / fail if fail > 0 else 0.0
            result.append(_attempts(node, 1 - others_quiet, rival, discard))
        return result

    def step(values: list[float]) -> list[float]:
        per_packet = packets(values)
        return [
            *(p.open_ / p.slots for p in per_packet),
            *(p.zero_after_failure for p in per_packet),
            *(p.discarded for p in per_packet),
        ]

    values = fixed_point(step, [1 / (node.cwmin + 1) for node in kinds] + [0.0] * (2 * size))
    taus, per_packet = values[:size], packets(values)

    delivered = [(1 - p.discarded) / p.slots for p in per_packet]
    idle = math.prod((1 - tau) ** count for tau, count in zip(taus, counts, strict=True))
    lone = [tau * quiet for tau, quiet in zip(taus, alone(taus, counts), strict=True)]
    succeeded = [own * (1 - node.error_prob) for own, node in zip(lone, kinds, strict=True)]
    failed_s = longest_frame_s(kinds, taus, counts)
    failed_s += (1 - idle - _sum(counts, succeeded)) * failed_after_s
    failed_s += _sum(
        counts,
        [
            own * (node.error_prob * node.lost_s - (1 - node.error_prob) * node.first_frame_s)
            for own, node in zip(lone, kinds, strict=True)
        ],
    )
    # A collision in the slot after a collision nearly always involves two nodes. Each of them
    # accounts for half of its duration.
    again_s = [
        (
            (p.at_once_collided / 2 + p.at_once_lost) * (node.first_frame_s + failed_after_s)
            + p.at_once_lost * node.lost_s
        )
        / p.slots
        for p, node in zip(per_packet, kinds, strict=True)
    ]
    succeeded_s = [own * node.success_s for own, node in zip(delivered, kinds, strict=True)]
    open_slot_s = slot_s + _sum(counts, succeeded_s) + failed_s + _sum(counts, again_s)

    place = {kind: number for number, kind in enumerate(kinds)}
    order = [place[node] for node in nodes]
    rates = [delivered[k] / open_slot_s for k in order]
    attempts = [p.open_ + p.at_once for p in per_packet]
    return Saturation(
        attempt_prob=tuple(taus[k] for k in order),
        failure_prob=tuple(per_packet[k].failed / attempts[k] for k in order),
        collision_prob=tuple(per_packet[k].collided / attempts[k] for k in order),
        discard_prob=tuple(per_packet[k].discarded for k in order),
        packet_rate=tuple(rates),
        goodput_bps=tuple(8 * n.payload_bytes * x for n, x in zip(nodes, rates, strict=True)),
    )


def _sum(counts: Sequence[int], values: Sequence[float]) -> float:
    """Return the sum over all nodes; `values` has one value per kind of node, and `counts` the
    number of nodes of the kind.
    """
    return sum(count * value for count, value in zip(counts, values, strict=True))
