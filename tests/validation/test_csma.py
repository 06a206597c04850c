"""Simulated CSMA networks compared with their theory."""

from pathlib import Path

import numpy as np
import pytest

from lasthop import predict, simulate
from lasthop.models.acsma.distribution import stationary_airtime
from lasthop.models.acsma.graph import from_edges
from lasthop.models.acsma.optimum import RENO, optimum
from lasthop.models.acsma.topologies import TOPOLOGIES, topology

NEAR = 0.005
"""Relative difference of a link's air time from the exact air time. [-]

A run has about 10,000 packets per second for 300 s. The largest difference of any link in these
networks was 0.0019 in runs of 600 s.
"""

TOPOLOGY_A = Path(__file__).parents[2] / "examples" / "csma.toml"


def network(seed, links, density):
    """Return a random conflict graph, and the aggressiveness r of each link."""
    draws = np.random.default_rng(seed)
    names = [f"l{k}" for k in range(links)]
    edges = [
        (name, other)
        for k, name in enumerate(names)
        for other in names[k + 1 :]
        if draws.random() < density
    ]
    return names, edges, draws.uniform(0.0, 2.0, links)


def saturated(names, edges, drives, **csma):
    """Return the scenario of a conflict graph whose links always have a packet, each with its own
    aggressiveness r.
    """
    links = {name: {"r": float(r)} for name, r in zip(names, drives, strict=True)}
    for first, second in edges:
        links[first].setdefault("conflicts", []).append(second)
    return {
        "duration": "300 s",
        "warmup": "1 s",
        "replications": 1,
        "csma": {"aqm": False, "beta": 1, "service_rate": 10000, "link": links, **csma},
        "flow": {f"f-{name}": {"route": [name], "udp": "greedy"} for name in names},
    }


def distance(names, edges, drives, **csma):
    result = simulate(saturated(names, edges, drives, **csma))
    airtime = np.array([link["airtime_fraction"]["mean"] for link in result.summary["links"]])
    exact = stationary_airtime(from_edges(names, edges), drives).airtime
    return np.abs(airtime / exact - 1.0).max()


@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    ("seed", "links", "density"), [(7, 4, 0.5), (2, 7, 0.4), (3, 10, 0.3), (4, 12, 0.25)]
)
def test_saturated_links_have_the_stationary_distribution(seed, links, density):
    assert distance(*network(seed, links, density)) < NEAR


def test_four_links_do_not_depend_on_the_distributions_of_backoff_and_length():
    links = network(7, 4, 0.5)
    assert distance(*links, backoff="constant", transmission="uniform") < NEAR


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backoff", "transmission"),
    [
        ("exponential", "exponential"),
        ("exponential", "uniform"),
        ("uniform", "constant"),
        ("uniform", "uniform"),
        ("constant", "exponential"),
    ],
)
def test_neither_the_backoff_s_distribution_nor_the_lengths_matters(backoff, transmission):
    random_network = network(5, 9, 0.35)
    assert distance(*random_network, backoff=backoff, transmission=transmission) < NEAR


@pytest.mark.slow
def test_legacy_access_is_the_same_with_one_drive_for_all():
    names, edges, _ = network(6, 9, 0.35)
    text = saturated(names, edges, np.zeros(len(names)), access="legacy", access_intensity=2.24)
    del text["csma"]["beta"]
    for link in text["csma"]["link"].values():
        del link["r"]
    result = simulate(text)
    airtime = np.array([link["airtime_fraction"]["mean"] for link in result.summary["links"]])
    exact = stationary_airtime(from_edges(names, edges), np.full(9, np.log(2.24))).airtime
    assert np.abs(airtime / exact - 1.0).max() < NEAR


def rates(result):
    """Return the goodput of each user. [packets/s]"""
    return np.array([flow["goodput_bps"]["mean"] / 8000.0 for flow in result.summary["flows"]])


@pytest.mark.parametrize(
    "settings",
    [
        {"csma.access": "dcf", "csma.queue": 50},
        {"csma.access": "legacy", "csma.access_intensity": 20, "csma.queue": 50},
        {
            "csma.connections": "one",
            "csma.aqm": False,
            "csma.r_max": 0.01,
            "csma.beta": 800,
        },
    ],
)
def test_the_link_in_the_middle_starves_without_prices(settings):
    outer, middle, *others = rates(simulate(TOPOLOGY_A, settings=settings, replications=2))
    assert middle < 0.2 * min(outer, *others)


def test_one_connection_each_ends_at_equal_prices():
    settings = {"csma.connections": "one", "duration": "2000 s"}
    result = simulate(TOPOLOGY_A, settings=settings, replications=2)
    r = np.array([link["aggressiveness"]["mean"] for link in result.summary["links"]])
    # With a fluid Reno, the aggressiveness r at equilibrium is 2^(1/3) alpha^(2/3).
    # The window of a real Reno is a little smaller.
    np.testing.assert_allclose(r, 2 ** (1 / 3) * 3e-5 ** (2 / 3), rtol=0.05)


def fluid_like(name, **csma):
    """Return one of the paper's topologies with users whose TCP is always in congestion
    avoidance.
    """
    _, conflicts, _, _ = TOPOLOGIES[name]
    links = {link: {} for link in "1234"}
    for pair in conflicts.split():
        first, second = pair.split("-")
        links[first].setdefault("conflicts", []).append(second)
    return {
        "duration": "2000 s",
        "warmup": "400 s",
        "replications": 2,
        # In the model, TCP is always in congestion avoidance.
        # Marks instead of drops and a long timeout have this effect in the simulation.
        "tcp": {
            "congestion": "reno",
            "ecn": True,
            "window": 1000,
            "delayed_ack": False,
            "initial_rto": "10 s",
            "min_rto": "10 s",
            "mss": "1000 B",
        },
        "csma": {"link": links, "smoothing": 0.9, "rounding": "nearest", **csma},
        "flow": {f"user-{link}": {"route": [link]} for link in links},
    }


@pytest.mark.smoke(1)
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_as_many_connections_as_the_round_trip_asks_for_reach_the_optimum(name):
    best = optimum(topology(name, 600.0, RENO), k=10, beta=200)
    rates_pps = rates(simulate(fluid_like(name)))
    # At a loss p, Reno's mean window is 1.2 / sqrt(p) here, and 1.4 / sqrt(p) in the fluid model.
    # A smaller window has the same effect as a factor k that is an eighth smaller.
    # This changes the rate of one user by 4 %, and the other rates less.
    np.testing.assert_allclose(rates_pps, best.rates_pps, rtol=0.08)
    np.testing.assert_allclose(rates_pps.sum(), best.rates_pps.sum(), rtol=0.03)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    ("points", "least", "most"),
    [
        # The marginal utility falls as x^-1 up to 100 or 200 packets/s, and as x^-6 above.
        ([(50.0, 3e-4), (100.0, 1.5e-4), (200.0, 1.5e-4 / 64)], 0.0, 0.85),
        ([(100.0, 2e-4), (200.0, 1e-4), (400.0, 1e-4 / 64)], 1.3, 2.0),
    ],
)
def test_a_user_gets_the_optimum_of_a_marginal_utility_by_points(points, least, most):
    scenario = fluid_like("a", connections="utility", k=10 * np.sqrt(2))
    scenario["flow"]["user-2"]["marginal_utility"] = points
    expected = rates(predict(scenario))
    plain = rates(predict(fluid_like("a")))
    # The utility has an effect: the user's rate differs from its rate with the default utility.
    assert least < expected[1] / plain[1] < most
    np.testing.assert_allclose(rates(simulate(scenario)), expected, rtol=0.08)


def test_errors_with_interference_cost_a_link_with_connections_by_marks_little():
    """Link 2 loses 3 % of its packets. With `connections = "marks"`, the number of connections
    compensates for the smaller windows, so that the goodput of user 2 hardly falls.
    """

    def second(rule, error):
        settings = {
            "csma.connections": rule,
            "csma.attempts": 1,
            "csma.link.2.error": error,
            "tcp.ecn": True,
            "tcp.handshake": False,
            "tcp.initial_rto": "30 s",
        }
        return rates(simulate(TOPOLOGY_A, settings=settings, replications=3))[1]

    clean = second("rtt", 0)
    # In addition to marks of 0.8 %, 3 % of the packets are lost. Windows are half as long.
    assert second("rtt", 0.03) < 0.6 * clean
    assert second("marks", 0.03) > 0.8 * clean
