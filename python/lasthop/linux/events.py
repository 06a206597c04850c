"""Events of the kernel about interfaces, queueing disciplines, classes and filters.

The kernel runs a filter program on the socket for each event before it queues the event. The
program accepts events about lasthop's interfaces and filter blocks, unless this process has caused
the event (`nlmsg_pid` is the port of the requesting socket). Events about other objects, and rate
changes of this gateway ten times per second, therefore do not wake the process. An event only
triggers an inspection of the object, which may have changed again when the event is read.

Before Linux 6.1, events of interfaces contain no port. Later kernels omit the port in some cases.
The program therefore accepts some events that this process has caused.
"""

import errno
import socket
import struct
from collections.abc import Collection, Iterable
from typing import NamedTuple

from lasthop.linux import tc
from lasthop.linux.links import DELLINK, IFNAME, NEWLINK
from lasthop.linux.netlink import HEADER, SOL_NETLINK, messages_in
from lasthop.linux.packets import Instruction, attach

GROUPS = (1, 4)
"""Multicast groups of events about interfaces and traffic control (RTNLGRP_LINK, RTNLGRP_TC)."""
ADD_MEMBERSHIP = 1
OF_LINKS = (NEWLINK, DELLINK)
OF_FILTERS = (tc.NEWFILTER, tc.DELFILTER)
OF_TRAFFIC = (tc.NEWQDISC, tc.DELQDISC, tc.NEWCLASS, tc.DELCLASS, *OF_FILTERS)
OF_ACTIONS = (48, 49)
"""Message types of events about actions: RTM_NEWACTION, RTM_DELACTION."""
BUFFER_BYTES = 1 << 20
MAX_AT_ONCE = 1000
"""Largest number of events that one call of `read` reads, so that a flood of events does not stop
the gateway's other work."""
SUBJECT = struct.Struct("=4xiII")
"""Layout of three fields of a traffic control message: interface, handle and parent. In a message
about a network interface, the first field is also the number of the interface."""

TYPE, PORT, INTERFACE, BLOCK = 4, 12, 20, 28
"""Offsets of four fields in a netlink message: message type, port, interface number, number of the
filter block. [bytes]"""
FIRST_ATTRIBUTE = HEADER.size + 16
"""Offset of the first attribute in a message about an interface. This attribute is usually the
interface's name. [bytes]"""
FIRST_KIND = HEADER.size + 12
"""Offset of the attribute with an action's kind in a message. Two attribute headers precede this
attribute. [bytes]"""

LOAD_WORD, LOAD_HALF, JUMP, EQUAL, ANSWER = 0x20, 0x28, 0x05, 0x15, 0x06
ACCEPT, REFUSE = (ANSWER, 0, 0, 0xFFFFFFFF), (ANSWER, 0, 0, 0)


class Event(NamedTuple):
    """Event of the kernel about an object that should be inspected."""

    kind: int
    """Message type, such as RTM_NEWQDISC."""
    interface: int
    """Number of the interface; -1 for a filter block, 0 for an action."""
    parent: int
    """Number of the object's parent, or number of its filter block."""


class Events:
    """Netlink socket that receives events. Initially the socket receives all events."""

    def __init__(self) -> None:
        self.socket = told_of(GROUPS, [ACCEPT])

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def attend(self, port: int, event_filter: "EventFilter | None" = None) -> None:
        """From now on, ignore events that a request from the port `port` has caused. Receive only
        events about the objects of `event_filter`, or about all objects if `event_filter` is None.
        """
        program = [*beginning(port), *([ACCEPT] if event_filter is None else rest(event_filter))]
        attach(self.socket, program)

    def read(self) -> set[Event] | None:
        """Return the events since the last call. Return None if events were lost, or if there are
        too many events to read."""
        results: set[Event] = set()
        for _ in range(MAX_AT_ONCE):
            try:
                results.update(events_in(self.socket.recv(1 << 16)))
            except BlockingIOError:
                return results
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                break
        return None


class EventFilter(NamedTuple):
    """Objects whose events should be received."""

    names: Collection[str]
    """Names of interfaces, which need not exist yet."""
    numbers: Collection[int]
    """Numbers of interfaces."""
    blocks: Collection[int]


def told_of(groups: Iterable[int], program: list[Instruction]) -> socket.socket:
    """Return a netlink socket for events of these multicast groups that a filter program
    accepts."""
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    connection = socket.socket(socket.AF_NETLINK, kind, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    attach(connection, program)
    connection.bind((0, 0))
    for group in groups:
        connection.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)
    return connection


def events_in(data: bytes) -> Iterable[Event]:
    """Return the events in the data of a received message."""
    for kind, _, body in messages_in(data):
        if kind in OF_ACTIONS:
            yield Event(kind, 0, 0)
        elif len(body) >= SUBJECT.size:
            interface, _, parent = SUBJECT.unpack_from(body)
            yield Event(kind, interface, parent if kind in OF_TRAFFIC else 0)


def swapped(value: int, code: str) -> int:
    """Convert a number of a netlink message for a comparison in the filter program. The message
    stores the number in host byte order, but the program reads it in network byte order."""
    return int.from_bytes(struct.pack(code, value), "big")


def beginning(port: int) -> list[Instruction]:
    """Return the instructions at the beginning of the program, which reject events that this port
    has caused."""
    return [(LOAD_WORD, 0, 0, PORT), (EQUAL, 0, 1, swapped(port, "=I")), REFUSE]


def rest(event_filter: EventFilter) -> list[Instruction]:
    """Return the instructions of the program after `beginning`, which accept only events about the
    objects of `event_filter`."""
    program: list[Instruction] = [(LOAD_HALF, 0, 0, TYPE)]
    parts = [
        (OF_LINKS, of_links(event_filter)),
        (OF_TRAFFIC, of_traffic(event_filter)),
        (OF_ACTIONS, of_actions()),
    ]
    for kinds, _ in parts:
        for kind in kinds:
            program += [(EQUAL, 0, 1, swapped(kind, "=H")), (JUMP, 0, 0, 0)]
    program.append(REFUSE)
    # For each message type, jump to the instructions for messages of this type. The loop appends
    # these instructions to the program.
    at, start = 1, len(program)
    for kinds, part in parts:
        for _ in kinds:
            program[at + 1] = (JUMP, 0, 0, start - (at + 2))
            at += 2
        program += part
        start += len(part)
    return program


def accept_if(value: int) -> list[Instruction]:
    """Return the instructions that accept the event if the word that was loaded last has this
    value."""
    return [(EQUAL, 0, 1, value), ACCEPT]


def of_links(event_filter: EventFilter) -> list[Instruction]:
    """Return the instructions that accept events about interfaces with these numbers or names.
    Names are checked, too, because an interface that was removed and created again has another
    number."""
    program: list[Instruction] = [(LOAD_WORD, 0, 0, INTERFACE)]
    for number in event_filter.numbers:
        program += accept_if(swapped(number, "=i"))
    # An event whose first attribute is not the name is accepted, since the program cannot search
    # for the name.
    program += [(LOAD_HALF, 0, 0, FIRST_ATTRIBUTE + 2), (EQUAL, 1, 0, swapped(IFNAME, "=H"))]
    program.append(ACCEPT)
    for name in event_filter.names:
        raw = name.encode() + b"\0"
        raw += bytes(-len(raw) % 4)
        words = [int.from_bytes(raw[k : k + 4], "big") for k in range(0, len(raw), 4)]
        for k, word in enumerate(words):
            behind = 2 * (len(words) - k - 1) + 1
            load = (LOAD_WORD, 0, 0, FIRST_ATTRIBUTE + 4 + 4 * k)
            program += [load, (EQUAL, 0, behind, word)]
        program.append(ACCEPT)
    return [*program, REFUSE]


def of_traffic(event_filter: EventFilter) -> list[Instruction]:
    """Return the instructions that accept events about objects at these interfaces and in these
    filter blocks."""
    program: list[Instruction] = [(LOAD_WORD, 0, 0, INTERFACE)]
    for number in event_filter.numbers:
        program += accept_if(swapped(number, "=i"))
    program += [(EQUAL, 1, 0, swapped(tc.BLOCK_INDEX, "=i")), REFUSE, (LOAD_WORD, 0, 0, BLOCK)]
    for number in event_filter.blocks:
        program += accept_if(swapped(number, "=I"))
    return [*program, REFUSE]


def of_actions() -> list[Instruction]:
    """Return the instructions that accept events about mirred actions. An event does not show which
    program owns the action."""
    word = int.from_bytes(b"mirr", "big")
    return [(LOAD_WORD, 0, 0, FIRST_KIND + 4), *accept_if(word), REFUSE]
