"""Cells of 802.11n, ac and ax: observed rates, and the nearest rates that the engine supports."""

import json
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.importing import Network, iw
from lasthop.importing.bitrate import read_rate
from lasthop.importing.ppdu import (
    GENERATIONS,
    MAX_MCS,
    MAX_STREAMS,
    SUBCARRIERS,
    Modulation,
    fitting,
    is_allowed,
)
from lasthop.importing.scenario import as_toml
from lasthop.scenario.typed import CellScenario, Station


def scenario(network: Network) -> CellScenario:
    known = lh.check(as_toml(network)).typed
    assert isinstance(known, CellScenario)
    return known


# -- rates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("phy", GENERATIONS)
def test_rates_and_combinations_are_those_of_the_engine(phy: str) -> None:
    """The importer accepts the combinations of MCS and streams of the engine, with equal rates."""
    for width in SUBCARRIERS[phy]:
        for guard_ns in (800, 1600, 3200) if phy == "802.11ax" else (400, 800):
            every = [
                Modulation(phy, mcs, streams, width, guard_ns)
                for streams in range(1, MAX_STREAMS[phy] + 1)
                for mcs in range(MAX_MCS[phy] + 1)
            ]
            allowed = [each for each in every if is_allowed(each)]
            text = (
                f'duration = "1 s"\n[cell]\nphy = "{phy}"\nwidth = "{width} MHz"\n'
                f'guard_interval = "{guard_ns / 1e3} us"\n'
            )
            for number, each in enumerate(allowed):
                text += f"[station.s{number}]\nmcs = {each.mcs}\nstreams = {each.streams}\n"
                text += "download = 1\n" if number == 0 else ""
            tree = json.loads(lh.check(text).to_json())
            rates = [each["rate_bps"] for each in tree["stations"]]
            assert rates == [int(each.rate_bps) for each in allowed]


def test_the_engine_refuses_invalid_combinations() -> None:
    cell = (
        'duration = "1 s"\n[cell]\nphy = "802.11ac"\nwidth = "{} MHz"\n[station.a]\ndownload = 1\n'
    )
    for width, mcs, streams in ((20, 9, 1), (80, 6, 3), (80, 9, 6), (160, 9, 3)):
        assert not is_allowed(Modulation("802.11ac", mcs, streams, width))
        with pytest.raises(lh.ScenarioError, match=r"does not exist in 802\.11ac"):
            lh.check(cell.format(width) + f"mcs = {mcs}\nstreams = {streams}\n")


DUMP = """\
Station 02:00:00:00:00:01 (on wlan0)
\tinactive time:\t10 ms
\trx bytes:\t900
\ttx bytes:\t100000
\ttx bitrate:\t{}
\trx bitrate:\t6.0 MBit/s
"""

LINES = [
    ("144.4 MBit/s MCS 15 short GI", "802.11n", 7, 2),
    ("300.0 MBit/s MCS 15 40MHz short GI", "802.11n", 7, 2),
    ("54.0 MBit/s MCS 3 40MHz", "802.11n", 3, 1),
    ("78.0 MBit/s MCS 12", "802.11n", 4, 2),
    ("26.0 MBit/s MCS 9", "802.11n", 1, 2),
    ("600.0 MBit/s MCS 31 40Mhz short GI", "802.11n", 7, 4),
    ("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "802.11ac", 9, 2),
    ("292.5 MBit/s VHT-MCS 7 80MHz VHT-NSS 1", "802.11ac", 7, 1),
    ("7.2 MBit/s VHT-MCS 0 short GI VHT-NSS 1", "802.11ac", 0, 1),
    ("1733.3 MBit/s VHT-MCS 9 160MHz short GI VHT-NSS 2", "802.11ac", 9, 2),
    ("1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", "802.11ax", 11, 2),
    ("286.7 MBit/s HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", "802.11ax", 11, 2),
    ("1921.5 MBit/s 160MHz HE-MCS 9 HE-NSS 2 HE-GI 0 HE-DCM 0", "802.11ax", 9, 2),
    ("1134.2 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 1 HE-DCM 0", "802.11ax", 11, 2),
]


@pytest.mark.parametrize(("line", "phy", "mcs", "streams"), LINES)
def test_a_rate_of_iw_is_the_rate_of_the_scenario(
    line: str, phy: str, mcs: int, streams: int, tmp_path: Path
) -> None:
    path = tmp_path / "dump"
    path.write_text(DUMP.format(line))
    seen = iw.network(path)
    [station] = seen.stations
    assert (seen.phy, station.mcs, station.streams) == (phy, mcs, streams)
    [checked] = scenario(seen).stations
    said_bps = 1e6 * float(line.split()[0])
    assert checked.rate_bps == pytest.approx(said_bps, abs=0.1e6), "iw cuts off behind a digit"
    assert checked.downlink_rate_bps == checked.rate_bps
    assert not any(note.warns for note in seen.notes)


def test_words_that_are_not_a_rate_are_ignored() -> None:
    assert read_rate("fast") is None
    assert read_rate("0 MBit/s") is None
    assert read_rate("9e9 MBit/s") is None


# -- unsupported settings ----------------------------------------------------------------------

INFO = """\
Interface wlan0
\tifindex 4
\ttype AP
\tchannel {} MHz), width: {} MHz, center1: 5210 MHz
\ttxpower 23.00 dBm
"""


def block(number: int, down: str, up: str = "", moved: tuple[int, int] = (900, 100000)) -> str:
    return (
        f"Station 02:00:00:00:00:{number:02x} (on wlan0)\n\trx bytes:\t{moved[0]}\n"
        f"\ttx bytes:\t{moved[1]}\n\ttx bitrate:\t{down}\n"
        + (f"\trx bitrate:\t{up}\n" if up else "")
    )


HE = "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0"


def dumped(tmp_path: Path, *blocks: str) -> Network:
    path = tmp_path / "dump"
    path.write_text("".join(blocks))
    return iw.network(path)


def station(network: Network, number: int) -> Station:
    return scenario(network).stations[number]


def test_older_stations_keep_their_generation(tmp_path: Path) -> None:
    seen = dumped(
        tmp_path,
        block(1, HE, HE),
        block(2, *["780.0 MBit/s VHT-MCS 9 80MHz VHT-NSS 2"] * 2),
        block(3, *["270.0 MBit/s MCS 15 40MHz"] * 2),
        block(4, "54.0 MBit/s", "24.0 MBit/s"),
    )
    assert seen.phy == "802.11ax"
    assert [each.phy for each in seen.stations] == [None, "802.11ac", "802.11n", "802.11a"]
    known = scenario(seen).stations
    rates = [each.downlink_rate_bps for each in known]
    assert rates == pytest.approx([1200.96e6, 780e6, 270e6, 54e6], rel=1e-5)
    assert known[3].rate_bps == 24e6
    assert not any(each.notes for each in seen.stations), "all is as it was seen"


def test_an_unsupported_guard_interval_keeps_the_mcs_and_is_reported(tmp_path: Path) -> None:
    short = "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"
    seen = dumped(tmp_path, block(1, HE), block(2, short))
    assert (seen.stations[1].mcs, seen.stations[1].down_bps) == (9, 780e6)
    text = " ".join(as_toml(seen).replace("\n#", "").split())
    assert f"Tx rate {short}: here 780.0 Mb/s, MCS 9, 2 streams, 80 MHz, 0.8 us" in text
    assert any("one width and one guard interval" in each.text for each in seen.notes)


def test_older_stations_have_their_own_guard_interval_in_a_cell_of_80211ax(tmp_path: Path) -> None:
    long = "1020.8 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 2 HE-DCM 0"
    seen = dumped(tmp_path, block(1, long), block(2, "780.0 MBit/s VHT-MCS 9 80MHz VHT-NSS 2"))
    assert seen.cell["guard_interval"][0] == '"3.2 us"'
    rates = [each.rate_bps for each in scenario(seen).stations]
    assert rates == pytest.approx([1020.8e6, 780e6], rel=1e-4)
    assert [each.down_bps for each in seen.stations] == pytest.approx(rates, rel=1e-6)


def test_a_narrower_station_has_the_mcs_of_the_nearest_rate(tmp_path: Path) -> None:
    seen = dumped(tmp_path, block(1, HE), block(2, "65.0 MBit/s VHT-MCS 7 VHT-NSS 1"))
    narrow = seen.stations[1]
    assert (narrow.mcs, narrow.streams, narrow.down_bps) == (1, 1, 58.5e6)


def test_the_direction_with_most_bytes_has_the_mcs_and_the_other_is_reported(
    tmp_path: Path,
) -> None:
    up = "864.7 MBit/s 80MHz HE-MCS 8 HE-NSS 2 HE-GI 0 HE-DCM 0"
    seen = dumped(tmp_path, block(1, HE, up), block(2, HE, up, moved=(100000, 900)))
    assert [each.mcs for each in seen.stations] == [11, 8]
    assert f"rx rate {up}: here as tx, an MCS holds both ways" in seen.stations[0].notes
    assert f"tx rate {HE}: here as rx, an MCS holds both ways" in seen.stations[1].notes


@pytest.mark.parametrize(
    ("line", "words", "rate_bps"),
    [
        ("2882.4 MBit/s 160MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0", "802.11be is simulated", 2401.9e6),
        ("5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0", "802.11be is simulated", 4803.9e6),
        ("36.0 MBit/s 80MHz HE-MCS 1 HE-NSS 1 HE-GI 0 HE-DCM 1", "dual carrier", 36.03e6),
        ("1733.3 MBit/s VHT-MCS 9 80P80MHz short GI VHT-NSS 2", "80+80 MHz are", 1733.3e6),
        ("143.3 MBit/s HE-MCS 11 HE-NSS 1 HE-GI 0 HE-DCM 0 HE-RU-ALLOC 3", "OFDMA", 143.4e6),
    ],
)
def test_unsupported_rates_become_similar_rates_with_a_warning(
    line: str, words: str, rate_bps: float, tmp_path: Path
) -> None:
    seen = dumped(tmp_path, block(1, line))
    assert sum(note.warns for note in seen.notes) == 1
    assert any(note.warns and words in note.text for note in seen.notes)
    assert station(seen, 0).rate_bps == pytest.approx(rate_bps, rel=1e-3)


def test_a_station_of_80211b_is_slow_ofdm_with_a_warning(tmp_path: Path) -> None:
    seen = dumped(tmp_path, block(1, "65.0 MBit/s MCS 7"), block(2, "11.0 MBit/s", "1.0 MBit/s"))
    slow = station(seen, 1)
    assert (slow.phy, slow.rate_bps, slow.downlink_rate_bps) == ("802.11g", 6e6, 9e6)
    assert any(note.warns and "802.11b" in note.text for note in seen.notes)
    assert seen.cell["band"][0] == '"2.4 GHz"', "802.11b is nowhere else"


@pytest.mark.parametrize(
    ("channel", "width", "band", "taken"),
    [
        ("36 (5180", "80", "5 GHz", "80 MHz"),
        ("36 (5180", "160", "5 GHz", "160 MHz"),
        ("5 (5975", "320", "6 GHz", "160 MHz"),
        ("6 (2437", "40", "2.4 GHz", "40 MHz"),
    ],
)
def test_iw_info_reports_band_and_width(
    channel: str, width: str, band: str, taken: str, tmp_path: Path
) -> None:
    line = "143.3 MBit/s HE-MCS 11 HE-NSS 1 HE-GI 0 HE-DCM 0"
    info = INFO.format(channel, width)
    for parts in ((info, block(1, line)), (block(1, line), info)):
        seen = dumped(tmp_path, *parts)
        assert (seen.cell["band"][0], seen.cell["width"][0]) == (f'"{band}"', f'"{taken}"')
        assert "channel" in seen.cell["band"][1]
        assert scenario(seen).cell.phy == "802.11ax"


def test_a_cell_without_mcs_at_5_ghz_is_80211a(tmp_path: Path) -> None:
    seen = dumped(tmp_path, INFO.format("36 (5180", "20"), block(1, "54.0 MBit/s"))
    assert scenario(seen).cell.phy == "802.11a"


def test_rates_without_mcs_at_6_ghz_have_the_slowest(tmp_path: Path) -> None:
    info = INFO.format("5 (5975", "80")
    seen = dumped(tmp_path, info, block(1, HE), block(2, "6.0 MBit/s", "6.0 MBit/s"))
    assert (seen.stations[1].mcs, seen.stations[1].phy) == (0, None)
    assert station(seen, 1).rate_bps == pytest.approx(36.03e6, rel=1e-3)


def test_fitting_keeps_a_similar_mcs_or_uses_the_nearest_rate() -> None:
    def of(line: str, phy: str, width: int) -> tuple[int, int]:
        seen = read_rate(line)
        assert seen is not None
        taken = fitting(seen, phy, width, 800)
        return taken.mcs, taken.streams

    assert of("2882.4 MBit/s 160MHz EHT-MCS 13 EHT-NSS 2", "802.11ax", 160) == (11, 2)
    assert of("86.7 MBit/s VHT-MCS 8 short GI VHT-NSS 1", "802.11ac", 20) == (8, 1)
    assert of("96.3 MBit/s VHT-MCS 9 short GI VHT-NSS 1", "802.11ac", 20) == (8, 1)
    assert of("400.0 MBit/s VHT-MCS 9 40MHz short GI VHT-NSS 2", "802.11n", 40) == (7, 3)
