"""Simulated CSMA networks beside the stationary distribution that theory gives them."""

import numpy as np
import pytest

from lasthop import simulate
from lasthop.models.acsma.distribution import stationary_airtime
from lasthop.models.acsma.graph import from_edges

NEAR = 0.005
"""Distance of an air time from the exact one. [-]

With 10,000 packets in a second and 600 s the standard deviation of the greatest of a dozen
distances is about 0.0007."""


def network(seed, links, density):
    """A random conflict graph, and the aggressiveness of each link."""
    draws = np.random.default_rng(seed)
    names = [f"l{k}" for k in range(links)]
    edges = [
        (one, other)
        for k, one in enumerate(names)
        for other in names[k + 1 :]
        if draws.random() < density
    ]
    return names, edges, draws.uniform(0.0, 2.0, links)


def saturated(names, edges, drives, **csma):
    """Its scenario: links that always have a packet, each with its own r."""
    links = {name: {"r": float(r)} for name, r in zip(names, drives, strict=True)}
    for one, other in edges:
        links[one].setdefault("conflicts", []).append(other)
    return {
        "duration": "600 s",
        "warmup": "1 s",
        "replications": 1,
        "csma": {"aqm": False, "beta": 1, "service_rate": 10000, "link": links, **csma},
        "flow": {f"f-{name}": {"route": [name], "udp": "greedy"} for name in names},
    }


def distance(names, edges, drives, **csma):
    result = simulate(saturated(names, edges, drives, **csma))
    found = np.array([link["airtime_fraction"]["mean"] for link in result.summary["links"]])
    exact = stationary_airtime(from_edges(names, edges), drives).airtime
    return np.abs(found - exact).max()


@pytest.mark.parametrize(
    ("seed", "links", "density"), [(1, 4, 0.5), (2, 7, 0.4), (3, 10, 0.3), (4, 12, 0.25)]
)
def test_saturated_links_have_the_stationary_distribution(seed, links, density):
    assert distance(*network(seed, links, density)) < NEAR


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
    found = network(5, 9, 0.35)
    assert distance(*found, backoff=backoff, transmission=transmission) < NEAR


def test_legacy_access_is_the_same_with_one_drive_for_all():
    names, edges, _ = network(6, 9, 0.35)
    text = saturated(names, edges, np.zeros(len(names)), access="legacy", access_intensity=2.24)
    for link in text["csma"]["link"].values():
        del link["r"]
    result = simulate(text)
    found = np.array([link["airtime_fraction"]["mean"] for link in result.summary["links"]])
    exact = stationary_airtime(from_edges(names, edges), np.full(9, np.log(2.24))).airtime
    assert np.abs(found - exact).max() < NEAR
