"""Record the ports at which MAC addresses are seen: the number of MAC addresses per port, and how
often a MAC address changes its port."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_MOVES = 4
"""Number of port changes of one MAC address within `WINDOW_S`. If this number is reached, two
machines seem to use the MAC address. [-]"""
WINDOW_S = 60.0
"""Time within which port changes are counted. A roaming station changes its port less often. [s]"""
MAX_MACS = 1 << 16
"""Largest number of MAC addresses whose ports are stored. Above this number, the MAC address that
was seen longest ago is deleted."""


class Seen(NamedTuple):
    """Last port and time at which a MAC address was seen."""

    port: str
    last_s: float
    is_exact: bool


@dataclass
class Ports:
    """Ports at which MAC addresses were last seen, and changes of these ports. The stored ports
    depend only on the time and on the reports of the sources of stations.

    A port is an interface towards access points, or a port of the bridge at such an interface.
    """

    at: dict[str, Seen] = field(default_factory=dict)
    """Last port of each MAC address."""
    moves: deque[tuple[float, str, str, str]] = field(default_factory=deque)
    """Changes of ports: time [s], MAC address, old port, new port."""

    def see(self, mac: str, port: str, now_s: float, *, is_exact: bool) -> None:
        """Record that a MAC address was seen at a port.

        A port is exact if it was read from the forwarding table of a bridge. Only changes from an
        exact port are counted, since a roaming station can be a neighbour at several interfaces
        simultaneously.
        """
        before = self.at.pop(mac, None)
        if before is not None and before.is_exact and not is_exact:
            self.at[mac] = before
            return
        self.at[mac] = Seen(port, now_s, is_exact)
        if len(self.at) > MAX_MACS:
            del self.at[next(iter(self.at))]
        if before is not None and before.is_exact and before.port != port:
            self.moves.append((now_s, mac, before.port, port))

    def forget(self, now_s: float, absence_s: float) -> None:
        """Delete MAC addresses that were not seen for `absence_s`, and old port changes. [s]"""
        while self.moves and now_s - self.moves[0][0] > WINDOW_S:
            self.moves.popleft()
        while len(self.moves) > MAX_MACS:
            self.moves.popleft()
        since = now_s - absence_s
        self.at = {mac: seen for mac, seen in self.at.items() if seen.last_s >= since}

    def counts(self) -> dict[str, int]:
        """Return the number of MAC addresses at each port."""
        return dict(Counter(seen.port for seen in self.at.values()))

    def faults(self) -> list[str]:
        """Return a message for each MAC address that is used at two ports."""
        counts = Counter(mac for _, mac, _, _ in self.moves)
        between = {mac: (before, after) for _, mac, before, after in self.moves}
        return [
            f"MAC address {mac} is at two ports, {' and '.join(sorted(between[mac]))}: "
            "two machines use it, and have one share"
            for mac, count in counts.items()
            if count >= MAX_MOVES
        ]
