"""Import of SQM settings with CAKE, and of cake-autorate: the queues of both directions, and what a
run with them gives.
"""

import tomllib
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing import openwrt, sqm
from lasthop.importing.scenario import as_toml

WIRELESS = (
    "config wifi-device 'r'\n\toption band '5g'\n\toption htmode 'VHT80'\n"
    "config wifi-iface\n\toption device 'r'\n"
)

Options = Mapping[str, str]
PIECE, LAYER = "piece_of_cake.qos", "layer_cake.qos"


def written(tmp_path: Path, **options: str) -> Path:
    """Return a file with one queue of SQM."""
    own = {"enabled": "1", "interface": "wan", "download": "85000", "upload": "20000"}
    own |= {"qdisc": "cake", "script": PIECE} | options
    path = tmp_path / "sqm"
    path.write_text("config queue\n" + "".join(f"\toption {k} '{v}'\n" for k, v in own.items()))
    return path


def line_of(
    tmp_path: Path, autorate: Path | None = None, **options: str
) -> tuple[dict[str, Any], str]:
    """Return the imported keys of the line, and all warnings. The scenario must pass `check`."""
    path = written(tmp_path, **options)
    seen = sqm.line(path, autorate)
    (tmp_path / "wireless").write_text(WIRELESS)
    wireless = tmp_path / "wireless"
    lh.check(as_toml(openwrt.network(wireless, 2, sqm_file=path, autorate_file=autorate)))
    lines = "\n".join(f"{key} = {value}" for key, (value, _) in (seen.link or seen.wire).items())
    return tomllib.loads(lines), "\n".join(note.text for note in seen.notes if note.warns)


def cakes(wire: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of CAKE towards the stations and from the stations."""
    return [wire[key]["cake"] for key in ("back_queue", "queue")]


def test_piece_of_cake_has_one_tin_in_each_direction(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path)
    assert cakes(wire) == [
        {"bandwidth": "85 Mbps", "diffserv": "besteffort"},
        {"bandwidth": "20 Mbps", "diffserv": "besteffort"},
    ]
    assert (wire["rate"], wire["back_rate"]) == ("22.22 Mbps", "94.44 Mbps")
    assert warnings == ""


@pytest.mark.parametrize(
    ("options", "tins"),
    [
        ({}, ["besteffort", None]),
        ({"squash_ingress": "1"}, ["besteffort", None]),
        ({"squash_ingress": "0"}, [None, None]),
        ({"squash_ingress": "0", "iqdisc_opts": "diffserv4"}, ["diffserv4", None]),
        ({"iqdisc_opts": "diffserv4", "eqdisc_opts": "diffserv8"}, ["diffserv4", "diffserv8"]),
    ],
)
def test_layer_cake_has_three_tins_unless_ingress_is_squashed(
    options: Options, tins: list[str | None], tmp_path: Path
) -> None:
    wire, _ = line_of(tmp_path, script=LAYER, **options)
    assert [cake.get("diffserv") for cake in cakes(wire)] == tins


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"linklayer": "none", "overhead": "44"}, {}),
        ({"linklayer": "ethernet", "overhead": "44"}, {"overhead": "44 B"}),
        (
            {"linklayer": "ethernet", "overhead": "38", "tcMPU": "84"},
            {"overhead": "38 B", "mpu": "84 B"},
        ),
        ({"linklayer": "atm", "overhead": "40"}, {"overhead": "40 B", "link_layer": "atm"}),
        # sqm-scripts set atm for CAKE only if the link layer has exactly this name.
        ({"linklayer": "adsl", "overhead": "40"}, {"overhead": "40 B"}),
        ({"linklayer": "ethernet"}, {"overhead": "0 B"}),
        (
            {"linklayer": "ethernet", "overhead": "8", "linklayer_adaptation_mechanism": "tc_stab"},
            {"overhead": "22 B"},
        ),
        ({"interface": "pppoe-wan"}, {"overhead": "0 B"}),
        (
            {"eqdisc_opts": "pppoe-ptm", "iqdisc_opts": "pppoe-ptm"},
            {"overhead": "30 B", "link_layer": "ptm"},
        ),
    ],
)
def test_overhead_and_link_layer_are_those_of_both_directions(
    options: Options, line: dict[str, str], tmp_path: Path
) -> None:
    wire, _ = line_of(tmp_path, **options)
    for cake in cakes(wire):
        assert {key: cake[key] for key in cake if key not in ("bandwidth", "diffserv")} == line


def test_the_words_of_each_direction_are_its_own(tmp_path: Path) -> None:
    wire, warnings = line_of(
        tmp_path,
        iqdisc_opts="nat dual-dsthost ingress",
        eqdisc_opts="nat dual-srchost ack-filter rtt 50ms memlimit 4mb fwmark 0xff frob",
    )
    down, up = cakes(wire)
    assert (down["isolation"], down["ingress"]) == ("dual-dsthost", True)
    assert (up["isolation"], up["ack_filter"]) == ("dual-srchost", "conservative")
    assert (up["rtt"], up["memory_limit"]) == ("50 ms", "4194304 B")
    # Stations of a cell are separate hosts, as CAKE sees them with the word nat.
    assert "nat" not in down
    assert "eqdisc_opts: the words fwmark 0xff have no effect" in warnings
    assert 'eqdisc_opts: "frob" is no word of tc-cake(8)' in warnings
    assert len(warnings.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ("nonat", ["flows", "flows"]),
        ("nonat dual-srchost", ["dual-srchost", "flows"]),
        ("nonat dual-dsthost", ["flows", "dual-dsthost"]),
        ("nonat hosts", ["srchost", "dsthost"]),
        ("nonat flows", ["flows", "flows"]),
    ],
)
def test_without_nat_all_stations_are_one_host(words: str, seen: list[str], tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, iqdisc_opts=words, eqdisc_opts=words)
    assert [cake["isolation"] for cake in cakes(wire)] == seen
    assert warnings.count("without the word nat") == sum(each != words.split()[-1] for each in seen)


def test_an_interface_of_the_stations_has_no_address_translation(tmp_path: Path) -> None:
    wire, _ = line_of(
        tmp_path, interface="br-lan", iqdisc_opts="nonat dual-srchost", eqdisc_opts="dual-dsthost"
    )
    down, up = cakes(wire)
    assert (down["bandwidth"], down["isolation"]) == ("20 Mbps", "dual-dsthost")
    assert (up["bandwidth"], up["isolation"]) == ("85 Mbps", "dual-srchost")


def test_a_direction_that_is_not_shaped_has_no_cake(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, download="0")
    assert (wire["back_rate"], wire["rate"]) == ("unlimited", "22.22 Mbps")
    assert wire["queue"]["cake"]["bandwidth"] == "20 Mbps"
    assert "back_queue" not in wire
    assert "does not shape download" in warnings
    wire, _ = line_of(tmp_path, upload="0")
    assert (wire["rate"], wire["back_rate"]) == ("unlimited", "94.44 Mbps")
    assert (wire["back_queue"]["cake"]["bandwidth"], "queue" in wire) == ("85 Mbps", False)
    assert line_of(tmp_path, upload="0", download="0")[0] == {}


def test_cake_in_classes_of_htb_has_no_shaper(tmp_path: Path) -> None:
    wire, _ = line_of(
        tmp_path, script="simplest.qos", eqdisc_opts="dual-srchost nat", iqdisc_opts="nat rtt 50ms"
    )
    assert (wire["rate"], wire["back_rate"]) == ("20 Mbps", "85 Mbps")
    assert cakes(wire) == [{"rtt": "50 ms"}, {"isolation": "dual-srchost"}]
    wire, warnings = line_of(tmp_path, script="simple.qos", interface="br-lan")
    assert (wire["rate"], wire["back_rate"]) == ("85 Mbps", "20 Mbps")
    assert cakes(wire) == [{}, {}]
    assert "without the word nat" not in warnings


# -- cake-autorate --------------------------------------------------------------------------------


AUTORATE = """\
#!/usr/bin/env bash
dl_if=ifb-wan # download interface
ul_if=wan     # upload interface
adjust_dl_shaper_rate=1
adjust_ul_shaper_rate=1
min_dl_shaper_rate_kbps=5000  # minimum bandwidth for download (Kbit/s)
base_dl_shaper_rate_kbps=30000
max_dl_shaper_rate_kbps="80000"
base_ul_shaper_rate_kbps=12000
"""


def autorate(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.primary.sh"
    path.write_text(text)
    return path


def test_cake_autorate_has_its_base_rates(tmp_path: Path) -> None:
    wire, warnings = line_of(tmp_path, autorate(tmp_path, AUTORATE), interface="wan")
    assert [cake["bandwidth"] for cake in cakes(wire)] == ["30 Mbps", "12 Mbps"]
    assert (
        "cake-autorate moves the download between 5 and 80 Mbps, by the delay of pings; here it is "
        "always at the base rate of 30 Mbps" in warnings
    )
    assert "the upload between 5 and 35 Mbps" in warnings


def test_a_direction_that_cake_autorate_does_not_adjust_keeps_its_rate(tmp_path: Path) -> None:
    text = AUTORATE.replace("adjust_ul_shaper_rate=1", "adjust_ul_shaper_rate=0")
    wire, warnings = line_of(tmp_path, autorate(tmp_path, text))
    assert [cake["bandwidth"] for cake in cakes(wire)] == ["30 Mbps", "20 Mbps"]
    assert "upload" not in warnings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ul_if=wan\n", "no line such as base_dl_shaper_rate_kbps=20000"),
        (AUTORATE.replace("30000", "fast"), 'sh:7: `base_dl_shaper_rate_kbps`: "fast" is not a'),
        (AUTORATE.replace("30000", "90000"), "90000 is not between the minimum of 5000 and the"),
    ],
)
def test_wrong_configurations_of_cake_autorate_are_refused(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(")):
        line_of(tmp_path, autorate(tmp_path, text))


def test_cake_autorate_needs_sqm_and_names_another_line(tmp_path: Path) -> None:
    (tmp_path / "wireless").write_text(WIRELESS)
    file = autorate(tmp_path, AUTORATE)
    with pytest.raises(UserError, match="expected --sqm as well"):
        openwrt.network(tmp_path / "wireless", 2, autorate_file=file)
    _, warnings = line_of(tmp_path, file, interface="pppoe-wan")
    assert "cake-autorate shapes wan, and SQM pppoe-wan" in warnings


# -- a run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "on_line"),
    [
        ({"linklayer": "none"}, lambda length: length + 14),
        ({"linklayer": "ethernet", "overhead": "44"}, lambda length: length + 44),
        ({"linklayer": "atm", "overhead": "40"}, lambda length: 53 * ceil((length + 40) / 48)),
    ],
)
def test_a_run_has_the_rates_of_the_settings_to_the_byte(
    options: Options, on_line: Any, tmp_path: Path
) -> None:
    """Datagrams of 172 bytes fill the line. Their goodput is the bandwidth, multiplied by the part
    of the bytes on the line that are payload.
    """
    path = written(tmp_path, download="3000", upload="1000", **options)
    (tmp_path / "wireless").write_text(WIRELESS)
    text = as_toml(openwrt.network(tmp_path / "wireless", 1, sqm_file=path))
    flow = {"rate": "4 Mbps", "packet": "172 B", "server": "internet"}
    station = {
        "station.sta-1.download": 0,
        "station.sta-1.udp_up": flow,
        "station.sta-1.udp_down": flow,
    }
    run = {"duration": "6 s", "warmup": "2 s", "replications": 1}
    goodput_bps = lh.simulate(text, settings=station | run).flows.goodput_bps
    payload = 172 / on_line(172 + 28)
    for name, bandwidth_bps in (("sta-1/udp-down", 3e6), ("sta-1/udp-up", 1e6)):
        [value] = [bps for flow_name, bps in goodput_bps.items() if name in flow_name]
        assert value == pytest.approx(bandwidth_bps * payload, rel=1e-3)
