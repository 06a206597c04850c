"""Addresses with traffic, from a sample of one packet in eight at an interface.

The kernel draws the sample. Packets are lost if the buffer has no room for them, so one call of
`look` reads at most about 300 packets.
"""

from collections.abc import Collection

from lasthop.linux.packets import HEADER_BYTES, ends, packet_socket, received
from lasthop.linux.tc import Address

SAMPLED = 8
"""Sampling ratio: one of this many packets is sampled."""
BUFFER_BYTES = 1 << 18
"""Requested size of the buffer; the kernel doubles it. A full frame takes 2304 bytes."""

# Classic BPF; packets begin with the IP header. Codes are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF038),  # A random number.
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 1, 0),
    (0x06, 0, 0, HEADER_BYTES),
    (0x06, 0, 0, 0),
)


class AddressSample:
    """Addresses of packets at an interface.

    Parameters
    ----------
    interface : str

    Raises
    ------
    OSError
        If there is no such interface.
    """

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self.socket = packet_socket(interface, PROGRAM, BUFFER_BYTES)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def look(self, known: Collection[Address]) -> set[Address]:
        """Return the known addresses of sampled packets since the last call."""
        every = (each for header, _ in received(self.socket) for each in ends(header))
        return {address for address in every if address in known}
