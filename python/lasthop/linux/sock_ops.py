"""Set the initial retransmission timeout of TCP connections by a BPF program of a control group.

While the timeout is set, the process and all sockets that it creates are in a new control group.
"""

import contextlib
import errno
import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux.bpf import BpfError, Program, link, load_program
from lasthop.linux.netns import Namespace
from lasthop.linux.tun import open_tun

SOCK_OPS = 13
"""Type of a BPF program that TCP calls on its events (linux/bpf.h)."""
GROUP_SOCK_OPS = 3
"""Attach type of the BPF program at a control group."""
TIMEOUT_INIT = 1
"""Operation by which TCP requests the timeout of a SYN from the BPF program, in ticks of the
kernel's clock.
"""
OP, REPLY = 0, 4
"""Offsets of the fields `op` and `reply` in `struct bpf_sock_ops`. [bytes]"""
RTO_OFFSET = 8
"""Offset of tcpi_rto in struct tcp_info (linux/tcp.h). The field is in microseconds. [bytes]"""
PROBE_TICKS = 1000
PROBE_ADDRESS, PROBE_MASK, NOWHERE = "10.0.0.1", "255.0.0.0", "10.0.0.2"


@contextlib.contextmanager
def first_timeouts(seconds: float) -> Iterator[None]:
    """Set the initial retransmission timeout of this process's connections while the body runs. TCP
    uses this timeout until the first RTT sample. [s]

    Raises
    ------
    UserError
        If the kernel does not permit the BPF program or the control group.
    """
    with own_group() as group:
        with answering(group, PROBE_TICKS):
            ticks_per_s = PROBE_TICKS / timeout_of_a_syn()
        with answering(group, round(seconds * ticks_per_s)):
            yield


@contextlib.contextmanager
def own_group() -> Iterator[Path]:
    """Move this process into a new control group while the body runs."""
    before = group_of_process()
    group = before / f"lasthop-{os.getpid()}"
    try:
        group.mkdir()
        move_to(group)
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise UserError(f"{group}: {os.strerror(error.errno or 0)}", "run it as root") from None
    try:
        yield group
    finally:
        move_to(before)
        remove(group)


def group_of_process() -> Path:
    """Return the directory of this process's control group (version 2)."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    roots = [Path(words[1]) for words in mounts if words[2] == "cgroup2"]
    own = Path("/proc/self/cgroup").read_text().splitlines()
    names = [line.removeprefix("0::/") for line in own if line.startswith("0::/")]
    if not roots or not names:
        raise UserError("control groups of version 2 are not mounted", "mount -t cgroup2 none DIR")
    return roots[0] / names[0]


def move_to(group: Path) -> None:
    """Move this process into a control group."""
    (group / "cgroup.procs").write_text(str(os.getpid()))


def remove(group: Path) -> None:
    """Remove a control group after its last process has ended."""
    for _ in range(20):
        try:
            return group.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        time.sleep(0.05)


@contextlib.contextmanager
def answering(group: Path, ticks: int) -> Iterator[None]:
    """Attach a BPF program that sets the initial timeout of all sockets of a control group, while
    the body runs."""
    directory = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
    try:
        program = load_program(
            Program("first_timeout", SOCK_OPS, instructions(ticks), 0, b"", b"", b"GPL\0")
        )
        try:
            attached = link(program, "first timeouts", directory, GROUP_SOCK_OPS)
        finally:
            os.close(program)
    except BpfError as error:
        raise UserError(str(error), "run it as root, or do not follow initial_rto") from None
    finally:
        os.close(directory)
    try:
        yield
    finally:
        os.close(attached)


def instructions(ticks: int) -> bytes:
    """Return the instructions of the BPF program, which replies only to requests for the initial
    timeout."""

    def instruction(code: int, to: int = 0, of: int = 0, offset: int = 0, value: int = 0) -> bytes:
        return struct.pack("=BBhi", code, of << 4 | to, offset, value)

    load, store, jump_unless, set_to, leave = 0x61, 0x63, 0x55, 0xB7, 0x95
    return b"".join(
        [
            instruction(load, to=2, of=1, offset=OP),
            instruction(set_to, to=3, value=-1),
            instruction(jump_unless, to=2, offset=1, value=TIMEOUT_INIT),
            instruction(set_to, to=3, value=ticks),
            instruction(store, to=1, of=3, offset=REPLY),
            instruction(set_to, to=0, value=1),
            instruction(leave),
        ]
    )


def timeout_of_a_syn() -> float:
    """Measure and return the timeout of a connection's SYN. [s]"""
    namespace = Namespace()

    def ask() -> float:
        descriptor = open_tun("lasthop", PROBE_ADDRESS, PROBE_MASK, 1500)
        try:
            with socket.socket() as client:
                client.setblocking(False)
                client.connect_ex((NOWHERE, 9))
                info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, RTO_OFFSET + 4)
                (rto_us,) = struct.unpack_from("=I", info, RTO_OFFSET)
                return float(rto_us) / 1e6
        finally:
            os.close(descriptor)

    try:
        return namespace.run(ask)
    finally:
        namespace.close()
