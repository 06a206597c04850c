"""Records the first bytes of all packets that an interface receives, in a ring of memory that the
kernel fills (packet(7), TPACKET_V2). Recording needs no system calls per packet."""

import mmap
import socket
import struct
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

from lasthop.linux.overhearing import OUTGOING
from lasthop.linux.packets import ETH_P_ALL
from lasthop.linux.udp_sample import SOL_PACKET

PACKET_RX_RING, PACKET_VERSION = 5, 10
TPACKET_V2 = 1
IP_VERSION = 4
HEADER = struct.Struct("=IIIHHII")
"""Status, length, stored length, offset of the frame, offset of the packet, seconds, nanoseconds
(`struct tpacket2_hdr`)."""
TYPE_AT = 42
"""Offset of the packet's type in a frame: a header of 32 bytes, then `struct sockaddr_ll`."""
FRAME_BYTES, BLOCK_BYTES = 160, 1 << 16
FRAMES_PER_BLOCK = BLOCK_BYTES // FRAME_BYTES
NS_PER_S = 1_000_000_000


class Seen(NamedTuple):
    """A recorded packet."""

    at_ns: int
    """Time since 1970. [ns]"""
    ip: bytes
    """First bytes of the IP packet."""
    ip_bytes: int
    """Length of the IP packet. [bytes]"""


class Ring:
    """Recorder of the IPv4 packets of an interface in the caller's network namespace. With
    `is_outgoing`, the packets that the interface sends are recorded, and otherwise those that it
    receives."""

    def __init__(
        self, interface: str, *, is_outgoing: bool = False, packets: int = 100_000
    ) -> None:
        self.is_outgoing = is_outgoing
        blocks = -(-packets // FRAMES_PER_BLOCK)
        self.frames = blocks * FRAMES_PER_BLOCK
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        request = struct.pack("=IIII", BLOCK_BYTES, blocks, FRAME_BYTES, self.frames)
        self.socket.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
        self.memory = mmap.mmap(self.socket.fileno(), blocks * BLOCK_BYTES)
        self.socket.bind((interface, ETH_P_ALL))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.memory.close()
        self.socket.close()

    def packets(self) -> Iterator[Seen]:
        """Yield the packets received so far, in their order.

        Raises
        ------
        OverflowError
            If the ring is full, so that packets may be missing.
        """
        memory = self.memory
        for number in range(self.frames):
            block, frame = divmod(number, FRAMES_PER_BLOCK)
            at = block * BLOCK_BYTES + frame * FRAME_BYTES
            status, length, stored, mac, net, seconds, ns = HEADER.unpack_from(memory, at)
            if not status & 1:
                return
            ip = memory[at + net : at + mac + stored]
            is_outgoing = memory[at + TYPE_AT] == OUTGOING
            if is_outgoing == self.is_outgoing and ip[0] >> 4 == IP_VERSION:
                yield Seen(seconds * NS_PER_S + ns, ip, length - (net - mac))
        raise OverflowError(f"more than {self.frames} packets: enlarge the ring")
