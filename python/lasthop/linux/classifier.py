"""A BPF program that accepts or drops packets in front of a queue, with its maps.

The program is attached to a queueing discipline as a classifier (cls_bpf). The maps exist as long
as the program. Other processes can open the program and its maps through their identifiers in the
kernel.
"""

import os
import struct
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

from lasthop.linux import bpf, tc
from lasthop.linux.bpf_object import Object
from lasthop.linux.btf import Btf, Structure
from lasthop.linux.netlink import Request, text_attribute, u32_attribute

SECTION = "classifier"
FUNCTIONS = ".text"
MAPS = ".maps"
FUNCTION, MEMBER = struct.Struct("<II"), struct.Struct("<IIII")
"""Layouts of two kinds of records in .BTF.ext: a record about a function, and a record about a
structure member. The first field of either record is an offset."""
DIRECT_ACTION = 1
"""Flag of cls_bpf: the return value of the program decides whether the packet is accepted."""


@dataclass
class Classifier:
    """Loaded BPF program, and its maps.

    Parameters
    ----------
    data : bytes
        Content of the object file.
    name : str
        Name of the program in the kernel; at most 15 letters.
    section : str, optional
        The section of the object file that contains the program.
    shared : mapping, optional
        Descriptors of maps that another program of the same object file has created, by the maps'
        names. This program uses these maps instead of creating maps with the same names, and does
        not close their descriptors.

    Raises
    ------
    BpfError
        If the kernel refuses the program or a map.
    """

    data: bytes
    name: str
    section: str = SECTION
    shared: Mapping[str, int] = field(default_factory=dict)
    maps: dict[str, int] = field(default_factory=dict)
    program: int = -1

    def __post_init__(self) -> None:
        with ExitStack() as stack:
            self.load(stack)
            self.files = stack.pop_all()

    def load(self, stack: ExitStack) -> None:
        """Create the maps and load the program. `stack` closes the descriptors of the program and
        the maps."""
        data, types = self.object, self.types
        code, named = linked(data, self.section)
        for name in dict.fromkeys(name for name, section in named.values() if section == MAPS):
            if name in self.shared:
                self.maps[name] = self.shared[name]
                continue
            made = bpf.make_map(name, shape_of(types, name))
            stack.callback(os.close, made)
            self.maps[name] = made
        for place, (name, section) in named.items():
            if section == MAPS:
                assert code[place] == bpf.MAP_INSTRUCTION
                code[place + 1] = code[place + 1] & 0x0F | bpf.PSEUDO_MAP << 4
                struct.pack_into("<I", code, place + 4, self.maps[name])
        described = bpf.load_types(bytes(types.data))
        begin = len(data.section(self.section))
        functions = moved(
            data.notes(types, 0), FUNCTION, self.section, begin, bpf.INSTRUCTION_BYTES
        )
        relocations = moved(data.notes(types, 2), MEMBER, self.section, begin, 1)
        try:
            self.program = bpf.load_program(
                bpf.Program(
                    self.name,
                    bpf.CLASSIFIER,
                    bytes(code),
                    described,
                    functions,
                    relocations,
                    data.section("license"),
                )
            )
        finally:
            os.close(described)
        stack.callback(os.close, self.program)

    @cached_property
    def object(self) -> Object:
        """Compiled object file of the program."""
        return Object(self.data)

    @cached_property
    def types(self) -> Btf:
        """BTF types in the object file."""
        return self.object.types()

    def structure(self, name: str) -> Structure:
        """Return a C structure of the program by its name."""
        return self.types.structure(name)

    def close(self) -> None:
        """Close the descriptors of the program and the maps. An attached program and its maps
        remain."""
        self.files.close()


def linked(data: Object, program: str = SECTION) -> tuple[bytearray, dict[int, tuple[str, str]]]:
    """Return the instructions of the program and of the functions that it calls, and the
    relocations of these instructions by offset. A relocation consists of the name of a symbol and
    the name of the symbol's section."""
    own, functions = data.section(program), data.section(FUNCTIONS)
    code = bytearray(own + functions)
    named = data.relocations(program)
    named |= {len(own) + at: each for at, each in data.relocations(FUNCTIONS).items()}
    values = {name: value for name, _, value in data.symbols}
    for place, (name, section) in named.items():
        if section == FUNCTIONS:
            to = len(own) + values[name] - place - bpf.INSTRUCTION_BYTES
            struct.pack_into("<i", code, place + 4, to // bpf.INSTRUCTION_BYTES)
    return code, named


def moved(
    notes: dict[str, bytes], form: struct.Struct, program: str, begin: int, unit: int
) -> bytes:
    """Return the .BTF.ext records of the program and of the functions after it, with new offsets.

    For some records, the kernel expects offsets in bytes, and `unit` is 1. For other records, the
    kernel expects offsets in instructions, and `unit` is the length of an instruction. [bytes]
    """
    result = b""
    for section, before in ((program, 0), (FUNCTIONS, begin)):
        for place, *rest in form.iter_unpack(notes.get(section, b"")):
            result += form.pack((before + place) // unit, *rest)
    return result


def shape_of(types: Btf, name: str) -> bpf.MapShape:
    """Return the properties of a map from its definition in the object file."""
    numbers = types.numbers(name)
    return bpf.MapShape(
        numbers["type"],
        numbers["key_size"],
        numbers["value_size"],
        numbers["max_entries"],
        numbers.get("map_flags", 0),
    )


def attach(device: tc.Device, parent: int, program: int, name: str, path: str) -> Request:
    """Return the request that attaches a program to a queueing discipline.

    `path` is the path of the object file that the equivalent `tc` command names.
    """
    options = u32_attribute(tc.BPF_FD, program) + text_attribute(tc.BPF_NAME, name)
    options += u32_attribute(tc.BPF_FLAGS, DIRECT_ACTION)
    words = (
        f"{device.words()} parent {tc.shown(parent)} protocol all prio 1 handle 1 "
        f"bpf direct-action object-file {path} section {SECTION}"
    )
    return tc.add_filter(device.header(1, parent, tc.EVERY_PACKET), "bpf", options, words)
