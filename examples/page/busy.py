"""Whether this machine had time for the measurements on it.

A browser whose processor others use is late where no network is: its times are of a busy machine.
"""

import os
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")
"""Processor times; first of all `cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...`."""
WORKING = (1, 2, 3, 8)
"""Words of that line that are time of programs, or taken from this machine by its host."""
REST_S, LOOK_S = 120.0, 3.0
"""Longest wait for a quiet machine, and how long each look at it is. [s]"""
TICKS = os.sysconf("SC_CLK_TCK")


class Others:
    """Processors that others use, from now on."""

    def __init__(self) -> None:
        self.since_s = time.monotonic()
        self.used_s = others_s()

    def processors(self) -> float:
        """How many they have used on average; call it when own children have ended. [-]"""
        passed_s = time.monotonic() - self.since_s
        return max(0.0, others_s() - self.used_s) / passed_s


def rest(most: float) -> None:
    """Wait until others use no more processors than this, at most for a limited time."""
    until_s = time.monotonic() + REST_S
    while time.monotonic() < until_s:
        others = Others()
        time.sleep(LOOK_S)
        if others.processors() <= most:
            return


def others_s() -> float:
    """Processor time since the start of the machine but that of this process and its children that
    have ended. [s]
    """
    words = STAT.read_text().split(maxsplit=10)
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own_s = sum(each.ru_utime + each.ru_stime for each in own)
    return sum(int(words[k]) for k in WORKING) / TICKS - own_s
