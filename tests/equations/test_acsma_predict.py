from pathlib import Path

import numpy as np
import pytest

from lasthop import Scenario, ScenarioError, predict
from lasthop.errors import ConvergenceError, ModelError
from lasthop.models import choose
from lasthop.models.acsma.distribution import stationary_airtime
from lasthop.models.acsma.failing import equal_aggressiveness
from lasthop.models.acsma.optimum import RENO, optimum
from lasthop.models.acsma.predict import network_of
from lasthop.models.acsma.topologies import topology
from lasthop.models.acsma.utility import AlphaFair

EXAMPLES = Path(__file__).parents[2] / "examples"
FOUR, WIRES = EXAMPLES / "csma.toml", EXAMPLES / "csma-wires.toml"


def means(answer, name, quantity):
    return np.array([item[quantity]["mean"] for item in answer.summary[name]])


def scenario(routes, **csma):
    """Return a scenario with links 1 to 4 of topology a, and flows on these routes."""
    links = {"1": {"conflicts": ["2"]}, "2": {"conflicts": ["3", "4"]}, "3": {"conflicts": ["4"]}}
    return {
        "duration": "10 s",
        "csma": {"link": {**links, "4": {}}, **csma},
        "flow": {f"f{k}": {"route": route} for k, route in enumerate(routes)},
    }


EACH = [["1"], ["2"], ["3"], ["4"]]


def test_the_example_is_the_optimum_of_topology_a():
    answer = predict(FOUR)
    best = optimum(topology("a", 600.0, RENO))
    assert answer.model == "acsma"
    np.testing.assert_allclose(means(answer, "flows", "goodput_bps"), 8000.0 * best.rates_pps)
    np.testing.assert_allclose(means(answer, "links", "airtime_fraction"), best.airtime)
    np.testing.assert_allclose(means(answer, "links", "aggressiveness"), best.aggressiveness)
    np.testing.assert_allclose(
        means(answer, "flows", "loss_probability"), best.aggressiveness, rtol=1e-12
    )
    assert (answer.summary["solver"], answer.summary["states"]) == ("enumeration", 7)
    assert answer.summary["kkt_residual"] < 1e-6
    assert answer.warnings == []


def test_user_two_has_twenty_connections_by_littles_law():
    answer = predict(FOUR)
    connections = means(answer, "flows", "connections")
    rtt, rates = means(answer, "flows", "rtt_s"), means(answer, "flows", "goodput_bps") / 8000.0
    np.testing.assert_allclose(connections, 10.0 * rtt)
    np.testing.assert_allclose(rates * rtt * 3e-5, means(answer, "links", "aggressiveness"))
    assert connections[1] == pytest.approx(20.0, abs=0.5)
    np.testing.assert_allclose(means(answer, "links", "connections"), connections)


def test_the_example_with_wires_is_the_optimum_of_topology_e():
    answer = predict(WIRES)
    network = network_of(Scenario(WIRES).typed)
    assert network.graph.edges == topology("e").graph.edges
    # A packet has 1000 bytes of payload and 40 bytes of headers, so that the wire f-g carries 240.4
    # packets/s.
    assert network.wired_pps["f-g"] == pytest.approx(2e6 / 8320.0)
    best = optimum(network)
    np.testing.assert_allclose(means(answer, "flows", "goodput_bps"), 8000.0 * best.rates_pps)
    # No other flow uses the wireless link of flow i-to-g. The flow waits in the full queue of 50
    # packets at f-g.
    assert means(answer, "flows", "rtt_s")[2] == pytest.approx(50.0 / (2e6 / 8320.0))


def test_positions_mean_the_same_to_the_engine_and_to_the_model(from_positions):
    random = np.random.default_rng(4)
    transmitters = random.integers(150, 900, (12, 2))
    # Each receiver is within range of its transmitter.
    receivers = transmitters + random.integers(-150, 151, (12, 2))
    places = np.stack([transmitters, receivers], axis=1).reshape(24, 2)
    nodes = {f"n{k}": tuple(map(float, place)) for k, place in enumerate(places)}
    links = {f"l{k}": (f"n{2 * k}", f"n{2 * k + 1}") for k in range(12)}
    ours = from_positions(nodes, links, 250.0, 300.0)
    tree = {
        "duration": "1 s",
        "csma": {
            "sensing_range": "300 m",
            "node": {name: {"x": f"{x} m", "y": f"{y} m"} for name, (x, y) in nodes.items()},
            "link": {name: {"from": ends[0], "to": ends[1]} for name, ends in links.items()},
        },
        "flow": {"f": {"route": ["l0"]}},
    }
    assert network_of(Scenario(tree).typed).graph == ours
    assert 5 < len(ours.edges) < 60


def test_legacy_access_gives_airtimes_and_goodputs_of_saturated_links():
    answer = predict(FOUR, settings={"csma.access": "legacy"})
    airtime = means(answer, "links", "airtime_fraction")
    assert airtime[1] == pytest.approx(0.112, abs=5e-4)
    np.testing.assert_allclose(means(answer, "flows", "goodput_bps"), 8000.0 * 600.0 * airtime)
    assert "aggressiveness" not in answer.summary["links"][0]
    assert "connections" not in answer.summary["flows"][0]


def test_one_connection_makes_all_links_equally_aggressive():
    with_aqm = predict(FOUR, settings={"csma.connections": "one"})
    r = means(with_aqm, "links", "aggressiveness")
    np.testing.assert_allclose(r, equal_aggressiveness(3e-5))
    without = predict(
        FOUR, settings={"csma.connections": "one", "csma.aqm": False, "csma.r_max": 0.01}
    )
    np.testing.assert_allclose(means(without, "links", "aggressiveness"), 0.01)
    # If r is equal on all links, access is legacy CSMA. Both with and without AQM, link 2 then has
    # by far the least air time.
    cured = means(predict(FOUR), "links", "airtime_fraction")[1]
    for answer in (with_aqm, without):
        assert means(answer, "links", "airtime_fraction")[1] < 0.6 * cured


def test_any_utility_by_fairness_and_weight():
    tree = scenario(EACH, connections="utility", fairness=1, k=3)
    tree["flow"]["f1"]["weight"] = 3
    answer = predict(tree)
    shape = network_of(Scenario(tree).typed)
    assert [flow.utility for flow in shape.flows] == [
        AlphaFair(1.0, weight) for weight in (1.0, 3.0, 1.0, 1.0)
    ]
    np.testing.assert_allclose(
        means(answer, "flows", "goodput_bps"), 8.0 * 1460.0 * optimum(shape, k=3.0).rates_pps
    )


def test_links_without_flows_are_silent():
    answer = predict(scenario([["1"], ["3"]]))
    airtime = means(answer, "links", "airtime_fraction")
    assert airtime[1] == airtime[3] == 0.0


def test_near_misses_are_warned_of():
    warnings = predict(scenario(EACH, k=100)).warnings
    assert any("loses" in warning and "smaller k" in warning for warning in warnings)
    warnings = predict(scenario(EACH, k=1)).warnings
    assert any("fewer than one; a larger k" in warning for warning in warnings)
    warnings = predict(scenario(EACH, r_max=0.001)).warnings
    assert any("is above `csma.r_max` = 0.001" in warning for warning in warnings)
    warnings = predict(scenario([["1", "3"]], access="legacy")).warnings
    assert any("the goodput of flows that cross several links" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (scenario([["1", "3"]], connections="one"), "one flow per link"),
        (scenario(EACH, aqm=False), "connections receive no signal of a link's price"),
    ],
)
def test_cases_that_the_paper_does_not_solve_are_refused(tree, words):
    with pytest.raises(ModelError, match=words):
        predict(tree)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (scenario([["1", "5"]]), 'there is no link "5"; expected one of 1, 2, 3, 4'),
        (scenario(EACH, connections="utility", fairness=-1), "not strictly concave"),
        (
            {
                "duration": "1 s",
                "csma": {"connected": True, "link": {"a": {}, "b": {}}},
                "flow": {"x": {"route": ["a"]}},
            },
            "the conflict graph is not connected: no conflicts lead from link a to link b",
        ),
    ],
)
def test_networks_that_make_no_sense_are_refused_at_the_door(tree, words):
    with pytest.raises(ScenarioError, match=words):
        predict(tree)


def test_each_model_refuses_the_networks_of_others():
    assert choose(Scenario(FOUR).typed) == "acsma"
    with pytest.raises(ModelError, match="hear only some of each other"):
        predict(FOUR, model="hotspot")
    with pytest.raises(ModelError, match="there is no `csma`"):
        predict(EXAMPLES / "hotspot.toml", model="acsma")


def test_links_with_a_given_r_and_greedy_sources_have_the_stationary_air_times():
    given = scenario(EACH, aqm=False)
    for flow in given["flow"].values():
        flow["udp"] = "greedy"
    for number, link in enumerate(given["csma"]["link"].values()):
        link["r"] = 0.002 * (number + 1)
    answer = predict(given)
    network = topology("a", 600.0, RENO)
    exact = stationary_airtime(network.graph, 200 * 0.002 * np.arange(1.0, 5.0)).airtime
    np.testing.assert_allclose(means(answer, "links", "airtime_fraction"), exact)
    np.testing.assert_allclose(means(answer, "flows", "goodput_bps"), 600 * exact * 8 * 1472)
    del given["csma"]["link"]["4"]["r"]
    with pytest.raises(
        ModelError, match=r"`csma.link.1.r` is given, but r is not given for every link"
    ):
        predict(given)


def test_features_outside_the_model_are_refused_or_warned_of():
    with pytest.raises(ModelError, match=r"`csma.access` = dcf, which can only be simulated"):
        predict(scenario(EACH, access="dcf"))
    slow = scenario(EACH)
    slow["flow"]["f0"]["udp"] = "1 Mbps"
    with pytest.raises(ModelError, match=r"`flow.f0.udp`; the model also supports greedy sources"):
        predict(slow)
    noisy = scenario(EACH, acks="contend")
    noisy["csma"]["link"]["1"]["error"] = 0.1
    noisy["csma"]["link"]["1"]["disturbs"] = ["3", "4"]
    noisy["csma"]["link"]["4"]["disturbs"] = ["1"]
    assert predict(noisy).warnings == [
        "frames of 1 are lost on the channel; the model ignores this and overestimates goodput "
        "(section 3.1 of the paper of model acsma)",
        "hidden nodes: link 1 destroys frames of 3 and 4 and link 4 destroys frames of 1, whose "
        "transmitters do not hear it and so do not wait; the model ignores this and overestimates "
        "the goodput of those links (section 3.1 of the paper of model acsma)",
        "ACKs contend for the channel; the model ignores their time and overestimates goodput "
        "(section 4.2.1 of the paper of model acsma)",
    ]


def test_dummy_packets_of_an_empty_queue_are_reported():
    apart = {
        "duration": "10 s",
        "csma": {"link": {"1": {}, "2": {"conflicts": ["3"]}, "3": {}}},
        "flow": {"long": {"route": ["1", "2"]}, "short": {"route": ["3"]}},
    }
    answer = predict(apart)
    airtime = means(answer, "links", "airtime_fraction")
    rates = means(answer, "flows", "goodput_bps") / (8.0 * 1460.0)
    dummy = means(answer, "links", "dummy_fraction")
    # Link 1 has no neighbour. Its queue is empty, so that its aggressiveness r is 0, and it sends
    # for e^0 / (1 + e^0) = 1/2 of the time.
    np.testing.assert_allclose(airtime[0], 0.5, atol=1e-9)
    np.testing.assert_allclose(dummy, airtime - rates[[0, 0, 1]] / 600.0, atol=1e-9)
    [line] = [line for line in answer.warnings if "dummy packets" in line]
    assert line.startswith(
        "the predicted air time of link 1 has dummy packets in it, of link 1 9.9"
    )
    assert "simulated only with `csma.dummy` = true" in line
    simulated = predict(apart, settings={"csma.dummy": True}).warnings
    assert not any("simulated only" in line for line in simulated)
    assert "dummy_fraction" not in predict(FOUR).summary["links"][0]


def test_connections_by_marks_send_as_much_as_without_errors():
    """The number n of connections compensates for channel errors. A flow sends n windows of sqrt(2
    / (r + e)) packets per round trip, where r is the aggressiveness and e the error rate. This
    extends (5.1) and (3.6) of the paper.
    """
    tree = scenario(EACH, connections="marks", attempts=2) | {"tcp": {"ecn": True}}
    clean = predict(scenario(EACH))
    tree["csma"]["link"]["2"] = {**tree["csma"]["link"]["2"], "error": 0.2}
    answer = predict(tree)
    rates = means(answer, "flows", "goodput_bps") / 1460 / 8
    np.testing.assert_allclose(rates, means(clean, "flows", "goodput_bps") / 1460 / 8)
    price = means(answer, "links", "aggressiveness")
    lost = np.array([0.0, 0.04, 0.0, 0.0])
    number, rtt = (means(answer, "flows", name) for name in ("connections", "rtt_s"))
    np.testing.assert_allclose(number * np.sqrt(2 / (price + lost)) / rtt, rates, rtol=1e-6)
    assert number[1] > 2 * means(clean, "flows", "connections")[1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"connections": "utility", "fairness": 150}, "worth queues of 0 packets at most"),
        ({"connections": "utility", "fairness": 8}, "worth queues of "),
        ({"connections": "utility", "k": 1e6}, "flow f0 would have to lose "),
        ({"connections": "utility", "fairness": 1e-6}, "flow f0 would have to lose "),
        ({"k": 1000, "beta": 100}, "flow f0 would have to lose "),
        ({"k": 300}, "% of its packets; a smaller `csma.k` or weight loses less"),
        ({"connections": "utility", "service_rate": 1, "k": 10, "beta": 1e6}, "would have to lose"),
    ],
)
def test_prices_that_are_no_probabilities_are_refused(settings, words):
    with pytest.raises(ModelError) as caught:
        predict(scenario(EACH, **settings))
    assert words in str(caught.value)


def test_predicted_losses_are_below_one():
    for k in (1, 10, 100):
        loss = means(predict(scenario(EACH, k=k)), "flows", "loss_probability")
        assert np.all(loss < 1.0)


def test_rounding_of_large_exponents_is_reported():
    with pytest.raises(ConvergenceError) as caught:
        optimum(topology("a"), k=100.0, beta=1e4)
    assert caught.value.hint.startswith("exponents beta r reach 1e+09, of which rounding")
