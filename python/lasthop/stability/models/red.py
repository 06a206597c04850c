"""Flows with one or several round-trip times through a RED queue (paper 004, eqs. 9, 19 and 26)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.models import drop
from lasthop.stability.models.base import (
    Derived,
    Model,
    State,
    beyond,
    bisected,
    range_of,
    shape_of,
    window_rule,
)
from lasthop.stability.models.drop import DropCurve
from lasthop.stability.parameters import COMPOUND, KAPPA, Number, Parameter, renamed, switched

RTT = Number("rtt", 0.1, "s", "round-trip time without queueing, tau")
CAPACITY = Number("capacity", 100.0, "packets/s", "capacity per flow, C")
GAMMA = Number("gamma", 1e-4, "-", "gain of the queue average, per packet of one flow")
WEIGHT = switched(
    "queue_weight",
    "-",
    "w_q of a packet RED, from which gamma = flows * w_q; -1: ns-2's automatic; 0: use gamma",
    low=-1.0,
    high=1.0,
)

LINK = switched(
    "link_capacity",
    "packets/s",
    "capacity of the link, from which capacity = link_capacity / flows; 0: use capacity",
)

BUFFER = switched(
    "buffer",
    "packets",
    "most that the queue holds where constraints count, as thresholds count it; 0: no limit",
)

WIDEST = 1e12
"""Largest window of the search for the equilibrium. [packets]"""
NARROWEST = 1e-9
"""Smallest window of the search for the equilibrium. [packets]"""


@dataclass(kw_only=True)
class RedDerived(Derived):
    """Constants of the model of a RED queue.

    Attributes
    ----------
    drop_curve : DropCurve
        RED's drop function.
    shares : list
        Fraction of the flows in each group. [-]
    capacity : float
        Capacity per flow. [packets/s]
    gamma : float
        Gain of the average, gamma. [-]
    served : float
        Factor of the drop probability in the rate of served packets: 1 if RED drops the packets
        that it selects, 0 if RED marks and serves them.
    queueing : float
        Factor of the queueing delay in round-trip times: 1 if they include the queueing delay, 0 if
        they do not.
    full : float
        Queue per flow if the buffer is full. [packets]
    """

    drop_curve: DropCurve
    shares: list[Any]
    capacity: Any
    gamma: Any
    served: float
    queueing: float
    full: Any

    @property
    def decided(self) -> Mapping[str, Any]:
        """Effective values of capacity and gain. Other parameters may override the given values."""
        return {"capacity": self.capacity, "gamma": self.gamma}


def per_flow(values: Mapping[str, Any]) -> Any:
    """Return the capacity per flow; if a link capacity is given, it is divided among the flows.
    [packets/s]
    """
    link = np.asarray(values["link_capacity"])
    return np.where(link > 0.0, link / values["flows"], values["capacity"])[()]


def ewma_gain(weight: Any, flows: Any, capacity: Any) -> Any:
    r"""Return the gain of the average queue in the fluid model, computed from the settings of a RED
    queue that counts packets. [-]

    .. math:: \gamma = N w_q

    Parameters
    ----------
    weight : float
        Weight of one arrival, :math:`w_q`. A negative value selects the automatic weight of ns-2,
        :math:`1 - e^{-1/C_{total}}`. [-]
    flows : float
        Number of flows, :math:`N`. [-]
    capacity : float
        Capacity per flow. [packets/s]

    Notes
    -----
    A RED queue updates its average at every arrival, :math:`N C` times per second, with the
    capacity per flow :math:`C`. Therefore the average of Eq. (5) approaches the queue at the rate
    :math:`w_q N C = \gamma C`.
    """
    automatic = -np.expm1(-1.0 / (np.asarray(flows) * capacity))
    return (flows * np.where(np.asarray(weight) < 0.0, automatic, weight))[()]


def gamma_of(values: Mapping[str, Any], capacity: Any) -> Any:
    """Return the gain gamma of the average. If the weight of an arrival is given, the gain follows
    from the weight. [-]
    """
    weight = np.asarray(values["queue_weight"])
    gain = ewma_gain(weight, values["flows"], capacity)
    return np.where(weight == 0.0, values["gamma"], gain)[()]


class Red(Model[RedDerived]):
    r"""Long-lived flows through one RED queue.

    .. math::

        \dot w_g &= \kappa \left[ i(w_g)(1 - p(t - \tau_g)) - d(w_g) p(t - \tau_g) \right]
            w_g(t - \tau_g) / \tau_g \\
        \dot q &= \kappa \left[ (1 - p) \sum_g s_g w_g / \tau_g - C \right] \\
        \dot r &= -\kappa \gamma C (r - q)

    :math:`w_g`, :math:`\tau_g` and :math:`s_g` are the window, the round-trip time and the share of
    the flows of group g. :math:`q` is the queue, :math:`C` the capacity, and :math:`i` and
    :math:`d` the growth and reduction of a window. :math:`p` is RED's drop function of the average
    :math:`r`, or of :math:`q` itself if RED does not average.

    Parameters
    ----------
    averaged : bool
        Whether RED averages the queue: Eq. (9) with averages, Eq. (26) without.
    groups : int
        Number of groups of flows with different round-trip times.

    Notes
    -----
    The equations are those of Manjunath & Raina, Eqs. (9), (19), (26), with the state r in place of
    p = rho (r - b). With ``feedback = "ecn"`` every packet is served, so that the factor 1 - p of
    the arrivals is absent. With ``delay = "queueing"`` each round-trip time is tau_g + q/C at the
    time of sending. With the constraints of Eqs. (4) and (6), a full queue of ``buffer`` packets
    drops the excess packets.
    """

    def __init__(self, *, averaged: bool, groups: int = 1) -> None:
        self.averaged = averaged
        self.groups = groups
        many = groups > 1
        self.name = f"red{'' if averaged else '-instant'}{'-groups' if many else ''}"
        self.title = (
            f"RED {'with' if averaged else 'without'} averaging"
            f"{f', {groups} round-trip times' if many else ''}"
        )
        windows = tuple(f"window_{g + 1}" for g in range(groups)) if many else ("window",)
        self.states = (*windows, "queue", *(("average",) if averaged else ()))
        self._rtts = [f"rtt_{g + 1}" for g in range(groups)] if many else ["rtt"]
        self.parameters = (*COMPOUND, *self._own(), *drop.RED, KAPPA)
        gain = {"gamma": "queue_weight"} if averaged else {}
        self.overrides = {"capacity": "link_capacity", **gain}

    def _own(self) -> list[Parameter]:
        rtts = [renamed(RTT, name, f"{RTT.meaning}, group {name[4:]}") for name in self._rtts]
        own: list[Parameter] = list(rtts) if self.groups > 1 else [RTT]
        for g in range(1, self.groups):
            part = Number(f"share_{g}", 1.0 / self.groups, "-", f"part of flows, group {g}", 0, 1)
            own.append(part)
        return [*own, CAPACITY, LINK, BUFFER, *((GAMMA, WEIGHT) if self.averaged else ())]

    def solve(self, values: Mapping[str, Any]) -> tuple[RedDerived, NDArray[np.float64]]:
        """Return derived constants and the equilibrium, Eq. (10)."""
        drop_curve, capacity = DropCurve.of(values), per_flow(values)
        first = [values[f"share_{g}"] for g in range(1, self.groups)]
        buffer = np.asarray(values["buffer"])
        full = np.where(buffer > 0.0, buffer, np.inf)
        if drop_curve.drop == "strict" and not self.averaged:  # a queue above max_th is impossible
            full = np.minimum(full, drop_curve.max_th)
        p = RedDerived(
            values=values,
            rule=window_rule(values),
            rtts=[values[name] for name in self._rtts],
            kappa=values["kappa"],
            drop_curve=drop_curve,
            shares=[*first, 1.0 - sum(first)],
            capacity=capacity,
            gamma=gamma_of(values, capacity) if self.averaged else np.nan,
            served=0.0 if values["feedback"] == "ecn" else 1.0,
            queueing=1.0 if values["delay"] == "queueing" else 0.0,
            full=(full / drop_curve.scale)[()],
        )
        p.values = {**values, **p.decided}

        def surplus(w: Any) -> Any:
            """Return the rate of arrivals minus the rate of departures for a window w. The result
            increases with the window.
            """
            loss = p.balance(w)
            wait = p.queueing * drop_curve.smooth().queue_at(loss) / p.capacity
            turns = sum(s / (rtt + wait) for s, rtt in zip(p.shares, p.rtts, strict=True))
            return w * (1.0 - p.served * loss) * turns - p.capacity

        w = bisected(surplus, *range_of(p.rule, NARROWEST, WIDEST), shape_of(values))
        w = np.where(np.asarray(p.shares[-1]) < 0.0, np.nan, w)
        loss = p.balance(w)
        queue = drop_curve.queue_at(loss)
        queue = np.where(np.less(queue, p.full), queue, np.nan)
        p.drop_curve = drop_curve.at(loss)
        rest = [w] * self.groups + [queue] * (2 if self.averaged else 1)
        point = np.stack(np.broadcast_arrays(*rest)).astype(np.float64)
        return p, np.where(np.all(np.isfinite(point), axis=0), point, np.nan)

    def refusal(self, values: Mapping[str, Any]) -> str:
        """Return the reason why there is no equilibrium."""
        if fault := DropCurve.of(values).fault:
            return fault
        if sum(values[f"share_{g}"] for g in range(1, self.groups)) > 1.0:
            return "the shares of the groups add up to more than 1"
        unlimited = {**values, "drop": "gentle", "buffer": 0.0}
        p, rest = self.solve(unlimited)
        if not np.isfinite(rest[0]):
            return beyond(self, unlimited)
        loss = float(p.balance(rest[0]))
        p, rest = self.solve({**values, "buffer": 0.0})
        if np.isfinite(rest[0]):
            return (
                f"the queue would settle at {rest[self.groups] * p.drop_curve.scale:.4g} packets, "
                f"and buffer = {values['buffer']:g} ends below"
            )
        return (
            f"{p.rule.name} needs a drop probability of {loss:.3g}, above max_p = "
            f"{p.drop_curve.max_p:g}, where strict RED drops everything"
        )

    def pieces(self, p: RedDerived, rest: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the smooth piece at each equilibrium. The index combines the pieces
        of the window rule and of RED's drop function.
        """
        loss = p.balance(rest[0])
        return np.asarray(2 * super().pieces(p, rest) + p.drop_curve.piece(loss))

    def delays(self, p: RedDerived, now: State) -> list[Any]:
        """Return the round-trip time of each group. [s]"""
        wait = self._wait(p, now)
        return [rtt + wait for rtt in p.rtts]

    def _wait(self, p: RedDerived, at: State) -> Any:
        """Return the queueing delay, or 0 if round-trip times do not include it. [s]"""
        return at[self.groups] / p.capacity if p.queueing else 0.0

    def bounds(self, p: RedDerived) -> dict[str, tuple[float, float]]:
        """Return the least and the largest value of windows and of the queue, by name of the state.
        The queue per flow is at most that of a full buffer. [packets]
        """
        return super().bounds(p) | {"queue": (0.0, float(p.full))}

    def loss(self, p: RedDerived, now: State) -> list[Any]:
        """Return the drop probability of the queue, which includes the drops of RED and the drops
        of a full buffer. [-]
        """
        early = self._early(p, now)
        if not p.constrained or now[self.groups] < p.full:
            return [early]
        passed = (1.0 - p.served * early) * self._sent(p, now)
        lost = max(0.0, 1.0 - p.capacity / passed) if passed > 0.0 else 0.0
        return [1.0 - (1.0 - early) * (1.0 - lost)]

    def _early(self, p: RedDerived, now: State) -> Any:
        """Return the drop probability of RED's drop function, without that of a full buffer. [-]"""
        is_limited = p.constrained and not self.averaged
        return p.drop_curve.probability(
            min(now[-1], p.full) if is_limited else now[-1], p.constrained
        )

    def _sent(self, p: RedDerived, now: State) -> Any:
        """Return the rate of sent packets per flow, averaged over groups. [packets/s]"""
        wait = self._wait(p, now)
        return sum(
            (s / (rtt + wait)) * w
            for s, rtt, w in zip(p.shares, p.rtts, now[: self.groups], strict=True)
        )

    def rates(self, p: RedDerived, now: State, lagged: Sequence[State]) -> list[Any]:
        """Return the right-hand sides of Eq. (19) or (26)."""
        kappa, queue = p.kappa, now[self.groups]
        rates: list[Any] = []
        for g, before in enumerate(lagged):
            w, [loss] = now[g], self.loss(p, before)
            acks = before[g] / (p.rtts[g] + self._wait(p, before))
            rates.append(kappa * (p.change(w, loss) * acks))
        accepted = self._sent(p, now) * (1.0 - p.served * self._early(p, now))
        rates.append(kappa * (accepted - p.capacity))
        if self.averaged:
            rates.append(kappa * (p.gamma * p.capacity) * (queue - now[-1]))
        return rates
