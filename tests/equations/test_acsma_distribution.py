from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasthop.models.acsma import sampling
from lasthop.models.acsma.distribution import exact, stationary_airtime
from lasthop.models.acsma.errors import ConvergenceError, TooLargeError
from lasthop.models.acsma.graph import ConflictGraph, from_edges
from lasthop.models.acsma.legacy import legacy_airtime, middle_of_topology_a
from lasthop.models.acsma.sets import Enumeration
from lasthop.models.acsma.topologies import topology
from lasthop.models.acsma.tree import JunctionTree, min_fill_order


def random_graph(links, chance, random):
    pairs = [(a, b) for a in range(links) for b in range(a + 1, links) if random.random() < chance]
    return ConflictGraph(tuple(map(str, range(links))), frozenset(pairs))


def geometric(links, degree, seed):
    """Return a graph of links that are random points in a square. Links conflict if their distance
    is at most 1.
    """
    side = np.sqrt(links * np.pi / degree)
    points = np.random.default_rng(seed).random((links, 2)) * side
    near = np.sum((points[:, None] - points[None]) ** 2, axis=2) <= 1.0
    pairs = zip(*np.nonzero(np.triu(near, 1)), strict=True)
    return ConflictGraph(
        tuple(map(str, range(links))), frozenset((int(a), int(b)) for a, b in pairs)
    )


def brute_force(graph, z):
    """Return airtimes by enumeration of all subsets of links."""
    total, active = 0.0, np.zeros(len(graph))
    for state in product((0, 1), repeat=len(graph)):
        if not any(state[a] and state[b] for a, b in graph.edges):
            weight = exp(sum(bit * price for bit, price in zip(state, z, strict=True)))
            total += weight
            active += weight * np.array(state)
    return active / total


@pytest.mark.equation("acsma", "3.2")
@pytest.mark.equation("acsma", "5.4")
def test_enumeration_is_the_product_form_by_hand():
    # Two conflicting links have three states: the weight is 1 if both links are silent, e^a if the
    # first link sends, and e^b if the second link sends.
    enumeration = Enumeration(from_edges("12", [("1", "2")]))
    prob = enumeration.probabilities(np.array([0.3, -0.7]))
    weights = np.array([1.0, exp(0.3), exp(-0.7)])
    np.testing.assert_allclose(prob, weights / weights.sum(), rtol=1e-14)


@pytest.mark.equation("acsma", "3.3")
@pytest.mark.parametrize("method", ["enumeration", "junction tree"])
def test_exact_methods_equal_every_subset_gone_through(method):
    random = np.random.default_rng(3)
    for _ in range(25):
        graph = random_graph(int(random.integers(1, 9)), random.random(), random)
        z = random.normal(0.0, 2.0, len(graph))
        answer = stationary_airtime(graph, z, method=method)
        np.testing.assert_allclose(answer.airtime, brute_force(graph, z), rtol=1e-12)
        assert answer.method == method


@pytest.mark.equation("acsma", "3.3")
@given(st.integers(1, 14), st.floats(0.0, 1.0), st.floats(0.1, 30.0), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_junction_tree_equals_enumeration_to_twelve_digits(links, chance, spread, seed):
    random = np.random.default_rng(seed)
    graph = random_graph(links, chance, random)
    z = random.normal(0.0, spread, links)
    every, tree = Enumeration(graph), JunctionTree(graph)
    np.testing.assert_allclose(tree.airtime(z), every.airtime(z), rtol=1e-12)
    assert tree.log_partition(z) == pytest.approx(every.log_partition(z), rel=1e-12, abs=1e-12)
    along = random.normal(size=links)
    np.testing.assert_allclose(
        tree.response(z, along), every.response(z, along), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("method", [Enumeration, JunctionTree])
def test_the_response_is_the_derivative_of_the_airtime(method):
    random = np.random.default_rng(8)
    graph = random_graph(9, 0.4, random)
    z, along, step = random.normal(size=9), random.normal(size=9), 1e-5
    distribution = method(graph)
    slope = (distribution.airtime(z + step * along) - distribution.airtime(z - step * along)) / (
        2 * step
    )
    np.testing.assert_allclose(distribution.response(z, along), slope, atol=1e-9)


@pytest.mark.equation("acsma", "5.12")
def test_the_airtime_is_the_gradient_of_the_log_partition_function():
    graph, step = topology("c").graph, 1e-6
    z = np.array([0.4, -1.0, 2.0, 0.1])
    enumeration = Enumeration(graph)
    for link, unit in enumerate(np.eye(4)):
        rise = enumeration.log_partition(z + step * unit) - enumeration.log_partition(
            z - step * unit
        )
        assert rise / (2 * step) == pytest.approx(enumeration.airtime(z)[link], abs=1e-9)


def test_a_chain_has_width_one_and_a_complete_graph_all_its_links():
    chain = from_edges(map(str, range(50)), [(str(k), str(k + 1)) for k in range(49)])
    assert JunctionTree(chain).width == 1
    names = list(map(str, range(100)))
    cell = from_edges(names, [(a, b) for a in names for b in names if a < b])
    tree = JunctionTree(cell)
    assert tree.width == 99
    # If n links all sense each other, at most one is active. Its air time is e^z / (1 + n e^z).
    np.testing.assert_allclose(tree.airtime(np.full(100, 1.0)), exp(1) / (1 + 100 * exp(1)))


def test_every_edge_is_in_some_bag_and_later_links_of_a_bag_are_in_their_parents():
    graph = geometric(80, 5.0, 1)
    order = min_fill_order(graph)
    turn = {each.link: number for number, each in enumerate(order)}
    bags = {each.link: {each.link, *each.later} for each in order}
    for a, b in graph.edges:
        first = min(a, b, key=turn.__getitem__)
        assert {a, b} <= bags[first]
    for each in order:
        if each.later:
            assert set(each.later) <= bags[each.later[0]]


def test_two_thousand_links_of_a_sparse_graph_are_exact():
    graph = geometric(2000, 4.0, 1)
    z = np.random.default_rng(2).normal(1.0, 1.0, 2000)
    answer = stationary_airtime(graph, z)
    assert (answer.method, answer.error) == ("junction tree", 1e-12)
    # The components of the graph are independent. The small components can be enumerated
    # separately.
    small = [group for group in graph.components if len(group) <= 12]
    assert len(small) > 50
    for group in small:
        alone = Enumeration(graph.within(group)).airtime(z[list(group)])
        np.testing.assert_allclose(answer.airtime[list(group)], alone, rtol=1e-12)


def test_sampling_is_within_its_stated_error():
    """In nearly all of 20 graphs, the stated error (95 % for all links together) is not
    exceeded.
    """
    random = np.random.default_rng(11)
    held, own = 0, []
    for seed in range(20):
        graph = random_graph(10, 0.35, random)
        z = random.normal(0.5, 1.0, 10)
        sample = sampling.sample_airtime(graph, z, 0.02, seed)
        off = np.abs(sample.airtime - Enumeration(graph).airtime(z))
        assert sample.error <= 0.02
        held += bool(np.all(off <= sample.error))
        own.extend(off <= sample.ci95)
    # If the stated error is met with probability 0.95, fewer than 17 of the 20 graphs meet the
    # error with probability 1/60. For single links the limit is only 88 %, because the errors of
    # the links of a graph are not independent.
    assert held >= 17
    assert np.mean(own) > 0.88


def test_chains_that_are_stuck_are_refused(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_SWEEPS", 1024)
    # In a complete bipartite graph the active side changes only when all links are silent. The
    # weight of a whole active side is e^(20 * 6).
    names = [f"{side}{k}" for side in "ab" for k in range(6)]
    graph = from_edges(names, [(a, b) for a in names for b in names if a[0] != b[0]])
    with pytest.raises(ConvergenceError, match="12 links: error"):
        sampling.sample_airtime(graph, np.full(12, 20.0))


def test_dense_graphs_are_sampled_unless_an_exact_method_is_asked_for(monkeypatch):
    monkeypatch.setattr("lasthop.models.acsma.tree.MAX_STATES", 200)
    monkeypatch.setattr(JunctionTree.__init__, "__defaults__", (200,))
    graph = geometric(60, 6.0, 4)
    answer = stationary_airtime(graph, np.zeros(60), tolerance=0.05)
    assert answer.method == "sampling"
    assert 0.0 < answer.error <= 0.05
    with pytest.raises(TooLargeError, match="junction tree of 60 links"):
        stationary_airtime(graph, np.zeros(60), method="junction tree")


def test_small_graphs_are_enumerated_and_larger_ones_put_in_a_tree():
    assert exact(topology("d").graph).method == "enumeration"
    assert exact(geometric(13, 2.0, 1)).method == "junction tree"


def test_log_fugacities_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="4 finite numbers"):
        stationary_airtime(topology("a").graph, np.zeros(3))
    with pytest.raises(ValueError, match="'guess' is none of"):
        stationary_airtime(topology("a").graph, np.zeros(4), method="guess")


@pytest.mark.equation("acsma", "4.1")
@pytest.mark.equation("acsma", "4.2")
def test_link_two_of_topology_a_has_a_ninth_under_legacy_csma():
    answer = legacy_airtime(topology("a").graph)
    assert answer.airtime[1] == pytest.approx(middle_of_topology_a(2.24), rel=1e-12)
    assert answer.airtime[1] == pytest.approx(0.11, abs=0.005)  # The paper prints 0.11.


@pytest.mark.equation("acsma", "4.1")
def test_legacy_csma_starves_link_1_of_b_and_links_2_and_3_of_c():
    b = legacy_airtime(topology("b").graph).airtime
    c = legacy_airtime(topology("c").graph).airtime
    rho = 2.24
    # By hand: the graph of topology b is a star, and the graph of topology c has all edges except
    # 1-4.
    np.testing.assert_allclose(b[0], rho / (rho + (1 + rho) ** 3), rtol=1e-12)
    np.testing.assert_allclose(c[1:3], rho / (1 + 4 * rho + rho**2), rtol=1e-12)
    assert b[0] < 0.1 * b[1:].min()
    assert c[1:3].max() < 0.4 * c[0]


def test_an_access_intensity_is_above_zero():
    with pytest.raises(ValueError, match="access_intensity = 0"):
        legacy_airtime(topology("a").graph, 0.0)
