"""The gateway as the engine's grammar checked it."""

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
from lasthop.daemon.configuration import reader, subnets_of
from lasthop.linux.tc import Address, Subnet

Fairness: TypeAlias = Literal["station", "rate", "flow", "direction"]
ShapedUdp: TypeAlias = Literal["down", "both"]


def addresses_of(texts: Sequence[str]) -> tuple[Address, ...]:
    """Addresses in JSON."""
    return tuple(map(ip_address, texts))


def address_set(texts: Sequence[str]) -> frozenset[Address]:
    """Addresses in JSON, in no order."""
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
    """A file in JSON."""
    return Path(text) if text else None


def endpoint_of(tree: Mapping[str, Any] | None) -> tuple[str, int] | None:
    """An address to listen at, in JSON."""
    return (tree["host"], tree["port"]) if tree else None


@dataclass(frozen=True)
class KnownStation:
    """A station that is known beforehand, or that was found."""

    name: str
    ap: str | None
    """Its access point; None where discovery is to tell."""
    addresses: Annotated[tuple[Address, ...], addresses_of]
    mac: str | None = None
    rate_bps: int | None = None
    """Rate of its frames, for fairness "rate"."""
    group: str | None = None
    """Its group; None if it has a share of its own."""
    subnets: Annotated[tuple[Subnet, ...], subnets_of] = ()
    """Subnets that belong to it."""

    @property
    def can_be_placed(self) -> bool:
        """Whether it can have a leaf: its access point and an address or a subnet are known."""
        return self.ap is not None and bool(self.addresses or self.subnets)

    def owns(self, address: Address) -> bool:
        """Return whether an address is one of its own."""
        return address in self.addresses or is_in(address, self.subnets)

    def is_in(self, subnet: Subnet) -> bool:
        """Return whether one of its addresses, or part of its subnets, is in a subnet."""
        if any(address in subnet for address in self.addresses):
            return True
        return any(subnet.overlaps(own) for own in self.subnets)


UNLISTED = "unlisted"
"""The group of the stations that the file does not name."""


@dataclass(frozen=True)
class Group:
    """A group of stations with one share."""

    name: str
    share: float
    """Share, relative to other groups; a station without a group has a share of 1."""
    max_bps: int | None
    """Its largest rate at an access point."""
    macs: Annotated[frozenset[str], frozenset]
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    """Subnets of its stations."""


@dataclass(frozen=True)
class Snmp:
    """How an access point is asked for its stations."""

    host: str
    port: int
    community: str
    table: str
    rates: str | None = None
    """Column of data rates; None: they are not read."""
    rates_unit_bps: int = 500_000
    """Data rate that the value 1 stands for. [bit/s]"""


@dataclass(frozen=True)
class RateSource:
    """A place from which the data rates of stations are read."""

    kind: Literal["iw", "hostapd"]
    at: str
    """Interface, or path of the control socket."""


@dataclass(frozen=True)
class Wce:
    """Settings of the estimator (lasthop.control.CapacityEstimator)."""

    rule: str
    max_bps: int
    min_bps: int
    interval_s: float
    low_s: float
    threshold_s: float
    high_s: float
    increase_bps: int
    decrease_bps: int
    speed_up: float
    back_off: float
    timeout_s: float


@dataclass(frozen=True)
class AccessPoint:
    """An access point and its bottleneck."""

    name: str
    interface: str
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    fairness: Fairness
    udp: ShapedUdp
    """Whether UDP from stations is shaped too."""
    rate_bps: int | None
    """A fixed rate; None: estimated."""
    wce: Wce
    max_by_default: bool
    """Whether the largest rate is the paper's, since the file says none."""
    snmp: Snmp | None
    station_rates: tuple[RateSource, ...] = ()
    """Sources of its stations' data rates, in addition to `snmp.rates`."""

    @property
    def reads_rates(self) -> bool:
        """Whether the data rates of its stations are read from it, since they have an effect."""
        by_snmp = self.snmp is not None and self.snmp.rates is not None
        return self.fairness == "rate" and (by_snmp or bool(self.station_rates))

    @property
    def has_leaf_each(self) -> bool:
        """Whether each station has a leaf that is nobody else's."""
        return self.fairness in ("station", "rate")

    @property
    def first_rate_bps(self) -> int:
        """Rate before anything is known of the WLAN."""
        return self.rate_bps or self.max_bps

    @property
    def max_bps(self) -> int:
        """The largest rate that the estimator may set."""
        return self.wce.max_bps


@dataclass(frozen=True)
class Discovery:
    """Where stations are looked for."""

    neighbours: bool
    leases: Annotated[Path | None, path_of]
    ignore: Annotated[frozenset[Address], address_set]
    interval_s: float
    absence_s: float
    quarantine_s: float
    """Time that a new MAC address waits for a leaf of its own. [s]"""
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
    """Queue of leaves; "best": the kernel decides."""
    flow_leaves: int
    udp_uplink_bps: int
    metrics: Annotated[tuple[str, int] | None, endpoint_of]
    discovery: Discovery
    aps: tuple[AccessPoint, ...]
    stations: tuple[KnownStation, ...]
    groups: tuple[Group, ...] = ()

    @property
    def lans(self) -> tuple[str, ...]:
        """Interfaces towards access points, each once."""
        return tuple(dict.fromkeys(ap.interface for ap in self.aps))

    @property
    def finds_stations(self) -> bool:
        """Whether stations may come that the file does not list."""
        asked = any(ap.snmp for ap in self.aps)
        return self.discovery.neighbours or self.discovery.leases is not None or asked

    def group_of(self, station: KnownStation, *, is_listed: bool) -> str | None:
        """Return the group of a station: its own key, else by its MAC address, else by an address.

        A station that the file does not list is in the group `unlisted`, if there is one.
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
        """Return whether a group of the file lists a MAC address."""
        return any(mac in group.macs for group in self.groups)

    def ap(self, name: str) -> AccessPoint:
        """The access point of this name."""
        return next(ap for ap in self.aps if ap.name == name)


read = reader(Gateway, _core.check_gateway)
"""Function that reads the gateway of a scenario file."""
