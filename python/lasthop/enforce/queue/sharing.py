"""Virtual buffer sharing (VBS) in front of a queue: the BPF program, its settings and its counters.

The program is `crates/bpf/sharing.bpf.c`. It runs the engine's algorithms in integer arithmetic.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lasthop.enforce.queue.config import LinkQueue, Members
from lasthop.enforce.queue.program import Program
from lasthop.linux import bpf
from lasthop.linux.links import ETHERNET
from lasthop.linux.tc import Subnet
from lasthop.scenario.queues import Vbs

ALGORITHMS = {"corrected": 0, "printed": 1, "regulated": 2, "partition": 3}
HELD = 4
"""Number that means "no algorithm": another process sets the blocking probabilities, and the BPF
program does not change them.
"""
PART = 1 << 32
"""Integer by which the BPF program represents the value 1 of a share or probability."""
PACKET = 1 << 24
"""Integer by which the BPF program represents a target occupancy of one packet."""
PACKETS2 = 1 << 32
MOST = (1 << 64) - 1
ETHERNET_BYTES = 14
SETTING = struct.Struct("=IIIIQQQ")
"""Layout of the settings: algorithm, number of classes, queue limit, header length, target
occupancy, tolerance, time between updates."""
CLASS = struct.Struct("=8Q")
WORD = struct.Struct("=Q")
TARGET_AT, BLOCKING_AT = 0, 8
"""Offsets of two fields from the beginning of a class's state: the target share and the blocking
probability. [bytes]"""
PREFIX = struct.Struct("=IB16s3x")
"""Layout of a prefix: number of significant bits, IP version, address (struct prefix of
sharing.bpf.c)."""
NONE = 63
"""Index of the state that counts packets which belong to no class."""


class ClassState(NamedTuple):
    """State of a class in the BPF program (struct class of sharing.h)."""

    target: int
    blocking: int
    integral: int
    last_ns: int
    offered: int
    lost: int
    left: int
    entered_bytes: int

    @property
    def packets(self) -> int:
        """Number of packets of the class that are now in the queue."""
        return self.offered - self.lost - self.left


class Sharing(Program):
    """The BPF program of VBS with its maps, for one interface.

    Parameters
    ----------
    wanted : LinkQueue
        Settings of a queue with discipline `vbs`.
    hardware : int
        Hardware type of the interface (ARPHRD), which determines the length of the packet header.

    Raises
    ------
    UserError
        If the kernel refuses the program.
    """

    def __init__(self, wanted: LinkQueue, hardware: int) -> None:
        super().__init__("sharing", "shared", "virtual buffer sharing")
        self.header_bytes = ETHERNET_BYTES if hardware == ETHERNET else 0
        self.members: dict[tuple[str, bytes], int] = {}
        self.apply(wanted)

    def apply(self, wanted: LinkQueue) -> None:
        """Apply settings, targets and members of classes to the running program. The counters are
        not changed."""
        self.tell(self.structure.place("setting"), SETTING.pack(*self.setting(wanted)))
        for number, each in enumerate(wanted.classes):
            self.tell(self.class_at(number) + TARGET_AT, WORD.pack(int(each.target * PART)))
        members = dict(keys_of(wanted.classes))
        for (name, key), number in members.items():
            if self.members.get((name, key)) != number:
                bpf.update(self.classifier.maps[name], key, struct.pack("=I", number))
        for name, key in self.members.keys() - members.keys():
            bpf.delete(self.classifier.maps[name], key)
        self.members = members

    def setting(self, wanted: LinkQueue) -> tuple[int, ...]:
        """Return the values of `SETTING` for the program."""
        vbs = wanted.queue
        assert isinstance(vbs, Vbs)
        return (
            ALGORITHMS[vbs.algorithm],
            len(wanted.classes),
            wanted.queue_packets,
            self.header_bytes,
            round(vbs.occupancy * wanted.queue_packets * PACKET),
            min(int(vbs.tol_packets2 * PACKETS2), MOST),
            round((vbs.update_s or 0.0) * 1e9),
        )

    def hold(self, probabilities: list[float]) -> None:
        """Use these blocking probabilities from now on, without an algorithm that changes them."""
        self.tell(self.structure.place("setting"), struct.pack("=I", HELD))
        for number, each in enumerate(probabilities):
            self.tell(self.class_at(number) + BLOCKING_AT, WORD.pack(round(each * PART)))

    def class_at(self, number: int) -> int:
        """Return the offset of a class's state in the value of the BPF map. [bytes]"""
        return self.structure.place("class") + number * CLASS.size

    def states(self, count: int) -> list[ClassState]:
        """Return the states of the first `count` classes, and the state of packets that belong to
        no class."""
        return [
            ClassState(*CLASS.unpack_from(self.value, self.class_at(number)))
            for number in (*range(count), NONE)
        ]


def keys_of(classes: tuple[Members, ...]) -> Iterator[tuple[tuple[str, bytes], int]]:
    """Yield an entry for each member of the classes: the name of the BPF map, the key, and the
    index of the member's class."""
    for number, each in enumerate(classes):
        if each.mark is not None:
            yield ("marks", struct.pack("=I", each.mark)), number
        for mac in each.macs:
            yield ("macs", bytes.fromhex(mac.replace(":", "")) + bytes(2)), number
        for subnet in each.subnets:
            yield ("prefixes", prefix_of(subnet)), number


def prefix_of(subnet: Subnet) -> bytes:
    """Return the map key of a prefix, whose first eight bits are the IP version."""
    return PREFIX.pack(8 + subnet.prefixlen, subnet.version, subnet.network_address.packed)
