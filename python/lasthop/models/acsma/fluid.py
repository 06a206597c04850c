r"""Fluid systems that converge: (3.4), (5.1)-(5.4), (5.30)-(5.34) and (5.40)-(5.43).

Each system has a function for the derivative of its state. :func:`follow` integrates a system, and
:func:`settle` finds its equilibrium. A state contains the rates of the flows, then the
aggressiveness of the wireless links with flows. With rates in packets/s, the factor :math:`\alpha`
is the aggressiveness per queued packet: :math:`r_l = \alpha Q_l`.
"""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

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
"""Largest relative change of a state at equilibrium, over as much time as has passed before. [-]"""

LONGEST_S = 1e6
"""Time after which a system that still changes is given up. [s]"""

MOST_PIECES = 10_000
"""Largest number of times that a state reaches or leaves a bound in one interval."""

EDGE = 1e-9
"""Distance beyond its bound at which a component has reached the bound, and least derivative [1/s]
with which it is held there. Both are relative to the size of the component. They prevent that it
reaches and leaves the bound again and again. [-]
"""

LEAST_RATE = 1e-9
"""Lower limit of the rates, below which a flow's equation is meaningless. [packets/s]"""


class System(Protocol):
    """A system of differential equations."""

    def speed(self, state: Floats) -> Floats:
        """Return the derivative of the state by time, before components at a bound are held.
        [1/s]
        """


@dataclass(frozen=True)
class Equilibrium:
    """Equilibrium that a system has reached.

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

    with the service rate :math:`d'_l = C y_l(r)` of (3.3). If the arrivals are inside the capacity
    region, r converges (Theorem 1); otherwise it grows without bound.

    Attributes
    ----------
    problem : Problem
        Network and :math:`\beta`; the flows of the network are not used, but every link must carry
        one.
    arrivals_pps : ndarray, shape (links,)
        :math:`a'_l`. [packets/s]
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]

    Notes
    -----
    Eq. (3.4).
    """

    problem: Problem
    arrivals_pps: Floats
    per_packet: float

    def speed(self, state: Floats) -> Floats:
        """Return the derivative of r. [1/s]"""
        r = np.maximum(state, 0.0)
        served = self.problem.network.service_rate_pps * self.problem.airtime(r, self.problem.beta)
        return self.per_packet * (self.arrivals_pps - served)


@dataclass(frozen=True)
class MultiConnection:
    r"""Multi-connection Reno over A-CSMA with AQM, also over wired links.

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
        Number of connections: by :math:`k T_s` (5.1), which leads to the optimum of `optimum.RENO`
        for every flow; or by (5.29), which leads to the optimum of the network's utilities.
    rtt_s : float or None
        :math:`T_s` of all users. None: it follows from the queues on the route by Little's law. It
        does not change the equilibrium, since the number of connections compensates for it. [s]

    Notes
    -----
    Eq. (5.1)-(5.4); with wired links (5.30)-(5.34).
    """

    problem: Problem
    per_packet: float
    rule: Literal["rtt", "utility"] = "rtt"
    rtt_s: float | None = None

    def speed(self, state: Floats) -> Floats:
        """Return the derivative of x and r. [packets/s^2, 1/s]"""
        problem, network = self.problem, self.problem.network
        flows = len(network.flows)
        x, r = np.maximum(state[:flows], LEAST_RATE), np.maximum(state[flows:], 0.0)
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
        x, r = np.maximum(state[:flows], LEAST_RATE), np.maximum(state[flows:], 0.0)
        load = (problem.incidence @ x)[: problem.wireless]
        waiting = r / self.per_packet / load
        # At least the transmission time of one packet, so that the round-trip time of a connection
        # is positive.
        least = 1.0 / problem.network.service_rate_pps
        return np.asarray((waiting + least) @ problem.incidence[: problem.wireless]) + least

    def prices(self, state: Floats) -> Floats:
        """Return prices of wireless links with flows, then of wired links, as in `Problem`. [-]"""
        problem = self.problem
        flows = len(problem.network.flows)
        load = (problem.incidence @ state[:flows])[problem.wireless :]
        return np.concatenate([state[flows:], drop_tail_loss(load, problem.capacity)])


@dataclass(frozen=True)
class PacketCounts:
    r"""Fluid with packets of unequal sizes and queues counted in packets, as with normal ACKs.

    .. math:: n_s = k T_s, \quad
        \dot x_s = \frac{x_s^2}{2 M_s n_s} \Bigl(\frac{2 M_s^2 n_s^2}{T_s^2 x_s^2}
                   - \sum_{l \in s} r_l\Bigr)_{x_s}^+, \quad
        \dot r_l = \alpha \Bigl[\sum_{s: l \in s} \frac{x_s}{M_s}
                   - \frac{C \sum_{i: l \in i} \tau_i(r)}{\bar M_l}\Bigr]_{r_l}^+

    Rates of the state and of the network are in bytes/s. The equilibrium is the optimum of MP with
    the utilities :math:`-2 M_s^2 / x_s`.

    Attributes
    ----------
    problem : Problem
        Network without wired links, rates in bytes/s; :math:`k` and :math:`\beta`.
    packet_bytes : ndarray, shape (flows,)
        :math:`M_s`. [bytes]
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]
    rtt_s : float
        :math:`T_s` of all users. [s]

    Notes
    -----
    Eq. (5.40)-(5.43); (5.43) is printed as the reciprocal.
    """

    problem: Problem
    packet_bytes: Floats
    per_packet: float
    rtt_s: float = 1.0

    def __post_init__(self) -> None:
        if self.problem.network.wired_pps:
            raise NetworkError("queues counted in packets are of wireless links only")

    def speed(self, state: Floats) -> Floats:
        """Return the derivative of x and r. [bytes/s^2, 1/s]"""
        problem, m = self.problem, self.packet_bytes
        flows = len(m)
        x, r = np.maximum(state[:flows], LEAST_RATE), np.maximum(state[flows:], 0.0)
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
        :math:`x_s`. [bytes/s]
    packet_bytes : ndarray, shape (flows,)
        :math:`M_s`. [bytes]

    Notes
    -----
    Eq. (5.43), which is printed as the reciprocal.
    """
    return np.asarray((incidence @ rates) / (incidence @ (rates / packet_bytes)))


def follow(system: System, state: ArrayLike, times_s: ArrayLike) -> Floats:
    """Integrate a system.

    Parameters
    ----------
    system : System
        The system.
    state : array_like
        The state at the first time.
    times_s : array_like
        Times at which the state is returned, increasing. [s]

    Returns
    -------
    ndarray, shape (times, state)
        The states.

    Raises
    ------
    ConvergenceError
        If the equations could not be integrated.
    """
    times = np.asarray(times_s, dtype=np.float64)
    return _advance(system, np.asarray(state, dtype=np.float64), times)


def settle(system: System, state: ArrayLike) -> Equilibrium:
    """Find the equilibrium that a system reaches.

    The system is integrated over intervals that double. It is at equilibrium if no component
    changes by more than the fraction `STILL` over as much time as has passed before.

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
    """Return the states at the times; components that would leave their bounds are held there
    (3.5).

    A component is held from the time at which it reaches its bound until its derivative points
    inwards again. Both times are located, so that the equations between them are smooth.
    """
    lowest, highest = 0.0, getattr(system, "largest", np.inf)
    scale = np.maximum(np.abs(state), 1e-3)
    upper = np.full_like(state, np.inf)
    upper[len(state) // 2 :] = highest
    states = np.empty((len(times), len(state)))
    states[0] = state
    now, written = float(times[0]), 1
    state = np.clip(state, lowest, upper)
    for _ in range(MOST_PIECES):
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
    raise ConvergenceError(f"fluid equations: bounds were met {MOST_PIECES} times")


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
    """Return the solution up to the last time, or up to the time at which a bound is reached or
    left.
    """
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
