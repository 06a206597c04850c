"""Axes of charts and scans: a parameter that is varied, and its range."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case
from lasthop.stability.errors import ParameterError

Vector = NDArray[np.float64]

MOST = 100_000
"""Largest number of values of an axis."""

LOOKED_AT = 9
"""Number of values of a parameter that are compared to find out whether the parameter affects the
equilibrium.
"""


@dataclass(frozen=True)
class Axis:
    """Axis of a chart: one parameter with its range. The axis is logarithmic if the ends of the
    range differ by a factor of ten or more.

    Parameters
    ----------
    name : str
        Name of the parameter.
    low, high : float
        Ends of the range, in the parameter's unit.
    count : int, optional
        Number of values; by default the function that uses the axis chooses it.
    spacing : str, optional
        ``"steps"`` for equal steps or ``"ratios"`` for equal ratios between the values; by default
        the range decides.
    """

    name: str
    low: float
    high: float
    count: int | None = None
    spacing: str | None = None

    @cached_property
    def logarithmic(self) -> bool:
        """Whether the axis is logarithmic, so that equal ratios have equal lengths."""
        if self.spacing is not None:
            return self.spacing == "ratios"
        return self.low > 0.0 and self.high >= 10.0 * self.low

    def places(self, count: int) -> Vector:
        """Return relative positions from 0 to 1 on the axis: one per value if the axis sets its
        number of values, otherwise `count` positions.
        """
        return np.linspace(0.0, 1.0, self.count or count)

    def value(self, place: Vector | float) -> Vector:
        """Return the value of the parameter at a relative position from 0 to 1 on the axis."""
        if self.logarithmic:
            with np.errstate(over="ignore"):
                ratio = np.divide(self.high, self.low)
            if not np.isfinite(ratio):
                ends = np.log([self.low, self.high])
                return np.asarray(np.exp(ends[0] + (ends[1] - ends[0]) * np.asarray(place)))
            return np.asarray(self.low * ratio ** np.asarray(place))
        return np.asarray(self.low + (self.high - self.low) * np.asarray(place))

    def place(self, value: float) -> float:
        """Return the relative position of a value on the axis, from 0 to 1."""
        if self.logarithmic:
            low, high = np.log([self.low, self.high])
            return float((np.log(value) - low) / (high - low))
        return (value - self.low) / (self.high - self.low)


def axis_of(
    case: Case,
    name: str,
    low: float | str,
    high: float | str,
    *,
    step: float | str | None = None,
    ratios: int | None = None,
    of_rest: bool = True,
) -> Axis:
    """Check a parameter and its range, and return them as an axis.

    Parameters
    ----------
    case : Case
        Case that sets all other parameters.
    name : str
        Name of the parameter.
    low, high : float or str
        Ends of the range; times may be given with their unit, ``"10 ms"``.
    step : float or str, optional
        Step between the values of the axis, instead of `ratios`. The range ends at the last value.
    ratios : int, optional
        Number of values, with equal ratios between successive values, instead of `step`.
    of_rest : bool
        Whether to raise an error if the parameter changes neither the equilibrium nor the
        linearised system. For example, limits of windows and queues change only solutions over
        time.

    Raises
    ------
    ParameterError
        If an end of the range is not a number, if the range is empty or outside the accepted range,
        or if the parameter has no effect.
    """
    number = case.number(name)
    axis = Axis(name, number.read(low), number.read(high))
    if not axis.low < axis.high:
        raise ParameterError(f"`{name}`: {low} is not below {high}")
    if number.plain_above is not None and axis.low <= number.plain_above:
        raise ParameterError(
            f"`{name}`: {low} is not above {number.plain_above:g}, as a range must be: "
            f"{number.meaning}"
        )
    axis = _spaced(axis, None if step is None else number.read(step), ratios)
    if of_rest and _changes_nothing(case, axis):
        raise ParameterError(
            f"`{name}`: changes nothing in model {case.model.name} with these parameters"
        )
    return axis


def _spaced(axis: Axis, step: float | None, ratios: int | None) -> Axis:
    """Return an axis with the requested values.

    Raises
    ------
    ParameterError
        If there would be fewer than two values, or too many.
    """
    if step is None and ratios is None:
        return axis
    if ratios is not None:
        if not axis.low > 0.0:
            raise ParameterError(f"`{axis.name}`: equal ratios need a range above 0")
        count, high, spacing = ratios, axis.high, "ratios"
    else:
        if not (step is not None and step > 0.0):
            raise ParameterError(f"`{axis.name}`: a step of {step:g} is not above 0")
        # If the range is a multiple of the step except for rounding errors, the last value is the
        # end of the range.
        count = int(min((axis.high - axis.low) / step * (1.0 + 1e-12), MOST)) + 1
        high, spacing = axis.low + (count - 1) * step, "steps"
    if not 2 <= count <= MOST:
        raise ParameterError(f"`{axis.name}`: {count} values; expected 2 to {MOST:,}")
    return Axis(axis.name, axis.low, high, count, spacing)


def _changes_nothing(case: Case, axis: Axis) -> bool:
    """Return whether the equilibrium and the linearised system are equal for all values of the
    axis.
    """
    rest, linear = case.over(**{axis.name: axis.value(np.linspace(0.0, 1.0, LOOKED_AT))})
    sound = np.all(np.isfinite(rest), axis=0)
    if sound.sum() < 2:
        return False
    parts = (rest.T[sound], linear.now[sound], linear.lagged[sound], linear.delays[sound])
    return all(bool(np.all(part == part[0])) for part in parts)
