"""Virtual cables between network namespaces: pairs of Ethernet interfaces (veth), with addresses
and forwarding.

The kernel removes a pair, with all settings of its interfaces, when either namespace is removed.
"""

import socket
import struct
from ipaddress import IPv4Interface

from lasthop.linux.links import IFNAME, INFO, KIND, LINKINFO, request
from lasthop.linux.netlink import CREATE, EXCL, Request, attribute, text_attribute, u32_attribute

NEWADDR = 20
ADDRESS = struct.Struct("=BBBBI")
"""Layout of struct ifaddrmsg: family, bits of the prefix, flags, scope, interface."""
IFA_ADDRESS, IFA_LOCAL = 1, 2
INFO_DATA, VETH_PEER, NET_NS_FD = 2, 1, 28
AF_SPEC, INET_CONF, FORWARDING = 26, 1, 1
"""Attribute numbers for the IPv4 settings of an interface, and the number of the setting that
enables forwarding."""


def add_pair(name: str, peer: str, namespace: int) -> Request:
    """Return the request that creates a pair of veth interfaces. The peer is created in another
    network namespace, to which the file descriptor `namespace` refers."""
    other = (
        INFO.pack(0, 0, 0, 0, 0)
        + text_attribute(IFNAME, peer)
        + u32_attribute(NET_NS_FD, namespace)
    )
    kind = attribute(KIND, b"veth") + attribute(INFO_DATA, attribute(VETH_PEER, other))
    text = f"ip link add {name} type veth peer name {peer} netns {namespace}"
    return request(name, text, attribute(LINKINFO, kind), flags=CREATE | EXCL)


def address(interface: str, own: IPv4Interface) -> Request:
    """Return the request that adds an IPv4 address and its subnet to an interface."""
    number = socket.if_nametoindex(interface)
    body = ADDRESS.pack(socket.AF_INET, own.network.prefixlen, 0, 0, number)
    body += attribute(IFA_LOCAL, own.ip.packed) + attribute(IFA_ADDRESS, own.ip.packed)
    return Request(NEWADDR, CREATE | EXCL, body, f"ip address add {own} dev {interface}")


def forward(interface: str) -> Request:
    """Return the request that enables forwarding of IPv4 packets that arrive at an interface."""
    setting = attribute(INET_CONF, u32_attribute(FORWARDING, 1))
    text = f"sysctl -w net.ipv4.conf.{interface}.forwarding=1"
    return request(interface, text, attribute(AF_SPEC, attribute(socket.AF_INET, setting)))
