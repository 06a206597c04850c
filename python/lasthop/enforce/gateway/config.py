"""Settings of the gateway, after the engine has checked them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from lasthop import _core
from lasthop.control import EstimatorSettings
from lasthop.daemon.configuration import reader, subnets_of
from lasthop.linux.tc import Address, Subnet

Fairness: TypeAlias = Literal["station", "rate", "flow", "direction"]
ShapedUdp: TypeAlias = Literal["down", "both"]


def addresses_of(texts: Sequence[str]) -> tuple[Address, ...]:
    """Return the addresses in a list of texts."""
    return tuple(map(ip_address, texts))


def address_set(texts: Sequence[str]) -> frozenset[Address]:
    """Return the addresses in a list of texts as a set."""
    return frozenset(addresses_of(texts))


def is_in(address: Address | Subnet, subnets: Iterable[Subnet]) -> bool:
    """Return whether an address, or a whole subnet, is in one of these subnets."""
    return any(contains(subnet, address) for subnet in subnets)


def contains(subnet: Subnet, address: Address | Subnet) -> bool:
    """Return whether a subnet contains an address or another subnet."""
    if isinstance(address, (IPv4Address, IPv6Address)):
        return address in subnet
    if isinstance(subnet, IPv4Network):
        return isinstance(address, IPv4Network) and address.subnet_of(subnet)
    return isinstance(address, IPv6Network) and address.subnet_of(subnet)


def path_of(text: str | None) -> Path | None:
    """Return the path of a file that is named in JSON, or None."""
    return Path(text) if text else None


def estimator_settings_of(tree: Mapping[str, Any]) -> EstimatorSettings:
    """Return the settings of the capacity estimator from JSON."""
    return EstimatorSettings(**tree)


def endpoint_of(tree: Mapping[str, Any] | None) -> tuple[str, int] | None:
    """Return the address and TCP port to listen on, or None."""
    return (tree["host"], tree["port"]) if tree else None


@dataclass(frozen=True)
class KnownStation:
    """Station that the configuration file lists, or that a source of stations has reported."""

    name: str
    ap: str | None
    """Access point of the station; None until discovery has found it."""
    addresses: Annotated[tuple[Address, ...], addresses_of]
    mac: str | None = None
    rate_bps: int | None = None
    """Data rate of frames to the station, for fairness "rate". [bit/s]"""
    group: str | None = None
    """Group of the station; None if the station belongs to no group."""
    subnets: Annotated[tuple[Subnet, ...], subnets_of] = ()
    """Subnets that belong to the station."""

    @property
    def can_be_placed(self) -> bool:
        """Return whether the station can have a leaf. The access point of the station must be
        known, and the station must have an address or a subnet.
        """
        return self.ap is not None and bool(self.addresses or self.subnets)

    def owns(self, address: Address) -> bool:
        """Return whether an address belongs to the station."""
        return address in self.addresses or is_in(address, self.subnets)

    def is_in(self, subnet: Subnet) -> bool:
        """Return whether `subnet` contains an address of the station or overlaps a subnet of the
        station."""
        if any(address in subnet for address in self.addresses):
            return True
        return any(subnet.overlaps(own) for own in self.subnets)


UNLISTED = "unlisted"
"""Name of the group of all stations that the configuration file does not name."""


@dataclass(frozen=True)
class Group:
    """Group of stations that divide one share."""

    name: str
    share: float
    """Share of the group relative to other groups. A station without a group has a share of 1."""
    max_bps: int | None
    """Largest rate of the group at one access point. [bit/s]"""
    macs: Annotated[frozenset[str], frozenset]
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    """Subnets of the group's stations."""


@dataclass(frozen=True)
class Snmp:
    """Settings for reading an access point's table of stations by SNMP."""

    host: str
    port: int
    community: str
    table: str
    rates: str | None = None
    """Object identifier of the column with data rates; None if data rates are not read."""
    rates_unit_bps: int = 500_000
    """Data rate that the value 1 in the column represents. [bit/s]"""


@dataclass(frozen=True)
class RateSource:
    """Source of the data rates of an access point's stations."""

    kind: Literal["iw", "hostapd"]
    at: str
    """Interface of the access point (for iw), or path of its control socket (for hostapd)."""


@dataclass(frozen=True)
class AccessPoint:
    """An access point and the settings of its bottleneck."""

    name: str
    interface: str
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    fairness: Fairness
    udp: ShapedUdp
    """Directions in which UDP is shaped: ``"both"``, or ``"down"`` if UDP from stations is not
    shaped."""
    rate_bps: int | None
    """Fixed rate of the bottleneck; None if the rate is estimated. [bit/s]"""
    wce: Annotated[EstimatorSettings, estimator_settings_of]
    """Settings of the capacity estimator."""
    max_by_default: bool
    """Whether the largest rate is the default from the paper, because the configuration sets
    none."""
    snmp: Snmp | None
    station_rates: tuple[RateSource, ...] = ()
    """Sources of the stations' data rates, in addition to `snmp.rates`."""

    @property
    def reads_rates(self) -> bool:
        """Return whether the stations' data rates are read from the access point and used."""
        by_snmp = self.snmp is not None and self.snmp.rates is not None
        return self.fairness == "rate" and (by_snmp or bool(self.station_rates))

    @property
    def has_leaf_each(self) -> bool:
        """Return whether each station of the access point has a leaf of its own."""
        return self.fairness in ("station", "rate")

    @property
    def first_rate_bps(self) -> int:
        """Return the bottleneck's rate before the estimator has measured anything. [bit/s]"""
        return self.rate_bps or self.max_bps

    @property
    def max_bps(self) -> int:
        """Return the largest bottleneck rate that the estimator may set. [bit/s]"""
        return self.wce.max_bps


@dataclass(frozen=True)
class Discovery:
    """Settings of discovery: the sources that report stations."""

    neighbours: bool
    leases: Annotated[Path | None, path_of]
    ignore: Annotated[frozenset[Address], address_set]
    interval_s: float
    absence_s: float
    quarantine_s: float
    """Time that a new MAC address waits before it gets a leaf of its own. [s]"""
    new_per_minute: int
    """Largest number of new MAC addresses that get a leaf within one minute."""


@dataclass(frozen=True)
class Gateway:
    """A virtual shared bottleneck in front of access points."""

    name: str
    wan: str
    lan: str
    queue_packets: int
    discipline: str
    """Queueing discipline of leaves; "best" selects the best discipline of the kernel."""
    flow_leaves: int
    udp_uplink_bps: int
    metrics: Annotated[tuple[str, int] | None, endpoint_of]
    discovery: Discovery
    aps: tuple[AccessPoint, ...]
    stations: tuple[KnownStation, ...]
    groups: tuple[Group, ...] = ()

    @property
    def lans(self) -> tuple[str, ...]:
        """Return the distinct interfaces towards access points."""
        return tuple(dict.fromkeys(ap.interface for ap in self.aps))

    @property
    def finds_stations(self) -> bool:
        """Return whether discovery can add stations that the configuration file does not list."""
        asked = any(ap.snmp for ap in self.aps)
        return self.discovery.neighbours or self.discovery.leases is not None or asked

    def group_of(self, station: KnownStation, *, is_listed: bool) -> str | None:
        """Return the group of a station. Its `group` key decides first, then its MAC address, then
        its IP addresses.

        A station that the configuration file does not list is in the group `unlisted`, if this
        group exists.
        """
        if station.group is not None:
            return station.group
        for group in self.groups:
            if station.mac in group.macs:
                return group.name
        for group in self.groups:
            if any(station.is_in(subnet) for subnet in group.subnets):
                return group.name
        is_unlisted = not is_listed and any(group.name == UNLISTED for group in self.groups)
        return UNLISTED if is_unlisted else None

    def names(self, mac: str | None) -> bool:
        """Return whether a group of the configuration file lists a MAC address."""
        return any(mac in group.macs for group in self.groups)

    def ap(self, name: str) -> AccessPoint:
        """Return the access point of this name."""
        return next(ap for ap in self.aps if ap.name == name)


read = reader(Gateway, _core.check_gateway)
"""Function that reads the gateway's settings from a scenario file."""
