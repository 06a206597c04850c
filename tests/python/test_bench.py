"""What the bench says without a simulator: who is left out and why, medians, transmissions."""

from pathlib import Path

import peers
import pytest
from measure import Cost, Run, slope


def test_htsim_is_left_out_with_the_variable_that_would_name_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a folder, with one that holds something else, and with one that holds the source."""
    monkeypatch.delenv(peers.HTSIM_SOURCE, raising=False)
    assert "LASTHOP_HTSIM names no folder" in (peers.htsim_absent() or "")

    monkeypatch.setenv(peers.HTSIM_SOURCE, str(tmp_path))
    assert f"{tmp_path} has no config.cpp" in (peers.htsim_absent() or "")

    for name in peers.HTSIM_PARTS:
        (tmp_path / f"{name}.cpp").touch()
    assert peers.htsim_absent() is None


def test_a_cost_is_the_median_of_its_rounds() -> None:
    """A round that was disturbed, either way, moves nothing: slopes of 2, 1 and 9 us."""
    spent_s = iter([1.0, 1.2, 1.0, 1.1, 0.5, 1.4])

    def run(duration_s: float) -> Run:
        return Run(next(spent_s), round(10_000 * duration_s), duration_s, 10.0)

    cost = slope(run, 10.0, 20.0, 3)
    assert cost.us_per_segment == pytest.approx(2.0)
    assert cost.long_cpu_s == pytest.approx(1.2)


def test_transmissions_are_links_of_a_segment_and_its_ack() -> None:
    """Six links and 0.2 us a segment: thirty million packets a second."""
    cost = Cost(1.0, 2.0, 1.0, 0.2, 1e4, 10.0)
    assert cost.transmissions_per_s(6) == pytest.approx(30e6)
