"""Queue of each leaf: the best discipline of the kernel, or that of the configuration, with CoDel's
parameters.

**Target.** CoDel drops or marks packets that have waited for longer than its target. A leaf sends
once per round of all leaves, so even without a backlog a packet waits for one round. A target below
the duration of one round would starve the leaf. An example is a target of 5 ms at a share of 0.3
Mbit/s, where a packet takes 40 ms. The target is one and a half rounds of ten active leaves at the
largest C, and at least 5 ms. RFC 8290, section 5.2, asks for a target of at least the time to send
one packet at the leaf's share. The target does not depend on the present C or on the number of
stations, since changing thousands of leaves takes too long. If a leaf's share is smaller than a
tenth of the largest C, CoDel drops more packets than necessary. If the share is larger, packets of
a download wait slightly longer than necessary. With FQ-CoDel, other flows of the same station do
not wait longer.

If C is estimated, the access point has a queue downstream of the bottleneck, up to the estimator's
threshold. Its delay is part of every round trip. After a loss, CUBIC reduces its window by a factor
of 0.7. The leaf of a single download then becomes empty, unless the queueing delay in the leaf is
at least 3/7 of the remaining round-trip time. While the leaf is empty, stations with many flows use
a part of the download's share. With FQ-CoDel, a large target delays only the download itself. The
target is at least 3/7 of the sum of the threshold and 30 ms, the round-trip time of the path.

**Interval.** The interval is the target plus 95 ms. With the smallest target it is 100 ms, a
typical round-trip time. CAKE's interval is always twenty times the target.

**Isolation.** A leaf has the packets of one station, so that CAKE needs to distinguish flows only.
HTB distinguishes the stations.
"""

import math

from lasthop.enforce.gateway.config import AccessPoint, Gateway
from lasthop.linux.leaf_queue import BEST, MANAGED, Queue

ACTIVE_LEAVES = 10
"""Number of active leaves for which the target is computed."""
ROUNDS = 1.5
MIN_TARGET_S, PATH_S = 0.005, 0.095
KEPT = 3 / 7
"""Ratio of the queueing delay to the rest of the round-trip time. With this ratio or a larger
ratio, the queue does not become empty after a loss. After a loss, CUBIC multiplies its window by
0.7, and 0.7 (1 + 3/7) is 1. [-]
"""
NEAR_S = 0.03
"""Assumed round-trip time of the path, which is added to the estimator's threshold. [s]"""
FLOWS = 128
"""Number of FQ-CoDel queues in the leaf of one station. These queues use 9 kB of memory. If 12
other flows are in the leaf, a flow shares its queue with another flow in 9 % of cases."""
CAKE_MEMORY_MB = 1.1
"""Memory of an empty CAKE, which always has eight tins of 1024 queues. [MB]"""
SHARED_FLOWS = 1024
"""Number of FQ-CoDel queues in a leaf that all stations of an access point share."""
MAX_SHARED = 2
"""If the stations of an access point share at most this many leaves, each of these leaves has
`SHARED_FLOWS` queues."""


def is_chosen(gateway: Gateway) -> bool:
    """Return whether the gateway uses the best queueing discipline that the kernel supports,
    instead of a discipline that the configuration sets."""
    return gateway.discipline == "best"


def assumed(gateway: Gateway) -> str:
    """Return the queueing discipline of leaves without testing the kernel. If the configuration
    sets no discipline, return the best discipline."""
    return BEST[0] if is_chosen(gateway) else gateway.discipline


def why(gateway: Gateway) -> str:
    """Return the reason why leaves have their queueing discipline, as text."""
    return "the best that this kernel has" if is_chosen(gateway) else "set by `gateway.discipline`"


def memory(discipline: str) -> list[str]:
    """Return a warning if each leaf takes much memory of the kernel."""
    if discipline != "cake":
        return []
    return [
        f"a leaf queue cake takes {CAKE_MEMORY_MB:g} MB of memory even if it is empty, and "
        "fq_codel takes 0.009 MB: with many stations, use fq_codel"
    ]


def unmanaged(gateway: Gateway, discipline: str) -> list[str]:
    """Return a warning if leaves are FIFOs because the kernel supports no better discipline."""
    if not is_chosen(gateway) or discipline in MANAGED:
        return []
    return [
        f"leaf queues are FIFOs ({discipline}), since this kernel has neither sch_fq_codel nor "
        "sch_codel: calls and queries of a station wait for its own downloads"
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
        The largest rate of a leaf. [bit/s]
    leaves : int
        Number of leaves that all stations of the access point share; 0 if each station has a
        separate leaf.
    turn_packets : float
        The largest quantum of a leaf. [packets]
    packet_bytes : int
        Length of a full packet. [bytes]
    """
    sharing = min(leaves or ACTIVE_LEAVES, ACTIVE_LEAVES)
    # A leaf cannot send more packets per round than its queue can store.
    packets = sharing * min(ROUNDS * turn_packets, gateway.queue_packets)
    least_s = MIN_TARGET_S
    if discipline in ("fq_codel", "cake") and ap.rate_bps is None:
        least_s = max(KEPT * (ap.wce.thresholds_s[1] + NEAR_S), least_s)
    target_s = max(packets * 8 * packet_bytes / largest_bps, least_s)
    target_ms = math.ceil(round(target_s * 1e3, 6))
    return Queue(
        discipline,
        gateway.queue_packets,
        target_us=1000 * target_ms,
        interval_us=1000 * target_ms + round(1e6 * PATH_S),
        flows=SHARED_FLOWS if 0 < leaves <= MAX_SHARED else FLOWS,
    )
