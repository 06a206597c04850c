"""Determine the stations that should have a leaf: stations in the configuration, and stations that
sources report.

This module has no I/O: the result depends only on the sources' reports and the time.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lasthop.enforce.gateway.bindings import Bindings
from lasthop.enforce.gateway.config import Gateway, KnownStation, is_in
from lasthop.enforce.gateway.ports import Ports
from lasthop.linux.tc import Address, Subnet

MAX_ADDRESSES = 1 << 16
"""Largest number of IP addresses that are stored for all reported stations together. Hosts often
change their IPv6 addresses. Above the limit, the station with the most addresses loses its oldest
addresses."""

MAX_MACHINES = 1 << 16
"""Largest number of machines that are stored simultaneously, which exceeds the number of leaves.
Further machines are ignored until a stored machine has left. Guests can invent MAC addresses."""


MAX_SEEN_INSIDE = 4
"""Largest number of reported addresses that a listed station gets for pings. Only addresses in the
station's subnets are used. [-]
"""


class Sighting(NamedTuple):
    """Report of a source about a station."""

    mac: str
    address: Address | None
    name: str | None = None
    """Name that the station reports."""
    ap: str | None = None
    """Access point of the station, if the source reports it."""
    interface: str | None = None
    """Interface at which the station was seen."""
    port: str | None = None
    """Port of a bridge at which the station was seen."""
    routed: tuple[Subnet, ...] = ()
    """Subnets that this machine reaches through the station."""
    is_new: bool = True
    """Whether this report may add a station that the configuration file does not list."""
    rate_bps: int | None = None
    """Data rate of frames from the access point to the station. A report with a data rate contains
    nothing else. [bit/s]"""
    rate_source: str | None = None
    """Source of the data rate, as `status` shows it."""


class Router(NamedTuple):
    """Router through which this machine has routes, identified by its MAC address."""

    last_s: float
    """Time at which a route through the router was last seen. [s]"""
    routed: tuple[Subnet, ...]

    def is_within(self, subnets: Collection[Subnet]) -> bool:
        """Return whether `subnets` contain all subnets that this machine reaches through the
        router."""
        return bool(self.routed) and all(is_in(each, subnets) for each in self.routed)


@dataclass
class Machine:
    """All reports about one MAC address, combined."""

    seen_s: dict[Address, float] = field(default_factory=dict)
    """Time at which each IP address of the machine was last reported. [s]"""
    name: str | None = None
    ap: str | None = None
    interface: str | None = None
    last_s: float = 0.0


class Roster:
    """Combined reports of all sources about stations.

    Parameters
    ----------
    gateway : Gateway
    """

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.machines: dict[str, Machine] = {}
        self.is_full = False
        """Whether the last update ignored a machine because too many machines are stored."""
        self.dropped: str | None = None
        """MAC address of a station that lost addresses in the last update because too many
        addresses are stored."""
        self.listed = {station.mac: station for station in gateway.stations if station.mac}
        self.owners = {a: station for station in gateway.stations for a in station.addresses}
        self.lengths: dict[tuple[int, int], dict[int, KnownStation]] = {}
        """Station to which each subnet of the configuration belongs, by IP version and prefix
        length, then by prefix."""
        for station in gateway.stations:
            for subnet in station.subnets:
                prefixes = self.lengths.setdefault((subnet.version, subnet.prefixlen), {})
                prefixes[prefix_of(subnet.network_address, subnet.prefixlen)] = station
        by_address = (a for each in gateway.stations if not each.mac for a in each.addresses)
        self.bound = gateway.discovery.ignore | set(by_address)
        """IP addresses of the configuration file for which MAC addresses are learnt."""
        self.bindings = Bindings(gateway.discovery.absence_s, gateway.discovery.ignore)
        self.routers: dict[str, Router] = {}
        """Routers through which this machine has routes, by MAC address."""
        self.ports = Ports()
        self.addresses: set[Address] = set()
        """IP addresses of all machines."""

    def see(self, sightings: Iterable[Sighting], now_s: float) -> None:
        """Process the reports of all sources."""
        self.is_full = False
        every = [sighting for sighting in sightings if sighting.rate_bps is None]
        for mac, address, port, at in ((s.mac, s.address, s.port, s.interface) for s in every):
            if port or at:
                self.ports.see(mac, port or at or "", now_s, is_exact=port is not None)
            if address in self.bound:
                self.bindings.see(address, mac, now_s)
        bound = {each.mac for each in self.bindings.by_address.values()}
        for sighting in every:
            mac, address = sighting.mac, sighting.address
            if sighting.routed:
                before = self.routers.get(mac)
                # A router may have an IPv4 address and an IPv6 address, each with its own routes.
                routed = before.routed if before is not None and before.last_s == now_s else ()
                self.routers[mac] = Router(now_s, (*routed, *sighting.routed))
            if address in self.gateway.discovery.ignore:
                continue
            if not sighting.is_new and mac not in self.listed and mac not in bound:
                continue
            if len(self.machines) >= MAX_MACHINES and not self.knows(mac):
                self.is_full = True
                continue
            machine = self.machines.setdefault(mac, Machine())
            machine.last_s = now_s
            machine.name = sighting.name or machine.name
            machine.ap = sighting.ap or machine.ap
            machine.interface = sighting.interface or machine.interface
            if address is not None:
                machine.seen_s[address] = now_s
        self.forget(now_s)

    def take_bindings(self, other: "Roster") -> None:
        """Copy bindings from another roster, for the IP addresses of this configuration."""
        for address, known in other.bindings.by_address.items():
            if address in self.bound:
                self.bindings.by_address[address] = known
        for mac, machine in self.machines.items():
            for address in self.bound & machine.seen_s.keys():
                self.bindings.see(address, mac, machine.seen_s[address])
                if address in self.gateway.discovery.ignore:
                    del machine.seen_s[address]

    def owner(self, address: Address) -> KnownStation | None:
        """Return the station of the configuration file that has an address."""
        result = self.owners.get(address)
        for (version, length), prefixes in self.lengths.items():
            if result is None and version == address.version:
                result = prefixes.get(prefix_of(address, length))
        return result

    def knows(self, mac: str) -> bool:
        """Return whether the configuration lists a MAC address, or a source has reported it."""
        return mac in self.machines or mac in self.listed

    @property
    def ignored(self) -> dict[Address, str]:
        """MAC addresses of the machines in `discover.ignore`, by IP address."""
        results = {a: self.bindings.mac_of(a) for a in self.gateway.discovery.ignore}
        return {address: mac for address, mac in results.items() if mac is not None}

    def bound_mac(self, station: KnownStation) -> str | None:
        """Return the learnt MAC address of a station that the configuration file lists by IP
        address or subnet."""
        for mac in map(self.bindings.mac_of, station.addresses):
            if mac and mac not in self.listed and not self.reaches_others(mac, station):
                return mac
        for mac, router in self.routers.items():
            if mac not in self.listed and router.is_within(station.subnets):
                return mac
        return None

    def reaches_others(self, mac: str, station: KnownStation) -> bool:
        """Return whether a router with this MAC address forwards packets of other stations, too:
        stations that the configuration lists in addition to `station`.
        """
        router = self.routers.get(mac)
        if router is None:
            return False
        others = (each for each in self.gateway.stations if each is not station)
        return any(each.is_in(subnet) for each in others for subnet in router.routed)

    @property
    def routed(self) -> dict[str, tuple[Subnet, ...]]:
        """Subnets that this machine reaches through each router, by the router's MAC address."""
        return {mac: each.routed for mac, each in self.routers.items()}

    def forget(self, now_s: float) -> None:
        """Delete machines that have not been reported for `absence_s`."""
        absence_s = self.gateway.discovery.absence_s
        since = now_s - absence_s
        self.bindings.forget(now_s, self.bound)
        self.ports.forget(now_s, absence_s)
        self.routers = {mac: each for mac, each in self.routers.items() if each.last_s >= since}
        for mac, machine in list(self.machines.items()):
            recent = sorted(machine.seen_s.items(), key=lambda item: -item[1])
            machine.seen_s = {a: s for a, s in recent if s >= since}
            if machine.last_s < since:
                del self.machines[mac]
        self.dropped = None
        self.addresses = {a for machine in self.machines.values() for a in machine.seen_s}
        excess = sum(len(machine.seen_s) for machine in self.machines.values()) - MAX_ADDRESSES
        while excess > 0:
            by_count = sorted(self.machines.items(), key=lambda item: -len(item[1].seen_s))
            mac, machine = by_count[0]
            second = len(by_count[1][1].seen_s) if len(by_count) > 1 else 0
            count = min(excess, max(len(machine.seen_s) - second, 1))
            machine.seen_s = dict(list(machine.seen_s.items())[: len(machine.seen_s) - count])
            excess -= count
            self.dropped = mac

    def stations(self) -> list[KnownStation]:
        """Return the stations that should have a leaf. Each has an access point.

        Each of these stations also has an IP address, a subnet, or a MAC address that is present.
        """
        present = []
        macs = {each.name: each.mac or self.bound_mac(each) for each in self.gateway.stations}
        owners = Counter(mac for mac in macs.values() if mac)
        inside, holder = self.seen_inside(), self.holders()
        for station in self.gateway.stations:
            mac = macs[station.name]
            machine = self.machines.get(mac or "", Machine())
            # Stations that share a MAC address are distinguished by the addresses in the
            # configuration.
            seen = sorted_(machine.seen_s) if mac and owners[mac] == 1 else []
            own = (a for a in seen if holder[a] == mac)
            every = dict.fromkeys((*station.addresses, *own, *inside.get(station.name, ())))
            free = tuple(a for a in every if self.owner(a) in (None, station))
            ap = station.ap or self.ap_of(machine, (*free, *station.subnets))
            present.append(replace(station, ap=ap, addresses=free, mac=mac))
        names = {station.name for station in present}
        if self.gateway.finds_stations:
            for mac, machine in self.machines.items():
                seen = [a for a in sorted_(machine.seen_s) if self.owner(a) is None]
                if owners[mac] == 1 or mac in self.listed or not seen:
                    continue
                held = tuple(a for a in seen if holder[a] == mac)
                name = machine.name if machine.name and machine.name not in names else mac
                names.add(name)
                present.append(KnownStation(name, self.ap_of(machine, held), held, mac))
        listed = {station.name for station in self.gateway.stations}
        group_of = self.gateway.group_of
        present = [
            replace(each, group=group_of(each, is_listed=each.name in listed)) for each in present
        ]
        return [each for each in present if each.can_be_placed or (each.ap and self.is_seen(each))]

    def is_seen(self, station: KnownStation) -> bool:
        """Return whether the MAC address of a station was seen with any IP address."""
        machine = self.machines.get(station.mac or "")
        return machine is not None and bool(machine.seen_s)

    def holders(self) -> dict[Address, str]:
        """Return the MAC address that was last seen with each IP address. An IP address may get
        another MAC address after a new lease."""
        newest: dict[Address, tuple[float, str]] = {}
        for mac, machine in self.machines.items():
            for address, seen_s in machine.seen_s.items():
                if address not in newest or seen_s > newest[address][0]:
                    newest[address] = seen_s, mac
        return {address: mac for address, (_, mac) in newest.items()}

    def seen_inside(self) -> dict[str, list[Address]]:
        """Return the addresses that were last seen in the subnets of each listed station, by the
        station's name."""
        if not self.lengths:
            return {}
        results: dict[str, dict[Address, float]] = {}
        for machine in self.machines.values():
            for address, seen_s in machine.seen_s.items():
                if address not in self.owners and (owner := self.owner(address)) is not None:
                    results.setdefault(owner.name, {})[address] = seen_s
        return {
            name: sorted_(sorted(seen, key=lambda address: -seen[address])[:MAX_SEEN_INSIDE])
            for name, seen in results.items()
        }

    def ap_of(self, machine: Machine, addresses: Iterable[Address | Subnet]) -> str | None:
        """Return the access point of a station.

        If the gateway has several access points, and a source reports the station's access point,
        return this access point. Without such a report, return the access point at the station's
        interface. If there are several at this interface, return the access point whose subnets
        contain an address of the station.
        """
        aps = self.gateway.aps
        if len(aps) == 1:
            return aps[0].name
        # A source may report an access point's name from an older configuration.
        if machine.ap in [ap.name for ap in aps]:
            return machine.ap
        here = [ap for ap in aps if ap.interface == machine.interface] or aps
        if len(here) == 1:
            return here[0].name
        for ap in here:
            if any(is_in(address, ap.subnets) for address in addresses):
                return ap.name
        return None


def prefix_of(address: Address, length: int) -> int:
    """Return the first `length` bits of an address as a number."""
    return int(address) >> (address.max_prefixlen - length)


def sorted_(addresses: Iterable[Address]) -> list[Address]:
    """Return addresses in an order that does not depend on the times of reports."""
    return sorted(addresses, key=lambda address: (address.version, int(address)))
