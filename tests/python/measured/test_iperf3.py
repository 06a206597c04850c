"""Output of iperf3: who sends, what arrived, and what is wrong with some of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from lasthop.errors import UserError
from lasthop.measured.observed import Measurement
from lasthop.measured.reading import read as read_all


def output(
    streams: list[dict[str, Any]], *, reverse: int = 0, server: bool = False
) -> dict[str, Any]:
    who = "accepted_connection" if server else "connecting_to"
    start = {who: {"host": "x"}, "test_start": {"reverse": reverse}, "tcp_mss_default": 1000}
    return {"start": start, "intervals": [], "end": {"streams": streams}}


def tcp(rate: float = 5e6, *, sends: bool | None = True, again: int = 10) -> dict[str, Any]:
    sender = {
        "bits_per_second": rate * 1.1,
        "bytes": 990_000,
        "retransmits": again,
        "mean_rtt": 5000,
    }
    return {
        "sender": sender | ({} if sends is None else {"sender": sends}),
        "receiver": {"bits_per_second": rate},
    }


def read(path: Path) -> Measurement:
    """The only report of a file."""
    [measurement] = read_all(path)
    return measurement


def written(tmp_path: Path, tree: Any) -> Path:
    path = tmp_path / "x.json"
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return path


@pytest.mark.parametrize(
    ("sends", "reverse", "server", "way"),
    [
        (True, 0, False, "up"),
        (False, 1, False, "down"),
        (None, 0, False, "up"),
        (None, 1, False, "down"),
        (False, 0, True, "up"),
        (True, 1, True, "down"),
        (None, 0, True, "up"),
        (None, 1, True, "down"),
    ],
)
def test_up_is_from_the_client_whoever_reports(
    sends: bool | None, reverse: int, server: bool, way: str, tmp_path: Path
) -> None:
    tree = output([tcp(sends=sends)], reverse=reverse, server=server)
    assert [each.direction for each in read(written(tmp_path, tree)).streams] == [way]


def test_bidir_has_streams_both_ways(tmp_path: Path) -> None:
    tree = output([tcp(sends=True), tcp(sends=False)])
    assert [each.direction for each in read(written(tmp_path, tree)).streams] == ["up", "down"]


def test_goodput_is_the_receivers_and_the_rest_the_senders(tmp_path: Path) -> None:
    [stream] = read(written(tmp_path, output([tcp()]))).streams
    assert stream.goodput_bps == 5e6
    assert stream.rtt_s == pytest.approx(0.005)
    assert stream.retransmissions == 10
    assert stream.loss_probability == pytest.approx(10 / (990 + 10))


def test_a_receiver_that_counted_nothing_is_told(tmp_path: Path) -> None:
    stream = tcp() | {"receiver": {"bits_per_second": 0}}
    seen = read(written(tmp_path, output([stream])))
    assert seen.streams[0].goodput_bps == pytest.approx(5.5e6)
    assert seen.notes == ["stream 1: its receiver counted nothing, the sender's count is taken"]


def test_udp_counts_what_arrived(tmp_path: Path) -> None:
    udp = {"udp": {"bits_per_second": 1e6, "lost_percent": 25.0, "sender": True}}
    [stream] = read(written(tmp_path, output([udp]))).streams
    assert (stream.goodput_bps, stream.loss_probability) == (0.75e6, 0.25)


def test_a_stream_of_events_is_read_like_a_whole(tmp_path: Path) -> None:
    whole = output([tcp()])
    lines = "\n".join(json.dumps({"event": name, "data": whole[name]}) for name in ("start", "end"))
    assert read(written(tmp_path, lines)).streams == read(written(tmp_path, whole)).streams


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"start": {}, "end": {}, "error": "unable to connect"}, "iperf3 failed: unable to conn"),
        (output([]), "has no stream"),
        (output([{"what": 1}]), r"`end.streams\[0\]`: .* is not a stream with sender"),
        (output([tcp(rate=-1.0)]), r"`end.streams\[0\].receiver.bits_per_second`: -1.0"),
        (output([tcp(again=-3)]), r"`end.streams\[0\].sender.retransmits`: -3 is not a count"),
        ({"start": [], "end": {}}, "`start`: .* is not a table"),
        ({"start": {}, "end": {"streams": 5}}, "`end.streams`: 5 is not a list"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tree: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, tree))
