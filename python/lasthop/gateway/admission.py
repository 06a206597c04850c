"""Admission of new MAC addresses: a quarantine, and a limit of new leaves per minute.

A guest can invent MAC addresses. Each would get a leaf, and with it a share, so a new MAC address
first stays in its access point's leaf for unclassified packets. A pure function of time.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

QUARANTINE_S = 10.0
"""Time that a new MAC address stays without a leaf of its own. [s]"""
MAX_NEW_LEAVES = 30
"""MAC addresses that get a leaf within one minute. [-]"""
WINDOW_S = 60.0


@dataclass
class Admission:
    """Decides which MAC addresses may have a leaf of their own.

    Parameters
    ----------
    known : set of str
        MAC addresses that need no quarantine: those of the file and of the last run.
    quarantine_s : float
        Time that others wait. [s]
    max_new_leaves : int
        Number of others that are admitted within one minute.
    """

    known: set[str] = field(default_factory=set)
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
        present = list(macs)
        there = set(present)
        self.first_s = {mac: since for mac, since in self.first_s.items() if mac in there}
        while self.admitted_s and now_s - self.admitted_s[0] >= WINDOW_S:
            self.admitted_s.popleft()
        for mac in present:
            if mac not in self.known:
                self.first_s.setdefault(mac, now_s)
        for mac, since in sorted(self.first_s.items(), key=lambda item: item[1]):
            if now_s - since < self.quarantine_s:
                break
            if len(self.admitted_s) >= self.max_new_leaves:
                break
            self.admitted_s.append(now_s)
            self.known.add(mac)
            del self.first_s[mac]
        return there & self.known

    def forget(self, macs: Iterable[str]) -> None:
        """Forget MAC addresses, so that they wait again."""
        self.known.difference_update(macs)

    @property
    def waiting(self) -> int:
        """Number of MAC addresses without a leaf. [-]"""
        return len(self.first_s)
