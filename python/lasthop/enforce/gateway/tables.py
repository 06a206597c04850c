"""Classification by u32 filters where no BPF program can be loaded, as in a script.

Both hooks redirect all frames to the IFB. There a frame is looked up by its source (a station that
sends) and its destination (a station that receives). Stations without a MAC address of their own
are looked up by IP address. Unclassified packets pass through the default class of the hierarchy.
Echo requests and replies have a small class, since pings of the estimator must not wait in a leaf.

These filters cannot give each station an allowance for ARP, DNS and DHCP.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import TypeAlias

from lasthop.errors import UserError
from lasthop.linux import tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import Address, Block, Device, Subnet

Key: TypeAlias = str | Address | Subnet
"""A MAC address, an IP address or a subnet."""

FAMILIES = (4, 6)
MOST_ALIKE = 0xFFF
"""Largest number of entries in one bucket, whose last bytes are equal."""
TO, FROM = 1, 2
"""Numbers of the hash tables of IPv4 addresses; those of IPv6 are higher by 2."""
MACS_TO, MACS_FROM = 7, 8
"""Numbers of the hash tables of MAC addresses."""
SUBNETS = 8
"""Offset of the numbers of tables of subnets from those of tables of addresses."""
ECHOES, OF_MACS, OF_ADDRESSES, OF_GROUPS = {4: 1, 6: 2}, 3, {4: 4, 6: 5}, 6
"""Preferences of the filters on the IFB, in ascending order."""
PASSING, REDIRECTING = {4: 1, 6: 2}, 3
"""Preferences of the filters at the hooks."""


@dataclass(frozen=True)
class Classes:
    """Classes of a station's packets, to it and from it."""

    to: int
    up: int


class Tables:
    """Filters of the IFB and of both hooks.

    Parameters
    ----------
    ifb : Device
    major : int
        Number of the hierarchy of access points.
    majors : sequence of int
        Numbers of the hierarchies inside groups.
    outer : callable
        Returns the class of a leaf in the hierarchy of access points.
    """

    def __init__(
        self, ifb: Device, major: int, majors: Sequence[int], outer: Callable[[int], int]
    ) -> None:
        self.ifb = ifb
        self.major = major
        self.majors = [major, *majors]
        self.outer = outer
        self.taken: dict[tuple[object, int], set[int]] = {}
        """Numbers in use, by kind of table and bucket."""
        self.placed: dict[str, tuple[Classes, dict[Key, int]]] = {}
        """Classes of each station, and the numbers of its entries in the buckets."""

    # What does not depend on stations.

    def frames(self, echoes: int, groups: int) -> Iterator[Request]:
        """Yield the filters without stations: for echoes, empty tables with links, multicast."""
        for family in FAMILIES:
            for kind in tc.ECHOES[family]:
                yield tc.u32_echo(
                    self.ifb, family, kind, echoes, order=ECHOES[family], major=self.major
                )
        for major in self.majors:
            yield from self.tables(major)
        yield tc.u32_group(self.ifb, groups, order=OF_GROUPS, major=self.major)

    def tables(self, major: int) -> Iterator[Request]:
        """Yield the empty tables of a hierarchy, and the filters that link to them."""
        for table in (MACS_TO, MACS_FROM):
            yield tc.u32_table(self.ifb, tc.ANY, table, major, order=OF_MACS)
        for table in (MACS_TO, MACS_FROM):
            source = table == MACS_FROM
            yield tc.link_macs(self.ifb, table, source=source, order=OF_MACS, major=major)
        for family in FAMILIES:
            order = OF_ADDRESSES[family]
            for first, hash_mask in ((0, 0xFF), (SUBNETS, 0)):
                for way in (TO, FROM):
                    table = first + number_of(way, family)
                    yield tc.u32_table(self.ifb, family, table, major, order=order)
                for way in (TO, FROM):
                    yield tc.link_table(
                        self.ifb,
                        family,
                        first + number_of(way, family),
                        source=way == FROM,
                        protocol=None,
                        major=major,
                        order=order,
                        hash_mask=hash_mask,
                    )

    def hook(
        self, block: Block, ignored: Iterable[Address], *, from_stations: bool, spares_udp: bool
    ) -> Iterator[Request]:
        """Yield the filters of a hook: redirect all packets except those of ignored machines."""
        for address in sorted(ignored, key=lambda each: (each.version, int(each))):
            order = PASSING[address.version]
            yield tc.u32_host_passes(block, address, source=from_stations, order=order)
        if from_stations and spares_udp:
            for family in FAMILIES:
                yield tc.u32_passes(block, family, tc.UDP, order=PASSING[family])
        yield tc.u32_redirect(block, self.ifb, order=REDIRECTING)

    # Stations.

    def place(self, name: str, place: Classes, wanted: Collection[Key]) -> list[Request]:
        """Set the addresses of a station. Old ones are removed first."""
        before, known = self.placed.get(name, (place, {}))
        stays = {key for key in known if key in wanted and before == place}
        new = self.new_nodes(key for key in wanted if key not in stays)
        requests: list[Request] = []
        for key, node in known.items():
            if key not in stays:
                requests += self.free(before, key, node)
        for key, node in new.items():
            requests += self.entries(place, key, node)
        self.placed[name] = place, {key: known[key] for key in stays} | new
        return requests

    def leave(self, name: str) -> list[Request]:
        """Remove all addresses of a station."""
        place, known = self.placed.pop(name, (Classes(0, 0), {}))
        return [request for key, node in known.items() for request in self.free(place, key, node)]

    def everybody(self) -> Iterator[Request]:
        """Yield the entries of all stations."""
        for place, known in self.placed.values():
            for key, node in known.items():
                yield from self.entries(place, key, node)

    def entries(self, place: Classes, key: Key, node: int) -> Iterator[Request]:
        """Yield the entries of an address, in each hierarchy that its frames pass through."""
        for major in self.majors_of(place):
            for way, leaf in ((TO, place.to), (FROM, place.up)):
                flow = self.outer(leaf) if major == self.major else leaf
                if isinstance(key, str):
                    yield tc.mac_entry(
                        self.ifb,
                        MACS_FROM if way == FROM else MACS_TO,
                        node,
                        key,
                        source=way == FROM,
                        flow=flow,
                        order=OF_MACS,
                        major=major,
                    )
                else:
                    yield tc.u32_entry(
                        self.ifb,
                        table_of(way, key),
                        node,
                        key,
                        source=way == FROM,
                        flow=flow,
                        major=major,
                        order=OF_ADDRESSES[key.version],
                    )

    def free(self, place: Classes, key: Key, node: int) -> list[Request]:
        """Remove an address from the tables."""
        self.taken[bucket_of(key)].discard(node)
        results = []
        for major in self.majors_of(place):
            for way in (TO, FROM):
                if isinstance(key, str):
                    table = MACS_FROM if way == FROM else MACS_TO
                    results.append(
                        tc.del_mac(self.ifb, table, node, key, order=OF_MACS, major=major)
                    )
                else:
                    table, order = table_of(way, key), OF_ADDRESSES[key.version]
                    results.append(tc.del_filter(self.ifb, table, node, key, major, order=order))
        return results

    def majors_of(self, place: Classes) -> list[int]:
        """Return the numbers of the hierarchies that a station's packets pass through."""
        inside = place.to >> 16
        return [self.major] if inside == self.major else [self.major, inside]

    def new_nodes(self, keys: Iterable[Key]) -> dict[Key, int]:
        """Return numbers for all these addresses. If one has none, reserve none."""
        new: dict[Key, int] = {}
        try:
            for key in keys:
                new[key] = self.new_node(key)
        except UserError:
            for key, node in new.items():
                self.taken[bucket_of(key)].discard(node)
            raise
        return new

    def new_node(self, key: Key) -> int:
        """Return a free number in the bucket of an address."""
        taken = self.taken.setdefault(bucket_of(key), set())
        if len(taken) == MOST_ALIKE:
            raise UserError(f"more than {MOST_ALIKE} addresses end like {key}")
        node = next(k for k in range(1, MOST_ALIKE + 1) if k not in taken)
        taken.add(node)
        return node


def number_of(table: int, family: int) -> int:
    """Return the number of a hash table for addresses of a family."""
    return table + (family == 6) * 2


def table_of(way: int, key: Address | Subnet) -> int:
    """Return the number of the table of an address or a subnet."""
    first = SUBNETS if isinstance(key, IPv4Network | IPv6Network) else 0
    return first + number_of(way, key.version)


def bucket_of(key: Key) -> tuple[object, int]:
    """Return the kind of table and the bucket of an address."""
    if isinstance(key, str):
        return "mac", tc.mac_bytes(key)[-1]
    return table_of(TO, key), tc.bucket(key)
