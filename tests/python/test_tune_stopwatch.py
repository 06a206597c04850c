"""Estimates of the duration of a search, with a clock that the test sets."""

import pytest

import lasthop as lh
from lasthop.tuning import stopwatch
from lasthop.tuning.stopwatch import Stopwatch

CELL = lh.Scenario(
    {"duration": "10 s", "cell": {"phy": "802.11b"}, "station": {"a": {"download": 1}}}
)


@pytest.mark.parametrize(
    ("ranked", "faster", "expected_s"),
    [
        (True, 1.0, 100 * 2.0 + (20 + 10) * 3.0),
        (True, 4.0, 100 * 2.0 + (20 + 10) * 3.0 / 4.0),
        # If the model does not rank the settings, all 100 settings have a short simulation.
        (False, 1.0, 100 * 2.0 + (100 + 10) * 3.0),
    ],
)
def test_each_setting_is_predicted_and_the_best_are_screened(
    monkeypatch: pytest.MonkeyPatch, ranked: bool, faster: float, expected_s: float
) -> None:
    now_s = 50.0
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now_s)
    watch = Stopwatch(CELL, settings=100, screened=20, longer=10.0, faster=faster)
    now_s = 52.0
    watch.first_is_predicted()
    now_s = 55.0
    watch.first_is_done(ranked=ranked)
    assert watch.all_s == pytest.approx(expected_s)
