"""Station dumps of iw, and settings of hostapd and OpenWrt."""

from collections.abc import Callable
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing import Network, hostapd, iw, openwrt, phy
from lasthop.importing.scenario import as_toml
from lasthop.scenario.typed import CellScenario
from lasthop.tuning.hostapd import hostapd as as_hostapd

DUMP = """\
Station 02:00:00:00:00:0a (on wlan0)
\tinactive time:\t10 ms
\trx bytes:\t900
\ttx bytes:\t100000
\ttx packets:\t75
\ttx retries:\t25
\tsignal:  \t-60 [-62, -64] dBm
\ttx bitrate:\t11.0 MBit/s
\trx bitrate:\t5.5 MBit/s
Station 02:00:00:00:00:0b (on wlan0)
\tinactive time:\t900000 ms
\trx bytes:\t50
\ttx bytes:\t50
\ttx bitrate:\t2.0 MBit/s
"""


def file(tmp_path: Path, text: str | bytes, name: str = "given") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def scenario(network: Network) -> CellScenario:
    known = lh.check(as_toml(network)).typed
    assert isinstance(known, CellScenario)
    return known


# -- iw ----------------------------------------------------------------------------------------


def test_a_dump_has_stations_rates_and_directions(tmp_path: Path) -> None:
    """In the dump of an access point, rx is traffic from the station. An idle station has no
    connections.
    """
    known = scenario(iw.network(file(tmp_path, DUMP)))
    assert known.cell.phy == "802.11b"
    first, second = known.stations
    assert (first.rate_bps, first.downlink_rate_bps) == (5.5e6, 11e6)
    assert second.rate_bps == 2e6
    assert [flow.name for flow in known.flows] == ["sta-1/down/1"]


def test_both_directions_are_imported_if_the_smaller_is_more_than_acks(tmp_path: Path) -> None:
    text = DUMP.replace("rx bytes:\t900\n", "rx bytes:\t50000\n")
    flows = scenario(iw.network(file(tmp_path, text))).flows
    assert [flow.name for flow in flows] == ["sta-1/up/1", "sta-1/down/1"]


def test_directions_in_a_dump_of_a_station_are_exchanged(tmp_path: Path) -> None:
    text = DUMP.partition("Station 02:00:00:00:00:0b")[0] + "\tbeacon loss:\t0\n"
    known = scenario(iw.network(file(tmp_path, text)))
    assert (known.stations[0].rate_bps, known.stations[0].downlink_rate_bps) == (11e6, 5.5e6)
    assert [flow.name for flow in known.flows] == ["sta-1/up/1"]


def test_stations_of_another_interface_are_another_cell(tmp_path: Path) -> None:
    text = DUMP + DUMP.replace("wlan0", "wlan1").partition("Station 02:00:00:00:00:0b")[0]
    assert len(iw.network(file(tmp_path, text)).stations) == 2
    assert len(iw.network(file(tmp_path, text), "wlan1").stations) == 1
    with pytest.raises(UserError, match=r"--interface wlan7: .* has wlan0, wlan1"):
        iw.network(file(tmp_path, text), "wlan7")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("11.0 MBit/s", "fast", r":8: `tx bitrate`: \"fast\" is not a rate such as 54.0 MBit/s"),
        ("11.0 MBit/s", "-11.0 MBit/s", r":8: `tx bitrate`: \"-11.0 MBit/s\""),
        ("11.0 MBit/s", "nan MBit/s", ":8: `tx bitrate`"),
        ("rx bytes:\t900", "rx bytes:\t-900", r":3: `rx bytes`: \"-900\" is not a count from 0"),
        ("rx bytes:\t900", "rx bytes:\t1e999", ":3: `rx bytes`"),
    ],
)
def test_faults_of_a_dump_are_reported_with_their_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        iw.network(file(tmp_path, DUMP.replace(old, new)))


def test_line_ends_and_encodings_of_windows_are_read(tmp_path: Path) -> None:
    plain = as_toml(iw.network(file(tmp_path, DUMP)))
    for text in (
        DUMP.replace("\n", "\r\n").encode(),
        DUMP.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + DUMP.encode(),
        DUMP.encode("utf-16"),
    ):
        assert as_toml(iw.network(file(tmp_path, text))) == plain


# -- hostapd -----------------------------------------------------------------------------------

CONF = """\
interface=wlan0
hw_mode=b
channel=6
wmm_enabled=1
tx_queue_data2_aifs=2
tx_queue_data2_cwmin=7
tx_queue_data2_cwmax=63
tx_queue_data2_burst=3.0
wmm_ac_be_cwmin=5
wmm_ac_be_cwmax=10
wmm_ac_be_aifs=3
wmm_ac_be_txop_limit=94
rts_threshold=500
"""


def test_access_parameters_of_both_sides_are_imported(tmp_path: Path) -> None:
    known = scenario(hostapd.network(file(tmp_path, CONF), 3))
    own, announced = known.cell.ap.access("best-effort"), known.stations[0].access("best-effort")
    assert known.cell.phy == "802.11b"
    assert (own.aifsn, own.cwmin, own.cwmax, own.txop_limit_s) == (2, 7, 63, 0.003)
    assert (announced.aifsn, announced.cwmin, announced.cwmax) == (3, 31, 1023)
    assert announced.txop_limit_s == pytest.approx(94 * 32e-6)
    assert len(known.stations) == 3


def test_the_file_that_tune_writes_for_hostapd_is_imported(hotspot: Path, tmp_path: Path) -> None:
    written = as_hostapd(lh.check(hotspot).with_("cell.ap.cwmin", 7).with_("cell.cwmin", 63))
    text = f"interface=wlan0\nhw_mode=b\n{written.text}"
    known = scenario(hostapd.network(file(tmp_path, text), 2))
    assert known.cell.ap.access("best-effort").cwmin == 7
    assert known.stations[0].access("best-effort").cwmin == 63
    assert known.cell.ap.access("best-effort").aifsn == 2


def test_a_file_without_wmm_leaves_stations_as_80211_has_them(tmp_path: Path) -> None:
    known = scenario(hostapd.network(file(tmp_path, "hw_mode=g\nchannel=1\n"), 1))
    assert known.stations[0].access("best-effort").aifsn == 2
    assert known.cell.ap.access("best-effort").aifsn == 3, "hostapd's own default for its queue"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hw_mode=ad", ':1: `hw_mode`: "ad": expected a, b or g'),
        ("channel=-5", ':1: `channel`: "-5" is not a whole number from 0 to 253'),
        ("wmm_enabled=nan", ":1: `wmm_enabled`"),
        (
            "tx_queue_data2_cwmin=31\ntx_queue_data2_cwmax=15\nhw_mode=g",
            "above tx_queue_data2_cwmax",
        ),
        ("wmm_enabled=1\nwmm_ac_be_cwmin=16", ':2: `wmm_ac_be_cwmin`: "16"'),
        ("tx_queue_data2_aifs=100\nhw_mode=g", "expected an AIFSN from 1 to 15"),
        ("tx_queue_data2_burst=-1\nhw_mode=g", "is not a time in ms"),
        ("supported_rates=10 x\nhw_mode=g", "is not a list of rates"),
        ("hw_mode=g\nthis is no setting", ':2: "this is no setting" is not a line NAME=VALUE'),
        ("something=else", "not hostapd.conf"),
    ],
)
def test_faults_of_hostapd_conf_are_reported(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        hostapd.network(file(tmp_path, line + "\n"), 1)


def test_secrets_are_in_no_scenario_and_no_error(tmp_path: Path) -> None:
    text = "hw_mode=g\nssid=HomeNet\nwpa_passphrase=correct horse\n"
    seen = hostapd.network(file(tmp_path, text), 1)
    assert "horse" not in as_toml(seen)
    assert "HomeNet" not in as_toml(seen)
    with pytest.raises(UserError) as error:
        hostapd.network(file(tmp_path, "hw_mode=g\nwpa passphrase correct horse\n"), 1)
    assert "horse" not in str(error.value)


# -- OpenWrt -----------------------------------------------------------------------------------

WIRELESS = """\
config wifi-device 'radio0'
\toption channel '11'
\toption hwmode '11g'
\toption rts '500'

config wifi-iface 'default_radio0'
\toption device 'radio0'
\toption mode 'ap'
\toption ssid 'HomeNet'
\toption key 'correct horse'

config wifi-device 'radio1'
\toption channel '36'
\toption band '5g'
\toption htmode 'VHT80'

config wifi-iface
\toption device 'radio1'
"""


def test_each_radio_of_openwrt_is_a_separate_cell(tmp_path: Path) -> None:
    path = file(tmp_path, WIRELESS)
    first = openwrt.network(path, 2)
    notes = [note.text for note in first.notes]
    assert "this is radio0; radio1 is a cell of its own: `--radio radio1`" in notes
    assert first.phy == "802.11g"
    assert scenario(first).cell.rts_threshold_bytes == 500
    second = openwrt.network(path, 2, radio="radio1")
    assert (second.phy, second.phy_note) == ("802.11ac", "htmode VHT80")
    with pytest.raises(UserError, match=r"--radio radio7: .* has radio0, radio1"):
        openwrt.network(path, 2, radio="radio7")


def test_each_radio_that_is_left_out_is_named(tmp_path: Path) -> None:
    more = "config wifi-device 'radio2'\nconfig wifi-iface\n\toption device 'radio2'\n"
    path = file(tmp_path, WIRELESS + more + "config wifi-device 'radio3'\n")
    notes = [note.text for note in openwrt.network(path, 2).notes]
    assert (
        "this is radio0; radio1 and radio2 are cells of their own: "
        "`--radio radio1` or `--radio radio2`" in notes
    )
    assert "radio3 has no wifi-iface: it serves no network, and is left out" in notes


SQM = "config queue 'eth1'\n\toption enabled '1'\n"


@pytest.mark.parametrize(
    ("command", "text", "hint"),
    [
        (hostapd.network, WIRELESS, "`lasthop import openwrt {}`"),
        (hostapd.network, "wireless.r=wifi-device\n", "`lasthop import openwrt {}`"),
        (hostapd.network, SQM, "`lasthop import openwrt WIRELESS --sqm {}`"),
        (openwrt.network, SQM, "`lasthop import openwrt WIRELESS --sqm {}`"),
        (openwrt.network, "interface=wlan0\nhw_mode=g\n", "`lasthop import hostapd {}`"),
    ],
)
def test_a_file_of_another_command_names_the_command(
    command: Callable[[Path, int], object], text: str, hint: str, tmp_path: Path
) -> None:
    path = file(tmp_path, text)
    with pytest.raises(UserError) as error:
        command(path, 2)
    assert hint.format(path) in (error.value.hint or "")


def test_uci_show_gives_the_same_scenario(tmp_path: Path) -> None:
    shown = """\
wireless.radio0=wifi-device
wireless.radio0.channel='11'
wireless.radio0.hwmode='11g'
wireless.radio0.rts='500'
wireless.@wifi-iface[0]=wifi-iface
wireless.@wifi-iface[0].device='radio0'
wireless.@wifi-iface[0].mode='ap'
"""
    plain = WIRELESS.partition("config wifi-device 'radio1'")[0]
    assert as_toml(openwrt.network(file(tmp_path, shown), 2)) == as_toml(
        openwrt.network(file(tmp_path, plain), 2)
    )


def test_a_repeated_section_is_continued(tmp_path: Path) -> None:
    text = WIRELESS + "\nconfig wifi-device 'radio0'\n\toption disabled '1'\n"
    assert openwrt.network(file(tmp_path, text), 2).source.endswith("radio1")


def test_sqm_sets_the_line_of_the_router(tmp_path: Path) -> None:
    sqm = file(
        tmp_path,
        "config queue 'eth1'\n\toption enabled '1'\n\toption download '85000'\n"
        "\toption upload '10000'\n\toption qdisc 'cake'\n",
        "sqm",
    )
    seen = openwrt.network(file(tmp_path, WIRELESS), 2, sqm_file=sqm)
    scenario(seen)
    assert seen.line["back_rate"][0] == '"85 Mbps"'
    assert seen.line["rate"][0] == '"10 Mbps"'
    assert "cake" in seen.line["queue"][0]


def test_settings_of_openwrt_keep_secrets(tmp_path: Path) -> None:
    text = as_toml(openwrt.network(file(tmp_path, WIRELESS), 2))
    assert "horse" not in text
    assert "HomeNet" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config wifi-device 'radio0\n", ":1: a quote without its end"),
        ("option channel 11\n", ':1: "option ..." is no line of /etc/config/wireless'),
        ("config interface 'lan'\n", "no section wifi-device"),
        ("config wifi-device 'r'\n\toption band '7g'\n", ':2: `r.band`: "7g"; expected 2g'),
        ("config wifi-device 'r'\n\toption disabled 'maybe'\n", "neither 0 nor 1"),
        ("config wifi-device 'r'\n\toption channel '-1'\n", ":2: `r.channel`"),
        ("wireless.radio0.channel='11'\n", "no line gives its type"),
    ],
)
def test_faults_of_openwrt_settings_are_reported(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        openwrt.network(file(tmp_path, text), 2)


# -- all readers -------------------------------------------------------------------------------

READERS = {
    "iw": iw.network,
    "hostapd": lambda path: hostapd.network(path, 2),
    "openwrt": lambda path: openwrt.network(path, 2),
}
GARBAGE = {
    "nothing": b"",
    "blanks": b" \n\n\t\n",
    "zeros": bytes(500),
    "noise": bytes(range(256)) * 20,
    "a line without end": b"hw_mode=" + b"x" * 50_000,
    "deep nesting": b"[" * 30_000 + b"\n",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(200, 256)) * 9,
    "half of UTF-16": b"\xff\xfe" + b"h\0w",
}


@pytest.mark.parametrize("what", GARBAGE)
@pytest.mark.parametrize("kind", READERS)
def test_garbage_is_refused_in_one_line_with_the_file(kind: str, what: str, tmp_path: Path) -> None:
    path = file(tmp_path, GARBAGE[what], "garbage")
    with pytest.raises(UserError) as error:
        READERS[kind](path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("kind", READERS)
def test_a_text_that_is_too_long_is_refused(kind: str, tmp_path: Path) -> None:
    path = file(tmp_path, b"# comment\n" * 500_000)
    with pytest.raises(UserError, match="longer than 4 MB"):
        READERS[kind](path)


def test_rates_are_those_of_the_engine() -> None:
    """Compare the rates of the importer with those in the schema of the engine. If a preset of the
    engine gets a new rate, this test fails until the importer also supports the rate.
    """
    description = lh.schema()["$defs"]["station"]["properties"]["rate"]["description"]
    for preset, rates in phy.RATES.items():
        listed = ", ".join(f"{rate / 1e6:g}" for rate in rates)
        assert f"{preset} {listed} Mbps" in description


def test_rates_between_those_of_a_preset_are_rounded_down() -> None:
    assert phy.nearest(65e6, "802.11g") == 54e6
    assert phy.nearest(26e6, "802.11g") == 24e6
    assert phy.nearest(1e6, "802.11g") == 6e6
    assert phy.nearest(54e6, "802.11b") == 11e6
