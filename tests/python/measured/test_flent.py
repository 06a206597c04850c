"""Measurements of flent: the format of its files, and faults in files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.measured.flent import category_of
from lasthop.measured.observed import Measurement
from lasthop.measured.of_scenario import measurements
from lasthop.measured.reading import read as read_all

FLENT: dict[str, Any] = {
    "version": 4,
    "metadata": {"SERIES_META": {"TCP download BE": {"UNITS": "Mbits/s", "MEAN_VALUE": 30.0}}},
    "x_values": [0, 1, 2, 3],
    "results": {
        "TCP upload::1": [None, 2.0, 4.0, None],
        "TCP upload::10": [1.0, 1.0, 1.0, 1.0],
        "TCP upload::2": [None, 5.0, None, None],
        "TCP upload::1::tcp_rtt": [None, 20.0, 40.0, None],
        "TCP upload sum": [None, 8.0, 10.0, None],
        "TCP download BE": [29.0, 31.0, 33.0, None],
        "Ping (ms) ICMP": [10.0, 20.0, None, 30.0],
    },
}


def read(path: Path) -> Measurement:
    """Return the only measurement of a file."""
    [measurement] = read_all(path)
    return measurement


def written(tmp_path: Path, tree: Any, name: str = "x.flent") -> Path:
    path = tmp_path / name
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return path


def test_streams_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    seen = read(written(tmp_path, FLENT))
    assert seen.program == "flent"
    assert [(each.name, each.direction) for each in seen.streams] == [
        ("TCP download BE", "down"),
        ("TCP upload::1", "up"),
        ("TCP upload::2", "up"),
        ("TCP upload::10", "up"),
        ("Ping (ms) ICMP", "up"),
    ]


def test_rates_are_averages_unless_the_program_reports_a_rate(tmp_path: Path) -> None:
    down, first, *_ = read(written(tmp_path, FLENT)).streams
    assert first.goodput_bps == pytest.approx(3e6)
    assert first.rtt_s == pytest.approx(0.03)
    assert down.goodput_bps == pytest.approx(30e6)
    assert down.rtt_s is None


def test_pings_are_reported_and_are_not_the_round_trip_of_a_flow(tmp_path: Path) -> None:
    measurement = read(written(tmp_path, FLENT))
    assert measurement.notes == []
    [ping] = [each for each in measurement.streams if each.transport == "ping"]
    assert (ping.name, ping.goodput_bps) == ("Ping (ms) ICMP", None)
    assert ping.rtt_s == ping.rtt_p50_s == pytest.approx(0.02)
    assert ping.rtt_p99_s == pytest.approx(0.03)
    assert ping.loss_probability is None  # The series does not contain the number of requests.


def test_raw_values_of_pings_have_the_numbers_of_lost_requests(tmp_path: Path) -> None:
    raw = [{"seq": seq, "t": float(seq), "val": float(seq)} for seq in (1, 2, 4, 5)]
    tree = {**FLENT, "raw_values": {"Ping (ms) ICMP": raw}}
    [ping] = [s for s in read(written(tmp_path, tree)).streams if s.transport == "ping"]
    assert ping.rtt_s == pytest.approx(0.003)
    assert ping.rtt_p99_s == pytest.approx(0.005)
    assert ping.loss_probability == pytest.approx(0.2)


def test_averages_of_pings_are_not_compared(tmp_path: Path) -> None:
    tree = {**FLENT, "results": {**FLENT["results"], "Ping (ms) avg": [10.0, 30.0, None, None]}}
    assert read(written(tmp_path, tree)).notes == ["Ping (ms) avg: mean 20 ms, not compared"]


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "x.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(FLENT).encode()))
    assert len(read(path).streams) == 5


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-5, r"`results.TCP upload::1\[1\]`: -5 is not a number from 0"),
        ("fast", r"`results.TCP upload::1\[1\]`: \"fast\""),
        (True, r"`results.TCP upload::1\[1\]`: true"),
        (float("nan"), "has NaN, which is not a number in JSON"),
        (float("inf"), "has Infinity"),
        (10**400, r"`results.TCP upload::1\[1\]`"),
        ([[]], r"`results.TCP upload::1\[1\]`"),
    ],
)
def test_an_impossible_value_is_reported_with_its_position(
    value: object, message: str, tmp_path: Path
) -> None:
    tree = json.loads(json.dumps(FLENT))
    tree["results"]["TCP upload::1"][1] = value
    with pytest.raises(UserError, match=message) as error:
        read(written(tmp_path, tree))
    assert str(error.value).startswith(str(tmp_path / "x.flent"))
    assert len(str(error.value)) < 300


def test_a_file_without_streams_is_refused_with_its_content(tmp_path: Path) -> None:
    tree = {**FLENT, "results": {"HTTP latency": [1.0]}}
    with pytest.raises(UserError, match=r"no series of a TCP or UDP upload.* HTTP"):
        read(written(tmp_path, tree))


GARBAGE = {
    "empty": (b"", "is empty"),
    "text": (b"hello\n", "is not JSON: .*; expected .flent"),
    "cut short": (json.dumps(FLENT).encode()[:200], "is not JSON"),
    "half of gzip": (gzip.compress(json.dumps(FLENT).encode())[:90], "compressed, and damaged"),
    "binary": (bytes(range(256)), "is binary"),
    "deep nesting": (b"[" * 200_000, "nested more deeply"),
    "another program's": (
        b'{"speed": 5}',
        "not a measurement: expected a file of flent .*, of iperf3 --json",
    ),
    "a list": (b"[1, 2]", "not a measurement: expected a file of flent"),
    "a prediction": (
        b'{"kind": "prediction", "scenario": "x", "version": "1"}',
        "a prediction of lasthop; expected an emulation",
    ),
    "a bomb": (gzip.compress(b" " * (70 << 20)), "has more than 67 MB"),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_refused_in_one_line_with_the_file(what: str, tmp_path: Path) -> None:
    content, message = GARBAGE[what]
    path = tmp_path / "odd.flent"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_encodings_of_windows_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = tmp_path / encoding
        path.write_bytes(json.dumps(FLENT, indent=1).replace("\n", "\r\n").encode(encoding))
        assert len(read(path).streams) == 5


def test_series_that_flent_computes_are_not_streams(tmp_path: Path) -> None:
    """Series that flent computes from other series, such as sums, are ignored. They are recognised
    by the runner or by the name, because even a fairness index has the unit of a rate.
    """
    tree: dict[str, Any] = {"results": {}, "x_values": [0], "metadata": {"SERIES_META": {}}}
    names = {
        "TCP upload 1": None,
        "TCP upload sum": "SumRunner",
        "TCP upload avg": "AverageRunner",
        "TCP upload fairness": None,
        "TCP upload total": None,
        "TCP upload Torrent sum": None,
        "TCP upload smooth": "SmoothAverageRunner",
        "TCP totals": "SumRunner",
    }
    for name, runner in names.items():
        tree["results"][name] = [0.9]
        tree["metadata"]["SERIES_META"][name] = {"UNITS": "Mbits/s", "RUNNER": runner}
    seen = read(written(tmp_path, tree))
    assert [each.name for each in seen.streams] == ["TCP upload 1"]
    assert seen.notes == []


def test_the_command_determines_the_direction_if_the_name_does_not(tmp_path: Path) -> None:
    """The option `--swap-up-down` changes only the recorded command. The name `TCP cubic` has no
    direction.
    """
    commands = {
        "TCP upload": "netperf -P 0 -t TCP_MAERTS -l 60",
        "TCP cubic": "netperf -P 0 -t TCP_STREAM -l 60",
        "TCP reno": None,
    }
    about = {name: {"UNITS": "Mbits/s", "COMMAND": text} for name, text in commands.items()}
    tree = {
        "results": {name: [5.0] for name in commands},
        "x_values": [0],
        "metadata": {"SERIES_META": about},
    }
    seen = read(written(tmp_path, tree))
    directions = {each.name: each.direction for each in seen.streams}
    assert directions == {"TCP upload": "down", "TCP cubic": "up"}
    assert seen.notes == ["left out, since no flow is of their kind or direction: TCP reno"]


def of_voip(tmp_path: Path, series: dict[str, list[Any]], **more: Any) -> Measurement:
    """Return the measurement of a file with VoIP series."""
    results = {f"VoIP::{name}": values for name, values in series.items()}
    return read(written(tmp_path, {"results": results, "x_values": [0], **more}))


def test_voip_is_a_stream_of_datagrams_with_its_one_way_delay(tmp_path: Path) -> None:
    seen = of_voip(
        tmp_path,
        {"bitrate": [70.0, None, 74.0], "delay": [20.0, 30.0, None], "jitter": [0.5], "loss": [0]},
    )
    [stream] = seen.streams
    assert (stream.direction, stream.transport) == ("up", "udp")
    assert stream.goodput_bps == 72e3
    assert stream.one_way_delay_s == pytest.approx(0.025)
    assert stream.loss_probability == 0.0
    assert "VoIP::jitter: mean 0.5 ms" in seen.notes[0]


def test_voip_losses_need_the_number_of_packets(tmp_path: Path) -> None:
    series: dict[str, list[Any]] = {"delay": [20.0], "loss": [1, 0, 4]}
    assert of_voip(tmp_path, series).streams[0].loss_probability is None
    about = {"SERIES_META": {"VoIP": {"PACKETS_SENT": 50}}}
    [of_irtt] = of_voip(tmp_path, series, metadata=about).streams
    raw = {"VoIP": [{"t": 0.0, "val": 1.0}] * 45}
    [of_ditg] = of_voip(tmp_path, series, raw_values=raw).streams
    assert (of_irtt.loss_probability, of_ditg.loss_probability) == (0.1, 0.1)


def test_a_negative_one_way_delay_means_that_clocks_differ(tmp_path: Path) -> None:
    seen = of_voip(tmp_path, {"delay": [-3.0, 4.0], "bitrate": [70.0]})
    assert seen.streams[0].one_way_delay_s is None
    assert "the clocks differ" in seen.notes[0]


def test_statistics_of_qdiscs_are_queues(tmp_path: Path) -> None:
    """`dropped` counts per interval, but `sent_pkts` counts since the qdisc was installed."""
    results = {
        "qdisc_stats_router::delay": [10.0, 30.0],
        "qdisc_stats_router::backlog_pkts": [4.0, 6.0],
        "qdisc_stats_router::dropped": [0.0, 10.0],
        "qdisc_stats_router::sent_pkts": [1000.0, 1090.0],
        "qdisc_stats_router::drop_next": [-0.9, 5.0],
        "qdisc_stats_laptop::backlog_pkts": [7.0],
        "qdisc-stats::backlog_bytes": [9.0],
    }
    metadata = {"LOCAL_HOST": "laptop"}
    seen = read(written(tmp_path, {"results": results, "x_values": [0], "metadata": metadata}))
    router, own = seen.queues
    assert (router.host, router.sojourn_s, router.packets) == ("router", 0.02, 5.0)
    assert router.drop_probability == pytest.approx(0.1)
    assert (own.host, own.sojourn_s, own.packets) == ("", None, 7.0)


def test_the_sending_rate_of_datagrams_is_not_a_goodput(tmp_path: Path) -> None:
    """If the server of iperf did not answer, the file has only the sending rates, and null for the
    mean that the server measures.
    """
    about: dict[str, Any] = {"UDP upload": {"UNITS": "Mbits/s", "MEAN_VALUE": None}}
    results = {"UDP upload": [100.0, 100.0], "TCP download": [5.0]}
    tree = {"results": results, "x_values": [0], "metadata": {"SERIES_META": about}}
    seen = read(written(tmp_path, tree))
    assert [each.name for each in seen.streams] == ["TCP download"]
    assert "UDP upload: the receiver reported nothing" in seen.notes[0]
    about["UDP upload"]["MEAN_VALUE"] = 20.0
    streams = {each.name: each for each in read(written(tmp_path, tree)).streams}
    assert streams["UDP upload"].goodput_bps == 20e6
    assert streams["UDP upload"].transport == "udp"


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("TCP upload BE", "best-effort"),
        ("TCP download BK::2", "background"),
        ("TCP upload CS5", "video"),
        ("TCP upload EF", "voice"),
        ("TCP upload BE2", "best-effort"),
        ("TCP upload::1", ""),
        ("TCP upload BEAR", ""),
    ],
)
def test_marks_in_names_are_access_categories(name: str, category: str) -> None:
    assert category_of(name) == category


def test_streams_of_rrul_are_the_flows_of_their_access_categories(tmp_path: Path) -> None:
    marks = {"BE": 2.0, "BK": 1.0, "CS5": 3.0, "EF": 4.0}
    series = {f"TCP upload {mark}": [rate, rate] for mark, rate in marks.items()}
    path = written(tmp_path, {"version": 4, "x_values": [0, 1], "metadata": {}, "results": series})
    names = {"a": "best-effort", "v": "voice", "k": "background", "d": "video"}
    stations = {name: {"upload": {"category": own}} for name, own in names.items()}
    cell = {"phy": "802.11n"}
    scenario = lh.Scenario({"duration": "1 s", "cell": cell, "station": stations})
    seen = measurements(scenario, path)
    assert seen is not None
    goodputs = {
        name: each["goodput_bps"]["mean"] / 1e6 for name, each in seen.items("stations").items()
    }
    assert goodputs == {"a": 2.0, "v": 4.0, "k": 1.0, "d": 3.0}
