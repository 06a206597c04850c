r"""The optima MP and EP: what multi-connection TCP over A-CSMA comes to rest at (Theorems 2, 3).

With wireless rates in packets/s, an active link sends C of them, and the problem is

.. math:: \max_{x, \tau \ge 0} \sum_s k^2 U_s(x_s) - \frac{C}{\beta} \sum_i \tau_i \log \tau_i
          - \sum_w \int_0^{X_w} \frac{(y - C_w)^+}{y} dy
          \quad\text{s.t.}\quad \sum_{s: l \in s} x_s \le C \sum_{i: l \in i} \tau_i,
          \sum_i \tau_i = 1

with :math:`X_w` the rates over wired link w: EP (5.35)-(5.38), and MP (5.8)-(5.9) where no link is
wired; the paper has C = 1. It is solved in its dual, whose variables are the prices: r of wireless
and the loss p of wired links,

.. math:: \min_{r \ge 0,\, 0 \le p < 1} \sum_s \max_x [k^2 U_s(x) - x q_s]
          + \frac{C}{\beta} \log \sum_i e^{\beta \sum_{l \in i} r_l} - \sum_w C_w \log(1 - p_w),

:math:`q_s` being the sum of prices on route s (5.17; the last sum is the conjugate of the penalty
in (5.39)). It is smooth and strictly convex, so that Newton's method within the bounds finds the
one solution; the weight of the entropy is brought down step by step where it is small.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from lasthop.models.acsma.distribution import Exact, Method, exact
from lasthop.models.acsma.errors import ConvergenceError, NetworkError
from lasthop.models.acsma.network import Network
from lasthop.models.acsma.sets import Floats
from lasthop.models.acsma.utility import AlphaFair
from lasthop.progress.cost_limits import check_time, need

RENO = AlphaFair(alpha=2.0, weight=2.0)
"""The utility :math:`-2/x` whose optimum ``n = k T`` connections of Reno reach (5.1)-(5.4)."""

LARGEST_RESIDUAL = 1e-9
"""Residual of the KKT conditions down to which the solver goes. [-]"""

MOST_STEPS = 200
"""Newton steps at one weight of the entropy."""

FIRST_EXPONENT, FACTOR = 4.0, 8.0
"""Largest beta r at the first weight of the entropy, and the factor between weights."""

ROUNDED = 0.1
"""Rounding of an exponent over the residual that is wanted, from which on it is in the way. [-]"""

STEPS = 8
"""Expected number of Newton steps; 5 to 7 were seen at k = 10 and beta = 200."""

STATE_S, LINK_S, STATE_BYTES = 50e-9, 30e-6, 60.0
"""Time of a pass for each state and each link, memory of a state; measured on one core of an Intel
Xeon server with numpy 2, at 13,000 to 870,000 states. [s, bytes]"""

DENSE = 64
"""Links up to which the Hessian is a matrix; beyond, conjugate gradients apply it."""


@dataclass(frozen=True)
class Optimum:
    r"""Solution of MP or EP.

    Attributes
    ----------
    rates_pps : ndarray, shape (flows,)
        :math:`x_s`. [packets/s]
    aggressiveness : ndarray, shape (wireless links,)
        :math:`r_l`, dual price and drop probability; 0 of links that carry nothing. [-]
    airtime : ndarray, shape (wireless links,)
        Fraction of time a link is active; 0 of links that carry nothing, which are silent. [-]
    wired_loss : ndarray, shape (wired links,)
        :math:`p_w`. [-]
    kkt_residual : float
        Largest violation of the optimality conditions, see `Problem.kkt_residual`. [-]
    steps : int
        Newton steps.
    method : str
        How the stationary distribution was computed.
    states : int
        Independent sets that were listed, or states of the tree's bags.
    """

    rates_pps: Floats
    aggressiveness: Floats
    airtime: Floats
    wired_loss: Floats
    kkt_residual: float
    steps: int
    method: Method
    states: int


class Problem:
    r"""MP or EP of a network: its dual, and how far a point is from the solution.

    Parameters
    ----------
    network : Network
        Links, flows and utilities.
    k : float
        Connections per second of round-trip time, :math:`k`. [1/s]
    beta : float
        Inverse weight of the entropy, :math:`\beta`. [-]
    method : str, optional
        ``"enumeration"`` or ``"junction tree"`` for the stationary distribution.

    Raises
    ------
    NetworkError
        `k` or `beta` is not positive.
    TooLargeError
        The conflict graph is too large and too dense to be solved exactly.
    """

    def __init__(
        self, network: Network, k: float, beta: float, method: Method | None = None
    ) -> None:
        for name, value in (("k", k), ("beta", beta)):
            if not 0.0 < value < np.inf:
                raise NetworkError(f"{name} = {value:g} is not above 0")
        self.network, self.k, self.beta = network, k, beta
        self.carrying = np.array(network.carrying, dtype=np.intp)
        self.wireless = len(self.carrying)
        self.capacity = np.array(list(network.wired_pps.values()))
        wired = np.arange(len(network.graph), len(network.links))
        self.incidence = network.incidence[np.concatenate([self.carrying, wired])]
        self.exact: Exact | None = (
            exact(network.graph.within(network.carrying), method) if self.wireless else None
        )

    def rates(self, prices: Floats) -> Floats:
        r"""Return rates at which :math:`k^2 U'_s(x_s)` is the route's price (5.19). [packets/s]"""
        flows = zip(self.network.flows, prices @ self.incidence, strict=True)
        return np.array([flow.utility.rate(price / self.k**2) for flow, price in flows])

    def airtime(self, prices: Floats, beta: float) -> Floats:
        r"""Return the fraction of time each carrying wireless link is active at :math:`r` (5.16).
        [-]
        """
        if self.exact is None:
            return np.empty(0)
        return np.asarray(self.exact.airtime(beta * prices[: self.wireless]))

    def dual(self, prices: Floats, beta: float) -> float:
        """Return the value of the dual at prices of carrying wireless links, then of wired
        links.
        """
        value = 0.0
        for flow, price in zip(self.network.flows, prices @ self.incidence, strict=True):
            rate = flow.utility.rate(price / self.k**2)
            value += self.k**2 * flow.utility.value(rate) - price * rate
        if self.exact is not None:
            log_z = self.exact.log_partition(beta * prices[: self.wireless])
            value += self.network.service_rate_pps / beta * log_z
        return float(value - self.capacity @ np.log1p(-prices[self.wireless :]))

    def gradient(self, prices: Floats, beta: float) -> Floats:
        """Return the packets that the links could serve, less the arrivals (5.20). [packets/s]"""
        served = self.network.service_rate_pps * self.airtime(prices, beta)
        through = self.capacity / (1.0 - prices[self.wireless :])
        load: Floats = self.incidence @ self.rates(prices)
        return np.concatenate([served, through]) - load

    def curvature(self, prices: Floats, beta: float) -> Callable[[Floats], Floats]:
        """Return the Hessian of the dual as a map of directions."""
        at = prices @ self.incidence / self.k**2
        slopes = [
            flow.utility.rate_slope(price)
            for flow, price in zip(self.network.flows, at, strict=True)
        ]
        bend = -np.array(slopes) / self.k**2
        wired = self.capacity / (1.0 - prices[self.wireless :]) ** 2

        def apply(direction: Floats) -> Floats:
            own = np.empty_like(direction)
            own[self.wireless :] = wired * direction[self.wireless :]
            if self.exact is not None:
                z, dz = beta * prices[: self.wireless], direction[: self.wireless]
                scale = self.network.service_rate_pps * beta
                own[: self.wireless] = scale * self.exact.response(z, dz)
            return np.asarray(own + self.incidence @ (bend * (direction @ self.incidence)))

        return apply

    def kkt_residual(self, rates: Floats, prices: Floats, beta: float | None = None) -> float:
        r"""Return the largest violation of the conditions that hold only at the optimum. [-]

        For a flow it is :math:`|k^2 U'(x_s) - q_s|` as a part of the largest price. For a wireless
        link it is :math:`\min(r_l, C y_l - X_l)`, the first as a part of the largest price and the
        second of C. Thus no link is overloaded, and a link with a price is not idle. For a wired
        link it is the distance of :math:`p_w` from (5.34).

        Parameters
        ----------
        rates : ndarray, shape (flows,)
            :math:`x_s`. [packets/s]
        prices : ndarray
            :math:`r_l` of the wireless links that carry flows, then :math:`p_w` of the wired. [-]
        """
        beta = self.beta if beta is None else beta
        at = prices @ self.incidence
        largest = float(at.max())
        worth = [f.utility.derivative(x) for f, x in zip(self.network.flows, rates, strict=True)]
        stationary = np.abs(self.k**2 * np.array(worth) - at) / largest
        load = self.incidence @ rates
        r, p = prices[: self.wireless], prices[self.wireless :]
        spare = self.airtime(prices, beta) - load[: self.wireless] / self.network.service_rate_pps
        idle = np.abs(np.minimum(r / largest, spare))
        wires = load[self.wireless :]
        excess = np.maximum(wires - self.capacity, 0.0)
        lost = np.divide(excess, wires, out=np.zeros_like(excess), where=wires > 0.0)
        return float(np.max(np.concatenate([stationary, idle, np.abs(p - lost)])))


def optimum(
    network: Network, k: float = 10.0, beta: float = 200.0, method: Method | None = None
) -> Optimum:
    r"""Solve MP (5.8)-(5.9), or EP (5.35)-(5.38) where links are wired.

    The utilities are the network's. ``n = k T`` connections of Reno reach the optimum of `RENO`,
    :math:`-2/x`; the utilities printed in MP are :math:`-1/x`, which are reached with (5.29).

    Parameters
    ----------
    network : Network
        Links, flows and utilities.
    k : float
        Connections per second of round-trip time, :math:`k`. [1/s]
    beta : float
        Inverse weight of the entropy, :math:`\beta`. [-]
    method : str, optional
        ``"enumeration"`` or ``"junction tree"`` for the stationary distribution.

    Raises
    ------
    NetworkError
        `k` or `beta` is not positive.
    TooLargeError
        The conflict graph is too large and too dense to be solved exactly.
    ConvergenceError
        The residual stayed above `LARGEST_RESIDUAL`.
    TooCostlyError
        It takes more time or memory than the limit.
    """
    problem = Problem(network, k, beta, method)
    _check_cost(problem)
    prices = _first_prices(problem)
    weight = min(beta, FIRST_EXPONENT / float(prices.max()))
    steps = 0
    while True:
        last = weight >= beta
        weight = min(weight, beta)
        # On the way only the neighbourhood of the next solution is wanted.
        prices, more = _newton(problem, prices, weight, LARGEST_RESIDUAL if last else 1e-3)
        steps += more
        if last:
            break
        weight *= FACTOR
    rates = problem.rates(prices)
    residual = problem.kkt_residual(rates, prices)
    aggressiveness, airtime = np.zeros(len(network.graph)), np.zeros(len(network.graph))
    aggressiveness[problem.carrying] = prices[: problem.wireless]
    airtime[problem.carrying] = problem.airtime(prices, beta)
    return Optimum(
        rates_pps=rates,
        aggressiveness=aggressiveness,
        airtime=airtime,
        wired_loss=prices[problem.wireless :].copy(),
        kkt_residual=residual,
        steps=steps,
        method="enumeration" if problem.exact is None else problem.exact.method,
        states=1 if problem.exact is None else problem.exact.states,
    )


def _check_cost(problem: Problem) -> None:
    """Refuse a network that takes longer than the limit: passes over its states are counted."""
    if problem.exact is None:
        return
    links, states = problem.wireless, problem.exact.states
    passes = STEPS * min(links, DENSE) + links  # a few steps, and what moves about the optimum
    need(
        f"the optimum of {links} links in conflict, {states} states,",
        time_s=passes * (STATE_S * states + LINK_S * links),
        memory_bytes=STATE_BYTES * states,
    )


def _first_prices(problem: Problem) -> Floats:
    """Return prices at which each flow has a part of its scarcest link, spread over its route."""
    network, incidence = problem.network, problem.incidence
    supply = np.concatenate([np.full(problem.wireless, network.service_rate_pps), problem.capacity])
    share = supply / np.maximum(incidence.sum(axis=1), 1.0) / 4.0
    prices = np.zeros(len(supply))
    for number, flow in enumerate(network.flows):
        route = np.flatnonzero(incidence[:, number])
        price = problem.k**2 * flow.utility.derivative(float(share[route].min()))
        prices[route] = np.maximum(prices[route], price / len(route))
    prices[problem.wireless :] = np.minimum(prices[problem.wireless :], 0.5)
    return prices


def _newton(problem: Problem, prices: Floats, beta: float, wanted: float) -> tuple[Floats, int]:
    """Newton's method within the bounds, at one weight of the entropy; prices and steps."""
    residual = np.inf
    for step in range(MOST_STEPS):
        check_time(f"the optimum of {problem.wireless} links")
        residual = problem.kkt_residual(problem.rates(prices), prices, beta)
        if residual <= wanted:
            return prices, step
        gradient = problem.gradient(prices, beta)
        free = ~((prices <= 1e-12 * prices.max()) & (gradient > 0.0))
        direction = _direction(problem, prices, beta, gradient, free, residual)
        moved = _search(problem, prices, beta, gradient, direction, residual)
        if moved is None:
            break
        prices = moved
    raise ConvergenceError(
        f"optimum of {len(problem.network.links)} links: residual {residual:.2g} of the KKT "
        f"conditions, wanted {wanted:.2g}",
        _rounding(beta * prices[: problem.wireless], wanted),
    )


def _rounding(exponents: Floats, wanted: float) -> str | None:
    """What keeps the residual up where exponents are so large that rounding moves air times."""
    largest = float(exponents.max(initial=0.0))
    if largest * np.finfo(np.float64).eps < ROUNDED * wanted:
        return None
    return (
        f"exponents beta r reach {largest:.2g}, of which rounding leaves less than is wanted; "
        "a smaller k^2 beta is sharper"
    )


def _direction(
    problem: Problem,
    prices: Floats,
    beta: float,
    gradient: Floats,
    free: np.ndarray,
    residual: float,
) -> Floats:
    """Newton's direction among the prices that are free to move."""
    apply = problem.curvature(prices, beta)
    where = np.flatnonzero(free)
    direction = np.zeros_like(prices)

    def part(vector: Floats) -> Floats:
        total = np.zeros_like(prices)
        total[where] = np.ravel(vector)
        return apply(total)[where]

    if len(where) <= DENSE:
        hessian = np.array([part(unit) for unit in np.eye(len(where))])
        hessian += np.diag(1e-15 * np.diag(hessian))
        try:
            direction[where] = -cho_solve(cho_factor(hessian), gradient[where])
        except np.linalg.LinAlgError:
            direction[where] = -np.linalg.lstsq(hessian, gradient[where])[0]
        return direction
    y = problem.airtime(prices, beta)
    own = np.concatenate([problem.network.service_rate_pps * beta * y * (1 - y), problem.capacity])
    shape = (len(where), len(where))
    solved, _ = cg(
        LinearOperator(shape, matvec=part, dtype=np.float64),
        -gradient[where],
        rtol=min(0.1, residual),
        maxiter=200,
        M=LinearOperator(shape, matvec=lambda vector: np.ravel(vector) / own[where]),
    )
    direction[where] = solved
    return direction


def _search(
    problem: Problem,
    prices: Floats,
    beta: float,
    gradient: Floats,
    direction: Floats,
    residual: float,
) -> Floats | None:
    """The longest of halved steps within the bounds that lowers the dual, or the residual."""
    before = problem.dual(prices, beta)
    at = prices @ problem.incidence
    highest = np.full_like(prices, np.inf)
    highest[problem.wireless :] = 1.0 - 0.1 * (1.0 - prices[problem.wireless :])
    length = 1.0
    for _ in range(60):
        moved = np.clip(prices + length * direction, 0.0, highest)
        if np.all(moved @ problem.incidence >= 0.05 * at):
            gain = gradient @ (moved - prices)
            if problem.dual(moved, beta) <= before + 1e-4 * gain - 1e-14 * abs(before):
                return moved
            # Close to the solution the dual changes by less than its rounding.
            if problem.kkt_residual(problem.rates(moved), moved, beta) <= 0.5 * residual:
                return moved
        length /= 2.0
    return None
