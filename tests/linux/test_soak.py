"""A soak of half a minute: faults can be detected, and there are no faults."""

import pytest

import held
from held import InKernel
from soak import soaked


@pytest.mark.slow
def test_half_a_minute_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The soak includes new files, damage, and guests that join and leave. Memory is judged only in
    runs of ten minutes or more.
    """
    assert soaked(30) == []
    assert "0 damages mended" not in capsys.readouterr().out


def test_growing_values_are_a_leak_and_values_that_come_and_go_are_not() -> None:
    assert held.leak("threads", [3, 4, 3, 4, 5, 4, 5, 4, 4]) == (
        "threads: 3 at first, never below 4 in the end"
    )
    assert held.leak("threads", [3, 4, 3, 4, 5, 4, 5, 3, 4]) is None
    assert held.leak("threads", [3, 4]) is None


def test_a_slope_is_known_with_its_interval() -> None:
    """The values are the line 2 t plus noise of +-1. The noise itself has no slope. The interval
    was computed by hand from the residuals.
    """
    times = [360.0 * k for k in range(10)]
    line = held.slope(times, [0.2 * k for k in range(10)])
    assert line is not None
    assert line.per_h == pytest.approx(2)
    assert line.ci95 == pytest.approx(0, abs=1e-9)
    # The deviation of the slope is s / sqrt(sum of (t - mean)^2), s^2 = (sum of residuals^2) / 8.
    noisy = held.slope(times, [1.0, -1, -1, 1, 0, 0, 1, -1, -1, 1])
    assert noisy is not None
    assert noisy.per_h == pytest.approx(0, abs=1e-9)
    assert noisy.ci95 == pytest.approx(2.306 * 1 / (0.1 * 82.5**0.5), rel=1e-3)
    assert held.slope(times[:9], [0.0] * 9) is None


def test_stations_need_the_expected_parts_of_the_kernel() -> None:
    stations = [
        {"addresses": ["a", "b"], "mac": "02::1"},
        {"addresses": ["c"], "mac": "02::1"},
        {"addresses": ["d", "e"], "mac": "02::2"},
        {"addresses": ["f"], "mac": None},
    ]
    assert held.needed_by(stations) == InKernel(
        classes=7, queues=7, redirections=2, macs=2, prefixes=4
    )
    assert held.needed_by(stations, leaves=16) == InKernel(19, 19, 2, 2, 4)
