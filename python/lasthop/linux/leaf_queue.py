"""The queue of a leaf: first in, first out, or one of the kernel's that keep delay low.

Attributes are those of linux/pkt_sched.h, words those of `tc`. CoDel (RFC 8289) and FQ-CoDel
(RFC 8290) mark packets of senders that know ECN, and drop others.
"""

import errno
import struct
from typing import NamedTuple

from lasthop.linux import tc
from lasthop.linux.netlink import CREATE, EXCL, KernelError, Request, Socket, attribute

BEST = ("fq_codel", "codel", "pfifo")
"""The best first; the last is in every kernel."""
MANAGED = ("fq_codel", "codel")
"""Those that have CoDel's parameters, and drop what they hold already."""
TARGET, LIMIT, INTERVAL, ECN = 1, 2, 3, 4
"""Attributes that CoDel and FQ-CoDel have alike."""
FLOWS, MEMORY_LIMIT = 5, 9
PACKET_MEMORY_BYTES = 4608
"""What a packet of 1514 bytes may take in memory: a page and its administration. [bytes]"""
TRIED_PACKETS = 10


class Queue(NamedTuple):
    """The queue of a leaf."""

    discipline: str
    packets: int
    """Those that it holds."""
    target_us: int = 5_000
    """CoDel's target: delay that it lets stand. [us]"""
    interval_us: int = 100_000
    """Time for which the delay may be longer, about a round-trip time. [us]"""
    flows: int = 1024
    """Queues among which FQ-CoDel parts flows."""

    @property
    def memory_bytes(self) -> int:
        """Memory of packets that FQ-CoDel holds at most. [bytes]"""
        return self.packets * PACKET_MEMORY_BYTES


def add(device: tc.Device, parent: int, queue: Queue) -> Request:
    """Give a class, or the root of an interface, a queue."""
    body = device.header(0, parent)
    body += attribute(tc.KIND, queue.discipline.encode() + b"\0")
    body += attribute(tc.OPTIONS, options_of(queue))
    where = "root" if parent == tc.ROOT else f"parent {tc.shown(parent)}"
    text = f"tc qdisc add {device.said()} {where} {queue.discipline} limit {queue.packets}"
    return Request(tc.NEWQDISC, CREATE | EXCL, body, text + parameters_said(queue))


def options_of(queue: Queue) -> bytes:
    """What the kernel is told of a queue."""
    match queue.discipline:
        case "sfq":
            return struct.pack("=IiIII", 0, 10, queue.packets, 0, 0)
        case "codel" | "fq_codel":
            values = {
                TARGET: queue.target_us,
                LIMIT: queue.packets,
                INTERVAL: queue.interval_us,
                ECN: 1,
            }
            if queue.discipline == "fq_codel":
                values |= {FLOWS: queue.flows, MEMORY_LIMIT: queue.memory_bytes}
            return b"".join(attribute(k, struct.pack("=I", each)) for k, each in values.items())
    return struct.pack("=I", queue.packets)


def parameters_said(queue: Queue) -> str:
    """What `tc` is told of a queue beside its limit."""
    codel = f" target {queue.target_us}us interval {queue.interval_us}us ecn"
    match queue.discipline:
        case "sfq":
            return " perturb 10"
        case "codel":
            return codel
        case "fq_codel":
            return f"{codel} flows {queue.flows} memory_limit {queue.memory_bytes}b"
    return ""


def best(kernel: Socket, device: tc.Device, parent: int = tc.ROOT) -> str:
    """The best discipline that the kernel has, found out by trying; nothing of it stays."""
    for discipline in BEST[:-1]:
        try:
            kernel.carry_out([add(device, parent, Queue(discipline, TRIED_PACKETS))])
        except KernelError as error:
            if error.number != errno.ENOENT:
                raise
        else:
            kernel.carry_out([tc.del_qdisc(device, parent)])
            return discipline
    return BEST[-1]
