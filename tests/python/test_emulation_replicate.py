"""Results of several emulations, combined into one result."""

from typing import Any

import lasthop as lh
from lasthop.emulation import Emulation
from lasthop.emulation.replicate import together

CELL = lh.Scenario(
    {
        "duration": "2 s",
        "warmup": "1 s",
        "cell": {"phy": "802.11g"},
        "station": {"one": {"upload": 1}},
    }
)


def run(*flows: tuple[str, float]) -> Emulation:
    """Return an emulation in which a program had these connections."""
    rows: list[dict[str, Any]] = [
        {
            "name": f"one/program/{number}",
            "connection": f"{kind} {number}",
            "traffic": kind,
            "goodput_bps": {"mean": goodput_bps, "ci95": None},
        }
        for number, (kind, goodput_bps) in enumerate(flows, start=1)
    ]
    own = {"name": "one/up/1", "goodput_bps": {"mean": 1.0, "ci95": None}}
    return Emulation({"duration_s": 2.0, "flows": [own, *rows]}, CELL)


def test_connections_of_the_same_kind_are_matched() -> None:
    first = run(("tcp 80 in", 10.0), ("icmp out", 1.0), ("tcp 80 in", 30.0))
    second = run(("icmp out", 3.0), ("tcp 80 in", 20.0), ("tcp 80 in", 50.0))
    flows = together([first, second]).summary["flows"]
    means = {row["name"]: row["goodput_bps"]["mean"] for row in flows}
    expected = {"one/program/1": 15.0, "one/program/2": 2.0, "one/program/3": 40.0}
    assert means == {"one/up/1": 1.0, **expected}
    assert not any("connection" in row for row in flows)  # Ports differ between runs.


def test_a_failed_program_is_named_once_in_a_warning() -> None:
    runs = [run(), run()]
    for each in runs:
        each.failed_programs = ("at server, exit code 3: exit 3",)
    warnings = together(runs).warnings
    assert warnings.count("a program has failed: at server, exit code 3: exit 3") == 1


def test_items_that_a_run_lacks_are_left_out_with_a_warning() -> None:
    first = run(("tcp 80 in", 10.0), ("udp 53 out", 1.0))
    second = run(("tcp 80 in", 10.0), ("tcp 80 in", 7.0))
    answer = together([first, second])
    assert [row["name"] for row in answer.summary["flows"]] == ["one/up/1", "one/program/1"]
    assert answer.left_out == 2
    assert any(
        "2 connections of programs are not in every run" in warning for warning in answer.warnings
    )
