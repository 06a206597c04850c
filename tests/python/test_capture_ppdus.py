"""Captures of a cell that aggregates, read by tshark."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

import lasthop as lh
from lasthop.models.aggregates.durations import Ppdu

from .test_capture import tshark
from .test_ppdus import PHYS, busy

FIELDS = (
    "frame.time_epoch",
    "wlan.fc.type_subtype",
    "wlan.fc.retry",
    "wlan.ta",
    "wlan.ra",
    "wlan.qos.tid",
    "wlan.seq",
    "radiotap.ampdu.reference",
    "radiotap.ampdu.flags.last",
    "wlan_aggregate.a_mdsu.length",
    "wlan.fixed.ssc.sequence",
    "wlan.ba.bm",
    "wlan.fcs.status",
    "ip.checksum.status",
    "frame.comment",
    "wlan_radio.duration",
    "wlan_radio.aggregate.duration",
)
SUBTYPES = {
    "0x0028": "data",
    "0x001b": "rts",
    "0x001c": "cts",
    "0x001d": "ack",
    "0x0018": "block-ack-req",
    "0x0019": "block-ack",
}


@pytest.fixture(scope="module", params=PHYS)
def phy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def result(phy: str, debian_program: Callable[[str, str], str]) -> lh.Result:
    debian_program("tshark", "tshark")
    return busy(phy, rts="8000 B", frames=4_000)


@pytest.fixture(scope="module")
def capture(result: lh.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "cell.pcapng"
    result.save_capture(path)
    return path


@pytest.fixture(scope="module")
def rows(result: lh.Result) -> pd.DataFrame:
    return result.frames()


@pytest.fixture(scope="module")
def packets(capture: Path) -> pd.DataFrame:
    return packets_of(capture)


def packets_of(capture: Path) -> pd.DataFrame:
    """Return the value of each field in every frame as text. The text is empty if a frame lacks the
    field.
    """
    named = [argument for field in FIELDS for argument in ("-e", field)]
    settings = ["-o", "wlan_radio.tsf_at_end:FALSE"]
    lines = tshark(capture, *settings, "-T", "fields", *named)
    table = pd.DataFrame([line.split("\t") for line in lines], columns=list(FIELDS))
    table["kind"] = table["wlan.fc.type_subtype"].map(SUBTYPES)
    return table


def ppdus(packets: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the packets of each PPDU. Packets of one PPDU have a common reference number."""
    reference = packets["radiotap.ampdu.reference"]
    is_new = (reference == "") | (reference != reference.shift())
    return [group for _, group in packets.groupby(is_new.cumsum())]


def test_no_frame_is_malformed_cut_short_or_an_error(capture: Path) -> None:
    complaints = "_ws.malformed || _ws.short || _ws.unreassembled || _ws.expert.severity == error"
    assert tshark(capture, "-Y", complaints) == []


@pytest.mark.smoke(1)
def test_every_checksum_is_good(packets: pd.DataFrame) -> None:
    assert set(packets["wlan.fcs.status"]) == {"1"}
    statuses = {status for field in packets["ip.checksum.status"] for status in field.split(",")}
    assert statuses == {"", "1"}


@pytest.mark.smoke(1)
def test_reference_numbers_group_the_mpdus_of_each_ppdu(
    packets: pd.DataFrame, rows: pd.DataFrame
) -> None:
    groups = ppdus(packets)
    assert len(groups) == len(rows)
    last: dict[int, list[str]] = {0: [], 1: []}
    for group, (_, row) in zip(groups, rows.iterrows(), strict=True):
        assert set(group["kind"]) == {row["kind"]}
        starts = {round(float(stamp), 9) for stamp in group["frame.time_epoch"]}
        assert starts == {round(row["start_s"], 9)}
        if row["kind"] != "data":
            continue
        assert [int(number) for number in group["wlan.seq"]] == row["sequence"]
        if row["mpdus"] > 1:
            last[0].extend(group["radiotap.ampdu.flags.last"].iloc[:-1])
            last[1].append(group["radiotap.ampdu.flags.last"].iloc[-1])
    assert [set(flags) for flags in last.values()] == [{"0"}, {"1"}]


@pytest.mark.smoke(1)
def test_an_mpdu_is_a_retry_from_its_second_transmission(packets: pd.DataFrame) -> None:
    seen = set()
    data = packets[packets["kind"] == "data"]
    retries = 0
    names = ["wlan.ta", "wlan.ra", "wlan.qos.tid", "wlan.seq", "wlan.fc.retry"]
    for *address, retry in data[names].itertuples(index=False, name=None):
        key = tuple(address)
        assert (retry == "1") == (key in seen)
        retries += key in seen
        seen.add(key)
    assert retries > 100


@pytest.mark.smoke(1)
def test_bitmaps_acknowledge_the_received_mpdus(packets: pd.DataFrame, rows: pd.DataFrame) -> None:
    checked = 0
    pairs = list(zip(ppdus(packets), rows.itertuples(), strict=True))
    for (_, asked), (group, row) in pairwise(pairs):
        if row.kind != "block-ack" or asked.kind != "data":
            continue
        answer = group.iloc[0]
        bits = int.from_bytes(bytes.fromhex(answer["wlan.ba.bm"]), "little")
        start = int(answer["wlan.fixed.ssc.sequence"])
        assert len(answer["wlan.ba.bm"]) == 2 * (row.bytes - 24)
        for number in asked.sequence:
            is_received = bits >> ((number - start) % 4096) & 1 == 1
            assert is_received == (number not in asked.lost)
        checked += len(asked.lost)
    assert checked > 50


def test_a_block_ack_req_and_its_block_ack_begin_at_the_same_number(packets: pd.DataFrame) -> None:
    requests = packets.index[packets["kind"] == "block-ack-req"]
    answered = [at for at in requests if packets["frame.comment"][at] == ""]
    starts = packets["wlan.fixed.ssc.sequence"]
    assert len(answered) > 10
    assert all(packets["kind"][at + 1] == "block-ack" for at in answered if at + 1 in starts)
    assert all(starts[at] == starts[at + 1] for at in answered if at + 1 in starts)


def test_packets_of_an_amsdu_are_subframes(packets: pd.DataFrame) -> None:
    lengths = packets["wlan_aggregate.a_mdsu.length"]
    several = lengths[lengths.str.contains(",")]
    assert len(several) > 3
    # A segment has 1500 bytes after the LLC and SNAP headers.
    assert {length for row in several for length in row.split(",")} <= {"1508", "48"}


@pytest.mark.smoke(1)
def test_only_lost_mpdus_are_marked_as_lost(packets: pd.DataFrame, rows: pd.DataFrame) -> None:
    for group, row in zip(ppdus(packets), rows.itertuples(), strict=True):
        if row.kind != "data":
            continue
        lost = [
            int(packet["wlan.seq"]) for _, packet in group.iterrows() if packet["frame.comment"]
        ]
        assert lost == row.lost
        fates = {comment.partition(",")[0] for comment in group["frame.comment"]} - {""}
        assert fates <= {"collided" if row.fate == "collided" else "corrupted"}


def test_wireshark_computes_the_same_durations(
    tmp_path: Path, debian_program: Callable[[str, str], str]
) -> None:
    """Only durations of HT at 20 MHz and of frames before 802.11n are compared.

    Other durations of Wireshark 4.0 are wrong. It assumes 104 data subcarriers at 40 MHz, and omits
    VHT-SIG-B and the rounding to complete symbols in VHT. It computes no durations of HE. It omits
    the delimiter before the last MPDU. It treats A-MPDUs that begin at the same time as a single
    A-MPDU.
    """
    debian_program("tshark", "tshark")
    result = busy("802.11n", "8000 B", "20 MHz", frames=6_000)
    result.save_capture(tmp_path / "ht.pcapng")
    compared = {"alone": 0, "aggregate": 0}
    groups = ppdus(packets_of(tmp_path / "ht.pcapng"))
    for group, row in zip(groups, result.frames().itertuples(), strict=True):
        if row.fate == "collided":
            continue
        last = group.iloc[-1]
        if row.kind == "data" and row.mpdus > 1:
            link = Ppdu("ht", 20, row.mcs)
            assert link.duration_ns(row.bytes) == round(1e9 * row.duration_s)
            expected_ns = link.duration_ns(row.bytes - 4)
            assert 1000 * int(last["wlan_radio.aggregate.duration"]) == expected_ns
            compared["aggregate"] += 1
        else:
            assert int(last["wlan_radio.duration"]) == round(1e6 * row.duration_s)
            compared["alone"] += 1
    assert min(compared.values()) > 100
