"""The control loop of a PI queue, compared with formulas of the paper, with roots, and with time
integration.
"""

from math import atan, degrees, hypot, pi
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from lasthop.stability import (
    Case,
    NoEquilibriumError,
    designed,
    hopf_points,
    integrate,
    loop,
    named,
    roots,
)
from lasthop.stability.loop import loop_gain
from lasthop.stability.models.pi import PiDerived

N, C, R = 60.0, 3750.0, 0.246
Z, K = 0.53, 9.64e-6
"""Zero and gain of the controller in the example of section V of Hollot et al. 2001."""


def controller_of(case: Case) -> PiDerived:
    """Return the constants that follow from the values of a case with PI."""
    assert isinstance(case.derived, PiDerived)
    return case.derived


def theirs(frequency: float) -> tuple[float, float]:
    """Return gain [-] and phase lag [rad] of the paper's plant and controller, computed by hand."""
    size = C**2 / (2.0 * N) / hypot(frequency, 2.0 * N / (R**2 * C)) / hypot(frequency, 1.0 / R)
    lag = atan(frequency * R**2 * C / (2.0 * N)) + atan(frequency * R) + frequency * R
    return K * size * hypot(frequency / Z, 1.0) / frequency, lag + pi / 2.0 - atan(frequency / Z)


def test_coefficients_of_the_paper_are_its_controller_at_160_hz() -> None:
    p = controller_of(named("pi-hollot"))
    assert p.integral == pytest.approx(K, rel=5e-3)
    assert p.integral / p.proportional == pytest.approx(Z, rel=5e-3)
    coefficients = [K / Z + sign * K / 320.0 for sign in (1.0, -1.0)]
    assert coefficients == pytest.approx([1.822e-5, 1.816e-5], abs=5e-9)


def test_rule_designs_the_coefficients_of_the_paper() -> None:
    """The pole and the gain of the fluid model each differ from the paper by 2/w^2, which is 0.8 %
    at the window w.
    """
    better = designed(named("pi-hollot"))
    assert better is not None
    assert better.values["a"] == pytest.approx(1.822e-5, rel=0.01)
    assert better.values["b"] == pytest.approx(1.816e-5, rel=0.01)
    z, crossover = 2.0 * N / (R**2 * C), 0.13 / R
    k_pi = crossover * z * hypot(crossover, 1.0 / R) * 2.0 * N / C**2
    result = loop(better)
    assert result.z == pytest.approx(z, rel=0.01)
    assert result.k_pi == pytest.approx(k_pi, rel=0.02)
    assert result.crossover == pytest.approx(crossover, rel=1e-9)
    assert result.phase_margin_degrees == pytest.approx(90.0 - degrees(0.13 + atan(0.13)), rel=1e-6)


def test_loop_is_the_papers_for_large_windows() -> None:
    """At a hundred times the capacity and round trips of 246 ms, terms of 1/w^2 are negligible."""
    case = named("pi-hollot", {"target": 1e-3, "rtt": R, "link_capacity": 100.0 * C})
    for frequency in (0.01, 0.3, 1.0, 5.0, 20.0):
        s = 1j * frequency
        plant = (100.0 * C) ** 2 / (2.0 * N) * np.exp(-s * R)
        plant /= (s + 2.0 * N / (R**2 * 100.0 * C)) * (s + 1.0 / R)
        p = controller_of(case)
        expected = plant * (p.integral / s + p.proportional)
        assert complex(loop_gain(case, frequency)) == pytest.approx(expected, rel=1e-5)


def test_margins_of_the_example_are_those_by_hand() -> None:
    result = loop(named("pi-hollot"))
    crossover = brentq(lambda w: theirs(w)[0] - 1.0, 0.01, 10.0)
    margin = pi - theirs(crossover)[1]
    turned = brentq(lambda w: theirs(w)[1] - pi, 0.1, 20.0)
    assert result.gain_margin is not None
    # The pole and the gain of the fluid model each differ from the paper by 2/w^2, which is 0.8 %.
    # The gain K that follows from the coefficients a and b is 9.60e-6.
    assert result.crossover == pytest.approx(crossover, rel=0.015)
    assert result.phase_margin_degrees == pytest.approx(degrees(margin), rel=0.005)
    assert result.gain_margin == pytest.approx(1.0 / theirs(turned)[0], rel=0.01)
    assert result.delay_margin_s == pytest.approx(margin / crossover, rel=0.015)


def growth(gain: float, delay: float) -> float:
    """Return the growth of the paper's linear system over some periods, integrated by hand. [-]

    The integration uses Heun's method. The states are the window of the flows, the queue, and the
    integral of the queue.
    """
    step = R / 60.0
    behind = round((R + delay) / step)
    state, past = np.array([0.0, 1.0, 0.0]), [0.0] * (behind + 1)
    pole, sizes = 2.0 * N / (R**2 * C), []

    def rates(state: Any, p: float) -> Any:
        w, q, _ = state
        return np.array([-pole * w - R * C**2 / (2.0 * N**2) * p, N / R * w - q / R, q])

    for _ in range(round(40.0 * (R + delay) / step)):
        p = gain * K * (state[2] + state[1] / Z)
        past.append(p)
        first = rates(state, past[-behind - 1])
        state = state + step * 0.5 * (first + rates(state + step * first, past[-behind]))
        sizes.append(abs(state[1]))
    half = len(sizes) // 2
    return float(max(sizes[half:]) / max(sizes[half // 2 : half]))


@pytest.mark.parametrize("part", [0.9, 1.1])
def test_motion_dies_out_or_grows_on_the_two_sides_of_each_margin(part: float) -> None:
    result = loop(named("pi-hollot"))
    assert result.gain_margin is not None
    assert result.delay_margin_s is not None
    assert (growth(part * result.gain_margin, 0.0) > 1.0) == (part > 1.0)
    assert (growth(1.0, part * result.delay_margin_s) > 1.0) == (part > 1.0)


def test_roots_are_those_of_the_quasi_polynomial() -> None:
    """The expected roots come from Newton's method on the characteristic polynomial of the fluid
    model with Reno and marks. The polynomial was derived by hand.
    """
    case = named("pi-hollot")
    w, _, loss = case.equilibrium
    c, p = C / N, controller_of(case)
    push = (1.0 / w + 0.5 * w) * c * p.drop_curve.scale / R

    def polynomial(s: complex) -> complex:
        controller = p.integral + p.proportional * s
        return s * (s + loss * c) * (s + 1.0 / R) + push * controller * np.exp(-s * R)

    for root in roots(case, 5).values:
        s = complex(root) * (1.0 + 1e-3)
        for _ in range(30):
            slope = (polynomial(s + 1e-6) - polynomial(s - 1e-6)) / 2e-6
            s -= polynomial(s) / slope
        assert s == pytest.approx(complex(root), rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["reno", "compound", "compound-reno", "illinois"]),
    st.sampled_from(["loss", "ecn"]),
    st.floats(0.01, 1.0),
    st.floats(2.0, 400.0),
    st.floats(-6.0, -2.0),
    st.floats(1e-4, 0.5),
)
def test_margins_and_roots_agree(
    tcp: str, feedback: str, rtt: float, flows: float, power: float, part: float
) -> None:
    a = 10.0**power
    case = Case.of(
        "pi", tcp=tcp, feedback=feedback, rtt=rtt, flows=flows, link_capacity=C, a=a,
        b=a * (1.0 - part), least_rest=2.0,
    )  # fmt: skip
    try:
        result = loop(case)
    except NoEquilibriumError:
        assume(False)
    assume(abs(result.phase_margin_degrees) > 1e-3)
    stable = result.phase_margin_degrees > 0.0
    assert stable == roots(case, 2).stable
    assert (result.delay_margin_s is not None) == stable
    if result.gain_margin is not None:
        assert (result.gain_margin > 1.0) == stable


def test_gain_margin_is_the_edge() -> None:
    case = named("pi-hollot", {"feedback": "loss"})
    factor = loop(case).gain_margin
    assert factor is not None
    for side, stable in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
        scaled = {name: side * factor * case.values[name] for name in ("a", "b")}
        assert roots(case.with_(**scaled), 2).stable == stable


def test_no_margin_remains_at_a_hopf_point() -> None:
    [point] = hopf_points(named("pi-hollot"), "rtt", 0.1, 2.0)
    result = loop(point.case)
    assert result.phase_margin_degrees == pytest.approx(0.0, abs=1e-6)
    assert result.gain_margin == pytest.approx(1.0, abs=1e-7)
    assert result.crossover == pytest.approx(point.frequency, rel=1e-7)
    # These settings differ from the stability edge by rounding errors only.
    # Each margin may therefore be on either side of the edge.
    for step in range(-20, 21):
        moved = point.case.with_(rtt=point.case.values["rtt"] * (1.0 + step * 1e-15))
        assert loop(moved).gain_margin == pytest.approx(1.0, abs=1e-7)


def test_the_rule_does_not_apply_to_several_round_trips_or_slow_steps() -> None:
    assert designed(named("pi-hollot", {"update": 4.0})) is None


def test_the_equilibrium_is_the_target_with_the_loss_that_the_window_needs() -> None:
    case = named("pi-hollot")
    w, queue, loss = case.equilibrium
    assert queue * N == pytest.approx(200.0)
    assert w == pytest.approx(R * C / N)
    assert loss == pytest.approx(2.0 / (w**2 + 2.0))


def test_probability_stays_within_its_range_however_high_the_gain() -> None:
    case = named("pi-hollot", {"a": 0.02, "b": 0.0199, "buffer": 300.0})
    trajectory = integrate(case, 20.0)
    _, queue, probability = trajectory.at(np.linspace(0.0, 20.0, 4001))
    assert queue.min() == 0.0
    assert queue.max() <= 5.0 * (1.0 + 1e-9)
    assert probability.min() == 0.0
    assert probability.max() <= 1.0


def test_a_controller_that_diverges_from_the_target_is_refused() -> None:
    with pytest.raises(NoEquilibriumError, match="not above b"):
        _ = named("pi-hollot", {"b": 1.9e-5}).equilibrium
    with pytest.raises(NoEquilibriumError, match="settle at 200 packets, and buffer = 100"):
        _ = named("pi-hollot", {"buffer": 100.0}).equilibrium


def test_a_gain_that_never_reaches_one_has_no_crossover() -> None:
    result = loop(named("pi-hollot").with_(a=1e-20, b=0.0))
    assert (result.crossover, result.phase_margin_degrees, result.delay_margin_s) == (
        None,
        None,
        None,
    )
    assert result.gain_margin is not None
    assert result.gain_margin > 1e12
