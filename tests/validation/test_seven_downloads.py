"""Paper 003, section 6: seven downloads with a receive window of four packets, 802.11b."""

from pathlib import Path

import pytest

import lasthop as lh

EXAMPLE = Path(__file__).parents[2] / "examples" / "seven-downloads.toml"


@pytest.mark.parametrize(("cwmin", "expected_mbps"), [(31, 4.45), (15, 4.50)])
def test_aggregate_goodput_within_one_per_cent(cwmin, expected_mbps):
    # Independent packet simulations of the same cell; the paper's figure 5a reads 4.46 and 4.56.
    result = lh.simulate(EXAMPLE, replications=5, settings={"cell.cwmin": cwmin})
    cell = result.cells.iloc[0]
    assert cell.goodput_bps_ci95 < 0.003 * cell.goodput_bps
    assert cell.goodput_bps / 1e6 == pytest.approx(expected_mbps, rel=0.01)


def test_the_seven_share_alike():
    result = lh.simulate(EXAMPLE, replications=5)
    assert result.cells.iloc[0].jain > 0.999
