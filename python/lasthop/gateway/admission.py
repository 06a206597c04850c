"""Admission of new MAC addresses: a quarantine, and a limit of new leaves per minute.

A guest can invent MAC addresses. Each would get a leaf, and with it a share. A new MAC address
therefore first shares the leaf of its access point for unclassified packets. Admission is a pure
function of the MAC addresses and of time.
"""

import math
import re
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lasthop.daemon.state import State
from lasthop.errors import UserError

QUARANTINE_S = 10.0
"""Time that a new MAC address stays without a leaf of its own. [s]"""
MAX_NEW_LEAVES = 30
"""Largest number of MAC addresses that get a leaf within one minute. [-]"""
WINDOW_S = 60.0
FILE = "stations"
"""Name of the file with the admitted MAC addresses in the state directory."""
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
MOST_KNOWN = 1 << 14
"""Largest number of admitted MAC addresses. Beyond it, those absent for longest wait again."""


class Memory:
    """MAC addresses that outlive the process. This class keeps none, subclasses may."""

    def read(self) -> list[str]:
        """Return the MAC addresses that the last run has admitted."""
        return []

    def write(self, macs: Collection[str]) -> None:
        """Keep these MAC addresses."""


@dataclass
class Remembered(Memory):
    """MAC addresses in a file of the state directory.

    Parameters
    ----------
    state : State
    """

    state: State
    written: frozenset[str] = frozenset()
    fault: str | None = None
    """Reason why they could not be written; None if they were."""

    def read(self) -> list[str]:
        """Return the MAC addresses that the last run has admitted."""
        found = self.state.read(FILE).split()
        macs = [mac for mac in found[:MOST_KNOWN] if MAC.fullmatch(mac)]
        self.written = frozenset(macs)
        return macs

    def write(self, macs: Collection[str]) -> None:
        """Keep these MAC addresses, if they have changed."""
        if (wanted := frozenset(macs)) == self.written:
            return
        try:
            self.state.write(FILE, "".join(f"{mac}\n" for mac in macs))
        except UserError as error:
            self.fault = f"admitted MAC addresses: cannot be saved for the next run: {error}"
        else:
            self.written, self.fault = wanted, None


@dataclass
class Admission:
    """Decides which MAC addresses may have a leaf of their own.

    Parameters
    ----------
    known : dict of str to None
        MAC addresses that need no quarantine: those of the last run.
    quarantine_s : float
        Time that others wait. [s]
    max_new_leaves : int
        Number of others that are admitted within one minute.
    """

    known: dict[str, None] = field(default_factory=dict)
    """Admitted MAC addresses, in the order in which they were last present."""
    quarantine_s: float = QUARANTINE_S
    max_new_leaves: int = MAX_NEW_LEAVES
    first_s: dict[str, float] = field(default_factory=dict)
    """Times at which waiting MAC addresses were first seen, in order. [s]"""
    admitted_s: deque[float] = field(default_factory=deque)
    """Times of the admissions of the last minute. [s]"""

    def see(self, macs: Iterable[str], now_s: float) -> set[str]:
        """Return those of the present MAC addresses that may have a leaf.

        A MAC address that is not present any more loses its place in the queue, but stays known
        once it is admitted.
        """
        there = dict.fromkeys(macs)
        self.first_s = {mac: since for mac, since in self.first_s.items() if mac in there}
        while self.admitted_s and now_s - self.admitted_s[0] >= WINDOW_S:
            self.admitted_s.popleft()
        for mac in there:
            if mac in self.known:
                del self.known[mac]
                self.known[mac] = None
            else:
                self.first_s.setdefault(mac, now_s)
        for mac, since in list(self.first_s.items()):
            is_early = now_s - since < self.quarantine_s
            if is_early or len(self.admitted_s) >= self.max_new_leaves:
                break
            self.admitted_s.append(now_s)
            self.known[mac] = None
            del self.first_s[mac]
        for mac in list(self.known)[: max(len(self.known) - MOST_KNOWN, 0)]:
            if mac not in there:
                del self.known[mac]
        return there.keys() & self.known.keys()

    def due_s(self) -> float:
        """Return the time at which the next MAC address may be admitted. [s]"""
        first_s = next(iter(self.first_s.values()), math.inf)
        due_s = first_s + self.quarantine_s
        if len(self.admitted_s) >= self.max_new_leaves:
            due_s = max(due_s, self.admitted_s[0] + WINDOW_S)
        return due_s

    @property
    def waiting(self) -> int:
        """Number of MAC addresses without a leaf. [-]"""
        return len(self.first_s)
