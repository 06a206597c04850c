"""Classic BPF program that hashes flows into leaves. Both directions of a flow get the same leaf.

The source and destination addresses are combined by exclusive or, and so are the ports. In the ACK
of a segment, source and destination are exchanged. The segment and its ACK therefore have the same
hash.
"""

from typing import TypeAlias

from lasthop.linux.packets import Instruction

__all__ = ["Instruction", "program"]

Marked: TypeAlias = tuple[int, int | str, int | str, int]
"""Instruction of classic BPF whose jump targets may be labels instead of distances."""

LOAD_WORD, LOAD_HALF, LOAD_BYTE = 0x20, 0x28, 0x30
LOAD_WORD_X, LOAD_MEMORY, STORE = 0x40, 0x60, 0x02
LOAD_X_HEADER, TO_X = 0xB1, 0x07
JUMP, JUMP_EQUAL, JUMP_SET = 0x05, 0x15, 0x45
XOR_X, AND, SHIFT_RIGHT, MULTIPLY, MODULO, ADD = 0xAC, 0x54, 0x74, 0x24, 0x94, 0x04
RETURN, RETURN_A = 0x06, 0x16
NETWORK = 0xFFF00000
"""Value that is added to an offset so that the offset is relative to the network header
(SKF_NET_OFF)."""
PROTOCOL = 0xFFFFF000
"""Offset from which an instruction loads the Ethernet type of the packet (SKF_AD_OFF +
SKF_AD_PROTOCOL)."""
IPV4, IPV6, TCP, UDP = 0x0800, 0x86DD, 6, 17
MULTIPLIER = 0x9E3779B1
"""Multiplier of the hash: an odd number close to 2^32 divided by the golden ratio. Neighbouring
keys get distant hashes (Knuth)."""


def program(first: int, leaves: int) -> list[Instruction]:
    """Return the program that hashes a packet to one of several HTB classes. `leaves` is the number
    of these classes, and `first` is the class number of the first."""
    v4: list[Marked] = [
        *words(12, 16),
        (STORE, 0, 0, 0),
        (LOAD_HALF, 0, 0, NETWORK + 6),
        (JUMP_SET, "finish", "next", 0x1FFF),  # only the first fragment contains ports
        (LOAD_BYTE, 0, 0, NETWORK + 9),
        (JUMP_EQUAL, "skip", "next", TCP),
        (JUMP_EQUAL, "next", "finish", UDP),
        (LOAD_X_HEADER, 0, 0, NETWORK),
        (LOAD_WORD_X, 0, 0, NETWORK),
        (JUMP, "ports", 0, 0),
    ]
    v6: list[Marked] = [
        *words(*range(8, 40, 4)),
        (STORE, 0, 0, 0),
        (LOAD_BYTE, 0, 0, NETWORK + 6),
        (JUMP_EQUAL, "skip", "next", TCP),
        (JUMP_EQUAL, "next", "finish", UDP),
        (LOAD_WORD, 0, 0, NETWORK + 40),
    ]
    ports: list[Marked] = [
        (TO_X, 0, 0, 0),
        (SHIFT_RIGHT, 0, 0, 16),
        (XOR_X, 0, 0, 0),
        (AND, 0, 0, 0xFFFF),
        (TO_X, 0, 0, 0),
        (LOAD_MEMORY, 0, 0, 0),
        (XOR_X, 0, 0, 0),
        (STORE, 0, 0, 0),
    ]
    finish: list[Marked] = [
        (LOAD_MEMORY, 0, 0, 0),
        (MULTIPLY, 0, 0, MULTIPLIER),
        (SHIFT_RIGHT, 0, 0, 16),
        (MODULO, 0, 0, leaves),
        (ADD, 0, 0, first),
        (RETURN_A, 0, 0, 0),
    ]
    start: list[Marked] = [
        (LOAD_WORD, 0, 0, PROTOCOL),
        (JUMP_EQUAL, "next", "v6?", IPV4),
        *v4,
        (JUMP_EQUAL, "next", "none", IPV6),
        *v6,
    ]
    parts = [*start, *ports, *finish, (RETURN, 0, 0, 0)]
    marks = {
        "v6?": 2 + len(v4),
        "ports": len(start),
        "finish": len(start) + len(ports),
        "none": len(parts) - 1,
    }
    return [resolved(at, each, marks) for at, each in enumerate(parts)]


def words(*offsets: int) -> list[Marked]:
    """Return the instructions that load 32-bit words of the network header and combine them by
    exclusive or."""
    loads: list[Marked] = [(LOAD_WORD, 0, 0, NETWORK + offsets[0])]
    for offset in offsets[1:]:
        loads += [(TO_X, 0, 0, 0), (LOAD_WORD, 0, 0, NETWORK + offset), (XOR_X, 0, 0, 0)]
    return loads


def resolved(at: int, instruction: Marked, marks: dict[str, int]) -> Instruction:
    """Return an instruction whose labels are replaced by jump offsets."""
    code, yes, no, operand = instruction
    near = {"next": 0, "skip": 1}

    def distance(target: int | str) -> int:
        return near[target] if target in near else marks[str(target)] - at - 1

    if code == JUMP:
        return code, 0, 0, distance(yes)
    if code in (JUMP_EQUAL, JUMP_SET):
        return code, distance(yes), distance(no), operand
    return code, int(yes), int(no), operand
