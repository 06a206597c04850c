"""Measure the uplink UDP traffic of each station, from a sample of one packet in eight.

With `udp = "down"`, uplink UDP bypasses the leaves (the queues of the stations). The counters of
the leaves therefore do not include this traffic. A filter that only counts packets would need an
action that some kernels do not have. A sample is enough to detect stations that send much UDP. The
kernel draws the sample, which reduces the load of this process to an eighth. The kernel also
reports the number of packets that did not fit into the buffer. The totals are scaled up to include
the dropped packets.
"""

import socket
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lasthop.linux.packets import packet_socket, received, source_and_length
from lasthop.linux.tc import Address

SAMPLED = 8
"""Sampling interval: one of this many packets is sampled. [packets]"""
SOL_PACKET = 263
PACKET_STATISTICS = 6
STATISTICS = struct.Struct("=II")
"""Layout of the socket's statistics: number of packets that passed the filter, and number of these
packets that were dropped. When the statistics are read, the kernel resets them."""
BUFFER_BYTES = 1 << 21
"""Requested size of the socket buffer, which the kernel doubles. The buffer stores 1800 full frames
of 2304 bytes, enough for 170 Mbit/s. [bytes]"""
UDP = 17

# Classic BPF program that draws the sample. A packet begins with its IP header. Instruction codes
# are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF004),  # Load the packet type.
    (0x15, 10, 0, 4),  # Reject outgoing packets.
    (0x20, 0, 0, 0xFFFFF038),  # Load a random number.
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 7, 0),  # Reject packets that are not in the sample.
    (0x20, 0, 0, 0xFFFFF000),  # Load the Ethernet type.
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
    """Total packets and bytes, estimated from a sample."""

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
        """Process the sampled packets. Return the totals of the addresses in `known`.

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
    """Read all packets in a socket, and return the number of sampled packets and bytes from each
    address in `known`. The numbers are not scaled up."""
    result: dict[Address, Counted] = defaultdict(lambda: Counted(0, 0))
    for header, _ in received(packets):
        source, length = source_and_length(header)
        if source is not None and source in known:
            before = result[source]
            result[source] = Counted(before.packets + 1, before.bytes + length)
    return result


def statistics(packets: socket.socket) -> tuple[int, int]:
    """Return how many packets have passed a socket's filter since the last call, and how many of
    them were dropped."""
    try:
        text = packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size)
    except OSError:
        return 0, 0
    passed, dropped = STATISTICS.unpack(text)
    return passed, dropped
