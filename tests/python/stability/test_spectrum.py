"""Characteristic roots, compared with equations solved by hand."""

import numpy as np
import pytest
from scipy.special import lambertw

from lasthop.stability import MODELS, Case, ConvergenceError, roots
from lasthop.stability.case import Linear
from lasthop.stability.spectrum import collocated, leading, polished
from lasthop.stability.winding import largest, right_of


def scalar(a: float, b: float, delay: float) -> Linear:
    """Return the scalar equation u' = -a u(t) - b u(t - delay) in the form that the solver
    accepts.
    """
    return Linear(np.array([[[-a]]]), np.array([[[[-b]]]]), np.array([[delay]]))


@pytest.mark.parametrize(("a", "b", "delay"), [(0.0, 1.0, 1.0), (0.3, 2.0, 0.5), (1.0, 0.2, 3.0)])
def test_scalar_roots_are_those_of_lamberts_w(a: float, b: float, delay: float) -> None:
    # The characteristic equation is lambda + a + b exp(-lambda tau) = 0.
    # Its roots are W_k(-b tau exp(a tau)) / tau - a, with the branches W_k of Lambert's function.
    argument = -b * delay * np.exp(a * delay)
    exact = np.array([lambertw(argument, k) for k in range(-6, 6)]) / delay - a
    exact = exact[np.argsort(-exact.real)][:4]
    computed = collocated(scalar(a, b, delay), 30)[0, :4]
    assert np.allclose(np.sort_complex(computed), np.sort_complex(exact), rtol=1e-9)
    assert np.allclose(polished(scalar(a, b, delay), exact[None] * 1.001), exact, rtol=1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_polishing_moves_no_root_in_its_eighth_digit(name: str) -> None:
    spectrum = roots(Case.of(name), 4)
    assert len(spectrum.values) >= 2
    scale = np.abs(spectrum.values) + 1.0 / max(Case.of(name).delays)
    assert np.all(np.abs(spectrum.values - spectrum.unpolished) < 1e-8 * scale)


def test_spurious_eigenvalue_that_newton_moves_to_a_root_hides_none() -> None:
    spectrum = roots(Case.of("red-instant", rtt=0.15762871744515752), 2)
    assert len(spectrum.values) == 2
    assert spectrum.stable


def test_no_root_to_the_right_is_missed() -> None:
    # The number of roots inside a contour is the winding number of the determinant along it.
    case = Case.of("red", gamma=0.03, rtt=0.3)
    spectrum = roots(case, 6)
    right = -1e-3
    omega = np.linspace(-200.0, 200.0, 40001)
    line = np.linalg.det(case.linear.characteristic(right + 1j * omega))
    # Far to the right, the determinant is like lambda^3.
    # On a half circle there, its argument turns by 3 pi.
    turned = np.diff(np.unwrap(np.angle(line)))
    count = round((3.0 * np.pi - turned.sum()) / (2.0 * np.pi))
    assert count == np.sum(spectrum.values.real > right) == 2


def test_characteristic_matrix_is_singular_at_roots() -> None:
    case = Case.of("parking-lot")
    for root in roots(case, 6).values:
        values = np.linalg.svd(case.linear.characteristic(root), compute_uv=False)
        assert values[-1] < 1e-10 * values[0]


@pytest.mark.equation("red", 12)
def test_characteristic_equation_with_averaging_is_the_papers() -> None:
    from lasthop.stability.conditions import loop_coefficients

    case = Case.of("red", gamma=0.03, rtt=0.171)
    a1, a2, a3, a4 = loop_coefficients(case)
    for x in (0.3 + 1.0j, -1.0 + 0.2j, 2.0 - 3.0j):
        printed = x**3 + a1 * x**2 + a2 * x + a3 + a4 * np.exp(-x * 0.171)
        assert np.linalg.det(case.linear.characteristic(x)) == pytest.approx(printed, rel=1e-10)


RENO = {"tcp": "compound-reno", "queue": "total", "min_th": 50.0}


@pytest.mark.parametrize(
    ("model", "values", "expected"),
    [
        (
            "red-groups",
            {"max_th": 100.0, "queue_weight": 0.02, "rtt_1": 0.0023, "rtt_2": 0.43, "share_1": 0.9},
            29.3057 + 513.768j,
        ),
        (
            "red-instant-groups",
            {"max_th": 60.0, "rtt_1": 0.002, "rtt_2": 0.4, "share_1": 0.3},
            171.047 + 659.645j,
        ),
    ],
)
def test_rightmost_pair_is_found_far_from_0(
    model: str, values: dict[str, float], expected: complex
) -> None:
    """The system has a short and a long delay. Collocation points for the long delay do not resolve
    this pair of roots.
    """
    spectrum = roots(Case.of(model, {**RENO, "capacity": 1000.0, **values}), 2)
    assert spectrum.values[0] == pytest.approx(expected, rel=1e-5)
    assert not spectrum.stable


def boxed(linear: Linear, left: float, right: float, top: float) -> int:
    """Return the number of roots in a box, from the winding number of the determinant along its
    edges. The edges are divided until the argument changes slowly.
    """
    corners = [right - 1j * top, right + 1j * top, left + 1j * top, left - 1j * top]
    turn = 0.0
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        part = np.linspace(0.0, 1.0, 4001)
        for _ in range(30):
            sign = np.linalg.slogdet(linear.characteristic(start + (end - start) * part))[0]
            turns = np.angle(sign[1:] / sign[:-1])
            wide = np.flatnonzero(np.abs(turns) > 0.3)
            if len(wide) == 0:
                break
            part = np.insert(part, wide + 1, 0.5 * (part[wide] + part[wide + 1]))
        turn += float(turns.sum())
    return round(turn / (2.0 * np.pi))


@pytest.mark.slow
def test_no_root_of_two_delays_is_missed() -> None:
    random = np.random.default_rng(7)
    unstable = 0
    for k in range(40):
        values = {
            "max_th": random.choice([60.0, 75.0, 100.0]),
            "capacity": random.choice([50.0, 138.9, 1000.0]),
            "share_1": random.choice([0.1, 0.5, 0.9]),
            "rtt_1": 10 ** random.uniform(-3, -1.7),
            "rtt_2": 10 ** random.uniform(-1, 0),
            **({"queue_weight": 0.02} if k % 2 else {}),
        }
        case = Case.of("red-groups" if k % 2 else "red-instant-groups", {**RENO, **values})
        first = roots(case, 2).values[0]
        line = first.real + 1e-4 * (abs(first) + 1.0)
        far = 2.0 * float(largest(case.linear, min(line, 0.0))) + abs(line)
        assert boxed(case.linear, line, far, far) == 0, values
        counted = right_of(case.linear, 0.0)
        assert counted is not None
        assert counted.number == boxed(case.linear, 0.0, far, far), values
        unstable += first.real > 0.0
    assert 5 < unstable < 35


def test_hundreds_of_unstable_roots_are_found() -> None:
    case = Case.of("red", RENO, max_th=100.0, capacity=138.9, queue_weight=1.2e-4, rtt=238.0)
    counted = right_of(case.linear, 0.0)
    assert counted is not None
    assert counted.number > 100
    first = complex(roots(case, 1).values[0])
    assert right_of(case.linear, 1.001 * first.real).number == 0
    assert right_of(case.linear, 0.999 * first.real).number > 0


def test_signs_of_many_systems_are_those_of_each() -> None:
    case = Case.of("red-groups", RENO, max_th=100.0, queue_weight=0.02, rtt_1=0.013, rtt_2=0.66)
    _, linear = case.over(capacity=np.geomspace(2.0, 1000.0, 12))
    signs = [right_of(linear[k], 0.0).number == 0 for k in range(12)]
    assert list(leading(linear).real < 0.0) == signs
    assert 0 < sum(signs) < 12


def test_uncertain_roots_are_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lasthop.stability.spectrum.right_of", lambda *_: None)
    with pytest.raises(ConvergenceError, match="rightmost root is not sure"):
        roots(Case.of("red"))
