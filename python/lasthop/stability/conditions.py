"""Stability conditions of papers 000 and 004 in closed form, for comparison with the exact
characteristic roots.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import acos, atan2, pi, sqrt
from typing import Any

from lasthop.stability.case import Case
from lasthop.stability.models.red import RedDerived


@dataclass(frozen=True)
class Condition:
    """A stability condition of a paper, which predicts stability if `left` is less than `right`.

    Parameters
    ----------
    equation : str
        Paper and number of the equation.
    kind : str
        ``"exact"`` if the condition is necessary and sufficient, ``"sufficient"`` if it is only
        sufficient, or ``"not sufficient"`` if it is not sufficient although the paper says so.
    left, right : float
        Both sides of the inequality. [-]
    """

    equation: str
    kind: str
    left: float
    right: float

    @property
    def holds(self) -> bool:
        """Whether the condition holds."""
        return bool(self.left < self.right)


def conditions(case: Case) -> list[Condition]:
    """Return the stability conditions of the papers for a case; an empty list if options of the
    case violate their assumptions.
    """
    name, p = case.model.name, case.derived
    if p.kappa != 1.0:
        return []
    if name in ("threshold", "vbs"):
        return small_buffer(case, name)
    if name not in ("red", "red-instant") or not isinstance(p, RedDerived):
        return []
    if p.rule.name != "compound" or p.queueing or not p.served:
        return []
    return averaged(case) if name == "red" else instantaneous(case)


def small_buffer(case: Case, name: str) -> list[Condition]:
    r"""Return the conditions for a small buffer: paper 004, Eqs. (40) and (41), or paper 000, Eqs.
    (26) and (25). The coefficients :math:`a_1` and :math:`a_2` follow from the linearised model,
    and :math:`\tau` is the delay.

    .. math:: \tau\sqrt{a_2^2 - a_1^2} < \arccos(-a_1/a_2), \qquad a_2 \tau < \pi/2
    """
    a1, a2 = -float(case.linear.now[0, 0]), -float(case.linear.lagged[0, 0, 0])
    [tau] = case.derived.rtts
    exact, sufficient = (
        ("004 (40)", "004 (41)") if name == "threshold" else ("000 (26)", "000 (25)")
    )
    ends = (tau * sqrt(a2 * a2 - a1 * a1), acos(-a1 / a2)) if a2 > a1 else (0.0, pi)
    return [
        Condition(exact, "exact", *ends),
        Condition(sufficient, "sufficient", a2 * tau, pi / 2.0),
    ]


def loop_coefficients(case: Case) -> tuple[float, float, float, float]:
    r"""Return the coefficients a_1 to a_4 of the characteristic equation of a RED queue that
    averages.

    .. math:: \lambda^3 + a_1 \lambda^2 + a_2 \lambda + a_3 + a_4 e^{-\lambda \tau} = 0

    Notes
    -----
    The equation is that of Manjunath & Raina, Eqs. (12) and (13), for Compound TCP.
    """
    (w, loss), p = _rest(case), _red(case)
    alpha, k = (case.values[name] for name in ("alpha", "k"))
    [tau], gain = p.rtts, p.gamma * p.capacity
    grow = alpha * w ** (k - 1.0)
    rho = float(p.drop_curve.slope)
    ease = (2.0 - k) * grow * (1.0 - loss)
    return (
        gain + ease / tau,
        gain * (rho * w + ease) / tau,
        rho * gain * p.capacity * (2.0 - k) * grow / tau,
        rho * gain * p.capacity * grow / (loss * tau),
    )


def _red(case: Case) -> RedDerived:
    """Return the derived constants of a case with a RED queue."""
    assert isinstance(case.derived, RedDerived)
    return case.derived


def _rest(case: Case) -> tuple[float, float]:
    """Return the window and the loss probability of a case at equilibrium."""
    rest: Any = case.equilibrium
    return float(rest[0]), float(case.model.loss(case.derived, list(rest))[0])


def crossing_frequency(case: Case, turns: int = 0) -> float:
    r"""Return the frequency at which the phase lag of the control loop is :math:`\pi` plus full
    turns of :math:`2\pi`. [rad/s]

    Parameters
    ----------
    case : Case
        Case with a RED queue that averages.
    turns : int
        Number of full turns. With 0 the result is omega_c, the smallest such frequency. [-]

    Notes
    -----
    The frequency is defined by Manjunath & Raina before Eq. (15). Their formula uses a tangent,
    which does not distinguish the half planes.
    """
    a1, a2, a3, _ = loop_coefficients(case)
    [tau] = case.derived.rtts
    wanted = (1.0 + 2.0 * turns) * pi

    def lag(omega: float) -> float:
        """Return the phase lag of the loop minus the required lag. The lag of the cubic polynomial
        grows from 0 to 3 pi / 2.
        """
        cubic = atan2(a2 * omega - omega**3, a3 - a1 * omega**2)
        return float(omega * tau + (cubic if cubic >= 0.0 else cubic + 2.0 * pi) - wanted)

    return _root(lag, 0.0, wanted / tau)


def largest_gain(case: Case) -> float:
    """Return the largest gain of the control loop among the frequencies at which its phase lag is
    pi plus full turns. [-]

    The roots of the cubic polynomial are left of the imaginary axis, so that the lag increases with
    frequency. By Nyquist's criterion, each such frequency with a gain above 1 adds a pair of
    unstable roots. Because of a resonance, the gain may be larger at a higher frequency.
    """
    a1, a2, a3, a4 = loop_coefficients(case)
    # Above the frequency `last` the gain is less than 1.
    last = 2.0 * max(a1, sqrt(a2), (a3 + a4) ** (1.0 / 3.0))
    most = 0.0
    for turns in count():
        omega = crossing_frequency(case, turns)
        most = max(most, a4 / abs(complex(a3 - a1 * omega**2, a2 * omega - omega**3)))
        if omega > last or most > 1.0:
            return most
    raise AssertionError("the frequency grows without bound")


def _root(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of an increasing function between `low` and `high`, by bisection."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if increasing(middle) > 0.0 else (middle, high)
    return 0.5 * (low + high)


def averaged(case: Case) -> list[Condition]:
    r"""Return the conditions for a RED queue that averages: paper 004, Eq. (16) at all crossover
    frequencies, and Eq. (18).

    The term that Eq. (18) prints as :math:`\pi^2 / 4(1-p^*)` means :math:`\pi^2 / (4(1-p^*))`. This
    term is the term :math:`\omega_c^2 \tau w^* / \tilde C` of Eq. (17) at :math:`\omega_c = \pi / 2
    \tau`, since :math:`\tilde C \tau = (1-p^*) w^*`. :math:`w^*` and :math:`p^*` are the window and
    the loss probability at equilibrium.
    """
    (w, loss), p = _rest(case), _red(case)
    alpha, k, beta = (case.values[name] for name in ("alpha", "k", "beta"))
    [tau], slope = p.rtts, p.drop_curve.slope
    top = slope * p.gamma * alpha * w**k * p.capacity * tau / loss
    bottom = p.gamma * (slope * w**2 + (2.0 - k) * beta * w**2 * loss)
    return [
        Condition("004 (16)", "exact", largest_gain(case), 1.0),
        Condition(
            "004 (18)", "not sufficient", top / (bottom - pi**2 / (4.0 * (1.0 - loss))), pi / 2
        ),
    ]


def instantaneous(case: Case) -> list[Condition]:
    r"""Return the condition for RED without averaging: paper 004, Eq. (33) as a condition on the
    delay :math:`\tau`, with the correct branch of its arcsine.

    .. math:: \omega_0 \tau < \arg\left(\omega_0^2 - a_2 + j a_1 \omega_0\right)

    :math:`\omega_0` is the frequency at which the gain of the control loop is 1. Without such a
    frequency, the loop is stable for every delay.
    """
    (w, loss), p = _rest(case), _red(case)
    k, beta = (case.values[name] for name in ("k", "beta"))
    [tau], rho = p.rtts, p.drop_curve.slope
    ease = (2.0 - k) * beta * loss
    root = sqrt((rho**2 - ease**2) ** 2 + 4.0 * rho**2 * beta**2)
    if root <= rho**2 + ease**2:
        return [Condition("004 (33)", "exact", 0.0, pi)]
    omega = sqrt((root - rho**2 - ease**2) / 2.0) * w / tau
    a1, a2 = (rho + ease) * w / tau, rho * ease * (w / tau) ** 2
    angle = atan2(a1 * omega, omega**2 - a2)
    return [Condition("004 (33)", "exact", omega * tau, angle)]
