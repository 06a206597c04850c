"""Network interfaces: the existing interfaces, and requests that create and change interfaces."""

import fcntl
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.linux.netlink import (
    CREATE,
    EXCL,
    Request,
    Socket,
    attribute,
    attributes,
    number_in,
    text_attribute,
    text_in,
    u32_attribute,
)

NEWLINK, DELLINK, GETLINK = 16, 17, 18
INFO = struct.Struct("=BxHiII")
"""Layout of struct ifinfomsg: family, device type, index, flags, change mask."""
UP = 0x1
IFNAME, ADDRESS, MASTER, TXQLEN, LINKINFO, KIND = 3, 1, 10, 13, 18, 1
GSO_MAX_SEGS = 40
LINK, LINK_NAMESPACE = 5, 37
SIOCGIFMTU = 0x8921
"""Ioctl number that returns the MTU of an interface (linux/sockios.h)."""
ETHERNET = 1
"""ARPHRD type of an interface with Ethernet headers (linux/if_arp.h)."""


class Link(NamedTuple):
    """A network interface."""

    number: int
    kind: str
    """Kind of the interface's driver, such as ``ifb``; empty for hardware."""
    mac: bytes
    is_up: bool
    master: int
    """Number of the bridge (or similar interface) of which this interface is a port; 0 if this
    interface is no port."""
    hardware: int = ETHERNET
    """Type of the link-layer header that the interface's packets have (ARPHRD)."""
    segments: int = 0
    """Largest number of segments that senders on this machine merge into one packet; 0 if
    unknown."""
    lower: int = 0
    """Number of the lower interface, such as the Ethernet interface below a VLAN interface; 0 if
    this namespace contains no lower interface."""


def index_of(name: str) -> int:
    """Return the number of an interface. Raise `UserError` if no interface has this name."""
    try:
        return socket.if_nametoindex(name)
    except OSError:
        raise UserError(
            f"interface {name}: no interface has this name", known_interfaces()
        ) from None


def longest_packet(name: str) -> int:
    """Return the length of the longest IP packet that the interface sends (its MTU). [bytes]"""
    asked = struct.pack("16sI", name.encode(), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFMTU, asked.ljust(40, b"\0"))
    return int(struct.unpack_from("I", answer, 16)[0])


def known_interfaces() -> str:
    """Return a hint with the names of the existing interfaces."""
    names = [name for _, name in socket.if_nameindex()]
    return f"this machine has {', '.join(sorted(names))}"


def request(
    name: str, text: str, more: bytes = b"", *, kind: int = NEWLINK, flags: int = 0, is_up: int = 0
) -> Request:
    """Return the netlink request with message type `kind` for an interface. `more` contains
    additional attributes, and `text` is the equivalent shell command."""
    body = INFO.pack(0, 0, 0, is_up, is_up) + text_attribute(IFNAME, name) + more
    return Request(kind, flags, body, text)


def add_ifb(name: str, mac: bytes, queue_packets: int) -> Request:
    """Return the request that creates an intermediate functional block (IFB), which is not up
    yet."""
    more = attribute(LINKINFO, attribute(KIND, b"ifb"))
    more += attribute(ADDRESS, mac) + u32_attribute(TXQLEN, queue_packets)
    text = f"ip link add {name} address {mac.hex(':')} txqueuelen {queue_packets} type ifb"
    return request(name, text, more, flags=CREATE | EXCL)


def set_up(name: str) -> Request:
    """Return the request that brings an interface up."""
    return request(name, f"ip link set {name} up", is_up=UP)


ONE_SEGMENT = 1
"""Limit of segments per packet with which local senders do not merge segments, so that queues
handle single segments. [-]"""


def set_segments(name: str, segments: int) -> Request:
    """Return the request that limits how many segments local senders merge into one packet."""
    text = f"ip link set {name} gso_max_segs {segments}"
    return request(name, text, u32_attribute(GSO_MAX_SEGS, segments))


def remove_link(name: str) -> Request:
    """Return the request that removes a virtual interface with all its queueing disciplines and
    filters."""
    return request(name, f"ip link del {name}", kind=DELLINK)


def every_link(kernel: Socket) -> dict[str, Link]:
    """Return all interfaces of this namespace, by name."""
    results = {}
    for body in kernel.dump(GETLINK, INFO.pack(0, 0, 0, 0, 0)):
        _, hardware, index, flags, _ = INFO.unpack_from(body)
        has = dict(attributes(body, INFO.size))
        kind = text_in(dict(attributes(has.get(LINKINFO, b""))).get(KIND, b""))
        master, segments = number_in(has.get(MASTER)), number_in(has.get(GSO_MAX_SEGS))
        # The IFLA_LINK attribute of a veth device is its peer, not a lower interface.
        is_on = kind != "veth" and LINK_NAMESPACE not in has
        lower = number_in(has.get(LINK)) if is_on else 0
        link = Link(
            index, kind, has.get(ADDRESS, b""), bool(flags & UP), master, hardware, segments, lower
        )
        results[text_in(has.get(IFNAME, b""))] = link
    return results


def below(lan: str, links: Mapping[str, Link]) -> list[str]:
    """Return an interface and all its lower devices: the ports of a bridge, or the device of a
    VLAN."""
    results = [lan]
    for name in results:
        link = links.get(name)
        if link is None:
            continue
        parts = [each for each, other in links.items() if other.master == link.number]
        lower = [each for each, other in links.items() if other.number == link.lower]
        results += [each for each in (*parts, *lower) if each not in results]
    return results


def forwards(family: int) -> bool:
    """Return whether the machine forwards packets of this IP version."""
    path = "ipv4/ip_forward" if family == 4 else "ipv6/conf/all/forwarding"
    try:
        return Path("/proc/sys/net", path).read_text().strip() != "0"
    except OSError:
        return False
