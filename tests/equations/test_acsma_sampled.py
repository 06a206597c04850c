"""Queues of links whose aggressiveness r is updated at fixed intervals."""

import numpy as np
import pytest

from lasthop import predict
from lasthop.models.acsma.graph import from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.sampled import queue_modes


def test_two_links_of_one_route_by_hand() -> None:
    pair = Network(from_edges("ab", [("a", "b")]), (Flow("f", ("a", "b")),))
    y = 0.4  # air time of each link; the covariances are y (1 - y) and -y y
    z = np.log(y / (1 - 2 * y))
    modes = queue_modes(pair, np.array([y]), np.array([z, z]) / 50.0, 50.0)
    motion = 50.0 * np.array([[-y * (1 - y), y * y], [y * (1 - y) + y * y, -y * y - y * (1 - y)]])
    np.testing.assert_allclose(np.sort(modes), np.sort(np.linalg.eigvals(motion)), rtol=1e-9)


def test_a_link_with_an_empty_queue_forwards_all_arrivals() -> None:
    row = Network(from_edges("abc", [("a", "c")]), (Flow("f", ("a", "b", "c")),))
    pair = Network(from_edges("ac", [("a", "c")]), (Flow("f", ("a", "c")),))
    rates, r = np.array([0.3]), 0.02
    with_b = queue_modes(row, rates, np.array([r, 0.0, r]), 50.0)
    np.testing.assert_allclose(
        np.sort(with_b), np.sort(queue_modes(pair, rates, np.array([r, r]), 50.0))
    )


def test_routes_without_links_in_conflict_have_no_warning() -> None:
    # In topology a, no route contains two conflicting links. The simulated round-trip times in
    # topology a are therefore equal if r is updated every 0.2, 1 or 2 s.
    links = {"1": {"conflicts": ["2"]}, "2": {"conflicts": ["3", "4"]}, "3": {"conflicts": ["4"]}}
    network = {"link": {**links, "4": {}}, "r_interval": "2 s"}
    flows = {f"f{k}": {"route": [k]} for k in "1234"}
    assert predict({"duration": "10 s", "csma": network, "flow": flows}).warnings == []


ROUTE = {
    "duration": "10 s",
    "csma": {"link": {"1": {"conflicts": ["2"]}, "2": {}}},
    "flow": {"long": {"route": ["1", "2"]}},
}


@pytest.mark.parametrize(("interval", "swings"), [("1 s", True), ("0.8 s", True), ("0.5 s", False)])
def test_a_warning_says_where_queues_oscillate(interval: str, swings: bool) -> None:
    # The predicted round-trip time is 589 ms. In four simulations of 300 s, the round-trip time was
    # 1150 ms with an interval of 1 s, 830 ms with 0.8 s, and 530 ms with 0.5 s. The queues
    # oscillate with 1 s and 0.8 s.
    warnings = predict(ROUTE, settings={"csma.r_interval": interval}).warnings
    assert ["`csma.r_interval`" in line for line in warnings] == [True] * swings
