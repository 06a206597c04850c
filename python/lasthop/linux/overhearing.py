"""Stations that do not answer pings, heard by their flows: looks at the packets of an interface.

Packets are captured after every queue of the gateway, with time stamps of the kernel. For each
station a look takes a few segments, then waits for the ACKs that cover them; the kernel's filter
lets nothing else through: up to `MOST_SEEN` packets until segments are taken, then as many of what
covers them or is sent again. With one look each 100 ms that is 640 packets a second, whatever the
rate of the flow; what passes between two readings finds a buffer of 1 MB. Where nobody is listened
to the filter lets nothing through, and after a while the socket is closed.
"""

import errno
import socket
import time
from collections.abc import Collection, Iterator, Mapping

from lasthop.linux.packets import MOST_AT_ONCE, Instruction, attach, packet_socket
from lasthop.linux.ping import SO_TIMESTAMPNS, Clock, arrival_s
from lasthop.linux.segments import LARGEST_WINDOW, MOST_SEEN, RoundTrip, RoundTripProbe, parsed
from lasthop.linux.tc import Address

OUTGOING = 4
"""Type of a packet that leaves (linux/if_packet.h)."""
HEADERS_BYTES = 128
"""Part of a packet that is read: the longest headers of IP and TCP."""
BUFFER_BYTES = 1 << 20
MOST_INSTRUCTIONS = 4096
"""The longest program that the kernel takes (BPF_MAXINSNS)."""
KEPT_S = 10.0
"""A socket that nobody needs is kept for so long, since closing one waits for the kernel. [s]"""

# Classic BPF; packets begin with the IP header. Codes are those of linux/filter.h.
REFUSE: Instruction = (0x06, 0, 0, 0)
TAKE: Instruction = (0x06, 0, 0, HEADERS_BYTES)
TYPE, PROTOCOL = 0xFFFFF004, 0xFFFFF000
NEXT, YES = -1, -2
"""Jumps to the end of a block, and to its last instruction, which accepts the packet."""
Block = list[tuple[int, int, int, int]]


class Overhearing:
    """Captures segments of stations at an interface.

    Parameters
    ----------
    interface : str
    clock : Clock, optional
    """

    def __init__(self, interface: str, clock: Clock | None = None) -> None:
        self.clock = Clock() if clock is None else clock
        self.looks: dict[str, RoundTripProbe] = {}
        """Looks by station."""
        self.addresses: dict[str, Collection[Address]] = {}
        self.needed_s = time.monotonic()
        """When it was last needed, on the clock that never jumps."""
        self.program: list[Instruction] = [REFUSE]
        self.most = MOST_INSTRUCTIONS
        """Instructions that the kernel takes: it bounds their memory too (net.core.optmem_max)."""
        self.socket = packet_socket(interface, self.program, BUFFER_BYTES)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def listen(self, stations: Mapping[str, Collection[Address]]) -> None:
        """Take segments to these stations from now on, and to no others; what has been taken is
        waited for.
        """
        now_s = time.time()  # as the kernel's stamps are
        for name, look in list(self.looks.items()):
            if name not in stations:
                look.close()
            if look.is_over or look.is_late(now_s):
                del self.looks[name]
        for name in stations:
            self.looks.setdefault(name, RoundTripProbe())
        self.addresses = {name: stations.get(name) or self.addresses[name] for name in self.looks}
        self.attach()

    def attach(self) -> None:
        """Let the kernel hand over what is waited for, and no other packet."""
        if self.looks:
            self.needed_s = time.monotonic()
        while (program := program_for(self.looks, self.addresses, self.most)) != self.program:
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
        """Whether nobody has needed it for a while."""
        return not self.looks and time.monotonic() - self.needed_s > KEPT_S

    def heard(self) -> Iterator[tuple[str, RoundTrip]]:
        """Round trips that have been completed, by station, on the clock that never jumps.

        None counts if the clock has been set since the last look: which stamps are before that?
        """
        by_address = {a: name for name, each in self.addresses.items() for a in each}
        results = []
        for _ in range(MOST_AT_ONCE):
            try:
                packet, ancillary, _, (_, _, kind, *_) = self.socket.recvmsg(HEADERS_BYTES, 64)
            except OSError:
                break  # empty, or the interface is gone; the gateway finds out by itself
            if (segment := parsed(packet)) is None:
                continue
            leaves = kind == OUTGOING
            name = by_address.get(segment.destination if leaves else segment.source)
            look = self.looks.get(name or "")
            if name is None or look is None or look.is_over:
                continue
            at_s = arrival_s(ancillary)
            if leaves:
                look.leaves(segment, at_s)
            elif (trip := look.returns(segment, at_s)) is not None:
                results.append((name, trip))
        self.attach()
        if self.clock.look():
            self.looks.clear()
            return
        for name, trip in results:
            yield name, trip._replace(sent_s=self.clock.monotonic_s(trip.sent_s))


def program_for(
    looks: Mapping[str, RoundTripProbe],
    addresses: Mapping[str, Collection[Address]],
    most: int = MOST_INSTRUCTIONS,
) -> list[Instruction]:
    """What lets through the packets that these looks wait for, as many as the kernel takes."""
    program: list[Instruction] = []
    for name, look in looks.items():
        if look.is_over or look.seen >= 2 * MOST_SEEN:
            continue
        if look.is_open:
            blocks = [all_of(address) for address in addresses[name]]
        else:
            blocks = [ack_of(look), again_of(look)]
        more = [each for block in blocks for each in placed(block)]
        if len(program) + len(more) < most:
            program += more
    return [*program, REFUSE]


def placed(block: Block) -> list[Instruction]:
    """Return a block with its jumps; the next block follows it."""

    def distance(jump: int, at: int) -> int:
        ends = {NEXT: len(block) + 1, YES: len(block)}
        return ends[jump] - at - 1 if jump in ends else jump

    counted = [
        (code, distance(yes, at), distance(no, at), operand)
        for at, (code, yes, no, operand) in enumerate(block)
    ]
    return [*counted, TAKE]


def of_tcp(address: Address) -> Block:
    """Whether a packet is a TCP segment of this family, and no fragment."""
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
    """Whether the address at an offset is this one."""
    words = [address.packed[k : k + 4] for k in range(0, len(address.packed), 4)]
    block: Block = []
    for k, word in enumerate(words):
        block += [(0x20, 0, 0, at + 4 * k), (0x15, 0, NEXT, int.from_bytes(word))]
    return block


def all_of(address: Address) -> Block:
    """Whether a packet is of TCP from this address, or to it if it leaves."""
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


def is_flow(look: RoundTripProbe, *, leaves: bool) -> Block:
    """Whether a packet is of a look's flow, and its direction this one; X is where TCP begins."""
    assert look.flow is not None
    station, station_port, _, other_port = look.flow
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


def ack_of(look: RoundTripProbe) -> Block:
    """Whether a packet covers the first segment that is waited for."""
    return [
        *is_flow(look, leaves=False),
        (0x40, 0, 0, 8),
        (0x14, 0, 0, look.taken[0].end),
        (0x25, NEXT, 0, LARGEST_WINDOW),
    ]


def again_of(look: RoundTripProbe) -> Block:
    """Whether a packet of the flow is sent again."""
    return [
        *is_flow(look, leaves=True),
        (0x40, 0, 0, 4),
        (0x14, 0, 0, look.highest),
        (0x45, 0, NEXT, 1 << 31),
    ]
