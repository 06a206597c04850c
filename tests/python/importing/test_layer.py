"""Captures with the radiotap fields MCS, VHT and HE: the PHY of the cell, and the rates of its
stations.
"""

import struct
from pathlib import Path

import pytest

from lasthop.importing.cells import Choices
from lasthop.importing.cells import network as of_capture

from .test_aggregating import scenario
from .test_cells import capture, mac_address

HE_FIELD = struct.pack("<6H", 0x60, 2, 11 << 8, 0, 2, 2)
VHT_FIELD = struct.pack("<HBB4sBBH", 0x44, 4, 4, bytes([0x91, 0, 0, 0]), 0, 0, 0)
AMPDU = struct.pack("<IHBB", 7, 0, 0, 0)


def frame(station: int, fields: bytes, present: int, *, mhz: int = 5180) -> bytes:
    """Return a downlink frame of an A-MPDU with channel, A-MPDU status and the given radiotap
    field.
    """
    head = struct.pack("<HH", mhz, 0x140)
    at = 8 + len(head)
    head += bytes(-at % 4) + AMPDU
    head += bytes(-(8 + len(head)) % 2) + fields
    radiotap = struct.pack("<BBHI", 0, 0, 8 + len(head), 1 << 3 | 1 << 20 | present) + head
    ends = mac_address(1, station) + mac_address(0, 1) + mac_address(2, 1)
    return radiotap + bytes([0x88, 0x42, 0, 0]) + ends + bytes(4) + bytes(1400)


def test_a_capture_of_80211ax_is_a_cell_of_80211ax(tmp_path: Path) -> None:
    packets = [(0.01 * k, frame(1, HE_FIELD, 1 << 23)) for k in range(200)]
    packets += [(2 + 0.01 * k, frame(2, VHT_FIELD, 1 << 21)) for k in range(200)]
    seen = of_capture(capture(tmp_path / "x", packets), Choices())
    keys = {key: value for key, (value, _) in seen.cell.items()}
    assert (seen.phy, keys["band"], keys["width"]) == ("802.11ax", '"5 GHz"', '"80 MHz"')
    known = scenario(seen).stations
    assert [each.phy for each in known] == ["802.11ax", "802.11ac"]
    assert [each.mcs for each in known] == [11, 9]
    rates = [each.downlink_rate_bps for each in known]
    assert rates == pytest.approx([1200.96e6, 390e6], rel=1e-5)
    assert not any(note.warns and "802.11" in note.text for note in seen.notes)


def test_a_chosen_preset_is_used_for_a_capture(tmp_path: Path) -> None:
    packets = [(0.01 * k, frame(1, VHT_FIELD, 1 << 21)) for k in range(200)]
    path = capture(tmp_path / "x", packets)
    assert scenario(of_capture(path, Choices(phy="802.11ax"))).stations[0].phy == "802.11ac"
    slow = scenario(of_capture(path, Choices(phy="802.11g")))
    assert (slow.cell.phy, slow.stations[0].downlink_rate_bps) == ("802.11g", 54e6)
    narrow = scenario(of_capture(path, Choices(phy="802.11n")))
    assert (narrow.cell.phy, narrow.stations[0].phy) == ("802.11n", "802.11n")


def test_alternating_rates_are_reported_with_their_part(tmp_path: Path) -> None:
    packets = [
        (0.01 * k, frame(1, HE_FIELD if k % 4 else VHT_FIELD, 1 << 23 if k % 4 else 1 << 21))
        for k in range(400)
    ]
    [station] = of_capture(capture(tmp_path / "x", packets), Choices()).stations
    assert (station.phy, station.mcs) == (None, 11)
    note = "down: 1201.0 Mb/s, MCS 11, 2 streams, 80 MHz, 0.8 us for 75% of the bytes, the rest at"
    assert f"{note} another" in station.notes


def test_a_few_frames_of_a_later_generation_make_no_other_cell(tmp_path: Path) -> None:
    """Frames that were decoded wrongly can have any rate. Therefore a few such frames do not change
    the PHY of the cell.
    """
    packets = [(0.001 * k, frame(1, VHT_FIELD, 1 << 21)) for k in range(3000)]
    packets += [(3.1, frame(1, HE_FIELD, 1 << 23))]
    assert of_capture(capture(tmp_path / "x", packets), Choices()).phy == "802.11ac"


def test_rts_of_a_cell_that_aggregates_is_reported_and_not_imported(tmp_path: Path) -> None:
    radiotap = struct.pack("<BBHIB", 0, 0, 9, 1 << 2, 48)
    rts = radiotap + bytes([0xB4, 0, 0, 0]) + mac_address(1, 1) + mac_address(0, 1)
    packets = [(0.0, frame(1, HE_FIELD, 1 << 23)), (0.1, rts), (0.2, frame(1, HE_FIELD, 1 << 23))]
    seen = of_capture(capture(tmp_path / "x", packets), Choices())
    assert "rts_threshold" not in seen.cell
    assert any("RTS is sent before" in note.text for note in seen.notes)
    scenario(seen)
