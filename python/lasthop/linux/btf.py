"""Read BTF: type information of a kernel or of a BPF object. See Linux,
Documentation/bpf/btf.rst."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

HEADER = struct.Struct("<HBBIIIII")
"""Layout of the BTF header: magic number, version, flags, header length, offset and length of
types, offset and length of strings. [bytes]"""
MAGIC = 0xEB9F
TYPE = struct.Struct("<III")
"""Layout of a type in BTF: name, kind with number of members, size or referenced type."""
MEMBER = struct.Struct("<III")
"""Layout of a structure member in BTF: name, type, and offset in bits."""
VARIABLE = struct.Struct("<III")
"""Layout of a variable in a section of BTF: type, and offset and size in bytes."""

INT, ARRAY, STRUCT, UNION, ENUM, FUNC_PROTO, VAR = 1, 3, 4, 5, 6, 13, 14
DATASEC, DECL_TAG, ENUM64 = 15, 17, 19
BEHIND = {
    INT: (4, 0),
    ARRAY: (12, 0),
    STRUCT: (0, 12),
    UNION: (0, 12),
    ENUM: (0, 8),
    FUNC_PROTO: (0, 8),
    VAR: (4, 0),
    DATASEC: (0, 12),
    DECL_TAG: (4, 0),
    ENUM64: (0, 12),
}
"""Number of bytes that follow the record of a type, by the kind of the type. The first number is
fixed; the second number is per member of the type. No bytes follow the records of other kinds."""


class Member(NamedTuple):
    """Member of a C structure."""

    name: str
    at_byte: int


class Structure(NamedTuple):
    """C structure: its BTF number, its size [bytes], and its members in order."""

    number: int
    size: int
    members: list[Member]

    def place(self, name: str) -> int:
        """Return the offset of a member. [bytes]

        Raises
        ------
        KeyError
            If the structure has no such member.
        """
        for each in self.members:
            if each.name == name:
                return each.at_byte
        raise KeyError(name)


@dataclass
class Btf:
    """BTF type information: types and their names.

    Raises
    ------
    ValueError
        If the data is not BTF.
    """

    data: bytearray

    def __post_init__(self) -> None:
        magic, _, _, header, types, types_length, strings, self.strings_length = HEADER.unpack_from(
            self.data
        )
        if magic != MAGIC:
            raise ValueError("no BTF of this machine's byte order")
        self.types_at, self.types_end = header + types, header + types + types_length
        self.strings_at = header + strings

    @cached_property
    def places(self) -> list[int]:
        """Offset of each type in the data, by the type's number. Type 0 does not exist. [bytes]"""
        result, at, data = [0], self.types_at, self.data
        unpack, behind, nothing = TYPE.unpack_from, BEHIND, (0, 0)
        while at < self.types_end:
            result.append(at)
            info = unpack(data, at)[1]
            fixed, each = behind.get(info >> 24 & 31, nothing)
            at += 12 + fixed + each * (info & 0xFFFF)
        return result

    def text(self, at: int) -> str:
        """Return the string at an offset of the string table."""
        begin = self.strings_at + at
        return self.data[begin : self.data.index(0, begin)].decode()

    def structure(self, name: str) -> Structure:
        """Return the structure of this name.

        Raises
        ------
        KeyError
            If no structure has this name.
        """
        end = self.strings_at + self.strings_length
        string = self.data.find(b"\0" + name.encode() + b"\0", self.strings_at, end)
        wanted = string + 1 - self.strings_at
        for number, at in enumerate(self.places[1:] if string >= 0 else (), 1):
            named, info, size = TYPE.unpack_from(self.data, at)
            if named == wanted and info >> 24 & 31 == STRUCT:
                members = [
                    MEMBER.unpack_from(self.data, at + 12 + 12 * k) for k in range(info & 0xFFFF)
                ]
                placed = [Member(self.text(n), (bits & 0xFFFFFF) // 8) for n, _, bits in members]
                return Structure(number, size, placed)
        raise KeyError(name)

    def numbers(self, variable: str) -> dict[str, int]:
        """Return the properties of a map, such as its number of entries. In BTF, a variable
        describes the map, and encodes each property as the length of an array.

        Raises
        ------
        KeyError
            If the variable does not exist.
        """
        for at in self.places[1:]:
            name, info, of = TYPE.unpack_from(self.data, at)
            if info >> 24 & 31 == VAR and self.text(name) == variable:
                return dict(self.lengths(of))
        raise KeyError(variable)

    def lengths(self, structure: int) -> Iterator[tuple[str, int]]:
        """Yield each structure member that points to an array: its name, and the array's length."""
        at = self.places[structure]
        for k in range(TYPE.unpack_from(self.data, at)[1] & 0xFFFF):
            name, pointer, _ = MEMBER.unpack_from(self.data, at + 12 + 12 * k)
            array = self.places[TYPE.unpack_from(self.data, self.places[pointer])[2]]
            if TYPE.unpack_from(self.data, array)[1] >> 24 & 31 == ARRAY:
                _, _, length = MEMBER.unpack_from(self.data, array + 12)
                yield self.text(name), length

    def set_section(self, name: str, size: int, places: dict[str, int]) -> None:
        """Fill in the size of a section of variables, and the offsets of its variables. Compilers
        leave these fields empty."""
        for at in self.places[1:]:
            named, info, _ = TYPE.unpack_from(self.data, at)
            if info >> 24 & 31 != DATASEC or self.text(named) != name:
                continue
            struct.pack_into("<I", self.data, at + 8, size)
            for k in range(info & 0xFFFF):
                entry = at + 12 + 12 * k
                number, _, length = VARIABLE.unpack_from(self.data, entry)
                variable = self.text(TYPE.unpack_from(self.data, self.places[number])[0])
                VARIABLE.pack_into(self.data, entry, number, places[variable], length)
