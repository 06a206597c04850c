"""The kernel's table of neighbours: who has been heard of at an interface (ARP, NDP)."""

import struct
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from lasthop.linux.netlink import Socket, attributes
from lasthop.linux.tc import Address

GETNEIGH, GETADDR = 30, 22
ENTRY = struct.Struct("=BxxxiHBB")
"""Family, interface, state, flags, type."""
DESTINATION, LINK_ADDRESS = 1, 2
HEARD = 0x02 | 0x04 | 0x08 | 0x10 | 0x80
"""States of a host that has been heard of: reachable, stale, delay, probe, permanent."""
OWN = struct.Struct("=BBBBi")


class Neighbour(NamedTuple):
    """A host at an interface."""

    address: Address
    mac: str


def neighbours(kernel: Socket, interface: int) -> list[Neighbour]:
    """Hosts that the kernel has heard of at an interface; link-local addresses are left out."""
    found = []
    for body in kernel.dump(GETNEIGH, ENTRY.pack(0, interface, 0, 0, 0)):
        _, index, state, _, _ = ENTRY.unpack_from(body)
        if index != interface or not state & HEARD:
            continue
        has = dict(attributes(body, ENTRY.size))
        address, mac = address_of(has.get(DESTINATION, b"")), has.get(LINK_ADDRESS, b"")
        if address is None or len(mac) != 6 or mac[0] & 1:
            continue
        if not (address.is_link_local or address.is_multicast):
            found.append(Neighbour(address, mac.hex(":")))
    return found


def own_addresses(kernel: Socket) -> set[Address]:
    """Addresses of this machine."""
    return {address for _, address in numbered_addresses(kernel)}


def addresses_at(kernel: Socket, interface: int) -> set[Address]:
    """Addresses of an interface of this machine; link-local ones are left out."""
    every = numbered_addresses(kernel)
    return {each for index, each in every if index == interface and not each.is_link_local}


def numbered_addresses(kernel: Socket) -> Iterator[tuple[int, Address]]:
    """Addresses of this machine with the numbers of their interfaces."""
    for body in kernel.dump(GETADDR, OWN.pack(0, 0, 0, 0, 0)):
        index = OWN.unpack_from(body)[4]
        has = dict(attributes(body, OWN.size))
        for kind in (1, 2):  # peer or own address, local address
            address = address_of(has.get(kind, b""))
            if address is not None:
                yield index, address


def address_of(raw: bytes) -> Address | None:
    """An address from its bytes."""
    match len(raw):
        case 4:
            return IPv4Address(raw)
        case 16:
            return IPv6Address(raw)
    return None
