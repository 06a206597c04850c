"""Measure round-trip times of stations that do not answer pings, from captured TCP segments.

Packets are captured after every queue of the gateway, with time stamps of the kernel. For each
station, a probe first records a few segments, and then waits for the ACKs that cover these
segments. The filter program in the kernel accepts no other packets. A probe receives at most
`MAX_SEEN` packets until its segments are recorded, then at most `MAX_SEEN` ACKs or
retransmissions. With one probe every 100 ms, at most 640 packets per second are captured, for any
rate of the flow. All packets between two reads fit into a buffer of 1 MB. While no station is
observed, the filter program accepts no packets, and after `KEPT_S` the socket is closed.
"""

import errno
import socket
import time
from collections.abc import Collection, Iterator, Mapping

from lasthop.linux.packets import MAX_AT_ONCE, Instruction, attach, packet_socket
from lasthop.linux.ping import SO_TIMESTAMPNS, Clock, arrival_s
from lasthop.linux.segments import LARGEST_WINDOW, MAX_SEEN, RoundTrip, RoundTripProbe, parsed
from lasthop.linux.tc import Address

OUTGOING = 4
"""Value of the packet type for outgoing packets (linux/if_packet.h)."""
HEADERS_BYTES = 128
"""Number of bytes of a packet that are read, enough for the longest IP and TCP headers. [bytes]"""
BUFFER_BYTES = 1 << 20
MAX_INSTRUCTIONS = 4096
"""Largest number of instructions in a program that the kernel accepts (BPF_MAXINSNS)."""
KEPT_S = 10.0
"""Time for which an unused socket stays open, since closing a socket blocks until the kernel has
released it. [s]"""

# Classic BPF instruction that rejects the packet. A packet begins with its IP header. Instruction
# codes are those of linux/filter.h.
REFUSE: Instruction = (0x06, 0, 0, 0)
TAKE: Instruction = (0x06, 0, 0, HEADERS_BYTES)
TYPE, PROTOCOL = 0xFFFFF004, 0xFFFFF000
NEXT, YES = -1, -2
"""Placeholders for two jump targets in a block of instructions: the first instruction after the
block, and the last instruction of the block. The last instruction accepts the packet.
"""
Block = list[tuple[int, int, int, int]]


class Overhearing:
    """Capture of TCP segments of stations at an interface.

    Parameters
    ----------
    interface : str
    clock : Clock, optional
    """

    def __init__(self, interface: str, clock: Clock | None = None) -> None:
        self.clock = Clock() if clock is None else clock
        self.probes: dict[str, RoundTripProbe] = {}
        """Probe of each observed station, by the station's name."""
        self.addresses: dict[str, Collection[Address]] = {}
        self.needed_s = time.monotonic()
        """Last time at which the socket was needed, because there was at least one probe. At first
        the time of creation. Times are on the monotonic clock. [s]"""
        self.program: list[Instruction] = [REFUSE]
        self.most = MAX_INSTRUCTIONS
        """Largest number of instructions in the filter program. The kernel also limits the
        program's memory (net.core.optmem_max)."""
        self.socket = packet_socket(interface, self.program, BUFFER_BYTES)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def listen(self, stations: Mapping[str, Collection[Address]]) -> None:
        """From now on, record segments to exactly these stations. Probes of other stations that
        already wait for ACKs continue.
        """
        now_s = time.time()  # the clock of the kernel's time stamps
        for name, probe in list(self.probes.items()):
            if name not in stations:
                probe.close()
            if probe.is_over or probe.is_late(now_s):
                del self.probes[name]
        for name in stations:
            self.probes.setdefault(name, RoundTripProbe())
        self.addresses = {name: stations.get(name) or self.addresses[name] for name in self.probes}
        self.attach()

    def attach(self) -> None:
        """Set the filter program, so that the kernel delivers only packets for which a probe
        waits."""
        if self.probes:
            self.needed_s = time.monotonic()
        while (program := program_for(self.probes, self.addresses, self.most)) != self.program:
            try:
                attach(self.socket, program)
            except OSError as error:
                if error.errno != errno.ENOMEM or len(program) == 1:
                    raise
                self.most = len(program) // 2
            else:
                self.program = program

    @property
    def is_idle(self) -> bool:
        """Return whether the socket has been unused for `KEPT_S`."""
        return not self.probes and time.monotonic() - self.needed_s > KEPT_S

    def heard(self) -> Iterator[tuple[str, RoundTrip]]:
        """Yield each measured round trip with the name of its station. Times are on the monotonic
        clock.

        If the wall clock was set since the last call, all round trips are discarded, since some
        time stamps may be from before the change.
        """
        by_address = {a: name for name, each in self.addresses.items() for a in each}
        results = []
        for _ in range(MAX_AT_ONCE):
            try:
                packet, ancillary, _, (_, _, kind, *_) = self.socket.recvmsg(HEADERS_BYTES, 64)
            except OSError:
                break  # no packet is waiting, or the interface was removed
            if (segment := parsed(packet)) is None:
                continue
            leaves = kind == OUTGOING
            name = by_address.get(segment.destination if leaves else segment.source)
            probe = self.probes.get(name or "")
            if name is None or probe is None or probe.is_over:
                continue
            at_s = arrival_s(ancillary)
            if leaves:
                probe.leaves(segment, at_s)
            elif (trip := probe.returns(segment, at_s)) is not None:
                results.append((name, trip))
        self.attach()
        if self.clock.compare():
            self.probes.clear()
            return
        for name, trip in results:
            yield name, trip._replace(sent_s=self.clock.monotonic_s(trip.sent_s))


def program_for(
    probes: Mapping[str, RoundTripProbe],
    addresses: Mapping[str, Collection[Address]],
    most: int = MAX_INSTRUCTIONS,
) -> list[Instruction]:
    """Return the filter program that accepts the packets of these probes. Probes that exceed the
    kernel's limit of instructions are left out."""
    program: list[Instruction] = []
    for name, probe in probes.items():
        if probe.is_over or probe.seen >= 2 * MAX_SEEN:
            continue
        if probe.is_open:
            blocks = [all_of(address) for address in addresses[name]]
        else:
            blocks = [ack_of(probe), again_of(probe)]
        more = [each for block in blocks for each in placed(block)]
        if len(program) + len(more) < most:
            program += more
    return [*program, REFUSE]


def placed(block: Block) -> list[Instruction]:
    """Return the instructions of a block followed by the instruction that accepts the packet.
    Placeholders are replaced by jump distances."""

    def distance(jump: int, at: int) -> int:
        ends = {NEXT: len(block) + 1, YES: len(block)}
        return ends[jump] - at - 1 if jump in ends else jump

    counted = [
        (code, distance(yes, at), distance(no, at), operand)
        for at, (code, yes, no, operand) in enumerate(block)
    ]
    return [*counted, TAKE]


def of_tcp(address: Address) -> Block:
    """Return the instructions that continue if the packet is a TCP segment and has the IP version
    of `address`. IPv4 fragments are rejected."""
    if address.version == 4:
        return [
            (0x20, 0, 0, PROTOCOL),
            (0x15, 0, NEXT, 0x0800),
            (0x30, 0, 0, 9),
            (0x15, 0, NEXT, 6),
            (0x28, 0, 0, 6),
            (0x45, NEXT, 0, 0x3FFF),
        ]
    return [
        (0x20, 0, 0, PROTOCOL),
        (0x15, 0, NEXT, 0x86DD),
        (0x30, 0, 0, 6),
        (0x15, 0, NEXT, 6),
    ]


def is_address(address: Address, at: int) -> Block:
    """Return the instructions that continue if the packet contains this IP address at the offset
    `at`. [bytes]"""
    words = [address.packed[k : k + 4] for k in range(0, len(address.packed), 4)]
    block: Block = []
    for k, word in enumerate(words):
        block += [(0x20, 0, 0, at + 4 * k), (0x15, 0, NEXT, int.from_bytes(word))]
    return block


def all_of(address: Address) -> Block:
    """Return the instructions that continue if the packet is a TCP packet from this address
    (incoming) or to this address (outgoing)."""
    source, destination = (12, 16) if address.version == 4 else (8, 24)
    from_it, to_it = is_address(address, source), is_address(address, destination)
    return [
        *of_tcp(address),
        (0x20, 0, 0, TYPE),
        (0x15, 0, len(to_it) + 1, OUTGOING),
        *to_it,
        (0x05, 0, 0, len(from_it)),
        *from_it,
    ]


def is_flow(probe: RoundTripProbe, *, leaves: bool) -> Block:
    """Return the instructions that continue if the packet belongs to a probe's flow, in one
    direction. If `leaves` is true, this is the direction to the station. Register X then contains
    the offset of the TCP header."""
    assert probe.flow is not None
    station, station_port, _, other_port = probe.flow
    at, ports = 8 if station.version == 6 else 12, [station_port, other_port]
    if leaves:
        at += len(station.packed)
        ports.reverse()
    block = [
        *of_tcp(station),
        (0x20, 0, 0, TYPE),
        (0x15, 0, NEXT, OUTGOING) if leaves else (0x15, NEXT, 0, OUTGOING),
        *is_address(station, at),
        (0xB1, 0, 0, 0) if station.version == 4 else (0x01, 0, 0, 40),
    ]
    for k, port in enumerate(ports):
        block += [(0x48, 0, 0, 2 * k), (0x15, 0, NEXT, port)]
    return block


def ack_of(probe: RoundTripProbe) -> Block:
    """Return the instructions that continue if the packet acknowledges the first recorded segment
    of a probe."""
    return [
        *is_flow(probe, leaves=False),
        (0x40, 0, 0, 8),
        (0x14, 0, 0, probe.taken[0].end),
        (0x25, NEXT, 0, LARGEST_WINDOW),
    ]


def again_of(probe: RoundTripProbe) -> Block:
    """Return the instructions that continue if the packet is a retransmission in a probe's flow."""
    return [
        *is_flow(probe, leaves=True),
        (0x40, 0, 0, 4),
        (0x14, 0, 0, probe.highest),
        (0x45, 0, NEXT, 1 << 31),
    ]
