r"""Normal form of a Hopf bifurcation. The normal form shows whether a small stable oscillation
begins at a Hopf point, or whether the oscillation is large from its beginning.

Near a Hopf point the dynamics are those of a complex amplitude z: :math:`\dot z = \lambda(\mu) z +
c_1 z |z|^2 + \dots`, with the root :math:`\lambda` at the parameter value :math:`\mu`. The
coefficient :math:`c_1` follows from the second and third derivatives of the right-hand side along
exponentials, by multilinear forms (Kuznetsov 2004, section 5.4; Janssens 2010 for delays). The
right-hand side is a function of the whole history, including delays. A delay that depends on the
state therefore needs no additional terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case
from lasthop.stability.errors import ParameterError
from lasthop.stability.hopf import HopfPoint, transversality
from lasthop.stability.series import Series, exp

Vector = NDArray[np.complexfloating[Any, Any]]


@dataclass(frozen=True)
class Mode:
    r"""An exponential history :math:`c e^{\lambda\theta}` of the states, at the time :math:`\theta
    \le 0`.
    """

    vector: Vector
    rate: complex

    def conjugate(self) -> "Mode":
        """Return the complex conjugate of the history."""
        return Mode(self.vector.conj(), complex(self.rate).conjugate())


@dataclass(frozen=True)
class NormalForm:
    """Normal form of a Hopf bifurcation, which shows whether the bifurcation is supercritical.

    Parameters
    ----------
    point : HopfPoint
        Hopf point.
    vector : array
        Critical eigenvector. Its first component, which belongs to the (first) window, is 1. [-]
    c1 : complex
        Coefficient of :math:`z|z|^2`, Hassard's :math:`c_1(0)`. [1/s per packet squared]
    mu2 : float
        Change of the parameter divided by the squared amplitude, :math:`-\\Re c_1 / \\alpha'(0)`.
        :math:`\\alpha'(0)` is the derivative of the real part of the root. If the roots cross from
        left to right as the parameter increases, a positive value means that the cycle exists on
        the unstable side. [parameter per packet squared]
    beta2 : float
        Floquet coefficient, :math:`2 \\Re c_1`, which is negative if the cycle is stable. [1/s per
        packet squared]
    """

    point: HopfPoint
    vector: Vector
    c1: complex
    mu2: float
    beta2: float

    @property
    def supercritical(self) -> bool:
        """Whether the bifurcation is supercritical: a small stable cycle exists on the unstable
        side.
        """
        return self.beta2 < 0.0

    @property
    def lyapunov(self) -> float:
        r"""First Lyapunov coefficient, :math:`\Re c_1 / \omega_0`, with the frequency
        :math:`\omega_0`. [1 / packets squared]
        """
        return self.c1.real / self.point.frequency

    def amplitude(self, value: float) -> float | None:
        r"""Return half the peak-to-peak oscillation of the window at a value :math:`\mu` of the
        parameter, to leading order. [packets]

        .. math:: 2 \sqrt{(\mu - \mu_c) / \mu_2}

        :math:`\mu_c` is the value at the Hopf point. The result is None on the side without the
        cycle.
        """
        ratio = (value - self.point.value) / self.mu2
        return 2.0 * float(np.sqrt(ratio)) if ratio >= 0.0 else None

    def mu2_of(self, parameter: str) -> float:
        """Return the coefficient `mu2` at this Hopf point for another varied parameter, such as
        ``"kappa"``.

        Raises
        ------
        ParameterError
            If the model has no such parameter, or if the parameter does not affect the roots.
        """
        self.point.case.number(parameter)
        speed = transversality(self.point.case, parameter, 1j * self.point.frequency)
        if not abs(speed.real) > 0.0:
            raise ParameterError(f"`{parameter}`: does not move the roots at this point")
        return -self.c1.real / speed.real


def normal_form(point: HopfPoint) -> NormalForm:
    """Return the normal form at a Hopf point.

    Notes
    -----
    The coefficients are those of Manjunath & Raina, Eqs. (67), (68), which the paper derives for
    the bifurcation parameter kappa and two states.
    """
    case, omega = point.case, point.frequency
    linear = case.linear
    left, _, right = np.linalg.svd(linear.characteristic(1j * omega))
    q = right[-1].conj()
    q = q / q[0]
    p = left[:, -1].conj()
    p = p / (p @ linear.slope(1j * omega) @ q)
    wave = Mode(q, 1j * omega)
    back = wave.conjugate()
    derivatives = _Derivatives(case)
    twice = linear.characteristic(2j * omega)
    still = linear.characteristic(0.0)
    h20 = Mode(np.linalg.solve(twice, derivatives.second(wave, wave)), 2j * omega)
    h11 = Mode(np.linalg.solve(still, derivatives.second(wave, back)), 0.0)
    forced = (
        derivatives.third(wave, wave, back)
        + derivatives.second(back, h20)
        + 2.0 * derivatives.second(wave, h11)
    )
    c1 = complex(0.5 * (p @ forced))
    return NormalForm(point, q, c1, -c1.real / point.speed.real, 2.0 * c1.real)


@dataclass(frozen=True)
class _Derivatives:
    """Second and third directional derivatives of the right-hand side along histories, as
    multilinear forms.
    """

    case: Case

    def along(self, modes: Sequence[Mode], weights: Sequence[complex]) -> NDArray[np.complex128]:
        """Return the Taylor coefficients 0 to 3 of the time derivatives along a weighted sum of
        exponential histories.
        """
        case = self.case
        rest = case.equilibrium
        step = Series.line(0.0, 1.0, order=3)
        vectors = [weight * mode.vector for weight, mode in zip(weights, modes, strict=True)]
        now = [rest[i] + step * sum(v[i] for v in vectors) for i in range(len(rest))]
        lagged = []
        for delay in case.model.delays(case.derived, now):
            decays = [exp(mode.rate * delay * -1.0) for mode in modes]
            pairs = list(zip(vectors, decays, strict=True))
            shifts = [step * sum((v[i] * d for v, d in pairs), 0.0) for i in range(len(rest))]
            lagged.append([x + shift for x, shift in zip(rest, shifts, strict=True)])
        rates: list[Any] = case.model.rates(case.derived, now, lagged)
        return np.stack([rate.coefficients for rate in rates], axis=1)

    def second(self, a: Mode, b: Mode) -> Vector:
        """Return the bilinear form of the second derivative of two histories, by polarisation."""
        plus, minus = self.along([a, b], [1.0, 1.0]), self.along([a, b], [1.0, -1.0])
        return np.asarray(2.0 * (plus[2] - minus[2]) / 4.0)

    def third(self, a: Mode, b: Mode, c: Mode) -> Vector:
        """Return the trilinear form of the third derivative of three histories, by polarisation."""
        signs = [(1.0, s, t) for s in (1.0, -1.0) for t in (1.0, -1.0)]
        terms = [s * t * self.along([a, b, c], sign)[3] for sign in signs for _, s, t in [sign]]
        return np.asarray(6.0 * sum(terms) / 24.0)
