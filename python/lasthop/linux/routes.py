"""Routes of the calling thread's network namespace."""

import socket
import struct
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from typing import TypeAlias

from lasthop.linux.neighbours import address_of
from lasthop.linux.netlink import CREATE, EXCL, Request, Socket, attribute, attributes
from lasthop.linux.tc import Address

Network: TypeAlias = IPv4Network | IPv6Network

NEWROUTE, GETROUTE = 24, 26
ROUTE = struct.Struct("=BBBBBBBBI")
"""Layout of struct rtmsg: family, bits of the destination and of the source, TOS, table, protocol,
scope, type, flags."""
MAIN, STATIC, ON_LINK, UNICAST = 254, 4, 253, 1
LOCAL_TABLE, HOST, LOCAL = 255, 254, 2
DST, OIF, GATEWAY, METRICS, MULTIPATH, VIA = 1, 4, 5, 8, 9, 18
NEXT_HOP = struct.Struct("=HBBi")
"""Layout of struct rtnexthop, one path of a multipath route: length, flags, hops, interface."""
INITCWND, QUICKACK = 11, 15
"""Numbers of route metrics (linux/rtnetlink.h)."""
UNIVERSE = 0

EVERYTHING = IPv4Network("0.0.0.0/0")


@dataclass(frozen=True)
class RouteMetrics:
    """Metrics of a route, which change the behaviour of TCP connections that use the route."""

    acknowledges_each: bool = False
    """Whether TCP sends a separate ACK for every segment that arrives from a destination of the
    route."""
    initial_window: int | None = None
    """Initial congestion window of connections over the route [segments]; None for the kernel's
    default of ten."""

    def metrics(self) -> Iterator[tuple[str, int, int]]:
        """Yield the name, number and value of each metric of the route."""
        if self.acknowledges_each:
            yield "quickack", QUICKACK, 1
        if self.initial_window is not None:
            yield "initcwnd", INITCWND, self.initial_window


def habits_towards(address: str, interface: str, habits: RouteMetrics) -> Request:
    """Return the request that adds a route to an IPv4 address, with metrics."""
    metrics = list(habits.metrics())
    body = ROUTE.pack(socket.AF_INET, 32, 0, 0, MAIN, STATIC, ON_LINK, UNICAST, 0)
    body += attribute(DST, socket.inet_aton(address))
    body += attribute(OIF, struct.pack("=I", socket.if_nametoindex(interface)))
    values = (attribute(number, struct.pack("=I", value)) for _, number, value in metrics)
    body += attribute(METRICS, b"".join(values))
    words = " ".join(f"{name} {value}" for name, _, value in metrics)
    text = f"ip route add {address} dev {interface} {words}"
    return Request(NEWROUTE, CREATE | EXCL, body, text)


def all_local(addresses: IPv4Network, interface: str) -> Request:
    """Return the request that adds a route which makes all addresses of a network local to this
    machine."""
    bits = addresses.prefixlen
    body = ROUTE.pack(socket.AF_INET, bits, 0, 0, LOCAL_TABLE, STATIC, HOST, LOCAL, 0)
    body += attribute(DST, addresses.network_address.packed)
    body += attribute(OIF, struct.pack("=I", socket.if_nametoindex(interface)))
    text = f"ip route add local {addresses} dev {interface}"
    return Request(NEWROUTE, CREATE | EXCL, body, text)


def through(addresses: IPv4Network, interface: str) -> Request:
    """Return the request that adds a route to a network whose hosts are directly reachable at the
    interface."""
    text = f"ip route add {addresses} dev {interface}"
    return _route(addresses, ON_LINK, interface, text)


def by_way_of(gateway: IPv4Address, interface: str) -> Request:
    """Return the request that adds a default route through a router at the interface."""
    text = f"ip route add default via {gateway} dev {interface}"
    return _route(EVERYTHING, UNIVERSE, interface, text, attribute(GATEWAY, gateway.packed))


def routes_through(kernel: Socket, interfaces: Collection[int]) -> dict[Address, list[Network]]:
    """Return the networks that this machine reaches through routers at these interfaces, by the
    router's address."""
    results: dict[Address, list[Network]] = {}
    for body in kernel.dump(GETROUTE, ROUTE.pack(0, 0, 0, 0, 0, 0, 0, 0, 0)):
        family, bits, *_ = ROUTE.unpack_from(body)
        has = dict(attributes(body, ROUTE.size))
        if family not in (socket.AF_INET, socket.AF_INET6):
            continue
        nothing = bytes(4 if family == socket.AF_INET else 16)
        network = ip_network((has.get(DST, nothing), bits), strict=False)
        for via, interface in hops(has):
            if interface in interfaces:
                results.setdefault(via, []).append(network)
    return results


def hops(has: Mapping[int, bytes]) -> Iterator[tuple[Address, int]]:
    """Yield the address of each router of a route, with the number of its interface."""
    interface = int.from_bytes(has.get(OIF, b""), sys.byteorder)
    for raw in (has.get(GATEWAY, b""), has.get(VIA, b"")[2:]):
        if (address := address_of(raw)) is not None:
            yield address, interface
    several = has.get(MULTIPATH, b"")
    while len(several) >= NEXT_HOP.size:
        length, _, _, interface = NEXT_HOP.unpack_from(several)
        inner = dict(attributes(several[:length], NEXT_HOP.size))
        for address, _ in hops({**inner, OIF: b"", MULTIPATH: b""}):
            yield address, interface
        several = several[max(length, NEXT_HOP.size) + 3 & ~3 :]


def _route(
    addresses: IPv4Network, scope: int, interface: str, text: str, more: bytes = b""
) -> Request:
    """Return the request that adds a route to the main routing table."""
    bits = addresses.prefixlen
    body = ROUTE.pack(socket.AF_INET, bits, 0, 0, MAIN, STATIC, scope, UNICAST, 0)
    body += attribute(DST, addresses.network_address.packed)
    body += attribute(OIF, struct.pack("=I", socket.if_nametoindex(interface)))
    return Request(NEWROUTE, CREATE | EXCL, body + more, text)
