"""Scheduling priority of threads whose delay would look like a delay of the network."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FIRST = 10
"""Priority among real-time threads (sched(7)). Few other threads on a machine are real-time
threads."""
MAX_NICE = -20


def real_time() -> None:
    """Make the calling thread a real-time thread, if the system permits it."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIRST))


@contextmanager
def preferred() -> Iterator[None]:
    """Give the calling thread the highest priority among threads that are not real-time, if the
    system permits it.

    Processes and threads that the calling thread starts have the normal priority.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, MAX_NICE)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, 0, before)


def waited_s() -> float | None:
    """Return the time for which the calling thread has waited for a processor; None if the kernel
    does not report this time. [s]"""
    try:
        _, waited_ns, _ = Path("/proc/thread-self/schedstat").read_text().split()
    except OSError:
        return None
    return int(waited_ns) / 1e9
