"""Uplink UDP by station, from one packet in eight that a packet socket sees.

Such packets must not be redirected, and counting them by a filter needs an action that not every
kernel has; a sample is enough to know who sends much. The kernel draws it, so that the load of
this process stays an eighth.
"""

import ctypes
import socket
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from lasthop.linux.tc import Address

__all__ = ["SAMPLED", "Counted", "UdpSample"]

SAMPLED = 8
"""One in so many packets is looked at."""
SO_ATTACH_FILTER = 26
ETH_P_ALL = 0x0003
HEADER_BYTES = 40
MOST_AT_ONCE = 5000
"""Packets of one look: a flood must not keep the gateway from its work."""
UDP = 17

# Classic BPF; packets begin with the IP header. Codes are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF004),  # packet type
    (0x15, 10, 0, 4),  # outgoing: no
    (0x20, 0, 0, 0xFFFFF038),  # a random number
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 7, 0),  # not drawn: no
    (0x20, 0, 0, 0xFFFFF000),  # Ethernet type
    (0x15, 0, 2, 0x0800),
    (0x30, 0, 0, 9),
    (0x05, 0, 0, 2),
    (0x15, 0, 2, 0x86DD),
    (0x30, 0, 0, 6),
    (0x15, 1, 0, UDP),
    (0x06, 0, 0, 0),
    (0x06, 0, 0, 0xFFFF),
)


class Counted(NamedTuple):
    """What a sample stands for."""

    packets: int
    bytes: int


class UdpSample:
    """Estimates of the UDP that came in at interfaces since the beginning, by source address."""

    def __init__(self, interfaces: Iterable[str]) -> None:
        self.total: dict[Address, Counted] = defaultdict(lambda: Counted(0, 0))
        self.sockets = [packet_socket(name) for name in interfaces]

    def close(self) -> None:
        """Close the sockets."""
        for each in self.sockets:
            each.close()

    def look(self) -> Mapping[Address, Counted]:
        """Count what has come in; the totals."""
        for each in self.sockets:
            for _ in range(MOST_AT_ONCE):
                try:
                    header = each.recv(HEADER_BYTES)
                except (BlockingIOError, InterruptedError):
                    break
                except OSError:
                    break  # the interface is gone; the gateway finds out by itself
                source, length = source_and_length(header)
                if source is not None:
                    packets, size = self.total[source]
                    self.total[source] = Counted(packets + SAMPLED, size + SAMPLED * length)
        return self.total


def source_and_length(header: bytes) -> tuple[Address | None, int]:
    """Source address and length of an IP packet. [bytes]"""
    if len(header) >= 20 and header[0] >> 4 == 4:
        return IPv4Address(header[12:16]), int(struct.unpack_from("!H", header, 2)[0])
    if len(header) >= 40 and header[0] >> 4 == 6:
        return IPv6Address(header[8:24]), 40 + int(struct.unpack_from("!H", header, 4)[0])
    return None, 0


def packet_socket(interface: str) -> socket.socket:
    """A socket that gets the headers of sampled UDP packets from an interface."""
    each = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in PROGRAM)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(PROGRAM), ctypes.addressof(buffer))
    each.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    each.bind((interface, ETH_P_ALL))
    return each
