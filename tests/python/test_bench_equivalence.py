"""Comparisons of the benches: equal, different or undecided, and losses over complete periods of
the window.
"""

from math import isnan

import pytest
from equivalence import Agreement, Difference, agreement
from kernel_tcp_page import Both, counted_as
from kernel_tcp_points import AS_THEY_ARE, grid
from periods import loss_by_period, reductions

from lasthop.answers.estimates import Estimate


@pytest.mark.parametrize(
    ("reference", "other", "expected"),
    [
        ((10.0, 0.0), (10.4, 0.05), Agreement.EQUAL),
        ((10.0, 0.3), (10.4, 0.4), Agreement.UNDECIDED),  # difference of 4 % ± 5 %, band of 5 %
        ((10.0, 0.0), (10.6, 0.05), Agreement.APART),
        ((10.0, 0.0), (10.6, 0.2), Agreement.UNDECIDED),  # difference of 6 % ± 2 %
        ((10.0, 0.1), (10.0, 2.5), Agreement.UNDECIDED),  # equal means with wide intervals
        ((10.0, 0.0), (9.4, 0.05), Agreement.APART),
        ((10.0, None), (10.0, 0.0), Agreement.UNDECIDED),  # a single run
        ((0.0, 0.0), (0.0, 0.0), Agreement.EQUAL),
        ((0.0, 0.0), (0.1, 0.0), Agreement.APART),
        ((0.0, 0.0), (0.1, 0.2), Agreement.UNDECIDED),
    ],
)
def test_two_means_are_equal_only_if_the_whole_interval_is_inside_the_band(
    reference: tuple[float, float | None], other: tuple[float, float | None], expected: Agreement
) -> None:
    difference = Difference.of(Estimate(*reference), Estimate(*other), 0.05)
    assert difference.agreement is expected
    assert agreement(Estimate(*reference), Estimate(*other), 0.05) is expected


def test_points_that_were_not_run_are_undecided() -> None:
    assert agreement(None, Estimate(1.0, 0.1), 0.05) is Agreement.UNDECIDED


def test_halves_of_independent_means_add_in_squares() -> None:
    difference = Difference.of(Estimate(10.0, 0.3), Estimate(10.0, 0.4), 0.04)
    assert difference.half == pytest.approx(0.05)
    assert difference.words == "+0% ± 5% (?)"
    assert Difference.of(Estimate(10.0, 0.0), Estimate(11.0, 0.0), 0.04).words == "+10%"


def saw(period_s: float, until_s: float, shift_s: float) -> dict[str, list[float]]:
    """Return the time series of a window that grows from 50 to 100 packets in each period, sampled
    every 0.1 s.
    """
    times_s = [0.1 * k for k in range(round(10 * until_s))]
    windows = [50 + 50 * (((time_s + shift_s) % period_s) / period_s) for time_s in times_s]
    return {"time_s": times_s, "first": windows}


@pytest.mark.parametrize("shift_s", [0.0, 3.0, 7.0, 10.9])
def test_losses_by_period_do_not_depend_on_where_a_run_cuts(shift_s: float) -> None:
    track = saw(11.0, 60.0, shift_s)
    falls = reductions(track["time_s"], track["first"], 10.0, 60.0)
    # There is one loss at each reduction of the window: four or five losses in 50 s.
    # The sender sends 1000 packets per second.
    loss = loss_by_period(track, lost_packets=len(falls), sent_pps=1000.0, from_s=10.0, to_s=60.0)
    assert len(falls) in (4, 5)
    assert loss == pytest.approx(1 / 11_000, rel=0.01)


def test_too_few_periods_are_undecided_and_unequal_periods_are_ignored() -> None:
    few = saw(40.0, 60.0, 0.0)
    loss = loss_by_period(few, lost_packets=2, sent_pps=1e3, from_s=10, to_s=60)
    assert loss is not None
    assert isnan(loss)
    flat = {"time_s": [0.0, 1.0, 2.0], "first": [9.0, 9.0, 9.0]}
    assert loss_by_period(flat, lost_packets=0, sent_pps=1e3, from_s=0, to_s=3) is None
    unlike = {
        "time_s": [float(k) for k in range(12)],
        "first": [9, 4, 5, 9, 4, 5, 6, 7, 8, 9, 9, 3],
    }
    assert loss_by_period(unlike, lost_packets=2, sent_pps=1e3, from_s=0, to_s=12) is None


def both(engine: list[float], kernel: list[float], by_period: list[float] | None = None) -> Both:
    """Return a comparison of engine and kernel. Both lists contain the loss probability of each
    run; `by_period` contains those over complete periods of the window.
    """
    [point] = [
        candidate
        for candidate in grid()
        if candidate.name == "newreno, 1 of 50 ms, drop-tail 4 BDP"
    ]
    figures = {"goodput_bps": 1e7, "queue_packets": 9.0, "jain": 1.0}
    seen = {"runs": [{**figures, "loss": loss} for loss in engine]}
    own = [{"figures": {**figures, "loss": loss}} for loss in kernel]
    if by_period is not None:
        seen["by_period"] = by_period
        own = [{**run, "by_period": loss} for run, loss in zip(own, by_period, strict=True)]
    return Both(point, AS_THEY_ARE, seen, own, [])


def test_undecided_points_of_the_kernel_comparison_are_not_counted_as_equal() -> None:
    sure, wide = [0.0100, 0.0101, 0.0099], [0.007, 0.010, 0.013]
    points = [both(sure, sure), both(sure, wide), both(sure, [0.02, 0.0201, 0.0199])]
    assert counted_as(points, "loss") == "1 / 1 / 1"
    assert [any(point.parts()) for point in points] == [False, True, True]
    assert [point.is_apart for point in points] == [False, False, True]
    assert next(points[1].parts()) == "packet loss +0% ± 75% (?)"


def test_losses_of_a_periodic_flow_are_those_of_whole_periods() -> None:
    first, two = [1.2e-5] * 3, [2.4e-5] * 3  # A run may contain one period more or less.
    assert both(first, two).agreement("loss") is Agreement.APART
    assert both(first, two, [1.5e-5] * 3).agreement("loss") is Agreement.EQUAL
    unknown = both(first, two, [float("nan")] * 3)
    assert unknown.agreement("loss") is Agreement.UNDECIDED
    assert unknown.agreement("goodput_bps") is Agreement.EQUAL
