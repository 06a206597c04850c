"""Flows with one or several round-trip times through a queue with a proportional-integral
controller.

C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On designing improved controllers for AQM routers
supporting TCP flows", INFOCOM 2001.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.models import drop
from lasthop.stability.models.base import State
from lasthop.stability.models.red import Red, RedDerived
from lasthop.stability.parameters import COMPOUND, KAPPA, Choice, Number, Parameter

STEEP = 1e100
"""Slope of a RED drop function with which the equilibrium queue practically equals the lower
threshold. [1/packet]
"""

CONTROLLER: tuple[Parameter, ...] = (
    Number("target", 200.0, "packets", "queue aimed at, q_ref"),
    Number("a", 1.822e-5, "-", "weight of the distance from the target at a step", high=1.0),
    Number("b", 1.816e-5, "-", "weight of the distance a step before", closed=True, high=1.0),
    Number("update", 1.0 / 160.0, "s", "time between steps"),
)
"""Parameters of the controller. The defaults are those of Hollot et al., section V."""

SHARED: tuple[Parameter, ...] = tuple(
    replace(each, default=each.allowed[-1])
    if isinstance(each, Choice) and each.name != "feedback"
    else each
    for each in drop.RED
    if each.name in ("queue", "flows", "feedback", "delay")
)
"""Parameters that the model of RED also has, with other defaults. By default, `queue` is the queue
of all flows, and `delay` includes the queueing delay.
"""


@dataclass(kw_only=True)
class PiDerived(RedDerived):
    """Constants of a queue with a PI controller: its target, and its integral and proportional
    gains.
    """

    target: Any
    integral: Any
    proportional: Any


class Pi(Red):
    r"""Long-lived flows through one queue whose drop probability a PI controller sets.

    .. math:: \dot p = \kappa K (q - q_{ref}) + \frac{K}{z} \dot q,
        \qquad K = \frac{a - b}{T}, \quad \frac{K}{z} = \frac{a + b}{2}

    :math:`q` is the queue, :math:`q_{ref}` its target, and :math:`T` the update interval of the
    controller. Windows and queue follow the equations of RED.

    Parameters
    ----------
    groups : int
        Number of groups of flows with different round-trip times.

    Notes
    -----
    The controller of Hollot et al. 2001 is :math:`C_{PI}(s) = K (s/z + 1)/s`. Its bilinear
    transform with the interval :math:`T` is :math:`p(k) = p(k-1) + a (q(k) - q_{ref}) - b (q(k-1) -
    q_{ref})`. The linearised system equals theirs except for terms of the order :math:`1/w^2` and,
    unless packets are marked, for the effect of lost packets.
    """

    def __init__(self, *, groups: int = 1) -> None:
        super().__init__(averaged=False, groups=groups)
        self.name = self.name.replace("red-instant", "pi")
        self.title = self.title.replace("RED without averaging", "proportional-integral controller")
        self.states = (*self.states, "probability")
        self.parameters = (*COMPOUND, *self._own(), *CONTROLLER, *SHARED, KAPPA)

    def solve(self, values: Mapping[str, Any]) -> tuple[PiDerived, NDArray[np.float64]]:
        """Return derived constants and the equilibrium, at which the queue is at its target."""
        line, rest = super().solve(self._line(values))
        a, b = np.asarray(values["a"]), values["b"]
        p = PiDerived(
            **vars(line),
            target=values["target"],
            integral=((a - b) / values["update"])[()],
            proportional=(0.5 * (a + b))[()],
        )
        rest = np.concatenate([rest, p.balance(rest[:1])])
        return p, np.where(a > b, rest, np.nan)

    @staticmethod
    def _line(values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a RED queue that has the same equilibrium: its drop function is
        so steep that the queue is at the target for every drop probability.
        """
        low = values["target"]
        drop_curve = {"min_th": low, "max_th": low + 1.0, "max_p": STEEP, "drop": "linear"}
        return {**values, **drop_curve}

    def refusal(self, values: Mapping[str, Any]) -> str:
        """Return the reason why there is no equilibrium."""
        a, b = values["a"], values["b"]
        if a <= b:
            return f"a = {a:g} is not above b = {b:g}: nothing holds the target"
        return super().refusal(self._line(values))

    def bounds(self, p: RedDerived) -> dict[str, tuple[float, float]]:
        """Return the least and the largest value of each state, by name of the state. Windows and
        the queue are in [packets], and the drop probability is in [-].
        """
        return super().bounds(p) | {"probability": (0.0, 1.0)}

    def _early(self, p: RedDerived, now: State) -> Any:
        """Return the drop probability that the controller sets. [-]"""
        return now[-1]

    def rates(self, p: RedDerived, now: State, lagged: Sequence[State]) -> list[Any]:
        """Return the right-hand sides of the equations. The equations of windows and queue are
        those of RED; the last equation is that of the controller.
        """
        assert isinstance(p, PiDerived)
        rates, queue = super().rates(p, now, lagged), now[self.groups]
        moves = rates[-1]
        if p.constrained and ((queue <= 0.0 and moves < 0.0) or (queue >= p.full and moves > 0.0)):
            moves = 0.0  # the state is at an end of its range
        above = p.kappa * (queue - p.target / p.drop_curve.scale)
        rates.append(p.drop_curve.scale * (p.integral * above + p.proportional * moves))
        return rates
