"""Search for stations in all sources: neighbour tables, a leases file, access points."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.leases import leases, open_leases
from lasthop.enforce.gateway.rate_sources import read_station_rates
from lasthop.enforce.gateway.roster import Sighting
from lasthop.enforce.gateway.snmp import associations
from lasthop.enforce.gateway.suitability import bridge_of
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.heard import Heard
from lasthop.linux.links import Link
from lasthop.linux.neighbours import forwarding, neighbours, own_addresses
from lasthop.linux.netlink import Socket
from lasthop.linux.routes import routes_through

LARGEST_LEASES = 1 << 24
"""Largest part of a leases file that is read. [bytes]"""


def look(gateway: Gateway) -> tuple[list[Sighting], list[str]]:
    """Query all sources of stations. Return their reports, and messages about faulty sources."""
    seen: list[Sighting] = []
    wrong: list[str] = []
    sources: list[Callable[[Gateway], Iterator[Sighting]]] = []
    sources += [of_neighbours, of_bridges]
    if gateway.discovery.leases is not None:
        sources.append(of_leases)
    sources.append(of_access_points)
    for source in sources:
        try:
            seen += source(gateway)
        except UserError as error:
            wrong.append(str(error))
        except Exception as error:  # An error in one source does not affect other sources.
            wrong.append(f"{source.__name__.replace('_', ' ')}: {type(error).__name__}: {error}")
    rates, faults = read_station_rates(gateway)
    return seen + rates, wrong + faults


def of_neighbours(gateway: Gateway) -> Iterator[Sighting]:
    """Yield the hosts in the neighbour tables of the interfaces towards access points."""
    absence_s = gateway.discovery.absence_s
    with Socket() as kernel:
        mine = own_addresses(kernel)
        present = links.every_link(kernel)
        names = [name for name in gateway.lans if name in present or gateway.discovery.neighbours]
        numbers = {name: links.index_of(name) for name in names}
        routers = routes_through(kernel, set(numbers.values()))
        for name, number in numbers.items():
            for address, mac in neighbours(kernel, number, absence_s, link_local=True):
                if (routed := routers.get(address)) is not None:
                    yield Sighting(mac, None, interface=name, routed=tuple(routed), is_new=False)
                if address not in mine and not address.is_link_local:
                    yield Sighting(
                        mac, address, interface=name, is_new=gateway.discovery.neighbours
                    )


def of_bridges(gateway: Gateway) -> Iterator[Sighting]:
    """Yield the hosts in the forwarding tables of bridges at the interfaces towards access points.

    A forwarding table contains the port of each MAC address, but no IP addresses.
    """
    with Socket() as kernel:
        present = links.every_link(kernel)
        names = {link.number: name for name, link in present.items()}
        bridges = {
            bridge: name for name in gateway.lans if (bridge := bridge_number(name, present))
        }
        for mac, port in forwarding(kernel, set(bridges)) if bridges else ():
            name = names.get(port, str(port))
            at = next((lan for lan in gateway.lans if lan == name), None)
            if (
                at is None
                and names.get(present[name].master if name in present else 0) in gateway.lans
            ):
                at = names[present[name].master]
            if at is not None:
                yield Sighting(mac, None, interface=at, port=name, is_new=False)


def bridge_number(name: str, present: Mapping[str, Link]) -> int:
    """Return the number of an interface if it is a bridge, or else the number of the bridge of
    which the interface is a port. Return 0 if there is no bridge."""
    link = present.get(name)
    if link is None:
        return 0
    return link.number if link.kind == "bridge" else link.master


def bridge_ports(gateway: Gateway) -> list[str]:
    """Return the interfaces towards access points that are ports of bridges. The kernel has no
    neighbour tables for such ports."""
    with Socket() as kernel:
        present = links.every_link(kernel)
    return [name for name in gateway.lans if bridge_of(name, present)]


def listen(gateway: Gateway, heard: Heard) -> Iterator[Sighting]:
    """Yield the hosts that have sent a frame at a bridge port since the last call."""
    for name, (address, mac) in heard.look():
        yield Sighting(mac, address, interface=name, is_new=gateway.discovery.neighbours)


def of_leases(gateway: Gateway) -> Iterator[Sighting]:
    """Yield the hosts that have a DHCP lease."""
    path = gateway.discovery.leases
    assert path is not None
    with open_leases(path) as file:
        try:
            data = file.read(LARGEST_LEASES + 1)
        except OSError as error:
            raise UserError(f"gateway.discover.leases: {path}: {error.strerror}") from None
    text = data[:LARGEST_LEASES].decode(errors="replace")
    wrong: list[str] = []
    for lease in leases(text, time.time(), wrong):
        yield Sighting(lease.mac, lease.address, lease.name)
    if len(data) > LARGEST_LEASES:
        wrong.append(f"the part after its first {LARGEST_LEASES >> 20} MiB is not read")
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise UserError(f"{path}: {wrong[0]}{more}")


def of_access_points(gateway: Gateway) -> Iterator[Sighting]:
    """Yield the stations that access points report. All access points are queried in parallel."""
    agents = {ap.name: ap.snmp for ap in gateway.aps if ap.snmp is not None}
    if not agents:
        return
    wrong: list[str] = []
    with ThreadPoolExecutor(len(agents), "snmp") as workers:
        answers = {name: workers.submit(associations, agent) for name, agent in agents.items()}
        for name, answer in answers.items():
            try:
                result = answer.result()
            except UserError as error:
                wrong.append(str(error))
            else:
                yield from (Sighting(mac, address, ap=name) for mac, address in result)
    if wrong:
        raise UserError("; ".join(wrong))
