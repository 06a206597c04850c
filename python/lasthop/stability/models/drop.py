"""RED's drop probability as a function of the average queue (paper 004, eqs. 6, 7, 25), and RED's
parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lasthop.stability.parameters import Choice, Number, Parameter

ROUNDING = 1e-12
"""Relative tolerance for the rounding errors of a queue length that is converted to another unit
and back. [-]
"""

FLOWS = Number(
    "flows",
    60.0,
    "-",
    "number of flows; used where queue is total, or link_capacity or queue_weight is set",
)

RED: tuple[Parameter, ...] = (
    Number("min_th", 50.0, "packets", "lower threshold", closed=True),
    Number("max_th", 550.0, "packets", "upper threshold"),
    Number("max_p", 0.1, "-", "drop probability at the upper threshold", high=1.0),
    Choice(
        "drop",
        "gentle",
        ("gentle", "strict", "linear"),
        "drops beyond max_th: up to 1 at twice max_th (eq. 6), 1, or the line of eq. (7)",
    ),
    Choice(
        "queue",
        "per_flow",
        ("per_flow", "total"),
        "queue that the thresholds count: that of one flow, as in the papers, or of all flows",
    ),
    FLOWS,
    Choice(
        "feedback", "loss", ("loss", "ecn"), "whether packets are dropped, or marked and served"
    ),
    Choice(
        "delay",
        "propagation",
        ("propagation", "queueing"),
        "whether the round-trip time is only rtt, as in the papers, or rtt and the queueing delay",
    ),
)
"""Parameters of RED. The defaults are those of paper 004, section II-C."""


@dataclass(frozen=True)
class DropCurve:
    r"""RED's drop function, with its slopes and its scale.

    .. math:: \rho = \bar p / (\bar b - \underline b), \quad \eta = (1 - \bar p) / \bar b

    Attributes
    ----------
    min_th, max_th, max_p, drop
        Parameters of RED.
    rho, eta : float
        Slopes of the drop function below and above the upper threshold. [1/packet]
    scale : float
        Factor from the queue per flow, which is a state of the models, to the queue that is
        compared with the thresholds. [-]
    slope, offset : float
        Coefficients of the linear piece at the equilibrium: the probability is slope * queue -
        offset.

    Notes
    -----
    The slopes are defined by Manjunath & Raina after Eq. (6). :math:`\bar p` is `max_p`, and
    :math:`\underline b` and :math:`\bar b` are `min_th` and `max_th`.
    """

    min_th: Any
    max_th: Any
    max_p: Any
    drop: str
    rho: Any
    eta: Any
    scale: Any
    slope: Any = 0.0
    offset: Any = 0.0

    @staticmethod
    def of(values: Mapping[str, Any]) -> "DropCurve":
        """Return RED's drop function for the parameters of a case."""
        low, high, most = values["min_th"], values["max_th"], values["max_p"]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.divide(most, np.subtract(high, low))
            rho = np.where(np.asarray(high) > low, slope, np.nan)[()]
        scale = values["flows"] if values["queue"] == "total" else 1.0
        return DropCurve(low, high, most, values["drop"], rho, (1.0 - most) / high, scale)

    @property
    def fault(self) -> str | None:
        """Reason why the parameters define no drop function, or None."""
        if self.max_th <= self.min_th:
            return f"min_th = {self.min_th:g} is not below max_th = {self.max_th:g}"
        return None

    def smooth(self) -> "DropCurve":
        """Return the drop function of gentle RED, which has no jump, with the same parameters."""
        return replace(self, drop="gentle") if self.drop == "strict" else self

    def queue_at(self, loss: Any) -> Any:
        """Return the queue length per flow at which packets are dropped with probability `loss`.
        [packets]

        The result is NaN if no queue has this drop probability.
        """
        linear = self.min_th + loss / self.rho
        if self.drop == "linear":
            return linear / self.scale
        beyond = np.nan
        if self.drop == "gentle":
            with np.errstate(divide="ignore", invalid="ignore"):  # eta is 0 if max_p is 1
                beyond = np.divide(loss + 1.0 - 2.0 * self.max_p, self.eta)
        return np.where(loss <= self.max_p, linear, beyond) / self.scale

    def piece(self, loss: Any) -> Any:
        """Return the index of the linear piece of the drop function at the drop probability `loss`:
        1 if the average queue is above the upper threshold, else 0.
        """
        beyond = (self.drop == "gentle") & (np.asarray(loss) > self.max_p)
        return np.asarray(beyond, dtype=np.int64)

    def at(self, loss: Any) -> "DropCurve":
        """Return a copy of the drop function. Its `slope` and `offset` are those of the linear
        piece at the equilibrium, where the drop probability is `loss`.
        """
        gentle = self.piece(loss) > 0
        slope = np.where(gentle, self.eta, self.rho)[()]
        offset = np.where(gentle, 1.0 - 2.0 * self.max_p, self.rho * self.min_th)[()]
        return replace(self, slope=slope * self.scale, offset=offset)

    def probability(self, average: Any, constrained: bool) -> Any:
        """Return the drop probability for an average queue per flow. [-]

        If `constrained`, the whole drop function of Eq. (6) is used. If not, only its linear piece
        at the equilibrium is used.
        """
        if not constrained:
            return self.slope * average - self.offset
        queue = self.scale * average
        if queue <= self.min_th:
            return 0.0
        if self.drop == "linear":
            return min(1.0, self.rho * (queue - self.min_th))
        if queue <= self.max_th * (1.0 + ROUNDING):
            return self.rho * (queue - self.min_th)
        if self.drop == "gentle":
            return min(1.0, self.eta * queue - (1.0 - 2.0 * self.max_p))
        return 1.0
