"""Counters and hierarchies of the kernel: dumps of disciplines, classes and filters."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lasthop.linux.netlink import Socket, attributes, number_in, text_in
from lasthop.linux.tc import EGRESS_BLOCK, INGRESS, INGRESS_BLOCK, KIND, TCMSG

GETQDISC, GETCLASS, GETFILTER = 38, 42, 46
STATISTICS, BASIC, QUEUE = 7, 1, 3


class Counters(NamedTuple):
    """Counters of a class; they never decrease while the class exists."""

    sent_bytes: int
    sent_packets: int
    dropped_packets: int
    backlog_packets: int
    """Number of packets in the queue now."""
    backlog_bytes: int


class Qdisc(NamedTuple):
    """A queueing discipline."""

    kind: str
    has_hooks: bool
    """Whether it is a hook for filters of one direction or both, not a queue."""
    blocks: tuple[int, int]
    """Numbers of the shared filter blocks for incoming and for outgoing packets; 0 for no block."""
    parent: int = 0
    """Number of the parent: the root, or a class."""
    handle: int = 0
    """Handle of the discipline; 0 if the kernel has added it."""


class Dumped(NamedTuple):
    """A queueing discipline or a class in a dump of the kernel."""

    handle: int
    parent: int
    has: dict[int, bytes]
    """Attributes, by type."""

    @property
    def kind(self) -> str:
        """Name of the discipline."""
        return text_in(self.has.get(KIND, b""))


def bodies(kernel: Socket, question: int, interface: int) -> Iterator[bytes]:
    """Yield messages about an interface. Older kernels answer for all interfaces."""
    for body in kernel.dump(question, TCMSG.pack(0, interface, 0, 0, 0)):
        if TCMSG.unpack_from(body)[1] == interface:
            yield body


def dumped(kernel: Socket, question: int, interface: int) -> Iterator[Dumped]:
    """Yield the disciplines or classes of an interface."""
    for body in bodies(kernel, question, interface):
        _, _, handle, parent, _ = TCMSG.unpack_from(body)
        yield Dumped(handle, parent, dict(attributes(body, TCMSG.size)))


def class_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Return the counters of all classes of HTB of an interface, by their numbers.

    The flows of fair queues are also classes, but their classes have no byte counters and are left
    out.
    """
    return {
        each.handle: counters(each.has[STATISTICS])
        for each in dumped(kernel, GETCLASS, interface)
        if each.kind == "htb" and STATISTICS in each.has
    }


def queue_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Return the counters of the queueing disciplines of an interface, by parent.

    The counters of a class include packets that its queue refuses, but not packets that the queue
    drops later.
    """
    return {
        each.parent: counters(each.has[STATISTICS])
        for each in dumped(kernel, GETQDISC, interface)
        if STATISTICS in each.has
    }


def class_counter(kernel: Socket, interface: int, number: int) -> Counters:
    """Return the counters of a class of an interface. Raise `KernelError` if there is no such
    class."""
    body = kernel.ask(GETCLASS, TCMSG.pack(0, interface, number, 0, 0))
    return counters(dict(attributes(body, TCMSG.size))[STATISTICS])


def counters(payload: bytes) -> Counters:
    """Return the counters in an attribute of the kernel."""
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
