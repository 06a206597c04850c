"""Admission of new MAC addresses: a quarantine, and a limit of new leaves per minute.

A guest can invent MAC addresses. Each would get a leaf, and with it a share. A new MAC address
therefore first shares the leaf of its access point for unclassified packets. Admission is a pure
function of the MAC addresses and of time.
"""

import math
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from lasthop.daemon.state import State
from lasthop.errors import UserError
from lasthop.linux.tc import Address

QUARANTINE_S = 10.0
"""Time that a new MAC address waits before it gets a leaf that it does not share. [s]"""
MAX_NEW_LEAVES = 30
"""Largest number of MAC addresses that get a leaf within one minute. [-]"""
WINDOW_S = 60.0
FILE = "stations"
"""Name of the file of the state directory that keeps MAC addresses."""
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
MOST_KNOWN = 1 << 14
"""Largest number of admitted MAC addresses. Above it, the MAC addresses that have been absent for
longest are forgotten and wait again."""


class Memory:
    """Storage for MAC addresses across restarts. This class stores nothing; subclasses may."""

    def read(self) -> "StoredState":
        """Return the state that the last run stored."""
        return StoredState()

    def write(self, stored_state: "StoredState") -> None:
        """Keep this."""


class StoredState(NamedTuple):
    """State that one run stores for the next run."""

    admitted: Collection[str] = ()
    """MAC addresses that were admitted."""
    ignored: Mapping[Address, str] = {}
    """MAC addresses of machines that the file ignores, by IP address."""


@dataclass
class Remembered(Memory):
    """A file of the state directory, with a MAC address per line, or an IP address after it.

    Parameters
    ----------
    state : State
    """

    state: State
    written: frozenset[str] = frozenset()
    fault: str | None = None
    """Why the file could not be written, in words."""

    def read(self) -> StoredState:
        """Return the state that the last run stored."""
        admitted, ignored = [], {}
        lines = self.state.read(FILE).splitlines()
        for line in lines:
            mac, *rest = line.split() or [""]
            if MAC.fullmatch(mac) is None:
                continue
            if not rest:
                admitted.append(mac)
                continue
            with suppress(ValueError):
                ignored[ip_address(rest[0])] = mac
        self.written = frozenset(lines)
        return StoredState(admitted[-MOST_KNOWN:], ignored)

    def write(self, stored_state: StoredState) -> None:
        """Store this state, if it has changed."""
        lines = [
            *stored_state.admitted,
            *(f"{mac} {address}" for address, mac in stored_state.ignored.items()),
        ]
        if (wanted := frozenset(lines)) == self.written:
            return
        try:
            self.state.write(FILE, "".join(f"{line}\n" for line in lines))
        except UserError as error:
            self.fault = f"admitted MAC addresses: cannot be saved for the next run: {error}"
        else:
            self.written, self.fault = wanted, None


@dataclass
class Admission:
    """Decides which MAC addresses may have a leaf that they do not share.

    Parameters
    ----------
    known : dict of str to None
        MAC addresses that need no quarantine: those that the last run admitted.
    quarantine_s : float
        Time that all other MAC addresses wait. [s]
    max_new_leaves : int
        Largest number of other MAC addresses that are admitted within one minute.
    """

    known: dict[str, None] = field(default_factory=dict)
    """Admitted MAC addresses, ordered by the time at which they were last present."""
    quarantine_s: float = QUARANTINE_S
    max_new_leaves: int = MAX_NEW_LEAVES
    first_s: dict[str, float] = field(default_factory=dict)
    """Times at which waiting MAC addresses were first seen, in order. [s]"""
    admitted_s: deque[float] = field(default_factory=deque)
    """Times of the admissions of the last minute. [s]"""

    def see(self, macs: Iterable[str], now_s: float) -> set[str]:
        """Return the present MAC addresses that may have a leaf.

        A waiting MAC address that is absent loses its place in the queue. An admitted MAC address
        stays admitted.
        """
        present = dict.fromkeys(macs)
        self.first_s = {mac: since for mac, since in self.first_s.items() if mac in present}
        while self.admitted_s and now_s - self.admitted_s[0] >= WINDOW_S:
            self.admitted_s.popleft()
        for mac in present:
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
            if mac not in present:
                del self.known[mac]
        return present.keys() & self.known.keys()

    def due_s(self) -> float:
        """Return the time at which the next MAC address may be admitted. [s]"""
        first_s = next(iter(self.first_s.values()), math.inf)
        due_s = first_s + self.quarantine_s
        if len(self.admitted_s) >= self.max_new_leaves:
            due_s = max(due_s, self.admitted_s[0] + WINDOW_S)
        return due_s

    @property
    def waiting(self) -> int:
        """Return the number of MAC addresses that wait for a leaf. [-]"""
        return len(self.first_s)
