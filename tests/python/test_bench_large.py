"""Long runs and large networks: verdicts, limits of memory, and extrapolations."""

from dataclasses import replace
from pathlib import Path

import large
import large_page
import pages
import pytest
from large import CaseResult, Slope
from large_bound import (
    FLOW,
    ITEM,
    LINK,
    PACKET,
    QUANTITY,
    Network,
    command_bytes,
    engine_bytes,
    heap,
    python_bytes,
)
from measure import process

import lasthop as lh

RUN = CaseResult("web", "web, 60 s", "engine", 60.0, 12.0, 1.0, 3.0, 9.0, 9.5, 1000)
SLOPES = [
    Slope(10_000, 0.4, 8e5, 0.2, 9000.0),
    Slope(30_000, 0.5, 2.5e6, 0.7, 9000.0),
    Slope(100_000, 0.5, 8e6, 3.0, 9000.0),
]


def test_memory_above_its_bound_or_growing_is_missed() -> None:
    assert RUN.missed() == []
    assert replace(RUN, peak_mib=9.99).missed() == []
    assert len(replace(RUN, peak_mib=10.01).missed()) == 1  # above the bound
    assert (
        len(replace(RUN, third_mib=800.0, peak_mib=815.0).missed()) == 1
    )  # above the bound, but constant
    assert len(replace(RUN, third_mib=800.0, peak_mib=820.0).missed()) == 2


def test_the_allocator_takes_steps_of_16_bytes() -> None:
    assert [heap(size) for size in (1, 24, 25, 40, 41, 328)] == [32, 32, 48, 48, 64, 336]


def test_a_bound_grows_by_flows_links_windows_and_values() -> None:
    """Compare the bound with a computation by hand: a flow through a dumbbell has 4 links, 8 window
    steps and 9 values.
    """
    network = Network(large.CASES / "campus.toml", "dumbbell.flows", 100)
    per_flow = (engine_bytes(replace(network, size=200), 1.0) - engine_bytes(network, 1.0)) / 100
    by_hand = sum(FLOW) + 4 * sum(LINK) + 8 * (4 + 32) + 42 * PACKET
    by_hand += sum(ITEM) + 9 * sum(QUANTITY)
    text = 2 * 150  # more only with longer names or numbers; the buffer is copied while it grows
    assert by_hand < per_flow < by_hand + 9 * text


def test_a_run_stays_below_its_bound_from_python() -> None:
    """A run of two thousand flows needs more memory than the program and its modules alone."""
    network = Network(large.CASES / "campus.toml", "dumbbell.flows", 2_000)
    case = large.Case("small", "", network, 0.3, 0.1)
    most_mib = python_bytes(network, 0.2) / 2**20
    usage = large.run_python(case, 0.3)
    assert usage.packets > 0
    assert most_mib / 4 < usage.peak_mib < most_mib


def test_the_command_stays_below_its_bound() -> None:
    """Its tables and its explanation need more memory than a run from Python."""
    network = Network(large.CASES / "campus.toml", "dumbbell.flows", 2_000)
    case = large.Case("small", "", network, 0.3, 0.1)
    most_mib = command_bytes(network, 0.2) / 2**20
    usage = large.run_command(case, 0.3)
    assert most_mib / 4 < usage.peak_mib < most_mib


def test_the_cost_of_a_million_is_extrapolated_from_the_last_two() -> None:
    flat = large.million(SLOPES)
    assert flat["us_per_segment"] == pytest.approx(0.5)
    assert flat["cpu_s_per_s"] == pytest.approx(40.0)
    # The set-up of n flows takes a time proportional to n log n, and 3 s for 100,000 flows.
    # For a million flows, this is 3 s * 10 * 6 / 5.
    assert flat["set_up_s"] == pytest.approx(36.0)
    assert flat["memory_gib"] == pytest.approx(9e9 / 2**30)
    assert flat["scenarios"] * flat["scenario_cpu_s_per_s"] == pytest.approx(32.0)
    dearer = [SLOPES[0], replace(SLOPES[1], us_per_segment=0.5 / (10 / 3) ** 0.5), SLOPES[2]]
    assert large.million(dearer)["us_per_segment"] == pytest.approx(0.5 * 10**0.5)


def test_tables_have_one_row_per_run_and_the_estimates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# x\n\n## Long runs and large networks\n\nNone so far.\n\n"
        "## A million flows\n\nNone so far.\n"
    )
    monkeypatch.setattr(large_page, "PAGE", page)
    monkeypatch.setattr(large_page, "stored", lambda: ([RUN], SLOPES))
    large_page.main()
    text = page.read_text()
    assert pages.NONE not in text
    assert "| web, 60 s | engine | 1.00 | 3.00 | 9.0 | 9.5 | 12 |" in text
    assert "| *one router, a million flows* | *0.50* | *40* | *36* | *8.38* |" in text
    assert "| *100 separate scenarios, each with one router and 10,000 flows: sum* | *0.4" in text


def test_output_larger_than_a_pipe_is_read() -> None:
    assert len(process(["head", "--bytes=1000000", "/dev/zero"]).output) == 1_000_000


def test_cases_are_checked_scenarios() -> None:
    for case in large.CASES_RUN:
        if case.name != "campus":
            assert case.network.scenario(case.network.size)["duration_s"] > 0.0
    assert lh.Scenario(large.CASES / "campus.toml", {"dumbbell.flows": 2})
