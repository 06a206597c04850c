import json

import pytest

from lasthop.models import ModelError, choose
from lasthop.models.edca import Options, predict
from lasthop.models.edca.predict import cell_of
from lasthop.scenario.typed import read

DATAGRAMS = {"arrivals": "greedy", "rate_bps": 0, "payload_bytes": 1472, "header_bytes": 28}


def mean(result, kind, name, quantity):
    (item,) = [item for item in result[kind] if item["name"] == name]
    return item[quantity]["mean"]


def set_all(scenario, **tcp):
    for flow in scenario["flows"]:
        flow["tcp"].update(tcp)


def set_stations(scenario, **access):
    for station in scenario["stations"]:
        station.update(access)


def test_the_papers_cell(seven):
    result = predict(seven())
    assert mean(result, "cells", "cell", "goodput_bps") == pytest.approx(4.46e6, abs=5e3)
    assert mean(result, "cells", "cell", "active_stations") == pytest.approx(1.238, abs=1e-3)
    assert mean(result, "cells", "cell", "jain") == pytest.approx(1.0)
    assert mean(result, "aps", "ap", "collision_rate") == pytest.approx(0.0554, abs=1e-4)
    assert mean(result, "stations", "sta-3", "collision_rate") == pytest.approx(0.0983, abs=1e-4)
    assert mean(result, "stations", "sta-3", "goodput_share") == pytest.approx(1 / 7)
    assert mean(result, "flows", "sta-3/down/1", "goodput_share") == pytest.approx(1 / 7)
    queued = mean(result, "aps", "ap", "queue_packets")
    assert queued + 7 * mean(result, "stations", "sta-1", "queue_packets") == pytest.approx(28)
    assert result["solver"] == "product"
    assert result["options"]["mean_backoff"] == "CW/2"
    assert result["warnings"] == []


def test_prediction_has_the_shape_of_a_result(seven):
    result = predict(seven())
    assert result["kind"] == "prediction"
    assert result["model"] == "edca"
    assert json.loads(json.dumps(result)) == result
    for kind in ("flows", "stations", "aps", "cells"):
        for item in result[kind]:
            estimates = [value for value in item.values() if isinstance(value, dict)]
            assert estimates
            assert all(estimate["ci95"] is None for estimate in estimates)


def test_frame_times_come_from_the_scenario(seven):
    scenario = seven()
    slow = seven()
    set_stations(slow, rate_bps=5_500_000, downlink_rate_bps=5_500_000)
    goodput = mean(predict(scenario), "cells", "cell", "goodput_bps")
    assert mean(predict(slow), "cells", "cell", "goodput_bps") < 0.7 * goodput


def test_stations_without_flows_do_not_count(seven):
    result = predict(seven(*((0, 1),) * 7, (0, 0)))
    without = predict(seven())
    assert result["stations"][7] == {"name": "sta-8"}
    assert result["cells"] == without["cells"]


def test_uploads_and_downloads_in_one_cell(seven):
    result = predict(seven((1, 0), (1, 0), (0, 1), (0, 1), (0, 1)))
    assert mean(result, "cells", "cell", "updown_ratio") == pytest.approx(2 / 3)
    shares = [item["goodput_share"]["mean"] for item in result["flows"]]
    assert shares == pytest.approx([0.2] * 5)


def test_several_connections_share_their_stations_packets(seven):
    scenario = seven((1, 1), (0, 2))
    scenario["flows"][0]["tcp"]["window_packets"] = 6
    scenario["flows"][1]["tcp"]["window_packets"] = 2
    result = predict(scenario)
    station = mean(result, "stations", "sta-1", "goodput_bps")
    assert station == pytest.approx(mean(result, "stations", "sta-2", "goodput_bps"))
    assert mean(result, "flows", "sta-1/up/1", "goodput_bps") == pytest.approx(0.75 * station)


def test_txop_limits_are_read_from_the_nodes(seven):
    scenario = seven()
    scenario["cell"]["ap"]["txop_packets"] = 4
    set_stations(scenario, txop_packets=4)
    result = predict(scenario)
    assert mean(result, "cells", "cell", "goodput_bps") > 5e6
    assert result["solver"] == "product"
    mixed = predict(scenario, Options(ap_queue="mixed"))
    assert mixed["solver"] == "full"
    assert result["cells"] != mixed["cells"]


def test_pifs_access_is_aifsn_one_and_no_window(seven):
    scenario = seven()
    scenario["cell"]["ap"].update(aifsn=1, cwmin=0, cwmax=0)
    result = predict(scenario)
    assert result["solver"] == "pifs"
    assert mean(result, "aps", "ap", "collision_rate") == 0.0
    # With PIFS access, the AP sends the next packet to the winning station before any station
    # contends. All seven stations are therefore always active.
    assert mean(result, "cells", "cell", "active_stations") == pytest.approx(7.0)
    assert result["warnings"] == []


def test_unequal_aifsn_of_ap_and_stations_is_modelled(seven):
    scenario = seven()
    set_stations(scenario, aifsn=5)
    result = predict(scenario)
    assert result["solver"] == "full"
    assert mean(result, "cells", "cell", "active_stations") > 1.3


def test_txop_limits_in_time_are_turned_into_packets(seven):
    # The ACK exchange of a station takes 506.7 us, and the data exchange of the AP 1568.5 us. SIFS
    # is 10 us.
    def limited(ap_s, station_s):
        scenario = seven()
        for node, limit in ((scenario["cell"]["ap"], ap_s), (scenario["stations"][0], station_s)):
            node.update(txop_packets=None, txop_limit_s=limit)
        set_stations(scenario, txop_packets=None, txop_limit_s=station_s)
        return cell_of(read(scenario), Options())

    exact = limited(2 * 1568.5455e-6 + 10e-6, 4 * 506.7273e-6 + 30e-6)
    assert exact.ap_access.txop_packets == 2
    assert exact.station_access.txop_packets == 4
    short = limited(2 * 1568.5e-6 + 9e-6, 100e-6)
    assert short.ap_access.txop_packets == short.station_access.txop_packets == 1


def test_the_scenarios_queue_order_is_taken(seven):
    scenario = seven()
    scenario["cell"]["ap"].update(txop_packets=4, queue_order="mixed")
    set_stations(scenario, txop_packets=4)
    assert predict(scenario)["solver"] == "full"
    assert predict(scenario, Options(ap_queue="fifo"))["solver"] == "product"


def test_flows_of_another_category_use_its_parameters(seven):
    scenario = seven()
    video = {"aifsn": 2, "cwmin": 15, "cwmax": 31, "txop_packets": 1, "txop_limit_s": None}
    for node in (scenario["cell"]["ap"], *scenario["stations"]):
        node["video"] = video
    for flow in scenario["flows"]:
        flow["category"] = "video"
    assert cell_of(read(scenario), Options()).station_access.cwmin == 15
    scenario["flows"][0]["category"] = "best-effort"
    with pytest.raises(ModelError, match="several categories: best-effort, video"):
        predict(scenario)


# -- which model -----------------------------------------------------------------------------


def test_the_papers_cell_is_edcas_and_the_hot_spot_is_not(seven, hotspot):
    assert choose(seven()) == "edca"
    assert choose(seven((1, 0), (0, 1))) == "edca"
    assert choose(hotspot((6, 0), (0, 1))) == "hotspot"
    assert choose(hotspot((0, 1), (0, 1))) == "hotspot"


def spoil(scenario, how):
    flow, station, cell = scenario["flows"][0], scenario["stations"][0], scenario["cell"]
    match how:
        case "delayed ACKs":
            flow["tcp"]["delayed_ack"] = True
        case "unequal windows":
            flow["tcp"]["window_packets"] = 5
        case "finite flow":
            flow["tcp"]["segments"] = 10
        case "late start":
            flow["start_s"] = 100.0
        case "small AP queue":
            cell["ap"]["queue_packets"] = 27
        case "small station queue":
            station["queue_packets"] = 3
        case "managed queue":
            codel = {"target_s": 0.005, "interval_s": 0.1, "ce_threshold_s": None}
            cell["ap"]["queue"] = {"discipline": "codel", **codel}
        case "wire loss":
            scenario["wire"]["loss"] = 0.01
        case "wire delay":
            scenario["wire"]["delay_s"] = 0.001
        case "ACK processing":
            flow["tcp"]["ack_processing_s"] = 308e-6
        case "channel errors":
            station["error_up"] = 0.1
        case "unequal stations":
            station["cwmin"] = 15


@pytest.mark.parametrize(
    "how",
    [
        "delayed ACKs",
        "unequal windows",
        "finite flow",
        "late start",
        "small AP queue",
        "small station queue",
        "managed queue",
        "wire loss",
        "wire delay",
        "ACK processing",
        "channel errors",
        "unequal stations",
    ],
)
def test_any_reservation_leaves_the_scenario_to_another_model(seven, how):
    scenario = seven()
    spoil(scenario, how)
    assert choose(scenario) == ("vbs" if how == "channel errors" else "hotspot")


def test_two_connections_at_a_station_are_the_hot_spots(seven):
    assert choose(seven((0, 2), (0, 2))) == "hotspot"


# -- refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "assumption", "words"),
    [
        ("delayed ACKs", "a2", "`station.sta-1.download` delays its ACKs"),
        ("unequal windows", "a4", "windows of 4 and 5 packets"),
        ("finite flow", "a4", "`station.sta-1.download.segments` = 10"),
        ("small station queue", "a1", "room for 3 of the 4 packets of `station.sta-1.download`"),
        ("managed queue", "a1", "`cell.ap_queue.codel` manages the queue"),
        ("wire loss", "a3", "wire loses packets"),
        ("channel errors", "a3", "`station.sta-1.error_up` = 0.1"),
        ("unequal stations", "section 2.2", "differ in cwmin, 15 and 31"),
    ],
)
def test_a_broken_assumption_is_refused(seven, how, assumption, words):
    scenario = seven()
    spoil(scenario, how)
    with pytest.raises(ModelError, match=words) as caught:
        predict(scenario)
    assert caught.value.assumption == assumption


def test_all_broken_assumptions_are_named(seven):
    scenario = seven()
    for how in ("delayed ACKs", "finite flow", "wire loss", "channel errors", "unequal stations"):
        spoil(scenario, how)
    with pytest.raises(ModelError) as caught:
        predict(scenario)
    which = [assumption for assumption, _ in caught.value.reasons]
    assert which == ["a4", "a2", "a3", "a3", "section 2.2"]


def test_all_assumptions_that_the_solution_breaks_are_named(seven):
    scenario = seven()
    scenario["cell"]["ap"]["queue_packets"] = 20
    scenario["wire"].update(delay_s=0.05, rate_bps=5_000_000)
    with pytest.raises(ModelError) as caught:
        predict(scenario)
    assert [assumption for assumption, _ in caught.value.reasons] == ["a1", "a5", "a5"]


def test_stations_of_one_table_break_an_assumption_once(seven):
    scenario = seven()
    for station in scenario["stations"]:
        station["group"] = "sta"
    set_all(scenario, delayed_ack=True)
    with pytest.raises(ModelError) as caught:
        predict(scenario)
    assert len(caught.value.reasons) == 1


def test_an_empty_cell_and_datagrams_are_refused(seven):
    with pytest.raises(ModelError, match="no connection"):
        predict(seven((0, 0)))
    scenario = seven()
    del scenario["flows"][0]["tcp"]
    scenario["flows"][0]["udp"] = DATAGRAMS
    with pytest.raises(ModelError, match=r"`station.sta-1.udp_down` is UDP"):
        predict(scenario)


def test_an_ap_queue_that_overflows_is_refused(seven):
    scenario = seven()
    scenario["cell"]["ap"]["queue_packets"] = 27
    with pytest.raises(ModelError, match=r"would be exceeded for 25\.5 % of the time") as caught:
        predict(scenario)
    assert caught.value.assumption == "a1"


def test_a_wire_that_holds_the_packets_is_refused(seven):
    scenario = seven()
    scenario["wire"]["delay_s"] = 0.05
    with pytest.raises(ModelError, match="not the bottleneck") as caught:
        predict(scenario)
    assert caught.value.assumption == "a5"
    scenario = seven()
    scenario["wire"]["rate_bps"] = 5_000_000
    with pytest.raises(ModelError, match="load the wire"):
        predict(scenario)


def test_bursts_with_rts_and_of_unequal_packets_are_refused(seven):
    scenario = seven()
    scenario["cell"]["rts_threshold_bytes"] = 500
    set_stations(scenario, txop_packets=2)
    with pytest.raises(ModelError, match="RTS in a transmission") as caught:
        predict(scenario)
    assert caught.value.assumption == "section 4"
    scenario = seven((1, 0), (0, 1))
    scenario["cell"]["ap"].update(txop_packets=None, txop_limit_s=0.003)
    with pytest.raises(ModelError, match="packets of unequal length"):
        predict(scenario)
    scenario = seven()
    set_stations(scenario, txop_packets=None, txop_limit_s=0.003)
    scenario["stations"][0].update(rate_bps=1_000_000)
    with pytest.raises(ModelError, match="more packets of one station than of another"):
        predict(scenario)


def test_contention_without_any_backoff_is_refused(seven):
    scenario = seven()
    set_stations(scenario, cwmin=0, cwmax=0)
    with pytest.raises(ModelError, match="every attempt") as caught:
        predict(scenario)
    assert caught.value.assumption == "section 2.2"


def test_frames_given_up_often_are_refused(seven):
    scenario = seven()
    scenario["cell"]["ap"].update(cwmin=1, attempts_short=2)
    set_stations(scenario, cwmin=1, attempts_short=2)
    remedy = r"above 2 %, at `cell.ap.attempts_short` = 2; a larger one, or a larger CWmin, lowers"
    with pytest.raises(ModelError, match=remedy):
        predict(scenario)


# -- flagged ---------------------------------------------------------------------------------


def flagged(scenario, *words):
    warnings = predict(scenario)["warnings"]
    return any(all(word in warning for word in words) for warning in warnings)


def test_wire_and_ack_processing_break_an_assumption_together(seven):
    # Each of the two delays stores 8 packets, and the AP's queue has 26.6 packets. One delay stores
    # less than half of the queue, which causes a warning. Both delays in sum store more, so that
    # the prediction is refused.
    for delay_s, processing_s, held in ((0.01, 0.02, 2), (0.01, 0.0, 1), (0.0, 0.02, 1)):
        scenario = seven()
        scenario["wire"]["delay_s"] = delay_s
        set_all(scenario, ack_processing_s=processing_s)
        if held == 1:
            assert flagged(scenario, "a5", "would hold")
            continue
        both = r"`wire.delay`\) would hold .* and the ACK processing of `station.sta-1.download`"
        with pytest.raises(ModelError, match=both):
            predict(scenario)


def test_connections_that_overflow_a_station_together_are_both_named(seven):
    scenario = seven(*((1, 1),) * 7)
    for station in scenario["stations"]:
        station["queue_packets"] = 7
    both = "the 8 packets of `station.sta-1.upload` and `station.sta-1.download`"
    with pytest.raises(ModelError, match=both):
        predict(scenario)


def test_round_trip_is_the_window_over_the_rate_of_segments(seven):
    prediction = predict(seven())
    rate = prediction["cells"][0]["goodput_bps"]["mean"] / 7 / (8 * 1460)
    for flow in prediction["flows"]:
        assert flow["rtt_s"]["mean"] == pytest.approx(4 / rate)


def test_small_windows_are_flagged(seven):
    scenario = seven()
    scenario["cell"]["ap"]["cwmin"] = 7
    assert flagged(scenario, "section 2.2", "CWmin 7 is below 15")


def test_a_short_wire_is_flagged(seven):
    scenario = seven()
    scenario["wire"]["delay_s"] = 0.001
    assert flagged(scenario, "a5", "the wire (`wire.delay`) would hold 0.8 packets")


def test_ack_processing_is_flagged(seven):
    scenario = seven()
    set_all(scenario, ack_processing_s=308e-6)
    assert flagged(scenario, "a5", "processing of `station.sta-1.download` would hold 0.1 packets")


def test_an_ap_queue_that_hardly_ever_overflows_is_flagged(seven):
    scenario = seven()
    scenario["cell"]["ap"].update(queue_packets=27, cwmin=3)
    set_stations(scenario, cwmin=255)
    assert flagged(scenario, "a1", "`cell.ap_queue` = 27")


def test_bursts_that_fifo_cannot_hold_together_are_flagged(seven):
    scenario = seven()
    set_stations(scenario, txop_packets=3)
    assert flagged(scenario, "section 4", "does not divide")


def test_flows_off_the_measured_time_are_flagged(seven):
    scenario = seven()
    scenario["flows"][0]["start_s"] = 60.0
    scenario["flows"][1]["stop_s"] = 90.0
    assert flagged(scenario, "start after the warm-up", "1 of 7")
    assert flagged(scenario, "stop before the end", "1 of 7")


def test_another_ack_timeout_is_flagged(seven):
    scenario = seven()
    scenario["cell"]["ack_timeout_s"] = 60e-6
    assert flagged(scenario, "ack_timeout")


def test_cf_end_frames_are_flagged_where_an_opportunity_has_a_limit_in_time(seven):
    scenario = seven()
    scenario["cell"]["cf_end"] = True
    set_stations(scenario, txop_limit_s=1.6e-3)
    assert flagged(scenario, "CF-End")


def test_frames_given_up_now_and_then_are_flagged(seven):
    scenario = seven()
    scenario["cell"]["ap"].update(cwmin=3)
    set_stations(scenario, cwmin=3)
    assert flagged(scenario, "a3", "gives up a frame")


def test_txop_in_a_large_cell_is_flagged(seven):
    scenario = seven(*((0, 1),) * 12)
    set_all(scenario, window_packets=12)
    scenario["cell"]["ap"]["txop_packets"] = 3
    assert flagged(scenario, "section 4.1", "0.6 % in goodput")
    scenario["cell"]["ap"]["txop_packets"] = 100  # The TXOP limit exceeds half of all packets.
    assert flagged(scenario, "section 4.1", "1.6 % in goodput")
