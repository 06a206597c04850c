"""Classes and filters of a virtual shared bottleneck (paper 002, section 4.2 and appendix V).

```text
lan --going out, block of filters: packets to stations---+
                                                         +--> IFB: HTB --> destination
lan --coming in, block of filters: packets from stations-+
IFB:  root 6c68:  --+-- 6c68:1  access point 1, rate C --+-- 6c68:100  station's leaf
                    +-- 6c68:2  access point 2 ...       +-- 6c68:101  ...
                                                         +-- 6c68:fffd  a group (`groups`)
```

A station's leaf holds its packets of both directions. Every packet passes a leaf, unless the packet
is exempt (`classification`). With `udp = "down"`, uplink UDP bypasses the leaves.

Only the access point's class has the rate C. A leaf has a small constant rate, a quantum, and the
largest C as its ceiling. A change of C therefore takes one netlink message for any number of
stations. In the paper, each of the M leaves has the rate C/M. Tests show that TCP gets the same
shares in both cases.

This module has no I/O: it computes netlink requests from the stations, and other modules send these
requests.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from zlib import crc32

from lasthop.enforce.gateway.classification import (
    Attachable,
)
from lasthop.enforce.gateway.config import (
    UNLISTED,
    AccessPoint,
    Gateway,
    Group,
    KnownStation,
)
from lasthop.enforce.gateway.flow_hash import program
from lasthop.enforce.gateway.groups import (
    INSIDE_BPS,
    Bundle,
    bundles_of,
    largest_bps,
    least_share,
    longest_turn,
)
from lasthop.enforce.gateway.leaves import assumed, queue_of
from lasthop.enforce.gateway.tables import Classes, Tables
from lasthop.enforce.gateway.weights import PhyRate, Weights
from lasthop.errors import UserError
from lasthop.linux import leaf_queue, tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import (
    BURST_S,
    DIRECT_PACKETS,
    PACKET_BYTES,
    Address,
    Block,
    Device,
    Key,
    Subnet,
)

MAJOR = tc.OURS
FIRST_LEAF = 0x100
LAST_LEAF = 0xFFFF
MAX_LEAVES = LAST_LEAF - FIRST_LEAF + 1
LEAF_RATE_BPS = 96
"""Guaranteed rate of a leaf: one full packet in two minutes. [bit/s]"""
LEAF_BURST_BYTES = 1600
MULTICAST_BPS = 1_000_000
"""Ceiling of the leaf for multicast and broadcast packets. [bit/s]"""
LARGEST_CEILING_BPS = 1 << 62
LONGEST_NAME = 15
"""Largest number of characters of an interface's name in the kernel."""

ECHO_BPS = 128_000
"""Rate of the class of echo requests and replies, if u32 filters classify. [bit/s]"""
ECHO_PACKETS = 50


def ifb_name(gateway: Gateway) -> str:
    """Return the name of the gateway's IFB. A name that is too long is shortened and ends in a
    checksum."""
    name = f"lh-{gateway.lan}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:10]}-{crc32(gateway.lan.encode()) & 0xFFFF:04x}"


def blocks_of(lan: str) -> tuple[Block, Block]:
    """Return the two filter blocks of a `lan` interface: the block for packets to stations, and the
    block for packets from stations."""
    first = MAJOR << 16 | crc32(lan.encode()) & 0xFFFE
    return Block(first), Block(first + 1)


@dataclass(frozen=True)
class Member:
    """Station that has HTB classes in the layout."""

    station: KnownStation
    ap: AccessPoint
    leaf: int
    """Number of the HTB class of packets to the station. With fairness "direction", all stations
    share this class."""
    uplink: int
    """Number of the HTB class of packets from the station."""
    addresses: tuple[Address, ...]

    @property
    def keys(self) -> tuple[Address | Subnet, ...]:
        """Return the addresses and subnets of the station."""
        return (*self.addresses, *self.station.subnets)

    @property
    def has_own_leaf(self) -> bool:
        """Return whether the station has a leaf of its own."""
        return self.ap.has_leaf_each


class Layout:
    """HTB classes of all stations, and the netlink requests that create these classes.

    Parameters
    ----------
    gateway : Gateway
    ifb : Device
        The gateway's IFB. Its number is 0 if commands are only printed.
    discipline : str, optional
        Queueing discipline of leaves. Default: the discipline of the configuration, or the best
        discipline.
    programs : Attachable, optional
        BPF programs that classify packets. Default: u32 filters classify packets.
    """

    def __init__(
        self,
        gateway: Gateway,
        ifb: Device,
        discipline: str | None = None,
        programs: Attachable | None = None,
    ) -> None:
        self.gateway = gateway
        self.ifb = ifb
        self.to_block, self.from_block = blocks_of(gateway.lan)
        self.members: dict[str, Member] = {}
        self.owners: dict[str | None, set[str]] = {}
        """Names of the stations that have a MAC address, by this MAC address. Several stations may
        have the same MAC address.
        """
        self.numbers: dict[str, int] = {}
        """Index of each station's rate limiters in the BPF maps, by the station's name."""
        self.free_numbers: list[int] = []
        self.ap_class = {ap.name: tc.classid(MAJOR, k) for k, ap in enumerate(gateway.aps, start=1)}
        self.free_leaves: list[int] = []
        self.listed_macs = {each.name: each.mac for each in gateway.stations if each.mac}
        self.next_leaf = FIRST_LEAF
        self.bundles = bundles_of(gateway, LAST_LEAF)
        self.last_leaf = LAST_LEAF - len(self.bundles)
        """Largest class number for leaves of stations. Higher numbers are for groups and
        unclassified packets."""
        self.programs = programs
        self.shared: dict[str, tuple[int, int]] = {}
        """Class numbers of two leaves of each access point: the leaf for unclassified packets and
        the leaf for multicast packets."""
        self.fixed = {ap.name: self.fixed_leaves(ap) for ap in gateway.aps}
        for ap in gateway.aps:
            self.last_leaf -= 2
            # Packets of no station use the share of the group `unlisted`.
            strangers = self.bundle(ap, UNLISTED)
            major = MAJOR if strangers is None else strangers.major
            self.shared[ap.name] = (
                tc.classid(major, self.last_leaf + 1),
                tc.classid(MAJOR, self.last_leaf + 2),
            )
        self.by_leaf = {bundle.major: bundle for bundle in self.bundles.values()}
        """Groups, by the major numbers of the HTB hierarchies inside the groups."""
        self.weights = Weights(gateway)
        self.turn_bytes = round(PACKET_BYTES / least_share(gateway))
        """Quantum of a leaf with a share of 1. [bytes]"""
        self.discipline = discipline or assumed(gateway)
        groups: list[Group | None] = [None, *gateway.groups]
        self.queues = {
            (ap.name, None if each is None else each.name): self.queue(ap, each)
            for ap in gateway.aps
            for each in groups
        }
        """Queue of the leaves at each access point and in each group, by the names of access point
        and group."""
        self.tables: Tables | None = None
        """u32 filters that classify packets; None if BPF programs classify packets."""
        self.echoes = tc.classid(MAJOR, self.last_leaf)
        """Number of the HTB class of echo requests and replies. This class exists only if u32
        filters classify packets."""
        if programs is None:
            self.last_leaf -= 1
            self.tables = Tables(ifb, MAJOR, list(self.by_leaf), self.outer)

    @property
    def hooks(self) -> tuple[int, int]:
        """Return the numbers of the ingress filter block and the egress filter block of `lan`."""
        return self.from_block.number, self.to_block.number

    def bundle(self, ap: AccessPoint, group: str | None) -> Bundle | None:
        """Return a group at an access point; None if `group` is None."""
        return None if group is None else self.bundles.get((ap.name, group))

    def queue(self, ap: AccessPoint, group: Group | None) -> leaf_queue.Queue:
        """Return the queue of the leaves at an access point, inside a group or outside all
        groups."""
        turn = longest_turn(self.gateway)
        if ap.fairness == "rate":
            turn = self.weights.max_quantum_packets(ap)
        return queue_of(
            self.gateway,
            ap,
            self.discipline,
            largest_bps=largest_bps(ap, group),
            leaves=len(self.fixed[ap.name]),
            turn_packets=turn,
            packet_bytes=PACKET_BYTES,
        )

    def fixed_leaves(self, ap: AccessPoint) -> list[int]:
        """Return the HTB classes of an access point that exist before any station joins."""
        match ap.fairness:
            case "flow":
                is_fair_itself = self.gateway.discipline in ("fq_codel", "sfq", "cake")
                count = 1 if is_fair_itself else self.gateway.flow_leaves
            case "direction":
                count = 2
            case _:
                count = 0
        return [self.new_leaf() for _ in range(count)]

    def new_leaf(self, major: int = MAJOR) -> int:
        """Return a free HTB class number. The minor number is unique across all groups."""
        if self.free_leaves:
            return tc.classid(major, self.free_leaves.pop())
        if self.next_leaf > self.last_leaf:
            room = self.last_leaf - FIRST_LEAF + 1
            raise UserError(f"more than {room} leaf queues: the kernel has no numbers for them")
        self.next_leaf += 1
        return tc.classid(major, self.next_leaf - 1)

    @property
    def majors(self) -> list[int]:
        """Return the major numbers of all HTB hierarchies: the hierarchy of access points, and the
        hierarchies inside groups."""
        return [MAJOR, *self.by_leaf]

    # Requests that create the objects for a gateway without stations.

    def foundation(self, rates: dict[str, int]) -> Iterator[Request]:
        """Yield the requests that create the classifiers and the HTB hierarchy without stations.
        `rates` are the bottleneck rates, by the access point's name. [bit/s]"""
        yield from self.classes(rates)
        yield from self.flow_programs()
        yield from self.classifiers()

    def classifiers(self) -> Iterator[Request]:
        """Yield the requests that create the classifiers of the IFB, without stations."""
        if self.programs is not None:
            yield from self.class_programs(self.programs)
        elif self.tables is not None:
            multicast = self.shared[self.gateway.aps[0].name][1]
            yield from self.tables.frames(self.echoes, multicast)

    def class_programs(self, programs: Attachable) -> Iterator[Request]:
        """Yield the requests for the filters that run BPF programs in each HTB hierarchy of the
        IFB."""
        yield programs.at_ifb(self.ifb, MAJOR)
        for major in self.by_leaf:
            yield programs.at_ifb(self.ifb, major, "inside")

    def classes(self, rates: dict[str, int]) -> Iterator[Request]:
        """Yield the requests that create the HTB hierarchy without stations. `rates` are the
        bottleneck rates, by the access point's name. [bit/s]"""
        # Packets whose class was just removed use the default class, so that they do not bypass all
        # classes.
        unclassified = [self.outer(leaves[0]) & 0xFFFF for leaves in self.shared.values()]
        yield tc.htb_qdisc(self.ifb, MAJOR, DIRECT_PACKETS, *unclassified[:1])
        for ap in self.gateway.aps:
            yield self.rate(ap, rates[ap.name], change=False)
            for group in self.gateway.groups:
                yield from self.add_bundle(ap, self.bundles[ap.name, group.name])
            for leaf in self.fixed[ap.name]:
                yield from self.add_leaf(ap, leaf, PACKET_BYTES)
            for leaf, most_bps in zip(
                self.shared.get(ap.name, ()), (None, MULTICAST_BPS), strict=False
            ):
                yield from self.add_leaf(ap, leaf, self.turn_bytes, most_bps)
        if self.tables is not None:
            yield from self.add_echoes()

    def add_echoes(self) -> Iterator[Request]:
        """Yield the requests that create the class of echo requests and replies, and its queue."""
        yield tc.htb_class(
            self.ifb,
            self.echoes,
            tc.classid(MAJOR, 0),
            rate_bps=ECHO_BPS,
            burst_bytes=LEAF_BURST_BYTES,
            quantum_bytes=PACKET_BYTES,
        )
        yield leaf_queue.add(self.ifb, self.echoes, leaf_queue.Queue("pfifo", ECHO_PACKETS))

    def outer(self, leaf: int) -> int:
        """Return the child of the access point's class that contains a leaf: the leaf itself, or
        the class of its group."""
        bundle = self.by_leaf.get(leaf >> 16)
        return leaf if bundle is None else bundle.leaf

    def add_bundle(self, ap: AccessPoint, bundle: Bundle) -> Iterator[Request]:
        """Yield the requests that create the HTB class of a group, and the HTB hierarchy inside the
        group."""
        group = bundle.group
        turn_bytes = round(self.turn_bytes * group.share)
        # While the other leaves send, the group accumulates tokens. Its bucket must be deep enough
        # for a full quantum, which the group then sends in one burst.
        yield self.leaf_class(
            bundle.leaf,
            self.ap_class[ap.name],
            turn_bytes,
            largest_bps(ap, group),
            burst_bytes=2 * turn_bytes,
        )
        shared = self.shared.get(ap.name, ())[:1]
        default = [leaf & 0xFFFF for leaf in shared if leaf >> 16 == bundle.major]
        yield from bundle.hierarchy(self.ifb, DIRECT_PACKETS, *default or (0,))

    def flow_programs(self) -> Iterator[Request]:
        """Yield the requests for the programs that distribute flows over leaves."""
        for ap in self.hashing_aps():
            code = program(self.fixed[ap][0], len(self.fixed[ap]))
            yield tc.bpf_filter(self.ifb, self.ap_class[ap], code)

    def hashing_aps(self) -> list[str]:
        """Return the access points whose flows are distributed over leaves by a hash."""
        return [name for name, leaves in self.fixed.items() if len(leaves) > 2]

    def start(self) -> Iterator[Request]:
        """Yield the requests for the filters that redirect packets at both hooks of `lan`."""
        yield from self.block_filters(self.from_block)
        yield from self.block_filters(self.to_block)

    # Requests for all objects, including those of stations.

    def hierarchy(self, rates: dict[str, int]) -> Iterator[Request]:
        """Yield all requests for the queueing disciplines and classes of the IFB."""
        yield from self.classes(rates)
        for member in self.members.values():
            if member.has_own_leaf:
                quantum_bytes = self.quantum(member.ap, member.station)
                yield from self.add_leaf(member.ap, member.leaf, quantum_bytes)

    def ifb_filters(self) -> Iterator[Request]:
        """Yield all requests for the filters of the IFB."""
        yield from self.flow_programs()
        yield from self.classifiers()
        if self.tables is not None:
            yield from self.tables.everybody()

    def block_filters(self, block: Block) -> Iterator[Request]:
        """Yield all requests for the filters of a block."""
        if self.programs is not None:
            name = "to" if block == self.to_block else "from"
            yield self.programs.at_block(block, name, self.ifb)
        elif self.tables is not None:
            yield from self.tables.hook(
                block,
                self.gateway.discovery.ignore,
                from_stations=block == self.from_block,
                spares_udp=all(ap.udp == "down" for ap in self.gateway.aps),
            )

    # Changes while the gateway runs: stations that join or leave, and new rates.

    def rate(self, ap: AccessPoint, rate_bps: int, *, change: bool = True) -> Request:
        """Return the request that creates the class of an access point with this rate, or changes
        the rate of the class. [bit/s]"""
        return tc.htb_class(
            self.ifb,
            self.ap_class[ap.name],
            tc.classid(MAJOR, 0),
            rate_bps=rate_bps,
            burst_bytes=max(LEAF_BURST_BYTES, int(rate_bps / 8 * BURST_S)),
            quantum_bytes=PACKET_BYTES,
            change=change,
        )

    def add_leaf(
        self, ap: AccessPoint, leaf: int, quantum_bytes: int, most_bps: int | None = None
    ) -> Iterator[Request]:
        """Yield the requests that create a leaf and its queue. The ceiling is the smaller of the
        largest C and `most_bps`."""
        bundle = self.by_leaf.get(leaf >> 16)
        group = None if bundle is None else bundle.group
        parent = self.ap_class[ap.name] if bundle is None else bundle.inside
        # Inside a group, only the class of the group delays packets.
        largest = min(
            largest_bps(ap, group) if bundle is None else INSIDE_BPS,
            most_bps or LARGEST_CEILING_BPS,
        )
        yield self.leaf_class(leaf, parent, quantum_bytes, largest)
        name = None if group is None else group.name
        yield leaf_queue.add(self.ifb, leaf, self.queues[ap.name, name])

    def leaf_class(
        self,
        leaf: int,
        parent: int,
        quantum_bytes: int,
        ceil_bps: int,
        burst_bytes: int = 0,
        *,
        change: bool = False,
    ) -> Request:
        """Return the request that creates or changes a class below `parent`. `ceil_bps` is the
        class's ceiling. [bit/s]

        The class can send at least `burst_bytes` in one burst at its ceiling.
        """
        return tc.htb_class(
            self.ifb,
            leaf,
            parent,
            rate_bps=LEAF_RATE_BPS,
            ceil_bps=ceil_bps,
            burst_bytes=LEAF_BURST_BYTES,
            cburst_bytes=max(LEAF_BURST_BYTES, int(ceil_bps / 8 * BURST_S), burst_bytes),
            quantum_bytes=quantum_bytes,
            change=change,
        )

    def join(self, station: KnownStation) -> list[Request]:
        """Return the requests that create a station's classes and filters. The filters are created
        last."""
        assert station.ap is not None
        assert station.name not in self.members
        ap = self.gateway.ap(station.ap)
        fixed = self.fixed[ap.name]
        requests: list[Request] = []
        match ap.fairness:
            case "flow":
                leaf = uplink = self.ap_class[ap.name] if len(fixed) > 1 else fixed[0]
            case "direction":
                leaf, uplink = fixed
            case _:
                bundle = self.bundle(ap, station.group)
                leaf = uplink = self.new_leaf(MAJOR if bundle is None else bundle.major)
                requests += self.add_leaf(ap, leaf, self.quantum(ap, station))
        self.members[station.name] = Member(station, ap, leaf, uplink, ())
        self.owners.setdefault(station.mac, set()).add(station.name)
        self.numbers[station.name] = (
            self.free_numbers.pop() if self.free_numbers else len(self.numbers)
        )
        try:
            return requests + self.readdress(station.name, station.addresses)
        except UserError:
            self.leave(station.name)
            raise

    def quantum(self, ap: AccessPoint, station: KnownStation) -> int:
        """Return the quantum of a station: equal for all stations, or in proportion to its data
        rate. [bytes]"""
        if ap.fairness != "rate":
            return PACKET_BYTES if self.bundle(ap, station.group) else self.turn_bytes
        return round(PACKET_BYTES * self.weights.quantum_packets(ap, station))

    def weigh(self, read: Mapping[str, PhyRate]) -> list[Request]:
        """Set the weights of stations from the data rates that access points reported. `read` is
        indexed by station name.

        Return requests only for quanta that have changed. The requests drop no packets that are in
        queues.
        """

        def turns() -> dict[str, int]:
            return {name: self.quantum(m.ap, m.station) for name, m in self.members.items()}

        before = turns()
        self.weights.set_rates(read, ((each.ap, each.station) for each in self.members.values()))
        return [
            self.leaf_class(
                self.members[name].leaf,
                self.ap_class[self.members[name].ap.name],
                quantum_bytes,
                largest_bps(self.members[name].ap, None),
                change=True,
            )
            for name, quantum_bytes in turns().items()
            if quantum_bytes != before[name]
        ]

    def readdress(self, name: str, addresses: Iterable[Address]) -> list[Request]:
        """Set the addresses of a station, and return the requests for its filters."""
        member = self.members[name]
        self.members[name] = replace(member, addresses=tuple(addresses))
        try:
            return self.place(name)
        except UserError:
            self.members[name] = member
            raise

    def identify(self, name: str, mac: str | None) -> list[Request]:
        """Set the MAC address of a station, and return the requests for its filters. The requests
        also update the filters of other stations with the station's old or new MAC address."""
        member = self.members[name]
        before = member.station.mac
        self.owners.get(before, set()).discard(name)
        self.owners.setdefault(mac, set()).add(name)
        self.members[name] = replace(member, station=replace(member.station, mac=mac))
        requests = self.place(name)
        for other in self.owners.get(before, set()) if before is not None else ():
            requests += self.place(other)
        return requests

    def place(self, name: str) -> list[Request]:
        """Return the requests that update the filters of a station, and of other stations with the
        same MAC address."""
        if self.tables is None:
            return []
        requests: list[Request] = []
        mac = self.members[name].station.mac
        owners = {name} if mac is None else self.owners[mac]
        for each in sorted(owners):
            member = self.members[each]
            keys: list[Key] = list(member.keys)
            if mac is not None and len(owners) == 1:
                keys = [mac] if self.is_by_mac_only(each) else [mac, *member.station.subnets]
            requests += self.tables.place(each, Classes(member.leaf, member.uplink), keys)
        return requests

    def is_by_mac_only(self, name: str) -> bool:
        """Return whether a station owns only frames with the MAC address that the configuration
        lists for it.

        A station without a listed MAC address also owns frames of its subnets, unless the MAC
        address of a frame belongs to another station.
        """
        listed = self.listed_macs.get(name)
        owners = self.owners.get(listed, set())
        return listed is not None and len(owners) == 1

    def leave(self, name: str) -> list[Request]:
        """Return the requests that remove the classes and filters of a station."""
        member = self.members.pop(name)
        requests = [] if self.tables is None else self.tables.leave(name)
        owners = self.owners.get(member.station.mac, set())
        owners.discard(name)
        for other in owners if member.station.mac is not None else ():
            requests += self.place(other)
        self.free_numbers.append(self.numbers.pop(name))
        if member.has_own_leaf:
            self.free_leaves.append(member.leaf & 0xFFFF)
            requests.append(tc.del_class(self.ifb, member.leaf))
        return requests


def refuse_excess_stations(gateway: Gateway, stations: Iterable[KnownStation]) -> None:
    """Raise `UserError` if there are not enough class numbers for these stations."""
    layout = Layout(gateway, Device(ifb_name(gateway), 0))
    for station in stations:
        if station.can_be_placed:
            layout.join(station)
