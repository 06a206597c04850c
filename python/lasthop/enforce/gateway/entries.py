"""Contents of the classifier's BPF maps, computed from the layout of the gateway.

A member is a station with a leaf. The key of a member's first map entry is the member's MAC
address. The member has additional map entries with its IP addresses as keys in two cases: other
stations can send frames with its MAC address, or its own frames can have another MAC address.
"""

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lasthop.enforce.gateway.classification import (
    ACCESS,
    BY_ADDRESS,
    GROUP,
    HAS_IGNORED,
    UNCLASSIFIED_AT,
    Place,
    Surroundings,
    Table,
    interface_key,
    leaf_key,
    mac_key,
    own_key,
    prefix_key,
    settings,
)
from lasthop.enforce.gateway.config import is_in
from lasthop.enforce.gateway.layout import MAJOR, Layout, Member
from lasthop.linux.tc import Address, Subnet

FIRST_AP_NUMBER = 1 << 17
"""Index of the first rate limiter for packets of no station. This rate limiter belongs to the first
access point."""
STRANGERS = 16
"""Number of rate limiters per access point for packets of no station. The source MAC address of
such a packet selects one of these rate limiters. [-]"""
FIRST_IGNORED_NUMBER = 1 << 18
"""Index of the first rate limiter for machines in `discover.ignore`."""
NO_SURROUNDINGS = Surroundings()
NOWHERE = Place(0, 0, 0, 0)
"""Value in a BPF map for a MAC address or IP address that has no leaf."""
MAX_WAITING = 4096
"""Largest number of MAC addresses without a leaf that are written to the BPF maps with their access
points. Further MAC addresses are left out."""
UNKNOWN_MAC = "no MAC address is known"
SHARED_MAC = "several stations have one MAC address"
ROUTED_MAC = "the MAC address is that of a router"
ROUTED = "a router is between `lan` and the address"
"""Reason why a station is classified by its IP addresses. The other reasons are `UNKNOWN_MAC`,
`SHARED_MAC` and `ROUTED_MAC`.
"""


@dataclass
class Entries:
    """Entries of the BPF maps for the present stations of a layout.

    Parameters
    ----------
    layout : Layout
    on_link : collection of networks
        Subnets of the interfaces towards access points. An address outside these subnets is reached
        through a router. Frames from and to this address have the MAC address of the router, and
        are classified by IP address. Without subnets, as at the port of a bridge, all addresses are
        on the link.
    others : Surroundings
    """

    layout: Layout
    on_link: Collection[Subnet] = ()
    others: Surroundings = NO_SURROUNDINGS

    def table(self, interfaces: Mapping[str, int], own: Iterable[Address]) -> Table:
        """Return all entries of the BPF maps.

        Parameters
        ----------
        interfaces : mapping of str to int
            Kernel numbers of the existing interfaces towards access points, by name.
        own : iterable of Address
            Addresses of this machine. Pings from these addresses are exempt.
        """
        table: Table = {("own", own_key(address)): struct.pack("=I", 1) for address in own}
        table |= self.access_points(interfaces)
        table |= self.machines()
        for name in self.layout.members:
            table |= self.member(name)
        table |= self.groups()
        for address, mac in self.others.ignored.items():
            entry = NOWHERE._replace(number=self.ignored_numbers[mac])
            table["prefixes", prefix_key(address)] = entry.packed(HAS_IGNORED)
        return table

    def access_points(self, interfaces: Mapping[str, int]) -> Table:
        """Return the map entries of the interfaces, and of each access point's leaves for packets
        that belong to no station."""
        table: Table = {}
        aps, others = self.layout.gateway.aps, self.others
        places = {
            ap.name: Place(*self.layout.shared[ap.name], k, FIRST_AP_NUMBER + STRANGERS * k)
            for k, ap in enumerate(aps)
        }
        for k, (unclassified, multicast, _, number, _) in enumerate(places.values()):
            value = ACCESS.pack(unclassified & 0xFFFF, multicast & 0xFFFF, number)
            table["aps", interface_key(k)] = value
        first_at = {ap.interface: k for k, ap in reversed(list(enumerate(aps)))}
        for name, k in first_at.items():
            if name in interfaces:
                table["interfaces", interface_key(interfaces[name])] = struct.pack("=I", k)
        table["setup", bytes(4)] = settings(self.layout.ifb.number)
        if len(first_at) < len(aps):
            # Several access points share an interface, so addresses identify the access point.
            for ap in aps:
                for subnet in ap.subnets:
                    table["prefixes", prefix_key(subnet)] = places[ap.name].packed(UNCLASSIFIED_AT)
            for mac, name in islice(others.waiting.items(), MAX_WAITING):
                table["macs", mac_key(mac)] = places[name].packed(UNCLASSIFIED_AT)
        return table

    def machines(self) -> Table:
        """Return the map entries for the MAC addresses of routers and of ignored machines."""
        table: Table = {}
        for mac in self.shared_routers | self.ignored_numbers.keys():
            flags = BY_ADDRESS * (mac in self.shared_routers) | self.ignored_flag(mac)
            entry = NOWHERE._replace(number=self.ignored_numbers.get(mac, 0))
            table["macs", mac_key(mac)] = entry.packed(flags)
        return table

    def member(self, name: str) -> Table:
        """Return the map entries of a station with a leaf."""
        table: Table = {}
        layout, member = self.layout, self.layout.members[name]
        mac, reason = member.station.mac, self.by_address.get(name)
        order, passes = self.order[member.ap.name], member.ap.udp == "down"
        place = Place(member.leaf, member.uplink, order, layout.numbers[name], passes)
        if mac is not None:
            flags = self.ignored_flag(mac) | BY_ADDRESS * (reason in (SHARED_MAC, ROUTED_MAC))
            table["macs", mac_key(mac)] = place.packed(flags)
        keys: list[Address | Subnet] = []
        if not layout.is_by_mac_only(name):
            keys += member.station.subnets
        if reason is not None:
            is_by_mac = mac is not None and reason == ROUTED
            keys += [each for each in member.addresses if not is_by_mac or self.is_routed(each)]
        return table | {("prefixes", prefix_key(key)): place.packed() for key in keys}

    def groups(self) -> Table:
        """Return the map entries of all leaves that are inside groups."""
        table: Table = {}
        leaves = [each.leaf for each in self.layout.members.values()]
        leaves += [unclassified for unclassified, _ in self.layout.shared.values()]
        for leaf in leaves:
            if (bundle := self.layout.by_leaf.get(leaf >> 16)) is not None:
                table["groups", leaf_key(leaf)] = GROUP.pack(bundle.leaf & 0xFFFF, bundle.major)
        return table

    @cached_property
    def order(self) -> dict[str, int]:
        """Return the index of each access point in the BPF maps, by the access point's name."""
        return {ap.name: k for k, ap in enumerate(self.layout.gateway.aps)}

    @cached_property
    def ignored_numbers(self) -> dict[str, int]:
        """Return the index of the rate limiter of each ignored machine, by the machine's MAC
        address."""
        layout = self.layout
        owner_of = {m.station.mac: name for name, m in layout.members.items() if m.station.mac}
        return {
            mac: layout.numbers[owner_of[mac]] if mac in owner_of else FIRST_IGNORED_NUMBER + k
            for k, mac in enumerate(sorted(set(self.others.ignored.values())))
        }

    def ignored_flag(self, mac: str) -> int:
        """Return the flag `HAS_IGNORED` if an ignored machine has this MAC address, else 0."""
        return HAS_IGNORED * (mac in self.ignored_numbers)

    @cached_property
    def by_address(self) -> dict[str, str]:
        """Return the reason why a station with a leaf is classified by IP address, by the station's
        name. Stations that are classified by MAC address are left out."""
        members = self.layout.members
        owners = Counter(each.station.mac for each in members.values() if each.station.mac)
        reasons = {}
        for name, member in members.items():
            mac = member.station.mac
            behind = self.others.routers.get(mac or "", ())
            keys = member.addresses if self.layout.is_by_mac_only(name) else member.keys
            routed = any(self.is_routed(key) for key in keys if not is_in(key, behind))
            if mac is None:
                reasons[name] = ROUTED if routed or member.station.subnets else UNKNOWN_MAC
            elif mac in self.shared_routers:
                reasons[name] = ROUTED_MAC
            elif owners[mac] > 1:
                reasons[name] = SHARED_MAC
            elif routed:
                reasons[name] = ROUTED
        return reasons

    @cached_property
    def shared_routers(self) -> set[str]:
        """Return the MAC addresses of routers through which this machine reaches stations that have
        another MAC address.

        A station that is a router for its own subnets only is left out, since all frames with its
        MAC address belong to this station.
        """
        return {
            mac
            for mac, subnets in self.others.routers.items()
            if any(
                is_in(address, subnets)
                for member in self.layout.members.values()
                if member.station.mac != mac
                for address in member.keys
            )
        }

    def is_routed(self, address: Address | Subnet) -> bool:
        """Return whether packets of an address pass a router before they reach this machine.

        The result is False if the interfaces towards access points have no addresses.
        """
        return bool(self.on_link) and not is_in(address, self.on_link)


def keys_of(member: Member) -> list[tuple[str, bytes]]:
    """Return the keys of all BPF map entries that a station with a leaf may have."""
    keys = [("prefixes", prefix_key(each)) for each in member.keys]
    if member.station.mac is not None:
        keys.append(("macs", mac_key(member.station.mac)))
    if member.leaf >> 16 != MAJOR:
        keys.append(("groups", leaf_key(member.leaf)))
    return keys
