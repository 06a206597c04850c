"""Congestion controls as BPF objects: from the file of a compiler to a law in force.

An object has a section for each operation and one with the structure of operations, which names
them. The kernel itself finds out where members of its structures lie (CO-RE), so that here the
structure is all that must be laid out as the kernel's.
"""

import errno
import os
import struct
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.linux import bpf
from lasthop.linux.btf import Btf

KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")
OPERATIONS = "tcp_congestion_ops"
ENTRY = f"bpf_struct_ops_{OPERATIONS}"
"""The kernel's type of a map's entry: the operations, and how they are used."""
SECTION = ".struct_ops.link"
NAME_BYTES = 16
"""Room for the name of a congestion control (linux/tcp.h), with a zero at its end."""

ELF = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQ")
SYMBOLS, RELOCATIONS = 2, 9
"""Types of sections (elf.h)."""


class Section(NamedTuple):
    """A section of an object."""

    name: str
    kind: int
    data: bytes
    info: int


@dataclass
class Object:
    """What a compiler for BPF has made of one congestion control.

    Raises
    ------
    ValueError
        If it is something else.
    """

    data: bytes

    def __post_init__(self) -> None:
        identity, _, machine, *_ = header = ELF.unpack_from(self.data)
        if not identity.startswith(b"\x7fELF\x02\x01") or machine != 247:
            raise ValueError("no BPF object of this machine's byte order")
        at, size, count, names = header[6], header[11], header[12], header[13]
        raw = [SECTION_HEADER.unpack_from(self.data, at + k * size) for k in range(count)]
        strings = self.part(raw[names])
        self.sections = [
            Section(text(strings, each[0]), each[1], self.part(each), each[7]) for each in raw
        ]
        (symbols,) = (each for each in raw if each[1] == SYMBOLS)
        named = self.part(raw[symbols[6]])
        entries = SYMBOL.iter_unpack(self.part(symbols))
        self.symbols = [
            (text(named, name), section, value) for name, _, _, section, value, _ in entries
        ]

    def part(self, section: tuple[int, ...]) -> bytes:
        """The bytes of a section, by its header."""
        return self.data[section[4] : section[4] + section[5]]

    def section(self, name: str) -> bytes:
        """The bytes of the section of this name."""
        return next(each.data for each in self.sections if each.name == name)

    def functions(self) -> dict[int, str]:
        """The section of the operation that each place in the structure names."""
        target = [each.name for each in self.sections].index(SECTION)
        found = {}
        for each in self.sections:
            if each.kind == RELOCATIONS and each.info == target:
                for place, info in RELOCATION.iter_unpack(each.data):
                    _, section, _ = self.symbols[info >> 32]
                    found[place] = self.sections[section].name
        return found

    def types(self) -> Btf:
        """Its BTF, with the places of variables, as the kernel wants it."""
        types = Btf(bytearray(self.section(".BTF")))
        for number, each in enumerate(self.sections):
            places = {name: value for name, section, value in self.symbols if section == number}
            types.set_section(each.name, len(each.data), places)
        return types

    def notes(self, types: Btf, part: int) -> dict[str, bytes]:
        """What .BTF.ext says of each section: part 0 of functions, 2 of members of structures."""
        data = self.section(".BTF.ext")
        (header,) = struct.unpack_from("<I", data, 4)
        at, length = struct.unpack_from("<II", data, 8 + 8 * part)
        at += header
        end = at + length
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        found = {}
        while at < end:
            name, count = struct.unpack_from("<II", data, at)
            found[types.text(name)] = data[at + 8 : at + 8 + count * size]
            at += 8 + count * size
        return found


def text(strings: bytes, at: int) -> str:
    """The string at a place among strings."""
    return strings[at : strings.index(0, at)].decode()


@cache
def kernel_types() -> Btf:
    """The types of the running kernel.

    Raises
    ------
    UserError
        If it does not tell them.
    """
    if not sys.platform.startswith("linux"):
        raise UserError(f"congestion controls are loaded into Linux; this is {sys.platform}")
    if sys.byteorder != "little":
        raise UserError("congestion controls: the objects are for little-endian machines")
    try:
        return Btf(bytearray(KERNEL_TYPES.read_bytes()))
    except OSError as error:
        raise UserError(
            f"{KERNEL_TYPES}: {error.strerror}",
            "the kernel must be built with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF",
        ) from None


def load(data: bytes, name: str, law: str) -> int:
    """Put a congestion control into force under a name.

    Parameters
    ----------
    data : bytes
        The object.
    name : str
        At most 15 letters.
    law : str
        What messages call it.

    Returns
    -------
    int
        A descriptor: when it and its copies are closed and no pin is left, the name is gone, and
        the program with the last connection that uses it.

    Raises
    ------
    UserError
        If this process may not, the kernel cannot, or another one has the name.
    """
    kernel = kernel_types()
    try:
        return _load(Object(data), kernel, name)
    except bpf.BpfError as error:
        raise refusal(error, name, law) from None
    except KeyError as error:
        raise UserError(
            f"congestion control {law}: the kernel knows no {error.args[0]}", NEEDS
        ) from None


NEEDS = "needs Linux 6.4 or newer with CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF"


def _load(data: Object, kernel: Btf, name: str) -> int:
    entry, ours = kernel.structure(ENTRY), kernel.structure(OPERATIONS)
    types = data.types()
    own = types.structure(OPERATIONS)
    content, sections = data.section(SECTION), data.functions()
    functions, relocations = data.notes(types, 0), data.notes(types, 2)
    value, data_at = bytearray(entry.size), entry.place("data")
    ends = [each.at_byte for each in own.members[1:]] + [own.size]
    with ExitStack() as stack:
        described = opened(stack, bpf.load_types(bytes(types.data)))
        for member, end in zip(own.members, ends, strict=True):
            at = data_at + ours.place(member.name)
            if (section := sections.get(member.at_byte)) is None:
                length = min(end, member.at_byte + (NAME_BYTES if member.name == "name" else 4))
                value[at : at + length - member.at_byte] = content[member.at_byte : length]
                continue
            number = [each.name for each in ours.members].index(member.name)
            program = bpf.load_operation(
                section.partition("/")[2].partition("_")[2],
                data.section(section),
                number,
                ours.number,
                described,
                functions[section],
                relocations.get(section, b""),
                data.section("license"),
            )
            value[at : at + 8] = struct.pack("<Q", opened(stack, program))
        at = data_at + ours.place("name")
        value[at : at + NAME_BYTES] = name.encode()[: NAME_BYTES - 1].ljust(NAME_BYTES, b"\0")
        operations = opened(stack, bpf.make_operations(name, entry.number, described, bytes(value)))
        return bpf.link(operations, f"congestion control {name}")


def opened(stack: ExitStack, descriptor: int) -> int:
    """A descriptor that is closed with the stack."""
    stack.callback(os.close, descriptor)
    return descriptor


def refusal(error: bpf.BpfError, name: str, law: str) -> UserError:
    """What the kernel refused, in words."""
    if error.errno == errno.EPERM:
        return UserError(
            f"congestion control {law}: this process may not load BPF programs",
            "needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON: be root, not in a user namespace",
        )
    if error.errno == errno.EEXIST:
        return UserError(
            f"congestion control {law}: the kernel has one called {name}",
            "lasthop congestion list says whose it is",
        )
    if error.errno == errno.ENOSYS:
        return UserError(f"congestion control {law}: this kernel has no BPF", NEEDS)
    said = f": {error.log.strip().splitlines()[-1]}" if error.log.strip() else ""
    return UserError(f"congestion control {law}: {error.strerror}{said}", NEEDS)


def named(value: bytes, kernel: Btf) -> str:
    """The name in an entry of operations."""
    at = kernel.structure(ENTRY).place("data") + kernel.structure(OPERATIONS).place("name")
    return text(value + b"\0", at)
