"""Output of iperf3: senders, received data, and faults in files."""

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
    """Return the only measurement of a file."""
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
def test_up_is_from_the_client_in_every_report(
    sends: bool | None, reverse: int, server: bool, way: str, tmp_path: Path
) -> None:
    tree = output([tcp(sends=sends)], reverse=reverse, server=server)
    assert [each.direction for each in read(written(tmp_path, tree)).streams] == [way]


def test_bidir_has_streams_in_both_directions(tmp_path: Path) -> None:
    tree = output([tcp(sends=True), tcp(sends=False)])
    assert [each.direction for each in read(written(tmp_path, tree)).streams] == ["up", "down"]


def test_goodput_comes_from_the_receiver_and_other_values_come_from_the_sender(
    tmp_path: Path,
) -> None:
    [stream] = read(written(tmp_path, output([tcp()]))).streams
    assert stream.goodput_bps == 5e6
    assert stream.rtt_s == pytest.approx(0.005)
    assert stream.retransmissions == 10
    assert stream.loss_probability == pytest.approx(10 / (990 + 10))


def test_a_receiver_without_counts_is_reported(tmp_path: Path) -> None:
    stream = tcp() | {"receiver": {"bits_per_second": 0}}
    seen = read(written(tmp_path, output([stream])))
    assert seen.streams[0].goodput_bps == pytest.approx(5.5e6)
    assert seen.notes == ["stream 1: its receiver counted nothing, the sender's count is used"]


def test_udp_goodput_counts_arrived_datagrams(tmp_path: Path) -> None:
    udp = {"udp": {"bits_per_second": 1e6, "lost_percent": 25.0, "sender": True}}
    [stream] = read(written(tmp_path, output([udp]))).streams
    assert (stream.goodput_bps, stream.loss_probability) == (0.75e6, 0.25)


def test_a_stream_of_events_is_read_like_a_report(tmp_path: Path) -> None:
    report = output([tcp()])
    lines = "\n".join(
        json.dumps({"event": name, "data": report[name]}) for name in ("start", "end")
    )
    assert read(written(tmp_path, lines)).streams == read(written(tmp_path, report)).streams


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
def test_faults_are_reported_with_their_position(tree: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, tree))


def udp_at(
    *,
    sends: bool,
    lost: int = 252,
    packets: int = 1655,
    sent_bps: float = 0.0,
    socket: int = 5,
) -> dict[str, Any]:
    """Return a UDP stream in the format of iperf3 3.12."""
    percent = 100 * lost / packets if sends else 0
    fields = {"socket": socket, "seconds": 2.08, "bytes": 0, "bits_per_second": sent_bps}
    fields |= {"lost_packets": lost, "packets": packets, "sender": sends, "lost_percent": percent}
    return {"udp": fields}


def test_an_upload_of_datagrams_is_counted_by_the_server(tmp_path: Path) -> None:
    """For an upload, the client of iperf3 reports the sender's bytes, and a loss of 0. The importer
    uses the counts in the server's output instead.
    """
    tree = output([udp_at(sends=False)], server=True)
    tree["start"]["test_start"]["blksize"] = 1448
    [old] = read(written(tmp_path, tree)).streams
    assert old.goodput_bps == pytest.approx(7.81e6, rel=1e-3)
    assert old.loss_probability == pytest.approx(0.152, abs=1e-3)
    tree["end"]["sum_received"] = {"bits_per_second": 7812248.6}
    [newer] = read(written(tmp_path, tree)).streams
    assert (newer.direction, newer.transport) == ("up", "udp")
    assert newer.goodput_bps == 7812248.6


def test_streams_of_datagrams_share_the_sum_of_their_receiver(tmp_path: Path) -> None:
    streams = [udp_at(sends=False, lost=0, packets=300), udp_at(sends=False, lost=50, packets=150)]
    tree = output(streams, server=True)
    tree["end"]["sum_received"] = {"bits_per_second": 4e6}
    assert [each.goodput_bps for each in read(written(tmp_path, tree)).streams] == [3e6, 1e6]


def test_a_receiver_counts_the_bytes_of_each_stream_per_interval(tmp_path: Path) -> None:
    tree = output([udp_at(sends=False)], server=True)
    tree["intervals"] = [
        {"streams": [{"socket": 5, "seconds": 1, "bytes": 9e6, "packets": 9, "omitted": True}]},
        {"streams": [{"socket": 5, "seconds": 1, "bytes": 1e6, "packets": 9}]},
        {"streams": [{"socket": 5, "seconds": 1, "bytes": 3e6, "packets": 9}]},
    ]
    assert read(written(tmp_path, tree)).streams[0].goodput_bps == 16e6


def test_each_direction_of_datagrams_has_its_own_sum(tmp_path: Path) -> None:
    tree = output([udp_at(sends=True, sent_bps=9e6), udp_at(sends=False, socket=6)])
    tree["end"]["sum_received"] = {"bits_per_second": 4e6}
    tree["end"]["sum_received_bidir_reverse"] = {"bits_per_second": 7e6}
    goodputs = {each.direction: each.goodput_bps for each in read(written(tmp_path, tree)).streams}
    assert goodputs == {"up": 4e6, "down": 7e6}


def test_a_server_that_sends_datagrams_cannot_count_arrivals(tmp_path: Path) -> None:
    tree = output([udp_at(sends=True, lost=0, sent_bps=9e6)], reverse=1, server=True)
    tree["end"]["sum_received"] = {"bits_per_second": 0}
    seen = read(written(tmp_path, tree))
    assert seen.streams[0].direction == "down"
    assert (seen.streams[0].goodput_bps, seen.streams[0].loss_probability) == (None, None)
    assert seen.notes == ["stream 1: the number of received datagrams is not reported"]


def test_reordering_may_make_the_count_of_lost_datagrams_negative(tmp_path: Path) -> None:
    stream = udp_at(sends=True, lost=-1, packets=100, sent_bps=5e6)
    [seen] = read(written(tmp_path, output([stream]))).streams
    assert (seen.goodput_bps, seen.loss_probability) == (5e6, 0.0)


def test_a_receiving_server_does_not_count_retransmissions(tmp_path: Path) -> None:
    stream = {
        "sender": {"bytes": 0, "bits_per_second": 0, "retransmits": 0, "sender": False},
        "receiver": {"bits_per_second": 5e6},
    }
    [seen] = read(written(tmp_path, output([stream], server=True))).streams
    assert (seen.goodput_bps, seen.retransmissions, seen.loss_probability) == (5e6, None, None)


def test_an_interrupted_run_has_its_counts_so_far(tmp_path: Path) -> None:
    """If the server has stopped, the client's file has intervals and no end report."""
    tree = {**output([]), "error": "control socket has closed unexpectedly", "end": {}}
    tree["intervals"] = [
        {"streams": [{"socket": 5, "seconds": 1, "bytes": 1e6, "retransmits": 2, "rtt": 8000}]},
        {"streams": [{"socket": 5, "seconds": 1, "bytes": 2e6, "retransmits": 1, "rtt": 4000}]},
    ]
    seen = read(written(tmp_path, tree))
    [stream] = seen.streams
    assert (stream.direction, stream.goodput_bps, stream.retransmissions) == ("up", 12e6, 3)
    assert stream.rtt_s == pytest.approx(0.006)
    assert seen.notes[0].startswith("interrupted (control socket has closed unexpectedly)")
    stopped = {**output([tcp()]), "error": "interrupt - the client has terminated"}
    assert read(written(tmp_path, stopped)).streams[0].goodput_bps == 5e6


def test_text_around_a_report_is_skipped(tmp_path: Path) -> None:
    report = json.dumps(output([tcp()]), indent=1)
    text = f"warning: no route\n[ ID] Interval\n{report}\niperf Done.\n"
    assert read(written(tmp_path, text)).streams == read(written(tmp_path, report)).streams


@pytest.mark.parametrize("between", ["\n", "", "\n-----\nServer listening on 5201\n"])
def test_consecutive_reports_are_like_separate_files(between: str, tmp_path: Path) -> None:
    first, second = (json.dumps(output([tcp(rate=rate)]), indent=1) for rate in (1e6, 3e6))
    path = written(tmp_path, first + between + second)
    reports = read_all(path)
    assert [each.streams[0].goodput_bps for each in reports] == [1e6, 3e6]
    assert reports[1].source == f"{path} (report 2 of 2)"
    listed = written(tmp_path, f"[{first}, {second}]")
    assert len(read_all(listed)) == 2


def test_a_report_without_streams_among_others_is_left_out(tmp_path: Path) -> None:
    failed = json.dumps({"start": {}, "end": {}, "error": "unable to connect"})
    text = f"{failed}\n{json.dumps(output([tcp()]))}\n{json.dumps(output([tcp()]), indent=1)[:90]}"
    [seen] = read_all(written(tmp_path, text))
    assert seen.notes[:2] == [
        "the report that begins in line 3 is incomplete: left out",
        "iperf3 failed: unable to connect: left out",
    ]


def test_each_start_begins_a_report_of_events(tmp_path: Path) -> None:
    def events(rate: float, more: str = "") -> str:
        report = output([tcp(rate=rate)])
        lines = [{"event": name, "data": report[name]} for name in ("start", "end")]
        return "\n".join([*map(json.dumps, lines), *filter(None, [more])])

    two = read_all(written(tmp_path, f"{events(1e6)}\n{events(2e6)}\n"))
    assert [each.streams[0].goodput_bps for each in two] == [1e6, 2e6]
    report = json.dumps(output([tcp(rate=1e6)]))
    assert len(read_all(written(tmp_path, events(1e6, report)))) == 1
