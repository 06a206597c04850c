"""Two RED queues in series: fluid model of the parking lot in figure 16 of paper 004."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.models import drop
from lasthop.stability.models.base import Derived, Model, State, shape_of, window_rule
from lasthop.stability.models.drop import DropCurve
from lasthop.stability.models.red import CAPACITY, GAMMA, RTT, WEIGHT, gamma_of
from lasthop.stability.parameters import COMPOUND, KAPPA, Number, renamed
from lasthop.stability.series import unit_lines

STEPS = 100
"""Largest number of Newton steps for the equilibrium."""
CLOSE = 1e-13
"""The Newton steps for the equilibrium end after a step that changes the logarithm of each window
by at most this value. [-]
"""


@dataclass(kw_only=True)
class LotDerived(Derived):
    """Constants of two RED queues in series.

    Attributes
    ----------
    drop_curve : DropCurve
        Drop function of both queues.
    pieces : list of DropCurve
        Drop function of each queue, with the coefficients of its linear piece at the equilibrium.
    capacities : list
        Capacity of each queue per long flow. [packets/s]
    gains : list
        Averaging rate of each queue; empty if RED does not average. [1/s]
    local_flows : float
        Number of local flows of each queue per long flow. [-]
    served : float
        Factor of the drop probability in the rate of served packets: 1 if RED drops the packets
        that it selects, 0 if RED marks and serves them.
    """

    drop_curve: DropCurve
    pieces: list[DropCurve]
    capacities: list[Any]
    gains: list[Any]
    local_flows: Any
    served: float


class ParkingLot(Model[LotDerived]):
    r"""Long flows through two RED queues, and local flows through each of them.

    .. math::

        \dot q_1 &= \kappa [(1 - p_1)(w_0/\tau_0 + n w_1/\tau_1) - C_1] \\
        \dot q_2 &= \kappa [(1 - p_2)((1 - p_1) w_0/\tau_0 + n w_2/\tau_2) - C_2]

    :math:`q_j`, :math:`p_j` and :math:`C_j` are the length, the drop probability and the capacity
    of queue j. :math:`w_0` and :math:`\tau_0` are the window and the round-trip time of the long
    flows, and :math:`w_j` and :math:`\tau_j` those of the local flows of queue j. Windows follow
    Eq. (9), where long flows have the loss probability :math:`1 - (1 - p_1)(1 - p_2)`.

    Parameters
    ----------
    averaged : bool
        Whether RED averages the queues.

    Notes
    -----
    The model is not in the paper. Queues, thresholds and capacities are per long flow; each queue
    has n local flows per long flow. The model assumes that the first queue does not change the
    traffic pattern of the packets that it forwards. It also assumes that the sender learns of a
    loss one round-trip time later, in whichever queue the loss occurred. Both assumptions are usual
    in fluid models of networks.
    """

    def __init__(self, *, averaged: bool) -> None:
        self.averaged = averaged
        self.name = "parking-lot" if averaged else "parking-lot-instant"
        self.title = f"two RED queues in a row, {'with' if averaged else 'without'} averaging"
        queues = ("queue_1", "queue_2", *(("average_1", "average_2") if averaged else ()))
        self.states = ("window_long", "window_1", "window_2", *queues)
        meaning = {"rtt_long": "long flows", "rtt_1": "flows of queue 1", "rtt_2": "of queue 2"}
        rtts = [renamed(RTT, name, f"{RTT.meaning}, {who}") for name, who in meaning.items()]
        self.parameters = (
            *COMPOUND,
            *rtts,
            renamed(CAPACITY, "capacity_1", "capacity of queue 1 per long flow", 200.0),
            renamed(CAPACITY, "capacity_2", "capacity of queue 2 per long flow", 200.0),
            Number("local_flows", 1.0, "-", "local flows of each queue, per long flow"),
            *((GAMMA, WEIGHT) if averaged else ()),
            *(each for each in drop.RED if each.name != "delay"),
            KAPPA,
        )
        self.overrides = {"gamma": "queue_weight"} if averaged else {}

    def solve(self, values: Mapping[str, Any]) -> tuple[LotDerived, NDArray[np.float64]]:
        """Return derived constants and the equilibrium, by Newton's method."""
        drop_curve, capacities = DropCurve.of(values), [values["capacity_1"], values["capacity_2"]]
        p = LotDerived(
            values=values,
            rule=window_rule(values),
            rtts=[values[name] for name in ("rtt_long", "rtt_1", "rtt_2")],
            kappa=values["kappa"],
            drop_curve=drop_curve,
            pieces=[],
            capacities=capacities,
            gains=[gamma_of(values, c) * c for c in capacities] if self.averaged else [],
            local_flows=values["local_flows"],
            served=0.0 if values["feedback"] == "ecn" else 1.0,
        )
        windows = np.exp(newton(lambda w: self._balance(w, p), self._guess(p)))
        losses = [p.balance(w) for w in windows[1:]]
        p.pieces = [drop_curve.at(loss) for loss in losses]
        queues = [drop_curve.queue_at(loss) for loss in losses]
        rest = [*windows, *queues, *(queues if self.averaged else ())]
        point = np.stack(np.broadcast_arrays(*rest)).astype(np.float64)
        sound = np.all(np.isfinite(point), axis=0) & np.all(windows > p.rule.valid_from, axis=0)
        return p, np.where(sound, point, np.nan)

    def _guess(self, p: LotDerived) -> NDArray[np.float64]:
        """Return the initial guess of the windows, as logarithms. With these windows all flows of a
        queue have equal rates.
        """
        rate = np.minimum(*p.capacities) / (1.0 + p.local_flows)
        shape = np.shape(shape_of(p.values))
        return np.stack(
            [np.log(np.broadcast_to(np.maximum(rate * rtt, 1.5), shape)) for rtt in p.rtts]
        )

    def _balance(self, logs: Sequence[Any], p: LotDerived) -> list[Any]:
        """Return the residuals of the equilibrium equations: one for the loss probability of the
        long flows, and one for each of the two queues.
        """
        windows = [each.exp() for each in logs]
        loss, loss_1, loss_2 = (p.balance(w) for w in windows)
        sent, sent_1, sent_2 = (w / t for w, t in zip(windows, p.rtts, strict=True))
        capacity_1, capacity_2 = p.capacities
        n, served = p.local_flows, p.served
        return [
            (1.0 - loss).log() - (1.0 - loss_1).log() - (1.0 - loss_2).log(),
            ((sent + n * sent_1) * (1.0 - served * loss_1)).log() - np.log(capacity_1),
            ((sent * (1.0 - served * loss_1) + n * sent_2) * (1.0 - served * loss_2)).log()
            - np.log(capacity_2),
        ]

    def refusal(self, values: Mapping[str, Any]) -> str:
        """Return the reason why there is no equilibrium."""
        red = DropCurve.of(values)
        if red.fault:
            return red.fault
        if red.drop == "strict":
            p, rest = self.solve({**values, "drop": "gentle"})
            if np.all(np.isfinite(rest)):
                loss = max(float(p.balance(w)) for w in rest[1:3])
                return (
                    f"{p.rule.name} needs a drop probability of {loss:.3g} at a queue, above "
                    f"max_p = {red.max_p:g}, where strict RED drops everything"
                )
        return (
            "no drop probabilities below 1 fill both queues: one of them may be no bottleneck, "
            "or the window rule is not defined for such small windows"
        )

    def pieces(self, p: LotDerived, rest: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the smooth piece at each equilibrium. The index combines the pieces
        of the window rule and of both drop functions.
        """
        first, second = (p.drop_curve.piece(p.balance(w)) for w in rest[1:3])
        return np.asarray(4 * super().pieces(p, rest) + 2 * first + second)

    def delays(self, p: LotDerived, now: State) -> list[Any]:
        """Return the round-trip times of long flows, and of local flows of each queue. [s]"""
        del now
        return p.rtts

    def loss(self, p: LotDerived, now: State) -> list[Any]:
        """Return the drop probability of each queue. [-]"""
        drop_curves = zip(p.pieces, now[-2:], strict=True)
        return [
            drop_curve.probability(average, p.constrained) for drop_curve, average in drop_curves
        ]

    def rates(self, p: LotDerived, now: State, lagged: Sequence[State]) -> list[Any]:
        """Return the right-hand sides of the equations."""
        kappa, served, n = p.kappa, p.served, p.local_flows
        rates: list[Any] = []
        for flow, before in enumerate(lagged):
            first, second = self.loss(p, before)
            remaining = ((1.0 - first) * (1.0 - second), 1.0 - first, 1.0 - second)[flow]
            grown, shrunk = (
                p.rule.increase(now[flow], p.values),
                p.rule.decrease(now[flow], p.values),
            )
            change = grown * remaining - shrunk * (1.0 - remaining)
            rates.append(kappa * (change * before[flow] / p.rtts[flow]))
        first, second = self.loss(p, now)
        sent = [now[flow] / p.rtts[flow] for flow in range(3)]
        passed = 1.0 - served * first
        capacity_1, capacity_2 = p.capacities
        rates.append(kappa * ((sent[0] + n * sent[1]) * passed - capacity_1))
        arrived = sent[0] * passed + n * sent[2]
        rates.append(kappa * (arrived * (1.0 - served * second) - capacity_2))
        for k, gain in enumerate(p.gains):
            rates.append(kappa * gain * (now[3 + k] - now[5 + k]))
        return rates


def newton(
    residual: Callable[[Sequence[Any]], list[Any]], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the root of a system of equations near `start`, by Newton's method; NaN if it is not
    found.

    `start` has one row per unknown. Derivatives are computed with `Series`.
    """
    x = start
    size = len(start)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            result = residual(unit_lines(x))
            value = np.stack([f.value[0] for f in result], axis=-1)
            slope = np.stack([np.moveaxis(f.coefficients[1], 0, -1) for f in result], axis=-2)
            bad = ~np.all(np.isfinite(slope), axis=(-2, -1)) | ~np.all(np.isfinite(value), axis=-1)
            slope = np.where(bad[..., None, None], np.eye(size), slope)
            value = np.where(bad[..., None], np.nan, value)
            step = np.moveaxis(np.linalg.solve(slope, value[..., None])[..., 0], -1, 0)
            x = x - np.clip(step, -1.0, 1.0)
            if not np.any(np.abs(step) > CLOSE):
                break
    return np.where(np.all(np.abs(step) < 1e-10, axis=0), x, np.nan)
