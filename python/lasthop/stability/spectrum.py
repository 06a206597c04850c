r"""Characteristic roots, by Chebyshev collocation of the infinitesimal generator and Newton's
method.

The history :math:`u(t + \theta)`, :math:`-\tau_{max} \le \theta \le 0`, satisfies :math:`\partial_t
u = \partial_\theta u`, with the linearised system as the condition at :math:`\theta = 0`. On
Chebyshev points this operator is a matrix. The rightmost eigenvalues of the matrix approach the
characteristic roots faster than any power of the number of points (Breda, Maset, Vermiglio 2005).
The matrix is small, since only states with a delay have a history.

Chebyshev points resolve roots only up to a limited distance from 0. A system with short and long
delays may have its rightmost roots at a larger distance. Therefore each result is verified by a
count of all roots to the right of a vertical line. If many systems are computed together, a bound
on the distance of roots from 0 is used instead.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.progress.cost_limits import check_time
from lasthop.stability.case import Case, Linear
from lasthop.stability.cost import check_cost
from lasthop.stability.errors import ConvergenceError
from lasthop.stability.winding import largest, right_of, shifted

NEGLIGIBLE = 1e-12
"""Ratio of the coefficient of a delayed state to the largest coefficient, below which the state has
no history in the matrix. [-]
"""

AGREEMENT = 1e-9
"""Largest distance between an eigenvalue and the root that Newton's method finds from it, up to
which the root is accepted. The distance is divided by the sum of the modulus of the root and the
inverse of the longest delay. [-]
"""

POINTS = (16, 24, 36, 54, 81, 120)
"""Numbers of Chebyshev points that are tried one after another."""

RESOLVED = ((12, 6.5), (24, 22.5), (36, 40.5))
"""Numbers of Chebyshev points, each with a limit. The points resolve a root if its modulus times
the longest delay is at most this limit. The error of exp(-lambda tau) for a root lambda and a delay
tau is then below 1e-6 to the right of the imaginary axis, and below 1.4 elsewhere.
"""
OVERSHOOT = 1.4
BESIDE = 1e-6
"""Distance between a root and the vertical line just left of the root, to the right of which roots
are counted. The distance is divided by the sum of the root's modulus and the inverse of the longest
delay. [-]
"""
SEARCHES = 60
"""Largest number of vertical lines on which missing roots are searched."""
PEAKS = 6
"""Largest number of frequencies on a vertical line near which roots are searched."""

NEWTON_STEPS = 12


@dataclass(frozen=True)
class Roots:
    """Rightmost characteristic roots, from right to left; a complex pair counts as two.

    Parameters
    ----------
    values : array
        Characteristic roots after Newton's method. [1/s]
    unpolished : array
        Roots before Newton's method, as eigenvalues of a collocation matrix. [1/s]
    points : int
        Number of Chebyshev points with which the roots were computed. [-]
    """

    values: NDArray[np.complex128]
    unpolished: NDArray[np.complex128]
    points: int

    @property
    def stable(self) -> bool:
        """Whether the equilibrium is stable: whether every root is in the left half plane."""
        return bool(self.values[0].real < 0.0)

    @property
    def abscissa(self) -> float:
        """Real part of the rightmost root: the growth rate of a small disturbance. [1/s]"""
        return float(self.values[0].real)

    @property
    def period(self) -> float | None:
        """Period of the slowest-decaying oscillation; None if there is no oscillation. [s]"""
        frequency = abs(float(self.values[0].imag))
        return 2.0 * np.pi / frequency if frequency > 0.0 else None


def chebyshev(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Chebyshev points from 0 down to -1, and their differentiation matrix."""
    k = np.arange(count + 1)
    x = np.cos(np.pi * k / count)
    weight = np.where((k == 0) | (k == count), 2.0, 1.0) * (-1.0) ** k
    gap = x[:, None] - x[None, :] + np.eye(count + 1)
    matrix = np.outer(weight, 1.0 / weight) / gap
    matrix -= np.diag(matrix.sum(axis=1))
    return 0.5 * (x - 1.0), 2.0 * matrix


def interpolation(nodes: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights with which values at Chebyshev nodes are interpolated at the points `at`.
    The nodes are on a new last axis.
    """
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
        One linearised system, or many systems along a leading axis.
    points : int
        Number of Chebyshev points of the history, without the present time. [-]
    """
    now, lagged, delays = linear.now, linear.lagged, linear.delays
    batch, states = now.shape[:-2], now.shape[-1]
    weight = np.abs(lagged).max(axis=(-3, -2))
    needed = weight > NEGLIGIBLE * np.abs(now).max(axis=(-2, -1))[..., None]
    delayed = np.flatnonzero(needed.reshape(-1, states).any(axis=0))
    longest = delays.max(axis=-1)
    nodes, derivative = chebyshev(points)
    weights = interpolation(nodes, -delays / longest[..., None])
    size = states + len(delayed) * points
    matrix = np.zeros((*batch, size, size), dtype=np.result_type(now, lagged))
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
    """Return roots of the characteristic equation near guesses; NaN if Newton's method finds none.

    Newton's method is applied to the smallest singular value of the characteristic matrix, which is
    well conditioned even if the determinant underflows or overflows.
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

    A root is accepted if Newton's method changes the eigenvalue by at most `AGREEMENT`. In
    addition, the argument principle must show that no other root to the right of the accepted root
    is missing. The result has fewer than `count` roots if 120 Chebyshev points do not resolve roots
    far to the left.

    Parameters
    ----------
    case : Case
        Case of a fluid model.
    count : int
        Largest number of roots; a complex pair is never split. [-]

    Raises
    ------
    ConvergenceError
        If the rightmost root is uncertain.
    NoEquilibriumError
        If there is no equilibrium.
    TooCostlyError
        If the computation would need more time or memory than its limits.
    """
    linear = case.linear[np.newaxis]
    check_cost(f"{case.model.name}: the rightmost root", linear, np.zeros(1, dtype=np.int64))
    result = verified(case.linear, count)
    if len(result.values) == 0:
        raise ConvergenceError(
            f"{case.model.name}: the rightmost root is not sure",
            "spectrum, Newton's method and the count of roots by the argument principle disagree",
        )
    return result


def verified(linear: Linear, count: int) -> Roots:
    """Return the rightmost roots of one system after verification; empty if the rightmost root is
    uncertain.
    """
    best = Roots(np.empty(0, np.complex128), np.empty(0, np.complex128), 0)
    # `missed` has the roots that only a search finds, and their eigenvalues.
    missed = [best.values, best.values]
    for points in POINTS:
        check_time("the rightmost root")
        fine, raw = agreed(linear, 0.0, points, count + 1)
        fine, raw = united(fine, raw, *missed)
        known = sure(linear, fine, count)
        if known == 0:
            left = left_of(linear, fine[0]) if len(fine) else 0.0
            missed = list(searched(linear, left, *missed))
            fine, raw = united(fine, raw, *missed)
            known = sure(linear, fine, count)
        best = max(best, Roots(fine[:known], raw[:known], points), key=lambda r: len(r.values))
        if known >= count:
            break
    return best


Values = NDArray[np.complex128]


def agreed(linear: Linear, centre: complex, points: int, most: int) -> tuple[Values, Values]:
    """Return the roots near `centre` for which the eigenvalue and Newton's method agree, and these
    eigenvalues.

    If `centre` is 0, the result includes all eigenvalues of the matrix to the right of the last
    returned root.
    """
    stacked = Linear(linear.now[None], linear.lagged[None], linear.delays[None])
    local = linear if centre == 0.0 else shifted(linear, centre)
    raw = collocated(local, points)[:most] + centre
    fine = polished(stacked, raw)
    scale = 1.0 / float(linear.delays.max())
    agree = np.abs(fine - raw) <= AGREEMENT * (np.abs(fine) + scale)
    if centre != 0.0:
        return fine[agree], raw[agree]
    known = len(raw) if agree.all() else int(np.argmin(agree))
    known -= pair_is_cut(fine[:known])
    return fine[:known], raw[:known]


def united(fine: Values, raw: Values, more: Values, more_raw: Values) -> tuple[Values, Values]:
    """Return the roots `fine` and those roots of a search, `more`, that are not among them. Also
    return the eigenvalues of these roots, from `raw` and `more_raw`. The order is from right to
    left.
    """
    scale = 1e-7 * np.abs(more)
    new = np.all(np.abs(more[:, None] - fine) > scale[:, None], axis=1)
    fine, raw = np.concatenate([fine, more[new]]), np.concatenate([raw, more_raw[new]])
    order = np.lexsort((-fine.imag, -np.round(fine.real / (np.abs(fine) + 1e-300), 9)))
    order = order[np.argsort(-fine.real[order], kind="stable")]
    return fine[order], raw[order]


def sure(linear: Linear, values: Values, count: int) -> int:
    """Return the number n such that the n rightmost roots of `values` are certainly complete: the
    system has no other root to the right of root n. The result is 0 if even the rightmost root is
    uncertain.
    """
    tried = set()
    for most in (count, 1):
        known = min(most, len(values))
        if known == 0:
            return 0
        known += pair_is_cut(values[:known]) and known < len(values)
        line = left_of(linear, values[known - 1])
        known = int(np.sum(values.real > line))
        if known in tried or pair_is_cut(values[:known]):
            continue
        tried.add(known)
        right = right_of(linear, line)
        if right is not None and right.number == known:
            return known
    return 0


def left_of(linear: Linear, root: complex) -> float:
    """Return the real part of a vertical line just left of a root. [1/s]"""
    return float(root.real - BESIDE * (abs(root) + 1.0 / linear.delays.max()))


def searched(linear: Linear, left: float, fine: Values, raw: Values) -> tuple[Values, Values]:
    """Return the roots to the right of `left`, including the rightmost root, that Chebyshev points
    around 0 do not resolve.

    Roots are searched near vertical lines, at the frequencies closest to roots. By bisection the
    lines approach the rightmost root.
    """
    right = max(0.0, left) + 2.0 * float(largest(linear, max(0.0, left)))
    for _ in range(SEARCHES):
        check_time("the search for the rightmost root")
        result = right_of(linear, left)
        if result is None or result.number == 0:
            break
        for frequency in result.near[:PEAKS]:
            here, here_raw = agreed(linear, complex(left, frequency), POINTS[0], 4)
            if frequency > 0.0:
                here = np.concatenate([here, here.conj()])
                here_raw = np.concatenate([here_raw, here_raw.conj()])
            # The roots are added one by one, since the search may find a pair from both of its
            # roots.
            for k in range(len(here)):
                fine, raw = united(fine, raw, here[k : k + 1], here_raw[k : k + 1])
        if np.sum(fine.real > left) >= result.number:
            break
        middle = 0.5 * (left + right)
        ahead = right_of(linear, middle)
        if ahead is not None and ahead.number > 0:
            left = middle
        else:
            right = middle
    return fine, raw


def leading(linear: Linear) -> Values:
    """Return the rightmost root of each of many systems; NaN if its sign is uncertain. [1/s]

    If a bound on the unstable roots shows that the Chebyshev points resolve all of them, the
    eigenvalues suffice. Other systems are verified individually. If the real part is far to the
    left of the imaginary axis, only its sign is certain.
    """
    enough = resolved_by(linear)
    result = np.full(enough.shape, np.nan + 0j)
    for points, _ in RESOLVED:
        some = enough == points
        if some.any():
            result[some] = collocated(linear[some], points)[:, 0]
    for k in np.flatnonzero(enough == 0):
        values = verified(linear[k], 1).values
        result[k] = values[0] if len(values) else np.nan
    return result


def rightmost_of(linear: Linear) -> Values:
    """Return the rightmost root of each of many systems after Newton's method, for roots near the
    imaginary axis; NaN if the root is uncertain. [1/s]
    """
    result = leading(linear)
    fine = polished(linear, result)
    for k in np.flatnonzero(np.isnan(fine)):
        values = verified(linear[k], 1).values
        fine[k] = values[0] if len(values) else np.nan
    return fine


def resolved_by(linear: Linear) -> NDArray[np.int64]:
    """Return the number of Chebyshev points that resolve all roots to the right of the imaginary
    axis; 0 if no number of `RESOLVED` suffices.
    """
    reach = OVERSHOOT * np.asarray(largest(linear)) * linear.delays.max(axis=-1)
    enough = np.zeros(reach.shape, dtype=np.int64)
    for points, limit in reversed(RESOLVED):
        enough[reach <= limit] = points
    return enough


def pair_is_cut(values: NDArray[np.complex128]) -> bool:
    """Return whether a list of roots ends with only one root of a complex pair."""
    if len(values) == 0 or abs(values[-1].imag) < 1e-12 * abs(values[-1]):
        return False
    return not np.any(np.abs(values[:-1] - values[-1].conj()) < 1e-9 * abs(values[-1]))


def rightmost(case: Case) -> complex:
    """Return the rightmost root; of a complex pair, the root above the real axis. [1/s]"""
    root = complex(roots(case, 1).values[0])
    return complex(root.real, abs(root.imag))
