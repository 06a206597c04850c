"""Check whether other programs disturbed the measurements on this machine.

If other programs use the processor, the browser is slow even without a network, and its times are
not valid.
"""

import os
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")
"""File with processor times. Its first line is `cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL
...`.
"""
WORKING = (1, 2, 3, 8)
"""Indices of the fields USER, NICE, SYSTEM and STEAL, which are the time used by programs, and the
time that the host has taken from this virtual machine.
"""
REST_S, LOOK_S = 120.0, 3.0
"""Longest wait for a quiet machine, and duration of one check. [s]"""
TICKS = os.sysconf("SC_CLK_TCK")


class Others:
    """Processor time that other programs use, measured from the creation of this object."""

    def __init__(self) -> None:
        self.since_s = time.monotonic()
        self.used_s = others_s()

    def processors(self) -> float:
        """Return the average number of processors that other programs have used since the creation
        of the object. Child processes of this process must have ended before the call. [-]
        """
        passed_s = time.monotonic() - self.since_s
        return max(0.0, others_s() - self.used_s) / passed_s


def rest(most: float) -> None:
    """Wait until other programs use at most `most` processors, but not longer than `REST_S`."""
    until_s = time.monotonic() + REST_S
    while time.monotonic() < until_s:
        others = Others()
        time.sleep(LOOK_S)
        if others.processors() <= most:
            return


def others_s() -> float:
    """Return the processor time that programs have used since the start of the machine, except this
    process and its ended children. [s]
    """
    words = STAT.read_text().split(maxsplit=10)
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own_s = sum(each.ru_utime + each.ru_stime for each in own)
    return sum(int(words[k]) for k in WORKING) / TICKS - own_s
