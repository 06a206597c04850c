import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize

from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.graph import ConflictGraph, from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.optimum import RENO, Problem, optimum
from lasthop.models.acsma.sets import independent_sets
from lasthop.models.acsma.topologies import topology
from lasthop.models.acsma.utility import AlphaFair, ByPoints

MIN_RATE, MAX_RATE = 1e-9, 1e12
"""Smallest and largest rate between which the rate for a price is searched and concavity is
checked. [packets/s]
"""

CHECKED = 400
"""Number of rates at which concavity is checked."""


class ByDerivative:
    r"""A concave utility, defined by its derivative.

    Parameters
    ----------
    derivative : callable
        :math:`U'(x)` of a rate above zero.
    least, most : float
        Smallest and largest rate for which the utility is used. [packets/s]

    Raises
    ------
    NetworkError
        If U is not increasing or not strictly concave. At each of `CHECKED` rates, spread
        logarithmically over the range, the derivative must be positive and below that at the
        previous rate.
    """

    def __init__(
        self,
        derivative,
        least=MIN_RATE,
        most=MAX_RATE,
    ):
        self._derivative = derivative
        self._range = least, most
        before = np.inf
        for rate in np.geomspace(least, most, CHECKED):
            slope = float(derivative(float(rate)))
            if not 0.0 < slope < np.inf:
                raise NetworkError(
                    f"utility: its derivative at rate {rate:.3g} is {slope:g}; it is to be above 0"
                )
            if not slope < before:
                raise NetworkError(
                    f"utility is not concave: its derivative does not fall before rate {rate:.3g}"
                )
            before = slope

    def value(self, rate):
        """Return the utility relative to that of rate 1, :math:`U(x) - U(1)`."""
        # The integral is over the logarithm of the rate, in which derivatives such as 1/x^2 are
        # smooth.
        area, _ = quad(lambda u: self._derivative(np.exp(u)) * np.exp(u), 0.0, np.log(rate))
        return float(area)

    def derivative(self, rate):
        """Return the derivative of the utility, :math:`U'(x)`."""
        return float(self._derivative(rate))

    def rate(self, price):
        """Return the rate at which :math:`U'(x)` equals the price, within the range."""
        least, most = np.log(self._range)
        if price >= self.derivative(self._range[0]):
            return self._range[0]
        if price <= self.derivative(self._range[1]):
            return self._range[1]
        log_rate = brentq(
            lambda u: np.log(self._derivative(float(np.exp(u))) / price), least, most, xtol=1e-14
        )
        return float(np.exp(log_rate))

    def rate_slope(self, price):
        """Return the derivative of `rate`, by a finite difference of two prices."""
        step = 1e-4
        return (self.rate(price * (1 + step)) - self.rate(price * (1 - step))) / (2 * step * price)


def primal(network, k, beta):
    """Solve problem MP or EP as printed in the paper, over rates and fractions of time, by a
    general solver.
    """
    graph, flows = network.graph, network.flows
    sets = independent_sets(graph).astype(float)
    routes, c = network.incidence, network.service_rate_pps
    wires = np.array(list(network.wired_pps.values()))

    def split(point):
        return point[: len(flows)] * c, point[len(flows) :]

    def cost(point):
        x, tau = split(point)
        worth = sum(k**2 * f.utility.value(rate) for f, rate in zip(flows, x, strict=True))
        entropy = -np.sum(tau * np.log(np.maximum(tau, 1e-300)))
        load = routes[len(graph) :] @ x
        over = np.maximum(load, wires)
        penalty = np.sum(over - wires - wires * np.log(over / wires)) if len(wires) else 0.0
        return -(worth + c / beta * entropy - penalty) * beta / c

    def spare(point):
        x, tau = split(point)
        return tau @ sets - routes[: len(graph)] @ x / c

    start = np.concatenate([np.full(len(flows), 0.02), np.full(len(sets), 1 / len(sets))])
    solution = minimize(
        cost,
        start,
        method="SLSQP",
        bounds=[(1e-4, 2.0)] * len(flows) + [(1e-12, 1.0)] * len(sets),
        constraints=[
            {"type": "ineq", "fun": spare},
            {"type": "eq", "fun": lambda point: split(point)[1].sum() - 1.0},
        ],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert solution.success, solution.message
    return split(solution.x)[0], -solution.fun * c / beta


@pytest.mark.equation("acsma", "5.8")
@pytest.mark.equation("acsma", "5.9")
@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_mp_as_printed_has_the_same_solution_for_a_general_solver(name):
    network = topology(name, 600.0)
    solution = optimum(network, k=10.0, beta=200.0)
    rates, _ = primal(network, 10.0, 200.0)
    np.testing.assert_allclose(solution.rates_pps, rates, rtol=2e-4)
    assert solution.kkt_residual < 1e-6


@pytest.mark.equation("acsma", "5.35")
@pytest.mark.equation("acsma", "5.36")
def test_ep_as_printed_has_the_same_solution_for_a_general_solver():
    network = topology("e", 600.0)
    solution = optimum(network, k=10.0, beta=200.0)
    rates, _ = primal(network, 10.0, 200.0)
    np.testing.assert_allclose(solution.rates_pps, rates, rtol=2e-4)
    # The wire f-g has a capacity of 250 packets/s and is the only wire with losses.
    load = solution.rates_pps[0] + solution.rates_pps[2]
    assert solution.wired_loss[:3] == pytest.approx(0.0, abs=1e-9)
    assert solution.wired_loss[3] == pytest.approx((load - 250.0) / load, rel=1e-6)
    assert solution.kkt_residual < 1e-6


@pytest.mark.equation("acsma", "5.17")
@pytest.mark.equation("acsma", "5.39")
def test_there_is_no_duality_gap():
    network = topology("e", 600.0)
    solution = optimum(network)
    problem = Problem(network, 10.0, 200.0)
    prices = np.concatenate([solution.aggressiveness, solution.wired_loss])
    _, value = primal(network, 10.0, 200.0)
    assert problem.dual(prices, 200.0) == pytest.approx(value, rel=1e-6)


def test_without_entropy_the_rates_of_topology_a_are_those_found_by_hand():
    # Link 2 sends for a fraction t of the time. In the remaining time, links 1 and 3 send in one
    # half, and links 1 and 4 in the other half. The marginal utilities are equal at the optimum:
    # 1/(1-t)^2 + 4/(1-t)^2 = 1/t^2.
    t = 1.0 / (1.0 + np.sqrt(5.0))
    by_hand = np.array([1 - t, t, (1 - t) / 2, (1 - t) / 2])
    solution = optimum(topology("a"), k=10.0, beta=200.0)
    np.testing.assert_allclose(solution.rates_pps, by_hand, atol=1e-6)


def test_without_entropy_the_middle_of_topology_d_gets_a_fifth():
    # The two hops of a flow share the time of the flow. The outer flows send for a fraction t of
    # the time. The marginal utilities are equal at the optimum: 4/t^2 = 2/(1-t)^2.
    t = np.sqrt(2.0) / (1.0 + np.sqrt(2.0))
    solution = optimum(topology("d"), k=10.0, beta=200.0)
    np.testing.assert_allclose(solution.rates_pps, [t / 2, (1 - t) / 2, t / 2], atol=1e-6)
    # The paper's 86 packets/s are within 24 % of the solution at a service rate of 546 packets/s.
    assert 86.0 / 0.76 / solution.rates_pps[1] == pytest.approx(546.0, abs=1.0)


def test_the_prices_of_topology_a_are_those_of_figures_6_3_and_6_13():
    solution = optimum(topology("a", 600.0, RENO), k=10.0, beta=200.0)
    # Aggressiveness r under h-ACK is about 0.005 to 0.01. The averages of section 6.1.7 are 3.7,
    # 9.4, 4.5 and 4.9 e-3.
    assert solution.aggressiveness.argmax() == 1
    np.testing.assert_allclose(solution.aggressiveness, [2.5e-3, 9e-3, 5.4e-3, 5.4e-3], rtol=0.02)


@pytest.mark.equation("acsma", "5.19")
@pytest.mark.equation("acsma", "5.20")
@pytest.mark.equation("acsma", "5.24")
@pytest.mark.equation("acsma", "5.25")
def test_at_the_optimum_prices_are_marginal_utilities_and_links_are_full():
    solution = optimum(topology("c", 600.0, RENO))
    np.testing.assert_allclose(
        solution.aggressiveness, 2 * 100.0 / solution.rates_pps**2, rtol=1e-9
    )
    np.testing.assert_allclose(solution.rates_pps, 600.0 * solution.airtime, rtol=1e-8)


def test_performance_depends_only_on_k_squared_beta():
    reference = optimum(topology("a", 600.0, RENO), k=10.0, beta=200.0).rates_pps
    for k in (28.3, 20.0, 14.0, 5.0):
        solution = optimum(topology("a", 600.0, RENO), k=k, beta=20000.0 / k**2).rates_pps
        np.testing.assert_allclose(solution, reference, rtol=1e-7)


def test_a_larger_beta_comes_closer_to_the_best_utility():
    def utility(beta):
        rates = optimum(topology("a", 600.0, RENO), k=10.0, beta=beta).rates_pps
        return -np.sum(600.0 / rates)

    gaps = [utility(beta) for beta in (200.0, 1000.0, 1800.0)]
    assert gaps == sorted(gaps)


def test_any_concave_utility_given_by_its_derivative():
    def network(utility):
        return topology("a", 600.0, utility)

    by_derivative = optimum(network(ByDerivative(lambda x: 2.0 / x**2)))
    np.testing.assert_allclose(by_derivative.rates_pps, optimum(network(RENO)).rates_pps, rtol=1e-8)
    # This utility is given only by its derivative. At the optimum, the price of each link equals
    # the marginal utility, and the rate of each flow equals the service rate of its link.
    solution = optimum(network(ByDerivative(lambda x: 1.0 / (x * (1.0 + np.sqrt(x))))))
    x = solution.rates_pps
    np.testing.assert_allclose(solution.aggressiveness, 100.0 / (x * (1.0 + np.sqrt(x))), rtol=1e-6)
    sets = independent_sets(topology("a").graph).astype(float)
    weights = np.exp(200.0 * sets @ solution.aggressiveness)
    np.testing.assert_allclose(x, 600.0 * weights @ sets / weights.sum(), rtol=1e-6)


def test_points_on_a_power_of_the_rate_are_alpha_fair():
    points, fair = ByPoints([(10.0, 1e-2), (100.0, 1e-4)], 3.0), AlphaFair(2.0, 3.0)
    for rate in (0.2, 10.0, 50.0, 1e5):
        assert points.derivative(rate) == pytest.approx(fair.derivative(rate))
        assert points.value(rate) - points.value(1.0) == pytest.approx(
            fair.value(rate) - fair.value(1.0)
        )
    for price in (1e-9, 3e-3, 7.0):
        assert points.rate(price) == pytest.approx(fair.rate(price))
        assert points.rate_slope(price) == pytest.approx(fair.rate_slope(price))


def test_points_have_the_value_and_the_rates_of_their_derivative():
    points, step = ByPoints([(1.0, 8.0), (4.0, 4.0), (16.0, 1.0)]), 1e-5
    for rate in (0.2, 2.0, 5.0, 50.0):
        rise = points.value(rate * (1 + step)) - points.value(rate * (1 - step))
        assert rise / (2 * step * rate) == pytest.approx(points.derivative(rate), rel=1e-6)
        assert points.rate(points.derivative(rate)) == pytest.approx(rate)
    for rate, marginal in ((1.0, 8.0), (4.0, 4.0), (8.0, 2.0), (16.0, 1.0)):
        assert points.derivative(rate) == pytest.approx(marginal)
    # The derivative is 8 x^-1/2 up to x = 4 and 16 / x above. Its integrals are 16 (2 - sqrt(1))
    # from 1 to 4, and 16 log 4 from 4 to 16.
    assert points.value(16.0) == pytest.approx(16.0 + 16.0 * np.log(4.0))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 5.0])
def test_alpha_fair_utilities_have_the_derivative_that_they_state(alpha):
    utility, step = AlphaFair(alpha, 3.0), 1e-5
    for rate in (0.2, 1.0, 50.0):
        rise = utility.value(rate * (1 + step)) - utility.value(rate * (1 - step))
        assert rise / (2 * step * rate) == pytest.approx(utility.derivative(rate), rel=1e-6)
        assert utility.rate(utility.derivative(rate)) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AlphaFair(alpha=-1.0), "alpha = -1 is not concave"),
        (lambda: AlphaFair(alpha=0.0), "alpha = 0 is not concave"),
        (lambda: AlphaFair(weight=-1.0), "weight = -1 is not increasing"),
        (lambda: ByDerivative(lambda x: x), "not concave"),
        (lambda: ByDerivative(lambda x: 1.0), "not concave"),
        (lambda: ByDerivative(lambda x: 1.0 - x), "is to be above 0"),
        (lambda: ByPoints([(1.0, 1.0), (2.0, 1.0)]), "does not fall before rate 2"),
        (lambda: ByPoints([(2.0, 1.0), (1.0, 0.5)]), "rates of its points are to rise"),
        (lambda: ByPoints([(1.0, 1.0), (2.0, -1.0)]), "are to be above 0"),
        (lambda: ByPoints([(1.0, 1.0)]), "two points"),
        (lambda: optimum(topology("a"), k=0.0), "k = 0 is not above 0"),
        (lambda: optimum(topology("a"), beta=-1.0), "beta = -1 is not above 0"),
    ],
)
def test_utilities_and_weights_without_an_optimum_are_refused(make, words):
    with pytest.raises(NetworkError, match=words):
        make()


def test_links_that_carry_nothing_are_silent():
    graph = from_edges("123", [("1", "2"), ("2", "3")])
    solution = optimum(Network(graph, (Flow("x", ("1",)), Flow("y", ("3",))), 600.0))
    assert solution.airtime[1] == solution.aggressiveness[1] == 0.0
    alone = optimum(Network(from_edges("1", []), (Flow("x", ("1",)),), 600.0))
    np.testing.assert_allclose(solution.airtime[[0, 2]], alone.airtime[0])


def test_a_link_with_time_to_spare_has_no_price():
    # A flow has two hops, and only the first hop has contention. The second hop is idle for half of
    # the time if its aggressiveness r is 0.
    network = Network(
        from_edges("1234", [("1", "2"), ("1", "3")]),
        (Flow("x", ("1", "4"), RENO), Flow("y", ("2",), RENO), Flow("z", ("3",), RENO)),
        600.0,
    )
    solution = optimum(network)
    assert solution.aggressiveness[3] == 0.0
    assert solution.airtime[3] == pytest.approx(0.5)
    assert solution.kkt_residual < 1e-9


def test_a_flow_over_wires_only_fills_them():
    network = Network(
        from_edges("1", []), (Flow("x", ("w",), RENO), Flow("y", ("1",), RENO)), 600.0, {"w": 100.0}
    )
    solution = optimum(network)
    # The rate is x = C/(1-p) at capacity C and loss p, and the price is p = 2 k^2 / x^2.
    p = solution.wired_loss[0]
    assert solution.rates_pps[0] == pytest.approx(100.0 / (1.0 - p))
    assert p == pytest.approx(200.0 / solution.rates_pps[0] ** 2)


@pytest.mark.slow
def test_many_links_over_the_junction_tree_meet_the_conditions():
    links, side = 150, np.sqrt(150 * np.pi / 4.0)
    random = np.random.default_rng(1)
    points = random.random((links, 2)) * side
    near = np.sum((points[:, None] - points[None]) ** 2, axis=2) <= 1.0
    pairs = frozenset((int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(near, 1)), strict=True))
    graph = ConflictGraph(tuple(map(str, range(links))), pairs)
    routes = [tuple(map(str, random.choice(links, 2, replace=False))) for _ in range(60)]
    flows = tuple(Flow(f"f{k}", route, RENO) for k, route in enumerate(routes))
    solution = optimum(Network(graph, flows, 600.0))
    assert solution.method == "junction tree"
    assert solution.kkt_residual < 1e-6


@pytest.mark.parametrize(
    ("name", "total", "service_rate", "gap"),
    [("a", 780.0, 568.0, -1.9), ("b", 1030.0, 628.0, -3.0), ("c", 723.0, 598.0, -2.0)],
)
def test_tables_6_1_and_6_2_have_the_service_rates_and_gaps_of_the_page(
    name, total, service_rate, gap
):
    solution = optimum(topology(name, service_rate, RENO)).rates_pps
    assert solution.sum() == pytest.approx(total, abs=1.5)
    best = optimum(topology(name)).rates_pps
    reached = optimum(topology(name, 600.0, RENO)).rates_pps / 600.0
    assert np.sum(1.0 / best - 1.0 / reached) == pytest.approx(gap, abs=0.05)
