import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lasthop as lh
from lasthop.models import ModelError, predict
from lasthop.models.hotspot.assumptions import CRITICAL_LOSS
from lasthop.models.hotspot.padhye import mean_window


def mean(items, name, quantity):
    (item,) = [item for item in items if item["name"] == name]
    return item[quantity]["mean"]


def set_all(scenario, **tcp):
    for flow in scenario["flows"]:
        flow["tcp"].update(tcp)


def test_prediction_of_uploads_against_downloads(hotspot):
    result = predict(hotspot((6, 0), (0, 1), (0, 1), (0, 1), (0, 1)))
    shares = [item["goodput_share"]["mean"] for item in result["stations"]]
    assert sum(shares) == pytest.approx(1.0)
    assert mean(result["stations"], "sta-1", "fairness_level") == 1.0
    assert mean(result["stations"], "sta-2", "fairness_level") == pytest.approx(
        shares[0] / shares[1]
    )
    assert mean(result["stations"], "sta-1", "queue_packets") == pytest.approx(252 - 75)
    assert mean(result["aps"], "ap", "queue_packets") == 75.0
    assert mean(result["flows"], "sta-1/up/3", "goodput_share") == pytest.approx(shares[0] / 6)
    assert mean(result["flows"], "sta-2/down/1", "goodput_share") == pytest.approx(shares[1])
    loss = mean(result["queues"], "ap", "drop_probability")
    assert mean(result["flows"], "sta-2/down/1", "loss_probability") == loss > 0
    assert mean(result["flows"], "sta-1/up/1", "loss_probability") == 0.0
    assert mean(result["cells"], "cell", "updown_ratio") == pytest.approx(
        shares[0] / (1 - shares[0])
    )
    jain = 1 / (5 * sum(share**2 for share in shares))
    assert mean(result["cells"], "cell", "jain") == pytest.approx(jain)
    assert result["warnings"] == []


def test_prediction_has_the_shape_of_a_result_and_no_rates(hotspot):
    result = predict(hotspot((1, 0), (0, 1)))
    assert result["kind"] == "prediction"
    assert result["model"] == "hotspot"
    assert result["scenario"] == "hot-spot"
    assert json.loads(json.dumps(result)) == result
    assert "_bps" not in json.dumps(result)
    for kind in ("flows", "stations", "aps", "queues", "cells"):
        for item in result[kind]:
            estimates = [value for value in item.values() if isinstance(value, dict)]
            assert estimates
            assert all(estimate["ci95"] is None for estimate in estimates)


def test_a_single_upload_has_everything(hotspot):
    result = predict(hotspot((1, 0)))
    assert mean(result["stations"], "sta-1", "goodput_share") == 1.0
    assert mean(result["stations"], "sta-1", "queue_packets") == pytest.approx(40.0)
    assert mean(result["aps"], "ap", "queue_packets") == pytest.approx(1.0)
    assert any("no other root" in warning for warning in result["warnings"])


def test_a_single_upload_behind_a_wire_has_no_known_queue(hotspot):
    scenario = hotspot((1, 0))
    scenario["wire"]["delay_s"] = 0.01
    result = predict(scenario)
    assert result["queues"] == []
    assert "queue_packets" not in result["aps"][0]
    assert any("no queue is given" in warning for warning in result["warnings"])


def test_uploads_below_beta_1_get_no_fairness_level(hotspot):
    scenario = hotspot((6, 0), (1, 0))
    scenario["cell"]["ap"]["cwmin"] = 29
    result = predict(scenario)
    assert "fairness_level" not in result["stations"][0]
    assert "goodput_share" not in result["stations"][1]
    assert "jain" not in result["cells"][0]
    assert any("no share or fairness level" in warning for warning in result["warnings"])


def test_an_idle_station_gets_nothing_and_is_not_compared(hotspot):
    result = predict(hotspot((0, 2), (0, 0), (0, 1)))
    assert mean(result["stations"], "sta-2", "goodput_share") == 0.0
    assert "fairness_level" not in result["stations"][1]
    assert mean(result["cells"], "cell", "jain") == pytest.approx(9 / (2 * 5))


def test_physical_rate_does_not_matter(hotspot):
    fast, slow = hotspot((0, 3), (0, 1)), hotspot((0, 3), (0, 1))
    slow["stations"][0].update(rate_bps=2_000_000, downlink_rate_bps=2_000_000)
    assert predict(slow) == predict(fast)


def test_access_parameters_set_the_priority(hotspot):
    scenario = hotspot((6, 0), (1, 0), (1, 0), (1, 0), (1, 0))
    for station in scenario["stations"]:
        station["cwmin"] = 29
    scenario["cell"]["ap"]["cwmin"] = 34
    result = predict(scenario)
    assert mean(result["stations"], "sta-2", "fairness_level") == pytest.approx(2.141, abs=0.001)
    assert mean(result["stations"], "sta-1", "queue_packets") == pytest.approx(162, abs=0.2)


def test_a_measured_priority_replaces_the_computed_priority(hotspot):
    """Section 5 measures beta = 1.2. With equal access parameters, the computed beta is 1."""
    scenario = hotspot((6, 0), (1, 0), (1, 0), (1, 0), (1, 0))
    result = predict(scenario, options={"beta": 1.2})
    assert mean(result["stations"], "sta-2", "fairness_level") == pytest.approx(2.143, abs=0.002)
    assert result["options"] == {"beta": 1.2}
    assert predict(scenario, options={"beta": "1.2"}) == result


def test_unequal_connections_of_a_station_add_up(hotspot):
    scenario = hotspot((0, 2), (0, 1))
    scenario["flows"][0]["tcp"]["window_packets"] = 10
    scenario["flows"][1]["tcp"]["window_packets"] = 20
    scenario["flows"][2]["tcp"]["window_packets"] = 15
    result = predict(scenario)  # The 45 segments fit into the AP's queue.
    assert mean(result["stations"], "sta-2", "fairness_level") == pytest.approx(2.0)
    assert mean(result["aps"], "ap", "queue_packets") == pytest.approx(45.0)
    shares = [flow["goodput_share"]["mean"] for flow in result["flows"]]
    assert shares == pytest.approx([10 / 45, 20 / 45, 15 / 45])


def test_a_prediction_takes_milliseconds(hotspot):
    scenario = hotspot((6, 0), *[(0, 1)] * 9)
    predict(scenario)
    start = time.process_time()
    predict(scenario)
    assert time.process_time() - start < 0.05


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_scenario_is_answered_or_refused(hotspot, data):
    is_answered_or_refused(hotspot, data)


@pytest.mark.slow
@settings(
    max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_of_many_scenarios_is_answered_or_refused(hotspot, data):
    is_answered_or_refused(hotspot, data)


def is_answered_or_refused(hotspot, data):
    counts = st.tuples(st.integers(0, 3), st.integers(0, 3))
    scenario = hotspot(*data.draw(st.lists(counts, min_size=1, max_size=4)))
    ap, wire = scenario["cell"]["ap"], scenario["wire"]
    ap["queue_packets"] = data.draw(st.integers(1, 200))
    wire["delay_s"] = data.draw(st.sampled_from([0.0, 0.0, 1e-4, 0.01, 0.1, 5.0]))
    wire["rate_bps"] = data.draw(st.sampled_from([None, 1_000_000, 10_000_000, 1_000_000_000]))
    for node in [ap, *scenario["stations"]]:
        node["cwmin"] = data.draw(st.sampled_from([3, 15, 31, 63]))
    for flow in scenario["flows"]:
        flow["tcp"]["window_packets"] = data.draw(st.sampled_from([1, 2, 7, 42, 1000]))
        flow["tcp"]["delayed_ack"] = data.draw(st.booleans())
    try:
        result = predict(scenario)
    except ModelError:
        return
    shares = [item.get("goodput_share", {"mean": None})["mean"] for item in result["stations"]]
    assert (None in shares) == (shares == [None] * len(shares))
    if None in shares:
        assert any("no other root" in warning for warning in result["warnings"])
        return
    assert sum(shares) == pytest.approx(1.0)
    flows = [flow["goodput_share"]["mean"] for flow in result["flows"]]
    assert min(flows) > 0.0
    assert sum(flows) == pytest.approx(1.0)
    used = sum(share > 0.0 for share in shares)
    if used > 1:  # Jain's index of a single station is not defined.
        assert 1 / used - 1e-9 <= mean(result["cells"], "cell", "jain") <= 1 + 1e-9
    if result["queues"]:
        assert 0.0 <= mean(result["queues"], "ap", "drop_probability") < 1.0
        assert 0.0 < mean(result["aps"], "ap", "queue_packets") <= ap["queue_packets"]


# -- refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["error_up", "error_down"])
def test_channel_errors_are_refused(hotspot, refused, key):
    scenario = hotspot((1, 0), (0, 1))
    scenario["stations"][1][key] = 0.1
    refused(scenario, "a7", f"`station.sta-2.{key}` = 0.1")


def test_a_retry_limit_that_is_met_is_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    scenario["stations"][0]["attempts_short"] = 1
    refused(scenario, "a7", "gives up a frame")


def test_wire_loss_is_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    scenario["wire"]["loss"] = 0.01
    refused(scenario, "a1", "wire loses packets")


def test_a_small_station_buffer_is_refused(hotspot, refused):
    scenario = hotspot((6, 0), (0, 1))
    scenario["stations"][0]["queue_packets"] = 100
    refused(scenario, "a2", "would queue 177 packets in room for 100")


PIE = {
    "target_s": 0.015,
    "update_s": 0.015,
    "alpha_per_s": 0.125,
    "beta_per_s": 1.25,
    "max_burst_s": 0.15,
}
CODEL = {"target_s": 0.005, "interval_s": 0.1, "ce_threshold_s": None}


@pytest.mark.parametrize(("discipline", "settings"), [("pie", PIE), ("codel", CODEL)])
def test_a_managed_queue_is_refused(hotspot, refused, discipline, settings):
    scenario = hotspot((1, 0), (0, 1))
    scenario["cell"]["ap"]["queue"] = {"discipline": discipline, **settings}
    refused(scenario, "a5", f"`cell.ap_queue.{discipline}` manages the queue")


def test_a_threshold_is_a_drop_tail_queue(hotspot):
    scenario = hotspot((1, 0), (0, 1))
    expected = predict(scenario)
    scenario["cell"]["ap"]["queue"] = {"discipline": "threshold", "threshold_packets": 75}
    assert predict(scenario) == expected


def test_tahoe_is_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    set_all(scenario, congestion="tahoe")
    refused(scenario, "a3", "runs tahoe")


AGGREGATING = """\
duration = "10 s"
cell = { phy = "802.11ax", txop_limit = "none", ap_queue = 1000 }
station.up.upload = 2
station.down.download = 2
"""


def test_a_cell_that_loses_nothing_is_predicted_with_any_congestion_control():
    answers = [
        lh.predict(
            lh.Scenario(AGGREGATING, {"tcp.window": 42, "tcp.congestion": congestion}),
            model="hotspot",
            options={"beta": 1.5},
        ).summary
        for congestion in ("reno", "cubic", "tahoe", "compound")
    ]
    assert all(answer["stations"] == answers[0]["stations"] for answer in answers)


def test_default_windows_in_a_cell_that_aggregates_are_refused_with_a_hint():
    with pytest.raises(ModelError, match=r"expected.*smaller `tcp\.window`"):
        lh.predict(AGGREGATING, model="hotspot", options={"beta": 1.5})


def test_datagrams_are_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    flow = scenario["flows"][0]
    del flow["tcp"]
    flow["udp"] = {"arrivals": "greedy", "rate_bps": 0, "payload_bytes": 1472, "header_bytes": 28}
    refused(scenario, "section 3", "is UDP")


def test_finite_flows_are_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    set_all(scenario, segments=100)
    refused(scenario, "section 3", "`station.sta-1.upload.segments` = 100")


def test_every_broken_assumption_is_named(hotspot):
    scenario = hotspot((1, 0), (0, 1))
    set_all(scenario, congestion="tahoe", segments=100)
    scenario["stations"][1]["error_up"] = 0.1
    with pytest.raises(ModelError) as caught:
        predict(scenario)
    tahoe = "runs tahoe; expected `tcp.congestion` = reno or newreno"
    assert caught.value.reasons == (
        ("a7", "the channel loses frames, `station.sta-2.error_up` = 0.1"),
        ("section 3", "`station.sta-1.upload.segments` = 100"),
        ("a3", f"`station.sta-1.upload` {tahoe}"),
        ("section 3", "`station.sta-2.download.segments` = 100"),
        ("a3", f"`station.sta-2.download` {tahoe}"),
    )


def test_an_empty_cell_is_refused(hotspot, refused):
    refused(hotspot((0, 0)), "section 3", "no connection")


def test_a_node_that_is_always_first_is_refused(hotspot, refused):
    scenario = hotspot((1, 0), (0, 1))
    scenario["stations"][0].update(aifsn=40, cwmin=31)
    refused(scenario, "a7", "starves")


# -- flagged ---------------------------------------------------------------------------------


def flagged(scenario, *words):
    warnings = predict(scenario)["warnings"]
    return any(all(word in warning for word in words) for warning in warnings)


def test_newreno_is_flagged(hotspot):
    scenario = hotspot((1, 0), (0, 1))
    set_all(scenario, congestion="newreno")
    assert flagged(scenario, "a3", "NewReno")


def test_immediate_acks_are_flagged_and_solved_with_b_1(hotspot):
    scenario = hotspot((0, 3), (0, 1))
    set_all(scenario, delayed_ack=False)
    assert flagged(scenario, "a3", "b = 1")
    assert mean(predict(scenario)["stations"], "sta-2", "fairness_level") == pytest.approx(3.0)


def test_heavy_loss_is_flagged_as_starvation(hotspot):
    assert flagged(hotspot((2, 0), (2, 0), (2, 0), (0, 1)), "a4", "starvation")
    assert mean_window(CRITICAL_LOSS) == pytest.approx(3.0)


def test_losing_every_ack_of_a_small_window_is_flagged(hotspot):
    scenario = hotspot((6, 0), (6, 0), (6, 0), (6, 0))
    set_all(scenario, window_packets=8)
    assert flagged(scenario, "a4", "every ACK of its window")


def test_an_aggressive_ap_is_flagged(hotspot):
    scenario = hotspot((1, 0), (0, 2))
    scenario["cell"]["ap"]["cwmin"] = 7
    assert flagged(scenario, "a5", "beta = ")


def test_neutral_balance_is_flagged(hotspot):
    assert flagged(hotspot((6, 0), (1, 0)), "every smaller AP queue")


def test_flows_off_the_measured_time_are_flagged(hotspot):
    scenario = hotspot((1, 0), (0, 1))
    scenario["flows"][0]["start_s"] = 60.0
    scenario["flows"][1]["stop_s"] = 90.0
    assert flagged(scenario, "start after the warm-up", "1 of 2")
    assert flagged(scenario, "stop before the end", "1 of 2")


def test_windows_beyond_the_stations_buffer_are_flagged(hotspot):
    scenario = hotspot((6, 0), (0, 1))
    scenario["stations"][0]["queue_packets"] = 200
    assert flagged(scenario, "a2", "may overflow")


def test_a_retry_limit_that_may_be_met_is_flagged(hotspot):
    scenario = hotspot((1, 0), (0, 1))
    scenario["stations"][0].update(attempts_short=2)
    assert flagged(scenario, "a7", "at `attempts_short` = 2; a larger one")


def test_a_window_of_one_waits_for_the_ack_timer(hotspot):
    scenario = hotspot((0, 1), (0, 1))
    set_all(scenario, window_packets=1)
    assert flagged(scenario, "a3", "waits for its timer")


def test_wired_delay_is_flagged(hotspot):
    scenario = hotspot((0, 4), (0, 1))
    scenario["wire"]["delay_s"] = 0.02
    assert flagged(scenario, "a1", "wired delay counts as")


def test_growth_by_segments_is_flagged_where_acks_are_delayed(hotspot):
    scenario = hotspot((0, 3), (0, 1))
    assert not flagged(scenario, "a3", "byte_counting")
    set_all(scenario, byte_counting=True)
    assert flagged(scenario, "a3", "byte_counting")
    set_all(scenario, delayed_ack=False)
    assert not flagged(scenario, "a3", "byte_counting")
