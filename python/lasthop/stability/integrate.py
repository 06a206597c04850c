"""Time integration of the delay equations, with dense output and error control.

The method of steps uses the embedded pair of Dormand and Prince (1980), of orders 5 and 4, with an
interpolant of order 4 for the history. No step is longer than the shortest delay, so that all
delayed values have been computed. The discontinuity of the derivative at time 0 recurs after one
delay, two delays, and so on; steps end at the first of these breaking points. When a queue becomes
empty or full, the equations change. These times are located exactly, except for rounding errors.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf, isfinite
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.progress.cost_limits import check_time, need
from lasthop.stability.case import Case
from lasthop.stability.errors import ConvergenceError, ParameterError

History = Callable[[float], Sequence[float]]
"""Past states: a function that is called with a time up to 0 [s] and returns the state at this
time.
"""

# Coefficients of Dormand and Prince. The last row has the coefficients of the solution itself, so
# that the last stage of a step is the first stage of the next step.
A: tuple[tuple[float, ...], ...] = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
C = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
# Shampine's interpolant: weights of each stage for the powers 1 to 4 of theta, the fraction of the
# step.
DENSE: tuple[tuple[float, ...], ...] = (
    (
        1.0,
        -8048581381 / 2820520608,
        8663915743 / 2820520608,
        -12715105075 / 11282082432,
    ),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
BY_POWER = tuple(zip(*DENSE, strict=True))

LOOKS = 200
"""Number of steps between two checks whether the computation exceeds its time limit."""
BREAKING_ORDER = 5
"""Number of delays after which the discontinuity at time 0 has become so smooth that it no longer
affects a method of order 5.
"""
MAX_STEPS = 500_000
"""Largest number of steps of an integration, unless `MAX_OVER` times the number of steps that the
delays require is larger.
"""
MAX_OVER = 20
USUAL_OVER = 4.0
"""Expected number of steps, divided by the number of steps that the delays require. Measured ratios
were 1 to 6. [-]
"""
STEP_S, STEP_BYTES = 25e-6, 300.0
"""Computation time and memory of a step, divided by the number of states plus one. The values were
measured on one core of an Intel Xeon server with CPython 3.11, where steps took 0.4 to 1 times this
time. [s, bytes]
"""
SMALLEST_WINDOW = 1e-6
"""Ratio of a window to its equilibrium below which the integration stops, since the growth per ACK
is infinite at a window of 0. [-]
"""
LARGEST_WINDOW = 1e5
"""Ratio of a window to its equilibrium above which the integration stops, since the solution is
considered unbounded. [-]
"""
TIGHTEST, LOOSEST = 1e-13, 0.1
"""Least and largest accepted error tolerance per step. The least value is close to the rounding
error; the largest value is almost no error control. [-]
"""
SAFETY, SHRINK, GROW = 0.9, 0.2, 4.0
BISECTIONS = 60

Progress = Callable[[float, float], None]
"""Function that is called with the time that the solution has reached, and with its end. [s]"""


class _OutsideError(Exception):
    """Exception: the equations are undefined in a stage of a step."""


@dataclass(frozen=True)
class Trajectory:
    """A solution over time, with an interpolant for all times.

    Parameters
    ----------
    case : Case
        Case of the solution.
    starts : array
        Start of each step, and the end of the last step. [s]
    values : array
        States at the times `starts`, one row per state.
    polynomials : array
        Coefficients of the interpolant of each step, with the axes step, state, and power 1 to 4.
        [1/s]
    constrained : bool
        Whether queues and probabilities were limited to their ranges.
    """

    case: Case
    starts: NDArray[np.float64]
    values: NDArray[np.float64]
    polynomials: NDArray[np.float64]
    constrained: bool

    def at(self, times: Any) -> NDArray[np.float64]:
        """Return the states at the given times, one row per state.

        Raises
        ------
        ParameterError
            If a time is before the start or after the end of the trajectory.
        """
        times = np.asarray(times, dtype=np.float64)
        end = float(self.starts[-1])
        if times.size and not (times.min() >= -1e-9 * end and times.max() <= end * (1.0 + 1e-9)):
            raise ParameterError(f"times: the trajectory is known from 0 to {end:g} s")
        step = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, None)
        step = np.minimum(step, len(self.polynomials) - 1)
        length = np.diff(self.starts)[step]
        theta = (times - self.starts[step]) / length
        powers = np.stack([theta**k for k in range(1, 5)])
        return np.asarray(
            self.values[:, step] + length * np.einsum("kt,tsk->st", powers, self.polynomials[step])
        )

    def amplitude(self, part: float = 0.3) -> float:
        """Return half the peak-to-peak oscillation of the first window in the last fraction `part`
        of the solution. [packets]
        """
        times = self._late(part)
        window = self.at(times)[0]
        return float(window.max() - window.min()) / 2.0

    def period(self, part: float = 0.3) -> float | None:
        """Return the mean time between upward crossings of the middle value by the first window;
        None without two crossings. Only the last fraction `part` of the solution is used. [s]
        """
        times = self._late(part)
        window = self.at(times)[0]
        middle = 0.5 * (window.max() + window.min())
        rising = np.flatnonzero((window[:-1] < middle) & (window[1:] >= middle))
        if len(rising) < 2:
            return None
        here, present = window[rising], window[rising + 1]
        passed = times[rising] + (middle - here) / (present - here) * (times[1] - times[0])
        return float(np.diff(passed).mean())

    def _late(self, part: float) -> NDArray[np.float64]:
        end = self.starts[-1]
        return np.linspace(end * (1.0 - part), end, 20001)


def mode(case: Case, root: complex, size: float) -> History:
    """Return the past states of a linear oscillation with the frequency and the decay of a
    characteristic root.

    The oscillation of the first window has the amplitude `size` [packets]; at time 0 the window is
    `size` above its equilibrium.
    """
    right = np.linalg.svd(case.linear.characteristic(root))[2]
    vector = right[-1].conj() / right[-1, 0].conj()
    rest = case.equilibrium

    def history(time: float) -> list[float]:
        return [float(x) for x in rest + size * (vector * np.exp(root * time)).real]

    return history


def integrate(
    case: Case,
    until: float,
    *,
    start: Mapping[str, float] | History | None = None,
    constrained: bool = True,
    tolerance: float = 1e-7,
    progress: Progress | None = None,
) -> Trajectory:
    """Return the solution of a case over time, from time 0.

    Parameters
    ----------
    case : Case
        Case of a fluid model.
    until : float
        End of the solution. [s]
    start : mapping or callable, optional
        Constant past states by name, or past states as a function of time. States that are not
        given are at equilibrium. By default windows are 5 % above the equilibrium.
    constrained : bool
        Whether queues are limited to the range from 0 to the buffer size, and probabilities to the
        range from 0 to 1 (paper 004, Eqs. (4) and (6)). If not, the equations are those of the
        stability analysis, without limits.
    tolerance : float
        Relative error of each state in a step, from 1e-13 to 0.1. [-]
    progress : callable, optional
        Function that is called with the time that the solution has reached, and with its end.

    Raises
    ------
    ConvergenceError
        If the solution leaves the range in which the equations are defined.
    ParameterError
        If the end, the tolerance or a start value is not a number in its range.
    TooCostlyError
        If the computation would need more time or memory than its limits.
    """
    if not 0.0 < until < inf:
        raise ParameterError(f"until {until:g} s is not after the start")
    if not TIGHTEST <= tolerance <= LOOSEST:
        raise ParameterError(f"tolerance {tolerance:g} is not in {TIGHTEST:g}..{LOOSEST:g}")
    least = until / min(case.delays)  # steps are at most the shortest delay
    steps, size = USUAL_OVER * least, 1.0 + len(case.model.states)
    need(
        f"{case.model.name}: a trajectory of {until:g} s, {least:.2g} times its shortest delay,",
        time_s=steps * size * STEP_S,
        memory_bytes=steps * size * STEP_BYTES,
    )
    most = max(MAX_STEPS, int(MAX_OVER * least))
    return _Integration(case, until, start, constrained, tolerance).run(progress, most)


class _Integration:
    """Integration of one case: the steps so far, and the states that are currently fixed at an end
    of their range.
    """

    def __init__(
        self,
        case: Case,
        until: float,
        start: Mapping[str, float] | History | None,
        constrained: bool,
        tolerance: float,
    ) -> None:
        self.case, self.until, self.tolerance = case, until, tolerance
        self.constrained = constrained
        self.model = case.model
        self.p = case.derived.within_constraints(constrained)
        rest = [float(x) for x in case.equilibrium]
        self.scale = [max(abs(x), 1e-3) for x in rest]
        names = self.model.states
        self.windows = [i for i, name in enumerate(names) if name.startswith("window")]
        bounds = self.model.bounds(self.p) if constrained else {}
        self.history = start if callable(start) else _constant(case, rest, start, bounds)
        self.bounds = {names.index(name): ends for name, ends in bounds.items()}
        # States that are fixed at an end of their range: the value of this end, by the index of the
        # state.
        self.held: dict[int, float] = {}
        self.times = [0.0]
        self.states = [[float(x) for x in self.history(0.0)]]
        self._check_start()
        self.polynomials: list[list[list[float]]] = []

    def _check_start(self) -> None:
        for name, value in zip(self.model.states, self.states[0], strict=True):
            if not isfinite(value):
                raise ParameterError(f"`{name}`: {value:g} is not a number to start from")
        for i in self.windows:
            least, most = (x * self.scale[i] for x in (SMALLEST_WINDOW, LARGEST_WINDOW))
            if not least < self.states[0][i] < most:
                raise ParameterError(
                    f"`{self.model.states[i]}`: {self.states[0][i]:g} is not in "
                    f"{least:.3g}..{most:.3g}, the range of the integration"
                )
        for i, (least, most) in self.bounds.items():
            if not least <= self.states[0][i] <= most:
                raise ParameterError(
                    f"`{self.model.states[i]}`: {self.states[0][i]:g} is not in {least:g}..{most:g}"
                )

    def run(self, progress: Progress | None, most: int) -> Trajectory:
        """Return the solution up to its end, in at most `most` steps."""
        breaks = iter([*self._breaking_points(), self.until])
        goal = next(breaks)
        step = 0.01 * min(self.case.delays)
        shortest = 1e-13 * self.until
        slope = self._slope(0.0, self.states[0])
        for count in range(most):
            time = self.times[-1]
            if time >= self.until:
                break
            if count % LOOKS == 0:
                check_time(f"{self.model.name}: a trajectory of {self.until:g} s")
            ends = time + step >= goal * (1.0 - 1e-14)
            length = goal - time if ends else min(step, 0.5 * (goal - time))
            shortest_delay = min(self.model.delays(self.p, self.states[-1]))
            if length > shortest_delay * (1.0 + 1e-9):
                ends, length = False, shortest_delay
            try:
                new, rates, error = self._attempt(time, length, slope)
            except _OutsideError:
                error = np.inf
            if not error <= 1.0:
                step = length * (max(SHRINK, SAFETY * error**-0.2) if error < np.inf else 0.5)
                if step < shortest:
                    raise self._left(time)
                continue
            event = self._keep(time, length, new, rates)
            if ends and not event:
                self.times[-1] = goal
                goal = next(breaks, self.until)
            slope = (
                self._slope(self.times[-1], self.states[-1])
                if event
                else [known[-1] for known in rates]
            )
            step = length * min(GROW, SAFETY * max(error, 1e-10) ** -0.2)
            if progress is not None and count % LOOKS == 0:
                progress(self.times[-1], self.until)
        else:
            raise ConvergenceError(f"{self.model.name}: {most} steps are not enough")
        return Trajectory(
            self.case,
            np.array(self.times),
            np.array(self.states).T,
            np.array(self.polynomials),
            self.constrained,
        )

    def _left(self, time: float) -> ConvergenceError:
        window = min(self.states[-1][i] for i in self.windows)
        where = "a window falls to 0" if window < 1.0 else "the solution grows without bound"
        hint = None if self.constrained else "constraints keep queues and probabilities in range"
        return ConvergenceError(f"{self.model.name}: {where} at {time:.4g} s", hint)

    def _breaking_points(self) -> Iterator[float]:
        """Yield the times at which the discontinuity at time 0 recurs, up to `BREAKING_ORDER`
        delays later.
        """
        delays = sorted(set(self.case.delays))
        sums = {
            sum(some)
            for order in range(1, BREAKING_ORDER + 1)
            for some in combinations_with_replacement(delays, order)
        }
        last = 0.0
        for time in sorted(sums):
            if time - last > 1e-6 * delays[0] and time < self.until:
                last = time
                yield time

    def _attempt(
        self, time: float, length: float, slope: list[float]
    ) -> tuple[list[float], list[list[float]], float]:
        """Return the result of a step: the new state, the time derivatives of each state by stage,
        and the ratio of the error to the tolerance.
        """
        state = self.states[-1]
        # There is one row per state, so that `map` computes the sums of products.
        rates = [[rate] for rate in slope]
        new = state
        for row, place in zip(A, C, strict=True):
            new = [
                x + length * sum(map(mul, row, known))
                for x, known in zip(state, rates, strict=True)
            ]
            for known, rate in zip(rates, self._slope(time + place * length, new), strict=True):
                known.append(rate)
        error = 0.0
        for i, known in enumerate(rates):
            wrong = length * sum(map(mul, ERROR, known))
            allowed = self.tolerance * max(abs(state[i]), abs(new[i]), self.scale[i])
            if not isfinite(wrong):
                raise _OutsideError
            error = max(error, abs(wrong) / allowed)
        return new, rates, error

    def _slope(self, time: float, state: list[float]) -> list[float]:
        """Return the time derivatives of the states; 0 for states that are at an end of their
        range.
        """
        rates = self._rates(time, state)
        for i in self.held:
            rates[i] = 0.0
        return rates

    def _rates(self, time: float, state: list[float]) -> list[float]:
        """Return the time derivatives of the states by the model, without limits."""
        for i in self.windows:
            if not SMALLEST_WINDOW < state[i] / self.scale[i] < LARGEST_WINDOW:
                raise _OutsideError
        lagged = [self._past(time - delay) for delay in self.model.delays(self.p, state)]
        return self.model.rates(self.p, state, lagged)

    def _past(self, time: float) -> Sequence[float]:
        """Return the state at an earlier time."""
        if time <= 0.0:
            return self.history(time)
        times = self.times
        k = bisect_right(times, time) - 1
        if k >= len(self.polynomials):
            if time > times[-1] * (1.0 + 1e-14) + 1e-300:
                raise _OutsideError  # the step exceeds the delay
            return self.states[-1]
        return self._within(k, time)

    def _within(self, k: int, time: float) -> list[float]:
        """Return the state at a time within step `k`."""
        length = self.times[k + 1] - self.times[k]
        x = (time - self.times[k]) / length
        factor = x * length
        return [
            y + factor * (q[0] + x * (q[1] + x * (q[2] + x * q[3])))
            for y, q in zip(self.states[k], self.polynomials[k], strict=True)
        ]

    def _keep(self, time: float, length: float, new: list[float], rates: list[list[float]]) -> bool:
        """Store a step, which is shortened if a state reaches or leaves an end of its range. Return
        whether the step was shortened.
        """
        polynomial = [[sum(map(mul, known, weights)) for weights in BY_POWER] for known in rates]
        self.polynomials.append(polynomial)
        self.times.append(time + length)
        self.states.append(new)
        for i in self.bounds:
            outside = self._leaves if i in self.held else self._arrives
            if outside(i, time + length):
                self._cut(i, outside)
                return True
        return False

    def _arrives(self, i: int, time: float) -> bool:
        """Return whether a state is outside its range at a time within the last step."""
        least, most = self.bounds[i]
        return not least <= self._within(len(self.polynomials) - 1, time)[i] <= most

    def _leaves(self, i: int, time: float) -> bool:
        """Return whether a state that is at an end of its range would move inwards at a time within
        the last step.
        """
        rate = self._rates(time, self._within(len(self.polynomials) - 1, time))[i]
        return rate > 0.0 if self.held[i] == self.bounds[i][0] else rate < 0.0

    def _cut(self, i: int, outside: Callable[[int, float], bool]) -> None:
        """Shorten the last step to the time at which a state reaches or leaves an end of its range.
        Fix the state at this end, or release it.
        """
        k = len(self.polynomials) - 1
        low, high = self.times[k], self.times[k + 1]
        end = high
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if outside(i, middle) else (middle, high)
        state = self._within(k, high)
        if i in self.held:
            state[i] = self.held.pop(i)
        else:
            least, most = self.bounds[i]
            self.held[i] = state[i] = (
                least if abs(state[i] - least) < abs(most - state[i]) else most
            )
        part = (high - self.times[k]) / (end - self.times[k])
        self.polynomials[k] = [
            [c * part**j for j, c in enumerate(row)] for row in self.polynomials[k]
        ]
        self.times[k + 1], self.states[k + 1] = high, state


def _constant(
    case: Case,
    rest: list[float],
    start: Mapping[str, float] | None,
    bounds: Mapping[str, tuple[float, float]],
) -> History:
    """Return a history of constant states."""
    names = case.model.states
    if start is None:
        start = {
            n: min(1.05 * x, bounds.get(n, (0.0, np.inf))[1])
            for n, x in zip(names, rest, strict=True)
            if n.startswith("window")
        }
    for name, value in start.items():
        if name not in names:
            raise ParameterError(f"`{name}`: no such state", f"there are {', '.join(names)}")
        if not isfinite(value):
            raise ParameterError(f"`{name}`: {value:g} is not a number to start from")
        if value < 0.0 or (value == 0.0 and name.startswith("window")):
            raise ParameterError(f"`{name}`: {value:g} is not above 0")
    state = [float(start.get(name, x)) for name, x in zip(names, rest, strict=True)]
    return lambda time: state
