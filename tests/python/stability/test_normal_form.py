"""The Hopf normal form, checked by hand, by the signs in the errata, and by limit cycles."""

import sys

import numpy as np
import pytest

from lasthop.stability import Case, branch, hopf_points, normal_form
from lasthop.stability.normal_form import NormalForm


def form_of(model: str, name: str, low: float, high: float, **values: object) -> NormalForm:
    [point] = hopf_points(Case.of(model, values), name, low, high)
    return normal_form(point)


@pytest.mark.equation("red", 67)
def test_threshold_policy_is_as_worked_by_hand() -> None:
    """Compare the normal form of the threshold policy with a computation by hand. With one delay
    and one state, the paper's coefficients g20, g11 and g21 follow from Taylor coefficients.
    """
    form = form_of("threshold", "q_th", 5.0, 100.0)
    case, omega = form.point.case, form.point.frequency
    [w], m, tau = case.equilibrium, case.values["q_th"], 1.0
    alpha, k, beta, pipe = 0.125, 0.75, 0.5, 100.0
    i = [alpha * c * w ** (k - 1 - n) for n, c in enumerate((1, k - 1, (k - 1) * (k - 2)))]
    i.append(alpha * (k - 1) * (k - 2) * (k - 3) * w ** (k - 4))
    d = [beta * w, beta]
    p = [(w / pipe) ** m * c / w**n for n, c in enumerate((1, m, m * (m - 1)))]
    p.append((w / pipe) ** m * m * (m - 1) * (m - 2) / w**3)
    # The rate of change of the window is G(x, y) y / tau.
    # Here x is the present window, and y is the delayed window.
    # G = i (1 - p) - d p, with increase i, decrease d and drop probability p.
    # `gx` and `gy` are the derivatives of G by x and by y.
    gx = [i[1] * (1 - p[0]) - d[1] * p[0], i[2] * (1 - p[0]), i[3] * (1 - p[0])]
    gy = [-(i[0] + d[0]) * q for q in p[1:]]
    gxy, gxxy, gxyy = -(i[1] + d[1]) * p[1], -i[2] * p[1], -(i[1] + d[1]) * p[2]
    fxx, fxy, fyy = gx[1] * w, gx[0] + gxy * w, 2 * gy[0] + gy[1] * w
    fxxx, fxxy = gx[2] * w, gx[1] + gxxy * w
    fxyy, fyyy = 2 * gxy + gxyy * w, 3 * gy[1] + gy[2] * w
    e = np.exp(-1j * omega * tau)

    def two(a, b):
        (a0, a1), (b0, b1) = a, b
        return (fxx * a0 * b0 + fxy * (a0 * b1 + a1 * b0) + fyy * a1 * b1) / tau

    def three(a, b, c):
        (a0, a1), (b0, b1), (c0, c1) = a, b, c
        mixed = a0 * b0 * c1 + a0 * b1 * c0 + a1 * b0 * c0
        other = a0 * b1 * c1 + a1 * b0 * c1 + a1 * b1 * c0
        return (fxxx * a0 * b0 * c0 + fxxy * mixed + fxyy * other + fyyy * a1 * b1 * c1) / tau

    a1, a2 = -gx[0] * w / tau, -gy[0] * w / tau
    q, back = (1.0, e), (1.0, e.conjugate())
    bar = 1.0 / (1.0 - tau * a2 * e)
    g20, g11, g02 = bar * two(q, q), bar * two(q, back), bar * two(back, back)
    ee, ff = two(q, q) / (2j * omega + a1 + a2 * e * e), two(q, back) / (a1 + a2)

    def manifold(theta):
        r = np.exp(1j * omega * theta)
        w20 = 1j * g20 / omega * r + 1j * np.conj(g02) / (3 * omega) / r + ee * r * r
        w11 = -1j * g11 / omega * r + 1j * np.conj(g11) / omega / r + ff
        return w20, w11

    (w20, w11), (w20d, w11d) = manifold(0.0), manifold(-tau)
    g21 = bar * (three(q, q, back) + two(back, (w20, w20d)) + 2 * two(q, (w11, w11d)))
    c1 = 1j / (2 * omega) * (g20 * g11 - 2 * abs(g11) ** 2 - abs(g02) ** 2 / 3) + g21 / 2
    assert form.c1 == pytest.approx(c1, rel=1e-9)
    assert form.mu2 == pytest.approx(-c1.real / form.point.speed.real, rel=1e-9)
    assert form.beta2 == pytest.approx(2.0 * c1.real, rel=1e-9)


@pytest.mark.equation("red", 68)
def test_kind_of_the_papers_hopf_points() -> None:
    assert not form_of("red", "rtt", 0.01, 1.0).supercritical  # Hopf point of figure 2a
    assert form_of("red", "rtt", 0.01, 1.0, gamma=0.03).supercritical  # Hopf point of figure 2b
    instant = form_of("red-instant", "rtt", 0.01, 2.0)  # figure 20, default parameters
    assert instant.supercritical
    assert instant.mu2_of("kappa") > 0.0 > instant.beta2


@pytest.mark.parametrize(
    ("gamma", "supercritical"),
    [(1e-4, False), (3.5e-3, False), (4.5e-3, True), (0.032, True), (0.035, False), (0.1, False)],
)
def test_kind_changes_along_figure_2b(gamma: float, supercritical: bool) -> None:
    assert form_of("red", "rtt", 0.01, 1.0, gamma=gamma).supercritical is supercritical


def test_mu2_of_kappa_depends_only_on_the_pipe() -> None:
    forms = [form_of("red-instant", "rtt", 0.5 / c, 200.0 / c, capacity=c) for c in (50.0, 400.0)]
    assert forms[0].mu2_of("kappa") == pytest.approx(forms[1].mu2_of("kappa"), rel=1e-6)


CASES = [
    ("threshold", "q_th", 5.0, 100.0, {}),
    ("red-instant", "rtt", 0.01, 2.0, {}),
    ("red", "rtt", 0.01, 1.0, {"gamma": 0.03}),
    ("red", "rtt", 0.01, 1.0, {"gamma": 0.002}),
    ("red", "rtt", 0.1, 2.0, {"delay": "queueing"}),
]


@pytest.mark.smoke(2)
@pytest.mark.parametrize(("model", "name", "low", "high", "values"), CASES)
def test_amplitude_is_that_of_shrinking_cycles(
    model: str,
    name: str,
    low: float,
    high: float,
    values: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For small cycles, the distance of the parameter from the Hopf point divided by the square of
    the amplitude tends to mu2 / 4.
    """
    monkeypatch.setattr(
        sys.modules["lasthop.stability.branch"], "FINEST", 0
    )  # One mesh is used for all cycles.
    [point] = hopf_points(Case.of(model, values), name, low, high)
    # The test uses differences between two cycles.
    # The small error of the Hopf point, which is due to the mesh, then cancels.
    pairs = [
        [branch(point, low, high, cycles=1, intervals=30, amplitude=s) for s in (part, 2.0 * part)]
        for part in (0.01, 0.005)
    ]
    errors = []
    for small, large in pairs:
        change = float(large.values[0] - small.values[0])
        squares = large.cycles[0].amplitude ** 2 - small.cycles[0].amplitude ** 2
        errors.append(abs(4.0 * change / squares / small.form.mu2 - 1.0))
        assert small.cycles[0].stable is small.form.supercritical
    assert errors[1] < 0.02
    assert errors[1] < 0.4 * errors[0] or errors[1] < 1e-3
