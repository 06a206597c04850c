"""Groups of stations in a gateway: their members, and the traffic classes of the kernel."""

from dataclasses import replace
from ipaddress import ip_address
from typing import cast

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.classification import GROUP, Programs, leaf_key
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.entries import Entries, keys_of
from lasthop.enforce.gateway.groups import short_queue
from lasthop.enforce.gateway.layout import MAJOR, Layout
from lasthop.enforce.gateway.roster import Roster, Sighting
from lasthop.enforce.gateway.script import script
from lasthop.errors import UserError
from lasthop.linux import tc
from lasthop.linux.tc import PACKET_BYTES, Device

LAPTOP, PHONE, GUEST = (f"02:00:5e:10:00:0{k}" for k in (1, 2, 3))
TABLES = f"""
rate = "12 Mbps"
discover.neighbours = true
station.laptop.mac = "{LAPTOP}"
station.till = {{ address = "10.0.0.9" }}
group.alice = {{ stations = "laptop, {PHONE}, 10.0.7.0/24", share = 2 }}
group.unlisted.max = "5 Mbps"
"""


def gateway(more: str = TABLES) -> config.Gateway:
    return config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n')


def stations_of(*seen: tuple[str, str]) -> dict[str, KnownStation]:
    roster = Roster(gateway())
    roster.see([Sighting(mac, ip_address(address)) for mac, address in seen], 0)
    return {each.mac or each.name: each for each in roster.stations()}


def layout(stations: dict[str, KnownStation], *, with_programs: bool = True) -> Layout:
    programs = cast(Programs, object()) if with_programs else None
    made = Layout(gateway(), Device("lh", 1), programs=programs)
    for station in stations.values():
        made.join(station)
    return made


def test_a_station_is_in_the_group_of_its_mac_address_or_of_its_address() -> None:
    stations = stations_of((LAPTOP, "10.0.0.1"), (PHONE, "10.0.0.2"), (GUEST, "10.0.7.3"))
    groups = {name: each.group for name, each in stations.items()}
    assert groups == {LAPTOP: "alice", PHONE: "alice", GUEST: "alice", "till": None}


def test_stations_that_the_file_does_not_name_are_unlisted() -> None:
    stations = stations_of((GUEST, "10.0.0.3"))
    assert (stations[GUEST].group, stations["till"].group) == ("unlisted", None)


def test_an_address_that_moves_moves_its_station_to_another_group() -> None:
    roster = Roster(gateway())
    roster.see([Sighting(GUEST, ip_address("10.0.0.3"))], 0)
    roster.see([Sighting(GUEST, ip_address("10.0.7.3"))], 1)
    assert {each.group for each in roster.stations() if each.mac == GUEST} == {"alice"}


def test_leaves_of_a_group_are_in_its_own_hierarchy_and_other_leaves_are_outside_it() -> None:
    made = layout(stations_of((LAPTOP, "10.0.0.1"), (PHONE, "10.0.0.2"), (GUEST, "10.0.0.3")))
    majors = {name: member.leaf >> 16 for name, member in made.members.items()}
    alice, unlisted = (made.bundles["wlan", name] for name in ("alice", "unlisted"))
    assert majors == {
        "laptop": alice.major,
        PHONE: alice.major,
        GUEST: unlisted.major,
        "till": MAJOR,
    }
    minors = {member.leaf & 0xFFFF for member in made.members.values()}
    assert len(minors) == len(made.members)
    commands = [request.command for request in made.hierarchy({"wlan": 12_000_000})]
    classes = [line for line in commands if f"classid {tc.shown(alice.leaf)} htb" in line]
    (unit,) = (
        line for line in commands if f"classid {tc.shown(made.members['till'].leaf)} " in line
    )
    assert f"quantum {2 * PACKET_BYTES}" in classes[0]
    assert f"quantum {PACKET_BYTES}" in unit
    (strangers,) = (line for line in commands if f"classid {tc.shown(unlisted.leaf)} htb" in line)
    assert "ceil 5000000bit" in strangers


def test_unclassified_packets_have_the_share_of_unlisted_stations() -> None:
    made = layout({})
    unclassified, multicast = made.shared["wlan"]
    unlisted = made.bundles["wlan", "unlisted"]
    assert (unclassified >> 16, multicast >> 16) == (unlisted.major, MAJOR)
    commands = [request.command for request in made.classes({"wlan": 12_000_000})]
    assert f"root handle {MAJOR:x}: htb default {unlisted.leaf & 0xFFFF:x}" in commands[0]
    (inside,) = (line for line in commands if f"parent {tc.shown(unlisted.leaf)} handle" in line)
    assert f"htb default {unclassified & 0xFFFF:x}" in inside


def test_the_program_has_the_group_of_each_leaf() -> None:
    made = layout(stations_of((LAPTOP, "10.0.0.1")))
    table = Entries(made).table({"eth1": 7}, [])
    alice = made.bundles["wlan", "alice"]
    leaf = made.members["laptop"].leaf
    assert table["groups", leaf_key(leaf)] == GROUP.pack(alice.leaf & 0xFFFF, alice.major)
    assert ("groups", leaf_key(made.members["till"].leaf)) not in table
    assert ("groups", leaf_key(leaf)) in keys_of(made.members["laptop"])
    made.leave("laptop")
    assert ("groups", leaf_key(leaf)) not in Entries(made).table({"eth1": 7}, [])


def test_a_number_that_was_free_can_be_used_in_another_group() -> None:
    stations = stations_of((LAPTOP, "10.0.0.1"), (GUEST, "10.0.0.3"))
    made = layout({"laptop": stations[LAPTOP]})
    minor = made.members["laptop"].leaf & 0xFFFF
    made.leave("laptop")
    made.join(stations[GUEST])
    leaf = made.members[GUEST].leaf
    assert (leaf >> 16, leaf & 0xFFFF) == (made.bundles["wlan", "unlisted"].major, minor)


def test_without_programs_mac_addresses_are_looked_up_in_both_hierarchies() -> None:
    stations = stations_of((PHONE, "10.0.0.2"))
    made = layout({}, with_programs=False)
    commands = [request.command for request in made.join(stations[PHONE])]
    alice = made.bundles["wlan", "alice"]
    inner = [line for line in commands if "flowid" in line]
    for major, flow in ((MAJOR, alice.leaf), (alice.major, made.members[PHONE].leaf)):
        own = [line for line in inner if f"parent {major:x}: " in line]
        assert len(own) == 2
        assert all(f"flowid {tc.shown(flow)}" in line for line in own)
    removed = [request.command for request in made.leave(PHONE)]
    assert sum("tc filter del dev lh " in line for line in removed) == len(inner)


def test_a_turn_that_is_longer_than_a_queue_is_reported() -> None:
    assert short_queue(gateway()) == []
    far = TABLES.replace("share = 2", "share = 100").replace(
        "unlisted.max", "unlisted.share = 0.1#"
    )
    assert "the largest turn is 1000 packets" in short_queue(gateway(far))[0]


def test_a_script_has_no_groups() -> None:
    with pytest.raises(UserError, match=r"`gateway.group.alice`: a script does not support groups"):
        script(replace(gateway(), discovery=replace(gateway().discovery, neighbours=True)))
