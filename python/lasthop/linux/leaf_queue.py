"""Queue of a leaf: a FIFO, or a queueing discipline of the kernel that limits the queueing delay.

Netlink attributes are those of linux/pkt_sched.h. CoDel (RFC 8289) and FQ-CoDel (RFC 8290) mark
packets of senders that support ECN, and drop other packets.
"""

import errno
import struct
from typing import NamedTuple

from lasthop.linux import cake, disciplines, tc
from lasthop.linux.disciplines import Discipline
from lasthop.linux.netlink import KernelError, Request, Socket

BEST = ("fq_codel", "codel", "pfifo")
"""Queueing disciplines for leaves in order of preference. Every kernel supports the last
discipline."""
MANAGED = ("fq_codel", "codel")
"""Queueing disciplines with the parameters of CoDel, from which `BEST` selects."""
DROPS_LATER = (*MANAGED, "cake")
"""Queueing disciplines that can drop packets that are already queued."""
TRIED_PACKETS = 10


class Queue(NamedTuple):
    """Settings of the queue of a leaf."""

    discipline: str
    packets: int
    """Largest number of packets in the queue."""
    target_us: int = 5_000
    """CoDel's target: the queueing delay that CoDel accepts permanently. [us]"""
    interval_us: int = 100_000
    """CoDel's interval: time for which the queueing delay may exceed the target, about a round-trip
    time. [us]"""
    flows: int = 1024
    """Number of queues into which FQ-CoDel hashes flows."""

    @property
    def kernel_discipline(self) -> Discipline:
        """Return the queueing discipline with its options. CoDel always marks packets of ECN
        senders."""
        match self.discipline:
            case "sfq":
                options = struct.pack("=IiIII", 0, 10, self.packets, 0, 0)
                return Discipline("sfq", options, f"limit {self.packets} perturb 10")
            case "codel":
                times = self.target_us, self.interval_us
                return disciplines.codel(self.packets, *times, ecn=True)
            case "fq_codel":
                times = self.target_us, self.interval_us
                return disciplines.fq_codel(self.packets, *times, self.flows, ecn=True)
            case "cake":
                return cake.Options(
                    rate_bps=None,
                    rtt_s=cake.TARGETS_PER_RTT * self.target_us / 1e6,
                    diffserv="besteffort",
                    isolation="flows",
                    nat=False,
                    ack_filter="off",
                    overhead_bytes=None,
                    memory_limit_bytes=self.packets * disciplines.PACKET_MEMORY_BYTES,
                ).discipline
        return disciplines.pfifo(self.packets)._replace(kind=self.discipline)


def add(device: tc.Device, parent: int, queue: Queue) -> Request:
    """Return the request that adds the queue to a class, or to the root of an interface."""
    return queue.kernel_discipline.request(device, parent)


def best(kernel: Socket, device: tc.Device, parent: int = tc.ROOT) -> str:
    """Return the best queueing discipline that the kernel supports. Each discipline is tested by
    adding and removing it."""
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
