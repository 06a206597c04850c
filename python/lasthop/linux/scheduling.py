"""Who gets a processor when there are too few: threads whose lateness looks like a network's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FIRST = 10
"""Priority among real-time threads (sched(7)); hardly anything else is one."""
MOST_NICE = -20


def real_time() -> None:
    """The calling thread gets a processor before all others, where the system allows it."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIRST))


@contextmanager
def preferred() -> Iterator[None]:
    """Meanwhile the calling thread gets a processor before others that are not real-time, where the
    system allows it; processes and threads that it starts do not.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, MOST_NICE)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, 0, before)


def waited_s() -> float | None:
    """How long the calling thread has waited for a processor; None where nobody tells. [s]"""
    try:
        _, waited_ns, _ = Path("/proc/thread-self/schedstat").read_text().split()
    except OSError:
        return None
    return int(waited_ns) / 1e9
