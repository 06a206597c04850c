"""Branches of limit cycles: continuation in a parameter from a Hopf point, including folds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.progress.cost_limits import check_time
from lasthop.stability.case import Case
from lasthop.stability.cycle import (
    TOLERANCE,
    Cycle,
    Mesh,
    multipliers,
    refined,
    residual,
    system,
)
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError, ParameterError
from lasthop.stability.hopf import HopfPoint
from lasthop.stability.normal_form import NormalForm, normal_form

Array = NDArray[np.float64]

INTERVALS = 24
FINEST = 192
"""Largest number of intervals to which the mesh of a cycle is refined."""
SMALL = 0.02
"""Amplitude of the window on the first cycle, divided by the window at equilibrium. [-]"""
SLOWEST, FASTEST = 1e-4, 0.3
"""Shortest and longest step of the continuation, in scaled unknowns. The shortest step is divided
by the distance of the last cycle from the equilibrium. [-]
"""
NEWTON_STEPS = 8
EDGE = 1e-3
"""A cycle is considered to reach a window of 0 if its smallest window, divided by the window at
equilibrium, is below this value. [-]
"""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Branch:
    """Branch of limit cycles that begins at a Hopf point, in the order of continuation.

    Parameters
    ----------
    form : NormalForm
        Normal form of the Hopf point at which the branch begins.
    parameter : str
        Name of the parameter that changes along the branch.
    values : array
        Values of the parameter.
    cycles : list of Cycle
        Cycle at each of the values.
    ended : str
        Reason why the branch ends.
    """

    form: NormalForm
    parameter: str
    values: Array
    cycles: Sequence[Cycle]
    ended: str

    @property
    def folds(self) -> list[int]:
        """Indices of the folds, at which the parameter stops increasing and begins to decrease, or
        the reverse.
        """
        turns = np.sign(np.diff(self.values))
        return [int(k) + 1 for k in np.flatnonzero(turns[1:] * turns[:-1] < 0.0)]


def branch(
    point: HopfPoint,
    low: float,
    high: float,
    *,
    cycles: int = 40,
    intervals: int = INTERVALS,
    amplitude: float = SMALL,
    progress: Progress | None = None,
) -> Branch:
    """Return the branch of limit cycles that begins at a Hopf point. The branch ends where the
    parameter leaves its range, or earlier.

    Parameters
    ----------
    point : HopfPoint
        Hopf point at which the branch begins. Its parameter is varied.
    low, high : float
        Range of the parameter.
    cycles : int
        Largest number of cycles. [-]
    intervals : int
        Number of intervals of the mesh. [-]
    amplitude : float
        Amplitude of the window on the first cycle, divided by the window at equilibrium. [-]
    progress : callable, optional
        Function that is called with the number of finished cycles and the largest number of cycles.

    Raises
    ------
    ConvergenceError
        If the first two cycles are not found.
    """
    if not low <= point.value <= high:
        raise ParameterError(
            f"`{point.parameter}`: the Hopf point {point.value:g} is not in {low:g}..{high:g}"
        )
    return _Continuation(point, low, high, intervals).run(cycles, amplitude, progress)


class _Continuation:
    """Pseudo-arclength continuation of limit cycles. The unknowns are the states on the mesh, the
    period and the parameter.
    """

    def __init__(self, point: HopfPoint, low: float, high: float, intervals: int) -> None:
        self.form = normal_form(point)
        self.point, self.low, self.high = point, low, high
        self.mesh = Mesh.even(intervals)
        self.rest = point.case.equilibrium
        # Typical size of each unknown: the states at equilibrium, the period and the parameter.
        # Changes of an unknown are divided by its size.
        self.scale = np.array([*self.rest, point.period, abs(point.value)])

    def case(self, value: float) -> Case:
        """Return the case with a value of the varied parameter."""
        return self.point.case.with_(**{self.point.parameter: value})

    def run(self, most: int, amplitude: float, progress: Progress | None) -> Branch:
        """Return the branch, computed by continuation from the Hopf point."""
        first, second = self.near(0.5 * amplitude), self.near(amplitude)
        result, values = [], []
        before, last = first, second
        ended = f"it is followed for {most} cycles at most"
        step = self.length(second - first)
        for count in range(most):
            check_time(f"a branch of {most} cycles")
            value = float(last[-1])
            if not self.low <= value <= self.high:
                ended = f"{self.point.parameter} leaves its range"
                break
            cycle = self.cycle(last)
            result.append(refined(cycle, FINEST))
            values.append(value)
            if progress is not None:
                progress(count + 1, most)
            if cycle.values[0].min() < EDGE * self.rest[0]:
                ended = "the window falls to 0"
                break
            before, last = self.remeshed(before, last, cycle)
            onwards = self.onwards(before, last, step)
            if onwards is None:
                ended = "the cycle cannot be followed further: it is about to reach a limit"
                break
            before, (last, step) = last, onwards
        return Branch(self.form, self.point.parameter, np.array(values), result, ended)

    def near(self, amplitude: float) -> Array:
        """Return a cycle of small amplitude. Newton's method begins at a guess, which is computed
        from the normal form of the Hopf point.
        """
        point, form = self.point, self.form
        phase = 2.0 * np.pi * self.mesh.points[:-1]
        wave = (form.vector[:, None] * np.exp(1j * phase)).real
        values = self.rest[:, None] + amplitude * self.rest[0] * wave
        value = point.value + form.mu2 * (0.5 * amplitude * self.rest[0]) ** 2
        guess = np.concatenate([values.ravel(), [point.period, value]])
        direction = np.concatenate([wave.ravel() * self.rest[0], [0.0, 0.0]])
        result = self.corrected(guess, direction)
        if result is None:
            raise ConvergenceError(
                f"{point.case.model.name}: no limit cycle found near the Hopf point"
            )
        return result

    def split(self, unknowns: Array) -> tuple[Array, float, float]:
        """Split the vector of unknowns into the states on the mesh, the period and the
        parameter.
        """
        return unknowns[:-2].reshape(len(self.rest), -1), float(unknowns[-2]), float(unknowns[-1])

    def weights(self) -> Array:
        """Return the weight of each unknown in the squared length of a change. The weights of a
        state's values at all points of the mesh add up to the weight of the period or of the
        parameter.
        """
        points = self.mesh.size
        states = np.repeat(1.0 / (self.rest**2 * points), points)
        return np.concatenate([states, 1.0 / self.scale[-2:] ** 2])

    def length(self, change: Array) -> float:
        """Return the weighted length of a change of the unknowns."""
        return float(np.sqrt(np.sum(self.weights() * change**2)))

    def onwards(self, before: Array, last: Array, step: float) -> tuple[Array, float] | None:
        """Return the next cycle of the branch and the next step length; None if no further cycle is
        found.
        """
        secant = last - before
        secant = secant / self.length(secant)
        while step > SLOWEST * self.length(last - np.concatenate([self.flat(), last[-2:]])):
            result = self.corrected(last + step * secant, secant * self.weights())
            if result is not None and (result - last) @ (secant * self.weights()) > 0.5 * step:
                return result, min(1.4 * step, FASTEST)
            step *= 0.5
        return None

    def flat(self) -> Array:
        """Return the equilibrium as the states of a constant cycle."""
        return np.repeat(self.rest, self.mesh.size)

    def corrected(self, guess: Array, direction: Array) -> Array | None:
        """Return the cycle on the plane through a guess that is perpendicular to a direction; None
        if Newton's method does not find it.
        """
        unknowns = guess.copy()
        values, _, _ = self.split(guess)
        flow = values @ self.mesh.matrix(self.mesh.points[:-1], derivative=True).T
        for _ in range(NEWTON_STEPS):
            values, period, value = self.split(unknowns)
            try:
                step = self.newton_step(values, period, value, flow, direction, unknowns - guess)
            except (NoEquilibriumError, ParameterError, np.linalg.LinAlgError):
                return None
            unknowns = unknowns + step
            values, period, value = self.split(unknowns)
            if not np.all(np.isfinite(unknowns)) or period <= 0.0 or np.any(values[0] <= 0.0):
                return None
            change = np.abs(step[:-2].reshape(values.shape)).max(axis=1)
            if np.all(change <= TOLERANCE * np.abs(values).max(axis=1)) and np.all(
                np.abs(step[-2:]) <= TOLERANCE * self.scale[-2:]
            ):
                return unknowns
        return None

    def newton_step(
        self,
        values: Array,
        period: float,
        value: float,
        flow: Array,
        direction: Array,
        moved: Array,
    ) -> Array:
        """Return a Newton step of all unknowns: states on the mesh, period and parameter."""
        h = 1e-6 * abs(self.point.value)
        with np.errstate(all="ignore"):
            result = system(self.case(value), self.mesh, values, period)
            ends = [
                residual(self.case(value + s * h), self.mesh, values, period) for s in (1.0, -1.0)
            ]
        size = values.size
        matrix = np.zeros((size + 2, size + 2))
        matrix[:size, :size] = result.by_values.reshape(size, size)
        matrix[:size, size] = result.by_period.ravel()
        matrix[:size, size + 1] = (ends[0] - ends[1]).ravel() / (2.0 * h)
        matrix[size, :size] = flow.ravel()
        matrix[size + 1] = direction
        phase = flow.ravel() @ moved[:size]
        target = -np.concatenate([result.residual.ravel(), [phase, direction @ moved]])
        if not np.all(np.isfinite(matrix)):
            return np.full(size + 2, np.nan)
        return np.asarray(np.linalg.solve(matrix, target))

    def cycle(self, unknowns: Array) -> Cycle:
        """Return the cycle of a vector of unknowns, with its Floquet multipliers."""
        values, period, value = self.split(unknowns)
        case = self.case(value)
        result = multipliers(case, self.mesh, values, period)
        return Cycle(case, self.mesh, values.copy(), period, result)

    def remeshed(self, before: Array, last: Array, cycle: Cycle) -> tuple[Array, Array]:
        """Return the previous and the last cycle on a mesh that is adapted to the last cycle."""
        mesh = self.mesh.adapted(cycle.values)
        matrix = self.mesh.matrix(mesh.points[:-1])
        moved = []
        for unknowns in (before, last):
            values, _, _ = self.split(unknowns)
            moved.append(np.concatenate([(values @ matrix.T).ravel(), unknowns[-2:]]))
        self.mesh = mesh
        return moved[0], moved[1]
