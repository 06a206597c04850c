"""Queues of leaves: the kernel's best unless the file names one, and CoDel's parameters.

**Target.** CoDel drops or marks packets that have waited for longer than its target. A leaf sends
once per round of all leaves, so a packet waits for a round even without a queue. A target below the
duration of a round would starve the leaf. An example is a target of 5 ms at a share of 0.3 Mbit/s,
where a packet takes 40 ms. The target is one and a half rounds of ten active leaves at the largest
C, and at least 5 ms. RFC 8290, section 5.2, asks for at least one packet at the leaf's share. The
target does not follow C or the number of stations: there is no time to change thousands of leaves.
If the share is smaller than that of ten leaves at the largest C, CoDel drops more than necessary.
If the share is larger, packets of a download wait a little longer for each other. With FQ-CoDel,
other flows of the same station do not wait longer.

If C is estimated, a queue up to the estimator's threshold is downstream of the bottleneck, and is
part of every round trip. After a loss, CUBIC reduces its window by a factor of 0.7. A single
download then empties its leaf unless the queueing time in the leaf is 3/7 of the rest of the
round-trip time. While the leaf is empty, stations with many flows take part of the download's
share. The target of FQ-CoDel delays only the download itself. It is at least 3/7 of the sum of the
threshold and 30 ms, the round-trip time of the path.

**Interval.** The interval is the target plus 95 ms. With the smallest target it is 100 ms, a
typical round-trip time.
"""

import math

from lasthop.enforce.gateway.config import AccessPoint, Gateway
from lasthop.linux.leaf_queue import BEST, MANAGED, Queue

ACTIVE_LEAVES = 10
"""Largest number of active leaves for which the target is chosen."""
ROUNDS = 1.5
LEAST_TARGET_S, PATH_S = 0.005, 0.095
KEPT = 3 / 7
"""Ratio of queueing time to the rest of the round-trip time at which CUBIC's queue does not run
empty: 0.7 (1 + 3/7) = 1. [-]"""
NEAR_S = 0.03
"""Round-trip time of the path, which is added to the threshold. [s]"""
FLOWS = 128
"""Number of FQ-CoDel queues in the leaf of one station. They take 9 kB of memory. A flow shares its
queue with one of 12 other flows in 9 % of cases."""
SHARED_FLOWS = 1024
"""Number of FQ-CoDel queues in a leaf that all stations share."""
MOST_SHARED = 2
"""Largest number of leaves of an access point that all stations share."""


def is_chosen(gateway: Gateway) -> bool:
    """Return whether the kernel decides on the queue of leaves."""
    return gateway.discipline == "best"


def assumed(gateway: Gateway) -> str:
    """Return the queueing discipline of leaves if no kernel is asked."""
    return BEST[0] if is_chosen(gateway) else gateway.discipline


def why(gateway: Gateway) -> str:
    """Return the reason for the choice of the leaves' queueing discipline."""
    return "the best that this kernel has" if is_chosen(gateway) else "set by `gateway.discipline`"


def unmanaged(gateway: Gateway, discipline: str) -> list[str]:
    """Return a warning if leaves are FIFOs because the kernel has no better discipline."""
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
    """Return the queue of each leaf of an access point.

    Parameters
    ----------
    largest_bps : int
        The largest rate of a leaf.
    leaves : int
        Number of leaves that all stations share; 0 if each station has a separate leaf.
    turn_packets : float
        The longest turn of a leaf. [packets]
    packet_bytes : int
        A full packet. [bytes]
    """
    sharing = min(leaves or ACTIVE_LEAVES, ACTIVE_LEAVES)
    # No queue is longer than the limit of the file, for any quantum.
    packets = sharing * min(ROUNDS * turn_packets, gateway.queue_packets)
    least_s = LEAST_TARGET_S
    if discipline == "fq_codel" and ap.rate_bps is None:
        least_s = max(KEPT * (ap.wce.thresholds_s[1] + NEAR_S), least_s)
    target_s = max(packets * 8 * packet_bytes / largest_bps, least_s)
    target_ms = math.ceil(round(target_s * 1e3, 6))
    return Queue(
        discipline,
        gateway.queue_packets,
        target_us=1000 * target_ms,
        interval_us=1000 * target_ms + round(1e6 * PATH_S),
        flows=SHARED_FLOWS if 0 < leaves <= MOST_SHARED else FLOWS,
    )
