"""Measured pings: output of ping and irtt, and pings of flent, matched with flows of pings."""

import json
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.cli.compare import print_comparison
from lasthop.errors import UserError
from lasthop.measured.reading import read

PING = """PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.
[1700000000.100000] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=10.0 ms
[1700000000.300000] 64 bytes from host (10.0.0.1): icmp_seq=2 ttl=64 time=20.0 ms
[1700000000.301000] 64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=21.0 ms (DUP!)
[1700000000.400000] no answer yet for icmp_seq=3
[1700000000.700000] 64 bytes from 10.0.0.1: icmp_seq=4 ttl=64 time=30 ms

--- 10.0.0.1 ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, 25% packet loss, time 600ms
rtt min/avg/max/mdev = 10.000/20.000/30.000/8.165 ms
"""

IRTT: dict[str, Any] = {
    "version": {"irtt": "0.9.0"},
    "config": {},
    "stats": {"packets_sent": 4, "packets_received": 3},
    "round_trips": [
        {"seqno": 0, "lost": "false", "delay": {"rtt": 10_000_000}},
        {"seqno": 1, "lost": "true_down"},
        {"seqno": 2, "lost": "false", "delay": {"rtt": 20_000_000}},
        {"seqno": 3, "lost": "false", "delay": {"rtt": 30_000_000}},
    ],
}

SCENARIO = {
    "duration": "2 s",
    "replications": 1,
    "cell": {"phy": "802.11g"},
    "station": {"a": {"ping": "50 ms", "upload": 1, "download": 1}},
}


def written(tmp_path: Path, content: Any, name: str = "x") -> Path:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(("content", "program"), [(PING, "ping"), (IRTT, "irtt")])
def test_round_trips_and_losses_are_read(content: Any, program: str, tmp_path: Path) -> None:
    [measurement] = read(written(tmp_path, content))
    [stream] = measurement.streams
    assert (measurement.program, stream.transport, stream.direction) == (program, "ping", "up")
    assert stream.quantities() == pytest.approx(
        {
            "rtt_s": 0.02,
            "rtt_p50_s": 0.02,
            "rtt_p95_s": 0.03,
            "rtt_p99_s": 0.03,
            "loss_probability": 0.25,
        }
    )


def test_a_log_that_was_cut_short_counts_the_gaps_between_numbers(tmp_path: Path) -> None:
    cut = PING.partition("\n---")[0]
    [measurement] = read(written(tmp_path, cut))
    assert measurement.streams[0].loss_probability == pytest.approx(0.25)
    assert measurement.notes == [
        "the output ends without a summary: lost pings are those between two replies"
    ]


def test_numbers_that_start_again_after_65535_are_continued(tmp_path: Path) -> None:
    lines = [
        f"64 bytes from 10.0.0.1: icmp_seq={number % 65536} ttl=64 time=1 ms"
        for number in range(65530, 65541)
    ]
    [measurement] = read(written(tmp_path, "\n".join(lines)))
    assert measurement.streams[0].loss_probability == 0.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PING + PING, "has the output of several runs of ping: expected one per file"),
        (
            PING.splitlines()[0] + "\n",
            "no replies: expected output of ping with at least one reply",
        ),
        ({**IRTT, "round_trips": []}, "irtt completed no round trip"),
        ({**IRTT, "round_trips": [{"delay": {"rtt": "x"}}]}, r"round_trips\[0\].delay.rtt`: \"x\""),
    ],
)
def test_files_without_round_trips_are_refused(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, content))


def rrul(*pings: str) -> dict[str, Any]:
    """Return a measurement by flent with a download, an upload and series of pings."""
    values = {"TCP upload": [5.0, 5.0], "TCP download": [9.0, 9.0]}
    values |= {name: [20.0, 40.0] for name in pings}
    return {"metadata": {"SERIES_META": {}}, "x_values": [0, 1], "results": values}


def test_a_file_of_flent_is_compared_row_by_row(tmp_path: Path) -> None:
    file = written(tmp_path, rrul("Ping (ms) ICMP", "Ping (ms) UDP BE", "Ping (ms) avg"), "r.flent")
    comparison = lh.compare(SCENARIO, measured=file, model=None)
    rows = {(row.name, row.quantity): row for row in comparison.rows if row.list == "flows"}
    assert rows["a/up/1", "goodput_bps"].measured == pytest.approx(5e6)
    assert rows["a/down/1", "goodput_bps"].measured == pytest.approx(9e6)
    for quantity in ("rtt_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s"):
        row = rows["a/ping/1", quantity]
        assert row.simulated is not None
        assert row.measured is not None
    assert rows["a/ping/1", "rtt_s"].measured == pytest.approx(0.03)
    assert ("a/up/1", "rtt_p99_s") not in rows
    assert comparison.measured is not None
    matched = "\n".join(comparison.measured.matched)
    assert "Ping (ms) ICMP is a/ping/1, by order" in matched
    assert "Ping (ms) UDP BE: mean 30 ms, not compared" in matched
    assert "Ping (ms) avg: mean 30 ms, not compared" in matched


def test_a_log_of_ping_is_that_of_the_named_station(tmp_path: Path) -> None:
    pairs = [("a", written(tmp_path, PING))]
    tree = {**SCENARIO, "station": {**SCENARIO["station"], "b": {"ping": "50 ms"}}}
    comparison = lh.compare(tree, measured=pairs, model=None)
    rows = {(row.name, row.quantity): row.measured for row in comparison.rows}
    assert rows["a/ping/1", "loss_probability"] == pytest.approx(0.25)
    assert rows["b/ping/1", "loss_probability"] is None


def test_pings_without_a_flow_of_pings_are_not_compared(tmp_path: Path) -> None:
    tree = {**SCENARIO, "station": {"a": {"upload": 1, "download": 1}}}
    comparison = lh.compare(tree, measured=written(tmp_path, rrul("Ping (ms) ICMP")), model=None)
    assert comparison.measured is not None
    matched = "\n".join(comparison.measured.matched)
    assert "Ping (ms) ICMP: mean 30 ms, not compared: the scenario has no pings" in matched
    assert 'add `ping = "200 ms"`' in matched


def test_tables_show_how_far_measured_values_are_from_simulated_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [("a", written(tmp_path, PING))]
    comparison = lh.compare(SCENARIO, measured=pairs, model=None)
    [row] = [
        each for each in comparison.rows if (each.name, each.quantity) == ("a/ping/1", "rtt_s")
    ]
    assert row.measured is not None
    assert row.simulated is not None
    difference_s, half_s = row.measured_difference or (None, None)
    assert difference_s == pytest.approx(row.measured - row.simulated)
    assert half_s == pytest.approx(row.ci95 or 0.0)
    print_comparison(comparison, {})
    printed = capsys.readouterr().out
    ending = f" {1e3 * (row.measured - row.simulated):+.3f}"
    assert any("a/ping/1" in line and line.endswith(ending) for line in printed.splitlines())
    assert "measured - simulated" in printed
    assert " predicted " in printed
    assert "measured - simulated" in comparison._repr_html_()


def test_a_comparison_without_a_model_has_no_column_of_predictions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    station = {"a": {"download": {"rate": "1 Mbps"}}}
    comparison = lh.compare({**SCENARIO, "station": station})
    assert comparison.prediction is None
    print_comparison(comparison, {})
    [heads] = [line for line in capsys.readouterr().out.splitlines() if "quantity " in line]
    assert heads.split() == ["quantity", "item", "simulated"]
