"""Time integration: exact solutions, its error, growth rates, and the floor of the queue."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from lasthop.stability import Case, ConvergenceError, ParameterError, integrate, mode, roots

SIDES = [
    ("red", {"gamma": 0.03, "rtt": 0.16}),
    ("red", {"gamma": 0.03, "rtt": 0.18}),
    ("red-instant", {"rtt": 0.25}),
    ("red-instant", {"rtt": 0.29}),
    ("threshold", {"q_th": 36.0}),
    ("threshold", {"q_th": 41.0}),
    ("vbs", {"alpha": 0.3}),
    ("vbs", {"alpha": 0.4}),
    ("red", {"delay": "queueing", "rtt": 0.8}),
    ("red", {"delay": "queueing", "rtt": 1.1}),
    ("red-groups", {"gamma": 0.01, "rtt_1": 0.13}),
    ("red-groups", {"gamma": 0.01, "rtt_1": 0.2}),
    ("parking-lot", {"gamma": 0.01, "rtt_long": 0.05}),
    ("parking-lot", {"gamma": 0.01, "rtt_long": 0.2}),
]


def leading(case: Case) -> complex:
    root = complex(roots(case, 2).values[0])
    return complex(root.real, abs(root.imag))


@pytest.mark.parametrize(("model", "values"), SIDES)
def test_small_disturbance_moves_like_the_rightmost_root(
    model: str, values: dict[str, object]
) -> None:
    """Growth rate and frequency within 1 %, on both sides of Hopf points."""
    case = Case.of(model, values)
    root = leading(case)
    end = 10.0 * np.pi / root.imag
    start = mode(case, root, 1e-5 * case.equilibrium[0])
    motion = integrate(case, end, start=start, constrained=False, tolerance=1e-11)
    times = np.linspace(0.0, end, 1500)
    swing = motion.at(times)[0] - case.equilibrium[0]

    def misfit(guess: np.ndarray) -> np.ndarray:
        waves = np.exp(guess[0] * times) * np.stack(
            [np.cos(guess[1] * times), np.sin(guess[1] * times)]
        )
        return (np.linalg.lstsq(waves.T, swing, rcond=None)[0] @ waves - swing) / swing.max()

    first = np.array([0.8 * root.real, 1.01 * root.imag])
    rate, frequency = least_squares(misfit, first, x_scale=np.abs(first)).x
    assert rate == pytest.approx(root.real, rel=0.01)
    assert frequency == pytest.approx(root.imag, rel=0.01)


def test_sides_cover_both_signs() -> None:
    for model in {model for model, _ in SIDES}:
        signs = {leading(Case.of(m, v)).real > 0.0 for m, v in SIDES if m == model}
        assert signs == {True, False}, model


def test_error_falls_with_the_tolerance() -> None:
    case = Case.of("threshold", q_th=45.0)
    exact = integrate(case, 20.0, constrained=False, tolerance=1e-12).at(np.linspace(0, 20, 50))
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        motion = integrate(case, 20.0, constrained=False, tolerance=tolerance)
        errors.append(np.abs(motion.at(np.linspace(0, 20, 50)) - exact).max())
    assert errors[0] > 10.0 * errors[1] > 100.0 * errors[2]
    assert errors[2] < 1e-4


def test_method_of_steps_by_hand() -> None:
    """While the past is constant, the threshold policy's window moves exponentially.

    With k = 1: w' = (alpha (1 - p) - beta p w) c, constants p and c, so it is known.
    """
    case = Case.of("threshold", k=1.0, q_th=2.0)
    [rest] = case.equilibrium
    past = 1.2 * rest
    motion = integrate(case, 1.0, start={"window": past}, constrained=False, tolerance=1e-12)
    p, c = (past / 100.0) ** 2.0, past
    times = np.linspace(0.0, 1.0, 11)
    target = 0.125 * (1.0 - p) / (0.5 * p)
    exact = target + (past - target) * np.exp(-0.5 * p * c * times)
    assert np.allclose(motion.at(times)[0], exact, rtol=1e-9)


def test_interpolant_passes_through_the_steps() -> None:
    motion = integrate(Case.of("red", gamma=0.03), 3.0)
    assert np.allclose(motion.at(motion.starts), motion.values, rtol=1e-12)
    assert motion.starts[-1] == 3.0


def test_queue_stops_at_its_floor_and_leaves_it() -> None:
    case = Case.of("red", gamma=0.03, rtt=0.3, min_th=1.0, max_th=100.0)
    motion = integrate(case, 60.0)
    queue = motion.at(np.linspace(0.0, 60.0, 20001))[1]
    assert queue.min() > -1e-9
    assert 0.05 < np.mean(queue < 1e-9) < 0.95
    assert np.diff(np.signbit(queue - 1e-6).astype(int)).any()


def test_constraints_change_nothing_within_the_range() -> None:
    case = Case.of("red-instant", rtt=0.29)
    both = [
        integrate(case, 20.0, start={"window": 28.0}, constrained=c).at(np.linspace(0, 20, 99))
        for c in (True, False)
    ]
    assert np.allclose(*both, rtol=1e-4)


def test_solution_that_leaves_the_range_is_not_returned() -> None:
    case = Case.of("red-instant", rtt=2.0)
    with pytest.raises(ConvergenceError, match="grows without bound at"):
        integrate(case, 2000.0, start={"window": 900.0}, constrained=False)
    assert integrate(case, 50.0, start={"window": 900.0}).starts[-1] == 50.0


def test_starts_are_checked() -> None:
    with pytest.raises(ParameterError, match="no such state"):
        integrate(Case.of("threshold"), 1.0, start={"queue": 3.0})
    with pytest.raises(ParameterError, match="not above 0"):
        integrate(Case.of("threshold"), 1.0, start={"window": 0.0})
    with pytest.raises(ParameterError, match="not after the start"):
        integrate(Case.of("threshold"), 0.0)


@pytest.mark.equation("red", 9)
def test_papers_phase_portraits() -> None:
    """At 171 ms gamma 0.032 converges, 0.028 cycles (figure 3)."""
    motions = {
        gamma: integrate(Case.of("red", gamma=gamma, rtt=0.171), 1000.0) for gamma in (0.032, 0.028)
    }
    assert motions[0.032].swing(0.1) < 0.01 < 1.0 < motions[0.028].swing(0.1)
