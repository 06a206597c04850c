"""Recorded frames of cells with aggregation, compared with other results of these cells."""

import pandas as pd
import pytest

import lasthop as lh
from lasthop.models.aggregates.durations import Ppdu, ofdm_ns

BUSY = """
name = "losses, collisions, an old station, A-MSDUs"
duration = "0.8 s"
warmup = "0 s"
replications = 1
tcp = {{ congestion = "newreno", sack = false, initial_window = 2, window = 60 }}

[cell]
phy = "{phy}"
width = "{width}"
rts_threshold = "{rts}"
aggregation = {{ attempts = 2, reorder_timeout = "5 ms" }}

[station.near]
count = 2
upload = 1
download = 1

[station.far]
mcs = 2
error_down = 0.5
udp_down = "20 Mbps"
udp_up = "greedy"

[station.clean]
udp_down = "5 Mbps"

[station.old]
phy = "802.11a"
error_up = 0.3
error_down = 0.1
upload = 1

[station.packer]
phy = "802.11n"
upload = 1
error_up = 0.1
aggregation = {{ amsdu = "7935 B", mpdus = 16, attempts = 3 }}
"""
PHYS = ("802.11n", "802.11ac", "802.11ax")
HIGHEST_MCS = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}


def text_of(phy: str, rts: str = "never", width: str = "40 MHz") -> str:
    return BUSY.format(phy=phy, rts=rts, width=width)


def busy(
    phy: str, rts: str = "never", width: str = "40 MHz", *, frames: int = 100_000
) -> lh.Result:
    return lh.simulate(text_of(phy, rts, width), frames=frames)


def modulation(phy: str, mcs: int) -> Ppdu:
    if phy == "802.11ax":
        return Ppdu("he", 40, mcs, coding="ldpc", padding_us=16)
    return Ppdu("ht" if phy == "802.11n" else "vht", 40, mcs)


@pytest.fixture(scope="module", params=PHYS)
def phy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def result(phy: str) -> lh.Result:
    return busy(phy)


@pytest.fixture(scope="module")
def frames(result: lh.Result) -> pd.DataFrame:
    return result.frames()


def test_durations_of_frames_follow_the_standard(frames: pd.DataFrame, phy: str) -> None:
    links = {
        "near-1": modulation(phy, HIGHEST_MCS[phy]),
        "near-2": modulation(phy, HIGHEST_MCS[phy]),
        "clean": modulation(phy, HIGHEST_MCS[phy]),
        "far": modulation(phy, 2),
        "packer": Ppdu("ht", 40, 7),
    }
    seen = set()
    for _, row in frames.iterrows():
        station = row["receiver"] if row["sender"] == "ap" else row["sender"]
        if pd.isna(row["mcs"]):
            expected = ofdm_ns(row["bytes"], row["rate_bps"] // 10**6)
        else:
            assert row["mcs"] == links[station].mcs
            expected = links[station].duration_ns(row["bytes"])
        assert round(1e9 * row["duration_s"]) == expected
        seen.add((station, row["kind"]))
    assert {(name, "data") for name in (*links, "old")} <= seen
    assert {("packer", "block-ack"), ("old", "ack"), ("far", "block-ack-req")} <= seen


def test_frames_overlap_only_where_they_collide(frames: pd.DataFrame) -> None:
    free_s = 0.0
    for _, together in frames.groupby("start_s"):
        collided = together["fate"] == "collided"
        assert collided.all() if len(together) > 1 else not collided.any()
        assert together["start_s"].iloc[0] >= free_s - 1e-9
        free_s = (together["start_s"] + together["duration_s"]).max()


def test_the_number_of_mpdus_is_that_of_the_result(result: lh.Result, frames: pd.DataFrame) -> None:
    data = frames[frames["kind"] == "data"]
    down = data[data["sender"] == "ap"].groupby("receiver")[["mpdus", "mpdus_lost"]].sum()
    for station in ("near-1", "far", "clean", "old"):
        attempts, lost = down.loc[station]
        counted = result.stations.loc[station, "downlink_failure_rate"]
        assert counted == pytest.approx(lost / attempts, rel=1e-12)
    # There are no channel errors, so that received packets are delivered immediately.
    mpdus, lost = down.loc["clean"]
    goodput_bps = result.flows.loc["clean/udp-down/1", "goodput_bps"]
    assert goodput_bps * 0.8 / (8 * 1472) == pytest.approx(mpdus - lost, rel=1e-12)


def test_the_number_of_collisions_is_that_of_the_result(
    result: lh.Result, frames: pd.DataFrame
) -> None:
    sent = frames[frames["kind"].isin(["data", "block-ack-req"])]
    for station in ("near-1", "far", "packer"):
        own = sent[sent["sender"] == station]
        share = (own["fate"] == "collided").mean()
        assert result.stations.loc[station, "collision_rate"] == pytest.approx(share, rel=1e-12)


def test_lost_mpdus_have_their_sequence_numbers(frames: pd.DataFrame) -> None:
    data = frames[frames["kind"] == "data"]
    for _, row in data.iterrows():
        assert len(row["sequence"]) == row["mpdus"]
        assert len(row["lost"]) == row["mpdus_lost"]
        assert set(row["lost"]) <= set(row["sequence"])
        assert (row["mpdus_lost"] < row["mpdus"]) == (row["fate"] == "delivered")
    assert (data["mpdus_lost"].between(1, data["mpdus"] - 1)).any()
    others = frames[frames["kind"] != "data"]
    assert others[["mpdus", "mpdus_lost", "sequence", "lost"]].isna().all(axis=None)


def test_recording_changes_nothing() -> None:
    text = text_of("802.11ac", rts="8000 B")
    plain, recorded = lh.simulate(text), lh.simulate(text, frames=100_000)
    assert plain.to_json() == recorded.to_json()
    assert recorded.frame_count > 1000
    assert not recorded.frames_full


def test_an_aggregate_counts_for_its_mpdus() -> None:
    few = busy("802.11ac", frames=300)
    assert few.frames_full
    table = few.frames()
    assert few.frame_count == table["mpdus"].fillna(1).sum() <= 300
    assert few.frame_count > 300 - 64


def test_cells_of_single_frames_have_one_mpdu_per_frame(small_result: lh.Result) -> None:
    frames = small_result.frames()
    data = frames[frames["kind"] == "data"]
    assert set(data["mpdus"]) == {1}
    assert (data["mpdus_lost"] == (data["fate"] != "delivered")).all()
    assert frames[["sequence", "lost", "mcs"]].isna().all(axis=None)
    assert small_result.frames_full
