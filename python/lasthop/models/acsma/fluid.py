r"""Fluid systems that converge: Eqs. (3.4), (5.1)-(5.4), (5.30)-(5.34) and (5.40)-(5.43) of paper
001.

Each system has a function for the derivative of its state. :func:`follow` integrates a system, and
:func:`settle` finds its equilibrium. The state vector has the rates of the flows, then the
aggressiveness :math:`r_l` of the wireless links with flows. With rates in packets/s, the factor
:math:`\alpha` is the aggressiveness per queued packet: :math:`r_l = \alpha Q_l` for a queue of
:math:`Q_l` packets.
"""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lasthop.models.acsma.errors import ConvergenceError, NetworkError
from lasthop.models.acsma.optimum import Problem
from lasthop.models.acsma.reno import (
    connections_for_rtt,
    connections_for_utility,
    drop_tail_loss,
    rate_speed_of_many,
)
from lasthop.models.acsma.sets import Floats

STILL = 1e-8
"""A system is considered to be at equilibrium if its state changes by at most this fraction over
the last half of the integrated time. [-]
"""

LONGEST_S = 1e6
"""Time after which a system that still changes is reported as not converging. [s]"""

MAX_PIECES = 10_000
"""Largest number of times that the state reaches or leaves a bound in one interval of the
integration.
"""

EDGE = 1e-9
"""Tolerance with which a component of the state is compared with its bound, relative to the size of
the component. A component has reached its bound if it exceeds the bound by the tolerance. The
component stays at the bound while its outward derivative [1/s] exceeds the tolerance. The tolerance
prevents that a component reaches and leaves its bound repeatedly. [-]
"""

MIN_RATE = 1e-9
"""Lower limit of the rates, below which a flow's equation is meaningless. [packets/s]"""


class System(Protocol):
    """A fluid system: a system of ordinary differential equations."""

    def speed(self, state: Floats) -> Floats:
        """Return the time derivative of the state, without regard to bounds. [1/s]"""


@dataclass(frozen=True)
class Equilibrium:
    """Equilibrium that a fluid system has reached.

    Attributes
    ----------
    state : ndarray
        State at equilibrium.
    time_s : float
        Time at which the system was found to be at equilibrium. [s]
    """

    state: Floats
    time_s: float


@dataclass(frozen=True)
class AdaptiveCsma:
    r"""A-CSMA with arrivals at fixed rates.

    .. math:: \dot r_l = \alpha [a'_l - d'_l]_{r_l}^+

    The service rate of link :math:`l` is :math:`d'_l = C y_l(r)`, by Eq. (3.3). If the arrival
    rates are inside the capacity region, the aggressiveness r converges (Theorem 1). If they are
    outside, r grows without bound.

    Attributes
    ----------
    problem : Problem
        Network and :math:`\beta`. The arrival rates replace the rates of the network's flows.
        However, every link must be on the route of a flow.
    arrivals_pps : ndarray, shape (links,)
        Arrival rate of each link, :math:`a'_l`. [packets/s]
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]

    Notes
    -----
    The system is that of Eq. (3.4).
    """

    problem: Problem
    arrivals_pps: Floats
    per_packet: float

    def speed(self, state: Floats) -> Floats:
        """Return the time derivative of the aggressiveness r. [1/s]"""
        r = np.maximum(state, 0.0)
        served = self.problem.network.service_rate_pps * self.problem.airtime(r, self.problem.beta)
        return self.per_packet * (self.arrivals_pps - served)


@dataclass(frozen=True)
class MultiConnection:
    r"""Multi-connection Reno over A-CSMA links with AQM and over wired links.

    .. math:: n_s = k T_s, \quad
        \dot x_s = \frac{x_s^2}{2 n_s} \Bigl(\frac{2 n_s^2}{T_s^2 x_s^2}
                   - \sum_{l \in s} r_l - \sum_{w \in s} p_w\Bigr)_{x_s}^+, \quad
        \dot r_l = \alpha \Bigl[\sum_{s: l \in s} x_s - C \sum_{i: l \in i} \tau_i(r)\Bigr]_{r_l}^+

    Attributes
    ----------
    problem : Problem
        Network, :math:`k` and :math:`\beta`.
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]
    rule : "rtt" or "utility"
        Rule for the number of connections. ``"rtt"`` is :math:`k T_s`, Eq. (5.1), which leads to
        the optimum for the utility `optimum.RENO` of every flow. ``"utility"`` is Eq. (5.29), which
        leads to the optimum for the utilities of the network.
    rtt_s : float or None
        Round-trip time :math:`T_s` of all users. With None, the round-trip time follows from the
        queues on the route by Little's law. The round-trip time does not affect the equilibrium,
        since the number of connections compensates for it. [s]

    Notes
    -----
    The system is that of Eqs. (5.1)-(5.4) and, with wired links, (5.30)-(5.34). :math:`x_s` is the
    rate of flow :math:`s`, :math:`n_s` its number of connections, :math:`r_l` the aggressiveness of
    wireless link :math:`l`, and :math:`p_w` the loss probability of wired link :math:`w`.
    """

    problem: Problem
    per_packet: float
    rule: Literal["rtt", "utility"] = "rtt"
    rtt_s: float | None = None

    def speed(self, state: Floats) -> Floats:
        """Return the time derivatives of rates x and aggressiveness r. [packets/s^2, 1/s]"""
        problem, network = self.problem, self.problem.network
        flows = len(network.flows)
        x, r = np.maximum(state[:flows], MIN_RATE), np.maximum(state[flows:], 0.0)
        load = problem.incidence @ x
        prices = np.concatenate([r, drop_tail_loss(load[problem.wireless :], problem.capacity)])
        rtt = self.rtts(state)
        if self.rule == "rtt":
            n = connections_for_rtt(problem.k, rtt)
        else:
            worth = [f.utility.derivative(rate) for f, rate in zip(network.flows, x, strict=True)]
            n = connections_for_utility(problem.k, np.array(worth), rtt, x)
        faster = rate_speed_of_many(x, n, rtt, prices @ problem.incidence)
        served = network.service_rate_pps * problem.airtime(r, problem.beta)
        growing = self.per_packet * (load[: problem.wireless] - served)
        return np.concatenate([faster, growing])

    def rtts(self, state: Floats) -> Floats:
        """Return the round-trip time of each flow, :math:`T_s`. [s]"""
        problem = self.problem
        flows = len(problem.network.flows)
        if self.rtt_s is not None:
            return np.full(flows, self.rtt_s)
        x, r = np.maximum(state[:flows], MIN_RATE), np.maximum(state[flows:], 0.0)
        load = (problem.incidence @ x)[: problem.wireless]
        waiting = r / self.per_packet / load
        # The round-trip time is at least the transmission time of one packet, so that it is
        # positive.
        least = 1.0 / problem.network.service_rate_pps
        return np.asarray((waiting + least) @ problem.incidence[: problem.wireless]) + least

    def prices(self, state: Floats) -> Floats:
        """Return the prices of wireless links with flows, then the prices of wired links. `Problem`
        uses the same order. [-]
        """
        problem = self.problem
        flows = len(problem.network.flows)
        load = (problem.incidence @ state[:flows])[problem.wireless :]
        return np.concatenate([state[flows:], drop_tail_loss(load, problem.capacity)])


@dataclass(frozen=True)
class PacketCounts:
    r"""Fluid system with packets of unequal sizes. Its queues are counted in packets. TCP ACKs that
    use air time like packets lead to such a system.

    .. math:: n_s = k T_s, \quad
        \dot x_s = \frac{x_s^2}{2 M_s n_s} \Bigl(\frac{2 M_s^2 n_s^2}{T_s^2 x_s^2}
                   - \sum_{l \in s} r_l\Bigr)_{x_s}^+, \quad
        \dot r_l = \alpha \Bigl[\sum_{s: l \in s} \frac{x_s}{M_s}
                   - \frac{C \sum_{i: l \in i} \tau_i(r)}{\bar M_l}\Bigr]_{r_l}^+

    :math:`x_s` is the rate of flow :math:`s`, :math:`M_s` its packet size, and :math:`\bar M_l` the
    mean packet size on link :math:`l`. Rates of the state and of the network are in bytes/s. The
    equilibrium is the optimum of problem MP with the utilities :math:`-2 M_s^2 / x_s`.

    Attributes
    ----------
    problem : Problem
        Network without wired links, with rates in bytes/s; :math:`k` and :math:`\beta`.
    packet_bytes : ndarray, shape (flows,)
        Packet size of each flow, :math:`M_s`. [bytes]
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]
    rtt_s : float
        Round-trip time of all users, :math:`T_s`. [s]

    Notes
    -----
    The system is that of Eqs. (5.40)-(5.43). The paper prints the reciprocal of (5.43).
    """

    problem: Problem
    packet_bytes: Floats
    per_packet: float
    rtt_s: float = 1.0

    def __post_init__(self) -> None:
        if self.problem.network.wired_pps:
            raise NetworkError("queues counted in packets are of wireless links only")

    def speed(self, state: Floats) -> Floats:
        """Return the time derivatives of rates x and aggressiveness r. [bytes/s^2, 1/s]"""
        problem, m = self.problem, self.packet_bytes
        flows = len(m)
        x, r = np.maximum(state[:flows], MIN_RATE), np.maximum(state[flows:], 0.0)
        n = connections_for_rtt(problem.k, np.full(flows, self.rtt_s))
        price = r @ problem.incidence
        faster = x**2 / (2.0 * m * n) * (2.0 * (m * n) ** 2 / (self.rtt_s * x) ** 2 - price)
        arriving = problem.incidence @ (x / m)
        served = problem.network.service_rate_pps * problem.airtime(r, problem.beta)
        growing = self.per_packet * (arriving - served / mean_packet(problem.incidence, x, m))
        return np.concatenate([faster, growing])


def mean_packet(incidence: Floats, rates: Floats, packet_bytes: Floats) -> Floats:
    r"""Return the mean size of the packets on each link. [bytes]

    .. math:: \bar M_l = \frac{\sum_{s: l \in s} x_s}{\sum_{s: l \in s} x_s / M_s}

    Parameters
    ----------
    incidence : ndarray, shape (links, flows)
        Whether a flow passes a link, 0 or 1.
    rates : ndarray, shape (flows,)
        Rate of each flow, :math:`x_s`. [bytes/s]
    packet_bytes : ndarray, shape (flows,)
        Packet size of each flow, :math:`M_s`. [bytes]

    Notes
    -----
    The formula is Eq. (5.43), of which the paper prints the reciprocal.
    """
    return np.asarray((incidence @ rates) / (incidence @ (rates / packet_bytes)))


def follow(system: System, state: ArrayLike, times_s: ArrayLike) -> Floats:
    """Integrate a fluid system and return its states.

    Parameters
    ----------
    system : System
        System of differential equations.
    state : array_like
        State at the first time.
    times_s : array_like
        Times at which the state is returned, increasing. [s]

    Returns
    -------
    ndarray, shape (times, state)
        State at each time.

    Raises
    ------
    ConvergenceError
        If the integration fails.
    """
    times = np.asarray(times_s, dtype=np.float64)
    return _advance(system, np.asarray(state, dtype=np.float64), times)


def settle(system: System, state: ArrayLike) -> Equilibrium:
    """Return the equilibrium that a system reaches.

    The system is integrated interval by interval; each interval doubles the total time. It is at
    equilibrium if no component changes by more than the fraction `STILL` over the last interval.

    Raises
    ------
    ConvergenceError
        If the system still changes after `LONGEST_S`.
    """
    now, passed = np.asarray(state, dtype=np.float64), 10.0
    now = _advance(system, now, np.array([0.0, passed]))[-1]
    while passed < LONGEST_S:
        later = _advance(system, now, np.array([0.0, passed]))[-1]
        passed *= 2.0
        scale = np.maximum(np.abs(later), 1e-6 * np.abs(later).max())
        if np.all(np.abs(later - now) <= STILL * scale):
            return Equilibrium(later, passed)
        now = later
    raise ConvergenceError(f"the system is not at rest after {LONGEST_S:g} s")


def _advance(system: System, state: Floats, times: Floats) -> Floats:
    """Return the states at the given times. A component that would cross its bound remains at the
    bound, as in Eq. (3.5).

    A component remains at its bound from the time at which it reaches the bound until its
    derivative points inwards. Both times are located exactly, so that the equations are smooth
    between these times.
    """
    lowest, highest = 0.0, getattr(system, "largest", np.inf)
    scale = np.maximum(np.abs(state), 1e-3)
    upper = np.full_like(state, np.inf)
    upper[len(state) // 2 :] = highest
    states = np.empty((len(times), len(state)))
    states[0] = state
    now, written = float(times[0]), 1
    state = np.clip(state, lowest, upper)
    for _ in range(MAX_PIECES):
        speed = system.speed(state)
        low = (state <= lowest) & (speed < -EDGE * scale)
        high = (state >= upper) & (speed > EDGE * scale)
        held = low | high
        between_bounds = _between_bounds(system, state, held, (low, high), upper, now, times, scale)
        if not between_bounds.success:
            raise ConvergenceError(f"fluid equations: {between_bounds.message}")
        wanted = times[written:]
        inside = wanted[wanted <= between_bounds.t[-1]]
        if len(inside):
            states[written : written + len(inside)] = between_bounds.sol(inside).T
            written += len(inside)
        if written == len(times):
            return np.clip(states, lowest, upper)
        now, state = float(between_bounds.t[-1]), np.clip(between_bounds.y[:, -1], lowest, upper)
    raise ConvergenceError(f"fluid equations: bounds were met {MAX_PIECES} times")


def _between_bounds(
    system: System,
    state: Floats,
    held: NDArray[np.bool_],
    sides: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    upper: Floats,
    now: float,
    times: Floats,
    scale: Floats,
) -> Any:
    """Return the solution up to the last time, or up to the time at which a component reaches or
    leaves a bound.
    """
    from scipy.integrate import solve_ivp

    low, high = sides

    def moves(_: float, at: Floats) -> Floats:
        return np.where(held, 0.0, system.speed(at))

    def meets(_: float, at: Floats) -> float:
        room = np.where(held, np.inf, np.minimum(at, upper - at) / scale)
        return float(room.min()) + EDGE

    def leaves(_: float, at: Floats) -> float:
        if not held.any():
            return -1.0
        speed = system.speed(at)
        inwards = np.where(low, speed, np.where(high, -speed, -np.inf))
        return float(inwards.max())

    meets.terminal, meets.direction = True, -1.0  # type: ignore[attr-defined]
    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    return solve_ivp(
        moves,
        (now, times[-1]),
        state,
        method="LSODA",
        events=(meets, leaves),
        dense_output=True,
        rtol=1e-10,
        atol=1e-12 * scale,
    )
