r"""Number of characteristic roots to the right of a vertical line, by the argument principle.

On the line :math:`\Re\lambda = a` write :math:`\lambda = a + i\omega`, and the characteristic
matrix as :math:`\Delta = i\omega I - M(\omega)`. Above a frequency that follows from a bound on
:math:`M` there are no roots, and the change of the argument of :math:`\det \Delta` has a closed
form. Below this frequency, the line is divided into short steps, within which the argument must
change by less than :math:`\pi`. This property follows from a bound, not from sampling: each
eigenvalue of :math:`\Delta(\omega_0)^{-1} \Delta(\omega)` is close to 1. The number of roots is
therefore exact except for rounding errors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Linear

Array = NDArray[np.float64]

POWERS = 30
"""Number of multiplications by a matrix after which an arbitrary positive vector is close to the
Perron vector.
"""
FIRST = 48
"""Initial number of points on a vertical line."""
MAX_PIECES = 64
"""Largest number of pieces into which a step is divided in one round of refinement."""
MAX_POINTS = 400_000
"""Largest number of points on a vertical line. If a line needs more points, the number of roots to
its right is considered uncertain.
"""
ROUNDS = 80
CLOSE_TO_WHOLE = 1e-3
"""Largest difference of the computed number of roots from a whole number that rounding errors may
cause. [-]
"""


@dataclass(frozen=True)
class Count:
    """Number of roots to the right of a vertical line.

    Parameters
    ----------
    number : int
        Number of roots; a complex pair counts as two. [-]
    near : array
        Frequencies at which the line is closest to roots, closest first. [rad/s]
    """

    number: int
    near: Array


def shifted(linear: Linear, centre: complex) -> Linear:
    """Return a shifted system: its roots are the roots of the given system minus `centre`."""
    eye = np.eye(linear.now.shape[-1])
    decay = np.exp(-centre * linear.delays)[:, None, None]
    return Linear(linear.now - centre * eye, linear.lagged * decay, linear.delays)


def largest(linear: Linear, real: Any = 0.0) -> Any:
    r"""Return a bound on :math:`|\lambda - a|` for all roots :math:`\lambda` with :math:`\Re\lambda
    \ge a`. [1/s]

    The eigenvector v of a root satisfies :math:`|\lambda - a| |v| \le B |v|` in each component,
    with the matrix B of moduli of the coefficients. The bound is the largest eigenvalue of B, which
    does not depend on the units of the states. The undelayed coefficient of a state on itself is
    included only if it is positive.
    """
    real = np.asarray(real, dtype=np.float64)
    eye = np.eye(linear.now.shape[-1])
    own = np.einsum("...ii->...i", linear.now) - real[..., None]
    others = np.abs(linear.now) * (1.0 - eye)
    decay = np.exp(-real[..., None] * linear.delays)[..., None, None]
    lagged = np.sum(np.abs(linear.lagged) * decay, axis=-3)
    return _perron(others + eye * np.maximum(own, 0.0)[..., None] + lagged)


def right_of(linear: Linear, real: float) -> Count | None:
    """Return the number of roots of one system with a real part above `real`; None if the number is
    uncertain.

    The number is uncertain if a root is on the line within rounding errors, or if the line would
    have too many points.
    """
    with np.errstate(all="ignore"):
        here = shifted(linear, real)
        states = len(here.now)
        far, speed = _bounds(here)
        if not (np.all(np.isfinite(speed)) and 0.0 < far < np.inf):
            return None
        result = _turned(here, far, speed)
        if result is None:
            return None
        turn, near = result
        # Above the frequency `far`, arg det(I - M / i omega) approaches 0. This argument can
        # therefore be computed as a principal value.
        rest = np.linalg.eigvals(here.characteristic(1j * far) / (1j * far))
        count = 0.5 * states - (turn - float(np.sum(np.angle(rest)))) / np.pi
    if not np.isfinite(count) or abs(count - round(count)) > CLOSE_TO_WHOLE or count < -0.5:
        return None
    return Count(round(count), near)


def pieces_of(linear: Linear) -> float:
    """Return an estimate of the number of points that a count on the imaginary axis requires, from
    a few points.
    """
    with np.errstate(all="ignore"):
        far, speed = _bounds(linear)
        if not (np.all(np.isfinite(speed)) and 0.0 < far < np.inf):
            return 0.0
        omega = _first(far)
        pieces = _pieces(omega, _looked_at(linear, omega, speed)[0], len(speed))
    return float(np.where(np.isnan(pieces), np.inf, pieces).sum())


def _bounds(linear: Linear) -> tuple[float, Array]:
    """Return the frequency above which there is no root, and a bound on the derivative of the
    characteristic matrix.
    """
    total = np.abs(linear.now) + np.abs(linear.lagged).sum(axis=0)
    far = 2.0 * float(_perron(total)) * (1.0 + 1e-9)
    lagged = np.einsum("j,jab->ab", linear.delays, np.abs(linear.lagged))
    return far, np.asarray(np.eye(len(linear.now)) + lagged)


def _first(far: float) -> Array:
    """Return the initial frequencies of the points of a line, up to `far`."""
    return np.append(0.0, np.geomspace(1e-5 * far, far, FIRST))


def _pieces(omega: Array, inverse_step: Array, states: int) -> Array:
    """Return the number of steps into which each piece of a line must be divided."""
    allowed = 0.9 * np.sin(np.pi / max(2, states))
    return np.asarray(np.diff(omega) * np.minimum(inverse_step[1:], inverse_step[:-1]) / allowed)


def _turned(linear: Linear, far: float, speed: Array) -> tuple[float, Array] | None:
    """Return the change of the argument of the determinant from 0 to `far`, and the frequencies
    closest to roots.
    """
    omega = _first(far)
    inverse_step, value = _looked_at(linear, omega, speed)
    for _ in range(ROUNDS):
        pieces = _pieces(omega, inverse_step, len(linear.now))
        if not np.all(np.isfinite(pieces)):
            return None
        long = np.flatnonzero(pieces > 1.0)
        if len(long) == 0:
            turn = float(np.sum(np.angle(value[1:] / value[:-1])))
            return turn, _peaks(omega, inverse_step)
        cuts = np.clip(np.ceil(pieces[long]), 2, MAX_PIECES).astype(int)
        if len(omega) + int(np.sum(cuts - 1)) > MAX_POINTS:
            return None
        step = np.repeat((omega[long + 1] - omega[long]) / cuts, cuts - 1)
        order = np.arange(len(step)) - np.repeat(np.cumsum(cuts - 1) - (cuts - 1), cuts - 1) + 1
        new = np.repeat(omega[long], cuts - 1) + order * step
        places = np.repeat(long + 1, cuts - 1)
        more_step, more_value = _looked_at(linear, new, speed)
        omega = np.insert(omega, places, new)
        inverse_step = np.insert(inverse_step, places, more_step)
        value = np.insert(value, places, more_value)
    return None


def _looked_at(linear: Linear, omega: Array, speed: Array) -> tuple[Array, NDArray[np.complex128]]:
    r"""Return the reciprocal of a sufficiently short step at each frequency, and the determinant
    divided by its modulus.

    In each component, :math:`|\Delta(\omega_0)^{-1} (\Delta(\omega) - \Delta(\omega_0))|` is at
    most the step times :math:`|\Delta(\omega_0)^{-1}|` times the bound `speed` on the derivative.
    """
    matrix = linear.characteristic(1j * omega)
    sign, _ = np.linalg.slogdet(matrix)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.full(len(omega), np.inf), sign
    return _perron(np.abs(inverse) @ speed), sign


def _peaks(omega: Array, strength: Array) -> Array:
    """Return the frequencies at which the inverse of the characteristic matrix has a local maximum,
    largest first.
    """
    padded = np.concatenate([[-np.inf], strength, [-np.inf]])
    top = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
    return np.asarray(omega[top[np.argsort(-strength[top])]])


def _perron(matrix: Any) -> Any:
    """Return a tight upper bound on the largest eigenvalue of non-negative matrices.

    For a matrix B and any positive vector x, the largest (Bx)_i / x_i is an upper bound (Collatz,
    Wielandt).
    """
    size = matrix.shape[-1]
    small = 1e-9 * matrix.max(axis=(-2, -1), keepdims=True) + 1e-300
    if size == 1:
        return matrix[..., 0, 0] + small[..., 0, 0]
    vector = np.ones((*matrix.shape[:-1], 1))
    positive = matrix + small
    for _ in range(POWERS):
        vector = positive @ vector + small * vector
        vector = vector / vector.max(axis=-2, keepdims=True)
    return ((matrix @ vector) / vector).max(axis=(-2, -1))
