"""Classification by u32 filters, for kernels that load no BPF program, and for the shell script.

The filters of both hooks redirect all frames to the IFB. The filters of the IFB look up the
station: for packets from stations by the source MAC address, for packets to stations by the
destination MAC address. Stations that share a MAC address are looked up by IP address. Unclassified
packets pass through the default class of the hierarchy. Echo requests and replies have a separate
class with a small rate, so that pings of the estimator do not wait in a leaf.

These filters cannot exempt a limited rate of ARP, DNS and DHCP per station.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from lasthop.errors import UserError
from lasthop.linux import tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import Address, Block, Device, Key

FAMILIES = (4, 6)
MAX_ALIKE = 0xFFF
"""Largest number of entries in one bucket of a hash table. All addresses in a bucket have the same
last byte. If a bucket is full, a further address is refused."""
TO, FROM = 1, 2
"""Identifiers of the hash tables of IPv4 addresses: the table for packets to stations, and the
table for packets from stations. The identifiers for IPv6 are higher by 2."""
MACS_TO, MACS_FROM = 7, 8
"""Identifiers of the hash tables of MAC addresses: the table for packets to stations, and the table
for packets from stations."""
SUBNETS = 8
"""Difference between the identifiers of two hash tables for the same packets: the table of subnets,
and the table of addresses."""
ECHOES, OF_MACS, OF_ADDRESSES, OF_GROUPS = {4: 1, 6: 2}, 3, {4: 4, 6: 5}, 6
"""Preferences of the filters on the IFB: for echo requests and replies, MAC addresses, IP
addresses, and multicast. A dictionary contains a preference by IP version. Filters are applied in
ascending order of their preferences."""
PASSING, REDIRECTING = {4: 1, 6: 2}, 3
"""Preferences of the filters at the hooks: filters that let packets pass, by IP version, and the
filter that redirects all other packets."""


@dataclass(frozen=True)
class Classes:
    """HTB classes of packets to a station, and of packets from the station."""

    to: int
    up: int


class Tables:
    """u32 filters of the IFB and of both hooks.

    Parameters
    ----------
    ifb : Device
    major : int
        Major number of the HTB hierarchy of access points.
    majors : sequence of int
        Major numbers of the HTB hierarchies inside groups.
    outer : callable
        Returns the HTB class that contains a leaf in the hierarchy of access points: the leaf, or
        the class of its group.
    """

    def __init__(
        self, ifb: Device, major: int, majors: Sequence[int], outer: Callable[[int], int]
    ) -> None:
        self.ifb = ifb
        self.major = major
        self.majors = [major, *majors]
        self.outer = outer
        self.taken: dict[tuple[int, int], set[int]] = {}
        """Entry numbers that are in use in each bucket, by the identifier of the hash table and the
        bucket."""
        self.placed: dict[str, tuple[Classes, dict[Key, int]]] = {}
        """HTB classes of each station, and the entry number of each of the station's addresses in
        its hash bucket, by the station's name."""

    # Filters that do not depend on stations.

    def frames(self, echoes: int, groups: int) -> Iterator[Request]:
        """Yield the requests for everything that does not depend on stations: the filters for echo
        packets, the empty hash tables, and the filter for multicast packets."""
        ifb, major = self.ifb, self.major
        for family in FAMILIES:
            for kind in tc.ECHOES[family]:
                matches = tc.echo_matches(family, kind)
                yield tc.u32_filter(ifb, family, matches, echoes, order=ECHOES[family], major=major)
        for each in self.majors:
            yield from self.tables(each)
        yield tc.u32_filter(ifb, tc.ANY, [tc.TO_GROUP], groups, order=OF_GROUPS, major=major)

    def tables(self, major: int) -> Iterator[Request]:
        """Yield the requests for the empty hash tables of an HTB hierarchy, and for the filters
        that look up packets in these tables."""
        ifb = self.ifb
        macs = ((MACS_TO, 0x000000FF, -12), (MACS_FROM, 0x00FF0000, -4))
        for table, _, _ in macs:
            yield tc.u32_table(ifb, tc.ANY, table, major, order=OF_MACS)
        for table, mask, offset in macs:
            yield tc.u32_link(ifb, tc.ANY, table, mask, offset, major=major, order=OF_MACS)
        for family in FAMILIES:
            order = OF_ADDRESSES[family]
            for first, mask in ((0, 0xFF), (SUBNETS, 0)):
                tables = [(first + number_of(way, family), way == FROM) for way in (TO, FROM)]
                for table, _ in tables:
                    yield tc.u32_table(ifb, family, table, major, order=order)
                for table, source in tables:
                    offset = tc.last_word(family, source)
                    yield tc.u32_link(ifb, family, table, mask, offset, major=major, order=order)

    def hook(
        self, block: Block, ignored: Iterable[Address], *, from_stations: bool, spares_udp: bool
    ) -> Iterator[Request]:
        """Yield the requests for the filters of a hook. These filters redirect all packets except
        packets of ignored machines and exempt UDP packets."""
        for address in sorted(ignored, key=lambda each: (each.version, int(each))):
            matches, version = tc.address_matches(address, from_stations), address.version
            yield tc.u32_passes(block, version, matches, order=PASSING[version])
        if from_stations and spares_udp:
            for family in FAMILIES:
                matches = [tc.protocol_match(family, tc.UDP)]
                yield tc.u32_passes(block, family, matches, order=PASSING[family])
        yield tc.u32_filter(block, tc.ANY, [tc.EVERYTHING], self.ifb, order=REDIRECTING)

    # Filters of stations.

    def place(self, name: str, place: Classes, wanted: Collection[Key]) -> list[Request]:
        """Set the addresses of a station to `wanted`, and return the requests for the hash tables.
        Addresses that are not in `wanted` are removed first."""
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
        """Return the requests that remove all addresses of a station from the hash tables."""
        place, known = self.placed.pop(name, (Classes(0, 0), {}))
        return [request for key, node in known.items() for request in self.free(place, key, node)]

    def everybody(self) -> Iterator[Request]:
        """Yield the requests for the hash table entries of all stations."""
        for place, known in self.placed.values():
            for key, node in known.items():
                yield from self.entries(place, key, node)

    def entries(self, place: Classes, key: Key, node: int) -> Iterator[Request]:
        """Yield the requests for the hash table entries of an address, in each HTB hierarchy that
        its frames pass through."""
        order = order_of(key)
        for major in self.majors_of(place):
            for way, leaf in ((TO, place.to), (FROM, place.up)):
                flow = self.outer(leaf) if major == self.major else leaf
                table, source = table_of(way, key), way == FROM
                yield tc.u32_entry(
                    self.ifb, table, node, key, flow, source=source, major=major, order=order
                )

    def free(self, place: Classes, key: Key, node: int) -> list[Request]:
        """Return the requests that remove an address from the hash tables."""
        self.taken[bucket_of(key)].discard(node)
        return [
            tc.del_entry(self.ifb, table_of(way, key), node, key, major, order=order_of(key))
            for major in self.majors_of(place)
            for way in (TO, FROM)
        ]

    def majors_of(self, place: Classes) -> list[int]:
        """Return the major numbers of the HTB hierarchies that a station's packets pass through."""
        inside = place.to >> 16
        return [self.major] if inside == self.major else [self.major, inside]

    def new_nodes(self, keys: Iterable[Key]) -> dict[Key, int]:
        """Return a free entry number for each of these addresses, and reserve these numbers. If
        there is no free number for one of the addresses, reserve no number, and raise
        `UserError`."""
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
        """Return a free entry number in the hash bucket of an address."""
        taken = self.taken.setdefault(bucket_of(key), set())
        if len(taken) == MAX_ALIKE:
            raise UserError(f"more than {MAX_ALIKE} addresses end like {key}")
        node = next(k for k in range(1, MAX_ALIKE + 1) if k not in taken)
        taken.add(node)
        return node


def number_of(table: int, family: int) -> int:
    """Return the identifier of a hash table for addresses of an IP version."""
    return table + (family == 6) * 2


def table_of(way: int, key: Key) -> int:
    """Return the identifier of the hash table that contains an address or a subnet, for one
    direction of packets."""
    if isinstance(key, str):
        return MACS_FROM if way == FROM else MACS_TO
    first = SUBNETS if isinstance(key, IPv4Network | IPv6Network) else 0
    return first + number_of(way, key.version)


def order_of(key: Key) -> int:
    """Return the preference of the filters that look up this kind of address."""
    return OF_MACS if isinstance(key, str) else OF_ADDRESSES[key.version]


def bucket_of(key: Key) -> tuple[int, int]:
    """Return the identifier of an address's hash table, and the number of the address's bucket in
    this table."""
    return table_of(TO, key), tc.bucket(key)
