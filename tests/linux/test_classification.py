"""Frames at `lan` belong to the station with their source MAC address, whatever their content."""

import errno
import socket
import struct
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from frames import (
    COUNT,
    HERE_V4,
    HERE_V6,
    INVENTED,
    MACS,
    growth,
    ipv4,
    ipv6,
    lan,
    passed,
    send,
    udp,
)
from lab import GATEWAY, STATIONS, Lab, address, entered, log_in, sh
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.classification import EXEMPT, REDIRECTED, Kind, mac_key
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.suitability import without_programs
from lasthop.linux.bpf import BpfError

FILE = """[gateway]
wan = "wan"
lan = "lan"
rate = "50 Mbps"
metrics = "off"
discipline = "pfifo"
""" + "".join(
    f'station.s{k} = {{ mac = "{MACS[k]}", address = "{HERE_V4[k]}, {HERE_V6[k]}" }}\n'
    for k in range(2)
)


@pytest.fixture
def shaper(tmp_path: Path) -> Iterator[Shaper]:
    gateway = config.read(FILE)
    with Lab(stations=1, rate_bps=None):
        for k, mac in enumerate(MACS):
            sh(f"ip -n {STATIONS} link add g{k} link wl0 address {mac} type macvlan mode bridge")
            sh(f"ip -n {STATIONS} link set g{k} gso_max_segs 1 up")
            address(STATIONS, f"g{k}", [f"{HERE_V4[k]}/16"])
        with entered(GATEWAY), Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            assert shaper.programs is not None, shaper.why_filters
            yield shaper
            assert shaper.faults() == []
            assert shaper.down() == []


PACKETS = {
    "udp": ipv4(17, udp(4433), HERE_V4[0]),
    "tcp": ipv4(6, bytes(20), HERE_V4[0]),
    "gre": ipv4(47, bytes(500), HERE_V4[0]),
    "esp": ipv4(50, bytes(500), HERE_V4[0]),
    "icmp": ipv4(1, b"\x08\0" + bytes(500), HERE_V4[0]),
    "echo replies to others": ipv4(1, b"\0\0" + bytes(500), HERE_V4[0]),
    "first fragments": ipv4(47, bytes(500), HERE_V4[0], fragment=0x2000),
    "later fragments": ipv4(17, udp(53), HERE_V4[0], fragment=0x2010),
    "ipv6": ipv6(17, udp(4433), HERE_V6[0]),
    "extension headers": ipv6(60, b"\x11\0\1\4\0\0\0\0" + udp(53), HERE_V6[0]),
    "ipv6 esp": ipv6(50, bytes(500), HERE_V6[0]),
    "address of another station": ipv4(17, udp(4433), HERE_V4[1]),
    "ipv6 address of another station": ipv6(17, udp(4433), HERE_V6[1]),
    "an unknown address": ipv4(17, udp(4433), "192.0.2.1"),
    "an unknown ipv6 address": ipv6(17, udp(4433), "2001:db8::1"),
    "another EtherType": (0x88B5, bytes(500)),
}


def test_a_frame_belongs_to_the_sender_of_its_mac_address(shaper: Shaper) -> None:
    for what, packet in PACKETS.items():
        before = passed(shaper)
        send(packet, MACS[0])
        assert growth(shaper, before) == {"s0": COUNT}, what


def test_frames_without_a_station_pass_through_the_unclassified_leaf(shaper: Shaper) -> None:
    unknown = ipv4(17, udp(4433), "192.0.2.1")
    before = passed(shaper)
    send(unknown, INVENTED)
    # These frames have the IP address of a station, but not its MAC address.
    # Only frames with the MAC address of the station are classified as frames of the station.
    send(ipv4(17, udp(4433), HERE_V4[1]), INVENTED)
    assert growth(shaper, before) == {"unclassified": 2 * COUNT}


EXEMPT_PACKETS = {
    Kind.DNS: ipv4(17, udp(53, 100), HERE_V4[0]),
    Kind.DHCP: ipv4(17, udp(67, 300, 68), HERE_V4[0]),
    Kind.ARP: (0x888E, bytes(46)),
    Kind.NEIGHBOURS: ipv6(58, b"\x87\0" + bytes(22), HERE_V6[0]),
    Kind.PINGS: ipv4(1, b"\0\0" + bytes(56), HERE_V4[0], to="10.77.1.1"),
}


@pytest.mark.parametrize("kind", EXEMPT_PACKETS, ids=lambda kind: kind.name)
def test_a_flood_of_exempt_packets_uses_up_its_senders_allowance_only(
    shaper: Shaper, kind: Kind
) -> None:
    def exempt() -> int:
        counters = shaper.classified("wlan")
        assert counters is not None
        return counters[0][kind].packets

    def dropped() -> int:
        leaf = shaper.running().members["s0"].leaf
        return shaper.counters()[leaf].dropped_packets

    before, at_first, lost_before = passed(shaper), exempt(), dropped()
    send(EXEMPT_PACKETS[kind], MACS[0], count=500)
    grown, free = growth(shaper, before), exempt() - at_first
    assert list(grown) == ["s0"]
    # The station sends faster than the rate of its leaf, so that the leaf also drops packets.
    through_leaf = grown["s0"] + dropped() - lost_before
    assert through_leaf + free == pytest.approx(500, abs=3)  # the station also sends ARP
    assert free < 150
    send(EXEMPT_PACKETS[kind], MACS[1], count=2)
    assert exempt() - at_first - free >= 2
    assert growth(shaper, passed(shaper)) == {}


def test_multicast_has_a_leaf_of_its_own_and_its_excess_is_the_senders(shaper: Shaper) -> None:
    before = passed(shaper)
    group = bytes.fromhex("01005e000001")
    send(ipv4(17, udp(5353), HERE_V4[0], to="224.0.0.1"), MACS[0], to=group, count=200)
    grown = growth(shaper, before)
    assert grown.keys() == {"s0", "multicast"}
    assert sum(grown.values()) == pytest.approx(200, abs=4)
    assert grown["multicast"] < 40


def test_every_packet_at_lan_is_counted(shaper: Shaper) -> None:
    def at_lan() -> list[int]:
        counted = lan()["stats64"]
        return [counted[way]["packets"] for way in ("rx", "tx")]

    def at_filters() -> list[int]:
        counters = shaper.classified("wlan")
        assert counters is not None
        kinds = (*REDIRECTED, *EXEMPT, Kind.UNMATCHED)
        return [sum(way[kind].packets for kind in kinds) for way in counters]

    before, filtered = at_lan(), at_filters()
    for packet in (*PACKETS.values(), *EXEMPT_PACKETS.values()):
        send(packet, MACS[0])
        send(packet, INVENTED)
    sh(f"ip netns exec {GATEWAY} ping -q -c 300 -i 0.002 {HERE_V4[0]}")
    time.sleep(0.2)
    sent = [now - then for now, then in zip(at_lan(), before, strict=True)]
    counted = [now - then for now, then in zip(at_filters(), filtered, strict=True)]
    assert sent[0] > 800
    assert counted == pytest.approx(sent, rel=0.01)
    counters = shaper.classified("wlan")
    assert counters is not None
    assert [way[Kind.UNMATCHED].packets for way in counters] == [0, 0]


def test_a_packet_that_waits_while_its_class_changes_is_counted_once(shaper: Shaper) -> None:
    def to_stations() -> dict[Kind, int]:
        counters = shaper.classified("wlan")
        assert counters is not None
        return {kind: counters[1][kind].packets for kind in REDIRECTED}

    # a fixed neighbour entry, because any interface of the stations would answer for the address
    sh(f"ip -n {GATEWAY} neigh replace {HERE_V4[0]} lladdr {MACS[0]} dev lan")
    shaper.set_rate("wlan", 1_000_000)
    before = to_stations()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(COUNT):
            sender.sendto(bytes(1400), (HERE_V4[0], 5001))
    shaper.identify("s0", INVENTED)
    shaper.fill_all()
    sent = shaper.counters()[shaper.running().members["s0"].leaf].sent_packets
    shaper.set_rate("wlan", 50_000_000)
    time.sleep(0.3)
    now = to_stations()
    assert sent < COUNT
    assert now[Kind.STATION] - before[Kind.STATION] == COUNT
    assert now[Kind.UNCLASSIFIED] == before[Kind.UNCLASSIFIED]


def test_without_programs_filters_classify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise BpfError(errno.EPERM, "BPF program lasthop_from")

    monkeypatch.setattr("lasthop.enforce.gateway.classification.Programs.__init__", refuse)
    gateway = config.read(FILE)
    with (
        Lab(stations=1, rate_bps=None),
        entered(GATEWAY),
        Shaper(gateway, log_in(tmp_path)) as shaper,
    ):
        shaper.up(gateway.stations)
        assert shaper.faults() == []
        assert shaper.classified("wlan") is None
        assert shaper.filtered() == []
        (warning,) = without_programs(shaper.why_filters)
        assert "Operation not permitted: ARP, DNS and DHCP wait in the leaves" in warning
        assert shaper.down() == []


@pytest.mark.parametrize("has_programs", [True, False], ids=["programs", "filters"])
def test_a_station_behind_a_router_has_its_subnets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_programs: bool
) -> None:
    def refuse(_: object) -> None:
        raise BpfError(errno.EPERM, "BPF program lasthop_from")

    if not has_programs:
        monkeypatch.setattr("lasthop.enforce.gateway.classification.Programs.__init__", refuse)
    gateway = config.read(FILE + 'station.routed.address = "10.78.4.0/22, 2001:db8:7::/64"\n')
    with (
        Lab(stations=1, rate_bps=None),
        entered(GATEWAY),
        Shaper(gateway, log_in(tmp_path)) as shaper,
    ):
        shaper.up(gateway.stations)
        for source, leaf in (
            ("10.78.4.0", "routed"),
            ("10.78.7.255", "routed"),
            ("10.78.8.0", "unclassified"),
            ("10.78.3.255", "unclassified"),
            ("2001:db8:7::1", "routed"),
            ("2001:db8:7:0:ffff:ffff:ffff:ffff", "routed"),
            ("2001:db8:7:1::", "unclassified"),
        ):
            before = passed(shaper)
            packet = ipv6 if ":" in source else ipv4
            send(packet(17, udp(4433), source), INVENTED)
            assert growth(shaper, before) == {leaf: COUNT}, source
        # The source MAC address determines the station, for any source IP address.
        before = passed(shaper)
        send(ipv4(17, udp(4433), "10.78.4.1"), MACS[0])
        assert growth(shaper, before) == {"s0": COUNT}
        assert shaper.faults() == []
        assert shaper.down() == []


def test_neighbours_with_a_forged_mac_address_are_made_void(shaper: Shaper) -> None:
    """A guest cannot add entries for other MAC addresses to the gateway's neighbour table."""
    own, other = (bytes.fromhex(mac.replace(":", "")) for mac in MACS)
    sender, target = socket.inet_aton("10.77.1.200"), socket.inet_aton("10.77.1.1")

    def arp(mac: bytes) -> tuple[int, bytes]:
        head = b"\0\1\x08\0\6\4\0\1"
        return 0x0806, head + mac + sender + bytes(6) + target

    def known() -> str:
        return sh(f"ip -n {GATEWAY} neigh show dev lan to 10.77.1.200")

    counted = shaper.classified("wlan")
    assert counted is not None
    before = counted[0]
    send(arp(other), MACS[0], count=3)
    assert known() == ""
    now = shaper.classified("wlan")
    assert now is not None
    assert now[0][Kind.FORGED].packets - before[Kind.FORGED].packets == 3
    # A tag of VLAN 0 does not hide a packet, because the kernel removes the tag.
    kind, data = arp(other)
    tagged = b"\0\0\x81\0\0\0" + struct.pack("!H", kind) + data
    send((0x8100, tagged), MACS[0], count=1)
    assert known() == ""
    now = shaper.classified("wlan")
    assert now is not None
    assert now[0][Kind.FORGED].packets - before[Kind.FORGED].packets == 4
    # The BPF program makes forged ARP packets invalid, and puts them into their sender's leaf.
    at_leaf = passed(shaper)
    send(arp(other), MACS[0], count=COUNT)
    assert growth(shaper, at_leaf) == {"s0": COUNT}
    counted = shaper.classified("wlan")
    assert counted is not None
    before = counted[0]
    solicitation = discovery(other, HERE_V6[0])
    send(solicitation, MACS[0], count=2)
    now = shaper.classified("wlan")
    assert now is not None
    assert now[0][Kind.FORGED].packets - before[Kind.FORGED].packets == 2
    send(discovery(own, HERE_V6[0]), MACS[0], count=2)
    send(arp(own), MACS[0], count=1)
    assert MACS[0] in known()
    last = shaper.classified("wlan")
    assert last is not None
    assert last[0][Kind.FORGED].packets == now[0][Kind.FORGED].packets


def discovery(mac: bytes, source: str) -> tuple[int, bytes]:
    """Return a neighbour solicitation that has the MAC address after another option (RFC 4861)."""
    body = b"\x87\0\0\0" + bytes(4) + ip_address("fd77:1::1").packed
    return ipv6(58, body + b"\x0e\1" + bytes(6) + b"\1\1" + mac, source, to="fd77:1::1")


def test_all_kinds_together_have_one_allowance(shaper: Shaper) -> None:
    """A guest that sends all kinds of exempt packets sends at most 48 kbit/s of them outside its
    leaf.
    """
    before = passed(shaper)
    for _ in range(3):
        for packet in EXEMPT_PACKETS.values():
            send(packet, MACS[0], count=100)
    now = shaper.classified("wlan")
    assert now is not None
    exempt = sum(now[0][kind].bytes for kind in EXEMPT_PACKETS)
    assert 8_000 < exempt < 12_000 + 1_500 + 48_000 / 8 * 3
    assert growth(shaper, before)["s0"] > 100


def test_an_entry_that_does_not_exist_is_no_fault(shaper: Shaper) -> None:
    programs = shaper.programs
    assert programs is not None
    assert programs.moves("02:00:00:00:00:99") == 0
    key = ("macs", mac_key(INVENTED))
    programs.table[key] = b""  # the kernel has no such entry
    programs.remove([key])
    assert key not in programs.table
