"""Pings as flows: they measure the network, and are no traffic that shares capacity or suffers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lasthop as lh
from lasthop.errors import ModelError
from lasthop.scenario.typed import PingFlow

RUN = {"duration": "8 s", "warmup": "1 s", "replications": 2}
CELL = {**RUN, "cell": {"phy": "802.11g"}, "wire": {"rate": "10 Mbps", "delay": "5 ms"}}
QUANTITIES = ("rtt_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "loss_probability")

Tree = dict[str, Any]


def with_pings(stations: Tree, every: str = "100 ms") -> Tree:
    """Return a cell whose stations ping, in addition to their traffic."""
    return {**CELL, "station": {name: own | {"ping": every} for name, own in stations.items()}}


BULK: Tree = {"a": {"download": 1}, "b": {"download": 2}}


def test_a_ping_has_its_own_quantities_in_order() -> None:
    result = lh.simulate(with_pings(BULK))
    for name in ("a/ping/1", "b/ping/1"):
        ping = result.flows.loc[name]
        assert np.isnan(ping["goodput_bps"])
        assert np.isnan(ping["goodput_share"])
        assert 0.1 < ping["rtt_s"] < 0.17  # three windows of 42 segments at 10 Mb/s take 0.15 s
        assert ping["rtt_p50_s"] <= ping["rtt_p95_s"] <= ping["rtt_p99_s"]
        assert ping["loss_probability"] == 0.0
    assert result.flows["goodput_share"].sum() == pytest.approx(1.0)


def test_pings_change_shares_only_by_their_load() -> None:
    with_them = lh.simulate(with_pings(BULK, every="1 s"))
    without = lh.simulate({**CELL, "station": BULK})
    for quantity in ("jain", "goodput_bps"):
        values = [each.cells.loc["cell", quantity] for each in (with_them, without)]
        assert values[0] == pytest.approx(values[1], rel=0.05)
    idle = lh.simulate(with_pings({**BULK, "idle": {}}))
    assert idle.cells.loc["cell", "jain"] > 0.7  # 2/3 with a third station of goodput 0
    assert np.isnan(idle.stations.loc["idle", "fairness_level"])


def test_pings_between_wired_nodes_are_a_class() -> None:
    tree = {
        **RUN,
        "link": {"l": {"from": "x", "to": "y", "rate": "10 Mbps", "delay": "5 ms", "queue": 50}},
        "flow": {
            "probe": {"from": "x", "to": "y", "ping": "50 ms", "count": 3},
            "bulk": {"from": "x", "to": "y", "count": 2},
        },
    }
    result = lh.simulate(tree)
    probe = result.classes.loc["probe"]
    each = result.flows.loc[["probe-1", "probe-2", "probe-3"]]
    assert probe["rtt_s"] == pytest.approx(each["rtt_s"].mean(), rel=0.02)
    assert probe["rtt_p99_s"] == pytest.approx(each["rtt_p99_s"].mean(), rel=0.02)
    assert result.classes.loc["bulk", "jain"] > 0.5


def test_recorded_series_have_the_round_trips() -> None:
    tree = with_pings(BULK) | {"record": {"series_interval": "100 ms"}}
    result = lh.simulate(tree)
    series = result.series[result.series["name"] == "a/ping/1"]
    times = series["value"].dropna()
    assert len(times) > 60
    assert times.between(0.01, 0.2).all()
    known = [track for track in result.tracks if track[1] == "a/ping/1"]
    assert known == [("flows", "a/ping/1", "rtt_s")]


def test_a_ping_that_stops_is_not_lost() -> None:
    tree = with_pings({"a": {}})
    tree["station"]["a"]["ping"] = {"every": "100 ms", "start": "2 s", "stop": "4 s"}
    ping = lh.simulate(tree).flows.loc["a/ping/1"]
    assert ping["loss_probability"] == 0.0
    assert ping["rtt_s"] > 0.01


def test_explanations_ignore_pings() -> None:
    from lasthop.explanation.objectives import default_objective
    from lasthop.explanation.traffic import flows_of

    for stations, objective in ((BULK, "delay"), ({"a": {"call": 1}}, "calls")):
        scenario = lh.Scenario(with_pings(stations))
        assert default_objective(scenario) == objective
        assert not any(isinstance(flow, PingFlow) for flow in flows_of(scenario, None))
    explanation = lh.explain(with_pings(BULK), objective="fairness", remedies=False)
    assert "ping" not in str(explanation.facts)


def test_only_pings_have_nothing_to_explain() -> None:
    for objective in (None, "fairness", "delay", "calls", "throughput"):
        with pytest.raises(lh.UserError, match="no flow other than pings"):
            lh.explain(with_pings({"a": {}}), objective=objective)


@pytest.mark.parametrize(
    "stations", [BULK, {"a": {"udp_up": "greedy"}, "b": {"udp_up": "greedy"}}], ids=["tcp", "udp"]
)
def test_models_leave_pings_out_with_a_warning(stations: Tree) -> None:
    tree = with_pings(stations, every="500 ms")
    tree["wire"] = {"delay": "5 ms"}
    plain = {**tree, "station": stations}
    prediction, other = lh.predict(tree), lh.predict(plain)
    assert prediction.model == other.model
    assert prediction.stations.equals(other.stations)
    assert prediction.warnings[0] == (
        "4 pings per second are left out: no model predicts their RTT"
    )
    assert "a/ping/1" not in prediction.flows.index


def test_a_scenario_of_pings_only_has_no_prediction() -> None:
    with pytest.raises(ModelError, match="only pings, which no model predicts"):
        lh.predict(with_pings({"a": {}}))


def test_a_comparison_has_rows_of_pings() -> None:
    rows = lh.compare(with_pings(BULK)).rows
    own = [row.quantity for row in rows if row.name == "a/ping/1"]
    assert own == list(QUANTITIES)


def test_a_sweep_and_its_picture_have_the_round_trips(tmp_path: Path) -> None:
    tree = with_pings({"a": {}, "b": {}})
    sweep = lh.sweep(tree, {"wire.delay": ["5 ms", "20 ms"]})
    times = [point.summary["flows"][0]["rtt_s"]["mean"] for point in sweep.points]
    assert times[1] - times[0] == pytest.approx(0.03, abs=0.0005)
    sweep.plot().savefig(tmp_path / "x.svg")
    assert "within [ms]" in (tmp_path / "x.svg").read_text()


def test_the_picture_of_a_result_has_a_panel_of_pings(tmp_path: Path) -> None:
    figure = lh.simulate(with_pings({"a": {"download": 1}})).plot()
    titles = [axes.get_title() or axes.get_title(loc="left") for axes in figure.axes]
    assert any("Round trips of pings" in title for title in titles), titles


def test_a_what_if_shows_the_slowest_pings() -> None:
    what_if = lh.what_if(with_pings(BULK), {"slower": {"wire.delay": "30 ms"}})
    assert any(measure.quantity == "rtt_p99_s" for measure in what_if.measures)


def test_tuning_does_not_count_pings_as_connections() -> None:
    from lasthop.tuning.categories import cell_flows
    from lasthop.tuning.measures import sampled

    scenario = lh.Scenario(with_pings(BULK))
    assert {flow.name for flow in cell_flows(scenario)} == {"a/down/1", "b/down/1", "b/down/2"}
    result = lh.simulate(scenario)
    tcp = result.flows.loc[["a/down/1", "b/down/1", "b/down/2"], "rtt_s"].mean()
    assert np.mean(sampled(result)["rtt_s"]) == pytest.approx(tcp)
    assert np.mean(sampled(result)["starved_flows"]) == 0.0
