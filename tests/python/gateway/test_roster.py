"""Stations that get a leaf, from the reports of several sources."""

from ipaddress import ip_address, ip_network

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.roster import Roster, Sighting
from lasthop.enforce.gateway.service import carried_over

PHONE, LAPTOP = "02:00:5e:10:00:01", "02:00:5e:10:00:02"


def roster(more: str = "") -> Roster:
    return Roster(config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n'))


def seen(mac: str, address: str, **more: str) -> Sighting:
    return Sighting(mac, ip_address(address), **more)


def names(stations: list[KnownStation]) -> dict[str, list[str]]:
    return {each.name: [str(address) for address in each.addresses] for each in stations}


def test_addresses_of_one_machine_are_one_station() -> None:
    known = roster()
    known.see([seen(PHONE, "2001:db8::1"), seen(PHONE, "10.0.0.1", name="phone")], 0)
    assert names(known.stations()) == {"phone": ["10.0.0.1", "2001:db8::1"]}


def test_two_machines_with_the_same_name_are_two_stations() -> None:
    known = roster()
    known.see([seen(PHONE, "10.0.0.1", name="x"), seen(LAPTOP, "10.0.0.2", name="x")], 0)
    assert names(known.stations()) == {"x": ["10.0.0.1"], LAPTOP: ["10.0.0.2"]}


def test_a_station_leaves_when_no_source_names_it() -> None:
    known = roster("discover.absence = '300 s'")
    known.see([seen(PHONE, "10.0.0.1"), seen(LAPTOP, "10.0.0.2")], 0)
    known.see([seen(PHONE, "10.0.0.1")], 299)
    assert len(known.stations()) == 2
    known.see([seen(PHONE, "10.0.0.1")], 301)
    assert names(known.stations()) == {PHONE: ["10.0.0.1"]}


def test_an_old_address_leaves_without_its_station() -> None:
    known = roster("discover.absence = '300 s'")
    known.see([seen(PHONE, "2001:db8::1")], 0)
    known.see([seen(PHONE, "2001:db8::2")], 301)
    assert names(known.stations()) == {PHONE: ["2001:db8::2"]}


def test_a_device_keeps_its_newest_addresses_however_many_it_has_had() -> None:
    known = roster()
    for k in range(1, 100):
        known.see([seen(PHONE, f"2001:db8::{k:x}")], k)
    assert len(known.stations()[0].addresses) == 99
    assert known.dropped is None


def test_a_flood_of_addresses_is_bounded_and_costs_its_sender_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lasthop.enforce.gateway.roster.MAX_ADDRESSES", 100)
    known = roster()
    known.see([seen(LAPTOP, "10.0.0.1")], 0)
    known.see([seen(PHONE, f"2001:db8::{k:x}") for k in range(1, 100)], 1)
    assert known.dropped is None
    known.see([seen(PHONE, "2001:db8::ffff")], 2)
    assert known.dropped == PHONE
    addresses = names(known.stations())
    assert addresses[LAPTOP] == ["10.0.0.1"]
    assert len(addresses[PHONE]) == 99
    assert "2001:db8::ffff" in addresses[PHONE]


def test_a_flood_of_machines_is_bounded_and_present_stations_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lasthop.enforce.gateway.roster.MAX_MACHINES", 100)
    known = roster(
        f"discover = {{ neighbours = true, absence = '300 s' }}\nstation.x.mac = '{PHONE}'"
    )
    known.see([seen(LAPTOP, "10.9.0.1")], 0)
    flood = [
        seen(f"02:00:00:00:{k >> 8:02x}:{k & 255:02x}", f"10.1.{k >> 8}.{k & 255}")
        for k in range(1000)
    ]
    known.see(flood, 1)
    assert len(known.machines) == 100
    assert known.is_full
    known.see([seen(PHONE, "10.9.0.2"), seen(LAPTOP, "10.9.0.3")], 2)
    addresses = names(known.stations())
    assert addresses["x"] == ["10.9.0.2"]
    assert addresses[LAPTOP] == ["10.9.0.1", "10.9.0.3"]
    known.see([], 302)
    known.see([seen("02:00:00:00:ff:ff", "10.9.0.4")], 303)
    assert not known.is_full
    assert "02:00:00:00:ff:ff" in names(known.stations())


def test_a_station_listed_by_address_gets_the_mac_address_seen_with_it() -> None:
    known = roster("discover.neighbours = true\nstation.till.address = '10.0.0.1'")
    assert [each.mac for each in known.stations()] == [None]
    known.see([seen(PHONE, "10.0.0.1"), seen(PHONE, "10.0.0.2")], 0)
    assert names(known.stations()) == {"till": ["10.0.0.1", "10.0.0.2"]}
    assert [each.mac for each in known.stations()] == [PHONE]


def test_the_first_mac_address_keeps_an_address_of_the_file_until_it_is_absent() -> None:
    known = roster("station.till.address = '10.0.0.9'")
    known.see([seen(PHONE, "10.0.0.9")], 0)
    known.see([seen(LAPTOP, "10.0.0.9")], 1)
    assert [each.mac for each in known.stations()] == [PHONE]
    (warning,) = known.bindings.warnings()
    assert warning.startswith(f"address 10.0.0.9: {LAPTOP} claims it, but {PHONE} had it first")
    known.see([seen(LAPTOP, "10.0.0.9")], 302)
    assert [each.mac for each in known.stations()] == [LAPTOP]
    assert known.bindings.warnings() == []


def test_stations_of_the_file_that_share_a_mac_address_stay_separate() -> None:
    known = roster(
        "discover.neighbours = true\nstation.a.address = '10.0.0.1'\nstation.b.address = '10.0.0.2'"
    )
    known.see([seen(PHONE, f"10.0.0.{k}") for k in (1, 2, 3)], 0)
    expected = {"a": ["10.0.0.1"], "b": ["10.0.0.2"], PHONE: ["10.0.0.3"]}
    assert names(known.stations()) == expected
    assert {each.mac for each in known.stations()} == {PHONE}


def test_the_mac_address_of_a_router_is_not_a_stations_if_it_reaches_other_stations() -> None:
    text = "discover.neighbours = true\nstation.a.address = '10.0.0.1'\n"
    routed = tuple(map(ip_network, ("10.1.0.0/24", "fd00::/56")))
    sightings = [seen(PHONE, "10.0.0.1")]
    sightings += [Sighting(PHONE, None, routed=(each,), is_new=False) for each in routed]
    for more, macs in (
        ("", [PHONE]),
        ("station.b.address = '10.2.0.1'", [PHONE, None]),
        ("station.b.address = 'fd00:0:0:1::1'", [None, None]),
    ):
        known = roster(text + more)
        known.see(sightings, 0)
        assert [each.mac for each in known.stations()] == macs
        assert known.routed == {PHONE: routed}


def test_a_guest_that_claims_the_addresses_of_others_first_takes_no_leaf_from_them() -> None:
    known = roster()
    known.see([seen(PHONE, f"10.0.0.{k}") for k in range(1, 100)], 0)
    known.see([seen(LAPTOP, "10.0.0.50")], 10)
    addresses = names(known.stations())
    assert addresses[LAPTOP] == ["10.0.0.50"]
    assert "10.0.0.50" not in addresses[PHONE]
    # The other machine has claimed the address again.
    # The laptop is still listed, but without the address.
    known.see([seen(PHONE, "10.0.0.50")], 20)
    assert names(known.stations())[LAPTOP] == []


def test_the_first_machine_with_an_ignored_address_keeps_it() -> None:
    known = roster("discover = { neighbours = true, ignore = '10.0.0.9', absence = '10 s' }")
    known.see([seen(PHONE, "10.0.0.9")], 0)
    for now in range(1, 60):
        known.see([seen(LAPTOP, "10.0.0.9")], now)
    assert known.ignored == {ip_address("10.0.0.9"): PHONE}
    (warning,) = known.bindings.warnings()
    assert LAPTOP in warning
    again = roster("discover = { neighbours = true, ignore = '10.0.0.9' }")
    again.bindings.restore(known.ignored, 0)
    again.see([seen(LAPTOP, "10.0.0.9")], 1)
    assert again.ignored == known.ignored


def test_a_station_with_a_subnet_has_all_addresses_in_it() -> None:
    known = roster("discover.neighbours = true\nstation.home.address = '2001:db8:7::/64'")
    assert [(each.name, each.mac) for each in known.stations()] == [("home", None)]
    known.see([seen(PHONE, "2001:db8:7::9"), seen(LAPTOP, "2001:db8:8::9")], 0)
    assert names(known.stations()) == {"home": ["2001:db8:7::9"], LAPTOP: ["2001:db8:8::9"]}


@pytest.mark.parametrize(
    ("routed", "mac"),
    [
        (("2001:db8:7::/64",), PHONE),
        (("2001:db8:7:0:8000::/65", "2001:db8:7::7/128"), PHONE),
        (("2001:db8:7::/64", "10.1.0.0/24"), None),
        (("2001:db8::/32",), None),
    ],
)
def test_a_router_that_reaches_nothing_but_a_stations_subnets_is_that_station(
    routed: tuple[str, ...], mac: str | None
) -> None:
    known = roster("station.home.address = '2001:db8:7::/64'")
    networks = tuple(map(ip_network, routed))
    known.see([Sighting(PHONE, None, routed=networks, is_new=False)], 0)
    assert [each.mac for each in known.stations()] == [mac]


def test_neighbours_that_are_not_a_source_name_only_listed_stations() -> None:
    known = roster(f"station.till.mac = '{PHONE}'\nstation.a.address = '10.0.0.2'")
    hints = [
        seen(PHONE, "10.0.0.1"),
        seen(LAPTOP, "10.0.0.2"),
        seen("02:00:5e:10:00:03", "10.0.0.3"),
    ]
    known.see([each._replace(is_new=False) for each in hints], 0)
    assert {each.name: each.mac for each in known.stations()} == {"till": PHONE, "a": LAPTOP}
    assert len(known.machines) == 2


def test_a_new_file_keeps_the_learnt_facts_about_its_addresses() -> None:
    before = roster("discover.neighbours = true\nstation.till.address = '10.0.0.1'")
    before.see([seen(PHONE, "10.0.0.1"), seen(LAPTOP, "10.0.0.9")], 0)
    text = "discover = { neighbours = true, ignore = '10.0.0.9' }\nstation.x.address = '10.0.0.1'"
    after = carried_over(before, roster(text).gateway)
    assert [each.mac for each in after.stations()] == [PHONE]
    assert after.ignored == {ip_address("10.0.0.9"): LAPTOP}
    assert names(after.stations()) == {"x": ["10.0.0.1"]}


def test_the_same_mac_address_at_two_ports_of_a_bridge_is_a_fault() -> None:
    known = roster()
    for k in range(5):
        known.see([Sighting(PHONE, None, interface="eth1", port=f"p{k % 2}", is_new=False)], 5 * k)
    assert known.ports.faults() == [
        f"MAC address {PHONE} is at two ports, p0 and p1: two machines use it, and have one share"
    ]
    known.see([], 81)
    assert known.ports.faults() == []


def test_a_station_that_roams_is_no_fault_and_each_port_has_a_count() -> None:
    known = roster()
    for k in range(5):
        known.see([seen(PHONE, "10.0.0.1", interface=f"eth{k % 2}")], 5 * k)
    known.see([Sighting(LAPTOP, None, interface="eth1", port="p0", is_new=False)], 25)
    known.see([seen(LAPTOP, "10.0.0.2", interface="eth1")], 26)
    assert known.ports.faults() == []
    assert known.ports.counts() == {"eth0": 1, "p0": 1}


def test_a_mac_address_finds_its_addresses() -> None:
    known = roster(f"station.till.mac = '{PHONE}'")
    assert known.stations() == []
    known.see([seen(PHONE, "10.0.0.7"), seen(PHONE, "2001:db8::7")], 0)
    assert names(known.stations()) == {"till": ["10.0.0.7", "2001:db8::7"]}


def test_an_ignored_address_is_not_a_station() -> None:
    known = roster("discover.ignore = '10.0.0.2'")
    known.see([seen(PHONE, "10.0.0.1"), seen(LAPTOP, "10.0.0.2")], 0)
    assert names(known.stations()) == {PHONE: ["10.0.0.1"]}


def test_an_address_that_moves_to_another_machine_has_one_owner() -> None:
    known = roster()
    known.see([seen(PHONE, "10.0.0.1"), seen(LAPTOP, "10.0.0.1")], 0)
    # Packets are classified by MAC address, so that both machines have a leaf.
    assert names(known.stations()) == {PHONE: ["10.0.0.1"], LAPTOP: []}


def test_the_access_point_comes_from_a_source_or_from_the_interface() -> None:
    known = roster(
        """ap.a.subnets = "10.1.0.0/16"
ap.b.interface = "eth2"
ap.c = { interface = "eth3" }
discover.neighbours = true
"""
    )
    known.see(
        [
            seen(PHONE, "10.1.0.1", interface="eth3"),
            seen(LAPTOP, "10.9.0.1", interface="eth2"),
            seen("02:00:5e:10:00:03", "10.9.0.2", ap="c", interface="eth2"),
            seen("02:00:5e:10:00:04", "10.9.0.3", interface="eth9"),
        ],
        0,
    )
    assert [(each.name[-2:], each.ap) for each in known.stations()] == [
        ("01", "c"),
        ("02", "b"),
        ("03", "c"),
    ]


def test_access_points_at_the_same_interface_have_stations_by_subnet() -> None:
    known = roster(
        """ap.a.subnets = "10.1.0.0/16"
ap.b.subnets = "10.2.0.0/16"
ap.c = { interface = "eth3", subnets = "10.3.0.0/16" }
discover.neighbours = true
"""
    )
    known.see(
        [
            seen(PHONE, "10.2.0.1", interface="eth1"),
            # The address belongs to an access point at another interface.
            # It does not move the station to that access point.
            seen(LAPTOP, "10.3.0.1", interface="eth1"),
            seen(LAPTOP, "10.1.0.1", interface="eth1"),
        ],
        0,
    )
    assert {each.name[-2:]: each.ap for each in known.stations()} == {"01": "b", "02": "a"}
