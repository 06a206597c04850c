"""Copies of packets at an interface: sockets with a filter, and headers."""

import ctypes
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Any, TypeAlias

from lasthop.linux.tc import Address

Instruction: TypeAlias = tuple[int, int, int, int]
"""Instruction of classic BPF: code, jump if true, jump if false, operand (linux/filter.h)."""

EVERY_FIRST_BYTE: Instruction = (0x06, 0, 0, 1)
SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE = 33
ETH_P_ALL = 0x0003
HEADER_BYTES = 40
"""Part of a packet that is read, from its IP header on."""
MOST_AT_ONCE = 5000
"""Most packets of one look: a flood must not keep the gateway from its work."""


def packet_socket(
    interface: str, program: Sequence[Instruction], buffer_bytes: int | None = None
) -> socket.socket:
    """A socket for the packets of an interface that a classic BPF program lets through.

    Packets that wait to be read may take `buffer_bytes`; if None, what the kernel allows.
    """
    each = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    attach(each, program)
    if buffer_bytes is not None:
        each.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
    each.bind((interface, ETH_P_ALL))
    return each


def received(sample: socket.socket) -> Iterator[tuple[bytes, Any]]:
    """Yield the packets that wait at a socket, from their IP headers on, with their senders.

    It ends when the socket is empty, or its interface is gone. The gateway detects the latter.
    """
    with suppress(OSError):
        for _ in range(MOST_AT_ONCE):
            yield sample.recvfrom(HEADER_BYTES)


def attach(connection: socket.socket, program: Sequence[Instruction]) -> None:
    """Let the kernel run this program for all that is to be queued at a socket, and no other."""
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code)
    total = struct.pack("HP", len(program), ctypes.addressof(buffer))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, total)


def first_packet(interface: str) -> socket.socket | None:
    """A socket that has something to read once the interface has seen a packet.

    Whoever reads it closes it: it takes a byte of each packet. None if there is no such interface.
    """
    try:
        return packet_socket(interface, (EVERY_FIRST_BYTE,))
    except OSError:
        return None


def source_and_length(header: bytes) -> tuple[Address | None, int]:
    """Source address and length of an IP packet. [bytes]"""
    if len(header) >= 20 and header[0] >> 4 == 4:
        return IPv4Address(header[12:16]), int(struct.unpack_from("!H", header, 2)[0])
    if len(header) >= 40 and header[0] >> 4 == 6:
        return IPv6Address(header[8:24]), 40 + int(struct.unpack_from("!H", header, 4)[0])
    return None, 0


def ends(header: bytes) -> tuple[Address, ...]:
    """Source and destination of an IP packet; nothing if it is something else."""
    if len(header) >= 20 and header[0] >> 4 == 4:
        return IPv4Address(header[12:16]), IPv4Address(header[16:20])
    if len(header) >= 40 and header[0] >> 4 == 6:
        return IPv6Address(header[8:24]), IPv6Address(header[24:40])
    return ()
