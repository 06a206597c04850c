"""Cables between network namespaces: a pair of Ethernet interfaces, their addresses, forwarding.

A pair ends with either of its namespaces, and what is said of its interfaces here ends with it.
"""

import socket
import struct
from ipaddress import IPv4Interface

from lasthop.linux.links import IFNAME, INFO, KIND, LINKINFO, request
from lasthop.linux.netlink import CREATE, EXCL, Request, attribute, text_attribute, u32_attribute

NEWADDR = 20
ADDRESS = struct.Struct("=BBBBI")
"""Family, bits of the prefix, flags, scope, interface."""
IFA_ADDRESS, IFA_LOCAL = 1, 2
INFO_DATA, VETH_PEER, NET_NS_FD = 2, 1, 28
AF_SPEC, INET_CONF, FORWARDING = 26, 1, 1
"""Where a setting of an interface for IPv4 stands, and the one that lets packets from it go on."""


def add_pair(name: str, peer: str, namespace: int) -> Request:
    """Return the request for two interfaces, the other one in the namespace of a descriptor."""
    other = (
        INFO.pack(0, 0, 0, 0, 0)
        + text_attribute(IFNAME, peer)
        + u32_attribute(NET_NS_FD, namespace)
    )
    kind = attribute(KIND, b"veth") + attribute(INFO_DATA, attribute(VETH_PEER, other))
    text = f"ip link add {name} type veth peer name {peer} netns {namespace}"
    return request(name, text, attribute(LINKINFO, kind), flags=CREATE | EXCL)


def address(interface: str, own: IPv4Interface) -> Request:
    """An IPv4 address of an interface, and its network behind it."""
    number = socket.if_nametoindex(interface)
    body = ADDRESS.pack(socket.AF_INET, own.network.prefixlen, 0, 0, number)
    body += attribute(IFA_LOCAL, own.ip.packed) + attribute(IFA_ADDRESS, own.ip.packed)
    return Request(NEWADDR, CREATE | EXCL, body, f"ip address add {own} dev {interface}")


def forward(interface: str) -> Request:
    """Return the request that lets IPv4 packets from an interface go on to others."""
    setting = attribute(INET_CONF, u32_attribute(FORWARDING, 1))
    text = f"sysctl -w net.ipv4.conf.{interface}.forwarding=1"
    return request(interface, text, attribute(AF_SPEC, attribute(socket.AF_INET, setting)))
