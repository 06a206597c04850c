"""Admission of new MAC addresses: a quarantine, and a limit of new leaves per minute.

A guest can invent MAC addresses. Each invented MAC address would get a leaf, and with it a share of
the capacity. A new MAC address therefore first shares its access point's leaf for unclassified
packets. This module has no I/O: its decisions depend only on the MAC addresses and the time.
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
"""Time that a new MAC address waits before it gets a leaf of its own. [s]"""
MAX_NEW_LEAVES = 30
"""Largest number of MAC addresses that get a leaf of their own within one minute. [-]"""
WINDOW_S = 60.0
FILE = "stations"
"""Name of the file in the state directory that stores MAC addresses across restarts."""
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
MAX_KNOWN = 1 << 14
"""Largest number of admitted MAC addresses. Above this number, the MAC addresses that have been
absent for longest are removed and must wait again."""


class Memory:
    """Storage for MAC addresses across restarts. This base class stores nothing; `Remembered`
    stores them in a file."""

    def read(self) -> "StoredState":
        """Return the state that the last run of the gateway stored."""
        return StoredState()

    def write(self, stored_state: "StoredState") -> None:
        """Store this state for the next run of the gateway."""


class StoredState(NamedTuple):
    """State that one run of the gateway stores for the next run."""

    admitted: Collection[str] = ()
    """MAC addresses that were admitted."""
    ignored: Mapping[Address, str] = {}
    """MAC addresses of the machines in `discover.ignore`, by IP address."""


@dataclass
class Remembered(Memory):
    """Storage of MAC addresses in a file of the state directory, with one MAC address per line. The
    MAC address of an ignored machine is followed by its IP address.

    Parameters
    ----------
    state : State
    """

    state: State
    written: frozenset[str] = frozenset()
    fault: str | None = None
    """Message why the file could not be written; None if it was written."""

    def read(self) -> StoredState:
        """Return the state that the last run of the gateway stored."""
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
        return StoredState(admitted[-MAX_KNOWN:], ignored)

    def write(self, stored_state: StoredState) -> None:
        """Store this state in the file, if the state has changed."""
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
    """Admission control. It decides which MAC addresses may have a leaf of their own.

    Parameters
    ----------
    known : dict of str to None
        MAC addresses that the last run admitted. They need no quarantine.
    quarantine_s : float
        Time that a new MAC address waits. [s]
    max_new_leaves : int
        Largest number of new MAC addresses that are admitted within one minute.
    """

    known: dict[str, None] = field(default_factory=dict)
    """Admitted MAC addresses, in the order in which they were last present."""
    quarantine_s: float = QUARANTINE_S
    max_new_leaves: int = MAX_NEW_LEAVES
    first_s: dict[str, float] = field(default_factory=dict)
    """Time at which each waiting MAC address was first seen, in ascending order. [s]"""
    admitted_s: deque[float] = field(default_factory=deque)
    """Times of the admissions within the last minute. [s]"""

    def see(self, macs: Iterable[str], now_s: float) -> set[str]:
        """Return the MAC addresses of `macs` that may have a leaf of their own.

        A waiting MAC address that is not in `macs` is removed from the queue of waiting addresses.
        An admitted MAC address stays admitted.
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
        for mac in list(self.known)[: max(len(self.known) - MAX_KNOWN, 0)]:
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
        """Return the number of MAC addresses that wait for a leaf of their own. [-]"""
        return len(self.first_s)
