r"""Limit cycles: collocation of the periodic problem, and Floquet multipliers.

Time is divided by the period. On each interval of a mesh, the cycle is a polynomial that satisfies
the equations at Gauss points. Delayed values are taken from the same cycle. The unknowns are the
values of the cycle and the period (Engelborghs, Luzyanina, in 't Hout, Roose 2000). On the same
mesh, the linearised equations map a history to the history one period later. The Floquet
multipliers are the eigenvalues of this map.
"""

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case, rates_along
from lasthop.stability.errors import ConvergenceError
from lasthop.stability.series import Series, unit_lines

Array = NDArray[np.float64]

DEGREE = 4
"""Degree of the polynomial that represents a cycle on each interval of the mesh."""
MONOMIALS = np.linalg.inv((np.arange(DEGREE + 1) / DEGREE)[:, None] ** np.arange(DEGREE + 1))
"""Coefficients of Lagrange's polynomials on equally spaced nodes; rows are powers, and columns are
polynomials.
"""
NEWTON_STEPS = 12
SURE = 1e-3
"""Difference of the trivial Floquet multiplier from 1 above which the stability of a cycle is
unknown. [-]
"""
ACCURATE = 1e-5
"""Relative error of amplitude and period below which the mesh is not refined further. [-]"""
GAIN = 15.0
"""Divisor that converts a difference of two results to the error of the finer result. The results
are those on a mesh and on a mesh of half as many intervals. If intervals are halved, the error
decreases at least by a factor of 16. [-]
"""
SAME = 0.1
"""Largest relative change of the amplitude with which a cycle on a finer mesh is considered to be
the cycle of the coarser mesh. [-]
"""
TOLERANCE = 1e-9
"""Largest change of an unknown in the last Newton step, relative to the size of the unknown. [-]"""


@dataclass(frozen=True)
class Mesh:
    """Mesh of intervals of one period, with the time scaled to 0 to 1.

    Parameters
    ----------
    edges : array
        Ends of the intervals; the first is 0 and the last is 1.
    """

    edges: Array

    @classmethod
    def even(cls, count: int) -> "Mesh":
        """Return a mesh of equal intervals."""
        return cls(np.linspace(0.0, 1.0, count + 1))

    @property
    def size(self) -> int:
        """Number of points that represent a cycle. The end of the period is left out, since it
        equals the start.
        """
        return DEGREE * (len(self.edges) - 1)

    @property
    def points(self) -> Array:
        """Return the scaled times of the points, including the end of the period."""
        inner = self.edges[:-1, None] + np.diff(self.edges)[:, None] * np.arange(DEGREE) / DEGREE
        return np.append(inner.ravel(), 1.0)

    @property
    def gauss(self) -> Array:
        """Return the scaled times of the Gauss points, at which the equations must hold."""
        nodes = 0.5 * (1.0 + np.polynomial.legendre.leggauss(DEGREE)[0])
        return np.asarray((self.edges[:-1, None] + np.diff(self.edges)[:, None] * nodes).ravel())

    def weights(self, places: Array, derivative: bool = False) -> tuple[NDArray[np.int_], Array]:
        """Return the points from which values at scaled times in [0, 1] are interpolated, and the
        weights of the points. With `derivative`, the weights are those of the time derivative.
        """
        k = np.clip(np.searchsorted(self.edges, places, side="right") - 1, 0, len(self.edges) - 2)
        length = np.diff(self.edges)[k]
        x = (places - self.edges[k]) / length
        weights = _lagrange(x, derivative)
        if derivative:
            weights = weights / length[:, None]
        return DEGREE * k[:, None] + np.arange(DEGREE + 1), weights

    def matrix(self, places: Array, derivative: bool = False) -> Array:
        """Return the matrix that maps the values of a periodic function at the points of the mesh
        to its values at the scaled times `places`. With `derivative`, the matrix yields the time
        derivatives at these times.
        """
        index, weights = self.weights(places - np.floor(places), derivative)
        matrix = np.zeros((len(places), self.size))
        np.add.at(matrix, (np.arange(len(places))[:, None], index % self.size), weights)
        return matrix

    def doubled(self) -> "Mesh":
        """Return a mesh with twice as many intervals."""
        return Mesh(np.sort(np.append(self.edges, 0.5 * (self.edges[:-1] + self.edges[1:]))))

    def adapted(self, values: Array) -> "Mesh":
        """Return a mesh with the same number of intervals. The lengths of the intervals are chosen
        such that each interval has the same part of the roughness of a cycle.
        """
        index = (
            DEGREE * np.arange(len(self.edges) - 1)[:, None] + np.arange(DEGREE + 1)
        ) % self.size
        scale = np.ptp(values, axis=1)[:, None, None] + 1e-12
        rough = np.abs(np.diff(values[:, index] / scale, n=DEGREE, axis=-1)[..., 0])
        length = np.diff(self.edges)
        high = (rough.max(axis=0) / length**DEGREE) ** (1.0 / (DEGREE + 1))
        # Because of the constant term, smooth parts of the period also have points of the mesh.
        density = high + 0.3 * np.sum(high * length)
        reached = np.append(0.0, np.cumsum(density * length))
        edges = np.interp(np.linspace(0.0, reached[-1], len(self.edges)), reached, self.edges)
        return Mesh(edges)


def _lagrange(x: Array, derivative: bool) -> Array:
    """Return Lagrange's polynomials on equally spaced nodes of [0, 1], or their derivatives."""
    powers = x[:, None] ** np.arange(DEGREE + 1)
    if derivative:
        powers = np.arange(DEGREE + 1) * np.roll(powers, 1, axis=1)
        powers[:, 0] = 0.0
    return np.asarray(powers @ MONOMIALS)


@dataclass(frozen=True)
class Cycle:
    """A periodic solution.

    Parameters
    ----------
    case : Case
        Case of which the cycle is a solution.
    mesh : Mesh
        Mesh on which the cycle is computed.
    values : array
        States at the points of the mesh, one row per state.
    period : float
        Period. [s]
    multipliers : array
        Floquet multipliers, largest first; one of them is 1. [-]
    swing_error, period_error : float
        Relative errors of amplitude and period, by comparison with a mesh of half as many
        intervals; infinite without a comparison. [-]
    multiplier_error : float
        Error of the largest multiplier except for the trivial multiplier, by the same comparison.
        [-]
    """

    case: Case
    mesh: Mesh
    values: Array
    period: float
    multipliers: NDArray[np.complex128]
    swing_error: float = inf
    period_error: float = inf
    multiplier_error: float = inf

    @property
    def amplitude(self) -> float:
        """Amplitude: half the peak-to-peak oscillation of the first window. [packets]"""
        return (self._top(1.0) + self._top(-1.0)) / 2.0

    def _top(self, sign: float) -> float:
        """Return the largest value of the first window, multiplied by `sign` (1 or -1)."""
        places = np.linspace(0.0, 1.0, 801)
        for _ in range(3):
            values = sign * self.at(places)[0]
            k = int(np.argmax(values))
            places = places[k] + (places[1] - places[0]) * np.linspace(-1.0, 1.0, 41)
        return float(values.max())

    @property
    def stable(self) -> bool | None:
        """Whether the cycle is stable: whether all multipliers except for the trivial multiplier
        are within the unit circle.

        The value is None if stability is unknown. Stability is unknown if the error of the trivial
        multiplier is `SURE` or more. Stability is also unknown if the distance of the largest other
        multiplier from the unit circle is less than this error.
        """
        if not self.resolved:
            return None
        largest = float(np.abs(self.others).max())
        return largest < 1.0 if abs(largest - 1.0) > self.trivial_error else None

    @property
    def resolved(self) -> bool:
        """Whether the trivial multiplier, and therefore the other multipliers, are accurate to
        `SURE`.
        """
        return self.trivial_error < SURE

    @property
    def accurate(self) -> bool:
        """Whether amplitude and period are accurate to `ACCURATE`, and multipliers to `SURE`."""
        return self.resolved and max(self.swing_error, self.period_error) <= ACCURATE

    @property
    def leaves(self) -> str | None:
        """Text about a state that leaves its range during the cycle, such as "queue below 0"; None
        if there is no such state. The equations do not limit states to their ranges.
        """
        states = self.at(np.linspace(0.0, 1.0, 401))
        names = self.case.model.states
        queues = [row.min() for name, row in zip(names, states, strict=True) if name[0] == "q"]
        if queues and min(queues) < 0.0:
            return "queue below 0"
        losses = np.array(self.case.model.loss(self.case.derived, list(states)))
        if losses.min() < 0.0 or losses.max() > 1.0:
            return f"losses {'below 0' if losses.min() < 0.0 else 'above 1'}"
        return None

    @property
    def others(self) -> NDArray[np.complex128]:
        """Multipliers without the trivial multiplier."""
        trivial = int(np.argmin(np.abs(self.multipliers - 1.0)))
        return np.delete(self.multipliers, trivial)

    @property
    def trivial_error(self) -> float:
        """Difference of the trivial multiplier from 1, a measure of accuracy. [-]"""
        return float(np.min(np.abs(self.multipliers - 1.0)))

    def at(self, phase: Any) -> Array:
        """Return the states at phases of the period (0 to 1), one row per state."""
        phase = np.asarray(phase, dtype=np.float64)
        return np.asarray((self.mesh.matrix(phase) @ self.values.T).T)


@dataclass(frozen=True)
class System:
    """Residual of the periodic problem and its derivatives.

    Parameters
    ----------
    residual : array
        Residual of the equations at each Gauss point, for each state. [1/s]
    by_values : array
        Derivative of the residual by the states on the mesh, with the axes (states, Gauss points,
        states, mesh points).
    by_period : array
        Derivative of the residual by the period.
    now, lagged : array
        Jacobians by the present and by the delayed states at the Gauss points, with the axes
        (points, states, states), and (delays, points, states, states).
    delays : array
        Delays at the Gauss points, with the axes (delays, points). [s]
    """

    residual: Array
    by_values: Array
    by_period: Array
    now: Array
    lagged: Array
    delays: Array


def system(case: Case, mesh: Mesh, values: Array, period: float) -> System:
    """Return the residual :math:`\\dot x - f` of a periodic function x at Gauss points, with its
    derivatives; f is the right-hand side of the equations.
    """
    model, p = case.model, case.derived
    states, gauss = len(values), mesh.gauss
    here, slope = mesh.matrix(gauss), mesh.matrix(gauss, derivative=True)
    now = values @ here.T
    delays = np.stack([np.broadcast_to(d, gauss.shape) for d in model.delays(p, list(now))])
    back = [mesh.matrix(gauss - d / period) for d in delays]
    back_slope = [mesh.matrix(gauss - d / period, derivative=True) for d in delays]
    lagged = [values @ m.T for m in back]
    moving = [values @ m.T / period for m in back_slope]
    rates, jacobians = _jacobians(case, now, lagged)
    by_delay = _delay_slopes(case, now)
    residual = values @ slope.T / period - rates
    derivative = np.zeros((states, len(gauss), states, mesh.size))
    for i in range(states):
        derivative[i, :, i, :] += slope / period
        for j in range(states):
            derivative[i, :, j, :] -= jacobians[0][:, i, j, None] * here
            for k, matrix in enumerate(back):
                derivative[i, :, j, :] -= jacobians[k + 1][:, i, j, None] * matrix
    by_period = -(values @ slope.T) / period**2
    for k, velocity in enumerate(moving):
        drag = np.einsum("gij,jg->ig", jacobians[k + 1], velocity)
        by_period -= drag * delays[k] / period
        for j in range(states):  # the slopes are nonzero only if delays depend on the state
            derivative[:, :, j, :] += (drag * by_delay[k][j])[:, :, None] * here
    return System(residual, derivative, by_period, jacobians[0], np.stack(jacobians[1:]), delays)


def residual(case: Case, mesh: Mesh, values: Array, period: float) -> Array:
    """Return the residual of `system`, without its derivatives."""
    model, p, gauss = case.model, case.derived, mesh.gauss
    now = values @ mesh.matrix(gauss).T
    delays = [np.broadcast_to(d, gauss.shape) for d in model.delays(p, list(now))]
    lagged = [list(values @ mesh.matrix(gauss - d / period).T) for d in delays]
    rates = np.stack(model.rates(p, list(now), lagged))
    return np.asarray(values @ mesh.matrix(gauss, derivative=True).T / period - rates)


def _jacobians(case: Case, now: Array, lagged: list[Array]) -> tuple[Array, list[Array]]:
    """Return the time derivatives of the states, and their Jacobians by the present and by each
    delayed state.
    """
    rates = rates_along(case.model, case.derived, now, lagged)
    values = np.stack([rate.value[0] for rate in rates])
    slopes = np.stack([rate.coefficients[1] for rate in rates])  # axes: state, column, point
    parts = np.split(slopes, 1 + len(lagged), axis=1)
    return values, [np.moveaxis(part, -1, 0) for part in parts]


def _delay_slopes(case: Case, now: Array) -> list[list[Array]]:
    """Return the derivative of each delay by each state."""
    states, count = now.shape
    delays = case.model.delays(case.derived, unit_lines(now))
    return [
        [d.coefficients[1][j] if isinstance(d, Series) else np.zeros(count) for j in range(states)]
        for d in delays
    ]


def corrected(case: Case, mesh: Mesh, values: Array, period: float) -> Cycle:
    """Return the limit cycle near a guess, computed by Newton's method.

    Raises
    ------
    ConvergenceError
        If Newton's method does not converge, or converges to the equilibrium.
    """
    values = values.copy()
    flow = values @ mesh.matrix(mesh.points[:-1], derivative=True).T  # used in the phase condition
    swing = np.ptp(values, axis=1)
    for _ in range(NEWTON_STEPS):
        result = system(case, mesh, values, period)
        size = values.size
        matrix = np.zeros((size + 1, size + 1))
        matrix[:size, :size] = result.by_values.reshape(size, size)
        matrix[:size, size] = result.by_period.ravel()
        matrix[size, :size] = flow.ravel()
        step = np.linalg.solve(matrix, -np.append(result.residual.ravel(), 0.0))
        if not np.all(np.isfinite(step)):
            break
        change = step[:-1].reshape(values.shape)
        values += change
        period += float(step[-1])
        if period <= 0.0 or np.any(values[0] <= 0.0):
            break
        still = np.all(np.abs(change) <= TOLERANCE * np.abs(values).max(axis=1)[:, None])
        if still and abs(step[-1]) <= TOLERANCE * period:
            if np.any(np.ptp(values, axis=1) < 1e-3 * swing):
                break
            return Cycle(case, mesh, values, period, multipliers(case, mesh, values, period))
    raise ConvergenceError(f"{case.model.name}: no limit cycle found near the guess")


def refined(cycle: Cycle, most: int) -> Cycle:
    """Return a cycle on a mesh that is fine enough, or on the finest allowed mesh of `most`
    intervals.

    The mesh is doubled and adapted until amplitude and period change by less than `ACCURATE`, and
    the trivial multiplier is 1 within `SURE`. The refinement also ends if Newton's method reaches
    another cycle.
    """
    best = cycle
    while not best.accurate and 2 * (len(best.mesh.edges) - 1) <= most:
        mesh = best.mesh.adapted(best.values).doubled()
        guess = best.values @ best.mesh.matrix(mesh.points[:-1]).T
        try:
            with np.errstate(all="ignore"):
                finer = corrected(best.case, mesh, guess, best.period)
        except (ConvergenceError, np.linalg.LinAlgError):
            break
        if abs(finer.amplitude - cycle.amplitude) > SAME * cycle.amplitude:
            break  # Newton's method has found another cycle, beyond a fold
        best = compared(finer, best)
    return best


def compared(finer: Cycle, coarser: Cycle) -> Cycle:
    """Return a cycle with its errors, which are estimated from the same cycle on a mesh of half as
    many intervals.
    """
    swing, period = finer.amplitude, finer.period
    moved = abs(abs(finer.others[0]) - abs(coarser.others[0]))
    return replace(
        finer,
        swing_error=abs(swing - coarser.amplitude) / (GAIN * swing),
        period_error=abs(period - coarser.period) / (GAIN * period),
        multiplier_error=float(moved) / GAIN + finer.trivial_error,
    )


def multipliers(case: Case, mesh: Mesh, values: Array, period: float) -> NDArray[np.complex128]:
    """Return the Floquet multipliers of a cycle, largest first."""
    result = system(case, mesh, values, period)
    states, count = len(values), len(mesh.edges) - 1
    reach = float(result.delays.max()) / period
    periods = ceil(reach)
    first = int(np.searchsorted(mesh.edges, periods - reach, side="right")) - 1
    old = DEGREE * (periods * count - max(first, 0))
    # Number of points from the earliest time of the history to the end of the period.
    total = old + mesh.size + 1
    gauss = mesh.gauss
    matrix = np.zeros((states, len(gauss), states, total))

    def place(places: Array, derivative: bool = False) -> Array:
        turns = np.floor(places)
        index, weights = mesh.weights(places - turns, derivative)
        index = index + (turns[:, None] * mesh.size).astype(int) + old
        dense = np.zeros((len(places), total))
        inside = (index >= 0) & (index < total)
        rows = np.broadcast_to(np.arange(len(places))[:, None], index.shape)
        np.add.at(dense, (rows[inside], index[inside]), weights[inside])
        return dense

    slope, here = place(gauss, derivative=True), place(gauss)
    backs = [place(gauss - d / period) for d in result.delays]
    drags = _drags(case, mesh, values, period, result)
    for i in range(states):
        matrix[i, :, i, :] += slope / period
        for j in range(states):
            matrix[i, :, j, :] += (drags[i, j] - result.now[:, i, j])[:, None] * here
            for k, back in enumerate(backs):
                matrix[i, :, j, :] -= result.lagged[k, :, i, j, None] * back
    flat = matrix.reshape(states * len(gauss), states, total)
    known = flat[:, :, : old + 1].reshape(len(flat), -1)
    unknown = flat[:, :, old + 1 :].reshape(len(flat), -1)
    onwards = -np.linalg.solve(unknown, known)
    onwards = onwards.reshape(states, mesh.size, states * (old + 1))
    everything = np.concatenate(
        [np.eye(states * (old + 1)).reshape(states, old + 1, -1), onwards], 1
    )
    period_map = everything[:, -(old + 1) :].reshape(states * (old + 1), -1)
    values_found = np.linalg.eigvals(period_map).astype(np.complex128)
    return np.asarray(values_found[np.argsort(-np.abs(values_found))][:12])


def _drags(case: Case, mesh: Mesh, values: Array, period: float, result: System) -> Array:
    """Return the terms of the linearised equations that a state-dependent delay causes."""
    gauss = mesh.gauss
    by_delay = _delay_slopes(case, values @ mesh.matrix(gauss).T)
    total = np.zeros((len(values), len(values), len(gauss)))
    for k, delay in enumerate(result.delays):
        velocity = values @ mesh.matrix(gauss - delay / period, derivative=True).T / period
        drag = np.einsum("gij,jg->ig", result.lagged[k], velocity)
        total += drag[:, None, :] * np.stack(by_delay[k])[None]
    return total
