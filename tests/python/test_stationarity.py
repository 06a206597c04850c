"""A warning is printed if a simulation is measured before its steady state."""

import json
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.warnings.stationarity import unsteady_runs

from .conftest import EXAMPLES, Lasthop

CELL = """\
duration = "20 s"
warmup = "2 s"
cell = { phy = "802.11b" }
station.a.download = 2
"""


def halves(first: float, second: float, ci95: float | None = 1e4) -> str:
    """Return goodputs of downloads in two halves of a run, in the format of the engine."""
    down = [{"mean": first, "ci95": ci95}, {"mean": second, "ci95": ci95}]
    none = [{"mean": 0.0, "ci95": 0.0}] * 2
    return json.dumps({"up": none, "down": down, "other": none})


def unsteady(halves: str, text: str = CELL, rtt_s: float = 0.1, **settings: object) -> list[str]:
    """Return the warnings for these two halves, in a scenario with this round-trip time."""
    summary = {"flows": [{"name": "a/down/1", "rtt_s": {"mean": rtt_s, "ci95": None}}]}
    return unsteady_runs(lh.Scenario(text, list(settings.items())).typed, summary, halves)


def test_a_warm_up_shorter_than_ten_round_trips_is_named_with_a_longer_warm_up() -> None:
    assert unsteady(halves(1e6, 1e6), rtt_s=0.2) == []
    [line] = unsteady(halves(1e6, 1e6), rtt_s=0.204)
    assert line == (
        "`warmup` = 2 s is shorter than 10 round trips of a/down/1, of 0.2 s: means may be of the "
        "start; 2.1 s is long enough"
    )


@pytest.mark.parametrize(
    "flow",
    ["download.segments = 100", 'download.start = "3 s"'],
)
def test_flows_that_end_or_come_late_need_no_warm_up(flow: str) -> None:
    text = CELL.replace("download = 2", flow)
    assert unsteady(halves(1e6, 2e6), text, rtt_s=1.0) == []


def test_halves_that_differ_by_more_than_their_intervals_are_reported() -> None:
    [line] = unsteady(halves(5e6, 6e6, 4e5))
    assert line == (
        "the goodput of downloads is 5.0 ± 0.4 Mb/s in the first half of the measured time and "
        "6.0 ± 0.4 in the second: the run is not in a steady state; a `warmup` longer than 2 s, or "
        "a longer `duration`, may help"
    )
    assert unsteady(halves(5e6, 6e6, 6e5)) == []


def test_halves_within_two_per_cent_or_of_a_single_run_are_not_reported() -> None:
    assert unsteady(halves(1e6, 1.015e6, 0.0)) == []
    assert unsteady(halves(1e6, 2e6, None)) == []
    assert unsteady("null") == []


def test_a_channel_that_changes_makes_halves_differ() -> None:
    text = CELL + 'station.a.channel.later = { at = "9 s", error_down = 0.5 }\n'
    assert unsteady(halves(1e6, 2e6), text) == []


def test_halves_add_up_to_the_whole() -> None:
    result = lh.simulate(CELL, replications=2)
    of = json.loads(result._output.halves_json)
    total = float(result.flows["goodput_bps"].sum())
    assert sum(half["mean"] for half in of["down"]) / 2.0 == pytest.approx(total)
    assert [half["mean"] for half in of["up"] + of["other"]] == [0.0] * 4
    assert of["down"][0]["ci95"] > 0.0
    assert result.warnings == []


def test_a_run_without_a_steady_state_warns_only_on_standard_error(lasthop: Lasthop) -> None:
    short = ("--set", "warmup=0.5 s", "--set", "duration=5 s", "--set", "replications=2")
    done = lasthop("simulate", EXAMPLES / "dumbbell.toml", "--json", *short)
    assert done.returncode == 0
    assert "warning: `warmup` = 0.5 s is shorter than 10 round trips" in done.stderr
    assert "warnings" not in json.loads(done.stdout)


@pytest.mark.parametrize("example", ["two-rates.toml", "vbs.toml", "csma.toml"])
def test_examples_are_in_a_steady_state(example: str) -> None:
    path: Path = EXAMPLES / example
    assert not any("warmup" in line for line in lh.simulate(path, replications=2).warnings)
