"""Permissions of this process and features of the kernel, determined by tests. Features are tested
in a temporary network namespace."""

import errno
import os
import re
import socket
from ipaddress import ip_address
from typing import NamedTuple

from lasthop.errors import AS_ROOT, UserError
from lasthop.linux.disciplines import install_kernel
from lasthop.linux.syscalls import call

CLONE_NEWNET, CLONE_NEWUSER = 0x40000000, 0x10000000
FORBIDDEN = "forbidden: "
"""Prefix of the result of a test that could not start because this process lacks the permission."""
WELL = "well: "
"""Prefix of the result of a successful test. The name of the queueing discipline of leaves follows
the prefix."""
STEPS = (
    "a network namespace",
    "an IFB device (module ifb)",
    "the HTB scheduler (module sch_htb)",
    "the queueing discipline clsact (module sch_ingress)",
    "u32 filters in hash tables (module cls_u32)",
    "redirection (module act_mirred)",
    "classic BPF filters (module cls_bpf)",
)


def lacking() -> str | None:
    """Return the name of a capability that a gateway needs and this process lacks; None if no
    capability is missing. The capabilities are tested by using them."""
    from lasthop.linux import links
    from lasthop.linux.netlink import KernelError, Socket

    try:
        with Socket() as kernel:
            kernel.carry_out([links.set_up("lh/none")])  # no interface can have a name with a slash
    except KernelError as error:
        if error.number == errno.EPERM:
            return "CAP_NET_ADMIN"
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    except PermissionError:
        return "CAP_NET_RAW"
    return None


def bpf_refused() -> str | None:
    """Return the reason why BPF programs cannot classify packets on this machine; None if they can.

    A BPF program and a map of each type are created and removed as a test.
    """
    from lasthop.linux import bpf

    made: list[int] = []
    try:
        for kind, key_bytes, flags in ((bpf.HASH, 8, 0), (bpf.ARRAY, 4, 0), (bpf.PREFIXES, 8, 1)):
            made.append(bpf.make_map("lasthop_try", bpf.MapShape(kind, key_bytes, 4, 1, flags)))
        program = bpf.Program(
            "lasthop_try", bpf.CLASSIFIER, bpf.RETURN_0, 0, b"", b"", b"Dual MIT/GPL\0"
        )
        made.append(bpf.load_program(program))
    except bpf.BpfError as error:
        lacks = " (this process has no CAP_BPF)" if error.errno == errno.EPERM else ""
        return f"{error}{lacks}"
    finally:
        for each in made:
            os.close(each)
    return None


def refuse_to_lack() -> None:
    """Raise `UserError` if this process lacks a capability that a gateway needs. Without the
    capability, the process could not revert its changes."""
    if (what := lacking()) is not None:
        raise lacks(what, is_root=os.geteuid() == 0)


def lacks(capability: str, *, is_root: bool) -> UserError:
    """Return the error for a process that lacks a capability of a gateway."""
    hint = f"give the container the capability {capability}" if is_root else AS_ROOT
    return UserError(f"network: this process has no {capability}", hint)


def no_right_to_test(capability: str) -> str:
    """Return the warning of a check that could not test this machine."""
    return f"this machine was not tested: this needs {capability}, which root has"


def refusal(feature: str) -> UserError:
    """Return the error for a kernel without a feature of a gateway; see `missing`."""
    module = module_of(feature)
    return UserError(f"this machine has {feature}", install_kernel(module or "this feature"))


def module_of(step: str) -> str | None:
    """Return the module of the kernel that a text about a feature names, such as an entry of
    `STEPS`; None if it names no module."""
    match = re.search(r"\((?:module )?((?:sch|cls|act)_\w+|ifb)\)", step)
    return match[1] if match else None


def absent(step: str) -> str:
    """Return the text about a missing feature, from its description in `STEPS`."""
    return f"no {step.removeprefix('a ').removeprefix('an ').removeprefix('the ')}"


class Trial(NamedTuple):
    """Result of a test of the kernel's features."""

    untried: str | None
    """Reason why the test could not start; None if it started."""
    missing: str | None
    """First feature that is missing; None if all features are present."""
    discipline: str | None = None
    """Queueing discipline of leaves that was tested. With "best", the best discipline that the
    kernel supports."""


def missing(discipline: str = "pfifo") -> str | None:
    """Return the first missing feature that a gateway needs, or the reason why the test could not
    start; None if no feature is missing."""
    trial = tried(discipline)
    return trial.untried or trial.missing


def tried(discipline: str = "pfifo") -> Trial:
    """Test every feature of the kernel that a gateway needs, and the queueing discipline of leaves.
    With `discipline` "best", find the best discipline.

    If this process may not create a network namespace, a user namespace is created first.
    """
    text = in_a_process(discipline, CLONE_NEWNET)
    if text.startswith(FORBIDDEN):
        text = in_a_process(discipline, CLONE_NEWUSER | CLONE_NEWNET)
    if text.startswith(FORBIDDEN):
        return Trial(text.removeprefix(FORBIDDEN), None)
    if text.startswith(WELL):
        return Trial(None, None, text.removeprefix(WELL))
    return Trial(None, text or "the trial ended without an answer")


def in_a_process(discipline: str, kinds: int) -> str:
    """Run the test in a separate process and in new namespaces, and return its result as text.
    `kinds` contains the flags of clone(2) that select the namespaces."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            os.write(writer, try_everything(discipline, kinds).encode()[:4096])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def try_everything(discipline: str, kinds: int) -> str:
    """Test each feature in new namespaces that the kernel removes when this process ends. Return
    the result as text."""
    from lasthop.linux import leaf_queue, links, tc
    from lasthop.linux.netlink import KernelError, Socket

    done = 0
    try:
        call("unshare", kinds)
        done = 1
        with Socket() as kernel:
            kernel.carry_out([links.add_ifb("lh-try", b"\x02lhtry", 10), links.set_up("lh-try")])
            ifb = tc.Device("lh-try", links.index_of("lh-try"))
            done = 2
            own = tc.classid(1, 1)
            kernel.carry_out(
                [
                    tc.htb_qdisc(ifb, 1, 10),
                    tc.htb_class(
                        ifb,
                        own,
                        tc.classid(1, 0),
                        rate_bps=10**6,
                        burst_bytes=1600,
                        quantum_bytes=1514,
                    ),
                ]
            )
            done = 3
            block = tc.Block(1)
            kernel.carry_out([tc.hooks(ifb, block.number, 2)])
            done = 4
            of_tcp = tc.protocol_match(4, tc.TCP)
            link = tc.u32_link(block, 4, 1, 0xFF, tc.last_word(4, True), match=of_tcp)
            kernel.carry_out([tc.u32_table(block, 4, 1), link])
            done = 5
            host = ip_address("192.0.2.1")
            kernel.carry_out([tc.u32_entry(block, 1, 1, host, ifb, source=True)])
            done = 6
            kernel.carry_out([tc.bpf_filter(ifb, tc.classid(1, 0), [(6, 0, 0, own)])])
            done = 7
            if discipline == "best":
                discipline = leaf_queue.best(kernel, ifb, own)
            queue = leaf_queue.Queue(discipline, leaf_queue.TRIED_PACKETS)
            kernel.carry_out([leaf_queue.add(ifb, own, queue)])
    except (OSError, UserError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        number = error.number if isinstance(error, KernelError) else getattr(error, "errno", None)
        if number == errno.EPERM and (done == 0 or kinds & CLONE_NEWUSER):
            return f"{FORBIDDEN}{why}"
        step = STEPS[done] if done < len(STEPS) else f"the queue {discipline} (sch_{discipline})"
        return f"{absent(step)}: {why}"
    return WELL + discipline
