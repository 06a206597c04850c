"""Find addresses with traffic, from a sample of one packet in eight at an interface.

The kernel draws the sample. Packets that do not fit into the buffer are lost, so one call of
`AddressSample.look` reads at most about 300 packets.
"""

from collections.abc import Collection

from lasthop.linux.packets import HEADER_BYTES, ends, packet_socket, received
from lasthop.linux.tc import Address

SAMPLED = 8
"""Sampling interval: one of this many packets is sampled. [packets]"""
BUFFER_BYTES = 1 << 18
"""Requested size of the socket buffer, which the kernel doubles. A full frame uses 2304 bytes.
[bytes]"""

# Classic BPF program that draws the sample. A packet begins with its IP header. Instruction codes
# are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF038),  # Load a random number.
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 1, 0),
    (0x06, 0, 0, HEADER_BYTES),
    (0x06, 0, 0, 0),
)


class AddressSample:
    """Sample of the addresses of packets at an interface.

    Parameters
    ----------
    interface : str

    Raises
    ------
    OSError
        If the interface does not exist.
    """

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self.socket = packet_socket(interface, PROGRAM, BUFFER_BYTES)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def look(self, known: Collection[Address]) -> set[Address]:
        """Return the addresses in `known` that occur in a packet sampled since the last call."""
        every = (each for header, _ in received(self.socket) for each in ends(header))
        return {address for address in every if address in known}
