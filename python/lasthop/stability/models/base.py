"""Base class of fluid models: states, parameters, equilibrium, delays and time derivatives."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from math import inf
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.parameters import Parameter
from lasthop.stability.windows import RULES, WindowRule


@dataclass(kw_only=True)
class Derived:
    """Constants of a model that follow from the parameters of a case. Values may be arrays with one
    element per case.

    Attributes
    ----------
    values : mapping
        Values of the parameters, which window rules read.
    rule : WindowRule
        Growth and reduction of windows.
    rtts : list
        Round-trip times without queueing. [s]
    kappa : float
        Common factor of all time derivatives, kappa. [-]
    constrained : bool
        Whether queues and probabilities are limited to their ranges.
    """

    values: Mapping[str, Any]
    rule: WindowRule
    rtts: list[Any]
    kappa: Any
    constrained: bool = False

    @property
    def decided(self) -> Mapping[str, Any]:
        """Effective values of parameters that other parameters may override."""
        return {}

    def balance(self, windows: Any) -> Any:
        """Return the loss probability at which windows of the given size neither grow nor shrink.
        [-]
        """
        return self.rule.balance(windows, self.values)

    def change(self, window: Any, loss: Any) -> Any:
        """Return the mean change of a window per packet at a given loss probability. [packets]"""
        rule, values = self.rule, self.values
        return rule.increase(window, values) * (1.0 - loss) - rule.decrease(window, values) * loss

    def within_constraints(self, constrained: bool) -> Self:
        """Return a copy of the constants as plain numbers, with the given value of `constrained`.

        Arithmetic is fastest with plain numbers.
        """
        result: Self = plain(replace(self, constrained=constrained))
        return result


D = TypeVar("D", bound=Derived)


def plain(value: Any) -> Any:
    """Return a value with all its numbers, including those of lists and dataclasses, converted to
    Python's own types.
    """
    if isinstance(value, np.ndarray | np.floating):
        return float(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, WindowRule | type):
        return replace(value, **{name: plain(each) for name, each in vars(value).items()})
    return value


def shape_of(values: Mapping[str, Any]) -> Any:
    """Return an array that has the common shape of all parameter values."""
    return sum(np.asarray(v) for v in values.values() if isinstance(v, (float, np.ndarray)))


State = Sequence[Any]
"""State of a system: one value per state variable. Values are numbers, arrays or series."""

HALVINGS = 64
"""Number of bisections on a logarithmic scale that yields the full precision of a double."""


class Model(ABC, Generic[D]):
    """A fluid model: a system of delay differential equations.

    Formulas of a model use only ordinary operators. Therefore they accept numbers (time
    integration), arrays (charts) and `Series` (derivatives).
    """

    name: str
    """Name of the model on the command line."""
    title: str
    """Title of the model, in a few words."""
    states: tuple[str, ...]
    """Names of the state variables, windows first."""
    parameters: tuple[Parameter, ...]
    """Parameters of the model."""
    overrides: Mapping[str, str] = {}
    """Name of the overriding parameter, by the name of the overridden parameter. An overriding
    parameter takes effect if its value is not 0.
    """

    def cleared(self, changes: Collection[str]) -> dict[str, float]:
        """Return the parameters that override the changed parameters, each with the value 0. With
        these values the changed parameters take effect.
        """
        results = {self.overrides[name]: 0.0 for name in changes if name in self.overrides}
        return {name: value for name, value in results.items() if name not in changes}

    @abstractmethod
    def solve(self, values: Mapping[str, Any]) -> tuple[D, NDArray[np.float64]]:
        """Return derived constants and the equilibrium, one row per state; NaN without an
        equilibrium.
        """

    @abstractmethod
    def refusal(self, values: Mapping[str, Any]) -> str:
        """Return the reason why there is no equilibrium with the given parameters."""

    @abstractmethod
    def delays(self, p: D, now: State) -> list[Any]:
        """Return the delays, which may depend on the present state. [s]"""

    def bounds(self, p: D) -> dict[str, tuple[float, float]]:
        """Return the least and the largest value of each state with limits, by name of the state.
        Windows and queues are in [packets], probabilities in [-].
        """
        ends = float(p.values["least_window"]), float(p.values["most_window"] or inf)
        windows = {name: ends for name in self.states if name.startswith("window")}
        return windows | {name: (0.0, inf) for name in self.states if name.startswith("queue")}

    def pieces(self, p: D, rest: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the smooth piece of the equations to which each equilibrium belongs.

        Pieces are separated by corners, where derivatives jump. Window rules may have a corner, and
        models may have further corners.
        """
        windows = rest[[name.startswith("window") for name in self.states]]
        corner = p.rule.corner(p.values)
        return np.asarray((windows > corner).sum(axis=0))

    @abstractmethod
    def rates(self, p: D, now: State, lagged: Sequence[State]) -> list[Any]:
        """Return the time derivative of each state, computed from the present state and from the
        delayed states (one per delay).
        """

    @abstractmethod
    def loss(self, p: D, now: State) -> list[Any]:
        """Return the drop or marking probability of each queue. [-]"""


def window_rule(values: Mapping[str, Any]) -> WindowRule:
    """Return the window rule that the parameter `tcp` names or contains."""
    chosen = values["tcp"]
    return chosen if isinstance(chosen, WindowRule) else RULES[chosen]


def range_of(rule: WindowRule, low: float, high: float) -> tuple[float, float]:
    """Return the range of windows in which the window at equilibrium is searched. [packets]"""
    return max(low, rule.valid_from), min(high, rule.valid_to)


def beyond(model: Model[Any], values: Mapping[str, Any]) -> str:
    """Return an error text: the reason why no window in the range of the window rule is an
    equilibrium.
    """
    rule = window_rule(values)
    low, high = rule.valid_from, rule.valid_to
    if not low and high == inf:
        return "no window between 1e-9 and 1e12 packets balances growth and loss"
    _, rest = model.solve({**values, "tcp": replace(rule, valid_from=0.0, valid_to=inf)})
    window = float(rest[0]) if np.isfinite(rest[0]) else 0.0
    if window > low:
        return f"the window would settle above {high:g} packets, where {rule.name} is not defined"
    return f"the window would settle below {low:g} packets, where {rule.name} is not defined"


def bisected(increasing: Callable[[Any], Any], low: float, high: float, like: Any) -> Any:
    """Return the zero of an increasing function between `low` and `high`; NaN if there is none.

    The bisection is on a logarithmic scale. The result is an array with the shape of `like`.
    """
    lows = np.full(np.shape(like), np.log(low))
    highs = np.full(np.shape(like), np.log(high))
    inside = (increasing(np.exp(lows)) < 0.0) & (increasing(np.exp(highs)) > 0.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (lows + highs)
        above = increasing(np.exp(middle)) > 0.0
        lows, highs = np.where(above, lows, middle), np.where(above, middle, highs)
    return np.where(inside, np.exp(0.5 * (lows + highs)), np.nan)
