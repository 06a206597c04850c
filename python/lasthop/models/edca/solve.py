r"""Performance of a cell: contention, the distribution of its states by one of four solvers, and
averages over the states.

Solvers, in the order in which ``"auto"`` tries them:

- ``"pifs"``: exact; applies if the AP always wins while it has packets (section 5).
- ``"product"``: product form, which is exact; applies without TXOP if the odds of the AP do not
  depend on the number of active stations, such as with equal access parameters.
- ``"full"``: the paper's chain, which is exact; applies up to `MAX_STATES` states.
- ``"lumped"``: the chain of the numbers of active stations and of packets at the stations, which is
  accurate to about 1e-5 without TXOP.
"""

from dataclasses import dataclass, replace

import numpy as np

from lasthop.models.edca.cell import Cell, Floats
from lasthop.models.edca.contention import (
    Contention,
    ap_collision_prob,
    contend,
    station_collision_prob,
)
from lasthop.models.edca.cost import check_cost
from lasthop.models.edca.full import MAX_STATES, solve_full, state_count
from lasthop.models.edca.lumped import solve_lumped
from lasthop.models.edca.occupancy import Occupancy
from lasthop.models.edca.options import Options
from lasthop.models.edca.pifs import ap_always_wins, solve_pifs
from lasthop.models.edca.product import constant_odds, solve_product
from lasthop.models.edca.sojourn import Overhead, burst_s, overhead


@dataclass(frozen=True)
class Performance:
    r"""Predictions of the model for a cell.

    Attributes
    ----------
    solver : str
        Name of the solver.
    states : int
        Number of states of the chain.
    fifo : bool
        Whether packets that a station sends in a burst remain adjacent in the AP's queue.
    packet_rate : float
        Rate of packets from the AP, which equals the rate of packets from the stations. [1/s]
    station_goodput_bps : tuple of float
        Goodput of each station in both directions, in the order of the cell's stations. [bit/s]
    active_stations : float
        Time average of the number of active stations, :math:`E[N_{active}]` (eqs. 11, 12).
    active_at_success : float
        Mean number of active stations at a success, :math:`\sum_k \eta_k \pi_k`, which is not
        weighted by time. With equal access parameters this mean does not depend on CWmin.
    ap_queue, station_queue : float
        Time averages of the queue length of the AP and of a station. [packets]
    ap_collision_rate, station_collision_rate : float
        Fraction of attempts that collide. Each packet of a burst counts as an attempt. The fraction
        is 0 for a node that never attempts. [-]
    ap_discard, station_discard : float
        Probability that all attempts at a frame collide, up to the attempt limit. The chain
        neglects such discards. [-]
    queue_time : tuple of ndarray
        Numbers of packets in the AP's queue, and fraction of time with each number.
    """

    solver: str
    states: int
    fifo: bool
    packet_rate: float
    station_goodput_bps: tuple[float, ...]
    active_stations: float
    active_at_success: float
    ap_queue: float
    station_queue: float
    ap_collision_rate: float
    station_collision_rate: float
    ap_discard: float
    station_discard: float
    queue_time: tuple[Floats, Floats]

    @property
    def goodput_bps(self) -> float:
        r"""Aggregate goodput, :math:`\rho_{TCP}` (eq. 22). [bit/s]"""
        return sum(self.station_goodput_bps)


def solve(cell: Cell, options: Options | None = None) -> Performance:
    """Return the performance of a cell.

    Parameters
    ----------
    cell : Cell
    options : Options, optional
        Choices where the paper leaves a rule open; by default the rules of lasthop's simulation
        engine.

    Raises
    ------
    ValueError
        If no frame is ever delivered, or if the requested solver does not apply.
    ConvergenceError
        If a solver does not converge.
    TooCostlyError
        If the solution would exceed the limits of time or memory.
    """
    options = options or Options()
    at = contend(cell.size, cell.station_access, cell.ap_access, options)
    if not np.all(at.success > 0.0):
        raise ValueError("with windows of 0 slots every attempt of several nodes collides")
    ordered = (options.ap_queue or cell.ap_queue) == "fifo"
    held = packets_held_together(cell) if ordered else 1
    solver = options.solver if options.solver != "auto" else choose(cell, at, held)
    return evaluate(cell, at, occupancy(cell, at, solver, held), options, solver, held > 1)


def packets_held_together(cell: Cell) -> int:
    r"""Return the number of packets that a FIFO queue at the AP never separates. [packets]

    If the stations' TXOP limit :math:`\xi_{STA}` divides the window W and the AP's TXOP limit
    :math:`\xi_{AP}`, the packets that answer a station's burst return in one burst. The FIFO system
    is then equal to a chain with windows of :math:`W / \xi_{STA}` super-packets and an AP limit of
    :math:`\xi_{AP} / \xi_{STA}`. If :math:`\xi_{STA}` does not divide both values, the result is 1,
    which means the mixed queue.
    """
    burst = min(cell.station_access.txop_packets, cell.window)
    fits = cell.window % burst == 0 and cell.ap_access.txop_packets % burst == 0
    return burst if fits else 1


def choose(cell: Cell, at: Contention, held: int = 1) -> str:
    """Return the name of the solver that suits a cell. `held` is the number of packets that the
    AP's queue never separates.
    """
    if ap_always_wins(at):
        return "pifs"
    without_txop = (
        cell.ap_access.txop_packets == held
        and min(cell.station_access.txop_packets, cell.window) == held
    )
    if without_txop and constant_odds(at) is not None:
        return "product"
    few = state_count(cell.size, cell.window // held) <= MAX_STATES
    return "full" if few else "lumped"


def occupancy(cell: Cell, at: Contention, solver: str, held: int = 1) -> Occupancy:
    """Return the states and their probabilities, computed by the solver with this name."""
    window = cell.window // held
    ap_packets = -(-cell.ap_access.txop_packets // held)
    station_packets = -(-min(cell.station_access.txop_packets, cell.window) // held)
    check_cost(solver, cell.size, window, at.odds, ap_packets, station_packets)
    results: Occupancy
    if solver == "pifs":
        if not ap_always_wins(at):
            raise ValueError("the AP does not always win, so its queue is not always empty")
        results = solve_pifs(cell.size, window, ap_packets, station_packets)
    elif solver == "product":
        odds = constant_odds(at)
        if odds is None or max(ap_packets, station_packets) > 1:
            raise ValueError("no product form: TXOP, or odds that depend on the active stations")
        results = solve_product(cell.size, window, odds)
    else:
        if ap_always_wins(at):
            raise ValueError("the AP always wins: the chain has transient states, solve by pifs")
        chain = {"full": solve_full, "lumped": solve_lumped}[solver]
        results = chain(cell.size, window, at, ap_packets, station_packets)
    return replace(
        results,
        at_stations=results.at_stations * held,
        station_packets=results.station_packets * held,
    )


def evaluate(
    cell: Cell,
    at: Contention,
    where: Occupancy,
    options: Options,
    solver: str,
    fifo: bool,
) -> Performance:
    r"""Return averages over the states k. Averages over time have the weights :math:`\pi_k \mu_k`,
    and averages over events the weights :math:`\pi_k`. :math:`\pi_k` is the probability of a state,
    and :math:`\mu_k` its mean duration.

    Notes
    -----
    The averages are those of Eqs. (11), (12), (20)-(22) and (32)-(35).
    """
    at_ap = cell.size * cell.window - where.at_stations
    situation = np.where(at_ap > 0, where.active, cell.size + 1)
    wins = at.ap_wins[situation]
    sent = np.minimum(at_ap, cell.ap_access.txop_packets).astype(float)
    sojourn = (
        _overhead(cell, where, at_ap, situation, overhead(cell, at, options))
        + wins * burst_s(cell, sent, "down")
        + (1.0 - wins) * burst_s(cell, where.station_packets, "up")
    )
    time = where.prob * sojourn
    cycle = time.sum()
    time = time / cycle
    rate = float((where.prob * wins) @ sent / cycle)

    # The mean number of busy periods in a state is 1 / P_succ, where P_succ is the probability that
    # a busy period is a success.
    busy = where.prob / at.success[situation]

    def per_attempt(attempts: Floats, what: Floats, following: float = 0.0) -> float:
        tries = busy * attempts[situation]
        every = tries.sum() + following
        return float(tries @ what[situation] / every) if every > 0.0 else 0.0

    # The second and later packets of a burst also count as attempts. They never collide.
    ap_following = float(where.prob @ (wins * np.maximum(sent - 1.0, 0.0)))
    station_following = float(
        where.prob @ ((1.0 - wins) * np.maximum(where.station_packets - 1.0, 0.0))
    )
    ap_lost, station_lost = ap_collision_prob(at), station_collision_prob(at)
    each = rate / cell.size
    return Performance(
        solver=solver,
        states=where.states,
        fifo=fifo,
        packet_rate=rate,
        station_goodput_bps=tuple(8.0 * each * _payload(cell, i) for i in range(cell.size)),
        active_stations=float(time @ where.active),
        active_at_success=float(where.prob @ where.active),
        ap_queue=float(time @ at_ap),
        station_queue=float(time @ where.at_stations) / cell.size,
        ap_collision_rate=per_attempt(at.ap_attempts, ap_lost, ap_following),
        station_collision_rate=per_attempt(at.station_attempts, station_lost, station_following),
        ap_discard=per_attempt(at.ap_attempts, ap_lost**cell.ap_access.attempts),
        station_discard=per_attempt(
            at.station_attempts, station_lost**cell.station_access.attempts
        ),
        queue_time=(at_ap.astype(float), time),
    )


def _overhead(
    cell: Cell, where: Occupancy, at_ap: np.ndarray, situation: np.ndarray, each: Overhead
) -> Floats:
    """Return the mean time of idle periods and collisions before a success, by state. [s]"""
    inactive = (cell.size - where.active) * cell.window
    to_inactive = np.divide(inactive, at_ap, out=np.zeros(len(at_ap)), where=at_ap > 0)
    return np.asarray(
        to_inactive * each.for_inactive_s[situation]
        + (1.0 - to_inactive) * each.for_active_s[situation]
    )


def _payload(cell: Cell, index: int) -> float:
    """Return the mean total payload of one packet from a station and one packet to the station.
    [bytes]
    """
    station = cell.stations[index]
    return sum(
        station.share(connection) * (connection.up.payload_bytes + connection.down.payload_bytes)
        for connection in station.connections
    )
