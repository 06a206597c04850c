"""Queueing disciplines of a shaped queue, with their netlink options (linux/pkt_sched.h).

Limits are numbers of waiting packets. The packet in service is not included.
"""

import math
import struct
from collections.abc import Mapping
from typing import NamedTuple

from lasthop.linux import tc
from lasthop.linux.netlink import Request, attribute, u32_attribute

OPTION = {
    "pfifo": "CONFIG_NET_SCH_FIFO",
    "red": "CONFIG_NET_SCH_RED",
    "codel": "CONFIG_NET_SCH_CODEL",
    "fq_codel": "CONFIG_NET_SCH_FQ_CODEL",
    "pie": "CONFIG_NET_SCH_PIE",
    "cake": "CONFIG_NET_SCH_CAKE",
    "tbf": "CONFIG_NET_SCH_TBF",
}
"""Kernel configuration option that each queueing discipline needs."""


def absent(*kinds: str) -> str:
    """Return the text about queueing disciplines that the kernel does not have."""
    return f"this kernel has no {', '.join(f'{kind} ({OPTION[kind]})' for kind in kinds)}"


def install_kernel(*features: str) -> str:
    """Return the remedy for a kernel without features, which are modules such as ``sch_red``."""
    return f"install a kernel (or its package of modules) with {', '.join(features)}"


TARGET, LIMIT, INTERVAL, ECN = 1, 2, 3, 4
"""Attributes that CoDel and FQ-CoDel have in common."""
FLOWS, FQ_QUANTUM, MEMORY_LIMIT = 5, 6, 9
PACKET_MEMORY_BYTES = 4608
"""Memory that a packet of 1514 bytes may use: a page and the kernel's administrative data.
[bytes]"""

PIE_OPTIONS = PIE_TARGET, PIE_LIMIT, _, PIE_ALPHA, PIE_BETA, PIE_ECN = tuple(range(1, 7))
"""Attributes of PIE: target, limit, time between updates, weights alpha and beta, and whether
packets are marked."""
PIE_NUMBERS = (PIE_LIMIT, PIE_ALPHA, PIE_BETA, PIE_ECN)
PIE_UNIT_PER_S = 16
"""Number that the kernel uses for a weight alpha or beta of 1/s. The kernel's weights are integers
in units of 1/16 per second."""
RED_PARMS, RED_TABLE, RED_MAX_P = 1, 2, 3
RED_ECN, RED_HARD_DROP = 1, 2
MAX_BURST = 100_000
"""Number of burst lengths that are tried to find the burst that matches RED's averaging weight.
[-]"""


class Discipline(NamedTuple):
    """Queueing discipline of the kernel, and its options."""

    kind: str
    options: bytes
    words: str
    """The options as arguments of the `tc` command."""

    def request(self, device: tc.Device, parent: int) -> Request:
        """Return the request that adds the discipline to a class, or to the root of an
        interface."""
        return tc.add_qdisc(device, parent, self.kind, self.options, self.words)


def numbers(values: dict[int, int]) -> bytes:
    """Return a netlink attribute of 32 bits for each number."""
    return b"".join(u32_attribute(kind, value) for kind, value in values.items())


def microseconds(time_s: float) -> int:
    """Return a time in microseconds, the unit of the kernel's attributes. [us]"""
    return max(round(time_s * 1e6), 1)


def pfifo(limit: int) -> Discipline:
    """Return a FIFO with a limit in packets."""
    return Discipline("pfifo", struct.pack("=I", limit), f"limit {limit}")


def codel(
    limit: int,
    target_us: int,
    interval_us: int,
    *,
    ecn: bool,
    kind: str = "codel",
    more: Mapping[int, int] | None = None,
    words: str = "",
) -> Discipline:
    """Return CoDel (RFC 8289) as a discipline of the kernel, or a discipline `kind` that has
    CoDel's options and the additional options `more`."""
    options = {TARGET: target_us, LIMIT: limit, INTERVAL: interval_us, ECN: int(ecn)}
    text = f"limit {limit} target {target_us}us interval {interval_us}us {marks(ecn)}{words}"
    return Discipline(kind, numbers(options | dict(more or {})), text)


def fq_codel(
    limit: int,
    target_us: int,
    interval_us: int,
    flows: int,
    quantum_bytes: int | None = None,
    *,
    ecn: bool,
) -> Discipline:
    """Return FQ-CoDel (RFC 8290) as a discipline of the kernel."""
    memory = limit * PACKET_MEMORY_BYTES
    quantum = {} if quantum_bytes is None else {FQ_QUANTUM: quantum_bytes}
    more = {FLOWS: flows, **quantum, MEMORY_LIMIT: memory}
    words = "" if quantum_bytes is None else f" quantum {quantum_bytes}"
    words = f" flows {flows}{words} memory_limit {memory}b"
    return codel(limit, target_us, interval_us, ecn=ecn, kind="fq_codel", more=more, words=words)


def pie(
    limit: int,
    target_us: int,
    update_us: int,
    alpha_per_s: float,
    beta_per_s: float,
    *,
    ecn: bool,
) -> Discipline:
    """Return PIE (RFC 8033) as a discipline of the kernel."""
    alpha, beta = (round(each * PIE_UNIT_PER_S) for each in (alpha_per_s, beta_per_s))
    values = (target_us, limit, update_us, alpha, beta, int(ecn))
    options = numbers(dict(zip(PIE_OPTIONS, values, strict=True)))
    text = f"limit {limit} target {target_us}us tupdate {update_us}us alpha {alpha} beta {beta}"
    return Discipline("pie", options, f"{text} {marks(ecn)}")


def red(
    limit: int,
    min_packets: float,
    max_packets: float,
    max_p: float,
    weight: float,
    rate_bps: int,
    packet_bytes: int,
    *,
    ecn: bool,
) -> Discipline:
    """Return random early detection (RED). Thresholds and limit are in packets of `packet_bytes`.

    The kernel's RED counts bytes, rounds the averaging weight to the closest power of two, and
    drops every packet above the upper threshold.
    """
    least, most, total = (round(each * packet_bytes) for each in (min_packets, max_packets, limit))
    weight_log = min(max(round(-math.log2(weight)), 1), 31)
    probability_log = max(math.floor(math.log2((most - least) / max_p)), 0)
    table, cell_log = idle_table(weight_log, tc.ticks(packet_bytes, rate_bps // 8))
    flags = RED_ECN if ecn else 0
    parameters = struct.pack(
        "=IIIBBBB", total, least, most, weight_log, probability_log, cell_log, flags
    )
    options = attribute(RED_PARMS, parameters) + attribute(RED_TABLE, table)
    options += numbers({RED_MAX_P: min(round(max_p * (1 << 32)), (1 << 32) - 1)})
    burst = burst_of(weight_log, least / packet_bytes)
    text = (
        f"limit {total} min {least} max {most} avpkt {packet_bytes} burst {burst} "
        f"probability {max_p:g} bandwidth {rate_bps}bit{' ecn' if ecn else ''}"
    )
    return Discipline("red", options, text)


def burst_of(weight_log: int, min_packets: float) -> int:
    """Return the smallest burst length from which `tc` computes the averaging weight
    2^-`weight_log` of RED. If no burst length gives this weight, return a burst length that gives
    the closest weight. [packets]

    `tc_red_eval_ewma` of iproute2 chooses the largest power of two w with burst + 1 - min <= (1 -
    (1 - w)^burst) / w. Here `min` is RED's lower threshold. With the weight w, an average queue
    length that starts at 0 is at most `min` after a burst.
    """
    least = math.ceil(min_packets)
    for burst in range(least, least + MAX_BURST):
        over = burst + 1 - min_packets
        if all(over > means(log, burst) for log in range(1, weight_log)):
            return burst
    return least + MAX_BURST


def means(weight_log: int, burst: int) -> float:
    """Return the burst length minus the average queue length at the end of the burst. The average
    starts at 0. [packets]"""
    weight = 0.5**weight_log
    return (1 - (1 - weight) ** burst) / weight


def idle_table(weight_log: int, packet_ticks: int) -> tuple[bytes, int]:
    """Return RED's table for idle times, and the logarithm to base 2 of the time step between two
    entries, in ticks. Entry k is for an idle time of k time steps: the average queue length
    decreases by the factor 2^-(entry k).

    The algorithm is `tc_red_eval_idle_damping` of iproute2. After an idle time in which m packets
    could have been sent, the average should decrease by the factor (1 - w)^m, where w is the
    averaging weight. iproute2 uses the natural logarithm instead of the logarithm to base 2, so the
    exponents are ln 2 times the correct exponents.
    """
    falls = -math.log(1 - 0.5**weight_log) / packet_ticks
    longest = 31 / falls
    cell_log = next((log for log in range(32) if longest / (1 << log) < 512), 31)
    cells = [min(int((cell << cell_log) * falls), 31) for cell in range(255)]
    return bytes([*cells, 31]), cell_log


def marks(ecn: bool) -> str:
    """Return the option of the `tc` command that enables or disables ECN."""
    return "ecn" if ecn else "noecn"
