"""Uplink UDP by station, from one packet in eight that a packet socket sees.

Such packets must not be redirected, and counting them by a filter needs an action that not every
kernel has; a sample is enough to know who sends much. The kernel draws it, so that the load of
this process stays an eighth.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lasthop.linux.packets import HEADER_BYTES, MOST_AT_ONCE, packet_socket, source_and_length
from lasthop.linux.tc import Address

__all__ = ["SAMPLED", "Counted", "UdpSample"]

SAMPLED = 8
"""One in so many packets is looked at."""
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
        self.sockets = [packet_socket(name, PROGRAM) for name in interfaces]

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
