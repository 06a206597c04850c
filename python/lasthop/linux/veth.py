"""Cables between network namespaces: a pair of Ethernet interfaces, their addresses, forwarding.

A pair ends with either of its namespaces, and what is said of its interfaces here ends with it.
"""

import socket
import struct
from ipaddress import IPv4Interface

from lasthop.linux.links import IFNAME, INFO, KIND, LINKINFO, NEWLINK
from lasthop.linux.netlink import CREATE, EXCL, Request, attribute

NEWADDR = 20
ADDRESS = struct.Struct("=BBBBI")
"""Family, bits of the prefix, flags, scope, interface."""
IFA_ADDRESS, IFA_LOCAL = 1, 2
INFO_DATA, VETH_PEER, NET_NS_FD = 2, 1, 28
AF_SPEC, INET_CONF, FORWARDING = 26, 1, 1
"""Where a setting of an interface for IPv4 stands, and the one that lets packets from it go on."""


def add_pair(name: str, peer: str, namespace: int) -> Request:
    """Two interfaces, the other one in the network namespace of a descriptor."""
    present = attribute(IFNAME, peer.encode() + b"\0")
    present += attribute(NET_NS_FD, struct.pack("=I", namespace))
    pair = attribute(VETH_PEER, INFO.pack(0, 0, 0, 0, 0) + present)
    kind = attribute(KIND, b"veth") + attribute(INFO_DATA, pair)
    body = INFO.pack(0, 0, 0, 0, 0) + attribute(IFNAME, name.encode() + b"\0")
    body += attribute(LINKINFO, kind)
    text = f"ip link add {name} type veth peer name {peer} netns {namespace}"
    return Request(NEWLINK, CREATE | EXCL, body, text)


def address(interface: str, own: IPv4Interface) -> Request:
    """An IPv4 address of an interface, and its network behind it."""
    number = socket.if_nametoindex(interface)
    body = ADDRESS.pack(socket.AF_INET, own.network.prefixlen, 0, 0, number)
    body += attribute(IFA_LOCAL, own.ip.packed) + attribute(IFA_ADDRESS, own.ip.packed)
    return Request(NEWADDR, CREATE | EXCL, body, f"ip address add {own} dev {interface}")


def forward(interface: str) -> Request:
    """Let IPv4 packets that come by an interface go on to others."""
    setting = attribute(INET_CONF, attribute(FORWARDING, struct.pack("=I", 1)))
    body = INFO.pack(0, 0, 0, 0, 0) + attribute(IFNAME, interface.encode() + b"\0")
    body += attribute(AF_SPEC, attribute(socket.AF_INET, setting))
    return Request(NEWLINK, 0, body, f"sysctl -w net.ipv4.conf.{interface}.forwarding=1")
