"""From counters to what people want to know: rates, who is active, who sends UDP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lasthop.gateway.config import Gateway
from lasthop.gateway.layout import Member
from lasthop.linux.counters import Counters
from lasthop.linux.tc import Address
from lasthop.linux.udp_sample import Counted

__all__ = ["Observed"]

ACTIVE_BYTES = 3000
"""A station is active if its leaf has sent more than this since the last look: two packets."""
UDP_MEMORY = 5
"""A station that has sent much UDP is not pinged for so many looks more."""


NOTHING = Counted(0, 0)


@dataclass
class Seen:
    """What is known of a station."""

    ap: str
    addresses: list[str]
    leaf: int
    counters: Counters | None = None
    rate_bps: float = 0.0
    udp: Counted = NOTHING
    udp_bps: float = 0.0
    udp_looks: int = 0
    """Looks for which it is still not pinged."""


@dataclass
class Observed:
    """What the counters have said so far.

    With fairness "flow" or "direction" stations have no counters of their own.
    """

    gateway: Gateway
    seen: dict[str, Seen] = field(default_factory=dict)
    active: set[str] = field(default_factory=set)
    udp_senders: set[str] = field(default_factory=set)
    last_s: float | None = None

    def take(
        self,
        members: Mapping[str, Member],
        counters: Mapping[int, Counters],
        udp: Mapping[Address, Counted],
        now_s: float,
    ) -> None:
        """Take what the kernel says now, on a clock that never jumps. [s]"""
        passed = now_s - self.last_s if self.last_s is not None else 0.0
        self.last_s = now_s
        for name in set(self.seen) - set(members):
            del self.seen[name]
        self.active.clear()
        self.udp_senders.clear()
        for name, member in members.items():
            known = self.seen.get(name)
            if known is None or known.leaf != member.leaf:
                known = self.seen[name] = Seen(member.ap.name, [], member.leaf)
            known.addresses = [str(address) for address, _ in member.entries]
            if member.has_own_leaf:
                sent = self.take_leaf(known, counters.get(member.leaf), passed)
            else:
                sent = ACTIVE_BYTES + 1  # nobody can tell; whoever answers quickly will do
            if sent > ACTIVE_BYTES:
                self.active.add(name)
            self.take_udp(known, [udp.get(a, NOTHING) for a, _ in member.entries], passed)
            if known.udp_looks:
                self.udp_senders.add(name)

    def take_leaf(self, known: Seen, now: Counters | None, passed: float) -> int:
        """Take a leaf's counters; what it has sent since the last look. [bytes]"""
        before, known.counters = known.counters, now
        if now is None or before is None or passed <= 0:
            return 0
        sent = now.sent_bytes - before.sent_bytes
        known.rate_bps = 8 * sent / passed
        return sent

    def take_udp(self, known: Seen, counted: list[Counted], passed: float) -> None:
        """Take a station's uplink UDP."""
        total = Counted(sum(c.packets for c in counted), sum(c.bytes for c in counted))
        before, known.udp = known.udp, total
        known.udp_bps = 8 * max(total.bytes - before.bytes, 0) / passed if passed > 0 else 0.0
        known.udp_looks = max(known.udp_looks - 1, 0)
        if known.udp_bps > self.gateway.udp_uplink_bps:
            known.udp_looks = UDP_MEMORY

    def stations(self) -> list[dict[str, Any]]:
        """Every station, for status and metrics."""
        rows = []
        for name, known in self.seen.items():
            row: dict[str, Any] = {
                "name": name,
                "ap": known.ap,
                "addresses": known.addresses,
                "udp_uplink_bps": known.udp_bps,
                "udp_uplink_packets": known.udp.packets,
                "udp_uplink_bytes": known.udp.bytes,
                "pinged": name not in self.udp_senders,
            }
            if known.counters is not None:
                row |= {
                    "rate_bps": known.rate_bps,
                    "sent_bytes": known.counters.sent_bytes,
                    "sent_packets": known.counters.sent_packets,
                    "dropped_packets": known.counters.dropped_packets,
                    "backlog_packets": known.counters.backlog_packets,
                }
            rows.append(row)
        return rows
