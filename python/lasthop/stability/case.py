"""A case: a fluid model with values for its parameters, its equilibrium and its linearisation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.errors import NoEquilibriumError, ParameterError
from lasthop.stability.models import MODELS, Model
from lasthop.stability.models.base import Derived
from lasthop.stability.parameters import Number, checked, unknown
from lasthop.stability.series import Series, unit_lines

SCENARIOS = "lasthop.fluid(scenario).case is a scenario's case"
"""Hint in error messages about an unknown model: how to get the case of a scenario."""
WHY = {"least_rest": ", too small for congestion avoidance without timeouts"}
"""Last part of the error message if a window at equilibrium is below a limit, by the name of the
parameter that sets the limit.
"""


@dataclass(frozen=True)
class Linear:
    r"""The linearised system :math:`\dot u = A_0 u(t) + \sum_j A_j u(t - \tau_j)`.

    The system is linearised at the equilibrium; u is the deviation from the equilibrium. Leading
    axes of the arrays may enumerate many cases.

    Parameters
    ----------
    now : array
        Coefficients of the present state, :math:`A_0`. [1/s]
    lagged : array
        Coefficients of the delayed states, :math:`A_j`, one matrix per delay, on the third axis
        from the end. [1/s]
    delays : array
        Delays, :math:`\tau_j`, on the last axis. [s]
    """

    now: NDArray[Any]
    lagged: NDArray[Any]
    delays: NDArray[np.float64]

    def characteristic(self, root: Any) -> NDArray[np.complex128]:
        r"""Return the characteristic matrix, :math:`\Delta(\lambda) = \lambda I - A_0 - \sum_j A_j
        e^{-\lambda\tau_j}`.
        """
        root = np.asarray(root, dtype=np.complex128)
        decay = np.exp(-root[..., None] * self.delays)[..., None, None]
        eye = root[..., None, None] * np.eye(self.now.shape[-1])
        return np.asarray(eye - self.now - np.sum(decay * self.lagged, axis=-3))

    def slope(self, root: Any) -> NDArray[np.complex128]:
        r"""Return the derivative of the characteristic matrix, :math:`\Delta'(\lambda) = I + \sum_j
        \tau_j A_j e^{-\lambda\tau_j}`.
        """
        root = np.asarray(root, dtype=np.complex128)
        decay = (self.delays * np.exp(-root[..., None] * self.delays))[..., None, None]
        return np.asarray(np.eye(self.now.shape[-1]) + np.sum(decay * self.lagged, axis=-3))

    def __getitem__(self, index: Any) -> "Linear":
        """Return the linearised systems of the cases that `index` selects."""
        return Linear(self.now[index], self.lagged[index], self.delays[index])


@dataclass(frozen=True)
class Case:
    """A model with a value for each of its parameters.

    Parameters
    ----------
    model : Model
        Model of the case.
    values : mapping
        Value of each parameter.
    """

    model: Model[Any]
    values: Mapping[str, Any]

    @classmethod
    def of(
        cls, model: str | Model[Any], settings: Mapping[str, Any] | None = None, **more: Any
    ) -> "Case":
        """Return a case of the model with this name, with the given parameters set.

        Raises
        ------
        ParameterError
            If there is no such model or parameter, or if a value is not allowed.
        """
        if not isinstance(model, str | Model):
            raise ParameterError(f"{type(model).__name__} is no model; {SCENARIOS}")
        if isinstance(model, str):
            if model not in MODELS:
                raise ParameterError(f'"{model}" is not a model', f"there are {', '.join(MODELS)}")
            model = MODELS[model]
        return cls(model, checked(model.parameters, {**(settings or {}), **more}))

    def with_(self, **changes: Any) -> "Case":
        """Return the case with some parameters changed.

        A parameter that would override a changed parameter is set to 0: ``queue_weight`` if
        ``gamma`` is changed, and ``link_capacity`` if ``capacity`` is changed.
        """
        return Case.of(self.model, {**self.values, **self.model.cleared(changes), **changes})

    def number(self, name: str) -> Number:
        """Return the parameter with this name, which must be a number.

        Raises
        ------
        ParameterError
            If the model has no such parameter, or if the parameter is a word.
        """
        numbers = [each for each in self.model.parameters if isinstance(each, Number)]
        for each in numbers:
            if each.name == name:
                return each
        if any(each.name == name for each in self.model.parameters):
            raise ParameterError(f"`{name}`: is a word, and has no range")
        raise unknown(name, [each.name for each in numbers])

    @cached_property
    def _solved(self) -> tuple[Derived, NDArray[np.float64]]:
        with np.errstate(all="ignore"):
            p, rest = solved(self.model, self.values)
        if not np.all(np.isfinite(rest)):
            raise NoEquilibriumError(f"{self.model.name}: no equilibrium: {self._refusal()}")
        return p, rest

    def _refusal(self) -> str:
        """Return the reason why the case has no equilibrium."""
        with np.errstate(all="ignore"):
            p, rest = self.model.solve(self.values)
            if not np.all(np.isfinite(rest)):
                return self.model.refusal(self.values)
        windows = sum(name.startswith("window") for name in self.model.states)
        for loss in np.atleast_1d(p.balance(rest[:windows])).ravel():
            if not 0.0 < loss < 1.0:
                return f"{p.rule.name} would need a loss probability of {loss:.3g}"
        least, most = rest[:windows].min(), rest[:windows].max()
        name = max(("least_window", "least_rest"), key=lambda each: float(self.values[each]))
        if least <= self.values[name]:
            return (
                f"a window would settle at {least:.3g} packets, "
                f"below {name} = {self.values[name]:g}{WHY.get(name, '')}"
            )
        return (
            f"a window would settle at {most:.4g} packets, "
            f"and most_window = {self.values['most_window']:g}, the receive window, ends below"
        )

    @property
    def decided(self) -> Mapping[str, Any]:
        """Effective values of parameters that other parameters may override. The values are
        available even if the case has no equilibrium.
        """
        with np.errstate(all="ignore"):
            return solved(self.model, self.values)[0].decided

    @property
    def derived(self) -> Derived:
        """Constants of the model that follow from the parameters."""
        return self._solved[0]

    @property
    def equilibrium(self) -> NDArray[np.float64]:
        """States at equilibrium, one value per state.

        Raises
        ------
        NoEquilibriumError
            If there is no equilibrium; the message has the reason.
        """
        return self._solved[1]

    @cached_property
    def linear(self) -> Linear:
        """Linearised system of the case at the equilibrium."""
        return linearised(self.model, *self._solved)

    def over(self, **arrays: Any) -> tuple[NDArray[np.float64], Linear]:
        """Return the equilibria and linearised systems of many cases, which differ in some
        parameters.

        Parameters
        ----------
        **arrays : array
            Values of the varied parameters; all arrays have the same shape (P,).

        Returns
        -------
        array of shape (states, P), Linear
            Equilibria and linearised systems; NaN where there is no equilibrium.
        """
        for name in arrays:
            self.number(name)
        with np.errstate(all="ignore"):
            p, rest = self._solved_over(arrays)
            return rest, linearised(self.model, p, rest)

    def pieces(self, **arrays: Any) -> NDArray[np.int64]:
        """Return, for each of many equilibria, the index of the smooth piece of the equations to
        which the equilibrium belongs.
        """
        with np.errstate(all="ignore"):
            return self.model.pieces(*self._solved_over(arrays))

    def _solved_over(self, arrays: Mapping[str, Any]) -> tuple[Derived, NDArray[np.float64]]:
        cleared = self.model.cleared(arrays)
        return solved(self.model, {**self.values, **cleared, **arrays})

    @property
    def delays(self) -> list[float]:
        """Delays of the case at the equilibrium. [s]"""
        return [float(each) for each in self.model.delays(self.derived, list(self.equilibrium))]


def solved(model: Model[Any], values: Mapping[str, Any]) -> tuple[Derived, NDArray[np.float64]]:
    """Return derived constants and the equilibrium, which is NaN where a window is outside its
    range.
    """
    p, rest = model.solve(values)
    windows = [i for i, name in enumerate(model.states) if name.startswith("window")]
    least = np.maximum(values["least_window"], values["least_rest"])
    most = np.where(np.equal(values["most_window"], 0.0), np.inf, values["most_window"])
    sound = np.all((rest[windows] > least) & (rest[windows] < most), axis=0)
    loss = p.balance(rest[windows])
    sound &= np.all((loss > 0.0) & (loss < 1.0), axis=0)
    return p, np.where(sound, rest, np.nan)


def linearised(model: Model[Any], p: Derived, rest: NDArray[np.float64]) -> Linear:
    """Return the linearised system at one equilibrium or at many equilibria.

    A delay that depends on the state is replaced by its value at equilibrium. A change of the delay
    has no effect of first order, since the state is constant at equilibrium.
    """
    delays = [np.broadcast_to(d, rest.shape[1:]) for d in model.delays(p, list(rest))]
    rates = rates_along(model, p, rest, [rest] * len(delays))
    jacobian = np.stack([np.moveaxis(rate.coefficients[1], 0, -1) for rate in rates], axis=-2)
    parts = np.stack(np.split(jacobian, 1 + len(delays), axis=-1), axis=-3)
    return Linear(parts[..., 0, :, :], parts[..., 1:, :, :], np.stack(delays, axis=-1))


def rates_along(
    model: Model[Any],
    p: Derived,
    now: NDArray[np.float64],
    lagged: Sequence[NDArray[np.float64]],
) -> list[Series]:
    """Return the time derivatives of the states as `Series`. Coefficient 1 of a series has the
    partial derivatives by each present state, then by each delayed state.
    """
    states = len(now)
    lines = unit_lines(np.concatenate([now, *lagged]))
    blocks = [lines[start : start + states] for start in range(0, len(lines), states)]
    return model.rates(p, blocks[0], blocks[1:])
