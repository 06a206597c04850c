"""The controllers in Python. The algorithms of the controllers are tested in crates/engine."""

import doctest
import re
from typing import Any

import pytest

import lasthop.control
from lasthop.control import CapacityEstimator, EstimatorSettings, Vbs, Wce


def test_the_example_of_the_module_holds() -> None:
    failed, tried = doctest.testmod(lasthop.control)
    assert (failed, tried) == (0, 9)


def test_each_round_trip_time_has_its_step() -> None:
    wce = Wce()
    seen = []
    for k, rtt_s in enumerate([0.3, 0.1, 0.02, 0.002, None]):
        capacity = wce.step(10 + 0.4 * k, rtt_s)
        assert capacity == wce.capacity_bps
        seen.append((capacity, wce.last_step))
    assert seen == [
        (4_800_000, "back off"),
        (4_760_000, "decrease"),
        (4_770_000, "increase"),
        (4_865_400, "speed up"),
        (4_865_400, "hold"),
    ]


def test_the_estimator_reports_its_base_thresholds_and_margin() -> None:
    wce = Wce(max_bps=6_000_000)
    assert wce.base_rtt_s is None
    assert wce.thresholds_s == (0.005, 0.04, 0.2)
    # A larger round-trip time is caused by a longer path or by a full queue.
    # To find the cause, the estimator reduces C for some time.
    # Here the path is longer, so that the estimator restores C.
    steps = []
    while wce.last_step != "return":
        wce.step(1 + 0.1 * len(steps), 0.015)
        steps.append(wce.last_step)
    assert 0.1 * len(steps) < 22.4
    assert set(steps) == {"increase", "decrease", "speed up", "return"}
    assert wce.capacity_bps == 6_000_000
    assert wce.base_rtt_s == pytest.approx(0.015)
    assert wce.thresholds_s == pytest.approx((0.015, 0.05, 0.21))
    overshoot_bps, queueing_s, margin = wce.cycle(5_400_000)
    assert overshoot_bps == pytest.approx(217e3, rel=0.01)
    assert margin == pytest.approx(0.2 / queueing_s) == pytest.approx(3.67, rel=0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_bps": 0}, "min_bps: the least rate must be positive"),
        ({"interval_s": -1.0}, "interval_s: -1 is not a time between 0 and 1e9 s"),
        ({"interval_s": float("nan")}, "interval_s: NaN is not a time between 0 and 1e9 s"),
        ({"threshold_s": 0.3}, "threshold_s: thresholds must ascend, low_s < threshold_s < high_s"),
        ({"back_off": 1.0}, "back_off: the factor must be above 0 and below 1"),
    ],
)
def test_invalid_settings_of_the_estimator_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Wce(**settings)


def test_settings_are_an_object_or_keywords() -> None:
    settings = EstimatorSettings(rule="paper", max_bps=9_000_000, interval_s=0.2)
    assert settings == EstimatorSettings(rule="paper", max_bps=9_000_000, interval_s=0.2)
    assert settings != EstimatorSettings(max_bps=9_000_000, interval_s=0.2)
    assert (settings.rule, settings.max_bps, settings.min_bps) == ("paper", 9_000_000, 300_000)
    assert settings.interval_s == 0.2
    assert settings.thresholds_s == (0.005, 0.04, 0.2)
    assert settings.steps_bps == (30_000, 120_000)
    wce, same = Wce(settings), Wce(max_bps=9_000_000, interval_s=0.2)
    assert wce.step(10, 0.1) == same.step(10, 0.1) == 8_880_000
    pings = [
        estimator.tick(1.0, [3, 5, 8], 0)
        for estimator in (
            CapacityEstimator(settings, seed=2),
            CapacityEstimator(seed=2, rule="paper", max_bps=9_000_000, interval_s=0.2),
        )
    ]
    assert pings[0] == pings[1]
    assert CapacityEstimator().capacity_bps == 6_000_000


def test_settings_and_keywords_together_are_refused() -> None:
    settings = EstimatorSettings()
    with pytest.raises(TypeError, match="settings: expected no keywords"):
        CapacityEstimator(settings, max_bps=9_000_000)
    with pytest.raises(ValueError, match='rule: expected "paper", not "agreement"'):
        Wce(settings)
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        CapacityEstimator(speed=1.0)
    with pytest.raises(ValueError, match='rule: "fair" is unknown; expected one of "agreement"'):
        CapacityEstimator(rule="fair")


def test_time_does_not_run_backwards() -> None:
    wce = Wce()
    wce.step(2.0, None)
    with pytest.raises(ValueError, match="now_s: 1 is before the last step, 2"):
        wce.step(1.0, None)


def test_a_class_with_its_share_of_a_long_queue_is_blocked() -> None:
    vbs = Vbs([0.526, 0.474], occupancy_packets=60)
    assert vbs.step(59, [0.6, 0.4]) == [0.0, 0.0]
    assert vbs.step(61, [0.52, 0.48]) == [0.0, 1.0]
    # The second class is absent, so that the first class may use the complete buffer.
    assert vbs.step(61, [0.99, 0.01], present=[True, False]) == [0.0, 0.0]
    assert vbs.blocking == [0.0, 0.0]


def test_the_regulator_sums_the_excess_of_a_class() -> None:
    vbs = Vbs([0.5, 0.5], occupancy_packets=60, algorithm="regulated")
    blocked = [vbs.step(60, [0.6, 0.4], served_packets=10) for _ in range(50)]
    assert 0.0 < blocked[0][0] < blocked[-1][0] < 1.0
    assert blocked[-1][1] == 0.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"targets": []}, "targets: no shares; expected one for each class"),
        ({"targets": [0.6, 0.6]}, "targets: 1.2 is not a sum of shares of at most 1"),
        ({"targets": [0.5, 0.0]}, "targets: 0 is not a share above 0 and at most 1"),
        ({"targets": [float("nan")]}, "targets: NaN is not a share above 0 and at most 1"),
        ({"occupancy_packets": 0.0}, "occupancy_packets: 0 is not a length above 0"),
        ({"tol": -1.0}, "tol: -1 is not a squared distance of at least 0"),
        (
            {"algorithm": "fair"},
            'algorithm: "fair" is none of "corrected", "printed", "regulated", "partition"',
        ),
    ],
)
def test_invalid_shares_are_refused(settings: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"targets": [0.5, 0.5], "occupancy_packets": 60.0}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Vbs(**usual | settings)


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ({"shares": [1.0]}, "shares: 1 values for 2 classes"),
        ({"present": [True]}, "present: 1 values for 2 classes"),
        ({"shares": [1.5, 0.0]}, "shares: 1.5 is not a share from 0 to 1"),
        ({"backlog_packets": -1.0}, "backlog_packets: -1 is not a count of at least 0"),
        ({"served_packets": float("inf")}, "served_packets: inf is not a count of at least 0"),
    ],
)
def test_impossible_queue_readings_are_refused(seen: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"backlog_packets": 60.0, "shares": [0.5, 0.5]}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Vbs([0.5, 0.5], occupancy_packets=60.0).step(**usual | seen)
