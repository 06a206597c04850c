"""Routes of the calling thread's network namespace."""

import socket
import struct

from lasthop.linux.netlink import CREATE, EXCL, Request, attribute

NEWROUTE = 24
ROUTE = struct.Struct("=BBBBBBBBI")
"""Family, bits of the destination and of the source, TOS, table, protocol, scope, type, flags."""
MAIN, STATIC, ON_LINK, UNICAST = 254, 4, 253, 1
DST, OIF, METRICS, QUICKACK = 1, 4, 8, 15


def acknowledge_at_once(address: str, interface: str) -> Request:
    """A route to an IPv4 address, whose TCP segments are acknowledged one by one."""
    body = ROUTE.pack(socket.AF_INET, 32, 0, 0, MAIN, STATIC, ON_LINK, UNICAST, 0)
    body += attribute(DST, socket.inet_aton(address))
    body += attribute(OIF, struct.pack("=I", socket.if_nametoindex(interface)))
    body += attribute(METRICS, attribute(QUICKACK, struct.pack("=I", 1)))
    said = f"ip route add {address} dev {interface} quickack 1"
    return Request(NEWROUTE, CREATE | EXCL, body, said)
