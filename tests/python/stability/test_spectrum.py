"""Characteristic roots against cases solved by hand."""

import numpy as np
import pytest
from scipy.special import lambertw

from lasthop.stability import MODELS, Case, roots
from lasthop.stability.case import Linear
from lasthop.stability.spectrum import collocated, polished


def scalar(a: float, b: float, delay: float) -> Linear:
    """Return u' = -a u(t) - b u(t - delay), of which many stand along an axis of length 1."""
    return Linear(np.array([[[-a]]]), np.array([[[[-b]]]]), np.array([[delay]]))


@pytest.mark.parametrize(("a", "b", "delay"), [(0.0, 1.0, 1.0), (0.3, 2.0, 0.5), (1.0, 0.2, 3.0)])
def test_scalar_roots_are_those_of_lamberts_w(a: float, b: float, delay: float) -> None:
    # lambda + a + b exp(-lambda tau) = 0 has the roots W_k(-b tau exp(a tau)) / tau - a.
    argument = -b * delay * np.exp(a * delay)
    exact = np.array([lambertw(argument, k) for k in range(-6, 6)]) / delay - a
    exact = exact[np.argsort(-exact.real)][:4]
    found = collocated(scalar(a, b, delay), 30)[0, :4]
    assert np.allclose(np.sort_complex(found), np.sort_complex(exact), rtol=1e-9)
    assert np.allclose(polished(scalar(a, b, delay), exact[None] * 1.001), exact, rtol=1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_polishing_moves_no_root_in_its_eighth_digit(name: str) -> None:
    found = roots(Case.of(name), 4)
    assert len(found.values) >= 2
    scale = np.abs(found.values) + 1.0 / max(Case.of(name).delays)
    assert np.all(np.abs(found.values - found.unpolished) < 1e-8 * scale)


def test_spurious_eigenvalue_that_newton_moves_to_a_root_hides_none() -> None:
    found = roots(Case.of("red-instant", rtt=0.15762871744515752), 2)
    assert len(found.values) == 2
    assert found.stable


def test_no_root_to_the_right_is_missed() -> None:
    # The argument of det along a contour counts the roots inside it.
    case = Case.of("red", gamma=0.03, rtt=0.3)
    found = roots(case, 6)
    right = -1e-3
    omega = np.linspace(-200.0, 200.0, 40001)
    line = np.linalg.det(case.linear.characteristic(right + 1j * omega))
    # Far to the right det behaves as lambda^3, whose argument turns by 3 pi.
    turned = np.diff(np.unwrap(np.angle(line)))
    count = round((3.0 * np.pi - turned.sum()) / (2.0 * np.pi))
    assert count == np.sum(found.values.real > right) == 2


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
