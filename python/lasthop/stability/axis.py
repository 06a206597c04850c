"""A parameter that is varied, and its range."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.case import Case
from lasthop.stability.errors import ParameterError

Vector = NDArray[np.float64]

LOOKED_AT = 9
"""Values of a parameter at which it is seen whether it changes anything."""


@dataclass(frozen=True)
class Axis:
    """One parameter of a chart with its range; logarithmic where both ends are a decade apart.

    Parameters
    ----------
    name : str
        The parameter.
    low, high : float
        Its range, in the parameter's unit.
    """

    name: str
    low: float
    high: float

    @cached_property
    def logarithmic(self) -> bool:
        """Whether equal ratios are equal lengths."""
        return self.low > 0.0 and self.high >= 10.0 * self.low

    def value(self, place: Vector | float) -> Vector:
        """Return the parameter's value at a place from 0 to 1."""
        if self.logarithmic:
            with np.errstate(over="ignore"):
                ratio = np.divide(self.high, self.low)
            if not np.isfinite(ratio):
                ends = np.log([self.low, self.high])
                return np.asarray(np.exp(ends[0] + (ends[1] - ends[0]) * np.asarray(place)))
            return np.asarray(self.low * ratio ** np.asarray(place))
        return np.asarray(self.low + (self.high - self.low) * np.asarray(place))

    def place(self, value: float) -> float:
        """Return where between 0 and 1 a value stands."""
        if self.logarithmic:
            low, high = np.log([self.low, self.high])
            return float((np.log(value) - low) / (high - low))
        return (value - self.low) / (self.high - self.low)


def axis_of(
    case: Case, name: str, low: float | str, high: float | str, *, of_rest: bool = True
) -> Axis:
    """Return a parameter with its range, after checks.

    Parameters
    ----------
    case : Case
        All other parameters.
    name : str
        The parameter.
    low, high : float or str
        Its range; times may be given with their unit, ``"10 ms"``.
    of_rest : bool
        Whether the parameter must change the point of rest or its linearisation. Ends of the room
        of windows and queues change motions alone.

    Raises
    ------
    ParameterError
        If there is no such number, the range is empty or outside what is allowed, or the parameter
        changes nothing.
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
    if of_rest and _changes_nothing(case, axis):
        raise ParameterError(
            f"`{name}`: changes nothing in model {case.model.name} with these parameters"
        )
    return axis


def _changes_nothing(case: Case, axis: Axis) -> bool:
    """Tell whether points of rest and linearised systems are the same all along an axis."""
    rest, linear = case.over(**{axis.name: axis.value(np.linspace(0.0, 1.0, LOOKED_AT))})
    sound = np.all(np.isfinite(rest), axis=0)
    if sound.sum() < 2:
        return False
    parts = (rest.T[sound], linear.now[sound], linear.lagged[sound], linear.delays[sound])
    return all(bool(np.all(part == part[0])) for part in parts)
