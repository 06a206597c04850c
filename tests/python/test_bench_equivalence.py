"""Comparisons of the benches: equal, apart or undecided; losses over whole periods."""

import pytest
from equivalence import Agreement, Difference, agreement
from periods import loss_by_period, reductions

from lasthop.estimates import Estimate


@pytest.mark.parametrize(
    ("reference", "other", "expected"),
    [
        ((10.0, 0.0), (10.4, 0.05), Agreement.EQUAL),
        ((10.0, 0.3), (10.4, 0.4), Agreement.UNDECIDED),  # 4 % ± 5 % of a band of 5 %
        ((10.0, 0.0), (10.6, 0.05), Agreement.APART),
        ((10.0, 0.0), (10.6, 0.2), Agreement.UNDECIDED),  # 6 ± 2 %
        ((10.0, 0.1), (10.0, 2.5), Agreement.UNDECIDED),  # equal means that nobody knows
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
    found = Difference.of(Estimate(*reference), Estimate(*other), 0.05)
    assert found.agreement is expected
    assert agreement(Estimate(*reference), Estimate(*other), 0.05) is expected


def test_what_was_not_run_is_undecided() -> None:
    assert agreement(None, Estimate(1.0, 0.1), 0.05) is Agreement.UNDECIDED


def test_halves_of_independent_means_add_in_squares() -> None:
    found = Difference.of(Estimate(10.0, 0.3), Estimate(10.0, 0.4), 0.04)
    assert found.half == pytest.approx(0.05)
    assert found.words == "+0% ± 5% (?)"
    assert Difference.of(Estimate(10.0, 0.0), Estimate(11.0, 0.0), 0.04).words == "+10%"


def saw(period_s: float, until_s: float, shift_s: float) -> dict[str, list[float]]:
    """Return a window that grows from 50 to 100 packets in each period, sampled every 0.1 s."""
    times_s = [0.1 * k for k in range(round(10 * until_s))]
    windows = [50 + 50 * (((time_s + shift_s) % period_s) / period_s) for time_s in times_s]
    return {"time_s": times_s, "first": windows}


@pytest.mark.parametrize("shift_s", [0.0, 3.0, 7.0, 10.9])
def test_losses_by_period_do_not_depend_on_where_a_run_cuts(shift_s: float) -> None:
    track = saw(11.0, 60.0, shift_s)
    falls = reductions(track["time_s"], track["first"], 10.0, 60.0)
    # one loss at each fall: in 50 s there are four or five, over 1000 packets a second
    found = loss_by_period(track, lost_packets=len(falls), sent_pps=1000.0, from_s=10.0, to_s=60.0)
    assert len(falls) in (4, 5)
    assert found == pytest.approx(1 / 11_000, rel=0.01)


def test_too_few_and_unlike_periods_give_nothing() -> None:
    few = saw(40.0, 60.0, 0.0)
    assert loss_by_period(few, lost_packets=2, sent_pps=1e3, from_s=10, to_s=60) is None
    unlike = {
        "time_s": [float(k) for k in range(12)],
        "first": [9, 4, 5, 9, 4, 5, 6, 7, 8, 9, 9, 3],
    }
    assert loss_by_period(unlike, lost_packets=2, sent_pps=1e3, from_s=0, to_s=12) is None
