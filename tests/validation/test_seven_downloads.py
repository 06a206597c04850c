"""Paper 003, section 6: seven downloads with a receive window of four packets, 802.11b.

The cell is simulated by the engine and by a Monte Carlo that was written independently.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import lasthop as lh

sys.path.append(str(Path(__file__).parent))

from seven_downloads import Run, mean_and_ci95, simulate

EXAMPLE = Path(__file__).parents[2] / "examples" / "seven-downloads.toml"

REPLICATIONS, DURATION_S = 5, 150.0

LEFT_OUT = 0.001
"""Allowed relative error of the goodput due to the simplifications of the Monte Carlo. [-]

The Monte Carlo has no slow start, and does not discard frames after their last attempt. In runs of
1000 s, the goodputs of engine and Monte Carlo differ by less than 0.05 % at CWmin 15 and 31.
"""


class Both(NamedTuple):
    """Results of the engine and of the Monte Carlo for the cell, at one CWmin."""

    engine: lh.Result
    runs: list[Run]


@pytest.fixture(
    scope="module",
    params=[31, *(pytest.param(cwmin, marks=pytest.mark.slow) for cwmin in (15, 7))],
    ids="CWmin {}".format,
)
def both(request: pytest.FixtureRequest) -> Both:
    # The minimum RTO is 1 s, because the Monte Carlo has no timeouts.
    # With the default of 200 ms, some segments at CWmin 7 are retransmitted after a timeout.
    # These retransmissions cost 0.4 % of the goodput.
    settings = {
        "cell.cwmin": request.param,
        "duration": f"{DURATION_S} s",
        "tcp.min_rto": "1 s",
    }
    return Both(
        lh.simulate(EXAMPLE, replications=REPLICATIONS, settings=settings),
        [simulate(request.param, DURATION_S, seed) for seed in range(1, REPLICATIONS + 1)],
    )


def test_engine_and_monte_carlo_have_the_same_goodput(both: Both) -> None:
    cell = both.engine.cells.iloc[0]
    expected_bps, ci95_bps = mean_and_ci95([sum(run.goodputs_bps) for run in both.runs])
    assert cell.goodput_bps_ci95 < 0.003 * expected_bps
    assert ci95_bps < 0.003 * expected_bps
    allowed_bps = (cell.goodput_bps_ci95**2 + ci95_bps**2) ** 0.5 + LEFT_OUT * expected_bps
    assert cell.goodput_bps == pytest.approx(expected_bps, abs=allowed_bps)


def test_as_many_attempts_collide_in_both(both: Both) -> None:
    # The tolerance of 0.004 is twice the uncertainty of five replications.
    stations = sum(sum(run.collided[:-1]) for run in both.runs) / sum(
        sum(run.sent[:-1]) for run in both.runs
    )
    access_point = sum(run.collided[-1] for run in both.runs) / sum(
        run.sent[-1] for run in both.runs
    )
    assert both.engine.stations["collision_rate"].mean() == pytest.approx(stations, abs=0.004)
    assert both.engine.aps["collision_rate"].mean() == pytest.approx(access_point, abs=0.004)


def test_the_seven_share_alike_in_both(both: Both) -> None:
    assert both.engine.cells.iloc[0].jain > 0.999
    for run in both.runs:
        squares = sum(goodput_bps**2 for goodput_bps in run.goodputs_bps)
        assert sum(run.goodputs_bps) ** 2 / (len(run.goodputs_bps) * squares) > 0.999
