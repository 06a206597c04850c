"""Evaluate the kernel's counters: rates, stations with traffic, and stations that send much UDP
over the uplink."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.groups import Bundle, Bundles
from lasthop.enforce.gateway.layout import Member
from lasthop.linux.counters import Counters
from lasthop.linux.tc import Address
from lasthop.linux.udp_sample import Counted

ACTIVE_BYTES = 3000
"""Threshold of activity, about two packets. A station is active if its leaf has sent more bytes
than this since the last reading. With fairness "flow" or "direction", stations have no leaf of
their own. A station is then active if its access point's class has sent more bytes than this, and
if the sample of packets contains a packet of the station. [bytes]"""
UDP_MEMORY = 5
"""Number of readings for which a station that has sent much UDP is not pinged. [-]"""


NOTHING = Counted(0, 0)
NO_BUNDLES: Bundles = MappingProxyType({})


def rate_since(
    before: Counters | None, now: Counters | None, passed_s: float
) -> tuple[float, Counters | None]:
    """Return the rate between two readings [bit/s], and the counters `now` of the second reading.
    The rate is 0 if it cannot be computed."""
    if now is None or before is None or passed_s <= 0:
        return 0.0, now
    return 8 * (now.sent_bytes - before.sent_bytes) / passed_s, now


@dataclass
class Seen:
    """Counters of a station at the last reading, and the rates computed from these counters."""

    ap: str
    addresses: list[str]
    leaf: int
    mac: str | None = None
    group: str | None = None
    counters: Counters | None = None
    rate_bps: float = 0.0
    udp: Counted = NOTHING
    udp_bps: float = 0.0
    udp_looks: int = 0
    """Number of further readings for which the station is not pinged, since it has sent much
    UDP."""


@dataclass
class SeenGroup:
    """Counters of a group at one access point at the last reading, and the group's rate there."""

    bundle: Bundle
    counters: Counters | None = None
    rate_bps: float = 0.0


@dataclass
class Observed:
    """State of all stations and groups, computed from all counters that were read.

    With fairness "flow" or "direction", stations have no separate counters.
    """

    gateway: Gateway
    seen: dict[str, Seen] = field(default_factory=dict)
    groups: dict[tuple[str, str], SeenGroup] = field(default_factory=dict)
    """Groups at the access points, by the access point's name and the group's name."""
    active: set[str] = field(default_factory=set)
    udp_senders: set[str] = field(default_factory=set)
    """Stations that are not pinged, since their own unshaped uplink UDP delays their replies."""
    last_s: float | None = None
    sent_bytes: dict[str, int] = field(default_factory=dict)
    """Number of bytes that have left the class of each access point, by the access point's name."""

    def take(
        self,
        members: Mapping[str, Member],
        counters: Mapping[int, Counters],
        udp: Mapping[Address, Counted],
        now_s: float,
        classes: Mapping[str, int],
        met: Collection[Address] = (),
        bundles: Bundles = NO_BUNDLES,
    ) -> None:
        """Update the state from counters that were read at `now_s` on the monotonic clock. [s]

        `classes` are the HTB classes of access points. `met` are the addresses of sampled packets,
        which show the active stations if stations have no separate leaves.
        """
        passed = now_s - self.last_s if self.last_s is not None else 0.0
        self.last_s = now_s
        for name in set(self.seen) - set(members):
            del self.seen[name]
        for key, bundle in bundles.items():
            group = self.groups.setdefault(key, SeenGroup(bundle))
            group.rate_bps, group.counters = rate_since(
                group.counters, counters.get(bundle.leaf), passed
            )
        busy = self.busy_aps(counters, classes)
        self.active.clear()
        self.udp_senders.clear()
        for name, member in members.items():
            known = self.seen.get(name)
            if known is None or known.leaf != member.leaf:
                known = self.seen[name] = Seen(member.ap.name, [], member.leaf)
            known.mac, known.group = member.station.mac, member.station.group
            known.addresses = [str(each) for each in member.keys]
            if member.has_own_leaf:
                is_active = self.take_leaf(known, counters.get(member.leaf), passed) > ACTIVE_BYTES
            else:
                has_met = any(address in met for address in member.addresses)
                is_active = has_met and member.ap.name in busy
            if is_active:
                self.active.add(name)
            self.take_udp(known, [udp.get(a, NOTHING) for a in member.addresses], passed)
            if known.udp_looks and member.ap.udp == "down":
                self.udp_senders.add(name)

    def busy_aps(self, counters: Mapping[int, Counters], classes: Mapping[str, int]) -> set[str]:
        """Return the access points whose class has sent more than `ACTIVE_BYTES` since the last
        reading."""
        now = {ap: counters[leaf].sent_bytes for ap, leaf in classes.items() if leaf in counters}
        before, self.sent_bytes = self.sent_bytes, now
        return {ap for ap, sent in now.items() if sent - before.get(ap, sent) > ACTIVE_BYTES}

    def is_pinged(self, name: str) -> bool:
        """Return whether a station is pinged now: the rate of its access point is estimated, and
        the station is active and does not send much UDP."""
        is_estimated = self.gateway.ap(self.seen[name].ap).rate_bps is None
        return is_estimated and name in self.active and name not in self.udp_senders

    def take_leaf(self, known: Seen, now: Counters | None, passed: float) -> int:
        """Process the counters of a station's leaf, and return the bytes sent since the last
        reading."""
        before = known.counters
        if now is None or before is None or passed <= 0:
            known.counters = now
            return 0
        known.rate_bps, known.counters = rate_since(before, now, passed)
        return now.sent_bytes - before.sent_bytes

    def take_udp(self, known: Seen, counted: list[Counted], passed: float) -> None:
        """Process the counters of a station's uplink UDP."""
        total = Counted(sum(c.packets for c in counted), sum(c.bytes for c in counted))
        before, known.udp = known.udp, total
        known.udp_bps = 8 * max(total.bytes - before.bytes, 0) / passed if passed > 0 else 0.0
        known.udp_looks = max(known.udp_looks - 1, 0)
        if known.udp_bps > self.gateway.udp_uplink_bps:
            known.udp_looks = UDP_MEMORY

    def of_groups(self) -> list[dict[str, Any]]:
        """Return a status row for every group at each access point."""
        rows = []
        for (ap, name), group in self.groups.items():
            present = [each for each in self.seen.values() if (each.ap, each.group) == (ap, name)]
            row: dict[str, Any] = {
                "name": name,
                "ap": ap,
                "share": group.bundle.group.share,
                "max_bps": group.bundle.group.max_bps,
                "stations": len(present),
            }
            if (counters := group.counters) is not None:
                row |= {
                    "rate_bps": group.rate_bps,
                    "sent_bytes": counters.sent_bytes,
                    "sent_packets": counters.sent_packets,
                    "backlog_packets": counters.backlog_packets,
                }
            rows.append(row)
        return rows

    def stations(self) -> list[dict[str, Any]]:
        """Return a status row for every station."""
        rows = []
        for name, known in self.seen.items():
            row: dict[str, Any] = {
                "name": name,
                "ap": known.ap,
                "mac": known.mac,
                "group": known.group,
                "addresses": known.addresses,
                "udp_uplink_bps": known.udp_bps,
                "udp_uplink_packets": known.udp.packets,
                "udp_uplink_bytes": known.udp.bytes,
                "pinged": self.is_pinged(name),
            }
            if known.counters is not None:
                row |= {"rate_bps": known.rate_bps, **known.counters._asdict()}
                del row["backlog_bytes"]
            rows.append(row)
        return rows
