"""Time integration: exact solutions, numerical error, growth rates, and the minimum of the
queue.
"""

import numpy as np
import pytest
from scipy.optimize import least_squares

from lasthop.stability import (
    MODELS,
    Case,
    ConvergenceError,
    NoEquilibriumError,
    ParameterError,
    hopf_points,
    integrate,
    mode,
    named,
    roots,
)
from lasthop.stability.models.red import RedDerived
from lasthop.stability.settling import manner

POINTS = [
    ("red", "rtt", 0.01, 1.0, {"gamma": 0.03}),
    ("red", "rtt", 0.01, 1.0, {}),
    ("red", "rtt", 0.1, 3.0, {"delay": "queueing"}),
    ("red", "rtt", 0.01, 1.0, {"gamma": 0.03, "feedback": "ecn"}),
    ("red-instant", "rtt", 0.1, 1.0, {}),
    ("red-instant", "rtt", 0.1, 3.0, {"feedback": "ecn", "delay": "queueing"}),
    ("pi", "rtt", 0.1, 3.0, {}),
    ("pi", "flows", 2.0, 60.0, {"tcp": "reno", "feedback": "ecn", "link_capacity": 3750.0}),
    ("threshold", "q_th", 5.0, 100.0, {}),
    ("threshold", "q_th", 5.0, 400.0, {"tcp": "reno"}),
    ("vbs", "alpha", 0.1, 1.0, {}),
    ("red-groups", "rtt_1", 0.02, 1.0, {"gamma": 0.01}),
    ("red-instant-groups", "rtt_1", 0.1, 1.0, {"rtt_2": 0.3}),
    ("red-instant-groups", "max_th", 60.0, 600.0, {"rtt_1": 0.3}),
    ("parking-lot", "rtt_long", 0.02, 1.0, {"gamma": 0.01}),
    ("parking-lot-instant", "capacity_1", 200.0, 1000.0, {}),
]
"""Hopf points of every model: model, parameter, range of the parameter around the point,
settings.
"""


def leading(case: Case) -> complex:
    root = complex(roots(case, 2).values[0])
    return complex(root.real, abs(root.imag))


@pytest.mark.smoke(5)
@pytest.mark.parametrize(("model", "parameter", "low", "high", "values"), POINTS)
def test_small_disturbance_moves_like_the_rightmost_root(
    model: str, parameter: str, low: float, high: float, values: dict[str, object]
) -> None:
    """On both sides of each Hopf point, the growth rate and the frequency of a solution are within
    1 % of the real and imaginary parts of the rightmost root.
    """
    [point] = hopf_points(Case.of(model, values), parameter, low, high)
    signs = set()
    for side in (0.96, 1.04):
        case = point.case.with_(**{parameter: side * point.value})
        root = leading(case)
        signs.add(root.real > 0.0)
        rate, frequency = measured(case, root)
        assert rate == pytest.approx(root.real, rel=0.01)
        assert frequency == pytest.approx(root.imag, rel=0.01)
    assert signs == {True, False}


def measured(case: Case, root: complex) -> tuple[float, float]:
    """Return the growth rate and the frequency of a solution that begins in the mode of a root. An
    exponentially growing wave is fitted to the solution.
    """
    end = 10.0 * np.pi / root.imag
    start = mode(case, root, 1e-5 * case.equilibrium[0])
    trajectory = integrate(case, end, start=start, constrained=False, tolerance=1e-11)
    times = np.linspace(0.0, end, 1500)
    amplitude = trajectory.at(times)[0] - case.equilibrium[0]

    def misfit(guess: np.ndarray) -> np.ndarray:
        waves = np.exp(guess[0] * times) * np.stack(
            [np.cos(guess[1] * times), np.sin(guess[1] * times)]
        )
        return (
            np.linalg.lstsq(waves.T, amplitude, rcond=None)[0] @ waves - amplitude
        ) / amplitude.max()

    first = np.array([0.8 * root.real, 1.01 * root.imag])
    return tuple(least_squares(misfit, first, x_scale=np.abs(first)).x)


def test_growth_is_measured_in_every_model() -> None:
    assert {model for model, *_ in POINTS} == set(MODELS)


def test_error_falls_with_the_tolerance() -> None:
    case = Case.of("threshold", q_th=45.0)
    exact = integrate(case, 20.0, constrained=False, tolerance=1e-12).at(np.linspace(0, 20, 50))
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        trajectory = integrate(case, 20.0, constrained=False, tolerance=tolerance)
        errors.append(np.abs(trajectory.at(np.linspace(0, 20, 50)) - exact).max())
    assert errors[0] > 10.0 * errors[1] > 100.0 * errors[2]
    assert errors[2] < 1e-4


def test_the_method_of_steps_is_as_worked_by_hand() -> None:
    """During the first delay, in which the delayed window is constant, the window of the threshold
    policy changes exponentially.

    For k = 1 the equation is w' = (alpha (1 - p) - beta p w) c, where p is the drop probability and
    c is the delayed rate. Both p and c are constant during the first delay, so that the solution is
    an exponential function.
    """
    case = Case.of("threshold", k=1.0, q_th=2.0)
    [rest] = case.equilibrium
    past = 1.2 * rest
    trajectory = integrate(case, 1.0, start={"window": past}, constrained=False, tolerance=1e-12)
    p, c = (past / 100.0) ** 2.0, past
    times = np.linspace(0.0, 1.0, 11)
    target = 0.125 * (1.0 - p) / (0.5 * p)
    exact = target + (past - target) * np.exp(-0.5 * p * c * times)
    assert np.allclose(trajectory.at(times)[0], exact, rtol=1e-9)


@pytest.mark.parametrize("until_s", [1e-3, 0.05, 0.5])
def test_the_end_of_a_motion_shorter_than_its_delay_is_known(until_s: float) -> None:
    assert manner(integrate(named("threshold"), until_s)) is not None


def test_interpolant_passes_through_the_steps() -> None:
    trajectory = integrate(Case.of("red", gamma=0.03), 3.0)
    assert np.allclose(trajectory.at(trajectory.starts), trajectory.values, rtol=1e-12)
    assert trajectory.starts[-1] == 3.0


def test_queue_stops_at_its_floor_and_leaves_it() -> None:
    case = Case.of("red", gamma=0.03, rtt=0.3, min_th=1.0, max_th=100.0)
    trajectory = integrate(case, 60.0)
    queue = trajectory.at(np.linspace(0.0, 60.0, 20001))[1]
    assert queue.min() > -1e-9
    assert 0.05 < np.mean(queue < 1e-9) < 0.95
    assert np.diff(np.signbit(queue - 1e-6).astype(int)).any()


def test_queue_stops_at_the_end_of_the_buffer_and_leaves_it() -> None:
    case = named("red-dumbbell", {"buffer": 110.0, "least_window": 1.0})
    queue = 60.0 * integrate(case, 60.0).at(np.linspace(0.0, 60.0, 20001))[1]
    assert queue.max() == pytest.approx(110.0, abs=1e-9)
    assert 0.01 < np.mean(queue > 110.0 - 1e-6) < 0.5
    assert np.diff(np.signbit(queue - 109.0).astype(int)).any()


def test_a_full_buffer_loses_the_excess_of_the_link() -> None:
    """At a full buffer with loss l, the sending rate multiplied by 1 - l equals the capacity."""
    case = named("red-dumbbell", {"buffer": 110.0})
    p = case.derived.within_constraints(True)
    assert isinstance(p, RedDerived)
    full, window = 110.0 / 60.0, 60.0
    [loss] = case.model.loss(p, [window, full, 0.9])
    sent = window / (p.rtts[0] + full / p.capacity)
    assert (1.0 - loss) * sent == pytest.approx(p.capacity, rel=1e-12)
    assert case.model.loss(p, [window, 0.99 * full, 0.9])[0] < 0.1 * loss


def test_a_buffer_below_the_equilibrium_queue_is_refused() -> None:
    with pytest.raises(NoEquilibriumError, match=r"settle at 51\.87 packets, and buffer = 51 ends"):
        _ = named("red-dumbbell", {"buffer": 51.0}).equilibrium
    assert named("red-dumbbell", {"buffer": 52.0}).equilibrium[1] < 52.0 / 60.0


def test_the_window_stops_at_its_minimum() -> None:
    """After a large change the window of the equations falls to 0, but a sender keeps a window of
    at least one packet.
    """
    pushed = {"window": 80.0}
    with pytest.raises(ConvergenceError, match="a window falls to 0"):
        integrate(named("red-dumbbell"), 60.0, start=pushed)
    case = named("red-dumbbell", {"least_window": 1.0})
    window = integrate(case, 60.0, start=pushed).at(np.linspace(0.0, 60.0, 20001))[0]
    assert window.min() == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(NoEquilibriumError, match="below least_window = 30"):
        _ = named("red-dumbbell", {"least_window": 30.0}).equilibrium


def test_strict_red_without_averaging_holds_the_queue_at_its_threshold() -> None:
    """If every packet is dropped, the queue cannot grow. The jump of RED's drop probability then
    acts like a full buffer.
    """
    case = Case.of("red-instant", rtt=0.4, min_th=2.0, max_th=8.0, max_p=0.02, drop="strict")
    queue = integrate(case, 60.0, start={"window": 60.0}).at(np.linspace(0.0, 60.0, 9001))[1]
    assert queue.max() == pytest.approx(8.0, abs=1e-9)


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
    with pytest.raises(ParameterError, match=r"`queue`: 5 is not in 0..2"):
        integrate(named("red-dumbbell", {"buffer": 120.0}), 1.0, start={"queue": 5.0})
    with pytest.raises(ParameterError, match="not after the start"):
        integrate(Case.of("threshold"), 0.0)


@pytest.mark.slow
@pytest.mark.equation("red", 9)
def test_phase_portraits_of_the_paper_are_reproduced() -> None:
    """At 171 ms, the solution converges with gamma = 0.032 and approaches a limit cycle with gamma
    = 0.028 (figure 3).
    """
    trajectories = {
        gamma: integrate(Case.of("red", gamma=gamma, rtt=0.171), 1000.0) for gamma in (0.032, 0.028)
    }
    assert trajectories[0.032].amplitude(0.1) < 0.01 < 1.0 < trajectories[0.028].amplitude(0.1)


@pytest.mark.parametrize(
    ("start", "constrained"),
    [
        ({"average": float("nan")}, True),
        ({"queue": float("inf")}, True),
        ({"window": 1e9}, True),
        ({"window": 1e-9}, True),
        ({"window": float("nan")}, False),
        (lambda _: [float("nan"), 1.0, 1.0], False),
    ],
)
def test_starts_out_of_range_are_refused(start: object, constrained: bool) -> None:
    with pytest.raises(ParameterError, match=r"^`\w+`: .* is not (a number|in )"):
        integrate(Case.of("red"), 5.0, start=start, constrained=constrained)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan"), float("inf"), 1e-20])
def test_tolerances_that_control_nothing_are_refused(tolerance: float) -> None:
    with pytest.raises(ParameterError, match=r"tolerance .* is not in 1e-13\.\.0\.1"):
        integrate(Case.of("red"), 5.0, tolerance=tolerance)
