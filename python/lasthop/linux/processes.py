"""States and CPU times of processes, from /proc (proc(5))."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

AT_WORK = ("R", "D")
"""States of a process that runs or waits for a processor, and of a process that waits for a
disk."""


class Process(NamedTuple):
    """State of a process, and its CPU time including that of its children that have ended."""

    state: str
    cpu_s: float


def any_at_work(processes: Iterable[int]) -> bool:
    """Return whether one of these processes, or of their descendants, runs or waits for a processor
    or a disk."""
    return any(each.state in AT_WORK for each in with_descendants(processes))


def cpu_time_s(processes: Iterable[int]) -> float:
    """Return the CPU time of these processes and of their descendants. [s]"""
    return sum(each.cpu_s for each in with_descendants(processes))


def with_descendants(processes: Iterable[int]) -> Iterator[Process]:
    """Yield these processes and their descendants."""
    known: dict[int, Process] = {}
    children: dict[int, list[int]] = {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # The process may have ended.
            # The name, which may contain spaces, is in parentheses.
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
            number = int(directory.name)
            ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
            known[number] = Process(fields[0], ticks / ticks_per_s)
            children.setdefault(int(fields[1]), []).append(number)
    waiting = list(processes)
    while waiting:
        process = waiting.pop()
        if process in known:
            yield known[process]
        waiting += children.get(process, ())
