"""The queueing disciplines that a shaped queue may have, as messages (linux/pkt_sched.h).

Limits here are of packets that wait; the one in service has left.
"""

import math
import struct
from typing import NamedTuple

from lasthop.linux import leaf_queue, tc
from lasthop.linux.netlink import CREATE, EXCL, Request, attribute

OPTION = {
    "pfifo": "CONFIG_NET_SCH_FIFO",
    "red": "CONFIG_NET_SCH_RED",
    "codel": "CONFIG_NET_SCH_CODEL",
    "fq_codel": "CONFIG_NET_SCH_FQ_CODEL",
    "pie": "CONFIG_NET_SCH_PIE",
}
"""The option of the kernel that each needs."""

PIE_TARGET, PIE_LIMIT, PIE_UPDATE, PIE_ALPHA, PIE_BETA, PIE_ECN = range(1, 7)
PIE_NUMBERS = (PIE_LIMIT, PIE_ALPHA, PIE_BETA, PIE_ECN)
PIE_UNIT_PER_S = 16
"""The kernel has the weights of PIE in sixteenths. [1/s]"""
RED_PARMS, RED_TABLE, RED_MAX_P = 1, 2, 3
RED_ECN, RED_HARD_DROP = 1, 2
MOST_BURST = 100_000
"""Longest burst that is looked at beyond the lower threshold. [packets]"""
FQ_QUANTUM = 6


class Discipline(NamedTuple):
    """A queueing discipline of the kernel, and what it is told."""

    kind: str
    options: bytes
    said: str
    """The same as `tc` is told it."""

    def request(self, device: tc.Device, parent: int) -> Request:
        """Give it to a class."""
        body = device.header(0, parent) + attribute(tc.KIND, self.kind.encode() + b"\0")
        body += attribute(tc.OPTIONS, self.options)
        text = f"tc qdisc add {device.said()} parent {tc.shown(parent)} {self.kind} {self.said}"
        return Request(tc.NEWQDISC, CREATE | EXCL, body, text)


def numbers(values: dict[int, int]) -> bytes:
    """Attributes of 32 bits each."""
    return b"".join(attribute(kind, struct.pack("=I", each)) for kind, each in values.items())


def microseconds(time_s: float) -> int:
    """A time as the kernel takes it. [us]"""
    return max(round(time_s * 1e6), 1)


def pfifo(limit: int) -> Discipline:
    """First in, first out."""
    return Discipline("pfifo", struct.pack("=I", limit), f"limit {limit}")


def codel(limit: int, target_s: float, interval_s: float, *, ecn: bool) -> Discipline:
    """CoDel (RFC 8289)."""
    target, interval = microseconds(target_s), microseconds(interval_s)
    options = numbers(
        {
            leaf_queue.TARGET: target,
            leaf_queue.LIMIT: limit,
            leaf_queue.INTERVAL: interval,
            leaf_queue.ECN: int(ecn),
        }
    )
    text = f"limit {limit} target {target}us interval {interval}us {marks(ecn)}"
    return Discipline("codel", options, text)


def fq_codel(
    limit: int, target_s: float, interval_s: float, queues: int, quantum_bytes: int, *, ecn: bool
) -> Discipline:
    """FQ-CoDel (RFC 8290)."""
    target, interval = microseconds(target_s), microseconds(interval_s)
    memory = limit * leaf_queue.PACKET_MEMORY_BYTES
    options = numbers(
        {
            leaf_queue.TARGET: target,
            leaf_queue.LIMIT: limit,
            leaf_queue.INTERVAL: interval,
            leaf_queue.ECN: int(ecn),
            leaf_queue.FLOWS: queues,
            FQ_QUANTUM: quantum_bytes,
            leaf_queue.MEMORY_LIMIT: memory,
        }
    )
    text = f"limit {limit} target {target}us interval {interval}us {marks(ecn)}"
    return Discipline(
        "fq_codel", options, f"{text} flows {queues} quantum {quantum_bytes} memory_limit {memory}b"
    )


def pie(
    limit: int,
    target_s: float,
    update_s: float,
    alpha_per_s: float,
    beta_per_s: float,
    *,
    ecn: bool,
) -> Discipline:
    """PIE (RFC 8033)."""
    target, update = microseconds(target_s), microseconds(update_s)
    alpha, beta = (round(each * PIE_UNIT_PER_S) for each in (alpha_per_s, beta_per_s))
    options = numbers(
        {
            PIE_TARGET: target,
            PIE_LIMIT: limit,
            PIE_UPDATE: update,
            PIE_ALPHA: alpha,
            PIE_BETA: beta,
            PIE_ECN: int(ecn),
        }
    )
    text = f"limit {limit} target {target}us tupdate {update}us alpha {alpha} beta {beta}"
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
    """Random early detection, thresholds and limit in packets of this length.

    The kernel counts bytes, takes the power of two next to the weight, and drops all beyond the
    upper threshold.
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
    """The burst from which `tc` makes this weight: the least one, or the next that there is.

    `tc_red_eval_ewma` of iproute2 takes the largest weight w of the powers of two with which a mean
    that begins at 0 is at `min` or below after a burst: burst + 1 - min <= (1 - (1 - w)^burst) / w.
    """
    least = math.ceil(min_packets)
    for burst in range(least, least + MOST_BURST):
        over = burst + 1 - min_packets
        if all(over > means(log, burst) for log in range(1, weight_log)):
            return burst
    return least + MOST_BURST


def means(weight_log: int, burst: int) -> float:
    """How much a mean lacks after a burst. [packets]"""
    weight = 0.5**weight_log
    return (1 - (1 - weight) ** burst) / weight


def idle_table(weight_log: int, packet_ticks: int) -> tuple[bytes, int]:
    """By how much the mean falls in an idle time, in powers of two, and the unit of the table.

    As `tc_red_eval_idle_damping` of iproute2, which takes the natural logarithm: after m packets
    that did not come the mean is (1 - w)^m of itself, and by this table ln 2 of that power.
    """
    falls = -math.log(1 - 0.5**weight_log) / packet_ticks
    longest = 31 / falls
    cell_log = next((log for log in range(32) if longest / (1 << log) < 512), 31)
    cells = [min(int((cell << cell_log) * falls), 31) for cell in range(255)]
    return bytes([*cells, 31]), cell_log


def marks(ecn: bool) -> str:
    """Whether packets are marked, as `tc` is told it."""
    return "ecn" if ecn else "noecn"
