"""States of processes, from /proc (proc(5))."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

AT_WORK = ("R", "D")
"""States of a process that runs or waits for a processor, and of a process that waits for a
disk."""


def any_at_work(processes: Iterable[int]) -> bool:
    """Return whether one of these processes, or of their descendants, runs or waits for a processor
    or a disk."""
    states: dict[int, str] = {}
    children: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # The process may have ended.
            # The name, which may contain spaces, is in parentheses.
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
            number = int(directory.name)
            states[number] = fields[0]
            children.setdefault(int(fields[1]), []).append(number)
    waiting = list(processes)
    while waiting:
        process = waiting.pop()
        if states.get(process) in AT_WORK:
            return True
        waiting += children.get(process, ())
    return False
