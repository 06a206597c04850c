"""Common parts of saturation models: contenders, air time of collisions, and the result."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from lasthop.models.dcf import airtime
from lasthop.models.errors import ConvergenceError
from lasthop.progress.cost_limits import check_time
from lasthop.scenario.typed import (
    AccessCategory,
    Cell,
    Node,
    Station,
    UdpFlow,
)


@dataclass(frozen=True)
class Contender:
    """A node that always has a packet to send.

    Attributes
    ----------
    cwmin, cwmax : int
        Smallest and largest contention window; backoff is uniform on [0, CW]. [slots]
    attempts : int
        Largest number of attempts for a packet, including the first attempt. [-]
    first_frame_s : float
        Duration of the frame that a collision destroys. [s]
    success_s : float
        Duration of a successful exchange, including the AIFS after it. [s]
    payload_bytes : int
        Payload of a packet, which counts as goodput. [bytes]
    error_prob : float
        Probability that a frame without collision is lost to channel errors. [-]
    attempts_long : int, optional
        With RTS and CTS, the number of attempts lost to channel errors after which a packet is
        discarded; collisions are then counted separately. None if all failures are counted
        together. [-]
    lost_s : float
        Additional time of a frame that is lost to channel errors, compared with a collision: the
        time after RTS and CTS. [s]
    """

    cwmin: int
    cwmax: int
    attempts: int
    first_frame_s: float
    success_s: float
    payload_bytes: int
    error_prob: float = 0.0
    attempts_long: int | None = None
    lost_s: float = 0.0

    @property
    def stages(self) -> int:
        """Number of backoff stages. The stage of an attempt is the number of earlier failures of
        its packet.
        """
        return self.attempts + (self.attempts_long or 1) - 1

    def windows(self) -> list[int]:
        r"""Return the contention window of each attempt, :math:`CW_j`. [slots]

        .. math:: CW_j = \min(2^j (CW_{min} + 1),\; CW_{max} + 1) - 1
        """
        return [min((self.cwmin + 1) << j, self.cwmax + 1) - 1 for j in range(self.stages)]


@dataclass(frozen=True)
class Saturation:
    r"""Throughput and failures of a saturated cell; the tuples follow the order of the contenders.

    Attributes
    ----------
    attempt_prob : tuple of float
        Probability of an attempt per slot that the node may use, :math:`\tau_i`. [-]
    failure_prob : tuple of float
        Fraction of attempts that fail. [-]
    collision_prob : tuple of float
        Fraction of attempts that collide. [-]
    discard_prob : tuple of float
        Fraction of packets that are discarded at the attempt limit. [-]
    packet_rate : tuple of float
        Rate of delivered packets. [1/s]
    goodput_bps : tuple of float
        Delivered payload. [bit/s]
    """

    attempt_prob: tuple[float, ...]
    failure_prob: tuple[float, ...]
    collision_prob: tuple[float, ...]
    discard_prob: tuple[float, ...]
    packet_rate: tuple[float, ...]
    goodput_bps: tuple[float, ...]


def contender_of(
    cell: Cell, sender: Node, station: Station, flow: UdpFlow, access: AccessCategory
) -> Contender:
    """Return the contender that sends a UDP flow, with one packet per access.

    Parameters
    ----------
    cell : Cell
    sender : Node
        Sender of the flow: the access point or the station.
    station : Station
        Station to which the flow goes, or from which it comes.
    flow : UdpFlow
    access : AccessCategory
        Access parameters of the flow's category at the sender.
    """
    size, up = flow.udp.packet_bytes, flow.is_up
    rate = station.rate_bps if up else station.downlink_rate_bps
    control, response = station.uplink_control_bps if up else station.downlink_control_bps
    exchange_s = airtime.exchange_s(cell, size, rate, control, response)
    first_frame_s = airtime.first_frame_s(cell, size, rate, control)
    protected = airtime.uses_rts(cell, size)
    lost_s = 0.0
    if protected:
        # RTS and CTS reserve the medium up to the end of the MAC ACK, which may be later than the
        # end of EIFS.
        lead_s = airtime.eifs_lead_s(cell)
        ack_s = cell.sifs_s + airtime.frame_s(cell, airtime.ACK_BYTES, response)
        lost_s = exchange_s - ack_s - first_frame_s + max(ack_s - lead_s, 0.0)
    return Contender(
        cwmin=access.cwmin,
        cwmax=access.cwmax,
        attempts=sender.attempts_short,
        first_frame_s=first_frame_s,
        success_s=exchange_s + airtime.aifs_s(cell, access.aifsn),
        payload_bytes=flow.udp.payload_bytes,
        error_prob=station.error_up if up else station.error_down,
        attempts_long=sender.attempts_long if protected else None,
        lost_s=lost_s,
    )


def longest_frame_s(
    nodes: Sequence[Contender], attempt_prob: Sequence[float], counts: Sequence[int] | None = None
) -> float:
    r"""Return the mean length of the longest first frame of a slot; an idle slot counts as 0. [s]

    .. math:: E[\max_i T_i 1_i] = \sum_m (T_{(m)} - T_{(m-1)})
              \Bigl(1 - \prod_{i: T_i \ge T_{(m)}} (1 - \tau_i)^{n_i}\Bigr)

    Parameters
    ----------
    nodes : sequence of Contender
    attempt_prob : sequence of float
        Independent attempt probabilities, :math:`\tau_i`. [-]
    counts : sequence of int, optional
        Number of nodes of each kind, :math:`n_i`; by default 1. [-]
    """
    total, shorter = 0.0, 0.0
    powers = counts or [1] * len(nodes)
    for length in sorted({node.first_frame_s for node in nodes}):
        silent = math.prod(
            (1 - tau) ** count
            for node, tau, count in zip(nodes, attempt_prob, powers, strict=True)
            if node.first_frame_s >= length
        )
        total += (length - shorter) * (1 - silent)
        shorter = length
    return total


def alone(attempt_prob: Sequence[float], counts: Sequence[int] | None = None) -> list[float]:
    r"""Return for each node the probability that every other node is silent. [-]

    .. math:: (1 - \tau_i)^{n_i - 1} \prod_{k \ne i}(1 - \tau_k)^{n_k}

    Parameters
    ----------
    attempt_prob : sequence of float
        Attempt probabilities, :math:`\tau_i`. [-]
    counts : sequence of int, optional
        Number of nodes of each kind, :math:`n_i`; by default 1. [-]
    """
    powers = counts or [1] * len(attempt_prob)
    silent = [(1 - tau) ** count for tau, count in zip(attempt_prob, powers, strict=True)]
    # For each node, the products of the factors before and after this node are multiplied. Dividing
    # the total product by the node's own factor could divide by 0, since a node may attempt with
    # probability 1.
    before = [*accumulate(silent[:-1], mul, initial=1.0)]
    after = [*accumulate(reversed(silent[1:]), mul, initial=1.0)]
    return [
        (1 - tau) ** (count - 1) * ahead * behind
        for tau, count, ahead, behind in zip(
            attempt_prob, powers, before, reversed(after), strict=True
        )
    ]


def retained(
    node: Contender, stage: int, packets: Sequence[float], collides: float, loses: float
) -> list[float]:
    """Return the mean number of packets that a node attempts again, at the next backoff stage,
    after a failure at stage `stage`. [-]

    Parameters
    ----------
    node : Contender
    stage : int
        Backoff stage: the number of failures before this attempt. [-]
    packets : sequence of float
        Mean number of packets at this stage. If channel losses are counted separately from
        collisions, there is one number per number of channel losses. [-]
    collides, loses : float
        Probability that the attempt collides, and that the channel loses it. [-]
    """
    if node.attempts_long is None:
        return [packets[0] * (collides + loses)] if stage + 1 < node.attempts else []
    again = [0.0] * min(len(packets) + 1, node.attempts_long)
    for lost, part in enumerate(packets):
        if stage - lost + 1 < node.attempts:
            again[lost] += part * collides
        if lost + 1 < node.attempts_long:
            again[lost + 1] += part * loses
    return again


def visits(node: Contender, failure_prob: float) -> list[float]:
    r"""Return the mean number of attempts per packet at each backoff stage :math:`j`, :math:`v_j`.
    [-]

    .. math:: v_j = p^j \quad (j < m)

    The formula applies if all failures are counted together. If channel losses are counted
    separately, a packet is also discarded after ``attempts_long`` channel losses.

    Parameters
    ----------
    node : Contender
        :math:`m` attempts.
    failure_prob : float
        Fraction of attempts that fail, :math:`p`. [-]
    """
    if node.attempts_long is None:
        return [failure_prob**j for j in range(node.attempts)]
    collides = max(0.0, (failure_prob - node.error_prob) / (1 - node.error_prob))
    result, packets = list[float](), [1.0]
    for stage in range(node.stages):
        result.append(sum(packets))
        packets = retained(node, stage, packets, collides, failure_prob - collides)
    return result


def discards(node: Contender, failure_prob: float) -> float:
    """Return the fraction of packets that are discarded at the attempt limit. [-]"""
    if node.attempts_long is None:
        return failure_prob**node.attempts
    return max(0.0, 1 - (1 - failure_prob) * sum(visits(node, failure_prob)))


def fixed_point(
    step: Callable[[list[float]], list[float]],
    start: Sequence[float],
    tolerance: float = 1e-13,
    rounds: int = 20_000,
) -> list[float]:
    """Return the fixed point of `step`, by damped iteration until no component changes by more than
    `tolerance`.
    """
    values = list(start)
    for _ in range(rounds):
        check_time("attempt probabilities of a saturated cell")
        after = step(values)
        moved = max(abs(a - b) for a, b in zip(after, values, strict=True))
        if moved <= tolerance:
            return after
        values = [0.7 * b + 0.3 * a for a, b in zip(after, values, strict=True)]
    raise ConvergenceError(f"attempt probabilities still move by {moved:.1e} after {rounds} rounds")
