"""Packet sockets that receive copies of packets at an interface, with a filter program; IP
headers."""

import ctypes
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Any, TypeAlias

from lasthop.linux.tc import Address

Instruction: TypeAlias = tuple[int, int, int, int]
"""Instruction of classic BPF: code, jump distance if true, jump distance if false, operand
(linux/filter.h)."""

EVERY_FIRST_BYTE: Instruction = (0x06, 0, 0, 1)
SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE = 33
ETH_P_ALL = 0x0003
HEADER_BYTES = 40
"""Number of bytes that are read from a packet, starting with its IP header. [bytes]"""
MAX_AT_ONCE = 5000
"""Largest number of packets that one call reads, so that a flood of packets does not stop the
gateway's other work."""


def packet_socket(
    interface: str, program: Sequence[Instruction], buffer_bytes: int | None = None
) -> socket.socket:
    """Return a socket for the packets of an interface that a classic BPF program accepts.

    `buffer_bytes` is the size of the receive buffer. With None, the size is the maximum that the
    kernel allows.
    """
    each = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    attach(each, program)
    if buffer_bytes is not None:
        each.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
    each.bind((interface, ETH_P_ALL))
    return each


def received(sample: socket.socket) -> Iterator[tuple[bytes, Any]]:
    """Yield the packets in a socket's buffer, each with the link-layer address of its sender. A
    packet starts with the IP header.

    The iteration ends when the buffer is empty, after `MAX_AT_ONCE` packets, or if the interface
    was removed. The gateway detects a removed interface elsewhere.
    """
    with suppress(OSError):
        for _ in range(MAX_AT_ONCE):
            yield sample.recvfrom(HEADER_BYTES)


def attach(connection: socket.socket, program: Sequence[Instruction]) -> None:
    """Set the classic BPF program that the kernel runs for each packet before it queues the packet
    at a socket. A previous program is replaced."""
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code)
    total = struct.pack("HP", len(program), ctypes.addressof(buffer))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, total)


def first_packet(interface: str) -> socket.socket | None:
    """Return a socket that becomes readable when a packet passes the interface; None if the
    interface does not exist.

    The caller must close the socket when it becomes readable, since the socket continues to store
    one byte of each packet.
    """
    try:
        return packet_socket(interface, (EVERY_FIRST_BYTE,))
    except OSError:
        return None


def source_and_length(header: bytes) -> tuple[Address | None, int]:
    """Return the source address and the length of an IP packet. [bytes]"""
    if len(header) >= 20 and header[0] >> 4 == 4:
        return IPv4Address(header[12:16]), int(struct.unpack_from("!H", header, 2)[0])
    if len(header) >= 40 and header[0] >> 4 == 6:
        return IPv6Address(header[8:24]), 40 + int(struct.unpack_from("!H", header, 4)[0])
    return None, 0


def ends(header: bytes) -> tuple[Address, ...]:
    """Return the source and destination address of an IP packet; an empty tuple for other
    packets."""
    if len(header) >= 20 and header[0] >> 4 == 4:
        return IPv4Address(header[12:16]), IPv4Address(header[16:20])
    if len(header) >= 40 and header[0] >> 4 == 6:
        return IPv6Address(header[8:24]), IPv6Address(header[24:40])
    return ()
