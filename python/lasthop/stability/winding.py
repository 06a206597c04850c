r"""How many characteristic roots lie to the right of a line, by the argument principle.

On the line :math:`\Re\lambda = a` write :math:`\lambda = a + i\omega` and
:math:`\Delta = i\omega I - M(\omega)`. Where :math:`\omega` exceeds all that :math:`M` can do to a
vector, no root is left and the rest of the turn is known in closed form. Below, the line is cut
into steps so short that the argument of :math:`\det \Delta` cannot turn by :math:`\pi` within one:
each eigenvalue of :math:`\Delta(\omega_0)^{-1} \Delta(\omega)` stays near 1 by a bound, not by
sampling. The count is then exact but for rounding.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Linear

Array = NDArray[np.float64]

POWERS = 30
"""Multiplications that bring a vector near that of Perron."""
FIRST = 48
"""Points of the line to begin with."""
MOST_PIECES = 64
"""Largest number of pieces into which a step is cut in one round."""
MOST_POINTS = 400_000
"""Points of the line after which the count is given up."""
ROUNDS = 80
CLOSE_TO_WHOLE = 1e-3
"""Largest distance of the count from a whole number by rounding. [-]"""


@dataclass(frozen=True)
class Count:
    """Roots to the right of a line.

    Parameters
    ----------
    number : int
        How many; a complex pair counts as two. [-]
    near : array
        Frequencies at which the line passes nearest to roots, nearest first. [rad/s]
    """

    number: int
    near: Array


def shifted(linear: Linear, centre: complex) -> Linear:
    """Return one system whose roots are those of another less `centre`."""
    eye = np.eye(linear.now.shape[-1])
    decay = np.exp(-centre * linear.delays)[:, None, None]
    return Linear(linear.now - centre * eye, linear.lagged * decay, linear.delays)


def largest(linear: Linear, real: Any = 0.0) -> Any:
    r"""Return a bound on :math:`|\lambda - a|` of roots with :math:`\Re\lambda \ge a`. [1/s]

    With :math:`|\lambda - a| |v| \le B |v|` in each component, the bound is the largest eigenvalue
    of the matrix B of moduli, and does not depend on the states' units. The immediate effect of a
    state on itself counts only where it makes the state grow.
    """
    real = np.asarray(real, dtype=np.float64)
    eye = np.eye(linear.now.shape[-1])
    own = np.einsum("...ii->...i", linear.now) - real[..., None]
    others = np.abs(linear.now) * (1.0 - eye)
    decay = np.exp(-real[..., None] * linear.delays)[..., None, None]
    lagged = np.sum(np.abs(linear.lagged) * decay, axis=-3)
    return _perron(others + eye * np.maximum(own, 0.0)[..., None] + lagged)


def right_of(linear: Linear, real: float) -> Count | None:
    """Count the roots of one system with a real part above `real`; None if that is not sure.

    It is not sure if a root is on the line to rounding, or the line has to be cut too often.
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
        # Beyond, arg det(I - M / i omega) goes to 0 without leaving its principal values.
        rest = np.linalg.eigvals(here.characteristic(1j * far) / (1j * far))
        count = 0.5 * states - (turn - float(np.sum(np.angle(rest)))) / np.pi
    if not np.isfinite(count) or abs(count - round(count)) > CLOSE_TO_WHOLE or count < -0.5:
        return None
    return Count(round(count), near)


def pieces_of(linear: Linear) -> float:
    """Return about how many points the imaginary axis takes, from a few of them."""
    with np.errstate(all="ignore"):
        far, speed = _bounds(linear)
        if not (np.all(np.isfinite(speed)) and 0.0 < far < np.inf):
            return 0.0
        omega = _first(far)
        pieces = _pieces(omega, _looked_at(linear, omega, speed)[0], len(speed))
    return float(np.where(np.isnan(pieces), np.inf, pieces).sum())


def _bounds(linear: Linear) -> tuple[float, Array]:
    """Return the frequency beyond which no root is left, and a bound on the derivative."""
    total = np.abs(linear.now) + np.abs(linear.lagged).sum(axis=0)
    far = 2.0 * float(_perron(total)) * (1.0 + 1e-9)
    lagged = np.einsum("j,jab->ab", linear.delays, np.abs(linear.lagged))
    return far, np.asarray(np.eye(len(linear.now)) + lagged)


def _first(far: float) -> Array:
    """Return the points of a line to begin with."""
    return np.append(0.0, np.geomspace(1e-5 * far, far, FIRST))


def _pieces(omega: Array, inverse_step: Array, states: int) -> Array:
    """Return into how many steps each of a line's pieces has to be cut."""
    allowed = 0.9 * np.sin(np.pi / max(2, states))
    return np.asarray(np.diff(omega) * np.minimum(inverse_step[1:], inverse_step[:-1]) / allowed)


def _turned(linear: Linear, far: float, speed: Array) -> tuple[float, Array] | None:
    """Return by how much the argument turns from 0 to `far`, and where roots are nearest."""
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
        cuts = np.clip(np.ceil(pieces[long]), 2, MOST_PIECES).astype(int)
        if len(omega) + int(np.sum(cuts - 1)) > MOST_POINTS:
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
    r"""Return the reciprocal of a step that is short enough, and the direction of det.

    :math:`|\Delta(\omega_0)^{-1} (\Delta(\omega) - \Delta(\omega_0))|` is in each component at most
    the step times :math:`|\Delta(\omega_0)^{-1}|` times the derivative's bound.
    """
    matrix = linear.characteristic(1j * omega)
    sign, _ = np.linalg.slogdet(matrix)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.full(len(omega), np.inf), sign
    return _perron(np.abs(inverse) @ speed), sign


def _peaks(omega: Array, strength: Array) -> Array:
    """Return where the inverse is largest, relative to what lies around it, strongest first."""
    padded = np.concatenate([[-np.inf], strength, [-np.inf]])
    top = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
    return np.asarray(omega[top[np.argsort(-strength[top])]])


def _perron(matrix: Any) -> Any:
    """Return an upper bound on the largest eigenvalue of non-negative matrices, near it.

    For any positive vector x the largest of (Bx)_i / x_i is one (Collatz, Wielandt).
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
