r"""Bianchi's saturated cell for 802.11e: categories with different windows, AIFSN and TXOP limits.

An idle period begins when the medium has been idle for the shortest AIFS of all contenders. Let
:math:`a_i` be the difference between the AIFSN of contender :math:`i` and the smallest AIFSN. In
slot :math:`d` of the idle period the contender may send only if :math:`a_i \le d`. The slots
therefore form *zones* with different contenders. In each slot in which it may send, a contender
attempts with probability :math:`\tau_i`, independently of the past, as in module `bianchi`. The
probability that an idle period reaches slot :math:`d` is

.. math:: r_0 = 1, \qquad r_{d+1} = r_d \prod_{k:\, a_k \le d} (1 - \tau_k).

This probability is exact and needs no Markov chain for the zones. Each contender's failure
probability is the mean over the slots in which the contender attempts.

The module models the countdown of 802.11e (``countdown = "edca"``): the counter also falls in the
slot in which another node begins to send. The counters of the DCF need the freezing rule (module
`freezing`).

References: J. W. Robinson, T. S. Randhawa, "Saturation throughput analysis of IEEE 802.11e enhanced
distributed coordination function", IEEE JSAC 22(5), 2004 (zones); P. E. Engelstad, O. N. Østerbø,
"Non-saturation and saturation analysis of IEEE 802.11e EDCA with starvation prediction", MSWiM 2005
(internal collisions). Differs from them in: finite attempts, contenders with individual parameters
instead of classes, and the exact distribution of the length of an idle period.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lasthop.models.dcf import airtime
from lasthop.models.dcf.bianchi import settled
from lasthop.models.dcf.saturation import (
    Contender,
    Saturation,
    contender_of,
    discards,
    longest_frame_s,
)
from lasthop.scenario.typed import CellScenario, UdpFlow

PRIORITIES = {"voice": 3, "video": 2, "best-effort": 1, "background": 0}
"""Priority of each access category. If two categories of a node attempt in the same slot, the
category with the higher priority sends.
"""


@dataclass(frozen=True)
class Category:
    """An access category of a node. The category always has a packet to send.

    Attributes
    ----------
    contender : Contender
        Windows, attempts and frames of the category. ``success_s`` is the duration of the whole
        TXOP up to the end of its last MAC ACK, without AIFS. ``payload_bytes`` is the payload of
        the whole TXOP.
    aifsn : int
        Slots of AIFS after SIFS. [slots]
    packets : int
        Packets in a TXOP. [packets]
    node : str
        Name of the sender; categories of one node collide internally.
    priority : int
        Priority of the category. If several categories of a node collide internally, the one with
        the highest priority sends.
    """

    contender: Contender
    aifsn: int
    packets: int
    node: str
    priority: int


@dataclass(frozen=True)
class _Slot:
    """A slot of the idle period: the probability that the idle period reaches the slot, and whether
    each kind of contender may send in it. The last slot represents all later slots.
    """

    reached: float
    contending: tuple[bool, ...]


def solve(
    categories: Sequence[Category], slot_s: float, sifs_s: float, eifs_lead_s: float
) -> Saturation:
    r"""Return the throughput of the saturated cell, in the order of the categories.

    .. math:: X_i = \frac{m_i S_i}
              {AIFS_{min} + \sigma \sum_{d \ge 1} r_d + \sum_k S_k T_k + T_{fail}},
              \qquad S_i = \tau_i \sum_{d \ge a_i} r_d \prod_{k} (1 - \tau_k)

    :math:`m_i` is the number of packets in a TXOP, :math:`S_i` the probability that a transmission
    on the air is a success of category :math:`i`, and :math:`T_k` the duration of a TXOP of
    category :math:`k`. :math:`T_{fail}` is the mean time that a failure takes, per transmission on
    the air. The product is over all other contenders in slot :math:`d`, except categories of the
    same node with lower priority, which do not send.

    Parameters
    ----------
    categories : sequence of Category
    slot_s, sifs_s : float
        Slot time, :math:`\sigma`, and SIFS. [s]
    eifs_lead_s : float
        Difference of EIFS and AIFS: SIFS and a MAC ACK. [s]

    Notes
    -----
    An internal collision may coincide with a collision with another node. The duration of the
    longest frame then also includes the frame of the category that does not send.
    """
    cell = _Cell.of(categories)
    nodes = [kind.contender for kind in cell.kinds]
    taus, fails = settled(nodes, cell.failure_probs)
    slots = cell.slots(taus)
    success = [
        tau * (1 - p) * _usable(slots, i)
        for i, (tau, p) in enumerate(zip(taus, fails, strict=True))
    ]

    def total(values: Sequence[float]) -> float:
        return sum(count * value for count, value in zip(cell.counts, values, strict=True))

    idle_s = slot_s * (sum(slot.reached for slot in slots) - 1.0)
    succeeded_s = total([s * node.success_s for s, node in zip(success, nodes, strict=True)])
    spoilt_s = sum(
        slot.reached * longest_frame_s(nodes, _silenced(taus, slot), cell.counts) for slot in slots
    ) - total([s * node.first_frame_s for s, node in zip(success, nodes, strict=True)])
    failed_s = spoilt_s + (1 - total(success)) * eifs_lead_s
    failed_s += total(
        [
            s * node.error_prob / (1 - node.error_prob) * node.lost_s
            for s, node in zip(success, nodes, strict=True)
        ]
    )
    first_aifs_s = sifs_s + slot_s * min(category.aifsn for category in categories)
    cycle_s = first_aifs_s + idle_s + succeeded_s + failed_s

    rates = [success[k] / cycle_s for k in cell.place]
    errors = [node.error_prob for node in nodes]
    return Saturation(
        attempt_prob=tuple(taus[k] for k in cell.place),
        failure_prob=tuple(fails[k] for k in cell.place),
        collision_prob=tuple(max(0.0, fails[k] - errors[k]) / (1 - errors[k]) for k in cell.place),
        discard_prob=tuple(discards(nodes[k], fails[k]) for k in cell.place),
        packet_rate=tuple(x * own.packets for x, own in zip(rates, categories, strict=True)),
        goodput_bps=tuple(
            8 * own.contender.payload_bytes * x for own, x in zip(categories, rates, strict=True)
        ),
    )


def failure_probs(categories: Sequence[Category], taus: Sequence[float]) -> list[float]:
    """Return for each category the fraction of attempts that fail, see `_Cell.failure_probs`. [-]

    Parameters
    ----------
    categories : sequence of Category
    taus : sequence of float
        Attempt probabilities, equal for equal categories. [-]
    """
    cell = _Cell.of(categories)
    of_kind = dict(zip(cell.place, taus, strict=True))
    fails = cell.failure_probs([of_kind[k] for k in range(len(cell.kinds))])
    return [fails[k] for k in cell.place]


@dataclass(frozen=True)
class _Cell:
    """A cell whose nodes are grouped into kinds; the nodes of a kind have equal access categories.

    Attributes
    ----------
    kinds : tuple of Category
        Access categories of all kinds of nodes.
    counts : tuple of int
        Number of nodes with each category of `kinds`. [-]
    place : tuple of int
        Index among `kinds` of each category of the cell. [-]
    """

    kinds: tuple[Category, ...]
    counts: tuple[int, ...]
    place: tuple[int, ...]

    @classmethod
    def of(cls, categories: Sequence[Category]) -> "_Cell":
        """Return the cell with its nodes grouped into kinds."""
        nodes: dict[str, list[Category]] = {}
        for each in categories:
            nodes.setdefault(each.node, []).append(replace(each, node=""))
        kinds_of = {
            name: tuple(sorted(own, key=lambda each: each.priority)) for name, own in nodes.items()
        }
        counted = Counter(kinds_of.values())
        kinds: list[Category] = []
        counts: list[int] = []
        index: dict[tuple[tuple[Category, ...], int], int] = {}
        for number, (own, count) in enumerate(counted.items()):
            for each in own:
                index[own, each.priority] = len(kinds)
                kinds.append(replace(each, node=str(number)))
                counts.append(count)
        place = tuple(index[kinds_of[category.node], category.priority] for category in categories)
        return cls(tuple(kinds), tuple(counts), place)

    def failure_probs(self, taus: Sequence[float]) -> list[float]:
        r"""Return for each kind the fraction of attempts that fail, by collisions on the air and
        within the node. [-]

        .. math:: 1 - p_i = (1 - e_i) \frac{\sum_{d \ge a_i} r_d \prod_k (1 - \tau_k)}
                                           {\sum_{d \ge a_i} r_d}
        """
        slots = self.slots(taus)
        fails = []
        for i, own in enumerate(self.kinds):
            # Categories of the same node with lower priority do not send in the same slot.
            rivals = []
            for other, count in zip(self.kinds, self.counts, strict=True):
                same = other.node == own.node and other.priority <= own.priority
                rivals.append(count - 1 if same else count)
            alone = sum(
                slot.reached
                * math.prod(
                    (1 - tau) ** count
                    for tau, count, contends in zip(taus, rivals, slot.contending, strict=True)
                    if contends
                )
                for slot in slots
                if slot.contending[i]
            )
            fails.append(1 - (1 - own.contender.error_prob) * alone / _usable(slots, i))
        return fails

    def slots(self, taus: Sequence[float]) -> list[_Slot]:
        """Return the slots of an idle period up to the first slot that all contenders may use."""
        first = min(kind.aifsn for kind in self.kinds)
        last = max(kind.aifsn for kind in self.kinds) - first
        slots, reached = [], 1.0
        for d in range(last + 1):
            contending = tuple(kind.aifsn - first <= d for kind in self.kinds)
            silent = math.prod(
                (1 - tau) ** count
                for tau, count, own in zip(taus, self.counts, contending, strict=True)
                if own
            )
            slots.append(_Slot(reached / (1 - silent) if d == last else reached, contending))
            reached *= silent
        return slots


def _usable(slots: Sequence[_Slot], index: int) -> float:
    return sum(slot.reached for slot in slots if slot.contending[index])


def _silenced(taus: Sequence[float], slot: _Slot) -> list[float]:
    return [tau if own else 0.0 for tau, own in zip(taus, slot.contending, strict=True)]


def category_of(scenario: CellScenario, flow: UdpFlow) -> Category:
    """Return the access category that sends a flow; its TXOP may have several packets."""
    cell, station = scenario.cell, scenario.station[flow.station]
    sender = station if flow.is_up else cell.ap
    access = sender.access(flow.category)
    single = contender_of(cell, sender, station, flow, access)
    exchange_s = single.success_s - airtime.aifs_s(cell, access.aifsn)
    packets = airtime.packets_in_txop(cell, access, exchange_s)
    return Category(
        contender=replace(
            single,
            success_s=packets * exchange_s + (packets - 1) * cell.sifs_s,
            payload_bytes=packets * flow.udp.payload_bytes,
        ),
        aifsn=access.aifsn,
        packets=packets,
        node=station.name if flow.is_up else "ap",
        priority=PRIORITIES[flow.category],
    )
