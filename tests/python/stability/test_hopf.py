"""Hopf points: numbers of the papers, scaling, and two independent computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from lasthop.stability import (
    Axis,
    Case,
    ConvergenceError,
    Jump,
    ParameterError,
    chart,
    edges,
    hopf,
    hopf_points,
    named,
    roots,
)
from lasthop.stability.hopf import HopfPoint, crossing, direct, transversality
from lasthop.stability.spectrum import collocated

POINTS = [
    ("red", {}, "rtt", 0.01, 1.0),
    ("red", {"gamma": 0.03}, "rtt", 0.01, 1.0),
    ("red-instant", {}, "rtt", 0.01, 2.0),
    ("threshold", {}, "q_th", 5.0, 100.0),
    ("vbs", {}, "alpha", 0.01, 1.0),
    ("red-groups", {"gamma": 0.01}, "rtt_1", 0.01, 1.0),
    ("parking-lot", {}, "rtt_long", 0.01, 2.0),
    ("red", {"delay": "queueing"}, "rtt", 0.1, 2.0),
]


@pytest.mark.parametrize(("model", "values", "name", "low", "high"), POINTS)
def test_root_finding_and_spectrum_agree_to_eight_digits(
    model: str, values: dict[str, object], name: str, low: float, high: float
) -> None:
    case = Case.of(model, values)
    points = hopf_points(case, name, low, high)
    assert points
    for point in points:

        def abscissa(value: float) -> float:
            return float(collocated(case.with_(**{name: value}).linear, 30)[0].real)

        spectral = brentq(abscissa, 0.98 * point.value, 1.02 * point.value, xtol=1e-14)
        solved, frequency = direct(case, name, 1.003 * point.value, 0.997 * point.frequency)
        assert spectral == pytest.approx(point.value, rel=1e-8)
        assert solved == pytest.approx(point.value, rel=1e-8)
        assert frequency == pytest.approx(point.frequency, rel=1e-8)


@pytest.mark.parametrize(("model", "values", "name", "low", "high"), POINTS)
def test_roots_cross_with_the_speed_of_transversality(
    model: str, values: dict[str, object], name: str, low: float, high: float
) -> None:
    for point in hopf_points(Case.of(model, values), name, low, high):
        h = 1e-4 * point.value
        above, below = (
            roots(point.case.with_(**{name: point.value + s * h}), 2).values[0] for s in (1, -1)
        )
        slope = (complex(above.real, abs(above.imag)) - complex(below.real, abs(below.imag))) / (
            2.0 * h
        )
        assert point.speed == pytest.approx(slope, rel=1e-4)
        assert point.unstable_above == (point.speed.real > 0.0)


@pytest.mark.equation("red", 21)
def test_hopf_points_of_the_paper_are_found() -> None:
    """The paper's Hopf points are 84.8 ms, 171 ms, and 0.273 s. The exact value of the last point
    is 0.2718 s.
    """
    [averaged] = hopf_points(Case.of("red"), "rtt", 0.01, 1.0)
    [faster] = hopf_points(Case.of("red", gamma=0.03), "rtt", 0.01, 1.0)
    [instant] = hopf_points(Case.of("red-instant"), "rtt", 0.01, 2.0)
    assert round(averaged.value, 4) == 0.0848
    assert round(faster.value, 3) == 0.171
    assert round(instant.value, 4) == 0.2718


@pytest.mark.equation("red", 40)
def test_threshold_39_is_the_first_unstable_threshold() -> None:
    [point] = hopf_points(Case.of("threshold"), "q_th", 5.0, 100.0)
    assert point.value == pytest.approx(38.80, abs=0.005)
    assert roots(Case.of("threshold", q_th=38.0)).stable
    assert not roots(Case.of("threshold", q_th=39.0)).stable


def test_the_critical_threshold_depends_on_the_pipe() -> None:
    """The Hopf threshold of the policy depends on the packets in flight C tau. It is 22 for 10
    packets and 49 for 250.
    """
    for pipe, expected in ((10.0, 22), (250.0, 49)):
        [point] = hopf_points(Case.of("threshold", rtt=pipe / 100.0), "q_th", 5.0, 200.0)
        assert round(point.value) == expected


@pytest.mark.parametrize(
    ("change", "value"), [("alpha", 1.326), ("capacity", 35.06), ("max_p", 1.81e-5 * 500)]
)
def test_delay_of_appendix_b_needs_another_parameter(change: str, value: float) -> None:
    """The paper's 0.7751 s is a Hopf point only with one of these changes of the default
    parameters.
    """
    case = Case.of("red-instant", drop="linear")
    assert not any(abs(p.value - 0.7751) < 0.1 for p in hopf_points(case, "rtt", 0.01, 5.0))
    [point] = hopf_points(case.with_(**{change: value}), "rtt", 0.1, 3.0)
    assert point.value == pytest.approx(0.7751, rel=2e-3)


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["red", "red-instant", "threshold"]),
    st.floats(20.0, 2000.0),
    st.floats(0.5, 2.0),
)
@pytest.mark.slow
def test_the_critical_round_trip_time_is_inverse_to_capacity(
    model: str, capacity: float, alpha: float
) -> None:
    """If gamma is constant, the critical round-trip time is inversely proportional to the
    capacity.
    """
    case = Case.of(model, alpha=0.125 * alpha, **({"q_th": 39.0} if model == "threshold" else {}))
    pipes = []
    for c in (100.0, capacity):
        points = hopf_points(case.with_(capacity=c), "rtt", 0.5 / c, 500.0 / c)
        pipes.append([c * point.value for point in points])
    assert np.allclose(*pipes, rtol=1e-9)


@pytest.mark.equation("red", 23)
def test_speed_with_kappa_is_the_papers_formula() -> None:
    from lasthop.stability.conditions import loop_coefficients

    [point] = hopf_points(Case.of("red", gamma=0.03), "rtt", 0.01, 1.0)
    a1, a2, a3, a4 = loop_coefficients(point.case)
    x, tau = 1j * point.frequency, point.value
    decay = a4 * np.exp(-x * tau)
    numerator = -a1 * x**2 - 2.0 * a2 * x - 3.0 * a3 - 3.0 * decay
    printed = numerator / (3.0 * x**2 + 2.0 * a1 * x + a2 - tau * decay)
    assert transversality(point.case, "kappa", x) == pytest.approx(printed, rel=1e-7)
    assert printed.real > 0.0


def test_two_unequal_delays_are_between_the_equal_ones() -> None:
    rtt = hopf_points(Case.of("red"), "rtt", 0.01, 1.0)[0].value
    same = hopf_points(Case.of("red-groups", rtt_2=rtt), "rtt_1", 0.01, 1.0)[0].value
    assert same == pytest.approx(rtt, rel=1e-9)


def test_range_without_a_crossing_has_no_points() -> None:
    assert hopf_points(Case.of("red"), "rtt", 0.02, 0.05) == []
    with pytest.raises(ConvergenceError, match="do not cross"):
        crossing(Case.of("red"), "rtt", 0.02, 0.05)


def test_an_invalid_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="not below"):
        hopf_points(Case.of("red"), "rtt", 1.0, 0.5)
    with pytest.raises(ParameterError, match="is a word"):
        hopf_points(Case.of("red"), "tcp", 1.0, 2.0)


CORNER = {"tcp": "compound-reno", "queue_weight": 1.0, "max_p": 0.07}


@pytest.mark.slow
def test_a_corner_of_the_drop_function_is_a_jump_and_not_a_hopf_point() -> None:
    """At the corner `max_th` of RED's drop function, the slope of the drop probability jumps. As
    the round-trip time falls, the equilibrium passes this corner and becomes unstable.
    """
    case = named("red-dumbbell", CORNER)
    points = edges(case, "rtt", 0.005, 0.5)
    [jump] = [each for each in points if isinstance(each, Jump)]
    assert not jump.unstable_above
    for side, stable in ((0.999, False), (1.001, True)):
        moved = case.with_(rtt=side * jump.value)
        assert roots(moved, 2).stable is stable
        loss = moved.model.loss(moved.derived, list(moved.equilibrium))[0]
        assert bool(loss < 0.07) is stable
    assert hopf_points(case, "rtt", 0.005, 0.5) == [
        each for each in points if not isinstance(each, Jump)
    ]


TWO = {"queue": "total", "min_th": 50.0, "max_th": 100.0, "tcp": "compound-reno"}


@pytest.mark.slow
def test_scan_of_two_delays_sees_pairs_far_from_0() -> None:
    case = Case.of("red-groups", TWO, queue_weight=0.02, rtt_1=0.013, rtt_2=0.66, share_1=0.7)
    [point] = hopf_points(case, "capacity", 50.0, 500.0)
    assert point.unstable_above
    assert point.value == pytest.approx(100.044, rel=1e-5)
    assert point.frequency == pytest.approx(72.6, rel=1e-2)


@pytest.mark.slow
def test_every_sign_of_a_chart_of_two_delays_is_that_of_its_roots() -> None:
    case = Case.of("red-groups", TWO, queue_weight=0.02, rtt_1=0.013, rtt_2=0.66, share_1=0.7)
    result = chart(case, Axis("capacity", 50.0, 500.0), Axis("max_th", 90.0, 110.0), 6)
    for i, capacity in enumerate(result.x_values):
        for j, max_th in enumerate(result.y_values):
            moved = case.with_(capacity=float(capacity), max_th=float(max_th))
            assert result.stable[j, i] == roots(moved, 2).stable
    assert 0.0 < result.stable.mean() < 1.0


@pytest.mark.slow
def test_edges_closer_than_the_steps_of_a_scan_are_found() -> None:
    router = {"capacity": 138.9, "queue_weight": 1.2e-4, "max_p": 0.069, "delay": "queueing"}
    case = Case.of("red", TWO, **router, feedback="ecn", least_rest=2.0, most_window=1000.0)
    coarse = edges(case, "rtt", 1e-6, 1e3)
    fine = edges(case, "rtt", 5e-3, 0.5)
    assert len(fine) == 3
    assert [each.value for each in coarse] == pytest.approx([each.value for each in fine])


def test_crossing_searches_for_the_rightmost_root_three_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The solver searches for the rightmost root only three times: on each side of the Hopf point,
    and at the Hopf point itself. Between these searches, it follows one root.
    """
    searched = []
    find = hopf.rightmost

    def counted(case: Case) -> complex:
        searched.append(case)
        return find(case)

    monkeypatch.setattr(hopf, "rightmost", counted)
    case = Case.of("red")
    [point] = hopf_points(case, "rtt", 0.01, 1.0)
    assert len(searched) == 3
    assert isinstance(crossing(case, "rtt", 0.5 * point.value, 1.5 * point.value), HopfPoint)
    assert len(searched) == 6
