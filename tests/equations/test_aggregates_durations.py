"""Durations of PPDUs, compared with a table of a second implementation, public values, and closed
forms.

The table, `ppdu_durations.csv`, comes from a program that was written independently, from the
clauses of IEEE 802.11 and from ns-3's sources.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lasthop.models.aggregates.durations import (
    Ppdu,
    aggregate_bytes,
    control_ns,
    ofdm_ns,
)

TABLE = list(
    csv.DictReader(Path(__file__).with_name("ppdu_durations.csv").read_text("utf-8").splitlines())
)
NS3 = "ns-3"
OFDM_RATES_MBPS = (6, 9, 12, 18, 24, 36, 48, 54)
"""Rates from IEEE 802.11-2016, table 17-4."""


def duration_ns(row: dict[str, str]) -> int:
    mcs, size, band = int(row["mcs"]), int(row["psdu_bytes"]), float(row["band_ghz"])
    if row["format"] == "nonht":
        return ofdm_ns(size, OFDM_RATES_MBPS[mcs], band)
    ppdu = Ppdu(
        row["format"],
        int(row["width_mhz"]),
        mcs % 8 if row["format"] == "ht" else mcs,
        int(row["streams"]),
        int(row["gi_ns"]),
        int(row["ltf_ns"] or 6400),
        row["coding"],
        band,
        int(row["packet_padding_us"] or 0),
        NS3 if row["ns3"] == "1" else "standard",
    )
    return ppdu.duration_ns(size)


def test_a_second_implementation_has_the_same_durations():
    wrong = [row for row in TABLE if duration_ns(row) != int(row["duration_ns"])]
    assert len(TABLE) > 130
    assert {row["format"] for row in TABLE} == {"nonht", "ht", "vht", "he"}
    assert wrong == []


@pytest.mark.parametrize(
    ("standard", "width", "mcs", "duration_us"),
    [
        ("ht", 20, 7, 228),
        ("ht", 40, 7, 128),
        ("vht", 20, 8, 196),
        ("vht", 80, 9, 68),
        ("he", 20, 0, 1485.6),
        ("he", 20, 11, 139.2),
        ("he", 80, 11, 71.2),
        ("he", 160, 11, 57.6),
    ],
)
def test_ns3_publishes_these_of_1536_bytes(standard, width, mcs, duration_us):
    # Durations from ns-3, src/wifi/test/tx-duration-test.cc, with a guard interval of 0.8 us.
    assert Ppdu(standard, width, mcs, rules=NS3).duration_ns(1536) == 1000 * duration_us


@pytest.mark.parametrize(
    ("frame", "durations_us"),
    [
        ("ack", (44, 32, 28)),
        ("block_ack_64", (68, 44, 32)),
        ("block_ack_256", (100, 60, 40)),
        ("block_ack_request", (56, 40, 32)),
        ("rts", (52, 36, 28)),
    ],
)
def test_control_frames_at_6_12_and_24_megabits(frame, durations_us):
    assert [control_ns(frame, rate) / 1000 for rate in (6, 12, 24)] == list(durations_us)


def test_the_band_of_2400_mhz_adds_its_signal_extension():
    assert control_ns("ack", 24, 2.4) - control_ns("ack", 24) == 6000


def test_encoders_are_those_of_the_tables_of_vht():
    # These values of tables 21-30 to 21-61 differ from the rule ceil(N_DBPS / 2160). The list also
    # has, for each of them, a neighbouring value that follows the rule.
    encoders = {
        (width, streams, mcs): Ppdu("vht", width, mcs, streams).encoders
        for width, streams, mcs in (
            (80, 7, 2),
            (80, 7, 3),
            (80, 7, 7),
            (80, 8, 7),
            (160, 4, 7),
            (160, 5, 8),
            (160, 7, 9),
            (160, 8, 5),
            (160, 8, 8),
            (160, 8, 9),
        )
    }
    assert list(encoders.values()) == [3, 2, 6, 6, 6, 8, 12, 8, 12, 12]


def test_ht_has_a_second_encoder_above_300_megabits():
    # A symbol has 1296 bits, so that 16 + 8 * 1617 + 6 bits fill ten symbols. Six more tail bits
    # require an 11th symbol.
    fast = Ppdu("ht", 40, 5, 3)
    assert fast.encoders == 2
    assert fast.duration_ns(1617) == 1000 * (20 + 8 + 4 + 4 * 4 + 4 * 11)


@pytest.mark.parametrize(
    ("mcs", "streams", "psdu_bytes", "duration_us"),
    # In each case, many bits are punctured and few are shortened, or more than 30 % of the bits are
    # punctured.
    [(1, 2, 262, 124), (0, 1, 18, 68)],
)
def test_ldpc_adds_a_symbol_if_too_many_bits_are_punctured(mcs, streams, psdu_bytes, duration_us):
    duration_ns = Ppdu("ht", 20, mcs, streams, coding="ldpc").duration_ns(psdu_bytes)
    assert duration_ns == 1000 * duration_us


def test_an_aggregate_has_delimiters_and_padding_but_the_last():
    # 1538 + 4 = 1542 bytes are padded to 1544.
    assert aggregate_bytes("vht", 1538, 1) == 1542
    assert aggregate_bytes("vht", 1538, 64) == 63 * 1544 + 1542
    assert aggregate_bytes("ht", 1538, 1) == 1538


def test_schemes_that_do_not_exist_are_refused():
    for parameters in (("vht", 20, 9), ("ht", 80, 3), ("he", 20, 12)):
        with pytest.raises(ValueError, match="no such"):
            Ppdu(*parameters)


ALONE = [
    # Columns: standard, width, MCS, streams, guard interval, MPDUs, more settings, goodput with
    # 1472 bytes per MPDU [Mb/s]
    ("ht", 20, 7, 2, 400, 42, {"rules": NS3}, 130.45),
    ("vht", 80, 9, 1, 800, 64, {"rules": NS3}, 339.11),
    ("he", 80, 11, 2, 800, 64, {"rules": NS3}, 859.46),
    ("he", 80, 11, 2, 800, 256, {"rules": NS3}, 1055.22),
    ("ht", 20, 7, 2, 400, 42, {}, 130.34),
    ("vht", 80, 9, 1, 800, 64, {}, 338.50),
    ("he", 80, 11, 2, 800, 64, {"coding": "ldpc"}, 861.03),
    # The nominal packet padding of 16 us becomes 8 us after this PPDU, because its factor a is 2
    # (27.3.12.5).
    ("he", 80, 11, 2, 800, 64, {"coding": "ldpc", "padding_us": 16}, 853.24),
]


@pytest.mark.parametrize("row", ALONE, ids=lambda row: f"{row[0]}-{row[5]}-{row[6]}")
def test_a_single_station_sends_at_the_closed_rate(row):
    standard, width, mcs, streams, gi, mpdus, more, expected = row
    ppdu = Ppdu(standard, width, mcs, streams, gi, **more)
    response = "block_ack_256" if mpdus > 64 else "block_ack_64"
    # The cycle consists of AIFS of three slots, 7.5 slots of backoff, the PPDU, SIFS, and the
    # BlockAck at 24 Mb/s.
    cycle_ns = 43_000 + 7.5 * 9000 + 16_000 + control_ns(response, 24)
    cycle_ns += ppdu.duration_ns(aggregate_bytes(standard, 1538, mpdus))
    assert 1e3 * mpdus * 8 * 1472 / cycle_ns == pytest.approx(expected, abs=0.006)


def test_a_symbol_has_as_many_bits_as_fit_at_any_rate() -> None:
    assert ofdm_ns(14, 7.5) == 20_000 + 4000 * 5  # 134 bits in symbols of 30 bits
    assert ofdm_ns(14, 1e-6) == 20_000 + 4000 * 134 * 250_000
    assert ofdm_ns(14, 1e5) == 20_000 + 4000
