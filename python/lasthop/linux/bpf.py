"""The system call bpf(2), for the programs and maps of lasthop (linux/bpf.h)."""

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
"""Number of the system call bpf(2) by architecture. Architectures that are not listed use the
number 280 (asm-generic/unistd.h)."""
GENERIC = 280

MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD, OBJ_PIN = 0, 1, 2, 3, 5, 6
MAP_FD_BY_ID, INFO_BY_FD, BTF_LOAD = 14, 15, 18
LINK_CREATE, LINK_FD_BY_ID, LINK_NEXT_ID = 28, 30, 31
"""Command numbers of bpf(2)."""

HASH, ARRAY, PREFIXES = 1, 2, 11
"""Types of BPF maps (linux/bpf.h)."""
RETURN_0 = bytes.fromhex("b7000000000000009500000000000000")
"""Instructions of a BPF program that does nothing: return 0."""
CLASSIFIER = 3
"""Type of a BPF program that traffic control runs for each packet."""
STRUCT_OPS_MAP, STRUCT_OPS_PROGRAM, STRUCT_OPS_ATTACH, STRUCT_OPS_LINK = 26, 27, 44, 9
LINK_FLAG = 1 << 13
"""Flag of a struct_ops map whose operations are active only while their BPF link exists (since
Linux 6.4)."""
KEY = bytes(4)
"""Key of the only entry of a struct_ops map: the number 0."""
LOG_BYTES = 1 << 16
INSTRUCTION_BYTES = 8
MAP_INSTRUCTION, PSEUDO_MAP = 0x18, 1
"""Code of the instruction that loads a 64-bit number, and value of its field for the source
register. With this value, the number is the descriptor of a map, and the instruction loads the
map."""


UPDATES, REFILL_S = 20, 0.005
"""Number of attempts to update a map entry [-], and the time between two attempts [s].

The kernel preallocates only few free entries of a map, and adds more entries at its next interrupt.
Until this interrupt, the kernel may refuse an update (ENOMEM).
"""


class BpfError(OSError):
    """Error of a bpf(2) request that the kernel refused. `log` is the end of the verifier's
    output."""

    def __init__(self, number: int, what: str, log: str = "") -> None:
        super().__init__(number, f"{what}: {os.strerror(number)}")
        self.log = log


class NoEntryError(BpfError, FileNotFoundError):
    """Error of a bpf(2) request for an entry, a program or a map that does not exist."""


def call(command: int, what: str, attributes: bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Call bpf(2). `what` names the purpose of the call in the error message."""
    size = len(attributes)
    given = attributes if isinstance(attributes, ctypes.Array) else buffer(attributes)
    number = NUMBER.get(platform.machine(), GENERIC)
    done = libc.syscall(ctypes.c_long(number), command, ctypes.byref(given), size)
    if done < 0:
        refused = ctypes.get_errno()
        raise (NoEntryError if refused == errno.ENOENT else BpfError)(refused, what)
    return int(done)


def buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    """Return a copy of the data in memory with a fixed address."""
    return ctypes.create_string_buffer(data, max(len(data), 1))


def address(memory: ctypes.Array[ctypes.c_char]) -> int:
    """Return the address of memory."""
    return ctypes.addressof(memory)


def load_types(types: bytes) -> int:
    """Load BTF type information into the kernel, and return its descriptor."""
    data = buffer(types)
    attributes = struct.pack("=QQIIII", address(data), 0, len(types), 0, 0, 0)
    return call(BTF_LOAD, "types of a BPF program", attributes)


class Program(NamedTuple):
    """Compiled BPF program, with the data that the kernel needs to load it."""

    name: str
    kind: int
    """Type of the BPF program, such as `CLASSIFIER`."""
    instructions: bytes
    types: int
    """File descriptor of the program's BTF type information; 0 without type information."""
    functions: bytes
    relocations: bytes
    """Records of .BTF.ext in two fields: `functions` describes functions, and `relocations`
    describes accesses to structure members that the kernel relocates."""
    terms: bytes
    """Licence of the program, terminated by a zero byte. It must be compatible with the kernel's
    licence."""
    operation: tuple[int, int] = (0, 0)
    """For a struct_ops program: BTF number of the kernel's structure, and index of the structure's
    member that the program implements. For other programs: (0, 0)."""


def load_program(program: Program) -> int:
    """Load a BPF program into the kernel, and return its descriptor.

    Raises
    ------
    BpfError
        If the kernel refuses the program. The error has the output of the verifier.
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
    """Properties of a BPF map: type, lengths of keys and values, number of entries, flags."""

    kind: int
    key_bytes: int
    value_bytes: int
    most: int
    flags: int


def make_map(name: str, shape: MapShape) -> int:
    """Create a BPF map, and return its descriptor."""
    create = struct.pack(
        "=IIIIIII16sIIIII",
        *(shape.kind, shape.key_bytes, shape.value_bytes, shape.most, shape.flags, 0, 0),
        *(name[:15].encode(), 0, 0, 0, 0, 0),
    )
    return call(MAP_CREATE, f"BPF map {name}", create)


def update(a_map: int, key: bytes, value: bytes) -> None:
    """Set the value of an entry of a BPF map."""
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
    """Return the value of an entry of a BPF map."""
    present, value = buffer(key), buffer(bytes(value_bytes))
    asked = struct.pack("=IIQQQ", a_map, 0, address(present), address(value), 0)
    call(MAP_LOOKUP, "an entry of a BPF map", asked)
    return value.raw


def delete(a_map: int, key: bytes) -> None:
    """Remove an entry of a BPF map."""
    present = buffer(key)
    asked = struct.pack("=IIQQQ", a_map, 0, address(present), 0, 0)
    call(MAP_DELETE, "an entry of a BPF map", asked)


def make_operations(name: str, kernel_type: int, types: int, value: bytes) -> int:
    """Create a struct_ops map with the structure of operations `value`, and return its
    descriptor."""
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
    """Create a BPF link, which activates a struct_ops map or attaches a program to a target. The
    kernel removes the link when its last descriptor is closed and no pin remains.
    """
    return call(LINK_CREATE, what, struct.pack("=IIIIQQ", each, target, kind, 0, 0, 0))


def pin(descriptor: int, path: str) -> None:
    """Pin the object of a descriptor to a file in a BPF file system."""
    name = buffer(path.encode() + b"\0")
    call(OBJ_PIN, path, struct.pack("=QIIQ", address(name), descriptor, 0, 0))


def links_of_operations() -> Iterator[tuple[int, int]]:
    """Yield two identifiers for each BPF link that activates a struct_ops map: the identifier of
    the link, and the identifier of the map.

    Raises
    ------
    BpfError
        If this process may not list BPF links.
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
            if error.errno == errno.ENOENT:  # the link was removed meanwhile
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
    """Return the kernel's information structure about a BPF link or map."""
    answer = buffer(bytes(size))
    call(INFO_BY_FD, "BPF information", struct.pack("=IIQ", descriptor, size, address(answer)))
    return answer.raw


def value_of(operations: int) -> tuple[int, bytes]:
    """Return the BTF number of the kernel type of a struct_ops map, and the value of the map's
    entry.

    Raises
    ------
    BpfError
        If the map was removed, or if this process may not read it.
    """
    descriptor = call(MAP_FD_BY_ID, "BPF operations", struct.pack("=III", operations, 0, 0))
    try:
        info = information(descriptor, 80)
        size, kernel_type = struct.unpack_from("=12xI28xI", info)
        value = entry(descriptor, KEY, size)
    finally:
        os.close(descriptor)
    return kernel_type, value
