"""Entries of the classifier's maps, by MAC address or by IP address."""

from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import cast

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.classification import (
    ACCESS,
    BY_ADDRESS,
    COUNT,
    HAS_IGNORED,
    STATION,
    UNCLASSIFIED_AT,
    Kind,
    Programs,
    Surroundings,
    interface_key,
    mac_key,
    own_key,
    prefix_key,
    settings,
)
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.entries import ROUTED, ROUTED_MAC, UNKNOWN_MAC, Entries, keys_of
from lasthop.enforce.gateway.layout import Layout
from lasthop.linux.tc import Device

MAC, OTHER = "02:00:5e:10:00:01", "02:00:5e:10:00:02"
V4, V6 = ip_address("10.0.0.1"), ip_address("2001:db8::1")

FIXED = {("aps", interface_key(0)), ("setup", bytes(4))}
"""Map entries that exist even if there is no station."""


def layout(more: str = "") -> Layout:
    gateway = config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n')
    return Layout(gateway, Device("lh", 1), programs=cast(Programs, object()))


def phone(name: str = "phone", mac: str | None = MAC) -> KnownStation:
    return KnownStation(name, "wlan", (V4, V6), mac)


def test_a_station_with_a_mac_address_has_a_single_entry() -> None:
    shaped = layout()
    shaped.join(phone())
    table = Entries(shaped).table({"eth1": 7}, [])
    assert {key for key in table if key[0] not in ("interfaces", "aps", "setup")} == {
        ("macs", mac_key(MAC))
    }
    leaf = shaped.members["phone"].leaf & 0xFFFF
    assert STATION.unpack(table["macs", mac_key(MAC)])[:4] == (leaf, leaf, 0, 0)


def test_stations_that_share_a_mac_address_are_distinguished_by_ip_address() -> None:
    shaped = layout()
    shaped.join(replace(phone("a"), addresses=(V4,)))
    shaped.join(replace(phone("b"), addresses=(V6,)))
    table = Entries(shaped).table({"eth1": 7}, [])
    assert STATION.unpack(table["macs", mac_key(MAC)])[3] == BY_ADDRESS
    leaves = [shaped.members[name].leaf & 0xFFFF for name in "ab"]
    classified = [STATION.unpack(table["prefixes", prefix_key(each)])[0] for each in (V4, V6)]
    assert classified == leaves


def test_addresses_behind_a_router_are_entries_and_addresses_on_the_link_are_not() -> None:
    shaped = layout()
    shaped.join(phone())
    table = Entries(shaped, [ip_network("10.0.0.0/24")]).table({"eth1": 7}, [])
    assert ("prefixes", prefix_key(V6)) in table
    assert ("prefixes", prefix_key(V4)) not in table


def test_without_a_mac_address_a_station_is_identified_by_its_ip_addresses() -> None:
    shaped = layout()
    shaped.join(phone(mac=None))
    table = Entries(shaped).table({}, [V4])
    wanted = {("prefixes", prefix_key(V4)), ("prefixes", prefix_key(V6)), ("own", own_key(V4))}
    assert table.keys() == wanted | FIXED


def test_each_access_point_has_leaves_for_unclassified_packets() -> None:
    shaped = layout(
        'ap.a = { interface = "eth1", rate = "5 Mbps" }\n'
        'ap.b = { interface = "eth2", rate = "9 Mbps" }'
    )
    table = Entries(shaped).table({"eth1": 7, "eth2": 8}, [])
    minors = [tuple(leaf & 0xFFFF for leaf in shaped.shared[ap]) for ap in "ab"]
    for k, number in enumerate((7, 8)):
        assert table["interfaces", interface_key(number)] == interface_key(k)
        assert ACCESS.unpack(table["aps", interface_key(k)])[:2] == minors[k]
    rates = {"a": 5_000_000, "b": 9_000_000}
    commands = [request.command for request in shaped.classes(rates)]
    assert f"htb default {minors[0][0]:x}" in commands[0]
    for minor in (*minors[0], *minors[1]):
        assert any(f"classid 6c68:{minor:x} htb" in line for line in commands)


def test_a_station_that_leaves_has_no_entry_and_frees_its_number() -> None:
    shaped = layout()
    shaped.join(phone("a"))
    keys = keys_of(shaped.members["a"])
    assert set(Entries(shaped).table({}, [])) <= {*keys, *FIXED}
    shaped.leave("a")
    assert Entries(shaped).table({}, []).keys() == FIXED
    shaped.join(phone("b", OTHER))
    assert shaped.numbers == {"b": 0}


def test_an_allowance_is_the_time_of_a_byte_and_of_a_burst() -> None:
    value = settings(7, {Kind.DNS: (8000, 500)})
    assert value[-8:] == interface_key(7) + bytes(4)
    every = list(COUNT.iter_unpack(value[:-8]))
    assert every[Kind.DNS] == (1_000_000, 500_000_000)
    assert every[Kind.STATION] == (0, 0)


def test_a_machine_that_is_ignored_passes_with_its_mac_and_ip_address_only() -> None:
    shaped = layout()
    shaped.join(phone("a", OTHER))
    printer = ip_address("10.0.0.9")
    others = Surroundings(ignored={printer: MAC, ip_address("10.0.0.8"): OTHER})
    table = Entries(shaped, others=others).table({"eth1": 7}, [])
    leaf = shaped.members["a"].leaf & 0xFFFF
    entries = {mac: STATION.unpack(table["macs", mac_key(mac)]) for mac in (MAC, OTHER)}
    assert entries[MAC][:4] == (0, 0, 0, HAS_IGNORED)
    assert entries[MAC][4] != entries[OTHER][4] == shaped.numbers["a"]
    # The ignored machine is also station `a`: its other IP addresses belong to the station.
    assert entries[OTHER][:4] == (leaf, leaf, 0, HAS_IGNORED)
    entry = STATION.unpack(table["prefixes", prefix_key(printer)])
    # Packets with the printer's IP address pass only if they also have the printer's MAC address.
    assert (entry[3], entry[4]) == (HAS_IGNORED, entries[MAC][4])


def test_stations_behind_a_router_are_classified_by_address_though_it_is_a_station() -> None:
    shaped = layout()
    shaped.join(replace(phone("router"), addresses=(V4,)))
    shaped.join(replace(phone("guest", None), addresses=(V6,)))
    others = Surroundings(routers={MAC: [ip_network("2001:db8::/56")]})
    on_link = [ip_network("10.0.0.0/24")]
    table = Entries(shaped, on_link, others).table({"eth1": 7}, [])
    assert STATION.unpack(table["macs", mac_key(MAC)])[3] == BY_ADDRESS
    assert ("prefixes", prefix_key(V4)) in table
    assert ("prefixes", prefix_key(V6)) in table
    reasons = Entries(shaped, on_link, others).by_address
    assert reasons["router"] == ROUTED_MAC
    assert Entries(shaped).by_address["guest"] == UNKNOWN_MAC


def test_access_points_at_the_same_interface_have_their_own_leaves_for_unclassified_packets() -> (
    None
):
    shaped = layout(
        'rate = "5 Mbps"\nap.a.subnets = "10.0.0.0/24"\nap.b.subnets = "10.0.1.0/24, fd00::/64"'
    )
    others = Surroundings(waiting={MAC: "b"})
    table = Entries(shaped, others=others).table({"eth1": 7}, [])
    assert table["interfaces", interface_key(7)] == interface_key(0)
    leaves = [leaf & 0xFFFF for leaf in shaped.shared["b"]]
    for subnet in (ip_network("10.0.1.0/24"), ip_network("fd00::/64")):
        entry = STATION.unpack(table["prefixes", prefix_key(subnet)])
        assert entry[:4] == (*leaves, 1, UNCLASSIFIED_AT)
    assert STATION.unpack(table["macs", mac_key(MAC)])[:4] == (*leaves, 1, UNCLASSIFIED_AT)


def test_a_router_that_is_a_single_station_is_classified_by_mac_address() -> None:
    """An example of such a router is that of a customer with a delegated prefix."""
    shaped = layout()
    shaped.join(phone())
    others = Surroundings(routers={MAC: [ip_network("2001:db8::/56")]})
    on_link = [ip_network("10.0.0.0/24")]
    table = Entries(shaped, on_link, others).table({"eth1": 7}, [])
    assert STATION.unpack(table["macs", mac_key(MAC)])[3] == 0
    assert Entries(shaped, on_link, others).by_address == {}
    shaped.join(replace(phone("guest", None), addresses=(ip_address("2001:db8::2"),)))
    table = Entries(shaped, on_link, others).table({"eth1": 7}, [])
    assert STATION.unpack(table["macs", mac_key(MAC)])[3] == BY_ADDRESS


def test_subnets_of_a_station_are_entries() -> None:
    shaped = layout()
    subnet = ip_network("2001:db8:7::/64")
    home = KnownStation("home", "wlan", (), subnets=(subnet,))
    shaped.join(home)
    key = ("prefixes", prefix_key(subnet))
    assert key in Entries(shaped).table({"eth1": 7}, [])
    assert Entries(shaped).by_address == {"home": ROUTED}
    assert key in keys_of(shaped.members["home"])
    shaped.identify("home", MAC)
    assert key in Entries(shaped).table({"eth1": 7}, [])
    assert Entries(shaped).by_address == {}
