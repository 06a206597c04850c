"""Netlink requests for an interface: a shaper, a queue, and a BPF program in front of the queue.
This module has no I/O.

An HTB hierarchy with one class sends packets at the configured rate. The queue of the class is the
scenario's queue. A token bucket in front of the hierarchy splits merged segments, such as those of
a virtual machine, so that the queue counts single segments. This token bucket never delays a
packet. The limit of a kernel queue counts waiting packets only. The limit in a scenario also counts
the packet in service, for which HTB still lacks tokens.

CAKE is at the root of the interface, without HTB and without token bucket.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lasthop.enforce.queue import cake
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.program import name_of
from lasthop.errors import UserError
from lasthop.linux import classifier, disciplines, tc
from lasthop.linux.disciplines import Discipline
from lasthop.linux.netlink import Request
from lasthop.linux.tc import DIRECT_PACKETS, PACKET_BYTES
from lasthop.scenario.queues import Cake, Codel, FqCodel, Pie, Red, Vbs

ROOT, ONLY = tc.classid(tc.OURS, 0), 1
SPLITTER = tc.classid(tc.SPLITTER, 0)
FRAME_BYTES = 100
"""Space for the frame header and VLAN tags of a packet. It is at least as long as the longest
header. [bytes]"""
CLASS = tc.classid(tc.OURS, ONLY)
MIN_PACKETS = 2
"""Smallest limit of a queue: one packet in service, and one waiting packet. [packets]"""
PROGRAMS = {"vbs": "sharing", "pi": "pi"}
"""Disciplines that consist of a BPF program in front of a FIFO, each with the name of its
program.
"""
HERE = frozenset({"drop_tail", "threshold", "red", "codel", "fq_codel", "pie", "cake", *PROGRAMS})
"""Disciplines of scenarios that lasthop can set up in Linux."""


@dataclass(frozen=True)
class Layout:
    """Netlink requests for a shaped queue.

    Parameters
    ----------
    wanted : LinkQueue
    device : Device
        The interface.
    program : int, optional
        Descriptor of the BPF program in front of the queue, if there is one.
    mtu_bytes : int, optional
        The longest IP packet of the interface. [bytes]
    """

    wanted: LinkQueue
    device: tc.Device
    program: int | None = None
    mtu_bytes: int = 1500

    @property
    def is_only_root(self) -> bool:
        """Whether the queue is at the root, and shapes and splits packets itself."""
        return isinstance(self.wanted.queue, Cake)

    @property
    def root_identity(self) -> tuple[str, int]:
        """Kind and handle of the queueing discipline at the root."""
        return ("cake", cake.HANDLE) if self.is_only_root else ("tbf", SPLITTER)

    @property
    def parent(self) -> int:
        """Parent of the queue: the HTB class, or the root."""
        return tc.ROOT if self.is_only_root else CLASS

    def root(self) -> Request:
        """Return the request for the discipline at the root: CAKE, or the splitter. The splitter is
        a token bucket that splits merged segments, because its size is less than two full
        segments."""
        if isinstance(self.wanted.queue, Cake):
            return cake.root(self.wanted, self.wanted.queue, self.device)
        return tc.splitter(self.device, self.mtu_bytes + FRAME_BYTES)

    def tree(self) -> Request:
        """Return the request for the HTB hierarchy, whose only class is the default class."""
        inside = tc.classid(tc.SPLITTER, 1)
        return tc.htb_qdisc(self.device, tc.OURS, DIRECT_PACKETS, ONLY, parent=inside)

    def shaper(self, *, change: bool = False) -> Request:
        """Return the request for the HTB class that sends at the configured rate."""
        rate = self.wanted.rate_bps
        return tc.htb_class(
            self.device,
            CLASS,
            ROOT,
            rate_bps=rate,
            burst_bytes=max(PACKET_BYTES, int(rate / 8 * tc.BURST_S)),
            quantum_bytes=PACKET_BYTES,
            change=change,
        )

    def queue(self) -> Request:
        """Return the request for the queue of the HTB class."""
        return discipline_of(self.wanted).request(self.device, CLASS)

    def inside(self) -> Iterator[Request]:
        """Yield the requests for all objects below the root, in the order of their creation."""
        if not self.is_only_root:
            yield self.tree()
            yield self.shaper()
            yield self.queue()

    def changed(self) -> Iterator[Request]:
        """Yield the requests that change the values of existing objects."""
        if self.is_only_root:
            yield tc.changing(self.root())
        else:
            yield self.shaper(change=True)
            yield tc.changing(self.queue())

    def hierarchy(self) -> Iterator[Request]:
        """Yield the requests for all queueing disciplines and classes."""
        yield self.root()
        yield from self.inside()

    def filters(self) -> Iterator[Request]:
        """Yield the request for the filter that runs the program in front of the queue, if there is
        one."""
        if self.program is not None:
            name = PROGRAMS[self.wanted.discipline]
            yield classifier.attach(self.device, ROOT, self.program, name_of(name), f"{name}.o")


def has_program(wanted: LinkQueue) -> bool:
    """Return whether a BPF program is in front of the queue."""
    return wanted.discipline in PROGRAMS


def discipline_of(wanted: LinkQueue) -> Discipline:
    """Return the kernel's queueing discipline for a scenario's queue.

    Raises
    ------
    UserError
        If the kernel has no equivalent discipline.
    """
    queue, limit = wanted.queue, wanted.queue_packets
    if wanted.discipline == "dualpi2":
        raise UserError(
            "interface.queue: lasthop only simulates dualpi2; Linux has it from 6.17 on",
            "tc qdisc replace dev DEVICE root dualpi2",
        )
    if isinstance(queue, Codel) and queue.ce_threshold_s is not None:
        raise UserError(
            "interface.queue: ce_threshold is supported only in simulations; expected off"
        )
    if wanted.discipline not in HERE:
        raise UserError(
            f"interface.queue: Linux has no discipline {wanted.discipline}",
            f"Linux has {', '.join(sorted(HERE))}",
        )
    if limit < MIN_PACKETS:
        raise UserError(
            f"interface.queue: {limit} packet is too few for Linux, where the packet in service "
            f"has left the queue; expected at least {MIN_PACKETS}"
        )
    waiting = limit - 1
    us = disciplines.microseconds
    match queue:
        case Cake():
            return cake.options_of(wanted, queue).discipline
        case FqCodel():
            times = us(queue.target_s), us(queue.interval_s)
            flows = queue.queues, queue.quantum_bytes
            return disciplines.fq_codel(waiting, *times, *flows, ecn=queue.ecn)
        case Codel():
            times = us(queue.target_s), us(queue.interval_s)
            return disciplines.codel(waiting, *times, ecn=queue.ecn)
        case Pie():
            times = us(queue.target_s), us(queue.update_s)
            weights = queue.alpha_per_s, queue.beta_per_s
            return disciplines.pie(waiting, *times, *weights, ecn=queue.ecn)
        case Red():
            return disciplines.red(
                waiting,
                queue.min_th_packets,
                queue.max_th_packets,
                queue.max_p,
                red_weight(queue, wanted.rate_bps),
                wanted.rate_bps,
                # Thresholds and limit are counted in packets of this length.
                queue.mean_packet_bytes if queue.counts_bytes else PACKET_BYTES,
                ecn=queue.ecn,
            )
    # A BPF program limits the queue itself. The limit of its FIFO is twice as large, and is never
    # reached.
    return disciplines.pfifo(2 * limit if has_program(wanted) else waiting)


def red_weight(red: Red, rate_bps: int) -> float:
    """Return RED's averaging weight per packet. "auto" selects the weight of ns-2, which averages
    over a tenth of a second."""
    if isinstance(red.weight, str):
        packets_per_s = rate_bps / (8 * PACKET_BYTES)
        return min(10 / packets_per_s, 0.5)
    return float(red.weight)


def warnings_for(wanted: LinkQueue) -> list[str]:
    """Return warnings about differences between the kernel's queue and the scenario's queue."""
    results: list[str] = []
    if isinstance(wanted.queue, Cake):
        results += cake.warnings_for(wanted, wanted.queue)
    if isinstance(wanted.queue, Red):
        weight = red_weight(wanted.queue, wanted.rate_bps)
        results.append(
            "the kernel's RED counts bytes and uses the power of two closest to the weight "
            f"{weight:.3g}; it drops all beyond max_th, as without `gentle`"
        )
    if isinstance(wanted.queue, Vbs) and wanted.queue.algorithm == "printed":
        results.append(
            'algorithm "printed" blocks with a short queue too, and starves the link; '
            '"corrected" and "regulated" do not'
        )
    return results
