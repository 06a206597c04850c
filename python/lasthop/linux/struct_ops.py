"""Load a TCP congestion control from a compiled BPF object file into the kernel.

An object file (`bpf_object`) has a section for each operation, and a section with the structure of
operations (struct tcp_congestion_ops), which refers to the operations. The kernel itself relocates
accesses to members of its structures (CO-RE). This module only rearranges the structure of
operations to the layout of the running kernel.
"""

import errno
import os
import struct
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux import bpf
from lasthop.linux.bpf_object import Object, text
from lasthop.linux.btf import Btf

KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")
OPERATIONS = "tcp_congestion_ops"
ENTRY = f"bpf_struct_ops_{OPERATIONS}"
"""Name of the kernel's type for the value of the struct_ops map. The value contains the operations
and their reference count."""
SECTION = ".struct_ops.link"
NAME_BYTES = 16
"""Size of the field with the name of a congestion control (linux/tcp.h), including a final zero
byte."""


@cache
def kernel_types() -> Btf:
    """Return the BTF types of the running kernel.

    Raises
    ------
    UserError
        If the kernel does not provide BTF.
    """
    if sys.byteorder != "little":
        raise UserError("congestion controls: the objects are for little-endian machines")
    try:
        return Btf(bytearray(KERNEL_TYPES.read_bytes()))
    except OSError as error:
        raise UserError(
            f"{KERNEL_TYPES}: {error.strerror}",
            "the kernel must be built with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF",
        ) from None


def load(data: bytes, name: str, algorithm: str) -> int:
    """Register a TCP congestion control in the kernel under a name.

    Parameters
    ----------
    data : bytes
        Content of the object file.
    name : str
        Name in the kernel; at most 15 characters.
    algorithm : str
        Name of the algorithm in messages.

    Returns
    -------
    int
        The descriptor of a BPF link. The name exists until the descriptor and its copies are closed
        and no pin remains. The program exists until the last connection that uses it ends.

    Raises
    ------
    UserError
        If this process lacks the permission, the kernel lacks support, or the name is in use.
    """
    kernel = kernel_types()
    try:
        return _load(Object(data), kernel, name)
    except bpf.BpfError as error:
        raise refusal(error, name, algorithm) from None
    except KeyError as error:
        raise without(error, algorithm) from None


NEEDS = "needs Linux 6.4 or newer with CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF"


def refused(data: bytes, name: str, algorithm: str) -> UserError | None:
    """Return the error of `load` if the kernel refuses the programs of a congestion control, else
    None. The test loads the programs and removes them, and registers nothing."""
    try:
        kernel = kernel_types()
        with ExitStack() as stack:
            _operations(stack, Object(data), kernel, name)
    except bpf.BpfError as error:
        return refusal(error, name, algorithm)
    except KeyError as error:
        return without(error, algorithm)
    except UserError as error:
        return error
    return None


def without(error: KeyError, algorithm: str) -> UserError:
    """Return the error for a kernel that lacks a type or operation."""
    return UserError(f"congestion control {algorithm}: the kernel has no {error.args[0]}", NEEDS)


def _load(data: Object, kernel: Btf, name: str) -> int:
    """Load a congestion control and register it under a name. Return the descriptor of the
    link."""
    with ExitStack() as stack:
        return bpf.link(_operations(stack, data, kernel, name), f"congestion control {name}")


def _operations(stack: ExitStack, data: Object, kernel: Btf, name: str) -> int:
    """Load the programs of a congestion control, and return the descriptor of the map with its
    operations. The stack closes all descriptors."""
    entry, ours = kernel.structure(ENTRY), kernel.structure(OPERATIONS)
    types = data.types()
    own = types.structure(OPERATIONS)
    content, sections = data.section(SECTION), functions(data)
    described_functions, relocations = data.notes(types, 0), data.notes(types, 2)
    value, data_at = bytearray(entry.size), entry.place("data")
    ends = [each.at_byte for each in own.members[1:]] + [own.size]
    described = opened(stack, bpf.load_types(bytes(types.data)))
    for member, end in zip(own.members, ends, strict=True):
        at = data_at + ours.place(member.name)
        if (section := sections.get(member.at_byte)) is None:
            length = min(end, member.at_byte + (NAME_BYTES if member.name == "name" else 4))
            value[at : at + length - member.at_byte] = content[member.at_byte : length]
            continue
        number = [each.name for each in ours.members].index(member.name)
        program = bpf.load_program(
            bpf.Program(
                section.partition("/")[2].partition("_")[2],
                bpf.STRUCT_OPS_PROGRAM,
                data.section(section),
                described,
                described_functions[section],
                relocations.get(section, b""),
                data.section("license"),
                (number, ours.number),
            )
        )
        value[at : at + 8] = struct.pack("<Q", opened(stack, program))
    at = data_at + ours.place("name")
    value[at : at + NAME_BYTES] = name.encode()[: NAME_BYTES - 1].ljust(NAME_BYTES, b"\0")
    return opened(stack, bpf.make_operations(name, entry.number, described, bytes(value)))


def functions(data: Object) -> dict[int, str]:
    """Return the name of the section that contains each operation, by the operation's offset in the
    structure."""
    return {place: section for place, (_, section) in data.relocations(SECTION).items()}


def opened(stack: ExitStack, descriptor: int) -> int:
    """Return the descriptor, after registering it to be closed when the stack ends."""
    stack.callback(os.close, descriptor)
    return descriptor


def refusal(error: bpf.BpfError, name: str, algorithm: str) -> UserError:
    """Return the error for a congestion control that the kernel refused."""
    if error.errno == errno.EPERM:
        return UserError(
            f"congestion control {algorithm}: this process may not load BPF programs",
            "needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON: be root, not in a user namespace",
        )
    if error.errno == errno.EEXIST:
        return UserError(
            f"congestion control {algorithm}: the kernel has one called {name}",
            "run `lasthop congestion list` to see its origin",
        )
    if error.errno == errno.ENOSYS:
        return UserError(f"congestion control {algorithm}: this kernel has no BPF", NEEDS)
    message = f": {error.log.strip().splitlines()[-1]}" if error.log.strip() else ""
    return UserError(f"congestion control {algorithm}: {error.strerror}{message}", NEEDS)


def named(value: bytes, kernel: Btf) -> str:
    """Return the name of the congestion control in a value of a struct_ops map."""
    at = kernel.structure(ENTRY).place("data") + kernel.structure(OPERATIONS).place("name")
    return text(value + b"\0", at)
