"""Find hosts that send at an interface: MAC and source IP addresses from captured packets.

The kernel stores the neighbours of a bridge port at the bridge interface, not at the port. A host
whose packets are only forwarded never becomes a neighbour. This module therefore captures every ARP
packet, every neighbour solicitation or advertisement, and one in 64 of all other packets.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address

from lasthop.linux.neighbours import Neighbour
from lasthop.linux.packets import HEADER_BYTES, packet_socket, received, source_and_length
from lasthop.linux.tc import Address

SAMPLED = 64
"""Sampling interval of packets that are neither ARP nor NDP: one of this many packets is captured.
[packets]"""
ARP, IPV4, IPV6, ICMPV6 = 0x0806, 0x0800, 0x86DD, 58
SENDER = slice(14, 18)
"""Position of the sender's IPv4 address in an ARP packet."""

# Classic BPF program that draws the sample. A packet begins with the header after the Ethernet
# header. Instruction codes are those of linux/filter.h.
PROGRAM = (
    (0x20, 0, 0, 0xFFFFF004),  # load the packet type
    (0x15, 13, 0, 4),  # reject outgoing packets
    (0x20, 0, 0, 0xFFFFF000),  # load the Ethernet type
    (0x15, 10, 0, ARP),
    (0x15, 6, 0, IPV4),
    (0x15, 0, 9, IPV6),
    (0x30, 0, 0, 6),
    (0x15, 0, 3, ICMPV6),
    (0x30, 0, 0, 40),
    (0x15, 4, 0, 135),  # accept a neighbour solicitation
    (0x15, 3, 0, 136),  # accept a neighbour advertisement
    (0x20, 0, 0, 0xFFFFF038),  # load a random number
    (0x54, 0, 0, SAMPLED - 1),
    (0x15, 0, 1, 0),
    (0x06, 0, 0, HEADER_BYTES),
    (0x06, 0, 0, 0),
)


class Heard:
    """Capture of the packets of hosts that send at interfaces.

    Parameters
    ----------
    interfaces : iterable of str
    """

    def __init__(self, interfaces: Iterable[str]) -> None:
        self.sockets = {name: packet_socket(name, PROGRAM) for name in interfaces}

    def close(self) -> None:
        """Close the sockets."""
        for each in self.sockets.values():
            each.close()

    def look(self) -> set[tuple[str, Neighbour]]:
        """Return the hosts whose packets were captured since the last call, with the interface of
        each host."""
        results = set()
        for name, each in self.sockets.items():
            for header, (_, kind, _, _, mac) in received(each):
                host = neighbour_of(header, kind, mac)
                if host is not None:
                    results.add((name, host))
        return results


def neighbour_of(header: bytes, kind: int, mac: bytes) -> Neighbour | None:
    """Return the host that sent a packet of this Ethernet type; None if the packet contains no
    usable source address."""
    address: Address | None
    if kind == ARP:
        is_ipv4 = len(header) >= SENDER.stop and header[2:6] == b"\x08\x00\x06\x04"
        address = IPv4Address(header[SENDER]) if is_ipv4 else None
    else:
        address, _ = source_and_length(header)
    if address is None or len(mac) != 6 or mac[0] & 1:
        return None
    if address.is_unspecified or address.is_loopback or address.is_multicast:
        return None
    return None if address.is_link_local else Neighbour(address, mac.hex(":"))
