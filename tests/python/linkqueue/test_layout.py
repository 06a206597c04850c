"""Netlink messages to the kernel about a queue, checked without a kernel."""

import math
import re
import struct
from pathlib import Path

import pytest

from lasthop.enforce.queue import config, pi, sharing
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.layout import Layout, discipline_of, has_program, warnings_for
from lasthop.enforce.queue.program import object_of
from lasthop.enforce.queue.shaped import plan, same_kind
from lasthop.enforce.queue.sharing import CLASS, keys_of
from lasthop.errors import UserError
from lasthop.linux import disciplines, tc
from lasthop.linux.bpf import MapShape
from lasthop.linux.bpf_object import Object
from lasthop.linux.classifier import SECTION, linked, shape_of
from lasthop.linux.described import described

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "crates/bpf/sharing.bpf.c"
CHECKS = ROOT / "crates/enforce/src/interface/checks.rs"


def of(queue: str, rate: str = "10 Mbps", more: str = "") -> LinkQueue:
    return config.read(f'[interface]\nname = "eth0"\nrate = "{rate}"\nqueue = {queue}\n{more}')


CLASSES = (
    'class.a = { address = "10.0.0.0/8, fd00::1", mark = 7 }\n'
    'class.b.mac = "02:00:5E:10:00:01, 02-00-5e-10-00-02"\n'
)
SHARED = "{ limit = 100, vbs = { class.a.share = 0.5, class.b.share = 0.25 } }"


def test_a_plan_contains_the_commands_of_tc() -> None:
    assert plan(of("{ threshold = 15 }", more='from = "br0, wlan0"')) == [
        "ethtool -K br0 gro off",
        "ethtool -K wlan0 gro off",
        "ip link set eth0 gso_max_segs 1",
        "tc qdisc add dev eth0 root handle 6c67: tbf rate 100000000000bit burst 1600b "
        "limit 1048576b",
        "tc qdisc add dev eth0 parent 6c67:1 handle 6c68: htb default 1 direct_qlen 1000",
        "tc class add dev eth0 parent 6c68: classid 6c68:1 htb rate 10000000bit ceil 10000000bit "
        "burst 1514b cburst 1514b quantum 1514",
        "tc qdisc add dev eth0 parent 6c68:1 pfifo limit 14",
    ]


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ("100", "pfifo limit 99"),
        ("{ limit = 60, codel = {} }", "codel limit 59 target 5000us interval 100000us noecn"),
        (
            "{ limit = 60, fq_codel = { target = '15 ms' } }",
            "fq_codel limit 59 target 15000us interval 100000us ecn flows 1024 quantum 1514 "
            "memory_limit 271872b",
        ),
        (
            "{ limit = 60, pie = {} }",
            "pie limit 59 target 15000us tupdate 15000us alpha 2 beta 20 noecn",
        ),
        (
            "{ limit = 100, red = { min_th = 50, max_th = 90, max_p = 0.1, weight = 0.002 } }",
            "red limit 149886 min 75700 max 136260 avpkt 1514 burst 177 probability 0.1 "
            "bandwidth 10000000bit",
        ),
        (
            "{ limit = 101, red = { min_th = 20, max_th = 60, weight = 0.002, bytes = true } }",
            "red limit 50000 min 10000 max 30000 avpkt 500 burst 106 probability 0.1 "
            "bandwidth 10000000bit",
        ),
    ],
)
def test_disciplines_are_those_of_the_scenario(queue: str, words: str) -> None:
    discipline = discipline_of(of(queue))
    assert f"{discipline.kind} {discipline.words}" == words


@pytest.mark.parametrize(
    "queue",
    [
        "7",
        "{ limit = 60, codel = { ecn = true } }",
        "{ limit = 60, fq_codel = {} }",
        "{ limit = 60, pie = {} }",
        "{ limit = 100, red = { min_th = 5, max_th = 90 } }",
        SHARED,
        "{ limit = 100, pi = { target = 40 } }",
    ],
)
def test_requested_settings_can_be_read_back(queue: str) -> None:
    wanted = of(queue, more=CLASSES if "vbs" in queue else "")
    layout = Layout(wanted, tc.Device("eth0", 7), 5 if has_program(wanted) else None)
    read = [described(each.kind, each.body) for each in (*layout.hierarchy(), *layout.filters())]
    assert all(each is not None and each.settings for each in read)
    assert len({each.name for each in read if each is not None}) == len(read)


def test_red_decays_in_idle_times_as_in_tc() -> None:
    """The table gives the decay of RED's average in idle times. With the weight w of the average,
    the entry for an idle time of m packets is -m log(1 - w), rounded down.
    """
    packet_ticks = tc.ticks(1514, 10_000_000 // 8)
    table, cell_log = disciplines.idle_table(9, packet_ticks)
    assert len(table) == 256
    for packets in (50, 500, 2_000):
        cell = packets * packet_ticks >> cell_log
        expected = -packets * math.log(1 - 0.5**9)
        assert expected - 1.1 <= table[min(cell, 255)] <= expected


@pytest.mark.parametrize("weight_log", range(1, 16))
@pytest.mark.parametrize("least", [5, 50, 300])
def test_tc_derives_the_weight_from_the_given_burst(weight_log: int, least: int) -> None:
    burst = disciplines.burst_of(weight_log, least)
    over = burst + 1 - least
    made = next(log for log in range(1, 32) if over <= disciplines.means(log, burst))
    assert made == weight_log


def test_settings_that_linux_does_not_support_are_refused() -> None:
    with pytest.raises(UserError, match="Linux has no discipline proportional"):
        discipline_of(of("{ limit = 100, proportional = { slope = 0.01 } }"))
    with pytest.raises(UserError, match="lasthop only simulates dualpi2"):
        discipline_of(of("{ dualpi2 = {} }"))
    with pytest.raises(UserError, match="ce_threshold is supported only in simulations"):
        discipline_of(of("{ codel = { ce_threshold = '1 ms' } }"))
    with pytest.raises(UserError, match="1 packet is too few for Linux"):
        discipline_of(of("{ threshold = 1 }"))


def test_differences_from_the_scenario_are_reported() -> None:
    assert (
        "power of two" in warnings_for(of("{ limit = 100, red = { min_th = 5, max_th = 90 } }"))[0]
    )
    printed = SHARED.replace("vbs = {", 'vbs = { algorithm = "printed",')
    assert "starves the link" in warnings_for(of(printed, more=CLASSES))[0]
    assert warnings_for(of(SHARED, more=CLASSES)) == []


def test_members_are_keys_of_the_maps_of_the_program() -> None:
    ten = b"\x04" + bytes([10, 0, 0, 0])
    fd00 = b"\x06" + bytes.fromhex("fd00" + 26 * "0" + "01")
    assert list(keys_of(of(SHARED, more=CLASSES).classes)) == [
        (("marks", struct.pack("=I", 7)), 0),
        (("prefixes", struct.pack("=I20s", 16, ten)), 0),
        (("prefixes", struct.pack("=I20s", 136, fd00)), 0),
        (("macs", bytes.fromhex("02005e1000010000")), 1),
        (("macs", bytes.fromhex("02005e1000020000")), 1),
    ]


def test_numbers_change_in_place_and_kinds_do_not() -> None:
    shared = of(SHARED, more=CLASSES)
    assert same_kind(shared, of(SHARED.replace("0.25", "0.4"), rate="1 Mbps", more=CLASSES))
    assert same_kind(of("15"), of("40"))
    assert not same_kind(of("15"), shared)
    assert not same_kind(of("15"), of("15", more='from = "br0"'))


def test_the_program_is_linked_with_its_functions_and_maps() -> None:
    data = Object(object_of("sharing"))
    code, named = linked(data)
    assert len(code) > len(data.section(SECTION))
    assert {name for name, section in named.values() if section == ".maps"} == {
        "queue",
        "marks",
        "macs",
        "prefixes",
    }
    types = data.types()
    assert shape_of(types, "macs") == MapShape(1, 8, 4, 4096, 0)
    assert shape_of(types, "queue").value_bytes == types.structure("shared").size


def test_structures_and_bounds_are_those_of_the_program() -> None:
    """The structures and limits in Python equal those in the C code."""
    shared, control = (Object(object_of(name)).types() for name in ("sharing", "pi"))
    assert shared.structure("class").size == CLASS.size
    assert shared.structure("setting").size == sharing.SETTING.size
    assert control.structure("pi").size == pi.SETTING.size + pi.STATE.size
    source = (ROOT / "crates/bpf/sharing.h").read_text()
    classes = shared.structure("shared").place("ring") - shared.structure("shared").place("class")
    assert classes == (sharing.NONE + 1) * CLASS.size
    places = int(re.findall(r"#define PLACES (\d+)", source)[0])
    members = int(re.findall(r"#define MOST_MEMBERS (\d+)", PROGRAM.read_text())[0])
    assert f"MAX_CLASSES: usize = {sharing.NONE};" in CHECKS.read_text()
    assert f"MAX_MEMBERS: usize = {members:_};" in CHECKS.read_text()
    assert f"MAX_SHARED: u32 = {places - 1:_};" in CHECKS.with_name("assemble.rs").read_text()
