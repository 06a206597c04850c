"""The kernel's tables of neighbours (ARP, NDP) and forwarding tables of bridges."""

import os
import struct
import sys
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_network
from math import inf
from typing import NamedTuple

from lasthop.linux.netlink import Socket, attributes
from lasthop.linux.tc import Address, Subnet

GETNEIGH, GETADDR = 30, 22
ENTRY = struct.Struct("=BxxxiHBB")
"""Layout of struct ndmsg: family, interface, state, flags, type."""
DESTINATION, LINK_ADDRESS = 1, 2
HEARD = 0x02 | 0x04 | 0x08 | 0x10 | 0x80
"""States of a host that the kernel has heard: reachable, stale, delay, probe, permanent."""
STALE, PERMANENT = 0x04, 0x80
BRIDGE, MASTER, SELF = 7, 9, 0x02
"""Family of forwarding tables (PF_BRIDGE), attribute with the bridge's number, and flag of entries
that a driver keeps (linux/neighbour.h)."""
CACHE_INFO = 3
AGES = struct.Struct("=III")
"""Layout of the times since an entry was confirmed, used and updated. [1/USER_HZ]"""
USER_HZ = os.sysconf("SC_CLK_TCK")
OWN = struct.Struct("=BBBBi")


class Neighbour(NamedTuple):
    """A host at an interface."""

    address: Address
    mac: str


def neighbours(
    kernel: Socket, interface: int, absence_s: float = inf, *, link_local: bool = False
) -> list[Neighbour]:
    """Return hosts that the kernel has heard at an interface.

    A stale entry is included only if it was used, confirmed or updated within `absence_s`. [s]
    Link-local addresses are included only with `link_local`.
    """
    results = []
    for body in kernel.dump(GETNEIGH, ENTRY.pack(0, interface, 0, 0, 0)):
        _, index, state, _, _ = ENTRY.unpack_from(body)
        if state & STALE and idle_s(body) > absence_s:
            continue
        if index != interface or not state & HEARD:
            continue
        has = dict(attributes(body, ENTRY.size))
        address, mac = address_of(has.get(DESTINATION, b"")), has.get(LINK_ADDRESS, b"")
        if address is None or len(mac) != 6 or mac[0] & 1:
            continue
        if not ((address.is_link_local and not link_local) or address.is_multicast):
            results.append(Neighbour(address, mac.hex(":")))
    return results


def forwarding(kernel: Socket, bridges: Collection[int]) -> Iterator[tuple[str, int]]:
    """Yield the hosts in the forwarding tables of bridges: MAC address and number of the port.

    Entries of the bridges' own addresses are left out.
    """
    for body in kernel.dump(GETNEIGH, ENTRY.pack(BRIDGE, 0, 0, 0, 0)):
        family, port, state, flags, _ = ENTRY.unpack_from(body)
        has = dict(attributes(body, ENTRY.size))
        mac, master = has.get(LINK_ADDRESS, b""), has.get(MASTER, bytes(4))
        is_learnt = not state & PERMANENT and not flags & SELF
        is_here = int.from_bytes(master, sys.byteorder) in bridges
        if family == BRIDGE and is_learnt and is_here and len(mac) == 6 and not mac[0] & 1:
            yield mac.hex(":"), port


def idle_s(entry: bytes) -> float:
    """Return the time since an entry was used, confirmed or updated; 0 if unknown. [s]"""
    ages = dict(attributes(entry, ENTRY.size)).get(CACHE_INFO, b"")
    return min(AGES.unpack_from(ages)) / USER_HZ if len(ages) >= AGES.size else 0.0


def own_addresses(kernel: Socket) -> set[Address]:
    """Return the addresses of this machine."""
    return {address for _, address in numbered_addresses(kernel)}


def addresses_at(kernel: Socket, interface: int) -> set[Address]:
    """Return the addresses of an interface of this machine, without link-local addresses."""
    every = numbered_addresses(kernel)
    return {each for index, each in every if index == interface and not each.is_link_local}


def subnets_at(kernel: Socket, interfaces: Collection[int]) -> list[Subnet]:
    """Return the subnets of the addresses of these interfaces, without link-local subnets."""
    results = []
    for body in kernel.dump(GETADDR, OWN.pack(0, 0, 0, 0, 0)):
        _, length, _, _, index = OWN.unpack_from(body)
        address = address_of(dict(attributes(body, OWN.size)).get(1, b""))
        if index in interfaces and address is not None and not address.is_link_local:
            results.append(ip_network((address, length), strict=False))
    return results


def numbered_addresses(kernel: Socket) -> Iterator[tuple[int, Address]]:
    """Yield the addresses of this machine, with the numbers of their interfaces."""
    for body in kernel.dump(GETADDR, OWN.pack(0, 0, 0, 0, 0)):
        index = OWN.unpack_from(body)[4]
        has = dict(attributes(body, OWN.size))
        for kind in (1, 2):  # address (on a point-to-point link that of the peer), local address
            address = address_of(has.get(kind, b""))
            if address is not None:
                yield index, address


def address_of(raw: bytes) -> Address | None:
    """Return the address in some bytes; None if there is none."""
    match len(raw):
        case 4:
            return IPv4Address(raw)
        case 16:
            return IPv6Address(raw)
    return None
