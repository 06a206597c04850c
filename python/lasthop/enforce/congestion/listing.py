"""List the congestion controls of the kernel, and the processes that keep them loaded."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lasthop.enforce.congestion.controls import CONTROLS
from lasthop.linux import bpf, pins, struct_ops
from lasthop.linux.tcp import available_congestion

LINK = "anon_inode:bpf"
"""Beginning of the target of the symbolic link /proc/PID/fd/N if the file descriptor N belongs to a
BPF link."""


class Holder(NamedTuple):
    """Process that has an open file descriptor of a congestion control. When the process ends, the
    kernel removes the congestion control, unless another process has such a descriptor."""

    number: int
    program: str


class Listed(NamedTuple):
    """Congestion control that is registered in the kernel."""

    name: str
    congestion: str | None
    """Name of the congestion control in scenarios; None if lasthop does not provide it."""
    origin: str | None
    """Origin of the congestion control: ``kernel`` or ``BPF``; None if this process may not read
    the origin."""
    stays: bool
    processes: list[Holder]


def listed() -> list[Listed]:
    """Return all congestion controls that are now registered in the kernel, in the kernel's
    order."""
    try:
        links = links_by_name()
    except bpf.BpfError:
        return [Listed(name, None, None, False, []) for name in available_congestion()]
    pinned = pins.pinned()

    def entry(name: str) -> Listed:
        if name not in links:
            return Listed(name, None, "kernel", False, [])
        return Listed(name, scenario_name(name), "BPF", name in pinned, held_by(links[name]))

    return [entry(name) for name in available_congestion()]


def scenario_name(name: str) -> str | None:
    """Return the scenario name of the engine's congestion control that has this kernel name."""
    for each in CONTROLS.values():
        if name == each.kernel_name or name.rpartition("_")[0] == each.short:
            return each.name
    return None


def links_by_name() -> dict[str, list[int]]:
    """Return the identifiers of the BPF links of each congestion control.

    Raises
    ------
    BpfError
        If this process may not list BPF links.
    """
    results: dict[str, list[int]] = {}
    pairs = list(bpf.links_of_operations())
    if not pairs:
        return results
    kernel = struct_ops.kernel_types()
    ours = kernel.structure(struct_ops.ENTRY).number
    for link, operations in pairs:
        with contextlib.suppress(bpf.BpfError):  # The link was removed meanwhile.
            kind, value = bpf.value_of(operations)
            if kind == ours:
                results.setdefault(struct_ops.named(value, kernel), []).append(link)
    return results


def holders(name: str) -> list[Holder]:
    """Return the processes that have an open file descriptor of the congestion control of this
    name. Return an empty list if this process may not list BPF links."""
    try:
        return held_by(links_by_name().get(name, ()))
    except bpf.BpfError:
        return []


def held_by(links: Iterable[int]) -> list[Holder]:
    """Return the processes that have an open file descriptor of one of the BPF links with these
    identifiers."""
    wanted = {f"link_id:\t{each}" for each in links}
    if not wanted:
        return []
    results = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and holds(process, wanted):
            with contextlib.suppress(OSError):
                program = (process / "comm").read_text().strip()
                results.append(Holder(int(process.name), program))
    return sorted(results)


def holds(process: Path, lines: set[str]) -> bool:
    """Return whether one of the files /proc/PID/fdinfo/N of a process contains one of these lines.
    Such a file describes the file descriptor N."""
    with contextlib.suppress(OSError):
        for each in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(each).startswith(LINK):
                    text = (process / "fdinfo" / each.name).read_text()
                    if not lines.isdisjoint(text.splitlines()):
                        return True
    return False
