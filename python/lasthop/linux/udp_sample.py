"""Uplink UDP by station, from one packet in eight that a packet socket sees.

Uplink UDP must not be redirected, and a filter that counts it needs an action that some kernels
lack. A sample is enough to detect stations that send much UDP. The kernel draws it, which reduces
the load of this process to an eighth. The kernel also counts packets for which the buffer has no
room. The totals of the sample are scaled up to include these packets.
"""

import socket
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lasthop.linux.packets import packet_socket, received, source_and_length
from lasthop.linux.tc import Address

SAMPLED = 8
"""Sampling ratio: one of this many packets is sampled."""
SOL_PACKET = 263
PACKET_STATISTICS = 6
STATISTICS = struct.Struct("=II")
"""Layout of the statistics: packets that passed the filter, and how many of these were dropped. A
read resets both."""
BUFFER_BYTES = 1 << 21
"""Requested size of the buffer, which the kernel doubles. It holds 1800 full frames of 2304 bytes,
enough for 170 Mbit/s. [bytes]"""
UDP = 17

# Classic BPF; packets begin with the IP header. Codes are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF004),  # Packet type.
    (0x15, 10, 0, 4),  # Reject outgoing packets.
    (0x20, 0, 0, 0xFFFFF038),  # A random number.
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 7, 0),  # Reject packets that are not drawn.
    (0x20, 0, 0, 0xFFFFF000),  # Ethernet type.
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
    """Totals that are estimated from a sample."""

    packets: int
    bytes: int


class UdpSample:
    """Estimates of the UDP traffic that has arrived at interfaces since the start, by source
    address."""

    def __init__(self, interfaces: Iterable[str]) -> None:
        self.total: dict[Address, Counted] = {}
        self.sockets = [packet_socket(name, PROGRAM, BUFFER_BYTES) for name in interfaces]

    def close(self) -> None:
        """Close the sockets."""
        for each in self.sockets:
            each.close()

    def look(self, known: Collection[Address]) -> Mapping[Address, Counted]:
        """Count packets from known addresses; return their totals.

        Other addresses are ignored, since senders can invent many of them.
        """
        nothing = Counted(0, 0)
        self.total = {address: self.total.get(address, nothing) for address in known}
        for each in self.sockets:
            passed, dropped = statistics(each)
            each_stands_for = SAMPLED * passed / (passed - dropped) if passed > dropped else SAMPLED
            for source, (packets, size) in drain(each, self.total).items():
                before = self.total[source]
                self.total[source] = Counted(
                    before.packets + round(packets * each_stands_for),
                    before.bytes + round(size * each_stands_for),
                )
        return self.total


def drain(packets: socket.socket, known: Collection[Address]) -> Mapping[Address, Counted]:
    """Read all packets in a socket; return the totals of known addresses."""
    result: dict[Address, Counted] = defaultdict(lambda: Counted(0, 0))
    for header, _ in received(packets):
        source, length = source_and_length(header)
        if source is not None and source in known:
            before = result[source]
            result[source] = Counted(before.packets + 1, before.bytes + length)
    return result


def statistics(packets: socket.socket) -> tuple[int, int]:
    """Return how many packets passed a socket's filter since the last call, and how many were
    dropped."""
    try:
        text = packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size)
    except OSError:
        return 0, 0
    passed, dropped = STATISTICS.unpack(text)
    return passed, dropped
