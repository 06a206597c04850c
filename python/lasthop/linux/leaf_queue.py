"""The queue of a leaf: first in, first out, or one of the kernel's that keep delay low.

Attributes are those of linux/pkt_sched.h, words those of `tc`. CoDel (RFC 8289) and FQ-CoDel
(RFC 8290) mark packets of senders that know ECN, and drop others.
"""

import errno
import struct
from typing import NamedTuple

from lasthop.linux import disciplines, tc
from lasthop.linux.disciplines import Discipline
from lasthop.linux.netlink import KernelError, Request, Socket

BEST = ("fq_codel", "codel", "pfifo")
"""The best first; the last is in every kernel."""
MANAGED = ("fq_codel", "codel")
"""Those that have CoDel's parameters, and drop what they hold already."""
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
    def kernel_discipline(self) -> Discipline:
        """The discipline with its options; CoDel always marks packets."""
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
        return disciplines.pfifo(self.packets)._replace(kind=self.discipline)


def add(device: tc.Device, parent: int, queue: Queue) -> Request:
    """Return the request that gives a queue to a class, or to the root of an interface."""
    return queue.kernel_discipline.request(device, parent)


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
