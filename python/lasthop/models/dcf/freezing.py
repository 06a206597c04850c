r"""The saturated cell with the standard's freezing rule.

A station that finds the medium busy keeps its counter, and counts on from AIFS after the busy
period. A counter that was not 0 when the medium became busy is at least 1 afterwards; so the
slot just after a busy period belongs to the nodes that have just transmitted and drew 0.
After a success that is one node, which then wins for certain; after a collision it is those
colliders who drew 0.

Time is counted in *open* slots: the instants that follow an idle slot, when every node may
transmit. Each costs one slot time, and each node's counter falls by one on the way to it.

References: Bianchi and Tinnirello 2005; C. H. Foh, J. W. Tantra, "Comments on IEEE 802.11
saturation throughput analysis with freezing of backoff counters", IEEE Communications Letters
9(2), 2005. Differs from them in: mixed nodes, finite attempts, and colliders that use the slot
after their collision.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.models.dcf.saturation import (
    Contender,
    Saturation,
    alone,
    fixed_point,
    longest_frame_s,
)


@dataclass(frozen=True)
class _Attempts:
    """What one node does with one packet, on average."""

    open_: float  # attempts in open slots
    at_once: float  # attempts in the slot just after its own transmission
    at_once_collided: float  # those that collide
    at_once_lost: float  # those that do not collide and are lost to the channel
    slots: float  # open slots counted down
    failed: float  # attempts that fail
    discarded: float  # 1 if the packet is discarded
    zero_after_failure: float  # probability that a failed attempt is followed by a draw of 0


def _attempts(node: Contender, failure_open: float, rival: float) -> _Attempts:
    r"""Follow one packet through its attempts.

    An attempt at window :math:`CW_j` draws 0 with probability :math:`z_j = 1/(CW_j + 1)` and then
    goes at once: it collides with probability `rival` after a failure and never after a success.
    Otherwise it counts down, :math:`CW_j / 2` slots on average over all draws, and fails with
    probability `failure_open`.
    """
    windows = node.windows()
    discard = 0.0
    for _ in range(50):  # the first draw depends on how the packet before ended
        visit = 1.0
        open_ = at_once = collided = lost = slots = failed = zero_next = 0.0
        for j, cw in enumerate(windows):
            zero = 1 / (cw + 1)
            collides = rival if j > 0 else discard * rival
            loses = (1 - collides) * node.error_prob
            fail = visit * ((1 - zero) * failure_open + zero * (collides + loses))
            open_ += visit * (1 - zero)
            at_once += visit * zero
            collided += visit * zero * collides
            lost += visit * zero * loses
            slots += visit * cw / 2
            failed += fail
            next_cw = windows[j + 1] if j + 1 < len(windows) else windows[0]
            zero_next += fail / (next_cw + 1)
            visit = fail
        if abs(visit - discard) < 1e-15:
            break
        discard = visit
    return _Attempts(
        open_=open_,
        at_once=at_once,
        at_once_collided=collided,
        at_once_lost=lost,
        slots=slots,
        failed=failed,
        discarded=visit,
        zero_after_failure=zero_next / failed if failed > 0 else 0.0,
    )


def solve(nodes: Sequence[Contender], slot_s: float, failed_after_s: float) -> Saturation:
    r"""Throughput of the saturated cell with freezing.

    .. math:: \tau_i = \frac{\text{attempts in open slots}}{\text{open slots}}, \qquad
              X_i = \frac{S_i}{\sigma + \sum_k S_k T_k + T_{fail}}

    per open slot, with :math:`S_i` the packets that node `i` delivers per open slot, those sent
    at once included.

    Parameters
    ----------
    nodes : sequence of Contender
        Every `cwmin` at least 1: a node with `cwmin` 0 never lets go of the medium.
    slot_s : float
        Slot time, :math:`\sigma`. [s]
    failed_after_s : float
        From the end of the longest frame of a failed slot to the next slot: EIFS. [s]

    Notes
    -----
    Attempt probabilities are per open slot; failure probabilities are over all attempts.
    """
    if any(node.cwmin < 1 for node in nodes):
        raise ValueError("cwmin must be at least 1 in the model with freezing")

    def packets(values: list[float]) -> list[_Attempts]:
        taus, zeros = values[: len(nodes)], values[len(nodes) :]
        quiet = alone(taus)
        # Another node collided and drew 0, given that this node has failed.
        rivals = alone([tau * zero for tau, zero in zip(taus, zeros, strict=True)])
        result = []
        for node, others_quiet, no_rival in zip(nodes, quiet, rivals, strict=True):
            fail = 1 - (1 - node.error_prob) * others_quiet
            rival = (1 - no_rival) / fail if fail > 0 else 0.0
            result.append(_attempts(node, fail, rival))
        return result

    def step(values: list[float]) -> list[float]:
        per_packet = packets(values)
        return [p.open_ / p.slots for p in per_packet] + [p.zero_after_failure for p in per_packet]

    start = [1 / (node.cwmin + 1) for node in nodes] + [0.0] * len(nodes)
    values = fixed_point(step, start)
    taus = values[: len(nodes)]
    per_packet = packets(values)

    delivered = [(1 - p.discarded) / p.slots for p in per_packet]
    idle = math.prod(1 - tau for tau in taus)
    open_success = [
        tau * quiet * (1 - node.error_prob)
        for node, tau, quiet in zip(nodes, taus, alone(taus), strict=True)
    ]
    spoilt_s = longest_frame_s(nodes, taus) - sum(
        s * node.first_frame_s for s, node in zip(open_success, nodes, strict=True)
    )
    failed_s = spoilt_s + (1 - idle - sum(open_success)) * failed_after_s
    # A collision in the slot after a collision nearly always has two parties.
    again_s = sum(
        (p.at_once_collided / 2 + p.at_once_lost) / p.slots * (node.first_frame_s + failed_after_s)
        for p, node in zip(per_packet, nodes, strict=True)
    )
    succeeded_s = sum(s * node.success_s for s, node in zip(delivered, nodes, strict=True))
    open_slot_s = slot_s + succeeded_s + failed_s + again_s

    rates = [s / open_slot_s for s in delivered]
    return Saturation(
        attempt_prob=tuple(taus),
        failure_prob=tuple(p.failed / (p.open_ + p.at_once) for p in per_packet),
        discard_prob=tuple(p.discarded for p in per_packet),
        packet_rate=tuple(rates),
        goodput_bps=tuple(8 * n.payload_bytes * x for n, x in zip(nodes, rates, strict=True)),
    )
