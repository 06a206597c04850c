"""Station dumps: idle networks, peers without an access point, several dumps and interfaces."""

from pathlib import Path

import pytest

from lasthop.errors import UserError
from lasthop.importing import Network, iw
from lasthop.importing.scenario import as_toml

from .test_aggregating import scenario

VHT = "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"


def block(number: int, interface: str = "wlan0", rate: str = VHT, **lines: str) -> str:
    known = {"inactive time": "10 ms", "rx bytes": "900", "tx bytes": "100000"}
    known |= {"tx bitrate": rate} | {name.replace("_", " "): text for name, text in lines.items()}
    listed = "".join(f"\t{name}:\t{text}\n" for name, text in known.items() if text)
    return f"Station 02:00:00:00:00:{number:02x} (on {interface})\n{listed}"


def info(name: str, kind: str, channel: str = "36 (5180", width: str = "80") -> str:
    return (
        f"\tInterface {name}\n\t\taddr 02:00:00:00:00:ff\n\t\ttype {kind}\n"
        f"\t\tchannel {channel} MHz), width: {width} MHz, center1: 5210 MHz\n"
    )


def dumped(tmp_path: Path, *parts: str, interface: str | None = None) -> Network:
    path = tmp_path / "dump"
    path.write_text("".join(parts))
    seen = iw.network(path, interface)
    scenario(seen)
    return seen


def warnings(seen: Network) -> str:
    return "\n".join(note.text for note in seen.notes if note.warns)


# -- a silent network --------------------------------------------------------------------------


def test_a_silent_network_is_a_scenario_with_one_connection(tmp_path: Path) -> None:
    silent = {"inactive_time": "61000 ms"}
    seen = dumped(
        tmp_path, block(1, **silent), block(2, **silent, rx_bytes="90000000"), block(3, **silent)
    )
    assert [flow.name for flow in scenario(seen).flows] == ["sta-2/up/1"]
    assert "every station has been silent" in warnings(seen)


@pytest.mark.parametrize("rate", ["", "(unknown)", "6.0 MBit/s"])
def test_a_silent_station_without_bytes_still_makes_a_scenario(rate: str, tmp_path: Path) -> None:
    lines = {"inactive_time": "99999 ms", "rx_bytes": "", "tx_bytes": ""}
    seen = dumped(tmp_path, block(1, rate=rate, **lines))
    assert [flow.name for flow in scenario(seen).flows] == ["sta-1/down/1"]


def test_a_block_without_any_line_is_a_station(tmp_path: Path) -> None:
    seen = dumped(tmp_path, "Station 02:00:00:00:00:01 (on wlan0)\n")
    assert len(seen.stations) == 1


# -- other interfaces --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "words"), [("IBSS", "ad hoc network"), ("mesh point", "a mesh"), ("OCB", "OCB")]
)
def test_an_interface_without_an_access_point_is_one_warning(
    kind: str, words: str, tmp_path: Path
) -> None:
    for parts in ((info("wlan0", kind), block(1)), (block(1), info("wlan0", kind))):
        seen = dumped(tmp_path, *parts)
        assert f"wlan0 is {'an ' if kind == 'IBSS' else ''}{words}" in warnings(seen)
        assert "no access point" in warnings(seen)


def test_peers_of_a_mesh_are_recognised_by_their_lines(tmp_path: Path) -> None:
    seen = dumped(tmp_path, block(1, mesh_plink="ESTAB"))
    assert "wlan0 is a mesh" in warnings(seen)
    assert not warnings(dumped(tmp_path, block(1, mesh_airtime_link_metric="12")))


def test_an_access_point_is_chosen_before_a_mesh_with_more_peers(tmp_path: Path) -> None:
    seen = dumped(
        tmp_path,
        "phy#1\n",
        info("mesh0", "mesh point"),
        info("wlan1", "AP"),
        "phy#0\n",
        info("wlan0", "AP", "1 (2412", "20"),
        *(block(number, "mesh0") for number in (1, 2, 3)),
        *(block(number, "wlan1") for number in (4, 5)),
        block(6, "wlan0"),
    )
    assert len(seen.stations) == 2
    assert "stations on mesh0 are left out: they share the channel" in warnings(seen)
    assert "stations on wlan0 are left out: another cell" in warnings(seen)


def test_interfaces_of_one_radio_are_one_cell(tmp_path: Path) -> None:
    parts = ["phy#0\n", info("wlan0", "AP"), info("wlan0-1", "AP")]
    blocks = [block(1), block(2, "wlan0-1"), block(3, "wlan0.sta1")]
    assert len(dumped(tmp_path, *parts, *blocks).stations) == 3
    assert len(dumped(tmp_path, *blocks).stations) == 2, "only names tell"
    assert len(dumped(tmp_path, *parts, *blocks, interface="wlan0-1").stations) == 1


def test_a_managed_interface_is_a_station_of_its_access_point(tmp_path: Path) -> None:
    seen = dumped(tmp_path, info("wlan0", "managed"), block(1))
    assert scenario(seen).flows[0].name == "sta-1/up/1"
    assert seen.cell["edca"][0] == '"hostapd"', "those of all access points"
    assert "ap_queue = 1000 " in as_toml(seen), "how the access point queues is not known"


def test_peers_past_the_access_point_are_left_out(tmp_path: Path) -> None:
    seen = dumped(tmp_path, info("wlan0", "managed"), block(1), block(2, TDLS_peer="yes"))
    assert len(seen.stations) == 1
    assert "TDLS" in warnings(seen)


# -- iw link -----------------------------------------------------------------------------------

LINK = """\
Connected to 04:f0:21:00:00:01 (on wlp2s0)
	SSID: Home: net
	freq: {}
	RX: 123456789 bytes (98765 packets)
	TX: 4567890 bytes (23456 packets)
	signal: -52 dBm
	rx bitrate: 780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2
	tx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
	bss flags:	short-slot-time
	dtim period:	1
	beacon int:	100
"""


@pytest.mark.parametrize("frequency", ["5180", "5180.0"])
def test_iw_link_is_the_station_that_wrote_it(frequency: str, tmp_path: Path) -> None:
    seen = dumped(tmp_path, LINK.format(frequency))
    assert [flow.name for flow in scenario(seen).flows] == ["sta-1/down/1"]
    assert (seen.stations[0].mcs, seen.stations[0].down_bps) == (8, pytest.approx(780e6))
    assert seen.cell["band"] == ('"5 GHz"', "5180 MHz")
    assert "Home" not in as_toml(seen)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Not connected.\n", "not connected: the interface has no access point"),
        ("Joined IBSS 02:11:22:33:44:55 (on wlan0)\n\tfreq: 2437\n", "is an ad hoc network"),
        ("Interface wlan0\n\ttype AP\n", "no station: a dump has lines such as"),
    ],
)
def test_a_dump_without_stations_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        dumped(tmp_path, text)


# -- the same station twice --------------------------------------------------------------------


def test_the_last_of_two_dumps_is_used(tmp_path: Path) -> None:
    first, last = block(1), block(1, rate="780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2")
    seen = dumped(tmp_path, first, block(2), last, block(2))
    assert len(seen.stations) == 2
    assert seen.stations[0].down_bps == pytest.approx(780e6)
    assert "2 stations are listed more than once: the last counts" in warnings(seen)


def test_masked_addresses_are_different_stations(tmp_path: Path) -> None:
    text = block(1).replace("02:00:00:00:00:01", "xx:xx:xx:xx:xx:xx")
    seen = dumped(tmp_path, text, text)
    assert len(seen.stations) == 2
    assert not warnings(seen)


# -- width, guard interval, throughput ---------------------------------------------------------


def test_the_guard_interval_is_that_of_the_direction_with_most_bytes(tmp_path: Path) -> None:
    short, long = "240.0 MBit/s VHT-MCS 5 40MHz short GI VHT-NSS 2", "162.0 MBit/s VHT-MCS 4 40MHz"
    up = {"rx_bytes": "170000000", "rx_bitrate": f"{long} VHT-NSS 2"}
    seen = dumped(tmp_path, block(1, rate=short, **up))
    assert seen.cell["guard_interval"][0] == '"0.8 us"'
    assert (seen.stations[0].mcs, seen.stations[0].up_bps) == (4, pytest.approx(162e6))
    down = {"tx_bytes": "170000000", "rx_bitrate": f"{long} VHT-NSS 2"}
    assert dumped(tmp_path, block(1, rate=short, **down)).cell["guard_interval"][0] == '"0.4 us"'


@pytest.mark.parametrize(
    ("rate", "reported", "width", "words"),
    [
        (VHT, "80", "80 MHz", "from `iw dev info`"),
        (VHT, "160", "80 MHz", "the widest of the rates; `iw dev info` has 160 MHz"),
        ("72.2 MBit/s MCS 7 short GI", "80", "20 MHz", "`iw dev info` has 80 MHz"),
        ("72.2 MBit/s MCS 7 short GI", "40", "20 MHz", "`iw dev info` has 40 MHz"),
        ("150.0 MBit/s MCS 7 40MHz short GI", "80", "40 MHz", "`iw dev info` has 80 MHz"),
        ("150.0 MBit/s MCS 7 40MHz short GI", "40", "40 MHz", "from `iw dev info`"),
    ],
)
def test_a_width_is_attributed_to_iw_only_if_iw_reported_it(
    rate: str, reported: str, width: str, words: str, tmp_path: Path
) -> None:
    seen = dumped(tmp_path, info("wlan0", "AP", width=reported), block(1, rate=rate))
    assert seen.cell["width"][0] == f'"{width}"'
    assert words in seen.cell["width"][1]
    said_bps = 1e6 * float(rate.split()[0])
    assert seen.stations[0].down_bps == pytest.approx(said_bps, rel=0.01)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("43.847Mbps", "throughput of 43.8 Mb/s to it"),
        ("43.7Mbps", "throughput of 43.0 Mb/s to it"),
        ("812 kbps", "throughput of 0.8 Mb/s to it"),
    ],
)
def test_expected_throughput_is_reported(text: str, words: str, tmp_path: Path) -> None:
    """iw omits leading zeros of the thousandths."""
    seen = dumped(tmp_path, block(1, expected_throughput=text))
    assert any(words in note for note in seen.stations[0].notes)


def test_an_invalid_expected_throughput_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r':6: `expected throughput`: "fast" is not a rate'):
        dumped(tmp_path, block(1, expected_throughput="fast"))


@pytest.mark.parametrize(
    ("retries", "words"),
    [
        ("12", "0.03% of the frames to it were repeats"),
        ("1", "fewer than 0.01% of the frames to it were repeats"),
        ("11194", "20% of the frames to it were repeats, collisions and noise together; error"),
    ],
)
def test_repeats_and_bytes_are_readable(retries: str, words: str, tmp_path: Path) -> None:
    lines = {"tx_packets": "44776", "tx_retries": retries, "tx_bytes": "15062972181"}
    text = as_toml(dumped(tmp_path, block(1, **lines)))
    assert words in " ".join(text.replace("\n#", "").split()).replace("Fewer", "fewer")
    assert "15.1 GB down, 900 B up" in text
    assert "0.00 would be" not in text
