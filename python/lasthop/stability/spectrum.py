r"""Characteristic roots: Chebyshev collocation of the infinitesimal generator, then Newton.

The history :math:`u(t + \theta)`, :math:`-\tau_{max} \le \theta \le 0`, moves by
:math:`\partial_t = \partial_\theta` with the linearised system as condition at :math:`\theta = 0`.
On Chebyshev points that is a matrix, whose rightmost eigenvalues approach the characteristic roots
faster than any power of the number of points (Breda, Maset, Vermiglio 2005). Only states that occur
with a delay need a history, which keeps the matrix small.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case, Linear
from lasthop.stability.errors import ConvergenceError

__all__ = ["Roots", "collocated", "polished", "rightmost", "roots"]

NEGLIGIBLE = 1e-12
"""Coefficient of a delayed state, over the largest, below which it needs no history. [-]"""

AGREEMENT = 1e-9
"""Distance of polished and unpolished root over 1/tau or the root, up to which they agree. [-]"""

POINTS = (16, 24, 36, 54, 81, 120)
"""Chebyshev points tried in turn."""

NEWTON_STEPS = 12


@dataclass(frozen=True)
class Roots:
    """Rightmost characteristic roots, from right to left; a complex pair counts as two.

    Parameters
    ----------
    values : array
        Roots, polished by Newton's method. [1/s]
    unpolished : array
        The same as eigenvalues of the collocation matrix. [1/s]
    points : int
        Chebyshev points that it took. [-]
    """

    values: NDArray[np.complex128]
    unpolished: NDArray[np.complex128]
    points: int

    @property
    def stable(self) -> bool:
        """Whether every root lies in the left half plane."""
        return bool(self.values[0].real < 0.0)

    @property
    def abscissa(self) -> float:
        """Real part of the rightmost root: growth rate of a small disturbance. [1/s]"""
        return float(self.values[0].real)

    @property
    def period(self) -> float | None:
        """Period of the slowest-decaying oscillation; None if it does not oscillate. [s]"""
        frequency = abs(float(self.values[0].imag))
        return 2.0 * np.pi / frequency if frequency > 0.0 else None


def chebyshev(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Chebyshev points from 0 down to -1, and the matrix of differentiation on them."""
    k = np.arange(count + 1)
    x = np.cos(np.pi * k / count)
    weight = np.where((k == 0) | (k == count), 2.0, 1.0) * (-1.0) ** k
    gap = x[:, None] - x[None, :] + np.eye(count + 1)
    matrix = np.outer(weight, 1.0 / weight) / gap
    matrix -= np.diag(matrix.sum(axis=1))
    return 0.5 * (x - 1.0), 2.0 * matrix


def interpolation(nodes: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, on a new last axis, the weights of the values at Chebyshev nodes for values `at`."""
    count = len(nodes)
    weight = (-1.0) ** np.arange(count)
    weight[[0, -1]] *= 0.5
    gap = at[..., None] - nodes
    exact = gap == 0.0
    terms = weight / np.where(exact, 1.0, gap)
    smooth = terms / terms.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(exact.any(axis=-1, keepdims=True), exact, smooth))


def collocated(linear: Linear, points: int) -> NDArray[np.complex128]:
    """Return the eigenvalues of the collocation matrix, from right to left. [1/s]

    Parameters
    ----------
    linear : Linear
        One linearised system, or many along a leading axis.
    points : int
        Chebyshev points of the history, without the present. [-]
    """
    now, lagged, delays = linear.now, linear.lagged, linear.delays
    batch, states = now.shape[:-2], now.shape[-1]
    size = np.abs(lagged).max(axis=(-3, -2))
    needed = size > NEGLIGIBLE * np.abs(now).max(axis=(-2, -1))[..., None]
    delayed = np.flatnonzero(needed.reshape(-1, states).any(axis=0))
    longest = delays.max(axis=-1)
    nodes, derivative = chebyshev(points)
    weights = interpolation(nodes, -delays / longest[..., None])
    matrix = np.zeros((*batch, states + len(delayed) * points, states + len(delayed) * points))
    matrix[..., :states, :states] = now
    for place, state in enumerate(delayed):
        block = slice(states + place * points, states + (place + 1) * points)
        reach = np.einsum("...ji,...jk->...ik", lagged[..., state], weights)
        matrix[..., :states, state] += reach[..., 0]
        matrix[..., :states, block] = reach[..., 1:]
        scaled = derivative[1:] / longest[..., None, None]
        matrix[..., block, state] = scaled[..., 0]
        matrix[..., block, block] = scaled[..., 1:]
    values = np.linalg.eigvals(matrix).astype(np.complex128)
    order = np.argsort(-values.real - 1e-9 * np.sign(values.imag), axis=-1, kind="stable")
    return np.take_along_axis(values, order, axis=-1)


def polished(linear: Linear, guess: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return roots of the characteristic equation near guesses, NaN where Newton finds none.

    Newton's method on the smallest singular value of the characteristic matrix, which stays well
    conditioned where its determinant under- or overflows.
    """
    root = np.asarray(guess, dtype=np.complex128)
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            matrix = linear.characteristic(root)
            sound = np.all(np.isfinite(matrix), axis=(-2, -1))
            matrix = np.where(sound[..., None, None], matrix, 0.0)
            left, sigma, right = np.linalg.svd(matrix)
            u, v = left[..., :, -1].conj(), right[..., -1, :].conj()
            slope = np.einsum("...i,...ij,...j->...", u, linear.slope(root), v)
            step = sigma[..., -1] / slope
            root = np.where(sound, root - step, np.nan)
            if not np.any(np.abs(step) > 1e-14 * np.abs(root)):
                break
    scale = np.abs(root) + 1.0 / linear.delays.max(axis=-1)
    return np.where(np.abs(step) < 1e-10 * scale, root, np.nan)


def roots(case: Case, count: int = 6) -> Roots:
    """Return the rightmost characteristic roots of a case.

    A root counts once Newton's method moves its eigenvalue by no more than `AGREEMENT` and all
    roots to its right are known as well. Roots far to the left are fewer than asked for, where 120
    points do not resolve them.

    Parameters
    ----------
    case : Case
        The case.
    count : int
        How many at most; a complex pair is never cut in two. [-]

    Raises
    ------
    ConvergenceError
        If not even the rightmost root is sure with 120 points.
    NoEquilibriumError
        If there is no point of rest.
    """
    linear = case.linear
    one = Linear(linear.now[None], linear.lagged[None], linear.delays[None])
    scale = 1.0 / float(linear.delays.max())
    best = Roots(np.empty(0, np.complex128), np.empty(0, np.complex128), 0)
    for points in POINTS:
        raw = collocated(linear, points)[: count + 1]
        fine = polished(one, raw)
        sure = np.abs(fine - raw) <= AGREEMENT * (np.abs(fine) + scale)
        known = len(raw) if sure.all() else int(np.argmin(sure))
        known -= pair_is_cut(fine[:known])
        best = max(best, Roots(fine[:known], raw[:known], points), key=lambda r: len(r.values))
        if known >= count:
            return best
    if len(best.values) == 0:
        raise ConvergenceError(
            f"{case.model.name}: spectrum and Newton's method disagree on the rightmost root"
        )
    return best


def pair_is_cut(values: NDArray[np.complex128]) -> bool:
    """Tell whether the last root's conjugate is missing."""
    if len(values) == 0 or abs(values[-1].imag) < 1e-12 * abs(values[-1]):
        return False
    return not np.any(np.abs(values[:-1] - values[-1].conj()) < 1e-9 * abs(values[-1]))


def rightmost(case: Case) -> complex:
    """Return the rightmost root, of a pair that above the real axis. [1/s]"""
    root = complex(roots(case, 2).values[0])
    return complex(root.real, abs(root.imag))
