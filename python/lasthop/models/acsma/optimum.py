r"""Optimisation problems MP and EP of paper 001, to whose optima multi-connection TCP over A-CSMA
converges (Theorems 2 and 3).

The rates :math:`x_s` of the flows are in packets/s, and an active wireless link sends C packets/s.
Independent set i of links is active for the fraction :math:`\tau_i` of the time. The problem is

.. math:: \max_{x, \tau \ge 0} \sum_s k^2 U_s(x_s) - \frac{C}{\beta} \sum_i \tau_i \log \tau_i
          - \sum_w \int_0^{X_w} \frac{(y - C_w)^+}{y} dy
          \quad\text{s.t.}\quad \sum_{s: l \in s} x_s \le C \sum_{i: l \in i} \tau_i,
          \sum_i \tau_i = 1

:math:`X_w` is the rate over wired link w, and :math:`C_w` its capacity. This is problem EP of Eqs.
(5.35)-(5.38) or, without wired links, MP of Eqs. (5.8)-(5.9); the paper has C = 1. The module
solves the dual problem. The variables of the dual are prices: the aggressiveness r of wireless
links, and the loss probability p of wired links,

.. math:: \min_{r \ge 0,\, 0 \le p < 1} \sum_s \max_x [k^2 U_s(x) - x q_s]
          + \frac{C}{\beta} \log \sum_i e^{\beta \sum_{l \in i} r_l} - \sum_w C_w \log(1 - p_w).

:math:`q_s` is the sum of prices on the route of flow s, Eq. (5.17). The last sum is the conjugate
of the penalty in Eq. (5.39). The dual is smooth and strictly convex, so that Newton's method within
the bounds finds the only solution. If the weight of the entropy, C / beta, is small, the problem is
first solved for larger weights.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lasthop.models.acsma.distribution import Exact, Method, exact
from lasthop.models.acsma.errors import ConvergenceError, NetworkError
from lasthop.models.acsma.network import Network
from lasthop.models.acsma.sets import Floats
from lasthop.models.acsma.utility import AlphaFair
from lasthop.progress.cost_limits import check_time, need

RENO = AlphaFair(alpha=2.0, weight=2.0)
"""Utility :math:`-2/x` of a rate x. ``n = k T`` connections of Reno reach the optimum for this
utility, Eqs. (5.1)-(5.4); T is the round-trip time.
"""

LARGEST_RESIDUAL = 1e-9
"""Largest residual of the KKT conditions of an accepted solution. [-]"""

MAX_STEPS = 200
"""Largest number of Newton steps for each weight of the entropy."""

FIRST_EXPONENT, FACTOR = 4.0, 8.0
"""The problem is solved for increasing values of beta, the inverse weight of the entropy. At the
first value, the largest exponent beta r is `FIRST_EXPONENT`. Each further value is larger by
`FACTOR`.
"""

ROUNDED = 0.1
"""Ratio of an exponent's rounding error to the required residual, above which rounding prevents
convergence. [-]
"""

STEPS = 8
"""Number of Newton steps that the cost estimate assumes. Networks with k = 10 and beta = 200 took 5
to 7 steps.
"""

STATE_S, LINK_S, STATE_BYTES = 50e-9, 30e-6, 60.0
"""Cost of a pass over the states: computation time per state, computation time per link, and memory
per state. The values were measured on one core of an Intel Xeon server with numpy 2, for 13,000 to
870,000 states. [s, bytes]
"""

DENSE = 64
"""Number of prices up to which the Newton direction is computed with the full Hessian matrix. For
more prices it is computed by conjugate gradients, without this matrix.
"""


@dataclass(frozen=True)
class Optimum:
    r"""Solution of problem MP or EP of a network.

    Attributes
    ----------
    rates_pps : ndarray, shape (flows,)
        Rate of each flow, :math:`x_s`. [packets/s]
    aggressiveness : ndarray, shape (wireless links,)
        Aggressiveness :math:`r_l` of each link, which is its dual price and its drop probability; 0
        for links without flows. [-]
    airtime : ndarray, shape (wireless links,)
        Fraction of time for which each link is active; 0 for links without flows, which are silent.
        [-]
    wired_loss : ndarray, shape (wired links,)
        Loss probability of each wired link, :math:`p_w`. [-]
    kkt_residual : float
        Largest violation of the optimality conditions, see `Problem.kkt_residual`. [-]
    steps : int
        Number of Newton steps.
    method : str
        Name of the method by which the stationary distribution was computed.
    states : int
        Number of independent sets (enumeration), or of states of the bags (junction tree).
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
    r"""Problem MP or EP of a network: the dual problem and its derivatives, and the residual of its
    optimality conditions.

    Parameters
    ----------
    network : Network
        Links, flows and utilities.
    k : float
        Number of connections per second of round-trip time, :math:`k`. [1/s]
    beta : float
        Inverse weight of the entropy, :math:`\beta`. [-]
    method : str, optional
        Method for the stationary distribution: ``"enumeration"`` or ``"junction tree"``.

    Raises
    ------
    NetworkError
        If `k` or `beta` is not positive.
    TooLargeError
        If the conflict graph is too large and too dense for an exact solution.
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
        r"""Return the rates at which :math:`k^2 U'_s(x_s)` equals the price of the flow's route,
        Eq. (5.19). [packets/s]
        """
        flows = zip(self.network.flows, prices @ self.incidence, strict=True)
        return np.array([flow.utility.rate(price / self.k**2) for flow, price in flows])

    def airtime(self, prices: Floats, beta: float) -> Floats:
        r"""Return the fraction of time for which each wireless link with flows is active at the
        prices :math:`r`, Eq. (5.16). [-]
        """
        if self.exact is None:
            return np.empty(0)
        return np.asarray(self.exact.airtime(beta * prices[: self.wireless]))

    def dual(self, prices: Floats, beta: float) -> float:
        """Return the value of the dual function. `prices` has the prices of wireless links with
        flows, then those of wired links.
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
        """Return the gradient of the dual, Eq. (5.20): the service rates of the links less the
        arrival rates. [packets/s]
        """
        served = self.network.service_rate_pps * self.airtime(prices, beta)
        through = self.capacity / (1.0 - prices[self.wireless :])
        load: Floats = self.incidence @ self.rates(prices)
        return np.concatenate([served, through]) - load

    def curvature(self, prices: Floats, beta: float) -> Callable[[Floats], Floats]:
        """Return a function that multiplies the Hessian of the dual by a direction."""
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
        r"""Return the largest violation of the optimality conditions. [-]

        For a flow the violation is :math:`|k^2 U'(x_s) - q_s|` divided by the largest price, where
        :math:`q_s` is the price of its route. For a wireless link with service rate :math:`C y_l`
        and load :math:`X_l` it is :math:`\min(r_l, C y_l - X_l)`. The first term is divided by the
        largest price, and the second term by C. A residual of 0 means that no link is overloaded,
        and that every link with a positive price is fully used. For a wired link the violation is
        the difference between :math:`p_w` and the loss probability of Eq. (5.34).

        Parameters
        ----------
        rates : ndarray, shape (flows,)
            Rate of each flow, :math:`x_s`. [packets/s]
        prices : ndarray
            Prices: :math:`r_l` of the wireless links with flows, then :math:`p_w` of the wired
            links. [-]
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
    r"""Return the solution of problem MP, Eqs. (5.8)-(5.9), or of EP, Eqs. (5.35)-(5.38), if there
    are wired links.

    The utilities are those of the network. ``n = k T`` connections of Reno reach the optimum for
    the utility `RENO`, :math:`-2/x`. The paper prints the utility :math:`-1/x` in MP; its optimum
    is reached with the number of connections of Eq. (5.29).

    Parameters
    ----------
    network : Network
        Links, flows and utilities.
    k : float
        Number of connections per second of round-trip time, :math:`k`. [1/s]
    beta : float
        Inverse weight of the entropy, :math:`\beta`. [-]
    method : str, optional
        Method for the stationary distribution: ``"enumeration"`` or ``"junction tree"``.

    Raises
    ------
    NetworkError
        If `k` or `beta` is not positive.
    TooLargeError
        If the conflict graph is too large and too dense for an exact solution.
    ConvergenceError
        If the residual remains above `LARGEST_RESIDUAL`.
    TooCostlyError
        If the solution would exceed the limits of time or memory.
    """
    problem = Problem(network, k, beta, method)
    _check_cost(problem)
    prices = _first_prices(problem)
    weight = min(beta, FIRST_EXPONENT / float(prices.max()))
    steps = 0
    while True:
        last = weight >= beta
        weight = min(weight, beta)
        # For intermediate weights an approximate solution suffices, since it is only the start for
        # the next weight.
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
    """Raise an error if the solution would exceed the cost limits. The cost is estimated from the
    number of passes over the states.
    """
    if problem.exact is None:
        return
    links, states = problem.wireless, problem.exact.states
    # Number of passes over the states: for the Newton steps, and for the eigenvalues at the
    # optimum.
    passes = STEPS * min(links, DENSE) + links
    need(
        f"the optimum of {links} links in conflict, {states} states,",
        time_s=passes * (STATE_S * states + LINK_S * links),
        memory_bytes=STATE_BYTES * states,
    )


def _first_prices(problem: Problem) -> Floats:
    """Return initial prices, computed from a rough rate of each flow: a quarter of the flow's equal
    share of the tightest link on its route. The price of a flow is divided equally over the links
    of its route.
    """
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
    """Return the optimal prices for one weight of the entropy, and the number of Newton steps."""
    residual = np.inf
    for step in range(MAX_STEPS):
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
    """Return a hint if exponents are so large that rounding errors change air times, or None."""
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
    """Return the Newton direction for the prices that are not at a bound."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse.linalg import LinearOperator, cg

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
    """Return the prices after a step in the Newton direction. The step is halved until it lowers
    the dual or the residual. The result is None if no step lowers either of them.
    """
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
            # Close to the solution, the change of the dual is smaller than its rounding error, so
            # that the residual decides.
            if problem.kkt_residual(problem.rates(moved), moved, beta) <= 0.5 * residual:
                return moved
        length /= 2.0
    return None
