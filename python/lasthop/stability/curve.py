"""Curves of Hopf points in the plane of two parameters, by pseudo-arclength continuation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.axis import Axis
from lasthop.stability.case import Case
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError
from lasthop.stability.hopf import HopfPoint, crossing, crossing_gap, hopf_points
from lasthop.stability.spectrum import rightmost_of

Vector = NDArray[np.float64]

FIRST_STEP = 0.01
"""First step along a curve, divided by the length of an axis. [-]"""
LONGEST_STEP = 0.04
SHORTEST_STEP = 1e-6
ASTRAY = 0.5
"""Largest distance of a point from the prediction along the tangent, divided by the step. At a
larger distance the point may belong to another branch. [-]
"""
CLOSED = 1e-8
"""A point is on the Hopf curve if its crossing gap, divided by the frequency omega, is at most this
value. The crossing gap is the complex distance of i omega from a root. [-]
"""
MAX_POINTS = 2000
"""Largest number of points of a Hopf curve; charts need far fewer points."""
STARTS = 5
"""Number of lines in each direction across the chart on which Hopf points are searched."""
RIGHTMOST = 1e-6
"""An imaginary pair of roots with frequency omega is the rightmost pair if the real part of the
rightmost root, divided by omega, is at most this value.
"""


@dataclass(frozen=True)
class HopfCurve:
    """A Hopf curve: a curve in the plane of two parameters on which a pair of characteristic roots
    is imaginary.

    Parameters
    ----------
    x, y : array
        Values of the two parameters.
    frequency : array
        Imaginary part of the roots. [rad/s]
    boundary : array of bool
        Whether the pair of roots is the rightmost, so that the curve bounds the stable region at
        this point.
    """

    x: Vector
    y: Vector
    frequency: Vector
    boundary: NDArray[np.bool_]


def hopf_curves(case: Case, x: Axis, y: Axis, pairs: Vector | None = None) -> list[HopfCurve]:
    """Return the curves of Hopf points that cross a rectangle of two parameters.

    Curves are searched on a few lines across the rectangle. Each curve is followed in both
    directions to the edges of the rectangle.

    Parameters
    ----------
    case : Case
        Case with all other parameters.
    x, y : Axis
        Axes of the two parameters.
    pairs : array, optional
        Further pairs of points between which a curve passes: one point is stable and the other
        point is unstable. The axes of the array are the pair, the point of the pair, and the
        relative positions on x and y from 0 to 1.

    Raises
    ------
    ConvergenceError
        If a curve cannot be followed.
    """
    tracer = _Tracer(case, x, y)
    curves: list[Vector] = []

    def trace(start: Vector) -> None:
        back, forth = tracer.follow(start, -1.0), tracer.follow(start, 1.0)
        curves.append(_oriented(np.vstack([back[:0:-1], forth])))

    for start in tracer.starts():
        if not any(_passes(curve, start) for curve in curves):
            trace(start)
    for pair in () if pairs is None else pairs:
        middle = pair.mean(axis=0)
        if not any(_near(curve, middle) for curve in curves):
            result = tracer.between(pair)
            if result is not None and not any(_passes(curve, result) for curve in curves):
                trace(result)
    return [tracer.curve(points) for points in curves]


def _oriented(points: Vector) -> Vector:
    """Return the points of a curve in a defined order: first the end with the smaller position on
    x, or on y if both are equal. Without this rule, the order would depend on the arbitrary sign of
    a null vector.
    """
    ends = [np.round(points[order, 1:], 6).ravel().tolist() for order in ([0, 1], [-1, -2])]
    return points if ends[0] <= ends[1] else points[::-1]


def _near(curve: Vector, place: Vector) -> bool:
    """Return whether a traced curve has a point close to `place`, a pair of relative positions on x
    and y.
    """
    return bool(np.min(np.linalg.norm(curve[:, 1:] - place, axis=1)) < LONGEST_STEP)


def _passes(curve: Vector, point: Vector) -> bool:
    """Return whether a traced curve has a point within one continuation step of the given point."""
    return bool(np.min(np.linalg.norm(curve - point, axis=1)) < LONGEST_STEP)


@dataclass(frozen=True)
class _Tracer:
    """Tracer of Hopf curves. The unknowns of a point are the logarithm of the frequency omega, and
    the relative positions on x and y.
    """

    case: Case
    x: Axis
    y: Axis

    def starts(self) -> list[Vector]:
        """Return Hopf points on some lines across the rectangle, from which curves are traced."""
        results = []
        for line, other in ((self.x, self.y), (self.y, self.x)):
            for place in np.linspace(0.03, 0.97, STARTS):
                value = float(line.value(place))
                try:
                    points = hopf_points(
                        self.case.with_(**{line.name: value}), other.name, other.low, other.high
                    )
                except NoEquilibriumError:
                    continue
                for point in points:
                    pair = (place, other.place(point.value))
                    at = pair if line is self.x else pair[::-1]
                    results.append(np.array([np.log(point.frequency), *at]))
        return results

    def between(self, pair: Vector) -> Vector | None:
        """Return the Hopf point between two neighbouring grid points; None if there is none."""
        line, k = (self.x, 0) if pair[0, 0] != pair[1, 0] else (self.y, 1)
        other = self.y if k == 0 else self.x
        present = self.case.with_(**{other.name: float(other.value(pair[0, 1 - k]))})
        ends = (float(line.value(pair[0, k])), float(line.value(pair[1, k])))
        try:
            point = crossing(present, line.name, *ends)
        except (ConvergenceError, NoEquilibriumError):
            return None
        if not isinstance(point, HopfPoint):
            return None
        places = {k: line.place(point.value), 1 - k: float(pair[0, 1 - k])}
        return np.array([np.log(point.frequency), places[0], places[1]])

    def gap(self, at: Vector) -> Vector:
        """Return the real and the imaginary part of the crossing gap, divided by omega, for each
        row of unknowns. The crossing gap is the complex distance of i omega from a root.
        """
        arrays = {self.x.name: self.x.value(at[:, 1]), self.y.name: self.y.value(at[:, 2])}
        rest, linear = self.case.over(**arrays)
        if not np.all(np.isfinite(rest)):
            raise ConvergenceError("no equilibrium here")
        frequency = np.exp(at[:, 0])
        gap = crossing_gap(linear, frequency) / frequency
        return np.stack([gap.real, gap.imag], axis=-1)

    def jacobian(self, at: Vector) -> tuple[Vector, Vector]:
        """Return the crossing gap and its derivatives by the unknowns, computed by central
        differences.
        """
        step = 1e-6
        shifts = np.vstack([np.zeros(3), step * np.eye(3), -step * np.eye(3)])
        values = self.gap(at + shifts)
        return values[0], ((values[1:4] - values[4:7]) / (2.0 * step)).T

    def follow(self, start: Vector, sign: float) -> Vector:
        """Return points of the curve from `start` to the edge of the rectangle. `sign` (1 or -1)
        selects one of the two directions along the curve.

        The curve ends earlier at a corner of the equations, since the system on the other side of
        the corner is different.
        """
        points, piece = [start], self.piece(start)
        tangent = _tangent(self.jacobian(start)[1], None) * sign
        step = FIRST_STEP
        while len(points) < MAX_POINTS:
            onwards = self.onwards(points[-1], step, tangent)
            if onwards is None or self.piece(onwards[0]) != piece:
                step *= 0.5
                if step < SHORTEST_STEP:
                    break  # the equilibrium or the curve ends here
                continue
            new, steps, ahead = onwards
            edge = self._beyond(new)
            if edge is not None:
                last = self._at_edge(points[-1], new, edge)
                points += [] if last is None else [last]
                break
            if len(points) > 10 and np.linalg.norm(new - start) < 0.7 * step:
                points.append(start)  # the curve returns to its start
                break
            points.append(new)
            tangent = ahead
            step = min(LONGEST_STEP, step * (1.4 if steps < 4 else 0.7))
        return np.array(points)

    def onwards(
        self, last: Vector, step: float, tangent: Vector
    ) -> tuple[Vector, int, Vector] | None:
        """Return the next point of the curve, the number of corrections, and the tangent at the
        point; None if there is no next point.

        The result is also None if the correction diverges, or if the tangent turns abruptly. An
        abrupt turn may mean that Newton's method has reached another branch; the points between two
        branches are no Hopf points.
        """
        guess = last + step * tangent
        try:
            new, steps = self.corrected(guess, tangent)
            gap, jacobian = self.jacobian(new)
        except ConvergenceError:
            return None
        ahead = _tangent(jacobian, tangent)
        astray = np.linalg.norm(new - guess) > ASTRAY * step or ahead @ tangent < ASTRAY
        # Across a corner of the equations, finite differences lead to small corrections that do not
        # reduce the gap. The gap is therefore checked, too.
        return None if astray or np.max(np.abs(gap)) > CLOSED else (new, steps, ahead)

    def piece(self, at: Vector) -> int:
        """Return the index of the smooth piece of the equations to which a point belongs."""
        place = {self.x.name: self.x.value(at[1:2]), self.y.name: self.y.value(at[2:3])}
        return int(self.case.pieces(**place)[0])

    def corrected(self, guess: Vector, direction: Vector) -> tuple[Vector, int]:
        """Return the point of the curve on the plane through `guess` that is perpendicular to
        `direction`, and the number of corrections.
        """
        at = guess
        for steps in range(8):
            value, jacobian = self.jacobian(at)
            system = np.vstack([jacobian, direction])
            change = np.linalg.solve(system, [*value, direction @ (at - guess)])
            at = at - change
            if np.max(np.abs(change)) < 1e-10:
                return at, steps
        raise ConvergenceError("the correction does not converge")

    def _beyond(self, at: Vector) -> tuple[int, float] | None:
        """Return the index of the unknown that has left the rectangle, and the edge (0 or 1) that
        it has crossed.
        """
        for k in (1, 2):
            if not 0.0 <= at[k] <= 1.0:
                return k, float(np.clip(at[k], 0.0, 1.0))
        return None

    def _at_edge(self, last: Vector, new: Vector, edge: tuple[int, float]) -> Vector | None:
        """Return the point at which the curve leaves the rectangle of the two parameters."""
        k, value = edge
        part = (value - last[k]) / (new[k] - last[k])
        guess = last + part * (new - last)
        try:
            at, _ = self.corrected(guess, np.eye(3)[k])
        except ConvergenceError:
            return None
        return at if self._beyond(at * (1.0 - 1e-12) + 1e-13) is None else None

    def curve(self, points: Vector) -> HopfCurve:
        """Return the Hopf curve with these points, which are converted to values of the two
        parameters. The result also says for each point whether the curve bounds the stable region.
        """
        x, y = self.x.value(points[:, 1]), self.y.value(points[:, 2])
        frequency = np.exp(points[:, 0])
        _, linear = self.case.over(**{self.x.name: x, self.y.name: y})
        root = rightmost_of(linear)
        if np.any(np.isnan(root)):
            raise ConvergenceError(f"{self.case.model.name}: the rightmost root is not sure")
        return HopfCurve(x, y, frequency, root.real < RIGHTMOST * frequency)


def _tangent(jacobian: Vector, before: Vector | None) -> Vector:
    """Return the unit tangent of the curve, in the direction of the previous tangent."""
    tangent = np.linalg.svd(jacobian)[2][-1]
    turned = before is not None and tangent @ before < 0.0
    return np.asarray(-tangent if turned else tangent)
