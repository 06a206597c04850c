"""The system call bpf(2), as far as congestion controls need it (linux/bpf.h)."""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator

NUMBER = {"x86_64": 321, "i686": 357, "s390x": 351, "ppc64le": 361, "armv7l": 386}
"""The call's number on older architectures; on all others it is 280 (asm-generic/unistd.h)."""
GENERIC = 280

MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, PROG_LOAD, OBJ_PIN = 0, 1, 2, 5, 6
MAP_FD_BY_ID, INFO_BY_FD, BTF_LOAD, LINK_CREATE, LINK_FD_BY_ID, LINK_NEXT_ID = (
    14,
    15,
    18,
    28,
    30,
    31,
)
"""Commands."""

STRUCT_OPS_MAP, STRUCT_OPS_PROGRAM, STRUCT_OPS_ATTACH, STRUCT_OPS_LINK = 26, 27, 44, 9
LINK_FLAG = 1 << 13
"""A map whose operations are in force as long as a link of theirs (since Linux 6.4)."""
KEY = bytes(4)
"""A map of operations has one entry, number 0."""
LOG_BYTES = 1 << 16


class BpfError(OSError):
    """The kernel refused something; `log` is what its verifier said last."""

    def __init__(self, number: int, what: str, log: str = "") -> None:
        super().__init__(number, f"{what}: {os.strerror(number)}")
        self.log = log


def call(command: int, what: str, attributes: bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Make the call; `what` says for what, should it be refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    size = len(attributes)
    given = attributes if isinstance(attributes, ctypes.Array) else buffer(attributes)
    number = NUMBER.get(platform.machine(), GENERIC)
    done = libc.syscall(ctypes.c_long(number), command, ctypes.byref(given), size)
    if done < 0:
        raise BpfError(ctypes.get_errno(), what)
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


def load_operation(
    name: str,
    instructions: bytes,
    member: int,
    kernel_type: int,
    types: int,
    functions: bytes,
    relocations: bytes,
    terms: bytes,
) -> int:
    """Load a program that is an operation of a structure of the kernel; a descriptor.

    Parameters
    ----------
    name : str
    instructions : bytes
    member, kernel_type : int
        Which member of the kernel's structure it is, and the structure's number.
    types : int
        Descriptor of the program's BTF.
    functions, relocations : bytes
        What .BTF.ext says of the function and of members of structures, which the kernel places.
    terms : bytes
        The licence, with a zero at its end; the kernel asks for one that goes with its own.

    Raises
    ------
    BpfError
        If the kernel refuses it, with what the verifier said.
    """
    code, licence, log = buffer(instructions), buffer(terms), buffer(bytes(LOG_BYTES))
    function, relocation = buffer(functions), buffer(relocations)

    def attributes(log_level: int) -> bytes:
        return struct.pack(
            "=IIQQIIQII16sIIIIQIIQIIIIQQII",
            *(STRUCT_OPS_PROGRAM, len(instructions) // 8, address(code), address(licence)),
            *(log_level, LOG_BYTES * (log_level > 0), address(log) * (log_level > 0), 0, 0),
            *(name[:15].encode(), 0, member, types),
            *(8, address(function), len(functions) // 8),
            *(0, 0, 0),
            *(kernel_type, 0),
            *(len(relocations) // 16, 0, address(relocation), 16, 0),
        )

    what = f"BPF program {name}"
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


def make_operations(name: str, kernel_type: int, types: int, value: bytes) -> int:
    """Make the map that holds a structure of operations; a descriptor."""
    create = struct.pack(
        "=IIIIIII16sIIIII",
        *(STRUCT_OPS_MAP, 4, len(value), 1, LINK_FLAG, 0, 0),
        *(name[:15].encode(), 0, types, 0, 0, kernel_type),
    )
    operations = call(MAP_CREATE, "BPF operations", create)
    key, data = buffer(KEY), buffer(value)
    try:
        update = struct.pack("=IIQQQ", operations, 0, address(key), address(data), 0)
        call(MAP_UPDATE, f"congestion control {name}", update)
    except BaseException:
        os.close(operations)
        raise
    return operations


def link(operations: int, what: str) -> int:
    """Put operations into force; with the last descriptor or pin they end."""
    return call(
        LINK_CREATE, what, struct.pack("=IIIIQQ", operations, 0, STRUCT_OPS_ATTACH, 0, 0, 0)
    )


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
            one = call(LINK_FD_BY_ID, "a BPF link", struct.pack("=III", number, 0, 0))
        except BpfError as error:
            if error.errno == errno.ENOENT:  # gone meanwhile
                continue
            raise
        try:
            info = information(one, 64)
        finally:
            os.close(one)
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
    one = call(MAP_FD_BY_ID, "BPF operations", struct.pack("=III", operations, 0, 0))
    try:
        info = information(one, 80)
        size, kernel_type = (
            struct.unpack_from("=I", info, 12)[0],
            struct.unpack_from("=I", info, 44)[0],
        )
        key, value = buffer(KEY), buffer(bytes(size))
        asked = struct.pack("=IIQQQ", one, 0, address(key), address(value), 0)
        call(MAP_LOOKUP, "BPF operations", asked)
    finally:
        os.close(one)
    return kernel_type, value.raw
