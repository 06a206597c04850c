"""Counters of traffic control, and its queueing disciplines, classes and filters, read by dumps of
the kernel."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lasthop.linux.netlink import Socket, attributes, number_in, text_in
from lasthop.linux.tc import EGRESS_BLOCK, INGRESS, INGRESS_BLOCK, KIND, TCMSG

GETQDISC, GETCLASS, GETFILTER = 38, 42, 46
STATISTICS, BASIC, QUEUE = 7, 1, 3


class Counters(NamedTuple):
    """Counters of a class or a queueing discipline. Except for the backlog, they never decrease
    while the class or discipline exists."""

    sent_bytes: int
    sent_packets: int
    dropped_packets: int
    backlog_packets: int
    """Number of packets that are now in the queue."""
    backlog_bytes: int


class Qdisc(NamedTuple):
    """Queueing discipline at an interface."""

    kind: str
    has_hooks: bool
    """Whether the discipline only has hooks for filters and is not a queue (ingress or clsact)."""
    blocks: tuple[int, int]
    """Numbers of the shared filter blocks for incoming and for outgoing packets; 0 for no block."""
    parent: int = 0
    """Handle of the parent: `tc.ROOT`, or the number of a class."""
    handle: int = 0
    """Handle of the discipline; 0 if the kernel has added the discipline by default."""


class Dumped(NamedTuple):
    """Queueing discipline or class in a dump of the kernel."""

    handle: int
    parent: int
    has: dict[int, bytes]
    """Netlink attributes, by type."""

    @property
    def kind(self) -> str:
        """Name of the kind of queueing discipline, such as "htb"."""
        return text_in(self.has.get(KIND, b""))


def bodies(kernel: Socket, question: int, interface: int) -> Iterator[bytes]:
    """Yield the dumped messages about one interface. Older kernels also dump messages about other
    interfaces, which are skipped."""
    for body in kernel.dump(question, TCMSG.pack(0, interface, 0, 0, 0)):
        if TCMSG.unpack_from(body)[1] == interface:
            yield body


def dumped(kernel: Socket, question: int, interface: int) -> Iterator[Dumped]:
    """Yield the queueing disciplines or classes of an interface."""
    for body in bodies(kernel, question, interface):
        _, _, handle, parent, _ = TCMSG.unpack_from(body)
        yield Dumped(handle, parent, dict(attributes(body, TCMSG.size)))


def class_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Return the counters of all HTB classes of an interface, by class number.

    The flows of a fair queue are also classes of the kernel. These classes have no byte counters
    and are left out.
    """
    return {
        each.handle: counters(each.has[STATISTICS])
        for each in dumped(kernel, GETCLASS, interface)
        if each.kind == "htb" and STATISTICS in each.has
    }


def queue_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Return the counters of the queueing disciplines of an interface, by the handle of the
    discipline's parent.

    The counters of a class would include packets that its queue refuses on arrival, but not packets
    that the queue drops later.
    """
    return {
        each.parent: counters(each.has[STATISTICS])
        for each in dumped(kernel, GETQDISC, interface)
        if STATISTICS in each.has
    }


def class_counter(kernel: Socket, interface: int, number: int) -> Counters:
    """Return the counters of a class of an interface. Raise `KernelError` if the class does not
    exist."""
    body = kernel.ask(GETCLASS, TCMSG.pack(0, interface, number, 0, 0))
    return counters(dict(attributes(body, TCMSG.size))[STATISTICS])


def counters(payload: bytes) -> Counters:
    """Return the counters in a statistics attribute of the kernel."""
    has = dict(attributes(payload))
    sent_bytes, sent_packets = struct.unpack_from("=QI", has[BASIC])
    waiting, backlog, drops = struct.unpack_from("=III", has[QUEUE])
    return Counters(sent_bytes, sent_packets, drops, waiting, backlog)


def qdiscs(kernel: Socket, interface: int) -> list[Qdisc]:
    """Return the queueing disciplines of an interface."""
    results = []
    for each in dumped(kernel, GETQDISC, interface):
        blocks = (number_in(each.has.get(INGRESS_BLOCK)), number_in(each.has.get(EGRESS_BLOCK)))
        has_hooks = each.parent == INGRESS
        results.append(Qdisc(each.kind, has_hooks, blocks, each.parent, each.handle))
    return results
