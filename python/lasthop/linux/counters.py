"""What the kernel has counted and what hangs where: dumps of disciplines, classes and filters."""

import struct
from typing import NamedTuple

from lasthop.linux.links import text
from lasthop.linux.netlink import Socket, attributes
from lasthop.linux.tc import EGRESS_BLOCK, INGRESS, INGRESS_BLOCK, KIND, TCMSG

GETQDISC, GETCLASS, GETFILTER = 38, 42, 46
STATISTICS, BASIC, QUEUE = 7, 1, 3


class Counters(NamedTuple):
    """Counters of a class; they never fall while the class is there."""

    sent_bytes: int
    sent_packets: int
    dropped_packets: int
    backlog_packets: int
    """Packets that wait now."""
    backlog_bytes: int


class Qdisc(NamedTuple):
    """A queueing discipline."""

    kind: str
    has_hooks: bool
    """Whether it is no queue, but where filters meet what comes in, or goes out."""
    blocks: tuple[int, int]
    """Numbers of the shared blocks of its filters, in and out; 0 where it shares none."""
    parent: int = 0
    """Where it hangs: the root, or a class."""
    handle: int = 0
    """Its number; 0 where the kernel has put it there itself."""


def class_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Counters of all classes of HTB of an interface, by their numbers.

    The flows of fair queues are classes of theirs, without counters of bytes.
    """
    results = {}
    for body in kernel.dump(GETCLASS, TCMSG.pack(0, interface, 0, 0, 0)):
        has = dict(attributes(body, TCMSG.size))
        if text(has.get(KIND, b"")) == "htb" and STATISTICS in has:
            results[TCMSG.unpack_from(body)[2]] = counters(has[STATISTICS])
    return results


def queue_counters(kernel: Socket, interface: int) -> dict[int, Counters]:
    """Counters of the queueing disciplines of an interface, by where they hang."""
    results = {}
    for body in kernel.dump(GETQDISC, TCMSG.pack(0, interface, 0, 0, 0)):
        _, index, _, parent, _ = TCMSG.unpack_from(body)
        has = dict(attributes(body, TCMSG.size))
        if index == interface and STATISTICS in has:
            results[parent] = counters(has[STATISTICS])
    return results


def leaf_drops(kernel: Socket, interface: int) -> dict[int, int]:
    """Packets that the queues of classes have dropped, by the class.

    A class counts those that its queue does not take, and none that the queue drops later.
    """
    results = {}
    for body in kernel.dump(GETQDISC, TCMSG.pack(0, interface, 0, 0, 0)):
        _, index, _, parent, _ = TCMSG.unpack_from(body)
        has = dict(attributes(body, TCMSG.size))
        if index == interface and STATISTICS in has:
            _, _, results[parent] = struct.unpack_from(
                "=III", dict(attributes(has[STATISTICS]))[QUEUE]
            )
    return results


def class_counter(kernel: Socket, interface: int, number: int) -> Counters:
    """Counters of one class of an interface; `KernelError` if there is none."""
    body = kernel.ask(GETCLASS, TCMSG.pack(0, interface, number, 0, 0))
    return counters(dict(attributes(body, TCMSG.size))[STATISTICS])


def counters(payload: bytes) -> Counters:
    """Counters from the attribute that holds them."""
    has = dict(attributes(payload))
    sent_bytes, sent_packets = struct.unpack_from("=QI", has[BASIC])
    waiting, backlog, drops = struct.unpack_from("=III", has[QUEUE])
    return Counters(sent_bytes, sent_packets, drops, waiting, backlog)


def qdiscs(kernel: Socket, interface: int) -> list[Qdisc]:
    """Queueing disciplines of an interface."""
    results = []
    for body in kernel.dump(GETQDISC, TCMSG.pack(0, interface, 0, 0, 0)):
        _, index, handle, parent, _ = TCMSG.unpack_from(body)
        if index != interface:
            continue  # older kernels answer for all interfaces
        has = dict(attributes(body, TCMSG.size))
        incoming, outgoing = (number_in(has.get(each)) for each in (INGRESS_BLOCK, EGRESS_BLOCK))
        kind = text(has.get(KIND, b""))
        results.append(Qdisc(kind, parent == INGRESS, (incoming, outgoing), parent, handle))
    return results


def number_in(payload: bytes | None) -> int:
    """The number in an attribute; 0 without one."""
    return 0 if payload is None else int(struct.unpack("=I", payload)[0])
