"""Measurements of flent: the form of its files, and what is wrong with some."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lasthop.errors import UserError
from lasthop.measured.observed import Measurement
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
    """The only report of a file."""
    [measurement] = read_all(path)
    return measurement


def written(tmp_path: Path, tree: Any, name: str = "x.flent") -> Path:
    path = tmp_path / name
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return path


def test_streams_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    seen = read(written(tmp_path, FLENT))
    assert seen.program == "flent"
    assert [(each.name, each.direction) for each in seen.streams] == [
        ("TCP download BE", "down"),
        ("TCP upload::1", "up"),
        ("TCP upload::2", "up"),
        ("TCP upload::10", "up"),
    ]


def test_rates_are_means_and_the_programs_own_where_it_says_one(tmp_path: Path) -> None:
    down, first, *_ = read(written(tmp_path, FLENT)).streams
    assert first.goodput_bps == pytest.approx(3e6)
    assert first.rtt_s == pytest.approx(0.03)
    assert down.goodput_bps == pytest.approx(30e6)
    assert down.rtt_s is None


def test_pings_are_told_and_are_no_flows_round_trip(tmp_path: Path) -> None:
    assert read(written(tmp_path, FLENT)).notes == [
        "Ping (ms) ICMP: mean 20 ms, beside the flows of the scenario"
    ]


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "x.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(FLENT).encode()))
    assert len(read(path).streams) == 4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-5, r"`results.TCP upload::1\[1\]`: -5 is not a number from 0"),
        ("fast", r"`results.TCP upload::1\[1\]`: \"fast\""),
        (True, r"`results.TCP upload::1\[1\]`: true"),
        (float("nan"), "has NaN, which is no number of JSON"),
        (float("inf"), "has Infinity"),
        (10**400, r"`results.TCP upload::1\[1\]`"),
        ([[]], r"`results.TCP upload::1\[1\]`"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_place(
    value: object, message: str, tmp_path: Path
) -> None:
    tree = json.loads(json.dumps(FLENT))
    tree["results"]["TCP upload::1"][1] = value
    with pytest.raises(UserError, match=message) as error:
        read(written(tmp_path, tree))
    assert str(error.value).startswith(str(tmp_path / "x.flent"))
    assert len(str(error.value)) < 300


def test_a_file_without_streams_says_what_it_has(tmp_path: Path) -> None:
    tree = {**FLENT, "results": {"Ping (ms) ICMP": [1.0]}}
    with pytest.raises(UserError, match=r"no series of a TCP or UDP upload.* Ping"):
        read(written(tmp_path, tree))


GARBAGE = {
    "empty": (b"", "is empty"),
    "text": (b"hello\n", "is not JSON: .*; allowed are .flent"),
    "cut short": (json.dumps(FLENT).encode()[:200], "is not JSON"),
    "half of gzip": (gzip.compress(json.dumps(FLENT).encode())[:90], "compressed, and damaged"),
    "binary": (bytes(range(256)), "is binary"),
    "deep nesting": (b"[" * 200_000, "nested more deeply"),
    "another program's": (b'{"speed": 5}', "neither of flent .* nor of iperf3"),
    "a list": (b"[1, 2]", "neither of flent"),
    "a prediction": (
        b'{"kind": "prediction", "scenario": "x", "version": "1"}',
        "a prediction of lasthop; allowed are an emulation",
    ),
    "a bomb": (gzip.compress(b" " * (70 << 20)), "has more than 67 MB"),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_refused_in_a_line_with_the_file(what: str, tmp_path: Path) -> None:
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
        assert len(read(path).streams) == 4
