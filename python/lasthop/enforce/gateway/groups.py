"""Groups of stations that have one share: their HTB classes, and the HTB hierarchies inside the
groups.

```text
access point, rate C --+-- leaf of a station of no group
                       +-- leaf of a group: its share, its largest rate
                             its queue is a hierarchy of its own --+-- leaf of a station
                                                                   +-- leaf of a station
```

In an HTB hierarchy, each class that borrows from an ancestor sends one quantum per round. A group
of nine stations would therefore send nine quanta per round. To avoid this, the queue of a group's
leaf is another HTB hierarchy, which never delays a packet. The group sends one quantum per round,
and its stations are served in turns inside the group.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from lasthop.enforce.gateway.config import AccessPoint, Gateway, Group
from lasthop.linux import tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import PACKET_BYTES, Device

FIRST_MAJOR = 1
"""Major number of the first HTB hierarchy inside a group. Small numbers are free, since no other
program creates queueing disciplines on the IFB."""
INSIDE_MINOR = 1
"""Minor number of the class that is the parent of the leaves inside a group."""
INSIDE_BPS = 1_000_000_000_000
"""Rate of the HTB hierarchy inside a group. This rate exceeds that of any interface, so that the
hierarchy never delays a packet. [bit/s]"""
INSIDE_BURST_BYTES = 1 << 20


class Bundle(NamedTuple):
    """A group at an access point."""

    group: Group
    leaf: int
    """HTB class of the group, whose parent is the class of the access point."""
    major: int
    """Major number of the HTB hierarchy inside the group."""

    @property
    def inside(self) -> int:
        """Return the class that is the parent of the leaves of the group's stations."""
        return tc.classid(self.major, INSIDE_MINOR)

    def hierarchy(self, ifb: Device, direct_packets: int, default: int) -> Iterator[Request]:
        """Yield the requests that create the HTB hierarchy inside the group, without stations.
        Unclassified packets use the class with minor number `default`."""
        yield tc.htb_qdisc(ifb, self.major, direct_packets, default, parent=self.leaf)
        yield tc.htb_class(
            ifb,
            self.inside,
            tc.classid(self.major, 0),
            rate_bps=INSIDE_BPS,
            burst_bytes=INSIDE_BURST_BYTES,
            quantum_bytes=PACKET_BYTES,
        )


Bundles: TypeAlias = Mapping[tuple[str, str], Bundle]
"""Groups, by the names of access point and group."""


def bundles_of(gateway: Gateway, last_leaf: int) -> Bundles:
    """Return each group at each access point, with descending class numbers from `last_leaf`."""
    results: dict[tuple[str, str], Bundle] = {}
    for ap in gateway.aps:
        for group in gateway.groups:
            leaf = tc.classid(tc.OURS, last_leaf - len(results))
            results[ap.name, group.name] = Bundle(group, leaf, FIRST_MAJOR + len(results))
    return results


def least_share(gateway: Gateway) -> float:
    """Return the smallest share of any leaf, relative to the share of a station that belongs to no
    group."""
    return min([1.0, *(group.share for group in gateway.groups)])


def longest_turn(gateway: Gateway) -> float:
    """Return the largest quantum of a leaf. [packets]"""
    return max([1.0, *(group.share for group in gateway.groups)]) / least_share(gateway)


def short_queue(gateway: Gateway) -> list[str]:
    """Return a warning if a group's quantum exceeds the limit of the group's queue. Such a queue
    may become empty before the quantum is sent."""
    turn = round(longest_turn(gateway))
    if turn <= gateway.queue_packets:
        return []
    return [
        f"`gateway.group`: shares differ so much that the largest turn is {turn} packets, but "
        f"`gateway.queue` holds {gateway.queue_packets}: a group whose queue runs empty within its "
        "turn gets less than its share"
    ]


def largest_bps(ap: AccessPoint, group: Group | None) -> int:
    """Return the largest rate of a leaf at an access point, which a group may limit further.
    [bit/s]"""
    largest = ap.rate_bps or ap.max_bps
    return largest if group is None or group.max_bps is None else min(largest, group.max_bps)
