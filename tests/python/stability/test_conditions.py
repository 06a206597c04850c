"""Stability conditions of the papers, compared with the exact result."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lasthop.stability import Case, NoEquilibriumError, conditions, roots
from lasthop.stability.conditions import loop_coefficients


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["red", "red-instant"]), st.floats(0.03, 1.0), st.floats(1e-4, 0.5))
@pytest.mark.equation("red", 16)
@pytest.mark.equation("red", 33)
def test_the_exact_condition_is_exact(model: str, rtt: float, gamma: float) -> None:
    case = Case.of(model, rtt=rtt, **({"gamma": gamma} if model == "red" else {}))
    first = conditions(case)[0]
    assume(abs(first.left / first.right - 1.0) > 1e-6)
    assert first.kind == "exact"
    assert first.holds == roots(case, 2).stable


@pytest.mark.equation("red", 16)
def test_condition_16_looks_at_the_resonance_beyond_the_first_crossing() -> None:
    case = Case.of(
        "red", min_th=5.0, max_th=15.0, max_p=0.2, queue="total", flows=400.0, queue_weight=1.5e-4,
        rtt=0.53, capacity=16.0, alpha=0.45, k=0.34, beta=0.115,
    )  # fmt: skip
    exact = conditions(case)[0]
    assert exact.kind == "exact"
    assert not exact.holds
    assert not roots(case, 2).stable


@settings(max_examples=60, deadline=None)
@given(
    st.floats(100.0, 400.0),
    st.floats(1e-5, 1e-2),
    st.floats(0.02, 1.0),
    st.floats(5.0, 200.0),
    st.floats(0.3, 0.8),
)
@pytest.mark.equation("red", 16)
def test_condition_16_of_the_total_queue_decides_stability(
    flows: float, weight: float, rtt: float, capacity: float, k: float
) -> None:
    case = Case.of(
        "red", min_th=5.0, max_th=15.0, max_p=0.2, queue="total", flows=flows,
        queue_weight=weight, rtt=rtt, capacity=capacity, k=k, beta=0.115,
    )  # fmt: skip
    try:
        exact = conditions(case)[0]
    except NoEquilibriumError:
        assume(False)
    assume(abs(exact.left - 1.0) > 1e-6)
    assert exact.holds == roots(case, 2).stable


@pytest.mark.equation("red", 33)
def test_without_a_crossing_frequency_no_delay_destabilises() -> None:
    case = Case.of("red-instant", capacity=0.1, rtt=0.1, least_rest=0.0, least_window=1e-9)
    [condition] = conditions(case)
    assert condition.holds
    assert roots(case, 2).stable


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["threshold", "vbs"]),
    st.floats(0.01, 2.0),
    st.floats(1.0, 99.0),
    st.sampled_from(["compound", "reno", "illinois"]),
)
@pytest.mark.equation("red", 41)
@pytest.mark.equation("vbs", 26)
def test_conditions_of_small_buffers_decide_stability(
    model: str, rtt: float, room: float, tcp: str
) -> None:
    buffer = {"q_th": room} if model == "threshold" else {"buffer": room / 0.08}
    case = Case.of(model, rtt=rtt, tcp=tcp, **buffer)
    exact, sufficient = conditions(case)
    assume(abs(exact.left / exact.right - 1.0) > 1e-6)
    assert exact.holds == roots(case, 2).stable
    assert exact.holds or not sufficient.holds


@pytest.mark.equation("red", 42)
@pytest.mark.equation("red", 43)
def test_conditions_of_the_threshold_policy_are_as_printed() -> None:
    case = Case.of("threshold", q_th=30.0)
    exact, sufficient = conditions(case)
    [w] = case.equilibrium
    growth, p = 0.125 * w**-0.25, (w / 100.0) ** 30.0
    part = -1.25 * (1.0 - p)
    assert exact.left == pytest.approx(growth * sqrt(30.0**2 - part**2), rel=1e-10)
    assert exact.right == pytest.approx(np.arccos(part / 30.0), rel=1e-10)
    assert sufficient.left == pytest.approx(growth * 30.0, rel=1e-10)
    assert sufficient.right == pi / 2.0


@settings(max_examples=40, deadline=None)
@given(st.floats(0.02, 0.3), st.floats(1e-3, 0.5))
@pytest.mark.equation("red", 18)
def test_condition_18_is_17_at_a_quarter_turn(rtt: float, gamma: float) -> None:
    """Condition (18) equals condition (17) at the frequency omega = pi / 2 tau. The coefficients
    (13) come from the linearised system.
    """
    case = Case.of("red", rtt=rtt, gamma=gamma)
    _, a2, _, a4 = loop_coefficients(case)
    omega = pi / (2.0 * rtt)
    printed = conditions(case)[1]
    assert printed.left / (pi / 2.0) == pytest.approx(a4 / (a2 * omega - omega**3), rel=1e-6)


@pytest.mark.equation("red", 18)
def test_condition_18_is_not_sufficient() -> None:
    unstable = Case.of("red", rtt=0.2)
    printed = conditions(unstable)[1]
    assert printed.equation == "004 (18)"
    assert printed.holds
    assert not roots(unstable).stable


def test_arcsine_of_33_loses_the_half_plane_where_the_errata_say() -> None:
    """The printed arcsine is right only if rho beta^2 > c (rho + c)^2, where c = (2 - k) beta
    p*.
    """
    for values in ({"rtt": 0.27}, {"rtt": 0.02, "drop": "linear"}):
        case = Case.of("red-instant", values)
        w = case.equilibrium[0]
        p = float(case.model.loss(case.derived, list(case.equilibrium))[0])
        rho, c = 2e-4, 1.25 * 0.5 * p
        [condition] = conditions(case)
        assert (condition.right < pi / 2.0) == (rho * 0.25 > c * (rho + c) ** 2), w


def test_without_delay_only_the_average_destabilises() -> None:
    """Without feedback delay, RED's averaging of the queue is the only cause of instability. It
    causes Hopf points at round-trip times of 0.088 s (gamma 1e-4) and 0.243 s (gamma 0.03).
    """
    for gamma, expected in ((1e-4, 0.088), (0.03, 0.243)):

        def abscissa(rtt: float, gamma: float = gamma) -> float:
            linear = Case.of("red", gamma=gamma, rtt=rtt).linear
            return float(np.linalg.eigvals(linear.now + linear.lagged[0]).real.max())

        assert abscissa(expected - 0.001) < 0.0 < abscissa(expected + 0.001)


def test_conditions_are_silent_outside_their_assumptions() -> None:
    assert conditions(Case.of("red", tcp="reno")) == []
    assert conditions(Case.of("red", delay="queueing")) == []
    assert conditions(Case.of("red-groups")) == []
