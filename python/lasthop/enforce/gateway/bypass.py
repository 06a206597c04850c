"""Detection of traffic that can bypass the classifier.

Packets that a flowtable forwards bypass the classifier. Packets of a station that is classified by
IP address can bypass the classifier, too.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from lasthop.enforce.gateway.classification import Surroundings
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.discovery import of_bridges, of_neighbours
from lasthop.enforce.gateway.entries import Entries
from lasthop.enforce.gateway.layout import Layout
from lasthop.enforce.gateway.roster import Roster, Sighting
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.flowtables import Flowtable, flowtables
from lasthop.linux.links import Link
from lasthop.linux.neighbours import subnets_at
from lasthop.linux.netlink import Socket
from lasthop.linux.tc import Device


class Bypasses(NamedTuple):
    """Messages about flowtables that contain an interface towards access points."""

    faults: list[str]
    """Messages about hardware flowtables. Their packets bypass the filters and are not counted."""
    warnings: list[str]
    """Messages about software flowtables."""


def bypasses(gateway: Gateway) -> Bypasses:
    """Return messages about flowtables of this machine that forward packets of stations."""
    result = flowtables()
    if not result:
        return Bypasses([], [])
    with Socket() as kernel:
        return among(result, gateway.lans, links.every_link(kernel))


def among(
    tables: Iterable[Flowtable], lans: Iterable[str], present: Mapping[str, Link]
) -> Bypasses:
    """Return messages about the flowtables that contain one of the interfaces `lans`, or a lower
    device of such an interface."""
    result = Bypasses([], [])
    devices = [name for lan in lans for name in links.below(lan, present)]
    for table in tables:
        has = sorted({name for name in devices if table.has(name)})
        if not has:
            continue
        names = ", ".join(has)
        remove = "take it out of the flowtable"
        if table.is_hardware:
            result.faults.append(
                f"flowtable {table.words} offloads {names} to hardware: its packets are neither "
                f"classified nor counted: {remove}, or remove `flags offload`"
            )
        else:
            result.warnings.append(
                f"flowtable {table.words} contains {names}: its packets may pass without being "
                f"classified: {remove}"
            )
    return result


class Known(NamedTuple):
    """Stations and ports in the neighbour and bridge tables of this machine."""

    by_address: dict[str, str]
    """Reason why a station would be classified by IP address, by the station's name."""
    ports: dict[str, int]
    """Number of MAC addresses at each port of a bridge or interface."""


def known(gateway: Gateway) -> Known:
    """Read the neighbour and bridge tables, and return the stations and ports in these tables. The
    kernel's state is not changed."""
    roster, layout = Roster(gateway), Layout(gateway, Device("lh", 0))
    seen: list[Sighting] = [*of_neighbours(gateway), *of_bridges(gateway)]
    roster.see(seen, 0.0)
    for station in roster.stations():
        with suppress(UserError):  # no class number is free
            layout.join(station)
    with Socket() as kernel:
        present = links.every_link(kernel)
        numbers = {present[name].number for name in gateway.lans if name in present}
        on_link = subnets_at(kernel, numbers)
    others = Surroundings(roster.ignored, roster.routed)
    return Known(Entries(layout, on_link, others).by_address, roster.ports.counts())
