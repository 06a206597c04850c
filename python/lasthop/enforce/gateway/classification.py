"""Classification of frames at `lan` by MAC address: a BPF program with its maps and counters.

The program is `crates/bpf/stations.bpf.c`. It runs at the ingress hook and at the egress hook of
`lan`. For every packet it decides the kind and the HTB class. Exempt packets pass unshaped. Packets
that are not exempt are redirected to the IFB (an intermediate device with the queues).

At ingress, a frame belongs to the station with the frame's source MAC address; at egress, to the
station with its destination MAC address. Several stations may share a MAC address, such as that of
a router between `lan` and the stations. The IP address in the frame then decides to which of these
stations the frame belongs. Frames of no station are unclassified, and pass through the access
point's leaf for unclassified packets.
"""

import struct
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from enum import IntEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeAlias

from lasthop.linux import bpf, tc
from lasthop.linux.classifier import Classifier
from lasthop.linux.netlink import Request, attribute, text_attribute, u32_attribute
from lasthop.linux.tc import Address, Block, Device, Subnet

OBJECT = Path(__file__).parent / "share" / "stations.o"
"""Object file with the compiled BPF programs."""


class Kind(IntEnum):
    """Kind of a packet, which decides whether it is shaped, and by which leaf (enum kind of
    stations.h)."""

    STATION = 0
    """Packets that are redirected to the leaf of their station."""
    UNCLASSIFIED = 1
    """Packets that are redirected to the leaf for packets of no station."""
    MULTICAST = 2
    """Packets that are redirected to the leaf for multicast and broadcast packets."""
    ARP = 3
    NEIGHBOURS = 4
    """Exempt IPv6 packets of neighbour discovery and router advertisement."""
    PINGS = 5
    """Exempt pings: ICMP echo requests that this machine sends, and the replies to these echo
    requests."""
    DNS = 6
    DHCP = 7
    UPLINK_UDP = 8
    """Exempt UDP packets from a station at an access point with `udp = "down"`."""
    IGNORED = 9
    """Exempt packets from or to a machine of `discover.ignore`."""
    UNMATCHED = 10
    """Packets that pass without any classification."""
    FORGED = 11
    """ARP or neighbour discovery packets that contain a different MAC address than their frame
    header. The program makes these packets invalid."""


EXEMPT = (
    Kind.ARP,
    Kind.NEIGHBOURS,
    Kind.PINGS,
    Kind.DNS,
    Kind.DHCP,
    Kind.UPLINK_UDP,
    Kind.IGNORED,
)
REDIRECTED = (Kind.STATION, Kind.UNCLASSIFIED, Kind.MULTICAST, Kind.FORGED)

ALLOWANCES: Mapping[Kind, tuple[int, int]] = {
    Kind.MULTICAST: (64_000, 8_000),
    Kind.ARP: (8_000, 1_500),
    Kind.NEIGHBOURS: (8_000, 3_000),
    Kind.PINGS: (16_000, 3_000),
    Kind.DNS: (32_000, 8_000),
    Kind.DHCP: (8_000, 3_000),
    Kind.STATION: (48_000, 12_000),
    Kind.UNCLASSIFIED: (192_000, 48_000),
}
"""Limits of exempt traffic by kind of packet: rate [bit/s] and burst [bytes]. The limits apply
separately to each station and to each direction.

The limit for `STATION` applies to the sum of all exempt kinds except multicast. If stations belong
to a group, the limit for `UNCLASSIFIED` applies to the sum of these kinds over all stations of the
group. Packets above a limit are redirected to the station's leaf.
"""

BY_ADDRESS, UDP_PASSES, HAS_IGNORED, UNCLASSIFIED_AT = 1, 2, 4, 8
"""Bit flags of a station in the BPF maps (stations.h)."""
STATION = struct.Struct("=HHHHIII")
"""Layout of `struct station`: class of packets to the station, class of packets from the station,
index of the access point, flags, index of the station's rate limiters, number of the interface at
which the station was last seen, and how often this interface has changed."""
ACCESS = struct.Struct("=HHI")
"""Layout of `struct access`: minor number of the leaf for unclassified packets, minor number of the
leaf for multicast packets, index of the first rate limiter for packets of no station."""
GROUP = struct.Struct("=HH")
"""Layout of `struct group`: minor number of a group's HTB class, and major number of the HTB
hierarchy inside the group."""
PREFIX = struct.Struct("=IB16s3x")
COUNT = struct.Struct("=QQ")
DIRECTIONS = 2
COUNTS_BYTES = DIRECTIONS * len(Kind) * COUNT.size
SECTIONS = {"from": "at_ingress", "to": "at_egress", "leaf": "at_ifb", "inside": "at_group"}

Table: TypeAlias = dict[tuple[str, bytes], bytes]
"""Entries that the BPF maps should contain: value by map name and key."""


class Place(NamedTuple):
    """Entry of a BPF map for a station: its HTB classes, access point and rate limiters."""

    to_class: int
    from_class: int
    ap: int
    number: int
    """Index of the station's rate limiters in the BPF maps."""
    udp_passes: bool = False

    def packed(self, flags: int = 0) -> bytes:
        """Return the value of the station's entry in a BPF map, with these bit flags."""
        flags |= UDP_PASSES * self.udp_passes
        minors = (self.to_class & 0xFFFF, self.from_class & 0xFFFF)
        return STATION.pack(*minors, self.ap, flags, self.number, 0, 0)


class Surroundings(NamedTuple):
    """MAC addresses at `lan` that the classifier must treat specially, because none of them belongs
    to exactly one station."""

    ignored: Mapping[Address, str] = {}
    """MAC addresses of the machines in `discover.ignore`, by IP address."""
    routers: Mapping[str, Collection[Subnet]] = {}
    """Subnets that this machine reaches through each router, by the router's MAC address."""
    waiting: Mapping[str, str] = {}
    """Access point of each new MAC address that has no leaf yet."""


class Counted(NamedTuple):
    """Counter of packets and bytes."""

    packets: int
    bytes: int


def mac_key(mac: str) -> bytes:
    """Return the key of a MAC address in the BPF map of MAC addresses."""
    return bytes.fromhex(mac.replace(":", "")) + b"\0\0"


def prefix_key(address: Address | Subnet) -> bytes:
    """Return the key of an address or a subnet in the BPF map of prefixes."""
    if isinstance(address, IPv4Network | IPv6Network):
        network = address.network_address
        return PREFIX.pack(8 + address.prefixlen, address.version, network.packed)
    raw = address.packed
    return PREFIX.pack(8 * (1 + len(raw)), address.version, raw)


def own_key(address: Address) -> bytes:
    """Return the map key of an IP address of this machine. An IPv4 address is mapped to IPv6."""
    raw = address.packed
    return raw if len(raw) == 16 else bytes(10) + b"\xff\xff" + raw


def leaf_key(leaf: int) -> bytes:
    """Return the map key of a leaf inside a group."""
    return struct.pack("=I", leaf & 0xFFFF)


def interface_key(number: int) -> bytes:
    """Return the map key of an interface."""
    return struct.pack("=I", number)


def settings(ifb: int = 0, allowances: Mapping[Kind, tuple[int, int]] = ALLOWANCES) -> bytes:
    """Return the settings of the BPF programs as bytes for a BPF map (struct settings). `ifb` is
    the interface number of the IFB, and `allowances` are the limits of exempt traffic."""
    value = b""
    for kind in Kind:
        rate_bps, burst_bytes = allowances.get(kind, (0, 0))
        byte_ns = round(8e9 / rate_bps) if rate_bps else 0
        value += COUNT.pack(byte_ns, burst_bytes * byte_ns)
    return value + struct.pack("=II", ifb, 0)


class Attachable(Protocol):
    """Classifier's BPF programs, as an object that returns the requests which attach them: loaded
    programs (`Programs`), or programs whose commands are only printed."""

    def at_block(self, block: Block, name: str, ifb: Device) -> Request:
        """Return the request for a filter that redirects every packet unless its program exempts
        the packet."""

    def at_ifb(self, ifb: Device, major: int, name: str = "leaf") -> Request:
        """Return the request for a filter that classifies packets in an HTB hierarchy of the
        IFB."""


class Programs:
    """The loaded BPF programs for both hooks of `lan` and for the IFB, with their shared maps.

    Raises
    ------
    BpfError
        If the kernel refuses a program.
    """

    def __init__(self) -> None:
        data = OBJECT.read_bytes()
        self.table: Table = {}
        self.loaded: dict[str, Classifier] = {}
        with ExitStack() as stack:
            shared: Mapping[str, int] = {}
            for name, section in SECTIONS.items():
                program = Classifier(data, f"lasthop_{name}", section, shared)
                stack.callback(program.close)
                self.loaded[name] = program
                shared = {**program.maps, **shared}
            self.maps = dict(shared)
            self.files = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the descriptors of programs and maps. Attached programs continue to run."""
        self.files.close()

    def apply(self, wanted: Table) -> None:
        """Update the BPF maps so that they contain exactly these entries."""
        for (name, key), value in wanted.items():
            if self.table.get((name, key)) != value:
                bpf.update(self.maps[name], key, value)
                self.table[name, key] = value
        self.remove(self.table.keys() - wanted.keys())

    def remove(self, keys: Iterable[tuple[str, bytes]]) -> None:
        """Remove these entries from the BPF maps, if they exist."""
        for name, key in keys:
            if self.table.pop((name, key), None) is not None:
                with suppress(FileNotFoundError):
                    bpf.delete(self.maps[name], key)

    def counts(self, ap: int) -> list[dict[Kind, Counted]]:
        """Return the counters of an access point by kind: first for packets from stations, then for
        packets to stations."""
        value = bpf.entry(self.maps["counters"], struct.pack("=I", ap), COUNTS_BYTES)
        every = [Counted(*each) for each in COUNT.iter_unpack(value)]
        size = len(Kind)
        return [dict(zip(Kind, every[k * size :], strict=False)) for k in range(DIRECTIONS)]

    def moves(self, mac: str) -> int:
        """Return how often a MAC address has changed the interface at which it was seen. [-]"""
        try:
            value = bpf.entry(self.maps["macs"], mac_key(mac), STATION.size)
        except FileNotFoundError:
            return 0
        return int(STATION.unpack(value)[-1])

    def at_block(self, block: Block, name: str, ifb: Device) -> Request:
        """Return the request for a filter that redirects every packet unless its program exempts
        the packet."""
        options = attribute(tc.BPF_ACT, attribute(1, tc.mirred(ifb))) + self.program(name)
        header = tc.TCMSG.pack(0, tc.BLOCK_INDEX, 1, block.number, tc.EVERY_PACKET)
        words = f"{words_of(block, name)} action mirred egress redirect dev {ifb.name}"
        return tc.add_filter(header, "bpf", options, words)

    def at_ifb(self, ifb: Device, major: int, name: str = "leaf") -> Request:
        """Return the request for a filter that classifies packets in an HTB hierarchy of the
        IFB."""
        header = ifb.header(1, tc.classid(major, 0), tc.EVERY_PACKET)
        words = words_of(ifb, name, f" parent {major:x}:")
        return tc.add_filter(header, "bpf", self.program(name), words)

    def program(self, name: str) -> bytes:
        """Return the netlink attributes that identify a loaded program."""
        loaded = self.loaded[name]
        return u32_attribute(tc.BPF_FD, loaded.program) + text_attribute(tc.BPF_NAME, loaded.name)


def words_of(at: Block | Device, name: str, parent: str = "", program: str = "") -> str:
    """Return the arguments of the `tc` command that attach a filter with this program."""
    program = program or f"object-file stations.o section {SECTIONS[name]}"
    return f"{at.words()}{parent} protocol all pref 1 handle 1 bpf {program}"
