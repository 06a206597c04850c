"""Traffic classes of stations, and the output of `plan`."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import Gateway, KnownStation
from lasthop.enforce.gateway.layout import (
    FIRST_LEAF,
    LAST_LEAF,
    MAJOR,
    Layout,
    ifb_name,
    refuse_excess_stations,
)
from lasthop.enforce.gateway.shaper import plan
from lasthop.enforce.gateway.tables import MAX_ALIKE, Tables, bucket_of
from lasthop.enforce.gateway.weights import short_queue
from lasthop.errors import UserError
from lasthop.linux import tc
from lasthop.linux.tc import PACKET_BYTES, Device


def gateway(more: str = "") -> Gateway:
    return config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n')


def tables_of(layout: Layout) -> Tables:
    assert layout.tables is not None
    return layout.tables


def station(k: int, rate_bps: int | None = None) -> KnownStation:
    address = ip_address(f"10.0.{k // 250}.{k % 250}")
    return KnownStation(f"s{k}", "wlan", (address,), rate_bps=rate_bps)


def test_both_directions_of_a_station_share_a_leaf() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    layout.join(station(1))
    layout.join(station(2))
    first, second = layout.members.values()
    assert first.leaf == first.uplink != second.leaf == second.uplink


def test_all_stations_share_one_leaf_per_direction() -> None:
    layout = Layout(gateway('fairness = "direction"'), Device("lh", 1))
    layout.join(station(1))
    layout.join(station(2))
    first, second = layout.members.values()
    assert (first.leaf, first.uplink) == (second.leaf, second.uplink)
    assert first.leaf != first.uplink


def test_turns_are_in_proportion_to_rates() -> None:
    more = """fairness = "rate"
station.slow = { address = "10.0.0.1", rate = "2 Mbps" }
station.fast = { address = "10.0.0.2", rate = "11 Mbps" }
"""
    layout = Layout(gateway(more), Device("lh", 1))
    ap = layout.gateway.aps[0]
    slow, fast = (layout.quantum(ap, each) for each in layout.gateway.stations)
    assert (slow, fast / slow) == (PACKET_BYTES, pytest.approx(5.5, rel=1e-3))
    # a station with an unknown rate is treated as fast
    assert layout.quantum(ap, station(3)) == fast


def test_turns_are_in_proportion_up_to_ten_thousand() -> None:
    rates = [1, 2, 150, 600]
    more = 'fairness = "rate"\n' + "".join(
        f'station.s{k} = {{ address = "10.0.0.{k}", rate = "{rate} Mbps" }}\n'
        for k, rate in enumerate(rates, start=1)
    )
    layout = Layout(gateway(more), Device("lh", 1))
    ap = layout.gateway.aps[0]
    quanta = [layout.quantum(ap, each) for each in layout.gateway.stations]
    assert quanta == [PACKET_BYTES * rate for rate in rates]
    (warning,) = short_queue(layout.gateway)
    assert "turn of the fastest station is 600 packets, and `gateway.queue` holds 200" in warning
    assert short_queue(gateway("queue = 600\n" + more)) == []
    with pytest.raises(UserError, match=r"`gateway.station.x.rate`: .* 10000 times .*s1.rate`"):
        Layout(gateway(more + 'station.x = { address = "10.0.0.9", rate = "11 Gbps" }'), layout.ifb)


def test_shortened_names_of_interfaces_differ() -> None:
    names = {ifb_name(replace(gateway(), lan=f"enp0s31f6.{k}")) for k in range(1000, 1100)}
    assert len(names) == 100
    assert {len(name) for name in names} == {15}
    assert ifb_name(replace(gateway(), lan="wlp0s20f3u1a")) == "lh-wlp0s20f3u1a"


def test_exceeding_the_numbers_of_the_kernel_is_detected_in_advance() -> None:
    alike = "".join(
        f'station.s{k} = {{ address = "10.{k // 250}.{k % 250}.7" }}\n' for k in range(4200)
    )
    leaves = 'fairness = "flow"\nflow_leaves = 4096\n' + "".join(
        f"ap.a{k} = {{}}\n" for k in range(20)
    )
    placed = 'station.s = { address = "10.0.0.1", ap = "a1" }\n'
    for more, why in (
        (alike, "more than 4095 addresses end like"),
        (leaves + placed, "leaf queues"),
    ):
        read = gateway(more)
        with pytest.raises(UserError, match=why):
            refuse_excess_stations(read, read.stations)
    refuse_excess_stations(gateway(), ())


def test_numbers_of_stations_that_leave_are_reused() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    for k in range(5_000):
        layout.join(station(k % 100))
        layout.leave(f"s{k % 100}")
    assert layout.next_leaf == 0x101
    assert all(not taken for taken in tables_of(layout).taken.values())
    assert tables_of(layout).placed == {}


def test_there_are_leaves_for_65000_stations_and_then_a_clear_message() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    assert layout.last_leaf == LAST_LEAF - 3  # leaves for unclassified, multicast and echo packets
    layout.next_leaf = layout.last_leaf
    layout.join(station(1))
    with pytest.raises(UserError, match="the kernel has no numbers"):
        layout.join(station(2))


def test_a_station_without_a_number_changes_nothing() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    taken = tables_of(layout).taken
    full = ip_address("10.0.0.7")
    taken[bucket_of(full)] = set(range(1, MAX_ALIKE + 1))
    other = ip_address("10.0.0.8")
    with pytest.raises(UserError, match=r"more than 4095 addresses end like 10\.0\.0\.7"):
        layout.join(KnownStation("late", "wlan", (other, full)))
    assert layout.members == {}
    assert taken[bucket_of(other)] == set()
    assert layout.new_leaf() == tc.classid(MAJOR, FIRST_LEAF)
    layout.join(KnownStation("there", "wlan", (other,)))
    with pytest.raises(UserError, match="end like"):
        layout.readdress("there", [ip_address("10.0.0.9"), full])
    assert layout.members["there"].addresses == (other,)
    assert taken[bucket_of(ip_address("10.0.0.9"))] == set()
    assert list(tables_of(layout).placed["there"][1]) == [other]


MAC = "02:00:5e:10:00:0a"


def test_a_station_with_a_mac_address_has_one_entry_per_direction() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    addresses = (ip_address("10.0.0.1"), ip_address("2001:db8::1"))
    commands = [each.command for each in layout.join(KnownStation("a", "wlan", addresses, MAC))]
    entries = [line for line in commands if "tc filter add" in line]
    assert [line.split(" u32 ht ")[1] for line in entries] == [
        "7:a: match u32 0x00000200 0x0000ffff at -16 match u32 0x5e10000a 0xffffffff at -12 "
        "flowid 6c68:100",
        "8:a: match u32 0x02005e10 0xffffffff at -8 match u32 0x000a0000 0xffff0000 at -4 "
        "flowid 6c68:100",
    ]
    assert layout.readdress("a", (*addresses, ip_address("10.0.0.2"))) == []


def test_stations_with_the_same_mac_address_are_distinguished_by_ip_address() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    first, second = ip_address("10.0.0.1"), ip_address("10.0.0.2")
    layout.join(KnownStation("a", "wlan", (first,), MAC))
    layout.join(KnownStation("b", "wlan", (second,), MAC))
    placed = tables_of(layout).placed
    assert [list(placed[name][1]) for name in "ab"] == [[first], [second]]
    layout.leave("a")
    assert list(placed["b"][1]) == [MAC]
    layout.identify("b", None)
    assert list(placed["b"][1]) == [second]


def test_a_change_of_rate_is_a_single_message() -> None:
    layout = Layout(gateway(), Device("lh", 1))
    for k in range(100):
        layout.join(station(k))
    request = layout.rate(layout.gateway.aps[0], 3_000_000)
    assert request.command.startswith(
        "tc class change dev lh parent 6c68: classid 6c68:1 htb rate 3"
    )


def test_the_last_commands_redirect_all_but_exempt_udp_and_ignored_machines() -> None:
    more = """udp = "down"
discover = { neighbours = true, ignore = "10.0.0.9, 2001:db8::9" }
station.a.address = "10.0.0.1"
"""
    lines = plan(gateway(more), by_mac=False)
    (hooks,) = [line.split() for line in lines if line.endswith(" clsact")]
    lan, wan = int(hooks[6]), int(hooks[8])
    filters = [[line for line in lines if f"add block {number} " in line] for number in (lan, wan)]
    assert lines[-len(filters[0]) - len(filters[1]) :] == [*filters[0], *filters[1]]
    for of_block in filters:
        assert of_block[-1].endswith(
            "protocol all pref 3 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress "
            "redirect dev lh-eth1"
        )
        assert all(" flowid 6c68:" in line for line in of_block[:-1])
    words = [[line.split(" match u32 ")[1].split()[0] for line in each[:-1]] for each in filters]
    assert words == [
        ["0x0a000009", "0x20010db8", "0x00110000", "0x00001100"],
        ["0x0a000009", "0x20010db8"],
    ]


def test_uplink_udp_is_exempt_only_if_all_access_points_exempt_it() -> None:
    more = 'ap.a = { rate = "5 Mbps", interface = "eth1" }\n'
    more += 'ap.b = { udp = "down", rate = "5 Mbps", interface = "eth2" }\n'
    lines = plan(gateway(more), by_mac=False)
    assert not any("0x00110000" in line for line in lines)


def test_lists_of_filters_at_the_ifb_have_an_order() -> None:
    """Filters of echoes come before those of stations. Filters by MAC address come before those by
    IP address. Filters of group addresses come last.
    """
    lines = plan(gateway('station.a.address = "10.0.0.1"'), by_mac=False)
    at_ifb = [line for line in lines if "tc filter add dev lh-eth1 " in line]
    protocols = {tuple(line.split(" protocol ")[1].split()[:3:2]) for line in at_ifb}
    assert sorted(protocols, key=lambda each: each[1]) == [
        ("ip", "1"),
        ("ipv6", "2"),
        ("all", "3"),
        ("ip", "4"),
        ("ipv6", "5"),
        ("all", "6"),
    ]
    (default,) = (line for line in lines if "root handle 6c68:" in line)
    layout = Layout(gateway(), Device("lh", 1))
    assert f"default {layout.shared['wlan'][0] & 0xFFFF:x} " in default


def test_a_plan_has_programs_address_and_redirects_by_the_last_commands() -> None:
    more = """discover.neighbours = true
station.a = { mac = "02:00:5e:10:00:01", address = "10.0.0.1" }
station.b.address = "10.0.0.2"
"""
    lines = plan(gateway(more))
    (load,) = (k for k, line in enumerate(lines) if "prog loadall" in line)
    assert lines[load].endswith(
        "share/stations.o /sys/fs/bpf/lh-eth1 type classifier pinmaps /sys/fs/bpf/lh-eth1/maps"
    )
    filled = [line.split("/maps/")[1].split()[0] for line in lines if "map update" in line]
    assert filled == ["aps", "interfaces", "setup", "macs", "prefixes"]
    (mac,) = (line for line in lines if "/maps/macs " in line)
    assert " key hex 02 00 5e 10 00 01 00 00 value hex 00 01 00 01 " in mac
    assert [line.split("/")[-1].split()[0] for line in lines[-2:]] == [
        "from_stations",
        "to_stations",
    ]
    assert all(" action mirred egress redirect dev lh-eth1" in line for line in lines[-2:])
    assert not any("u32" in line for line in lines)


def test_each_of_two_access_points_has_a_bottleneck() -> None:
    more = """ap.a = { rate = "5 Mbps" }
ap.b = { rate = "9 Mbps" }
station.x = { address = "10.0.0.1", ap = "a" }
station.y = { address = "10.0.0.2", ap = "b" }
"""
    lines = plan(gateway(more))
    assert any("classid 6c68:1 htb rate 5000000bit" in line for line in lines)
    assert any("classid 6c68:2 htb rate 9000000bit" in line for line in lines)
    assert any("parent 6c68:1 classid 6c68:100 htb" in line for line in lines)
    assert any("parent 6c68:2 classid 6c68:101 htb" in line for line in lines)


def test_inconsistent_settings_of_the_estimator_are_refused() -> None:
    with pytest.raises(UserError, match=r"wce.decrease`: \"1 kbps\" .* increase up to decrease"):
        gateway('wce.decrease = "1 kbps"')


def test_the_step_down_is_four_times_the_step_up() -> None:
    (ap,) = gateway('wce = { rule = "paper", increase = "5 Mbps" }').aps
    assert ap.wce.steps_bps == (5_000_000, 20_000_000)
