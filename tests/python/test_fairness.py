"""Fairness has the same definition in all results: it is computed over flows with unmet demand."""

import socket
from dataclasses import replace
from typing import Any

import pytest

import lasthop as lh
from lasthop.answers.fairness import fairness_levels, is_met, jain, judged, mixed_demands
from lasthop.emulation.datagrams import Datagrams
from lasthop.emulation.summary import Seen, cell, of_flow, stations
from lasthop.measured.matching import Flow, match
from lasthop.measured.observed import Measurement, Stream
from lasthop.tuning.measures import sampled

HOUSEHOLD = """
duration = "4 s"
warmup = "1 s"
replications = 2
[cell]
phy = "802.11g"
[station.phone]
udp_up = { rate = "100 kbps", packet = "200 B" }
[station.near]
udp_down = "greedy"
[station.far]
rate = "6 Mbps"
udp_down = "greedy"
"""


@pytest.mark.parametrize(
    ("sent", "arrived", "lost", "under_way", "expected", "met"),
    [
        (1000, 990, 10, 0, 0.0, True),
        (1000, 989, 11, 0, 0.0, False),
        (10, 9, 1, 0, 0.0, False),
        (1000, 900, 0, 100, 100.0, True),  # Datagrams in flight are explained by their delay.
        (1000, 900, 0, 100, 50.0, False),  # Datagrams accumulate in a queue.
        (1000, 992, 0, 8, 0.2, True),
        (10, 0, 0, 10, 0.0, False),
        (0, 0, 0, 0, 0.0, True),
    ],
)
def test_a_demand_is_met_if_one_percent_is_lost_and_no_queue_grows(
    sent: int, arrived: int, lost: int, under_way: int, expected: float, met: bool
) -> None:
    assert is_met(sent, arrived, lost, under_way, expected) is met


LATE = """
duration = "20 s"
warmup = "5 s"
replications = 2
cell.phy = "802.11g"
wire.delay = "500 ms"
station.a.download = 1
station.b.download = 1
station.c.udp_down = { rate = "100 kbps", packet = "200 B", start = "18 s" }
"""


def test_packets_in_flight_are_not_missing() -> None:
    rows = lh.simulate(lh.Scenario(LATE)).stations
    assert rows.fairness_level.isna()["c"]
    early = {"station.c.udp_down.start": "0 s", "station.c.udp_down.stop": "10 s"}
    lossy = {"wire.loss": 0.1, "wire.delay": "1 s"}
    # A tenth of the datagrams is lost, so that the demand is not met.
    # Datagrams that were sent in the warm-up and arrive later do not compensate for this loss.
    rows = lh.simulate(lh.Scenario(LATE), settings={**early, **lossy}).stations
    assert not rows.fairness_level.isna()["c"]


def test_a_queue_that_grows_meets_no_demand() -> None:
    tree = {
        "duration": "10 s",
        "warmup": "1 s",
        "replications": 1,
        "cell": {"phy": "802.11g"},
        "wire": {"rate": "1 Mbps", "queue": 5000},
        "station": {name: {"udp_down": {"rate": "600 kbps"}} for name in ("a", "b")},
    }
    run = lh.simulate(lh.Scenario(tree))
    assert run.flows.loss_probability.max() == 0.0
    assert not run.stations.fairness_level.isna().any()


def test_a_station_that_competes_only_in_some_replications_is_reported() -> None:
    levels = {"a": [1.0, 1.0, 1.0], "b": [2.0, None, 2.0], "c": [None, None, None]}
    stations = {
        name: {"fairness_level": each, "goodput_bps": [1e6, 1e6, 1e6]}
        for name, each in levels.items()
    }
    assert judged(stations) == ["a", "b"]
    [warning] = mixed_demands(stations)
    assert warning.startswith("station b: gets 99 % of its demand in 1 of 3")
    stations["b"]["goodput_bps"] = [1e6, 0.0, 1e6]  # no fairness level without goodput
    assert mixed_demands(stations) == []


def test_fewer_than_two_stations_have_no_index() -> None:
    assert jain([1.0, 3.0]) == 0.8
    assert jain([2.0]) is None
    assert jain([]) is None
    assert jain([0.0, 0.0]) is None


def test_levels_are_relative_to_the_first_competing_station() -> None:
    assert fairness_levels({"a": 6.0, "b": 2.0, "c": 0.0}) == {"a": 1.0, "b": 3.0}
    assert fairness_levels({}) == {}


def test_a_satisfied_station_has_no_part_in_the_fairness_of_a_simulation() -> None:
    run = lh.simulate(lh.Scenario(HOUSEHOLD))
    rows = run.stations
    assert rows.fairness_level.isna()["phone"]
    assert rows.fairness_level["near"] == 1.0
    samples = run.sample_tree
    near, far = (samples["stations"][name]["goodput_bps"] for name in ("near", "far"))
    indices = [jain(pair) for pair in zip(near, far, strict=True)]
    assert samples["cells"]["cell"]["jain"] == pytest.approx(indices)
    levels = [a / b for a, b in zip(near, far, strict=True)]
    assert samples["stations"]["far"]["fairness_level"] == pytest.approx(levels)
    assert sampled(run)["jain"] == pytest.approx(indices)


def test_a_cell_with_a_single_competing_station_has_no_index() -> None:
    run = lh.simulate(lh.Scenario(HOUSEHOLD.split("[station.far]")[0]))
    assert "jain" not in run.cells or run.cells.jain.isna().all()


def test_a_class_compares_only_competing_flows() -> None:
    def of_class(rate: str) -> Any:
        link = {"from": "x", "to": "y", "rate": "1 Mbps", "delay": "10 ms", "queue": 20}
        udp = {"rate": rate, "packet": "1000 B", "arrivals": "poisson"}
        flow = {"from": "x", "to": "y", "count": 3, "udp": udp}
        tree = {"duration": "8 s", "replications": 1, "link": {"l": link}, "flow": {"call": flow}}
        return lh.simulate(tree).summary["classes"][0]

    satisfied = of_class("100 kbps")
    assert "jain" not in satisfied
    assert satisfied["starved_flows"]["mean"] == 0.0
    assert of_class("500 kbps")["jain"]["mean"] > 0.9


@pytest.mark.parametrize(("received", "competes"), [(99, False), (98, True)])
def test_an_emulated_flow_is_judged_by_what_it_has_sent(received: int, competes: bool) -> None:
    scenario = lh.Scenario(HOUSEHOLD).typed
    flow = scenario.flows[0]
    with socket.socket() as first, socket.socket() as other:
        own = Datagrams(flow, first, other, ("", 0), 0.016, None)  # type: ignore[arg-type]
        own.sent = 50
        own.begin_to_count()
        own.sent, own.received_bytes = 150, 200 * received
        assert of_flow(own, 1.0).competes is competes


def test_an_emulation_leaves_out_the_same_stations() -> None:
    scenario = lh.Scenario(HOUSEHOLD).typed
    call = Seen("phone/udp-up/1", "", "phone", "up", 0.1, {}, competes=False)
    near = Seen("near/udp-down/1", "", "near", "down", 3.0, {})
    far = replace(near, name="far/udp-down/1", station="far", goodput_bps=1.0)
    seen = [call, near, far]
    assert cell(scenario, seen, 4.1)["jain"] == 0.8
    known = stations(scenario, seen, 4.1)
    assert "fairness_level" not in known["phone"]
    assert known["far"]["fairness_level"] == 3.0
    assert "jain" not in cell(scenario, seen[:2], 3.1)


def test_a_measured_flow_is_judged_by_the_rate_of_the_scenario() -> None:
    flows = [
        Flow("phone/up/1", "phone", "up", rate_bps=100.0),
        Flow("near/up/1", "near", "up"),
        Flow("far/up/1", "far", "up"),
    ]

    def levels_of(call_bps: float) -> dict[str, float]:
        rates = (call_bps, 300.0, 100.0)
        streams = [Stream(f"s{k}", "up", rate) for k, rate in enumerate(rates)]
        lists = match(flows, ("cells", "cell"), [("", Measurement("f", "iperf3", streams))]).lists
        levels = {
            name: quantities["fairness_level"]["mean"]
            for name, quantities in lists["stations"].items()
            if "fairness_level" in quantities
        }
        return levels | {"jain": lists["cells"]["cell"]["jain"]["mean"]}

    assert levels_of(99.0) == {"near": 1.0, "far": 3.0, "jain": 0.8}
    assert levels_of(50.0) == {
        "phone": 1.0,
        "near": 50 / 300,
        "far": 0.5,
        "jain": jain([50, 300, 100]),
    }
