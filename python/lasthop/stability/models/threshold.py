"""Compound TCP over a small drop-tail buffer: threshold policy and virtual buffer sharing.

The threshold policy (paper 004, section VI) drops packets that find `q_th` packets in the queue.
Virtual buffer sharing (paper 000, appendix) limits a device to a small share of an access point's
buffer. The two algorithms lead to the same equation.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from lasthop.stability.models.drop import FLOWS
from lasthop.stability.models.red import CAPACITY, LINK, NARROWEST, RTT, WIDEST, per_flow
from lasthop.stability.parameters import COMPOUND, KAPPA, Number, renamed


@dataclass(kw_only=True)
class SmallDerived(Derived):
    """Constants of a small buffer: capacity per flow, bandwidth-delay product per flow, and size of
    the buffer.
    """

    capacity: Any
    pipe: Any
    room: Any

    @property
    def decided(self) -> Mapping[str, Any]:
        """Effective value of the capacity. Another parameter may override the given value."""
        return {"capacity": self.capacity}


class SmallBuffer(Model[SmallDerived]):
    r"""Fluid model of a window with the losses of a small buffer.

    .. math::

        \dot w = \kappa \left[ i(w)(1 - p(w(t - \tau))) - d(w) p(w(t - \tau)) \right]
            w(t - \tau) / \tau, \qquad p(w) = (w / C\tau)^m
    """

    states = ("window",)

    @abstractmethod
    def room(self, values: Mapping[str, Any]) -> Any:
        """Return the buffer size, which is the exponent m of the drop probability. [packets]"""

    def capacity(self, values: Mapping[str, Any]) -> Any:
        """Return the capacity per flow. [packets/s]"""
        return values["capacity"]

    def solve(self, values: Mapping[str, Any]) -> tuple[SmallDerived, NDArray[np.float64]]:
        """Return derived constants and the equilibrium of paper 004, Eq. (37)."""
        capacity, rtt = self.capacity(values), values["rtt"]
        p = SmallDerived(
            values={**values, "capacity": capacity},
            rule=window_rule(values),
            rtts=[rtt],
            kappa=values["kappa"],
            capacity=capacity,
            pipe=capacity * rtt,
            room=self.room(values),
        )

        def excess(w: Any) -> Any:
            """Return log(p / p*) for a window w. The loss probability p is that of the buffer at
            this window; p* is the loss probability at which the window is in equilibrium.
            """
            return p.room * np.log(w / p.pipe) - np.log(p.balance(w))

        w = bisected(excess, *range_of(p.rule, NARROWEST, WIDEST), shape_of(values))
        return p, np.asarray(w, dtype=np.float64)[np.newaxis]

    def refusal(self, values: Mapping[str, Any]) -> str:
        """Return the reason why there is no equilibrium."""
        return beyond(self, values)

    def delays(self, p: SmallDerived, now: State) -> list[Any]:
        """Return the round-trip time. [s]"""
        del now
        return p.rtts

    def loss(self, p: SmallDerived, now: State) -> list[Any]:
        """Return the drop probability, which is at most 1 if constraints apply. [-]"""
        loss = (now[0] / p.pipe) ** p.room
        return [min(1.0, loss)] if p.constrained else [loss]

    def rates(self, p: SmallDerived, now: State, lagged: Sequence[State]) -> list[Any]:
        """Return the right-hand side of paper 004, Eq. (36)."""
        [loss], [before] = self.loss(p, lagged[0]), lagged[0]
        return [p.kappa * (p.change(now[0], loss) * before / p.rtts[0])]


class Threshold(SmallBuffer):
    """Fluid model of the threshold policy.

    Notes
    -----
    The equation is Manjunath & Raina, Eq. (36).
    """

    name = "threshold"
    title = "threshold policy: drop what finds q_th packets"
    parameters = (
        *COMPOUND,
        renamed(RTT, "rtt", RTT.meaning, default=1.0),
        CAPACITY,
        LINK,
        replace(FLOWS, meaning="number of flows; used where link_capacity is set"),
        Number("q_th", 15.0, "packets", "threshold"),
        KAPPA,
    )
    overrides: Mapping[str, str] = {"capacity": "link_capacity"}

    def capacity(self, values: Mapping[str, Any]) -> Any:
        """Return the capacity per flow; if a link capacity is given, it is divided among the
        flows.
        """
        return per_flow(values)

    def room(self, values: Mapping[str, Any]) -> Any:
        """Return the threshold of the queue. [packets]"""
        return values["q_th"]


class Vbs(SmallBuffer):
    """Fluid model of Compound TCP with virtual buffer sharing at an access point.

    Notes
    -----
    The equations are Eqs. (21) and (23) of paper 000. The exponent kappa of that paper is the
    parameter k of this model.
    """

    name = "vbs"
    title = "virtual buffer sharing at an access point"
    parameters = (
        *COMPOUND,
        renamed(RTT, "rtt", RTT.meaning),
        renamed(CAPACITY, "capacity", "WiFi service rate of the flow, Theta"),
        Number("buffer", 100.0, "packets", "buffer of the access point, B"),
        Number("part", 0.6, "-", "part of the buffer that is shared, c", high=1.0),
        Number("share", 2.0 / 15.0, "-", "device's share of that part, h*", high=1.0),
        KAPPA,
    )

    def room(self, values: Mapping[str, Any]) -> Any:
        """Return the buffer share of the device, c h* B: occupancy times target share times buffer
        size. [packets]
        """
        return values["part"] * values["share"] * values["buffer"]
