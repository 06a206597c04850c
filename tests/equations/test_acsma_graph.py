import numpy as np
import pytest

from lasthop.models.acsma.capacity import capacity
from lasthop.models.acsma.errors import NetworkError, TooLargeError
from lasthop.models.acsma.graph import ConflictGraph, from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.sets import independent_sets, maximal_sets
from lasthop.models.acsma.topologies import TOPOLOGIES, topology


def listed(sets):
    return sorted("".join(str(1 + k) for k in np.flatnonzero(row)) for row in sets)


def test_independent_sets_of_topology_a_are_those_that_the_paper_lists():
    graph = topology("a").graph
    assert listed(independent_sets(graph)) == ["", "1", "13", "14", "2", "3", "4"]
    assert listed(maximal_sets(graph)) == ["13", "14", "2"]


def test_topologies_b_and_c_have_the_sets_of_a_star_and_of_all_but_one_edge():
    assert listed(maximal_sets(topology("b").graph)) == ["1", "234"]
    assert listed(maximal_sets(topology("c").graph)) == ["14", "2", "3"]


def test_the_middle_flow_of_topology_d_conflicts_with_every_other_link():
    graph = topology("d").graph
    for middle in ("3", "4"):
        own = graph.links.index(middle)
        assert graph.neighbours[own] == set(range(6)) - {own}


def test_every_topology_has_routes_over_its_links():
    for name in TOPOLOGIES:
        assert topology(name, 600.0).incidence.any(axis=1).all()


@pytest.mark.equation("acsma", "3.1")
def test_capacity_region_of_a_chain_by_hand():
    # Links 1, 2 and 3 are in a row. Either links 1 and 3 send simultaneously, or link 2. Therefore
    # the air times satisfy y1, y3 <= 1 - y2.
    graph = from_edges("123", [("1", "2"), ("2", "3")])
    assert capacity(graph, [0.3, 0.2, 0.4]).stretch == pytest.approx(1 / 0.6)
    assert capacity(graph, [0.6, 0.4, 0.1]).stretch == pytest.approx(1.0)
    assert not capacity(graph, [0.6, 0.5, 0.0]).inside


@pytest.mark.equation("acsma", "3.1")
def test_the_schedule_carries_the_stretched_rates():
    rates = np.array([0.3, 0.2, 0.2, 0.3])
    answer = capacity(topology("a").graph, rates)
    assert answer.schedule.sum() == pytest.approx(1.0)
    assert np.all(answer.schedule @ answer.sets >= answer.stretch * rates - 1e-12)


def test_a_random_rate_vector_is_inside_exactly_if_some_schedule_is():
    random = np.random.default_rng(5)
    graph = topology("c").graph
    sets = maximal_sets(graph)
    for _ in range(20):
        inside = random.dirichlet(np.ones(len(sets))) @ sets
        assert capacity(graph, 0.999 * inside).inside
    assert not capacity(graph, [0.5, 0.5, 0.5, 0.5]).inside


def test_a_graph_has_the_parts_that_no_conflict_joins():
    graph = from_edges("123", [("1", "2")])
    assert [[graph.links[link] for link in part] for part in graph.components] == [
        ["1", "2"],
        ["3"],
    ]


def test_positions_give_conflicts_within_sensing_range_and_at_shared_nodes(from_positions):
    nodes = {name: (100.0 * k, 0.0) for k, name in enumerate("abcdef")}
    links = {"1": ("a", "b"), "2": ("c", "d"), "3": ("e", "f"), "4": ("f", "e")}
    graph = from_positions(nodes, links, 150.0, 250.0)
    # The transmitters are at 0, 200, 400 and 500 m.
    assert graph.edges == {(0, 1), (1, 2), (2, 3)}
    shared = from_positions(nodes, {"1": ("a", "b"), "2": ("b", "c")}, 150.0, 1.0)
    assert shared.edges == {(0, 1)}


def test_a_cell_is_a_complete_graph(from_positions):
    nodes = {str(k): (np.cos(k), np.sin(k)) for k in range(6)} | {"ap": (0, 0)}
    graph = from_positions(nodes, {str(k): (str(k), "ap") for k in range(6)}, 250.0, 800.0)
    assert len(graph.edges) == 15


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ({"a": (0, 0)}, "link 1: there is no node b"),
        (
            {"a": (0, 0), "b": (300, 0)},
            "link 1 is 300 m long, beyond the transmission range of 250 m",
        ),
    ],
)
def test_links_between_places_that_make_no_sense_are_refused(from_positions, nodes, words):
    with pytest.raises(NetworkError, match=words) as caught:
        from_positions(nodes, {"1": ("a", "b")}, 250.0, 800.0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: from_edges([], []), "no wireless link"),
        (lambda: from_edges("11", []), "link 1 is there twice"),
        (lambda: from_edges("12", [("1", "3")]), "conflict 1-3: there is no wireless link 3"),
        (lambda: from_edges("12", [("1", "1")]), "conflict 1-1: a link does not conflict"),
        (lambda: topology("f"), 'topology "f": there are a, b, c, d, e'),
        (
            lambda: Network(topology("a").graph, (Flow("x", ("1", "5")),)),
            "flow x: there is no link 5",
        ),
        (
            lambda: Network(topology("a").graph, (Flow("x", ("1", "1")),)),
            "flow x: its route passes a link twice",
        ),
        (
            lambda: Network(topology("a").graph, (Flow("x", ("w",)),), 1.0, {"w": 0.0}),
            "wired link w: 0 packets/s is not a positive rate",
        ),
    ],
)
def test_a_network_that_makes_no_sense_is_refused_in_one_line(make, words):
    with pytest.raises(NetworkError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_more_sets_than_can_be_listed_are_refused():
    apart = ConflictGraph(tuple(map(str, range(30))), frozenset())
    with pytest.raises(TooLargeError, match="30 links have more than 4194304 independent sets"):
        independent_sets(apart)
