"""The kernel's neighbour tables (ARP, NDP) and the forwarding tables of bridges."""

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
"""Neighbour states in which the kernel knows the MAC address: reachable, stale, delay, probe,
permanent."""
STALE, PERMANENT = 0x04, 0x80
BRIDGE, MASTER, SELF = 7, 9, 0x02
"""Protocol family of forwarding tables (PF_BRIDGE), type of the attribute with the bridge's number,
and flag of entries that a driver stores (linux/neighbour.h)."""
CACHE_INFO = 3
AGES = struct.Struct("=III")
"""Layout of three ages of a neighbour entry: the times since the entry was last confirmed, last
used and last updated. [1/USER_HZ seconds]
"""
USER_HZ = os.sysconf("SC_CLK_TCK")
OWN = struct.Struct("=BBBBi")


class Neighbour(NamedTuple):
    """Host that is a neighbour at an interface."""

    address: Address
    mac: str


def neighbours(
    kernel: Socket, interface: int, absence_s: float = inf, *, link_local: bool = False
) -> list[Neighbour]:
    """Return the hosts in the kernel's neighbour table of an interface.

    A stale entry is included only if it was used, confirmed or updated within `absence_s`. [s]
    Link-local addresses are included only if `link_local` is set.
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
    """Yield two values for each host in the forwarding tables of bridges: the host's MAC address,
    and the interface number of the bridge port.

    The bridges' own MAC addresses are left out.
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
    """Return the time since a neighbour entry was last used, confirmed or updated; 0 if unknown.
    [s]"""
    ages = dict(attributes(entry, ENTRY.size)).get(CACHE_INFO, b"")
    return min(AGES.unpack_from(ages)) / USER_HZ if len(ages) >= AGES.size else 0.0


def own_addresses(kernel: Socket) -> set[Address]:
    """Return the IP addresses of this machine."""
    return {address for _, address in numbered_addresses(kernel)}


def addresses_at(kernel: Socket, interface: int) -> set[Address]:
    """Return the IP addresses of an interface of this machine, without link-local addresses."""
    every = numbered_addresses(kernel)
    return {each for index, each in every if index == interface and not each.is_link_local}


def subnets_at(kernel: Socket, interfaces: Collection[int]) -> list[Subnet]:
    """Return the subnets to which the IP addresses of these interfaces belong, without link-local
    subnets."""
    results = []
    for body in kernel.dump(GETADDR, OWN.pack(0, 0, 0, 0, 0)):
        _, length, _, _, index = OWN.unpack_from(body)
        address = address_of(dict(attributes(body, OWN.size)).get(1, b""))
        if index in interfaces and address is not None and not address.is_link_local:
            results.append(ip_network((address, length), strict=False))
    return results


def numbered_addresses(kernel: Socket) -> Iterator[tuple[int, Address]]:
    """Yield the IP addresses of this machine, each with the number of its interface."""
    for body in kernel.dump(GETADDR, OWN.pack(0, 0, 0, 0, 0)):
        index = OWN.unpack_from(body)[4]
        has = dict(attributes(body, OWN.size))
        # types of two attributes: the address (on a point-to-point link, that of the peer) and the
        # local address
        for kind in (1, 2):
            address = address_of(has.get(kind, b""))
            if address is not None:
                yield index, address


def address_of(raw: bytes) -> Address | None:
    """Return the IP address that some bytes encode; None if they encode no address."""
    match len(raw):
        case 4:
            return IPv4Address(raw)
        case 16:
            return IPv6Address(raw)
    return None
