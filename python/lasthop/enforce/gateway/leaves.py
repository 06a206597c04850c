"""Which queue a leaf has: the kernel's best, if the file says no other, and CoDel's parameters.

**Target.** CoDel drops or marks where packets have waited for longer than its target. A leaf whose
turn comes once in a round of all leaves holds a packet for that long without any queue, so a target
below would starve it: of 5 ms at a share of 0.3 Mbit/s, where a packet takes 40 ms. The target is
one and a half rounds (1.5 packets at the leaf's share; RFC 8290, section 5.2, asks for one at
least), of ten active leaves at the largest C, and no less than 5 ms. It stays as C and stations
change: with thousands of leaves there is no time to set them all. Where the share is smaller than
that of ten at the largest C, CoDel drops more than it need. Where it is larger, a download waits
a little longer behind itself; other flows of its station do not, with FQ-CoDel.

Where C is found, a queue up to the estimator's threshold stands behind the bottleneck, a part of
every round trip. A single CUBIC download, whose window falls to 0.7, leaves its leaf empty then
unless it has kept there 3/7 of the rest of its round trip, and loses some of its share to stations
with many flows. So the target of FQ-CoDel, which is a download's own wait alone, is at least 3/7 of
the threshold and of a path of 30 ms.

**Interval.** As the target, and 95 ms more: a round-trip time of 100 ms in all with the least one.
"""

import math

from lasthop.enforce.gateway.config import AccessPoint, Gateway
from lasthop.linux.leaf_queue import BEST, MANAGED, Queue

ACTIVE_LEAVES = 10
"""Leaves that share C as the target is chosen; fewer where there are fewer."""
ROUNDS = 1.5
LEAST_TARGET_S, PATH_S = 0.005, 0.095
KEPT = 3 / 7
"""What CUBIC must keep in a queue, over the rest of its round trip, so that it does not run empty:
0.7 (1 + 3/7) = 1."""
NEAR_S = 0.03
"""A path of which that is kept too. [s]"""
FLOWS = 128
"""Queues of a leaf of its own: 9 kB of memory, and one of 12 others' flows meets a given one's in
9 % of cases."""
SHARED_FLOWS = 1024
"""Queues of a leaf that all stations share."""
MOST_SHARED = 2
"""Leaves of an access point are all stations' if there are so few."""


def is_chosen(gateway: Gateway) -> bool:
    """Whether the kernel decides on the queue of leaves."""
    return gateway.discipline == "best"


def assumed(gateway: Gateway) -> str:
    """The queue of leaves where no kernel is asked."""
    return BEST[0] if is_chosen(gateway) else gateway.discipline


def why(gateway: Gateway) -> str:
    """Why leaves have the queue that they have."""
    return "the best that this kernel has" if is_chosen(gateway) else "set by `gateway.discipline`"


def unmanaged(gateway: Gateway, discipline: str) -> list[str]:
    """A warning if leaves are FIFOs for want of anything better."""
    if not is_chosen(gateway) or discipline in MANAGED:
        return []
    return [
        f"leaves are FIFOs ({discipline}), since this kernel has neither sch_fq_codel nor "
        "sch_codel: a station's own calls and queries wait for its own downloads"
    ]


def queue_of(
    gateway: Gateway,
    ap: AccessPoint,
    discipline: str,
    *,
    largest_bps: int,
    leaves: int,
    turn_packets: float,
    packet_bytes: int,
) -> Queue:
    """The queue of each leaf of an access point.

    Parameters
    ----------
    largest_bps : int
        The largest rate of a leaf.
    leaves : int
        Leaves that it has whatever its stations; 0 if each station has its own.
    turn_packets : float
        The longest turn of a leaf. [packets]
    packet_bytes : int
        A full packet. [bytes]
    """
    sharing = min(leaves or ACTIVE_LEAVES, ACTIVE_LEAVES)
    # No queue is longer than its limit, whatever the turns.
    packets = sharing * min(ROUNDS * turn_packets, gateway.queue_packets)
    least_s = LEAST_TARGET_S
    if discipline == "fq_codel" and ap.rate_bps is None:
        least_s = max(KEPT * (ap.wce.threshold_s + NEAR_S), least_s)
    target_s = max(packets * 8 * packet_bytes / largest_bps, least_s)
    target_ms = math.ceil(round(target_s * 1e3, 6))
    return Queue(
        discipline,
        gateway.queue_packets,
        target_us=1000 * target_ms,
        interval_us=1000 * target_ms + round(1e6 * PATH_S),
        flows=SHARED_FLOWS if 0 < leaves <= MOST_SHARED else FLOWS,
    )
