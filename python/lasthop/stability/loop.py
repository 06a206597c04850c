"""Control loop of a queue with a PI controller: stability margins, and the design rule of the
controller's authors.

C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On designing improved controllers for AQM routers
supporting TCP flows", INFOCOM 2001.
"""

from dataclasses import dataclass
from math import degrees, hypot, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case
from lasthop.stability.models.pi import PiDerived

LOWEST, HIGHEST, POINTS = 1e-9, 1e3, 12001
"""Lowest and highest examined frequency, multiplied by the longest delay, and number of examined
frequencies.
"""
CROSSOVER = 0.13
"""Crossover frequency of the example of Hollot et al., 0.53 rad/s, multiplied by its round-trip
time. [-]
"""
AT_THE_EDGE = 1e-9
"""Largest difference from 1 that a gain margin of 1 may have due to rounding errors. [-]"""


@dataclass(frozen=True)
class Loop:
    """A PI controller, with the stability margins of its loop.

    Parameters
    ----------
    a, b : float
        Coefficients of the controller. [1/packet]
    k_pi : float
        Gain K of :math:`K (s/z + 1)/s`. [1/(packet s)]
    z : float
        Zero of the controller. [rad/s]
    crossover : float or None
        Frequency at which the loop's gain is 1; None if the gain is 1 at no frequency above
        `LOWEST` divided by the delay. [rad/s]
    phase_margin_degrees : float or None
        Additional phase lag at the crossover frequency up to which the loop is stable; negative if
        the loop is unstable. None without a crossover frequency. [degrees]
    gain_margin : float or None
        Factor by which both coefficients must be multiplied to reach the edge of stability; None if
        there is no such factor. [-]
    delay_margin_s : float or None
        Additional delay up to which the loop is stable; None if the loop is unstable. [s]
    """

    a: float
    b: float
    k_pi: float
    z: float
    crossover: float | None
    phase_margin_degrees: float | None
    gain_margin: float | None
    delay_margin_s: float | None


def loop_gain(case: Case, frequency: Any) -> NDArray[np.complex128]:
    r"""Return the open-loop gain of a PI queue, with the loop opened at the drop probability. [-]

    .. math:: L(s) = \frac{C^2}{2N} \frac{e^{-sR}}{(s + 2N/(R^2 C))(s + 1/R)} \frac{K (s/z + 1)}{s}

    Parameters
    ----------
    case : Case
        A case with a PI queue.
    frequency : array
        Frequencies, :math:`s = j\omega`. [rad/s]

    Notes
    -----
    The formula is that of Hollot et al. 2001 for Reno, marks and large windows: N flows, round-trip
    time R, capacity C, and gain K and zero z of the controller. The function does not use this
    formula. The gain is computed from the linearised system, whose characteristic determinant is
    the determinant of the open loop times :math:`1 + L`.
    """
    s = 1j * np.asarray(frequency, dtype=np.float64)
    closed = case.linear.characteristic(s)
    opened = closed.copy()
    opened[..., -1] = 0.0
    opened[..., -1, -1] = s
    fed = (closed - opened)[..., -1:]
    return np.asarray(np.linalg.solve(opened, fed)[..., -1, 0])


def loop(case: Case) -> Loop:
    """Return the controller and the stability margins of a case with a PI queue.

    If the gain is 1 at several frequencies, the smallest margins are returned.
    """
    from scipy.optimize import brentq

    omega = np.geomspace(LOWEST, HIGHEST, POINTS) / max(case.delays)
    gain = loop_gain(case, omega)
    lag = np.unwrap(np.angle(gain))
    # Add 180 degrees, so that `lag` is the phase margin: it is positive where the phase is above
    # -180 degrees.
    lag += pi - 2.0 * pi * np.ceil((lag[0] - 0.5 * pi) / (2.0 * pi))

    def passed(values: NDArray[np.float64], of: Any) -> list[tuple[float, float, float]]:
        """Return frequency, gain and phase margin at each zero of the function `of`. Its arguments
        are the gain and the phase margin. `values` are the values of this function at the
        frequencies `omega`.
        """
        results = []
        for k in np.flatnonzero(np.diff(np.sign(values))):

            def at(w: float, k: int = int(k)) -> tuple[float, float]:
                here = complex(loop_gain(case, w))
                return abs(here), float(lag[k] + np.angle(here / gain[k]))

            w = float(brentq(lambda w, at=at: of(*at(w)), omega[k], omega[k + 1], rtol=1e-13))
            results.append((w, *at(w)))
        return results

    crossings = passed(np.log(np.abs(gain)), lambda size, _: np.log(size))
    crossover, _, margin = min(crossings, key=lambda each: each[2], default=(None, 1.0, pi))
    factors = [1.0 / size for _, size, _ in passed(lag, lambda _, margin: margin)]
    if margin > 0.0:
        gain_margin = min((x for x in factors if x > 1.0 - AT_THE_EDGE), default=None)
    else:
        gain_margin = max((x for x in factors if x < 1.0 + AT_THE_EDGE), default=None)
    delay = min((margin / w for w, _, margin in crossings), default=None)
    p = case.derived
    assert isinstance(p, PiDerived)
    return Loop(
        case.values["a"],
        case.values["b"],
        float(p.integral),
        float(p.integral / p.proportional),
        crossover,
        None if crossover is None else degrees(margin),
        gain_margin,
        delay if margin > 0.0 else None,
    )


def designed(case: Case) -> Case | None:
    r"""Return a case with the PI coefficients of the design rule of Hollot et al.; None if the rule
    has no solution.

    .. math:: z = \frac{2N}{R^2 C}, \qquad
        K = \omega_g z \left|j\omega_g + \frac{1}{R}\right| \frac{2N}{C^2}

    Notes
    -----
    The rule is that of Hollot et al. 2001 for N flows, round-trip time R and capacity C. The
    crossover frequency :math:`\omega_g` is `CROSSOVER` / R, which leaves a phase margin of 75
    degrees. For other window rules, z is the pole of the window, and K is chosen such that the gain
    is 1 at :math:`\omega_g`. The case must have a single round-trip time, and update intervals that
    are short compared with 1/z.
    """
    p = case.derived
    assert isinstance(p, PiDerived)
    update, z = case.values["update"], -float(case.linear.now[0, 0])
    if len(case.delays) > 1 or z * update >= 2.0:
        return None
    frequency = CROSSOVER / case.delays[0]
    controller = abs(p.proportional + p.integral / (1j * frequency))
    plant = abs(complex(loop_gain(case, frequency))) / controller
    k_pi = float(frequency / hypot(frequency / z, 1.0) / plant)
    a, b = k_pi / z + 0.5 * k_pi * update, k_pi / z - 0.5 * k_pi * update
    return case.with_(a=a, b=b) if a <= 1.0 else None
