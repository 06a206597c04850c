"""The two queues of a cell's wire: `wire.queue` and `wire.back_queue`."""

from typing import Any

import pytest

import lasthop as lh
from lasthop.scenario.queues import Cake
from lasthop.scenario.typed import CellScenario
from lasthop.warnings.cake import cake_warnings

HOME: dict[str, Any] = {
    "duration": "8 s",
    "warmup": "2 s",
    "replications": 1,
    "cell": {"phy": "802.11ac"},
    "wire": {"rate": "20 Mbps", "back_rate": "4 Mbps", "delay": "5 ms", "queue": 300},
    "station": {"laptop": {"upload": 2}, "tv": {"download": 2}},
}


def longest(scenario: lh.Scenario) -> dict[str, float]:
    """Return the largest length of each queue. [packets]"""
    return dict(lh.simulate(scenario).queues["occupancy_max_packets"])


def test_each_direction_has_its_queue() -> None:
    both = lh.Scenario(HOME)
    own = both.with_("wire.back_queue", 10)
    assert isinstance(both.typed, CellScenario)
    assert isinstance(own.typed, CellScenario)
    assert both.typed.wire.back_queue is None
    assert (own.typed.wire.queue_packets, own.typed.wire.back_queue_packets) == (300, 10)
    before, after = longest(both), longest(own)
    assert before["wire/up"] == 300
    assert after["wire/up"] == 10
    assert after["wire/down"] > 100
    # the same queue in both directions is the same scenario
    same = lh.simulate(both.with_("wire.back_queue", 300))
    assert lh.simulate(both).flows.equals(same.flows)


def test_cake_acts_in_the_direction_that_has_it() -> None:
    scenario = lh.Scenario(HOME).with_("wire.back_queue.cake", {"bandwidth": "3 Mbps"})
    assert isinstance(scenario.typed, CellScenario)
    assert isinstance(scenario.typed.wire.back_queue, Cake)
    assert not isinstance(scenario.typed.wire.queue, Cake)
    up = lh.simulate(scenario).links.loc["wire/up", "utilisation"]
    assert 0.6 < up <= 0.76
    assert not list(cake_warnings(scenario.typed))
    fast = scenario.with_("wire.back_queue.cake.bandwidth", "5 Mbps")
    [line] = cake_warnings(fast.typed)
    assert line.startswith("`wire.back_queue`: the shaper of CAKE never delays a packet")


def test_a_queue_in_front_of_an_unlimited_direction_is_refused() -> None:
    wire = {"rate": "20 Mbps", "back_rate": "unlimited", "back_queue": {"codel": {}}}
    message = r"`wire\.back_queue`: a link without a rate never lets a packet wait"
    with pytest.raises(lh.ScenarioError, match=message):
        lh.Scenario({**HOME, "wire": wire})
    # without a queue of its own, the direction uses `wire.queue`, which the other direction needs
    wire = {"rate": "unlimited", "back_rate": "4 Mbps", "queue": {"codel": {}}}
    lh.Scenario({**HOME, "wire": wire})
    with pytest.raises(lh.ScenarioError, match=r"`wire\.queue`: a link without a rate"):
        lh.Scenario({**HOME, "wire": {**wire, "back_queue": 5}})


def test_an_explanation_changes_the_queue_of_the_direction() -> None:
    scenario = lh.Scenario(HOME).with_("wire.back_queue", 299)
    keys = {
        key
        for each in lh.explain(scenario, remedies=False, objective="delay").candidates
        if each.id == "long-queue"
        for key, _ in each.settings
    }
    assert {"wire.queue", "wire.back_queue"} <= keys


def test_what_if_says_that_a_queue_is_at_both_ends_only_without_the_other_key() -> None:
    note = "wire.queue sets the queue at both ends of the line"
    for base, case, expected in (
        ({}, {"wire.queue": 50}, True),
        ({}, {"wire.queue": 50, "wire.back_queue": 60}, False),
        ({"wire.back_queue": 70}, {"wire.queue": 50}, False),
    ):
        scenario = lh.Scenario(lh.Scenario(HOME), list(base.items()))
        asked = lh.what_if(scenario, {"case": case}, replications=2)
        assert any(note in line for line in asked.notes) is expected
