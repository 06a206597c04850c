"""Frames on the air: their table and their timeline."""

import pickle
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import lasthop as lh
from lasthop.plot.air import BACKOFF, FATES, KINDS

from .test_network import DUMBBELL
from .test_plot_answers import clipped_texts
from .test_ppdus import busy

CELL = {
    "name": "two up, one down",
    "duration": "1 s",
    "warmup": "0.1 s",
    "replications": 1,
    "cell": {"phy": "802.11b", "ap_queue": 30},
    "tcp": {"window": 20},
    "station": {
        "up": {"count": 2, "udp_up": "greedy"},
        "down": {"download": 1, "error_down": 0.2},
    },
}
FROM_S, TO_S = 0.5, 0.55


@pytest.fixture(scope="module")
def result() -> lh.Result:
    return lh.simulate(CELL, frames=100_000)


def bars(axes: Axes, color: str) -> list[tuple[int, float, float]]:
    """Return row, start and end [ms] of each bar with this colour."""
    spans = []
    for each in axes.collections:
        if to_hex(each.get_facecolor()[0]).upper() != color:
            continue
        for path in each.get_paths():
            x, y = path.vertices[:-1].T
            spans.append((round(float(y.mean())), float(x.min()), float(x.max())))
    return sorted(spans, key=lambda bar: bar[1])


def test_frames_are_a_table_of_what_was_on_the_air(result: lh.Result) -> None:
    frames = result.frames()
    assert len(frames) == result.frame_count
    assert frames["start_s"].is_monotonic_increasing
    assert set(frames["sender"]) == {"ap", "up-1", "up-2", "down"}
    assert set(frames["kind"]) == {"data", "ack"}
    assert set(frames["fate"]) == {"delivered", "collided", "corrupted"}
    data = frames[frames["kind"] == "data"]
    assert set(data["packet"]) == {"datagram", "segment", "ack", "syn", "syn-ack"}
    # A frame has 192 us of preamble and 36 bytes in addition to the packet.
    datagram = data[data["packet"] == "datagram"].iloc[0]
    assert datagram["duration_s"] == pytest.approx(
        192e-6 + 8 * datagram["bytes"] / datagram["rate_bps"]
    )
    assert data["attempt"].min() == 1
    assert data["attempt"].max() > 1
    assert frames[frames["kind"] == "ack"]["backoff_slots"].isna().all()
    part = result.frames(FROM_S, TO_S)
    assert part.equals(
        frames[(frames["start_s"] >= FROM_S) & (frames["start_s"] < TO_S)].reset_index(drop=True)
    )


def test_a_pickle_has_the_frames_and_a_saved_result_has_not(
    result: lh.Result, tmp_path: Path
) -> None:
    again = pickle.loads(pickle.dumps(result))
    pd.testing.assert_frame_equal(again.frames(FROM_S, TO_S), result.frames(FROM_S, TO_S))
    assert again.plot.air(FROM_S, TO_S).axes
    result.save(tmp_path)
    with pytest.raises(lh.UserError, match="frames were not saved with the result"):
        lh.load(tmp_path).frames()
    with pytest.raises(lh.UserError, match="no frames were recorded") as caught:
        lh.simulate(CELL).frames()
    assert "frames=100000" in (caught.value.hint or "")


def test_recording_frames_changes_nothing(result: lh.Result) -> None:
    assert lh.simulate(CELL).to_json() == result.to_json()


def test_each_frame_is_a_bar_in_its_senders_row(result: lh.Result) -> None:
    figure = result.plot.air(FROM_S, TO_S)
    [axes] = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "ap"
    assert set(names) == {"ap", "up-1", "up-2", "down"}
    frames = result.frames(FROM_S, TO_S)
    mine = frames[
        (frames["kind"] == "data")
        & (frames["packet"] != "ack")
        & (frames["fate"] == "delivered")
        & (frames["start_s"] + frames["duration_s"] < TO_S)
    ]
    drawn = bars(axes, KINDS["segment"][1])
    expected = [
        (names.index(row["sender"]), 1e3 * (row["start_s"] - FROM_S)) for _, row in mine.iterrows()
    ]
    assert [bar[:2] for bar in drawn if bar[1] > 0 and bar[2] < 50.0] == [
        (row, pytest.approx(start, abs=1e-6)) for row, start in expected
    ]
    assert axes.get_xlabel() == "time since 0.5 s [ms], first replication"
    assert axes.get_xlim() == (0.0, pytest.approx(50.0))


def test_collisions_are_drawn_by_the_fate_of_the_frames(result: lh.Result) -> None:
    [axes] = result.plot.air(FROM_S, TO_S).axes
    frames = result.frames(FROM_S, TO_S)
    for fate in ("collided", "corrupted"):
        lost = frames[frames["fate"] == fate]
        assert len(bars(axes, FATES[fate][1])) == len(lost) > 0
    collided = bars(axes, FATES["collided"][1])
    assert collided[0][1] == collided[1][1]  # Both frames begin at the same time.


def test_a_frame_is_preceded_by_the_slots_that_its_sender_counted_down(result: lh.Result) -> None:
    [axes] = result.plot.air(FROM_S, TO_S).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    counted = bars(axes, BACKOFF)
    every = result.frames(FROM_S, TO_S)
    known = every[every["backoff_slots"].notna() & (every["sender"] == "up-1")].reset_index()
    row = names.index("up-1")
    checked = 0
    for (_, before), (_, frame) in zip(known.iterrows(), known.iloc[1:].iterrows(), strict=False):
        low, high = (1e3 * (sent["start_s"] - FROM_S) for sent in (before, frame))
        own = [bar for bar in counted if bar[0] == row and low < bar[1] and bar[2] <= high + 1e-6]
        slots = sum(end - start for _, start, end in own) / 0.02
        assert slots == pytest.approx(frame["backoff_slots"], abs=1e-3)
        checked += 1
    assert checked > 5


def test_the_legend_has_only_the_kinds_that_are_drawn(result: lh.Result) -> None:
    figure = result.plot.air(FROM_S, TO_S)
    [legend] = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["data", "TCP ACK", "MAC ACK", "collided", "lost to channel errors", "backoff"]
    assert clipped_texts(figure) == []
    quiet = result.plot.air(FROM_S, FROM_S + 0.0005)
    [few] = quiet.legends
    assert len(few.get_texts()) < len(labels)


def test_rts_and_cts_have_a_colour() -> None:
    result = lh.simulate(CELL, settings={"cell.rts_threshold": "500 B"}, frames=10_000)
    assert {"rts", "cts"} <= set(result.frames()["kind"])
    [legend] = result.plot.air(FROM_S, TO_S).legends
    assert "RTS, CTS" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("stretch", "message"),
    [
        ((0.5, 0.4), "from 0.5 s to 0.4 s is not a time range"),
        ((5.0, 6.0), "no frames from 5 s to 6 s: the last recorded frame begins at 0.99"),
        ((0.0, float("nan")), "is not a time range"),
    ],
)
def test_a_stretch_without_frames_is_refused(
    result: lh.Result, stretch: tuple[float, float], message: str
) -> None:
    with pytest.raises(lh.UserError, match=message):
        result.plot.air(*stretch)


def test_too_many_frames_are_refused(result: lh.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lasthop.plot.air.MAX_FRAMES", 20)
    with pytest.raises(lh.UserError, match="at most 20 are drawn") as caught:
        result.plot.air(FROM_S, TO_S)
    assert caught.value.hint == "use a shorter time range"


def test_wires_have_no_frames() -> None:
    with pytest.raises(lh.UserError, match="the scenario has no cell, so it has no frames"):
        lh.simulate(DUMBBELL).plot.air(1.0, 1.1)


def test_the_picture_is_drawn_into_given_axes(result: lh.Result) -> None:
    mine = Figure()
    axes = mine.subplots()
    assert result.plot.air(FROM_S, TO_S, ax=axes) is mine
    assert axes.get_legend() is not None


@pytest.fixture(scope="module")
def aggregating() -> lh.Result:
    return busy("802.11ac", rts="8000 B")


AGGREGATES_S = (0.2, 0.24)


def test_an_aggregate_is_a_bar_with_the_number_of_its_mpdus(aggregating: lh.Result) -> None:
    [axes] = aggregating.plot.air(*AGGREGATES_S).axes
    frames = aggregating.frames(*AGGREGATES_S)
    long = frames[(frames["mpdus"] > 1) & (frames["duration_s"] > 2e-3)]
    assert len(long) > 5
    labels = {(round(text.get_position()[0], 6), text.get_text()) for text in axes.texts}
    for row in long.itertuples():
        middle_s = row.start_s + row.duration_s / 2 - AGGREGATES_S[0]
        if 1e3 * (middle_s + row.duration_s / 2) < 40:
            assert (round(1e3 * middle_s, 6), str(row.mpdus)) in labels
    short = frames[frames["duration_s"] < 5e-5]
    assert len(short) > len(long)
    assert len(labels) < len(frames) - len(short) + 1


def test_lost_mpdus_are_seen_in_their_aggregate(aggregating: lh.Result) -> None:
    [axes] = aggregating.plot.air(*AGGREGATES_S).axes
    frames = aggregating.frames(*AGGREGATES_S)
    partly = frames[(frames["fate"] == "delivered") & (frames["mpdus_lost"] > 0)]
    purple = bars(axes, FATES["corrupted"][1])
    expected = [
        1e3 * (row.start_s + place * row.duration_s / row.mpdus - AGGREGATES_S[0])
        for row in partly.itertuples()
        for place, number in enumerate(row.sequence)
        if number in row.lost
    ]
    assert len(expected) > 10
    starts = [bar[1] for bar in purple]
    for start in expected:
        if start < 39:
            assert any(abs(start - other) < 1e-6 for other in starts), start
    colors = [to_hex(each.get_facecolor()[0]).upper() for each in axes.collections]
    # The bars of corrupted MPDUs are drawn above the bars of the PPDUs that contain them.
    assert colors[-1] == FATES["corrupted"][1]


def test_backoffs_are_counted_after_the_eifs_of_cells_that_aggregate(
    aggregating: lh.Result,
) -> None:
    [axes] = aggregating.plot.air(0.1, 0.3).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    counted = bars(axes, BACKOFF)
    every = aggregating.frames(0.1, 0.3)
    known = every[every["backoff_slots"].notna() & (every["sender"] == "far")].reset_index()
    row, checked = names.index("far"), 0
    for (_, before), (_, frame) in zip(known.iterrows(), known.iloc[1:].iterrows(), strict=False):
        low, high = (1e3 * (sent["start_s"] - 0.1) for sent in (before, frame))
        own = [bar for bar in counted if bar[0] == row and low < bar[1] and bar[2] <= high + 1e-6]
        slots = sum(end - start for _, start, end in own) / 0.009
        # In EDCA, the slot in which another node begins to send also decrements the backoff.
        # This slot is not drawn, and is therefore added to the drawn slots.
        between = (every["start_s"] > before["start_s"]) & (every["start_s"] < frame["start_s"])
        others = every[between & every["backoff_slots"].notna()]["start_s"].nunique()
        assert slots + others == pytest.approx(frame["backoff_slots"], abs=1e-3)
        checked += 1
    assert checked > 20


def test_the_legend_of_aggregates_has_their_frames(aggregating: lh.Result) -> None:
    figure = aggregating.plot.air(*AGGREGATES_S)
    [legend] = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert {"data, with number of MPDUs", "BlockAck", "BlockAckReq", "RTS, CTS"} <= set(labels)
    assert clipped_texts(figure) == []
