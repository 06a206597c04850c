"""The system call bpf(2), as far as programs and maps of ours need it (linux/bpf.h)."""

import ctypes
import errno
import os
import platform
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

from lasthop.linux.syscalls import libc

NUMBER = {"x86_64": 321, "i686": 357, "s390x": 351, "ppc64le": 361, "armv7l": 386}
"""The call's number on older architectures; on all others it is 280 (asm-generic/unistd.h)."""
GENERIC = 280

MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD, OBJ_PIN = 0, 1, 2, 3, 5, 6
MAP_FD_BY_ID, INFO_BY_FD, BTF_LOAD = 14, 15, 18
LINK_CREATE, LINK_FD_BY_ID, LINK_NEXT_ID = 28, 30, 31
"""Commands."""

HASH, ARRAY, PREFIXES = 1, 2, 11
"""Kinds of maps (linux/bpf.h)."""
RETURN_0 = bytes.fromhex("b7000000000000009500000000000000")
"""A program that does nothing."""
CLASSIFIER = 3
"""A program that traffic control asks about each packet."""
STRUCT_OPS_MAP, STRUCT_OPS_PROGRAM, STRUCT_OPS_ATTACH, STRUCT_OPS_LINK = 26, 27, 44, 9
LINK_FLAG = 1 << 13
"""A map whose operations are in force as long as a link of theirs (since Linux 6.4)."""
KEY = bytes(4)
"""A map of operations has one entry, number 0."""
LOG_BYTES = 1 << 16
INSTRUCTION_BYTES = 8
MAP_INSTRUCTION, PSEUDO_MAP = 0x18, 1
"""Loads a 64-bit number; with this source register, the map of a descriptor."""


UPDATES, REFILL_S = 20, 0.005
"""Number of attempts of an update, and the time between two. [-, s]

The kernel keeps few free entries of a map. Until it adds more, at its next interrupt, it refuses an
update (ENOMEM)."""


class BpfError(OSError):
    """The kernel refused something; `log` is what its verifier said last."""

    def __init__(self, number: int, what: str, log: str = "") -> None:
        super().__init__(number, f"{what}: {os.strerror(number)}")
        self.log = log


class NoEntryError(BpfError, FileNotFoundError):
    """There is no such entry, program or map."""


def call(command: int, what: str, attributes: bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Make the call; `what` says for what, should it be refused."""
    size = len(attributes)
    given = attributes if isinstance(attributes, ctypes.Array) else buffer(attributes)
    number = NUMBER.get(platform.machine(), GENERIC)
    done = libc.syscall(ctypes.c_long(number), command, ctypes.byref(given), size)
    if done < 0:
        refused = ctypes.get_errno()
        raise (NoEntryError if refused == errno.ENOENT else BpfError)(refused, what)
    return int(done)


def buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    """Memory whose address can be given."""
    return ctypes.create_string_buffer(data, max(len(data), 1))


def address(memory: ctypes.Array[ctypes.c_char]) -> int:
    """Where it lies."""
    return ctypes.addressof(memory)


def load_types(types: bytes) -> int:
    """Give the kernel the BTF of a program; a descriptor."""
    data = buffer(types)
    attributes = struct.pack("=QQIIII", address(data), 0, len(types), 0, 0, 0)
    return call(BTF_LOAD, "types of a BPF program", attributes)


class Program(NamedTuple):
    """A program as a compiler has made it, and what the kernel is told of it."""

    name: str
    kind: int
    """What asks it, such as `CLASSIFIER`."""
    instructions: bytes
    types: int
    """Descriptor of its BTF."""
    functions: bytes
    relocations: bytes
    """What .BTF.ext says of the function and of members of structures, which the kernel places."""
    terms: bytes
    """The licence, with a zero at its end; the kernel asks for one that goes with its own."""
    operation: tuple[int, int] = (0, 0)
    """Which member of which structure of the kernel it is, if it is one, by their numbers."""


def load_program(program: Program) -> int:
    """Load a program; a descriptor.

    Raises
    ------
    BpfError
        If the kernel refuses it, with what the verifier said.
    """
    code, licence = buffer(program.instructions), buffer(program.terms)
    function, relocation = buffer(program.functions), buffer(program.relocations)
    log = buffer(bytes(LOG_BYTES))
    member, structure = program.operation

    def attributes(log_level: int) -> bytes:
        return struct.pack(
            "=IIQQIIQII16sIIIIQIIQIIIIQQII",
            *(program.kind, len(program.instructions) // 8, address(code), address(licence)),
            *(log_level, LOG_BYTES * (log_level > 0), address(log) * (log_level > 0), 0, 0),
            *(program.name[:15].encode(), 0, member, program.types),
            *(8, address(function), len(program.functions) // 8),
            *(0, 0, 0),
            *(structure, 0),
            *(len(program.relocations) // 16, 0, address(relocation), 16, 0),
        )

    what = f"BPF program {program.name}"
    try:
        return call(PROG_LOAD, what, attributes(0))
    except BpfError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise
    try:
        return call(PROG_LOAD, what, attributes(1))
    except BpfError as error:
        error.log = log.value.decode(errors="replace")
        raise


class MapShape(NamedTuple):
    """What a map is like: its kind, the length of its keys and values, how many, and flags."""

    kind: int
    key_bytes: int
    value_bytes: int
    most: int
    flags: int


def make_map(name: str, shape: MapShape) -> int:
    """Make a map; a descriptor."""
    create = struct.pack(
        "=IIIIIII16sIIIII",
        *(shape.kind, shape.key_bytes, shape.value_bytes, shape.most, shape.flags, 0, 0),
        *(name[:15].encode(), 0, 0, 0, 0, 0),
    )
    return call(MAP_CREATE, f"BPF map {name}", create)


def update(a_map: int, key: bytes, value: bytes) -> None:
    """Let an entry of a map have this value."""
    present, data = buffer(key), buffer(value)
    asked = struct.pack("=IIQQQ", a_map, 0, address(present), address(data), 0)
    for attempt in range(UPDATES):
        try:
            call(MAP_UPDATE, "an entry of a BPF map", asked)
        except BpfError as error:
            if error.errno != errno.ENOMEM or attempt == UPDATES - 1:
                raise
            time.sleep(REFILL_S)
        else:
            return


def entry(a_map: int, key: bytes, value_bytes: int) -> bytes:
    """The value of an entry of a map."""
    present, value = buffer(key), buffer(bytes(value_bytes))
    asked = struct.pack("=IIQQQ", a_map, 0, address(present), address(value), 0)
    call(MAP_LOOKUP, "an entry of a BPF map", asked)
    return value.raw


def delete(a_map: int, key: bytes) -> None:
    """Remove an entry of a map."""
    present = buffer(key)
    asked = struct.pack("=IIQQQ", a_map, 0, address(present), 0, 0)
    call(MAP_DELETE, "an entry of a BPF map", asked)


def make_operations(name: str, kernel_type: int, types: int, value: bytes) -> int:
    """Make the map that holds a structure of operations; a descriptor."""
    create = struct.pack(
        "=IIIIIII16sIIIII",
        *(STRUCT_OPS_MAP, 4, len(value), 1, LINK_FLAG, 0, 0),
        *(name[:15].encode(), 0, types, 0, 0, kernel_type),
    )
    operations = call(MAP_CREATE, "BPF operations", create)
    try:
        update(operations, KEY, value)
    except BaseException:
        os.close(operations)
        raise
    return operations


def link(each: int, what: str, target: int = 0, kind: int = STRUCT_OPS_ATTACH) -> int:
    """Put operations into force, or a program at a target; with the last descriptor or pin it
    ends.
    """
    return call(LINK_CREATE, what, struct.pack("=IIIIQQ", each, target, kind, 0, 0, 0))


def pin(descriptor: int, path: str) -> None:
    """Keep what a descriptor stands for by a file in a bpf file system."""
    name = buffer(path.encode() + b"\0")
    call(OBJ_PIN, path, struct.pack("=QIIQ", address(name), descriptor, 0, 0))


def links_of_operations() -> Iterator[tuple[int, int]]:
    """Numbers of the kernel's links that put operations into force, with those of their maps.

    Raises
    ------
    BpfError
        If this process may not know.
    """
    number = 0
    while True:
        asked = buffer(struct.pack("=III", number, 0, 0))
        try:
            call(LINK_NEXT_ID, "BPF links", asked)
        except BpfError as error:
            if error.errno == errno.ENOENT:
                return
            raise
        (number,) = struct.unpack_from("=I", asked, 4)
        try:
            descriptor = call(LINK_FD_BY_ID, "a BPF link", struct.pack("=III", number, 0, 0))
        except BpfError as error:
            if error.errno == errno.ENOENT:  # gone meanwhile
                continue
            raise
        try:
            info = information(descriptor, 64)
        finally:
            os.close(descriptor)
        kind, itself, _, _, operations = struct.unpack_from("=IIIII", info)
        if kind == STRUCT_OPS_LINK:
            yield itself, operations


def information(descriptor: int, size: int) -> bytes:
    """What the kernel says of a link or map."""
    answer = buffer(bytes(size))
    call(INFO_BY_FD, "BPF information", struct.pack("=IIQ", descriptor, size, address(answer)))
    return answer.raw


def value_of(operations: int) -> tuple[int, bytes]:
    """Number of the kernel's type of a map of operations, and its entry.

    Raises
    ------
    BpfError
        If it is gone, or this process may not know.
    """
    descriptor = call(MAP_FD_BY_ID, "BPF operations", struct.pack("=III", operations, 0, 0))
    try:
        info = information(descriptor, 80)
        size, kernel_type = struct.unpack_from("=12xI28xI", info)
        value = entry(descriptor, KEY, size)
    finally:
        os.close(descriptor)
    return kernel_type, value
