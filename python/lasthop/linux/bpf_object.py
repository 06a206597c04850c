"""Read the object files of a BPF compiler: sections of instructions and data, symbols, types (ELF,
BTF)."""

import struct
from dataclasses import dataclass
from typing import NamedTuple

from lasthop.linux.btf import Btf

ELF = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQ")
SYMBOLS, RELOCATIONS = 2, 9
"""Types of ELF sections (elf.h)."""


class Section(NamedTuple):
    """Section of an object file."""

    name: str
    kind: int
    data: bytes
    info: int


@dataclass
class Object:
    """Object file that a BPF compiler has written.

    Raises
    ------
    ValueError
        If the data is not a BPF object file.
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
        """Return the bytes of the section with this header."""
        return self.data[section[4] : section[4] + section[5]]

    def section(self, name: str) -> bytes:
        """Return the bytes of the section of this name."""
        return next(each.data for each in self.sections if each.name == name)

    def relocations(self, name: str) -> dict[int, tuple[str, str]]:
        """Return the relocations of a section, by their offsets in the section. A relocation
        consists of the name of a symbol and the name of the symbol's section."""
        target = [each.name for each in self.sections].index(name)
        results = {}
        for each in self.sections:
            if each.kind == RELOCATIONS and each.info == target:
                for place, info in RELOCATION.iter_unpack(each.data):
                    symbol, section, _ = self.symbols[info >> 32]
                    results[place] = symbol, self.sections[section].name
        return results

    def types(self) -> Btf:
        """Return the BTF types of the object. The offsets of variables are filled in, as the kernel
        expects."""
        types = Btf(bytearray(self.section(".BTF")))
        for number, each in enumerate(self.sections):
            places = {name: value for name, section, value in self.symbols if section == number}
            types.set_section(each.name, len(each.data), places)
        return types

    def notes(self, types: Btf, part: int) -> dict[str, bytes]:
        """Return the records of .BTF.ext, by the name of the section that the records describe. The
        records with `part` 0 describe functions, the records with `part` 2 describe structure
        members."""
        data = self.section(".BTF.ext")
        (header,) = struct.unpack_from("<I", data, 4)
        at, length = struct.unpack_from("<II", data, 8 + 8 * part)
        at += header
        end = at + length
        if not length:
            return {}
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        results = {}
        while at < end:
            name, count = struct.unpack_from("<II", data, at)
            results[types.text(name)] = data[at + 8 : at + 8 + count * size]
            at += 8 + count * size
        return results


def text(strings: bytes, at: int) -> str:
    """Return the zero-terminated string at an offset of a string table."""
    return strings[at : strings.index(0, at)].decode()
