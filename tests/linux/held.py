"""Resources of a gateway: memory, threads, descriptors, files, and its objects in the kernel."""

import os
import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from damage import FROM, TO
from lab import sh
from lasthop.linux import bpf

HOUR_S = 3600.0
MIN_SAMPLES = 10
"""Smallest number of samples from which a slope is computed. [-]"""


@dataclass(frozen=True)
class InKernel:
    """Number of a gateway's kernel objects of each kind."""

    classes: int
    queues: int
    redirections: int
    """Number of filters that redirect packets to the IFB, in both shared filter blocks. [-]"""
    macs: int
    """Number of MAC addresses of stations in the map of the BPF programs. [-]"""
    prefixes: int
    """Number of addresses of stations that are classified by IP address, in the map of the BPF
    programs. [-]
    """


@dataclass(frozen=True)
class Held:
    """Resources of a gateway at one instant."""

    at_s: float
    """Time since the gateway was set up. [s]"""
    rss_bytes: int
    python_blocks: int
    """Number of memory blocks that Python's allocator has allocated. Most objects use one block.
    [-]
    """
    malloc_bytes: int
    """Memory that was allocated by malloc, not by Python's allocator for small objects. [bytes]"""
    threads: int
    descriptors: int
    stations: int
    kernel: InKernel
    log_bytes: int
    state_bytes: int
    """Size of all files of the gateway's directory except the log. [bytes]"""


SHARED_LEAVES = 2
"""Number of leaves for unclassified and for multicast packets. [-]"""
MAP_NEXT_KEY = 4
"""Number of the command of bpf(2) that returns the next key of a map (linux/bpf.h)."""
NAME_AT, NAME_BYTES = 24, 16
"""Offset and length of the name in the kernel's description of a map (struct bpf_map_info). [bytes]
"""


def in_kernel(pid: int) -> InKernel:
    """Count the kernel objects of this namespace, and the map entries of a process."""
    shown = {name: sh(f"tc {name} show dev lh-lan").splitlines() for name in ("class", "qdisc")}
    blocks = sh(f"tc filter show block {TO}; tc filter show block {FROM}").splitlines()
    entries = map_entries(pid)
    return InKernel(
        len([line for line in shown["class"] if line.startswith("class htb")]),
        len(shown["qdisc"]),
        len([line for line in blocks if "mirred" in line]),
        entries["macs"],
        entries["prefixes"],
    )


def map_entries(pid: int) -> Counter[str]:
    """Count the entries of the BPF maps of a process, by name."""
    entries: Counter[str] = Counter()
    numbers = set()
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):
            match = re.search(r"^map_id:\s*(\d+)$", file.read_text(), re.MULTILINE)
            numbers |= {int(match[1])} if match else set()
    for number in numbers:
        descriptor = bpf.call(bpf.MAP_FD_BY_ID, "a map", struct.pack("=III", number, 0, 0))
        try:
            name, key_bytes = shape_of(descriptor)
            if name in ("macs", "prefixes"):
                entries[name] += len(keys_of(descriptor, key_bytes))
        finally:
            os.close(descriptor)
    return entries


def shape_of(descriptor: int) -> tuple[str, int]:
    """Return the name of a BPF map, and the size of its keys [bytes]."""
    information = bpf.information(descriptor, NAME_AT + NAME_BYTES)
    name = information[NAME_AT : NAME_AT + NAME_BYTES].partition(b"\0")[0].decode()
    return name, struct.unpack_from("=I", information, 8)[0]


def keys_of(descriptor: int, key_bytes: int) -> set[bytes]:
    """Return the keys of a BPF map."""
    keys: set[bytes] = set()
    key, following = bpf.buffer(b""), bpf.buffer(bytes(key_bytes))
    while True:
        at = bpf.address(key) if keys else 0
        attributes = struct.pack("=IIQQ", descriptor, 0, at, bpf.address(following))
        try:
            bpf.call(MAP_NEXT_KEY, "a key", attributes)
        except FileNotFoundError:
            return keys
        key = bpf.buffer(following.raw)
        keys.add(key.raw)


def needed_by(stations: Sequence[Mapping[str, Any]], leaves: int = 0) -> InKernel:
    """Return the numbers of kernel objects that a gateway with these stations needs.

    `leaves` is the number of leaves if it does not depend on stations; 0 means one leaf per
    station. A station is classified by its IP address if it shares its MAC address with another
    station, or if its MAC address is not known.
    """
    classes = 1 + SHARED_LEAVES + (leaves or len(stations))
    macs = Counter(station["mac"] for station in stations if station["mac"])
    by_address = [each for each in stations if macs[each["mac"]] != 1]
    addresses = sum(len(each["addresses"]) for each in by_address)
    return InKernel(classes, classes, 2, len(macs), addresses)


def files_bytes(directory: Path) -> tuple[int, int]:
    """Return the size of the log including the old log, and of all other files. [bytes]"""
    log = rest = 0
    for path in directory.iterdir():
        size = path.stat().st_size
        if path.name.startswith("log"):
            log += size
        else:
            rest += size
    return log, rest


def rss_bytes(pid: int) -> int:
    """Return the resident memory of a process. [bytes]"""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@dataclass(frozen=True)
class Slope:
    """Slope of a straight line fitted by least squares. [1/h]"""

    per_h: float
    ci95: float
    """Half-width of the 95 % confidence interval, if samples are independent of each other. [1/h]
    """

    @property
    def least(self) -> float:
        """Return the lower end of the 95 % confidence interval. [1/h]"""
        return self.per_h - self.ci95


def slope(at_s: Sequence[float], values: Sequence[float]) -> Slope | None:
    """Return the slope of values over time; None if there are too few samples."""
    if len(at_s) < MIN_SAMPLES:
        return None
    from scipy import stats

    line = stats.linregress(at_s, values)
    wide = float(stats.t.ppf(0.975, len(at_s) - 2)) * float(line.stderr)
    return Slope(float(line.slope) * HOUR_S, wide * HOUR_S)


def leak(what: str, values: Sequence[int]) -> str | None:
    """Return a message if the smallest count in the last third exceeds the smallest count in the
    first third.
    """
    third = len(values) // 3
    if third == 0:
        return None
    first, last = min(values[:third]), min(values[-third:])
    return f"{what}: {first} at first, never below {last} in the end" if last > first else None
