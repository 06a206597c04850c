"""The gateway as the engine's grammar checked it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lasthop import _core
from lasthop.linux.tc import Address
from lasthop.scenario import contents, looks_like_json

__all__ = ["AccessPoint", "Discovery", "Fairness", "Gateway", "Snmp", "Station", "read"]

Fairness: TypeAlias = Literal["station", "rate", "flow", "direction"]
Subnet: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Station:
    """A station that is known beforehand, or that was found."""

    name: str
    ap: str | None
    """Its access point; None where discovery is to tell."""
    addresses: tuple[Address, ...]
    mac: str | None = None
    rate_bps: int | None = None
    """Rate of its frames, for fairness "rate"."""


@dataclass(frozen=True)
class Snmp:
    """How an access point is asked for its stations."""

    host: str
    port: int
    community: str
    table: str


@dataclass(frozen=True)
class AccessPoint:
    """An access point and its bottleneck."""

    name: str
    interface: str
    subnets: tuple[Subnet, ...]
    fairness: Fairness
    rate_bps: int | None
    """A fixed rate; None: estimated."""
    wce: Mapping[str, Any]
    """Settings of the estimator (lasthop.control.Wce)."""
    max_by_default: bool
    """Whether the largest rate is the paper's, since the file says none."""
    snmp: Snmp | None

    @property
    def first_rate_bps(self) -> int:
        """Rate before anything is known of the WLAN."""
        return self.rate_bps or int(self.wce["max_bps"])


@dataclass(frozen=True)
class Discovery:
    """Where stations are looked for."""

    neighbours: bool
    leases: Path | None
    ignore: frozenset[Address]
    interval_s: float
    absence_s: float


@dataclass(frozen=True)
class Gateway:
    """A virtual shared bottleneck in front of access points."""

    name: str
    wan: str
    lan: str
    queue_packets: int
    discipline: str
    flow_leaves: int
    udp_uplink_bps: int
    metrics: tuple[str, int] | None
    discovery: Discovery
    aps: tuple[AccessPoint, ...]
    stations: tuple[Station, ...]

    @property
    def lans(self) -> tuple[str, ...]:
        """Interfaces towards access points, each once."""
        return tuple(dict.fromkeys(ap.interface for ap in self.aps))

    @property
    def finds_stations(self) -> bool:
        """Whether stations may come that the file does not list."""
        asked = any(ap.snmp for ap in self.aps)
        return self.discovery.neighbours or self.discovery.leases is not None or asked

    def ap(self, name: str) -> AccessPoint:
        """The access point of this name."""
        return next(ap for ap in self.aps if ap.name == name)


def read(source: str | Path, settings: Sequence[tuple[str, str]] = ()) -> Gateway:
    """The gateway of a scenario file.

    Parameters
    ----------
    source : str or Path
        The file; ``-`` is standard input.
    settings : sequence of (str, str)
        Values to replace after parsing, by key path.

    Raises
    ------
    ScenarioError
        With everything that is wrong in ``problems``.
    """
    content, name = contents(source)
    kind = "json" if looks_like_json(content) else "toml"
    return from_tree(json.loads(_core.check_gateway(content, kind, name, list(settings))))


def from_tree(tree: Mapping[str, Any]) -> Gateway:
    """The gateway from the engine's answer."""
    found = tree["discovery"]
    metrics = tree["metrics"]
    return Gateway(
        name=tree["name"],
        wan=tree["wan"],
        lan=tree["lan"],
        queue_packets=tree["queue_packets"],
        discipline=tree["discipline"],
        flow_leaves=tree["flow_leaves"],
        udp_uplink_bps=tree["udp_uplink_bps"],
        metrics=(metrics["host"], metrics["port"]) if metrics else None,
        discovery=Discovery(
            neighbours=found["neighbours"],
            leases=Path(found["leases"]) if found["leases"] else None,
            ignore=frozenset(map(ip_address, found["ignore"])),
            interval_s=found["interval_s"],
            absence_s=found["absence_s"],
        ),
        aps=tuple(map(access_point, tree["aps"])),
        stations=tuple(
            Station(
                name=each["name"],
                ap=each["ap"],
                addresses=tuple(map(ip_address, each["addresses"])),
                mac=each["mac"],
                rate_bps=each["rate_bps"],
            )
            for each in tree["stations"]
        ),
    )


def access_point(tree: Mapping[str, Any]) -> AccessPoint:
    """An access point from the engine's answer."""
    return AccessPoint(
        name=tree["name"],
        interface=tree["interface"],
        subnets=tuple(map(ip_network, tree["subnets"])),
        fairness=tree["fairness"],
        rate_bps=tree["rate_bps"],
        wce=tree["wce"],
        max_by_default=tree["max_by_default"],
        snmp=Snmp(**tree["snmp"]) if tree["snmp"] else None,
    )
