"""Asks every source who is there: neighbour tables, a leases file, access points."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from lasthop.errors import UserError
from lasthop.gateway.cautions import bridge_of
from lasthop.gateway.config import Gateway
from lasthop.gateway.leases import leases, open_leases
from lasthop.gateway.roster import Sighting
from lasthop.gateway.snmp import associations
from lasthop.linux import links
from lasthop.linux.heard import Heard
from lasthop.linux.neighbours import neighbours, own_addresses
from lasthop.linux.netlink import Socket

LARGEST_LEASES = 1 << 24
"""No more of a leases file is read. [bytes]"""


def look(gateway: Gateway) -> tuple[list[Sighting], list[str]]:
    """What every source says now, and what went wrong with sources, in words."""
    seen: list[Sighting] = []
    wrong: list[str] = []
    sources: list[Callable[[Gateway], Iterator[Sighting]]] = []
    if asks_neighbours(gateway):
        sources.append(of_neighbours)
    if gateway.discovery.leases is not None:
        sources.append(of_leases)
    sources.append(of_access_points)
    for source in sources:
        try:
            seen += source(gateway)
        except UserError as error:
            wrong.append(str(error))
        except Exception as error:  # whatever a source says, the others count
            wrong.append(f"{source.__name__.replace('_', ' ')}: {type(error).__name__}: {error}")
    return seen, wrong


def asks_neighbours(gateway: Gateway) -> bool:
    """Whether neighbours tell of stations, or of the addresses of listed ones."""
    return gateway.discovery.neighbours or any(station.mac for station in gateway.stations)


def of_neighbours(gateway: Gateway) -> Iterator[Sighting]:
    """Hosts in the neighbour tables of the interfaces towards access points."""
    listed = {station.mac for station in gateway.stations}
    absence_s = gateway.discovery.absence_s
    with Socket() as kernel:
        mine = own_addresses(kernel)
        for name in gateway.lans:
            for address, mac in neighbours(kernel, links.index_of(name), absence_s):
                if address not in mine and (gateway.discovery.neighbours or mac in listed):
                    yield Sighting(mac, address, interface=name)


def bridge_ports(gateway: Gateway) -> list[str]:
    """Interfaces at which neighbours are asked for, and behind which the machine has none."""
    if not asks_neighbours(gateway):
        return []
    with Socket() as kernel:
        there = links.every_link(kernel)
    return [name for name in gateway.lans if bridge_of(name, there)]


def listen(gateway: Gateway, heard: Heard) -> Iterator[Sighting]:
    """Hosts that have sent something at ports of bridges since the last time."""
    listed = {station.mac for station in gateway.stations}
    for name, (address, mac) in heard.look():
        if gateway.discovery.neighbours or mac in listed:
            yield Sighting(mac, address, interface=name)


def of_leases(gateway: Gateway) -> Iterator[Sighting]:
    """Hosts with a lease."""
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
        wrong.append(f"what is behind its first {LARGEST_LEASES >> 20} MiB is not read")
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise UserError(f"{path}: {wrong[0]}{more}")


def of_access_points(gateway: Gateway) -> Iterator[Sighting]:
    """Stations that access points say are theirs; all are asked at once."""
    agents = {ap.name: ap.snmp for ap in gateway.aps if ap.snmp is not None}
    if not agents:
        return
    wrong: list[str] = []
    with ThreadPoolExecutor(len(agents), "snmp") as workers:
        answers = {name: workers.submit(associations, agent) for name, agent in agents.items()}
        for name, answer in answers.items():
            try:
                found = answer.result()
            except UserError as error:
                wrong.append(str(error))
            else:
                yield from (Sighting(mac, address, ap=name) for mac, address in found)
    if wrong:
        raise UserError("; ".join(wrong))
