"""What happens to interfaces, queueing disciplines, classes and filters, told by the kernel.

A filter on the socket, which the kernel runs for each event before it is queued, lets through what
happens to our interfaces and blocks and was not done by us (`nlmsg_pid` is the port of the
connection that asked for it). A flood of events elsewhere, and a gateway that changes a rate ten
times a second, therefore wake nobody. Each event is only a reason to look: by the time it is read
things may be otherwise again.

Events of interfaces have no port before 6.1, and not in all cases since: some of ours come through.
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
"""Interfaces, traffic control (RTNLGRP_LINK, RTNLGRP_TC)."""
ADD_MEMBERSHIP = 1
OF_LINKS = (NEWLINK, DELLINK)
OF_FILTERS = (tc.NEWFILTER, tc.DELFILTER)
OF_TRAFFIC = (tc.NEWQDISC, tc.DELQDISC, tc.NEWCLASS, tc.DELCLASS, *OF_FILTERS)
OF_ACTIONS = (48, 49)
"""RTM_NEWACTION, RTM_DELACTION."""
BUFFER_BYTES = 1 << 20
MOST_AT_ONCE = 1000
"""Most messages of one reading: a flood must not keep the gateway from its work."""
SUBJECT = struct.Struct("=4xiII")
"""Interface, number and parent in a message about traffic control; the interface of a link."""

TYPE, PORT, INTERFACE, BLOCK = 4, 12, 20, 28
"""Where they stand in a message. [bytes]"""
FIRST_ATTRIBUTE = HEADER.size + 16
"""That of an interface's message, which is its name."""
FIRST_KIND = HEADER.size + 12
"""Kind of an action, after two headers that hold it and its own."""

LOAD_WORD, LOAD_HALF, JUMP, EQUAL, ANSWER = 0x20, 0x28, 0x05, 0x15, 0x06
ACCEPT, REFUSE = (ANSWER, 0, 0, 0xFFFFFFFF), (ANSWER, 0, 0, 0)


class Event(NamedTuple):
    """Something that happened, to look at."""

    kind: int
    """Type, such as RTM_NEWQDISC."""
    interface: int
    """Number of the interface; -1 for a block, 0 for an action."""
    parent: int
    """What it hangs at, or the number of its block."""


class Events:
    """A connection that is told of events; at first of all events."""

    def __init__(self) -> None:
        self.socket = told_of(GROUPS, [ACCEPT])

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def attend(self, port: int, event_filter: "EventFilter | None" = None) -> None:
        """Be told from now on what others than this port do to these; None: to anything."""
        program = [*beginning(port), *([ACCEPT] if event_filter is None else rest(event_filter))]
        attach(self.socket, program)

    def read(self) -> set[Event] | None:
        """What has happened since the last time; None if it is more than can be read or kept."""
        results: set[Event] = set()
        for _ in range(MOST_AT_ONCE):
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
    """What to be told of."""

    names: Collection[str]
    """Names of interfaces, of which there may be none now."""
    numbers: Collection[int]
    """Numbers of interfaces."""
    blocks: Collection[int]


def told_of(groups: Iterable[int], program: list[Instruction]) -> socket.socket:
    """A socket that is told what happens in these groups, as far as a program lets it through."""
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    connection = socket.socket(socket.AF_NETLINK, kind, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    attach(connection, program)
    connection.bind((0, 0))
    for group in groups:
        connection.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)
    return connection


def events_in(data: bytes) -> Iterable[Event]:
    """The events of a message."""
    for kind, _, body in messages_in(data):
        if kind in OF_ACTIONS:
            yield Event(kind, 0, 0)
        elif len(body) >= SUBJECT.size:
            interface, _, parent = SUBJECT.unpack_from(body)
            yield Event(kind, interface, parent if kind in OF_TRAFFIC else 0)


def swapped(value: int, code: str) -> int:
    """A number of the machine as a program reads it, in network order."""
    return int.from_bytes(struct.pack(code, value), "big")


def beginning(port: int) -> list[Instruction]:
    """Refuse what this port has caused."""
    return [(LOAD_WORD, 0, 0, PORT), (EQUAL, 0, 1, swapped(port, "=I")), REFUSE]


def rest(event_filter: EventFilter) -> list[Instruction]:
    """Let through what happens to these."""
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
    # Jumps lead to the parts, which follow one another.
    at, start = 1, len(program)
    for kinds, part in parts:
        for _ in kinds:
            program[at + 1] = (JUMP, 0, 0, start - (at + 2))
            at += 2
        program += part
        start += len(part)
    return program


def accept_if(value: int) -> list[Instruction]:
    """Let through if the word that was loaded is this."""
    return [(EQUAL, 0, 1, value), ACCEPT]


def of_links(event_filter: EventFilter) -> list[Instruction]:
    """Interfaces by number, and by name: one that was gone comes back with another number."""
    program: list[Instruction] = [(LOAD_WORD, 0, 0, INTERFACE)]
    for number in event_filter.numbers:
        program += accept_if(swapped(number, "=i"))
    # Were the name elsewhere, all would have to be read.
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
    """What hangs on interfaces and in blocks."""
    program: list[Instruction] = [(LOAD_WORD, 0, 0, INTERFACE)]
    for number in event_filter.numbers:
        program += accept_if(swapped(number, "=i"))
    program += [(EQUAL, 1, 0, swapped(tc.BLOCK_INDEX, "=i")), REFUSE, (LOAD_WORD, 0, 0, BLOCK)]
    for number in event_filter.blocks:
        program += accept_if(swapped(number, "=I"))
    return [*program, REFUSE]


def of_actions() -> list[Instruction]:
    """Actions of the kind that ours are; whose they are does not stand in an event."""
    word = int.from_bytes(b"mirr", "big")
    return [(LOAD_WORD, 0, 0, FIRST_KIND + 4), *accept_if(word), REFUSE]
