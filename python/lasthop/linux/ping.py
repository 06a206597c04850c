"""ICMP echo requests: round-trip times to stations, beside every queue of the gateway.

The kernel stamps the answers on arrival, so that a busy machine does not make them late.
"""

import os
import socket
import struct
import time
from typing import NamedTuple

from lasthop.linux.tc import Address

__all__ = ["Answer", "Pinger"]

REQUEST = {4: 8, 6: 128}
REPLY = {4: 0, 6: 129}
HEADER = struct.Struct("!BBHHH")
"""Type, code, checksum, identifier, sequence number."""
STAMP = struct.Struct("=qq")
"""Seconds and nanoseconds (SCM_TIMESTAMPNS)."""
SO_TIMESTAMPNS = 35
PAYLOAD = bytes(range(48))


class Answer(NamedTuple):
    """An echo reply."""

    sequence: int
    at_s: float
    """When the kernel took it in, on the clock of `time.time`. [s]"""


class Pinger:
    """Raw sockets for both families; answers to others are told apart by the identifier."""

    def __init__(self) -> None:
        self.identifier = os.getpid() & 0xFFFF
        self.sockets: dict[int, socket.socket] = {}
        for version, family, protocol in (
            (4, socket.AF_INET, socket.IPPROTO_ICMP),
            (6, socket.AF_INET6, socket.IPPROTO_ICMPV6),
        ):
            try:
                raw = socket.socket(family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, protocol)
            except OSError:
                if version == 4:
                    raise
                continue  # a kernel without IPv6
            raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.sockets[version] = raw

    def close(self) -> None:
        """Close the sockets."""
        for raw in self.sockets.values():
            raw.close()

    def send(self, address: Address, sequence: int) -> bool:
        """Send a request; whether the kernel took it."""
        raw = self.sockets.get(address.version)
        if raw is None:
            return False
        kind = REQUEST[address.version]
        packet = HEADER.pack(kind, 0, 0, self.identifier, sequence) + PAYLOAD
        if address.version == 4:  # the kernel sees to IPv6's
            packet = HEADER.pack(kind, 0, checksum(packet), self.identifier, sequence) + PAYLOAD
        try:
            raw.sendto(packet, (str(address), 0))
        except OSError:
            return False
        return True

    def answers(self) -> list[Answer]:
        """Every answer that has come in."""
        found = []
        for version, raw in self.sockets.items():
            while True:
                try:
                    data, ancillary, _, _ = raw.recvmsg(2048, 64)
                except (BlockingIOError, InterruptedError):
                    break
                except OSError:
                    continue  # an ICMP error, which is no answer
                if version == 4:
                    data = data[(data[0] & 0xF) * 4 :]
                if len(data) < HEADER.size:
                    continue
                kind, _, _, identifier, sequence = HEADER.unpack_from(data)
                if kind == REPLY[version] and identifier == self.identifier:
                    found.append(Answer(sequence, arrival(ancillary)))
        return found


def arrival(ancillary: list[tuple[int, int, bytes]]) -> float:
    """When the kernel took a packet in."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = STAMP.unpack_from(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of data of even length."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
