"""Import of SQM settings: the queue of the wired line, and settings that are not supported."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing import openwrt, sqm
from lasthop.importing.scenario import as_toml

WIRELESS = "config wifi-device 'r'\n\toption band '5g'\nconfig wifi-iface\n\toption device 'r'\n"

Options = Mapping[str, str]


def queue(**options: str) -> Options:
    return {"enabled": "1", "download": "85000", "upload": "20000"} | options


def line_of(tmp_path: Path, *queues: Options) -> tuple[dict[str, str], str]:
    """Return the imported keys of the wire with their values, and all warnings."""
    path = tmp_path / "sqm"
    path.write_text(
        "".join(
            "config queue\n" + "".join(f"\toption {k} '{v}'\n" for k, v in each.items())
            for each in queues
        )
    )
    seen = sqm.line(path)
    wireless = tmp_path / "wireless"
    wireless.write_text(WIRELESS)
    lh.check(as_toml(openwrt.network(wireless, 2, sqm_file=path)))
    warnings = "\n".join(note.text for note in seen.notes if note.warns)
    return {key: value for key, (value, _) in seen.wire.items()}, warnings


def test_the_line_of_the_router_is_imported(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, queue(interface="wan", qdisc="fq_codel", linklayer="none"))
    assert wire == {
        "rate": '"85 Mbps"',
        "back_rate": '"20 Mbps"',
        "queue": "{ fq_codel = {} }",
    }
    assert not warnings


@pytest.mark.parametrize("off", [{"enabled": "0"}, {"enabled": ""}, {"enabled": "on"}])
def test_a_queue_that_does_not_start_makes_no_line(off: Options, tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, queue(interface="eth1", **off))
    assert not wire
    assert "SQM on eth1 is" in warnings
    assert "no wired line; to add one, append [wire] with the lines" in warnings


def test_a_queue_without_enabled_does_not_start(tmp_path: Path) -> None:
    wire, _ = line_of(tmp_path, {"interface": "eth1", "download": "1000", "upload": "1000"})
    assert not wire


@pytest.mark.parametrize("order", [1, -1])
def test_the_line_of_a_guest_network_is_left_out(order: int, tmp_path: Path) -> None:
    queues = [queue(interface="wan"), queue(interface="br-guest", download="2000", upload="400")]
    wire, warnings = line_of(tmp_path, *queues[::order])
    assert wire["rate"] == '"85 Mbps"'
    assert "br-guest (2 Mbps down, 400 kbps up): the guest network's line is left out" in warnings
    assert not line_of(tmp_path, queues[1])[0]


def test_other_lines_are_reported_with_their_rates(tmp_path: Path) -> None:
    wire, warnings = line_of(
        tmp_path, queue(interface="eth1", download="9000"), queue(interface="pppoe-wan")
    )
    assert wire["rate"] == '"85 Mbps"'
    assert "also shapes eth1 (9 Mbps down, 20 Mbps up): another line" in warnings
    _, warnings = line_of(tmp_path, queue(interface="wan"), queue(interface="wan", download="1"))
    assert "wan twice" in warnings


def test_directions_of_an_interface_towards_the_stations_are_exchanged(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, queue(interface="br-lan"))
    assert (wire["rate"], wire["back_rate"]) == ('"20 Mbps"', '"85 Mbps"')
    assert "its upload is their download" in warnings


def test_a_rate_of_0_is_not_shaped_and_a_missing_one_is_the_default(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, queue(interface="wan", upload="0"))
    assert (wire["rate"], wire["back_rate"]) == ('"85 Mbps"', '"unlimited"')
    assert "does not shape upload" in warnings
    assert not line_of(tmp_path, queue(interface="wan", download="0", upload="0"))[0]
    wire, warnings = line_of(tmp_path, {"enabled": "1", "interface": "wan", "upload": "123456"})
    assert (wire["rate"], wire["back_rate"]) == ('"14.698 Mbps"', '"123.456 Mbps"')
    assert "14698 kbit/s" in warnings


@pytest.mark.parametrize(
    ("qdisc", "script", "discipline", "words"),
    [
        ("fq_codel", "simple.qos", "fq_codel", ""),
        ("", "simplest.qos", "fq_codel", ""),
        ("codel", "simplest.qos", "codel", ""),
        ("cake", "simplest_tbf.qos", "fq_codel", ""),
        ("sfq", "simple.qos", None, "no qdisc sfq"),
        ("pfifo", "simplest.qos", None, ""),
    ],
)
def test_script_and_qdisc_set_the_queue_of_the_line(
    qdisc: str, script: str, discipline: str | None, words: str, tmp_path: Path
) -> None:
    wire, warnings = line_of(tmp_path, queue(interface="wan", qdisc=qdisc, script=script))
    assert wire.get("queue") == (discipline and f"{{ {discipline} = {{}} }}")
    assert words in warnings
    assert bool(warnings) == bool(words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"linklayer": "ethernet", "overhead": "44"}, "counts 1544 B for a packet of 1500 B"),
        ({"linklayer": "atm", "overhead": "40"}, "counts 1749 B for a packet of 1500 B"),
        ({"linklayer": "adsl", "qdisc": "fq_codel"}, "counts 1696 B"),
        ({"linklayer": "ethernet", "overhead": "-4"}, "counts 1496 B"),
        ({"eqdisc_opts": "nat dual-srchost"}, 'eqdisc_opts "nat dual-srchost" is left out'),
    ],
)
def test_the_overhead_of_packets_is_reported(options: Options, words: str, tmp_path: Path) -> None:
    assert words in line_of(tmp_path, queue(interface="wan", **options))[1]


def test_overhead_has_no_effect_without_a_link_layer(tmp_path: Path) -> None:
    options = {"linklayer": "none", "overhead": "44"}
    assert not line_of(tmp_path, queue(interface="wan", **options))[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"download": "85Mbit"}, '"85Mbit" is not a whole number'),
        ({"upload": "-1"}, '"-1" is not a whole number'),
        ({"enabled": "maybe"}, "is neither 0 nor 1"),
        ({"overhead": "much"}, '"much" is not a whole number'),
    ],
)
def test_invalid_options_are_refused_with_their_line(
    options: Options, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        line_of(tmp_path, queue(interface="wan", **options))


def test_uci_show_of_all_packages_contains_sqm(tmp_path: Path) -> None:
    path = tmp_path / "all"
    path.write_text(
        "network.wan=interface\nnetwork.wan.proto='dhcp'\nsqm.wan=queue\nsqm.wan.enabled='1'\n"
        "sqm.wan.interface='wan'\nsqm.wan.download='1000'\nsqm.wan.upload='500'\n"
    )
    assert sqm.line(path).wire["rate"][0] == '"1 Mbps"'
