"""What a gateway holds: memory, threads, descriptors, files, and what it has in the kernel."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from damage import FROM, TO
from lab import sh

HOUR_S = 3600.0
LEAST_SAMPLES = 10
"""Fewer say nothing of a slope."""


@dataclass(frozen=True)
class InKernel:
    """How much of a gateway is in the kernel."""

    classes: int
    queues: int
    entries: int
    """Filters for addresses, on the IFB and in both blocks."""


@dataclass(frozen=True)
class Held:
    """What a gateway holds at a time."""

    at_s: float
    """Since the gateway was up. [s]"""
    rss_bytes: int
    python_blocks: int
    """Pieces of memory that Python's allocator has given out: most objects are one."""
    malloc_bytes: int
    """In use, beside Python's allocator, which has what is small. [bytes]"""
    threads: int
    descriptors: int
    stations: int
    kernel: InKernel
    log_bytes: int
    state_bytes: int
    """All files of its directory but the log."""


def in_kernel() -> InKernel:
    """Count what this namespace has."""
    shown = {
        name: sh(f"tc {name} show dev lh-lan").splitlines() for name in ("class", "qdisc", "filter")
    }
    blocks = sh(f"tc filter show block {TO}; tc filter show block {FROM}").splitlines()
    return InKernel(
        len([line for line in shown["class"] if line.startswith("class htb")]),
        len(shown["qdisc"]),
        len([line for line in shown["filter"] if "flowid 6c68:" in line])
        + len([line for line in blocks if "mirred" in line]),
    )


def called_for(
    stations: Sequence[Mapping[str, Any]], leaves: int = 0, udp_both: int = 1
) -> InKernel:
    """What these stations of one access point call for.

    `leaves` are those that it has whatever its stations, and `udp_both` is 0 where uplink UDP is
    left alone.
    """
    classes = 1 + (leaves or len(stations))
    addresses = sum(len(station["addresses"]) for station in stations)
    # to and from it on the IFB; to it in one block, from it in the other, by TCP and by UDP
    return InKernel(classes, classes, addresses * (2 + 1 + 1 + udp_both))


def files_bytes(directory: Path) -> tuple[int, int]:
    """Size of the log with its old one, and of all other files. [bytes]"""
    log = rest = 0
    for path in directory.iterdir():
        size = path.stat().st_size
        if path.name.startswith("log"):
            log += size
        else:
            rest += size
    return log, rest


def rss_bytes(pid: int) -> int:
    """Memory of a process that is in RAM. [bytes]"""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@dataclass(frozen=True)
class Slope:
    """A straight line's, by least squares. [1/h]"""

    per_h: float
    ci95: float
    """Half of its 95 % interval, as if each sample were independent of the one before."""

    @property
    def least(self) -> float:
        """Lower end of the interval."""
        return self.per_h - self.ci95


def slope(at_s: Sequence[float], values: Sequence[float]) -> Slope | None:
    """How values grow with time; None for too few."""
    if len(at_s) < LEAST_SAMPLES:
        return None
    from scipy import stats

    line = stats.linregress(at_s, values)
    wide = float(stats.t.ppf(0.975, len(at_s) - 2)) * float(line.stderr)
    return Slope(float(line.slope) * HOUR_S, wide * HOUR_S)


def leak(what: str, values: Sequence[int]) -> str | None:
    """Says that of a thing there are always more in the last third than at times in the first."""
    third = len(values) // 3
    if third == 0:
        return None
    first, last = min(values[:third]), min(values[-third:])
    return f"{what}: {first} at first, never below {last} in the end" if last > first else None
