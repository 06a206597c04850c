"""What this machine lets us do, found out by trying it in a network namespace of our own."""

import ctypes
import os
import sys
from ipaddress import ip_address
from pathlib import Path

from lasthop.errors import UserError

CLONE_NEWNET = 0x40000000
STEPS = (
    "a network namespace",
    "an IFB device (module ifb)",
    "the HTB scheduler (module sch_htb)",
    "the ingress queueing discipline (module sch_ingress)",
    "u32 filters in hash tables (module cls_u32)",
    "redirection (module act_mirred)",
    "classic BPF filters (module cls_bpf)",
)


def unshare_network() -> None:
    """Put this process into a new network namespace; `PermissionError` where that is forbidden."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def missing(discipline: str = "pfifo") -> str | None:
    """What a gateway needs and cannot have here, in words; None if it can have everything.

    The leaf's `discipline` is tried too.
    """
    if not sys.platform.startswith("linux"):
        return f"needs Linux, this is {sys.platform}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            os.write(writer, try_everything(discipline).encode()[:4096])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return None if said == "ok" else said or "the trial ended without an answer"


def try_everything(discipline: str) -> str:
    """Try each step in a namespace that ends with this process."""
    from lasthop.linux import links, tc
    from lasthop.linux.netlink import Socket

    done = 0
    try:
        unshare_network()
        done = 1
        with Socket() as kernel:
            kernel.carry_out([links.add_ifb("lh-try", b"\x02lhtry", 10), links.set_up("lh-try")])
            ifb = tc.Device("lh-try", links.index_of("lh-try"))
            done = 2
            leaf = tc.classid(1, 1)
            kernel.carry_out(
                [
                    tc.htb_qdisc(ifb, 1, 10),
                    tc.htb_class(
                        ifb,
                        leaf,
                        tc.classid(1, 0),
                        rate_bps=10**6,
                        ceil_bps=10**6,
                        burst_bytes=1600,
                        quantum_bytes=1514,
                    ),
                ]
            )
            done = 3
            block = tc.Block(1)
            kernel.carry_out([tc.ingress_qdisc(ifb, block.number)])
            done = 4
            kernel.carry_out(
                [
                    tc.u32_table(block, 4, 1),
                    tc.link_table(block, 4, 1, source=True, protocol=tc.TCP),
                ]
            )
            done = 5
            host = ip_address("192.0.2.1")
            kernel.carry_out([tc.u32_entry(block, 1, 1, host, source=True, redirect=ifb)])
            done = 6
            kernel.carry_out([tc.bpf_filter(ifb, tc.classid(1, 0), [(6, 0, 0, leaf)])])
            done = 7
            kernel.carry_out([tc.leaf_qdisc(ifb, leaf, discipline, 10)])
    except (OSError, UserError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        step = STEPS[done] if done < len(STEPS) else f"the queue {discipline} (sch_{discipline})"
        return f"no {step.removeprefix('a ').removeprefix('an ').removeprefix('the ')}: {why}"
    return "ok"


def is_root() -> bool:
    """Whether this process may change the network."""
    status = Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff"))
    return bool(int(effective.split()[1], 16) >> 12 & 1)  # CAP_NET_ADMIN
