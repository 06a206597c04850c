"""Settings of access points of 802.11n, ac and ax: generation, band, width and guard interval."""

import json
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing import Network, hostapd, openwrt
from lasthop.importing.scenario import as_toml

from .test_aggregating import scenario


def of_hostapd(tmp_path: Path, text: str) -> Network:
    path = tmp_path / "hostapd.conf"
    path.write_text("interface=wlan0\n" + text)
    return hostapd.network(path, 3)


AC = "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\nht_capab=[HT40+][SHORT-GI-40]\n"
AX = AC + "ieee80211ax=1\nhe_oper_chwidth={}\n"


@pytest.mark.parametrize(
    ("text", "phy", "band", "width", "guard"),
    [
        ("hw_mode=g\nchannel=6\nieee80211n=1\n", "802.11n", "2.4", 20, "0.8"),
        (
            "hw_mode=g\nchannel=6\nieee80211n=1\nht_capab=[HT40-][SHORT-GI-20][SHORT-GI-40]\n",
            "802.11n",
            "2.4",
            40,
            "0.4",
        ),
        (AC, "802.11ac", "5", 40, "0.4"),
        (AC + "vht_oper_chwidth=1\nvht_capab=[SHORT-GI-80]\n", "802.11ac", "5", 80, "0.4"),
        (AC + "vht_oper_chwidth=1\n", "802.11ac", "5", 80, "0.8"),
        (AX.format(0), "802.11ax", "5", 40, "0.8"),
        (AX.format(1) + "vht_capab=[SHORT-GI-80]\n", "802.11ax", "5", 80, "0.8"),
        (AX.format(2), "802.11ax", "5", 160, "0.8"),
        ("hw_mode=a\nchannel=5\nieee80211ax=1\nop_class=134\n", "802.11ax", "6", 160, "0.8"),
        ("hw_mode=g\nchannel=6\nieee80211ax=1\n", "802.11ax", "2.4", 20, "0.8"),
        ("hw_mode=any\nchannel=100\nieee80211n=1\n", "802.11n", "5", 20, "0.8"),
    ],
)
def test_hostapd_sets_generation_band_width_and_guard_interval(
    text: str, phy: str, band: str, width: int, guard: str, tmp_path: Path
) -> None:
    seen = of_hostapd(tmp_path, text)
    keys = {key: value for key, (value, _) in seen.cell.items()}
    assert seen.phy == phy
    assert keys["band"] == f'"{band} GHz"'
    assert keys["width"] == f'"{width} MHz"'
    assert keys["guard_interval"] == f'"{guard} us"'
    assert not any(note.warns for note in seen.notes)
    known = scenario(seen)
    assert known.cell.phy == phy
    assert known.cell.ap.access("best-effort").cwmax == 63, "hostapd's own default"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (AX.format(1) + "ieee80211be=1\neht_oper_chwidth=9\n", "802.11be is simulated"),
        (AX.format(3), "80+80 MHz are simulated as 160 MHz"),
        ("hw_mode=g\nchannel=6\nieee80211n=1\nieee80211ac=1\n", "802.11ac is not at 2.4 GHz"),
        ("hw_mode=g\nchannel=6\nieee80211ax=1\nhe_oper_chwidth=1\n", "has 40 MHz at most"),
        ("hw_mode=b\nchannel=6\nieee80211n=1\n", "is refused by hostapd"),
    ],
)
def test_unsupported_settings_of_hostapd_are_a_single_warning(
    text: str, words: str, tmp_path: Path
) -> None:
    seen = of_hostapd(tmp_path, text)
    scenario(seen)
    [warning] = [note.text for note in seen.notes if note.warns]
    assert words in warning


def test_rates_of_hostapd_belong_to_older_stations_if_frames_have_an_mcs(tmp_path: Path) -> None:
    text = "hw_mode=g\nieee80211n=1\nsupported_rates=10 20 55 110\nbasic_rates=60 120\n"
    known = scenario(of_hostapd(tmp_path, text))
    assert known.stations[0].rate_bps == pytest.approx(130e6)
    tree = json.loads(lh.check(as_toml(of_hostapd(tmp_path, text))).to_json())
    assert tree["stations"][0]["control_rate_bps"] == 12e6


def of_openwrt(tmp_path: Path, *options: str) -> Network:
    lines = "".join(f"\toption {each}\n" for each in options)
    path = tmp_path / "wireless"
    path.write_text(
        f"config wifi-device 'radio0'\n{lines}\nconfig wifi-iface\n\toption device 'radio0'\n"
    )
    return openwrt.network(path, 3)


@pytest.mark.parametrize(
    ("options", "phy", "band", "width", "guard"),
    [
        (("band '2g'", "htmode 'HT20'"), "802.11n", "2.4", 20, "0.4"),
        (("hwmode '11g'", "htmode 'HT40+'"), "802.11n", "2.4", 40, "0.4"),
        (("hwmode '11a'", "htmode 'VHT80'"), "802.11ac", "5", 80, "0.4"),
        (("band '5g'", "htmode 'VHT80'", "short_gi_80 '0'"), "802.11ac", "5", 80, "0.8"),
        (("band '5g'", "htmode 'HE80'"), "802.11ax", "5", 80, "0.8"),
        (("band '5g'", "htmode 'he160'"), "802.11ax", "5", 160, "0.8"),
        (("band '6g'", "htmode 'HE160'"), "802.11ax", "6", 160, "0.8"),
        (("band '2g'", "htmode 'HE40'"), "802.11ax", "2.4", 40, "0.8"),
        (("hwmode '11na'",), "802.11n", "5", 20, "0.4"),
        (("band '5g'", "htmode 'EHT80'", "disabled '0'"), "802.11ax", "5", 80, "0.8"),
        (("hwmode '11axa'", "htmode 'HT80'"), "802.11ax", "5", 80, "0.8"),
        (("hwmode '11AXA'", "htmode 'HT160'"), "802.11ax", "5", 160, "0.8"),
        (("hwmode '11axa'", "htmode 'auto'"), "802.11ax", "5", 20, "0.8"),
        (("hwmode '11axg'", "htmode 'HT40'"), "802.11ax", "2.4", 40, "0.8"),
        (("hwmode '11axg'", "htmode 'HT20'"), "802.11ax", "2.4", 20, "0.8"),
        (("hwmode '11axa'", "band '5G'", "htmode 'VHT80'"), "802.11ax", "5", 80, "0.8"),
        (("hwmode '11ac'", "htmode 'HT80'"), "802.11ac", "5", 80, "0.4"),
        (("hwmode '11bea'", "htmode 'HT160'"), "802.11ax", "5", 160, "0.8"),
        (("hwmode '11beg'", "htmode 'HT40'"), "802.11ax", "2.4", 40, "0.8"),
        (("hwmode '11bgn'", "htmode 'HT20'"), "802.11n", "2.4", 20, "0.4"),
        (("hwmode '11an'", "htmode 'HT20'"), "802.11n", "5", 20, "0.4"),
        (("hwmode '11ax'", "channel '36'", "htmode 'HE80'"), "802.11ax", "5", 80, "0.8"),
        (("hwmode '11n'", "channel '149'"), "802.11n", "5", 20, "0.4"),
        (("channel '36'", "htmode 'HE80'"), "802.11ax", "5", 80, "0.8"),
    ],
)
def test_htmode_sets_generation_and_width(
    options: tuple[str, ...], phy: str, band: str, width: int, guard: str, tmp_path: Path
) -> None:
    seen = of_openwrt(tmp_path, *options)
    keys = {key: value for key, (value, _) in seen.cell.items()}
    assert seen.phy == phy
    assert keys["band"] == f'"{band} GHz"'
    assert keys["width"] == f'"{width} MHz"'
    assert keys["guard_interval"] == f'"{guard} us"'
    warnings = [note.text for note in seen.notes if note.warns]
    assert all("802.11be is simulated" in text for text in warnings)
    assert scenario(seen).cell.phy == phy


@pytest.mark.parametrize(
    ("options", "phy", "words"),
    [
        (("band '6g'", "htmode 'EHT320'"), "802.11ax", "802.11be is simulated"),
        (("band '2g'", "htmode 'VHT40'"), "802.11n", "802.11ac is not at 2.4 GHz"),
        (("band '2g'", "htmode 'HE80'"), "802.11ax", "has 40 MHz at most, not 80 MHz"),
        (("band '5g'", "htmode 'VHT80+80'"), "802.11ac", "simulated as 160 MHz"),
    ],
)
def test_unsupported_settings_of_openwrt_are_a_single_warning(
    options: tuple[str, ...], phy: str, words: str, tmp_path: Path
) -> None:
    seen = of_openwrt(tmp_path, *options)
    assert scenario(seen).cell.phy == phy
    [warning] = [note.text for note in seen.notes if note.warns]
    assert words in warning


def test_noht_makes_a_cell_without_aggregates(tmp_path: Path) -> None:
    assert of_openwrt(tmp_path, "hwmode '11g'", "htmode 'NOHT'").phy == "802.11g"
    assert of_openwrt(tmp_path, "band '5g'", "htmode 'NOHT'").phy == "802.11a"


def test_an_invalid_htmode_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r':3: `radio0.htmode`: "HE81"; expected HT, VHT, HE'):
        of_openwrt(tmp_path, "band '5g'", "htmode 'HE81'")


@pytest.mark.parametrize("hwmode", ["11z", "ax", "11ad", "11axad"])
def test_an_unknown_hwmode_is_refused_with_its_line(hwmode: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf':2: `radio0.hwmode`: "{hwmode}"; expected'):
        of_openwrt(tmp_path, f"hwmode '{hwmode}'")


def test_an_unsupported_width_is_not_attributed_to_the_option(tmp_path: Path) -> None:
    width = of_openwrt(tmp_path, "band '6g'", "htmode 'EHT320'").cell["width"]
    assert width == ('"160 MHz"', "htmode EHT320, of which 802.11ax here has 160 MHz at most")


@pytest.mark.parametrize("kind", ["qcawifi", "qcawificfg80211", "mtwifi", "broadcom", "rtwifi"])
def test_a_driver_of_a_vendor_has_neither_mac80211_nor_bursts(kind: str, tmp_path: Path) -> None:
    seen = of_openwrt(tmp_path, f"type '{kind}'", "hwmode '11axa'", "htmode 'HT80'")
    known = scenario(seen)
    assert known.cell.ap.queue.discipline != "mac80211"
    assert known.cell.ap.access("best-effort").txop_limit_s is None
    [warning] = [note.text for note in seen.notes if note.warns]
    assert f"type {kind} is a driver of its vendor" in warning


@pytest.mark.parametrize(
    ("options", "txop_s"),
    [
        (("band '2g'", "htmode 'HE20'", "tx_burst '3.5'"), 3.5e-3),
        (("band '5g'", "htmode 'HE80'", "tx_burst '0'"), 2e-3),
        (("band '5g'", "htmode 'HE80'", "tx_burst '1'"), 1e-3),
        (("band '5g'", "htmode 'HE80'", "hostapd_options 'tx_queue_data2_burst=0'"), None),
        (("band '2g'", "htmode 'NOHT'", "hostapd_options 'tx_queue_data2_burst=1.5'"), 1.5e-3),
    ],
)
def test_options_of_bursts_replace_the_default(
    options: tuple[str, ...], txop_s: float | None, tmp_path: Path
) -> None:
    known = scenario(of_openwrt(tmp_path, *options))
    assert known.cell.ap.access("best-effort").txop_limit_s == txop_s


@pytest.mark.parametrize("text", ["-1", "fast", "9"])
def test_an_invalid_burst_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf':3: `radio0.tx_burst`: "{text}" is not a time'):
        of_openwrt(tmp_path, "band '5g'", f"tx_burst '{text}'")


def radio(tmp_path: Path, *interfaces: str) -> Network:
    """Return a network with one radio, whose interfaces have these options."""
    text = "config wifi-device 'radio0'\n\toption band '5g'\n\toption htmode 'VHT80'\n"
    for each in interfaces:
        lines = "".join(f"\toption {option}\n" for option in each.split(","))
        text += f"config wifi-iface\n\toption device 'radio0'\n{lines}"
    path = tmp_path / "wireless"
    path.write_text(text)
    return openwrt.network(path, 2)


@pytest.mark.parametrize(
    ("interfaces", "words"),
    [
        (["mode mesh"], "radio0 is no access point but a mesh"),
        (["mode adhoc"], "radio0 is no access point but an ad hoc network (IBSS)"),
        (["mode sta"], "radio0 is no access point but a station of another access point"),
        (["mode ap,disabled 1"], "radio0 is disabled or no access point at present"),
        (["mode ap", "mode sta"], "is also a station of another access point, which shares"),
        (["mode ap", "mode mesh,disabled 1"], ""),
        (["mode AP", "mode ap"], ""),
    ],
)
def test_networks_without_an_access_point_are_a_single_warning(
    interfaces: list[str], words: str, tmp_path: Path
) -> None:
    warnings = [note.text for note in radio(tmp_path, *interfaces).notes if note.warns]
    assert len(warnings) == bool(words)
    assert words in "".join(warnings)
