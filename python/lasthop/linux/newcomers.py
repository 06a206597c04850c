"""New neighbours at interfaces, from the kernel's events about its neighbour table."""

from collections.abc import Collection, Iterator

from lasthop.linux.events import (
    EQUAL,
    INTERFACE,
    LOAD_HALF,
    LOAD_WORD,
    REFUSE,
    TYPE,
    accept_if,
    swapped,
    told_of,
)
from lasthop.linux.neighbours import DESTINATION, ENTRY, HEARD, address_of
from lasthop.linux.netlink import HEADER, attributes
from lasthop.linux.packets import Instruction, attach
from lasthop.linux.tc import Address

GROUP = 3
"""Multicast group of events about neighbours (RTNLGRP_NEIGH)."""
NEWNEIGH = 28
STATE = INTERFACE + 4
ANY_OF = 0x45
MAX_AT_ONCE = 1000


class Newcomers:
    """Netlink socket that receives events about neighbours.

    Parameters
    ----------
    interfaces : collection of int
        Numbers of the interfaces. A filter program in the kernel rejects events of other
        interfaces.
    """

    def __init__(self, interfaces: Collection[int]) -> None:
        self.socket = told_of((GROUP,), program_of(interfaces))

    def attend(self, interfaces: Collection[int]) -> None:
        """From now on, receive only events about neighbours at these interfaces."""
        attach(self.socket, program_of(interfaces))

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def read(self) -> set[Address]:
        """Return the addresses of neighbours that were reported since the last call. Events that
        did not fit into the buffer are lost."""
        results: set[Address] = set()
        for _ in range(MAX_AT_ONCE):
            try:
                results.update(addresses_in(self.socket.recv(1 << 16)))
            except BlockingIOError:
                break
            except OSError:
                continue  # some events were lost; the neighbour table is also read periodically
        return results


def addresses_in(data: bytes) -> Iterator[Address]:
    """Yield the IP address in each message about a neighbour."""
    for kind, payload in attributes(data, HEADER.size + ENTRY.size):
        if kind == DESTINATION and (address := address_of(payload)) is not None:
            yield address


def program_of(interfaces: Collection[int]) -> list[Instruction]:
    """Return the filter program that accepts events about neighbours at these interfaces."""
    program: list[Instruction] = [
        (LOAD_HALF, 0, 0, TYPE),
        (EQUAL, 1, 0, swapped(NEWNEIGH, "=H")),
        REFUSE,
        (LOAD_HALF, 0, 0, STATE),
        (ANY_OF, 1, 0, swapped(HEARD, "=H")),
        REFUSE,
        (LOAD_WORD, 0, 0, INTERFACE),
    ]
    for number in interfaces:
        program += accept_if(swapped(number, "=i"))
    return [*program, REFUSE]
