"""Final behaviour of a solution under constraints: equilibrium, or a cycle in which queues become
empty and full.

If a queue is empty or full, the equations change. Collocation requires smooth equations and
therefore does not apply. Instead the module integrates the equations over time until the solution
repeats. The states at which the window increases through its middle value are the points of a
return map; a cycle is found when these points recur. The cycle is then integrated further with
small errors, until successive points agree to all reported digits. Only stable cycles are found. A
sweep of a parameter up and down shows where two cycles, or a cycle and an equilibrium, coexist.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.axis import Axis
from lasthop.stability.case import Case
from lasthop.stability.errors import ConvergenceError
from lasthop.stability.integrate import History, Trajectory, integrate
from lasthop.stability.spectrum import roots

Array = NDArray[np.float64]

SAME = 1e-4
"""Distance of the solution from a cycle, divided by the range of each state, up to which the
solution is considered to be on the cycle. [-]
"""
NOISE = 100.0
"""Largest distance between two points of the return map that integration errors can explain. The
distance is divided by the range of each state, and by the relative error of a step. [-]
"""
QUIET = 1e-3
"""Ratio of the oscillation of the window to its equilibrium, below which the solution has reached a
stable equilibrium. [-]
"""
RETURNS = 1e-5
"""Largest difference between two points of the return map, divided by the range of each state, up
to which a solution is considered a cycle. This limit is used for solutions whose integration error
is unknown. [-]
"""
APART = 1e-3
"""Smallest difference between two points of the return map, divided by the range of each state, at
which the cycle may consist of several different oscillations. [-]
"""
EARLY = 4
"""Number of chunks of the integration that use the given tolerance. Later chunks use a smaller
error per step, since a larger error may hide a slow approach to a cycle.
"""
SLOW = 1e-9
"""Tolerated error per step after `EARLY` chunks, relative to the size of each state. [-]"""
FINE = 1e-10
"""Tolerated error per step after a cycle is found, relative to the size of each state. [-]"""
ACCURATE = 2e-6
"""Distance from the cycle, divided by the range of each state, at which the cycle is accurate and
the integration ends. [-]
"""
MAX_STRETCHES = 12
TURNS = 5.5
"""Length of one further integration with the step error `FINE`, in periods of the cycle. [-]"""
MAX_TURNS = 6
"""Largest number of oscillations in the period of a cycle."""
CHUNK = 12.0
"""Length of a chunk of the integration, in periods of the linear system or in delays, whichever is
longer. [-]
"""
MAX_CHUNKS = 40
SAMPLES = 6000
"""Number of points in time at which the solution is evaluated in a chunk."""

LATE = 5000
"""Number of points in time at which `manner` evaluates the solution in each third of its last part.
"""
AT_REST = 1e-6
"""Relative distance from the equilibrium up to which a solution is considered to be at equilibrium.
[-]
"""
REST, CYCLE, DECAYING, GROWING, MOVING = "at rest", "cycle", "decaying", "growing", "moving"
"""Final behaviours of a solution."""

Progress = Callable[[int, int], None]
"""Function that is called with the number of finished solutions and the number of all solutions."""


@dataclass(frozen=True)
class Settled:
    """Final behaviour of a solution: an equilibrium or a cycle.

    Parameters
    ----------
    case : Case
        Case of the solution.
    trajectory : Trajectory
        Last part of the solution, several periods long.
    period : float or None
        Period of the cycle; None at equilibrium. [s]
    error : float
        Distance from the cycle, relative to the oscillation of each state, and relative error of
        the period; 0 at equilibrium. [-]
    """

    case: Case
    trajectory: Trajectory
    period: float | None
    error: float = 0.0

    @property
    def end(self) -> float:
        """Time at which `trajectory` ends. [s]"""
        return float(self.trajectory.starts[-1])

    def states(self, count: int = 2001) -> Array:
        """Return the states at `count` equally spaced times of the last period, or the equilibrium;
        one row per state.
        """
        if self.period is None:
            return np.repeat(self.case.equilibrium[:, None], count, axis=1)
        return self.trajectory.at(np.linspace(self.end - self.period, self.end, count))

    @property
    def amplitude(self) -> float:
        """Amplitude: half the peak-to-peak oscillation of the first window; 0 at equilibrium.
        [packets]
        """
        least, most = self.ends_of(self.case.model.states[0])
        return (most - least) / 2.0

    def ends_of(self, state: str) -> tuple[float, float]:
        """Return the smallest and the largest value of a state over the last period."""
        i = self.case.model.states.index(state)
        if self.period is None:
            return float(self.case.equilibrium[i]), float(self.case.equilibrium[i])
        begin = self.end - self.period
        # The ends of steps include the times at which states reach an end of their range.
        steps = self.trajectory.starts[self.trajectory.starts > begin]
        times = np.sort(np.concatenate([np.linspace(begin, self.end, 2001), steps]))
        return -self._top(i, -1.0, times), self._top(i, 1.0, times)

    def _top(self, i: int, sign: float, times: Array) -> float:
        """Return the largest value of state `i` (`sign` 1), or of its negative (`sign` -1), near
        the given times.
        """
        for _ in range(3):
            values = sign * self.trajectory.at(times)[i]
            k = int(np.argmax(values))
            times = np.linspace(times[max(k - 1, 0)], times[min(k + 1, len(times) - 1)], 101)
        return float(values.max())

    def part_at(self, state: str, value: float) -> float:
        """Return the fraction of the time in which a state has a given value. [-]"""
        i = self.case.model.states.index(state)
        close = 1e-9 * max(1.0, abs(value))
        if self.period is None:
            return float(abs(self.case.equilibrium[i] - value) <= close)
        present = np.abs(self.trajectory.values[i] - value) <= close
        lengths = np.diff(np.maximum(self.trajectory.starts, self.end - self.period))
        return float(lengths[present[:-1] & present[1:]].sum()) / self.period

    def history(self) -> History:
        """Return the last states of the solution as the past states of another solution."""
        trajectory, end = self.trajectory, self.end
        return lambda time: [float(x) for x in trajectory.at(np.array([end + time]))[:, 0]]


def settled(case: Case, start: History | None = None, tolerance: float = 1e-7) -> Settled:
    """Return the equilibrium or the cycle of a case with limited queues and probabilities, by
    integration over time.

    Parameters
    ----------
    case : Case
        Case of a fluid model.
    start : callable, optional
        Past states as a function of time [s]; by default windows are 5 % above the equilibrium.
    tolerance : float
        Relative error of each state in the first steps of the integration. [-]

    Raises
    ------
    ConvergenceError
        If the solution is neither at equilibrium nor periodic after `MAX_CHUNKS` chunks.
    """
    root = roots(case, 2)
    length = CHUNK * max(root.period or 0.0, *case.delays)
    past = start
    for chunk in range(MAX_CHUNKS):
        allowed = tolerance if chunk < EARLY else min(tolerance, SLOW)
        trajectory = integrate(case, length, start=past, tolerance=allowed)
        result = _periodic(case, trajectory, NOISE * allowed)
        if result is not None:
            return _followed(result)
        if root.stable and _is_quiet(case, trajectory):
            return Settled(case, trajectory, None)
        past = Settled(case, trajectory, None).history()
        turns = _passages(case, trajectory)
        # The cycle may be longer than the period of the linear system. The next chunk is therefore
        # longer.
        if len(turns) < 3 * MAX_TURNS:
            length = min(2.0 * length, 1000.0 * CHUNK * max(case.delays))
    raise ConvergenceError(
        f"{case.model.name}: the solution is neither at rest nor periodic within {MAX_CHUNKS} "
        f"stretches of "
        f"{length:.3g} s"
    )


def _followed(result: Settled) -> Settled:
    """Return a cycle with an error of at most `ACCURATE`, by further integration. The error may be
    larger if `MAX_STRETCHES` further integrations do not suffice.
    """
    assert result.period is not None
    case, last = result.case, result
    best = replace(result, error=SAME)
    for _ in range(MAX_STRETCHES):
        length = max(TURNS * result.period, 2.0 * max(case.delays))
        trajectory = integrate(case, length, start=last.history(), tolerance=FINE)
        last = Settled(case, trajectory, None)
        here = _periodic(case, trajectory, NOISE * FINE)
        if here is not None:
            best = here
        if best.error <= ACCURATE:
            break
    return best


def _is_quiet(case: Case, trajectory: Trajectory) -> bool:
    """Return whether the solution is so close to a stable equilibrium that it must converge to this
    equilibrium.
    """
    rest = case.equilibrium
    amplitude = np.abs(trajectory.values[:, len(trajectory.starts) // 2 :] - rest[:, None]).max(
        axis=1
    )
    return bool(np.all(amplitude <= QUIET * np.maximum(rest, 1e-3)))


def _passages(case: Case, trajectory: Trajectory) -> Array:
    """Return the times at which the first window increases through its middle value, exact except
    for rounding errors.
    """
    from scipy.optimize import brentq

    end = float(trajectory.starts[-1])
    times = np.linspace(min(*case.delays, end), end, SAMPLES)
    window = trajectory.at(times)[0]
    middle = 0.5 * (window.max() + window.min())
    rising = np.flatnonzero((window[:-1] < middle) & (window[1:] >= middle))

    def above(time: float) -> float:
        return float(trajectory.at(np.array([time]))[0, 0] - middle)

    return np.array([float(brentq(above, times[k], times[k + 1], xtol=1e-14)) for k in rising])


def _periodic(case: Case, trajectory: Trajectory, noise: float) -> Settled | None:
    """Return the cycle if the last points of the return map recur. The result is None if the points
    still change.
    """
    passed = _passages(case, trajectory)
    amplitude = np.ptp(trajectory.values, axis=1)
    if len(passed) < 2 or amplitude[0] <= QUIET * case.equilibrium[0]:
        return None
    # A point of the return map consists of the present states and the states during the last delay.
    offsets = np.linspace(0.0, max(case.delays), 9)
    points = trajectory.at((passed[:, None] - offsets).ravel().clip(0.0)).reshape(
        len(amplitude), -1, 9
    )
    scaled = points / np.maximum(amplitude, 1e-12)[:, None, None]
    for turns in range(1, MAX_TURNS + 1):
        if len(passed) < 3 * turns + 2:
            return None
        last = scaled[:, [-1 - k * turns for k in range(4)]]
        moved = np.abs(np.diff(last, axis=1)).max(axis=(0, 2))
        left = _distance(moved, noise)
        if left <= SAME:
            return Settled(case, trajectory, float(passed[-1] - passed[-1 - turns]), left)
        if turns == 1 and moved.max() < APART:
            return None  # the solution still approaches a cycle
    return None


def _distance(moved: Array, noise: float) -> float:
    """Return the estimated distance to the cycle. `moved` has the last three changes between points
    of the return map, latest first. [-]

    The distance is the sum of a geometric series. A slow approach therefore has a large distance
    although its changes are small.
    """
    if moved.max() <= noise:
        return float(moved.max())
    if not moved[0] < moved[1] < moved[2]:
        return inf
    ratio = max(moved[0] / moved[1], moved[1] / moved[2])
    return float(moved[0] * ratio / (1.0 - ratio))


def manner(trajectory: Trajectory) -> str:
    """Return the final behaviour of a solution: `REST`, `CYCLE`, `DECAYING`, `GROWING` or `MOVING`.

    Several periods are necessary to see whether an oscillation continues or decays. `MOVING` means
    that none of the other behaviours applies.
    """
    case, end = trajectory.case, float(trajectory.starts[-1])
    rest = case.equilibrium[:, None]
    places = np.linspace(0.4 * end, end, 3 * LATE)
    thirds = np.abs(trajectory.at(places) - rest).reshape(len(rest), 3, LATE).max(axis=2)
    far = (thirds / np.maximum(rest, 1e-3)).max(axis=0)
    if far[2] <= AT_REST:
        return REST
    if _periodic(case, trajectory, RETURNS) is not None:
        return CYCLE
    ratios = far[1:] / far[:-1]
    if ratios.max() < 1.0 - APART:
        return DECAYING
    return GROWING if ratios.min() > 1.0 + APART else MOVING


@dataclass(frozen=True)
class Sweep:
    """Final behaviours of solutions for increasing, then decreasing values of a parameter.

    Parameters
    ----------
    case : Case
        Case with all other parameters.
    parameter : str
        Name of the varied parameter.
    values : array
        Values of the parameter, increasing.
    up, down : list of Settled or None
        Final behaviour of the solution at each value. A solution begins from the final state at the
        next lower value (`up`) or at the next higher value (`down`). The element is None if the
        solution is neither at equilibrium nor periodic, which may happen close to a Hopf point or a
        fold.
    """

    case: Case
    parameter: str
    values: Array
    up: Sequence[Settled | None]
    down: Sequence[Settled | None]

    @property
    def differ(self) -> list[float]:
        """Values of the parameter at which the final behaviours in `up` and `down` differ."""
        pairs = zip(self.values, self.up, self.down, strict=True)
        return [
            float(v)
            for v, a, b in pairs
            if a is not None
            and b is not None
            and abs(a.amplitude - b.amplitude) > 0.01 * max(a.amplitude, b.amplitude)
        ]


def sweep(case: Case, axis: Axis, count: int, progress: Progress | None = None) -> Sweep:
    """Return the final behaviour at each value of a parameter, for increasing and then for
    decreasing values. Queues and probabilities are limited to their ranges.

    Each solution begins at the final state of the previous solution, with windows raised by 1 % of
    their equilibrium. Without this change, a solution would remain at an unstable equilibrium.

    Parameters
    ----------
    case : Case
        Case with all other parameters.
    axis : Axis
        Parameter and its range.
    count : int
        Number of values of the parameter.
    progress : callable, optional
        Function that is called with the number of finished solutions and the number of all
        solutions.

    Raises
    ------
    ConvergenceError
        If none of the solutions reaches an equilibrium or a cycle.
    NoEquilibriumError
        If there is no equilibrium at one of the values.
    """
    values = axis.value(axis.places(count))
    done = 0

    def along(order: Array, last: Settled | None) -> list[Settled | None]:
        nonlocal done
        results: list[Settled | None] = []
        for value in order:
            here = case.with_(**{axis.name: float(value)})
            try:
                last = settled(here, None if last is None else _pushed(here, last))
                results.append(last)
            except ConvergenceError:
                results.append(None)
            done += 1
            if progress is not None:
                progress(done, 2 * count)
        return results

    up = along(values, None)
    down = along(values[::-1], next((each for each in up[::-1] if each is not None), None))
    if all(each is None for each in (*up, *down)):
        raise ConvergenceError(
            f"{case.model.name}: no solution in the range is at rest or periodic"
        )
    return Sweep(case, axis.name, values, up, down[::-1])


def _pushed(case: Case, last: Settled) -> History:
    """Return the last states of a solution as the past states of another case, with windows raised
    by 1 % of their equilibrium.
    """
    if last.period is None:
        return _rest_pushed(case)
    before = last.history()
    rest, names = case.equilibrium, case.model.states
    push = [0.01 * x * n.startswith("window") for x, n in zip(rest, names, strict=True)]
    bounds = case.model.bounds(case.derived)
    ends = [bounds.get(name, (-np.inf, np.inf)) for name in names]

    def history(time: float) -> list[float]:
        state = zip(before(time), push, ends, strict=True)
        return [min(max(x + y, low), high) for x, y, (low, high) in state]

    return history


def _rest_pushed(case: Case) -> History:
    """Return constant past states with windows 1 % above their equilibrium."""
    names = case.model.states
    most = case.values["most_window"] or np.inf
    state = [
        min(1.01 * float(x), most) if name.startswith("window") else float(x)
        for x, name in zip(case.equilibrium, names, strict=True)
    ]
    return lambda time: state
