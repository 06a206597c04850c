"""The bench without simulators: missing simulators with reasons, medians, and estimates of
costs.
"""

from pathlib import Path

import growth
import growth_page
import peers
import pytest
from growth import Entry
from measure import BenchError, Cost, Run, Stopped, limited, process, slope


def test_a_missing_htsim_is_skipped_with_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The variable is unset, then it names another folder, then the folder with the source of
    htsim.
    """
    monkeypatch.delenv(peers.HTSIM_SOURCE, raising=False)
    assert "LASTHOP_HTSIM names no folder" in (peers.htsim_absent() or "")

    monkeypatch.setenv(peers.HTSIM_SOURCE, str(tmp_path))
    assert f"{tmp_path} has no config.cpp" in (peers.htsim_absent() or "")

    for name in peers.HTSIM_PARTS:
        (tmp_path / f"{name}.cpp").touch()
    assert peers.htsim_absent() is None


def test_a_cost_is_the_median_of_its_rounds() -> None:
    """One disturbed round does not change the median. The costs of the rounds are 2, 1 and 9 us."""
    spent_s = iter([1.0, 1.2, 1.0, 1.1, 0.5, 1.4])

    def run(duration_s: float) -> Run:
        return Run(next(spent_s), round(10_000 * duration_s), duration_s, 10.0)

    cost = slope(run, 10.0, 20.0, 3)
    assert cost.us_per_segment == pytest.approx(2.0)
    assert cost.long_cpu_s == pytest.approx(1.2)


def test_transmissions_are_links_of_a_segment_and_its_ack() -> None:
    """With six links and a cost of 0.2 us per segment, thirty million packets are transmitted per
    second.
    """
    cost = Cost(1.0, 2.0, 1.0, 0.2, 1e4, 10.0)
    assert cost.transmissions_per_s(6) == pytest.approx(30e6)


def entry(simulator: str, size: int, round_s: float, **more: object) -> Entry:
    """Return a measurement with a cost of 2 us per segment, at a number of flows."""
    values = {"axis": "flows", "rounds": 3, "us_per_segment": 2.0, "segments_per_s": 1e4}
    values |= {"peak_rss_mb": 10.0, "size": size, "simulator": simulator, "round_s": round_s}
    return Entry(**(values | more))  # type: ignore[arg-type]


def test_the_cost_of_the_next_point_is_extrapolated_from_two_points() -> None:
    """A run with ten times the segments takes ten times as long if the cost of a segment is
    constant. If the cost of a segment also grows tenfold, the run takes a hundred times as long. A
    decrease of the cost is not extrapolated.
    """
    first, second = entry("ns-2", 60, 2.0), entry("ns-2", 600, 200.0)
    assert growth.estimate_s([], [1e6], 60) == 0.0
    assert growth.estimate_s([first], [1e6, 1e7], 600) == pytest.approx(20.0)
    assert growth.estimate_s([first, second], [1e6, 1e7, 1e8], 6000) == pytest.approx(20_000.0)
    # The runs have the same number of segments, but the cost of a segment grows with the cell.
    assert growth.estimate_s([first, second], [1e6, 1e6, 1e6], 6000) == pytest.approx(20_000.0)
    cheaper = entry("ns-2", 600, 10.0)
    assert growth.estimate_s([first, cheaper], [1e6, 1e7, 1e8], 6000) == pytest.approx(100.0)


def test_a_slow_simulator_stops_and_says_how_long_it_would_take() -> None:
    """A simulator is not run at a size that would take more than ten minutes, nor at larger sizes.
    lasthop is run at every size.
    """
    by_name = {simulator.name: simulator for simulator in growth.SIMULATORS}
    long = [entry("ns-2", 600, 100.0)]
    assert growth.reason(by_name["ns-2"], long, [1e6, 5e6], 6000, growth.BUDGET_S) is None
    reason = growth.reason(by_name["ns-2"], long, [1e6, 1.2e7], 6000, growth.BUDGET_S)
    assert reason == "would take 20 min"
    reason = growth.reason(by_name["ns-2"], long, [1e6, 1e9], 6000, growth.BUDGET_S)
    assert reason == "would take 1,667 min"
    stopped = [entry("ns-2", 600, 0.0, us_per_segment=None)]
    assert growth.reason(by_name["ns-2"], stopped, [1e6], 6000, growth.BUDGET_S) == "stopped before"
    assert growth.reason(by_name["lasthop"], long, [1e6, 1e9], 6000, growth.BUDGET_S) is None


def test_commands_contain_the_settings_of_the_point() -> None:
    """The queue of a router grows with its number of flows. Some simulators do not support a
    cell.
    """
    wide = next(each for each in growth.POINTS if each.size == 6000)
    assert wide.settings(1.0)["dumbbell.bottleneck"] == "10000000000 bps"
    assert growth.htsim(wide, ["9", "1", "1"])[1:] == [*"911", "6000", "10", "1500", "bare"]  # type: ignore[index]
    cell = next(each for each in growth.POINTS if each.axis == "connections" and each.size == 700)
    assert growth.htsim(cell, []) is None
    assert growth.ns2(cell, [])[-3:] == ["7", "100", "1000"]


def test_a_command_that_takes_too_long_is_stopped() -> None:
    """A run that the kernel stops by a signal is marked as too long. Other failures are reported as
    failures.
    """
    assert limited(["ns"], 600.0, 8.0)[1:3] == ["--cpu=600", f"--as={8 * 2**30}"]
    with pytest.raises(Stopped):
        process(limited(["sh", "-c", "kill -XCPU $$"], 1.0, 1.0))
    with pytest.raises(BenchError, match="exited with 3"):
        process(limited(["sh", "-c", "exit 3"], 1.0, 1.0))


def test_a_row_has_costs_transmissions_and_reasons() -> None:
    """With six links, 2 us per segment are three million transmissions per second. The row marks a
    throughput that differs by 10 %.
    """
    entries = [
        entry("lasthop", 60, 1.0),
        entry("ns-2", 60, 1.0, segments_per_s=1.1e4),
        entry("ns-3", 60, 0.0, us_per_segment=None, why="would take 20 min"),
    ]
    assert list(growth_page.rows(entries))[-1] == (
        "| router, 60 flows | 2 (3) | 2 (3, +10%) | not run: would take 20 min |"
    )
