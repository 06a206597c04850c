"""The complete model of paper 000: fixed points, options, and messages about scenarios that are not
supported.
"""

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lasthop.errors import TooCostlyError
from lasthop.models import ModelError, choose
from lasthop.models.errors import ConvergenceError
from lasthop.models.vbs import PAPER, Options, fixed_point, predict
from lasthop.models.vbs.assumptions import check_cell, check_scenario
from lasthop.models.vbs.picture import picture_of
from lasthop.scenario.typed import read
from lasthop.simulation.simulate import replaced

EXAMPLE = Path(__file__).parents[2] / "examples" / "snr-classes.toml"
UPLOADS = {"station.low.download": 0, "station.low.upload": 1, "station.low.error": 0}


def tree(changes=None):
    return replaced(EXAMPLE, changes or {}).to_dict()


def predicted_with(changes=None, options=None):
    return predicted(json.dumps(changes or {}), options)


@cache
def predicted(changes, options):
    """Return the prediction for the example with changes, as JSON. The object is cached, so callers
    must not modify it.
    """
    return predict(tree(json.loads(changes)), options)


def mean(result, kind, name, quantity):
    (item,) = [item for item in result[kind] if item["name"] == name]
    return item[quantity]["mean"]


def goodput(result, station="low-1"):
    return mean(result, "stations", station, "goodput_bps")


def shared(changes=None, classes=None, **queue):
    """Return the example with virtual buffer sharing, as a normalised scenario."""
    scenario = tree(changes)
    scenario["cell"]["ap"]["queue"] = {
        "discipline": "vbs",
        "limit_packets": 100,
        "occupancy": 0.6,
        "tol_packets2": 0.0001,
        "update_s": None,
        "share_of": "queue",
        "algorithm": "corrected",
        **queue,
    }
    names = [flow["name"] for flow in scenario["flows"]]
    classes = classes or [
        {"name": "high", "share": 0.5, "flows": names[:5]},
        {"name": "low", "share": 0.5, "flows": names[5:]},
    ]
    scenario["cell"]["vbs_classes"] = [row | {"target_share": row["share"]} for row in classes]
    return scenario


@pytest.mark.slow
@pytest.mark.equation("vbs", 5)
@pytest.mark.parametrize("changes", [{}, UPLOADS])
def test_theta_counts_acks_that_return(changes):
    """Packets that the station gives up are not counted. Packets of uploads that the AP drops are
    not counted either.
    """
    errors = {} if changes else {"station.low.error_up": 0.5}
    segments = predicted_with(errors | changes)
    acks = predicted_with(errors | changes, Options(goodput="acks"))
    if changes:
        lost = mean(segments, "queues", "ap", "drop_probability")
        assert 0.01 < lost < 1 - goodput(acks) / goodput(segments) + 0.005
    else:
        lost = mean(segments, "stations", "low-1", "discard_probability")
        assert lost > 0.01
        assert goodput(acks) / goodput(segments) == pytest.approx(1 - lost)


def two_classes(changes, share=0.5, **queue):
    """Return the prediction for two classes of a shared queue: the stations `high` have the target
    share `share`, and the stations `low` have the remaining share.
    """
    flows = tree(changes)["flows"]
    shares = {"high": share, "low": 1.0 - share}
    classes = [
        {"name": name, "share": part, "flows": [f["name"] for f in flows if f["class"] == name]}
        for name, part in shares.items()
    ]
    return predict(shared(changes, classes=classes, **queue))


def test_prediction_has_the_shape_of_a_result():
    result = predicted_with()
    assert (result["kind"], result["model"], result["solutions"]) == ("prediction", "vbs", 1)
    assert json.loads(json.dumps(result)) == result
    for kind in ("flows", "stations", "aps", "queues", "cells"):
        for item in result[kind]:
            estimates = [value for value in item.values() if isinstance(value, dict)]
            assert estimates
            assert all(estimate["ci95"] is None for estimate in estimates)
    assert result["warnings"] == []


def test_parts_and_total_agree():
    result = predicted_with()
    total = mean(result, "cells", "cell", "goodput_bps")
    assert sum(flow["goodput_bps"]["mean"] for flow in result["flows"]) == pytest.approx(total)
    assert sum(flow["goodput_share"]["mean"] for flow in result["flows"]) == pytest.approx(1.0)
    assert goodput(result, "high-3") == goodput(result, "high-1")
    level = mean(result, "stations", "low-1", "fairness_level")
    assert level == pytest.approx(goodput(result, "high-1") / goodput(result))
    # Little's law at the AP's queue holds.
    flow = [mean(result, "flows", name, "rtt_s") for name in ("high-1/down/1", "low-1/down/1")]
    sojourn = mean(result, "queues", "ap", "sojourn_s")
    assert min(flow) > sojourn > 0.97 * max(flow)


@pytest.mark.smoke(1)
@pytest.mark.equation("vbs", 20)
@pytest.mark.parametrize("options", [Options(), Options(losses="independent"), PAPER])
def test_windows_fill_buffer_and_wire(options):
    changes = {"wire.delay": "35 ms"}
    cell = picture_of(read(tree(changes))).cell
    [solution] = fixed_point.solutions(cell, options)
    sent = np.array([flow.sent for flow in solution.responses])
    passed = 1.0 if options.losses == "chain" else 1.0 - solution.overflow
    rate = solution.contention.service_rate
    at_stations = solution.rtt_s - solution.occupancy / rate - 0.07
    held = solution.occupancy + rate * (0.07 + at_stations @ solution.shares)
    assert cell.counts @ (sent * passed) == pytest.approx(held, rel=1e-5)
    if options.losses != "bursts":
        assert solution.occupancy == pytest.approx(100.0)


@pytest.mark.equation("vbs", 17)
def test_shares_are_those_of_the_arrivals():
    [solution] = fixed_point.solutions(picture_of(read(tree())).cell, Options())
    delivered = solution.goodput / (1 - solution.contention.ap_discards)
    assert solution.shares == pytest.approx(delivered / delivered.sum(), rel=1e-5)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("attempts", "error"), [(4, 0.1), (4, 0.3), (8, 0.0), (8, 0.3)])
def test_every_starting_point_leads_to_the_same_solution(attempts, error):
    """Claim vbs-17: the fixed point of the model is the same from every starting point. The test
    uses the corrected equations.
    """
    changes = {"cell.attempts_short": attempts, "station.low.error_down": error}
    for options in (Options(), PAPER):
        assert predicted_with(changes, options)["solutions"] == 1


def test_several_solutions_are_reported(monkeypatch):
    cell = picture_of(read(tree())).cell
    first, second = (
        fixed_point.solve_from(cell, options, next(fixed_point.starts(cell)))
        for options in (Options(), PAPER)
    )
    module = import_module("lasthop.models.vbs.predict")
    monkeypatch.setattr(module, "solutions", lambda *_: [first, second])
    result = predict(tree())
    assert result["solutions"] == 2
    [warning] = [text for text in result["warnings"] if "(section IV-D of" in text]
    assert "2 fixed points" in warning
    assert f"{second.goodput[1]:.1f}/s" in warning


@pytest.mark.slow
def test_classes_differ_by_discards_only():
    """With eight attempts almost no packet is discarded, and the goodputs of the classes are almost
    equal.
    """
    eight = predicted_with({"cell.attempts_short": 8})
    assert 0.98 < goodput(eight) / goodput(eight, "high-1") < 1.0
    assert goodput(predicted_with()) / goodput(predicted_with(), "high-1") == pytest.approx(
        0.62, abs=0.01
    )


@pytest.mark.slow
def test_buffer_loss_falls_as_errors_grow():
    """Claim vbs-8: the loss at the buffer falls as channel errors grow."""
    drops = [
        mean(predicted_with({"station.low.error_down": error}), "queues", "ap", "drop_probability")
        for error in (0.0, 0.1, 0.2, 0.3)
    ]
    assert drops == sorted(drops, reverse=True)
    assert drops[-1] < 0.9 * drops[0]


def test_the_paper_reproduces_its_chain():
    """The mean window E[W] is 10 packets, because ten connections share a buffer of B = 100
    packets. The loss p_b is 0.0171.
    """
    result = predicted_with({"station.low.error_down": 0}, PAPER)
    assert mean(result, "flows", "low-1/down/1", "cwnd_packets") == pytest.approx(10.0, abs=1e-4)
    assert mean(result, "queues", "ap", "drop_probability") == pytest.approx(0.0171, abs=2e-4)


def test_windows_that_fit_the_buffer_lose_nothing():
    result = predicted_with({"cell.ap_queue": 600, "station.low.error_down": 0})
    assert mean(result, "queues", "ap", "drop_probability") == 0.0
    assert mean(result, "flows", "low-1/down/1", "cwnd_packets") == pytest.approx(45.0, rel=1e-3)
    # The windows are 450 packets in total, of which a few are at the stations.
    assert 440 < mean(result, "queues", "ap", "occupancy_packets") < 450


def test_uploads_starve_downloads_at_a_full_buffer():
    result = predicted_with(UPLOADS)
    assert mean(result, "cells", "cell", "updown_ratio") > 50
    assert mean(result, "queues", "ap", "drop_probability") > 0.5
    assert any("VI-C" in warning for warning in result["warnings"])


@pytest.mark.slow
def test_uploads_that_starve_downloads_at_a_short_queue_settle():
    """An iteration with half steps oscillates for this cell. The uploads alternately have 0.12,
    0.98 and 0.99 of the queue.
    """
    errors = {
        f"station.{name}.{key}": value
        for name in ("high", "low")
        for key, value in (("error", 0.2), ("ack_error", 0.0))
    }
    result = predicted_with({**UPLOADS, **errors, "cell.attempts_short": 8, "cell.ap_queue": 50})
    assert result["solutions"] == 1
    assert mean(result, "queues", "ap", "drop_probability") == pytest.approx(0.59, abs=0.01)


def test_losses_that_hardly_count_are_an_answer_or_a_clear_refusal():
    """Check the error message for losses that reduce the window by only 1 %. Then no loss rate
    limits the offered load.
    """
    with pytest.raises(ConvergenceError, match="no loss rate brings the offered load down"):
        predicted_with({"tcp.compound.beta": 0.01})


@pytest.mark.slow
def test_uploads_with_channel_errors_leave_downloads_more():
    """Lost frames of uploads reduce their windows, but lost ACKs do not."""
    ratios = [
        mean(
            predicted_with({**UPLOADS, "station.low.error": error, "station.high.error": error}),
            "cells",
            "cell",
            "updown_ratio",
        )
        for error in (0.1, 0.2, 0.3)
    ]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.slow
def test_virtual_buffer_sharing_gives_the_classes_their_shares():
    result = predict(shared())
    high, low = result["classes"]
    assert low["queue_share"]["mean"] == pytest.approx(0.5)
    # Algorithm 1 fills cB = 60 packets like a drop-tail buffer, so that the mean is below 60.
    # A regulator would keep the mean at 60 packets.
    assert 45 < mean(result, "queues", "ap", "occupancy_packets") < 58
    regulated = predict(shared(algorithm="regulated"))
    assert mean(regulated, "queues", "ap", "occupancy_packets") == pytest.approx(60.0)
    assert regulated["classes"][0]["occupancy_packets"]["mean"] == pytest.approx(30.0)
    # The class with losses on the air loses fewer packets at the queue.
    assert low["drop_probability"]["mean"] < high["drop_probability"]["mean"]
    # The goodput does not include packets that the MAC gives up.
    ratio = low["goodput_bps"]["mean"] / high["goodput_bps"]["mean"]
    assert ratio == pytest.approx(0.9905, abs=2e-3)


def test_h_of_0_526_is_a_ratio_of_1_11():
    """The values are those of table I."""
    names = [flow["name"] for flow in tree()["flows"]]
    classes = [
        {"name": "low", "share": 0.526, "flows": names[5:]},
        {"name": "high", "share": 0.474, "flows": names[:5]},
    ]
    result = predict(shared({"station.low.error_down": 0}, classes))
    low, high = (row["goodput_bps"]["mean"] for row in result["classes"])
    assert low / high == pytest.approx(0.526 / 0.474, rel=1e-3)


def test_it_is_chosen_where_no_other_model_can_answer():
    assert choose(tree()) == "vbs"
    assert choose(shared()) == "vbs"
    # The model `vbs` is chosen so that it reports why it does not support the scenario.
    assert choose(shared(algorithm="printed")) == "vbs"
    reno = {"tcp.congestion": "newreno", "station.low.error_down": 0}
    assert choose(tree(reno)) == "hotspot"
    assert choose(tree(reno | {"station.low.error": 0.1})) == "vbs"
    # The model `hotspot` is chosen so that it reports that it does not support SACK either.
    assert choose(tree({"tcp.sack": True})) == "hotspot"


REFUSED = [
    ({"tcp.sack": True}, "section IV-A", "`station.high.download.sack` = true"),
    ({"tcp.congestion": "cubic"}, "section III-A", "`station.high.download` runs cubic"),
    ({"wire.loss": 0.01}, "assumption 1", "`wire.loss` = 0.01"),
    ({"cell.aifsn": 3}, "section III-B", "`cell.ap.aifsn` = 3"),
    ({"cell.txop_packets": 2}, "section III-B", "`cell.ap` has a txop limit"),
    ({"cell.rts_threshold": "500 B"}, "section VI", "`cell.rts_threshold` enables RTS/CTS"),
    ({"cell.ap_queue.codel": "5 ms"}, "section IV-C", "`cell.ap_queue.codel` manages the queue"),
    ({"station.low.udp_up": "1 Mbps"}, "section III-B", "`station.low.udp_up` is UDP"),
    ({"cell.ap.queue_order": "mixed"}, "section IV-C", "`cell.ap.queue_order` is not fifo"),
    ({"cell.queue": 40}, "section IV-C", "`station.high.queue` has room for 40 of its 45 packets"),
    ({"cell.ap_queue": 30}, "section IV-A", "room for 3.0 packets of each connection"),
    ({"wire.rate": "5 Mbps"}, "assumption 1", "load the wire to"),
    ({"wire.delay": "400 ms"}, "assumption 1", "leave"),
]


@pytest.mark.parametrize(("changes", "assumption", "words"), REFUSED, ids=lambda x: str(x)[:30])
def test_refused_with_the_reason(changes, assumption, words):
    with pytest.raises(ModelError, match=re.escape(words)) as caught:
        predicted_with(changes)
    assert caught.value.assumption == assumption
    assert "\n" not in str(caught.value)


def test_all_reasons_are_named_at_once():
    with pytest.raises(ModelError) as caught:
        predicted_with({"tcp.sack": True, "wire.loss": 0.01})
    assert {assumption for assumption, _ in caught.value.reasons} == {
        "section IV-A",
        "assumption 1",
    }


def test_the_chain_of_eq_3_has_no_uploads():
    with pytest.raises(ModelError, match=r"`station\.low\.upload` is an upload"):
        predicted_with(UPLOADS, PAPER)


@pytest.mark.smoke(1)
@pytest.mark.parametrize("error", [0.1, 0.3])
def test_a_partition_gives_each_class_a_drop_tail_buffer(error):
    """The queue share of a class is its fraction of all queued packets. Each class loses packets at
    the rate at which its windows grow.
    """
    changes = {"station.low.error_down": error}
    result = two_classes(changes, algorithm="partition")
    high, low = result["classes"]
    held = [row["occupancy_packets"]["mean"] for row in (high, low)]
    assert all(20 < packets < 30 for packets in held)
    assert mean(result, "queues", "ap", "occupancy_packets") == pytest.approx(sum(held), rel=1e-6)
    assert low["queue_share"]["mean"] == pytest.approx(held[1] / sum(held), rel=1e-3)
    # The class with losses on the air has a smaller window, and loses fewer packets at its buffer.
    assert low["drop_probability"]["mean"] < high["drop_probability"]["mean"]


def warnings_before_solving(scenario) -> list[str]:
    """Return the warnings about a scenario and its cell, as in a prediction."""
    known, options = read(scenario), Options()
    warnings = check_scenario(known, options) + check_cell(picture_of(known).cell, options)
    return [f"{text} ({assumption} of model vbs)" for assumption, text in warnings]


def test_a_prediction_has_the_warnings_that_are_known_before_solving():
    changes = {"station.low.error": 0.1}
    warnings = warnings_before_solving(tree(changes))
    assert len(warnings) == 1
    assert predicted_with(changes)["warnings"] == warnings


@pytest.mark.parametrize(
    ("delay", "algorithm", "is_warned_of"),
    [("10 ms", "partition", True), ("0 ms", "partition", False), ("10 ms", "regulated", False)],
)
def test_only_a_partition_behind_a_wire_is_warned_of(
    delay: str, algorithm: str, is_warned_of: bool
):
    changes = {"wire.delay": delay, "station.low.error_down": 0.2}
    warnings = str(warnings_before_solving(shared(changes, algorithm=algorithm)))
    assert ("losses are up to 2.2 times those predicted" in warnings) == is_warned_of


def test_a_single_class_in_a_partition_is_a_drop_tail_queue():
    """A buffer of c h B = 60 packets for all connections equals a drop-tail buffer of 60
    packets.
    """
    every = [flow["name"] for flow in tree()["flows"]]
    classes = [{"name": "all", "share": 1.0, "flows": every}]
    partition, plain = (
        predict(shared(classes=classes, algorithm="partition")),
        predicted_with({"cell.ap_queue": 60}),
    )
    for quantity in ("occupancy_packets", "drop_probability"):
        value = mean(partition, "queues", "ap", quantity)
        assert value == pytest.approx(mean(plain, "queues", "ap", quantity), rel=0.02), quantity


def test_a_partition_that_a_class_does_not_fill_blocks_only_the_other():
    """The five windows of 5 packets are 25 packets in total, and the buffer of the class has room
    for 30.
    """
    changes = {"station.low.tcp.window": 5}
    result = two_classes(changes, algorithm="partition")
    high, low = result["classes"]
    assert low["drop_probability"]["mean"] == pytest.approx(0.0, abs=1e-9)
    assert low["occupancy_packets"]["mean"] < 25.0
    assert high["drop_probability"]["mean"] > 0.0


def test_shares_that_a_class_does_not_fill_are_refused():
    with pytest.raises(ModelError, match="class low is 30 packets, but its 5 conn") as no:
        predict(shared({"tcp.window": 5}))
    assert "receive windows are 25 packets in all" in str(no.value)


def test_a_class_that_the_channel_keeps_small_is_refused_with_that_reason():
    """Two connections that lose 1 % on the air have 24 packets in a buffer of 30, also in the
    simulation.
    """
    changes = {"station.high.count": 8, "station.low.count": 2}
    with pytest.raises(ModelError, match=r"the channel loses 0\.9. % of their packets for good"):
        two_classes(changes, algorithm="regulated")


def test_classes_that_fill_their_shares_late_in_the_iteration_are_solved():
    """The classes have three and seven connections at p_w = 0.4. In the simulation 1.29 and 1.96 %
    of their packets are blocked.
    """
    changes = {"station.high.count": 3, "station.low.count": 7, "station.low.error_down": 0.4}
    result = two_classes(changes, algorithm="regulated")
    blocked = [row["drop_probability"]["mean"] for row in result["classes"]]
    assert blocked == pytest.approx([0.0129, 0.0196], rel=0.15)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    ("changes", "share", "words"),
    [
        ({}, 0.1, "target 0.1 of class high is 1.2 packets for each of its 5 connections"),
        ({"tcp.compound.beta": 0.25}, 0.5, "losses with beta = 0.25 are gentle"),
    ],
)
def test_a_solver_that_gives_up_names_the_class_and_another_algorithm(changes, share, words):
    with pytest.raises(ConvergenceError, match=words) as no:
        two_classes(changes, share)
    assert 'algorithm = "regulated"' in str(no.value)
    two_classes(changes, share, algorithm="regulated")


@pytest.mark.slow
def test_growth_of_other_classes_meets_the_classes_above_their_share():
    """The expected values are from a simulation of 400 s: 4.36 and 4.33 % of the packets of the two
    classes are blocked, and the queue has 55.5 packets.
    """
    even = predict(shared({"station.low.error_down": 0.0, "cell.attempts_short": 8}))
    assert [row["drop_probability"]["mean"] for row in even["classes"]] == pytest.approx(
        [0.0436, 0.0433], rel=0.05
    )
    assert even["queues"][0]["occupancy_packets"]["mean"] == pytest.approx(55.5, abs=3.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"algorithm": "printed"}, 'algorithm = "printed"'), ({"share_of": "service"}, "uploads")],
)
def test_sharing_without_a_steady_state_is_refused(change, words):
    with pytest.raises(ModelError, match=words):
        predict(shared(UPLOADS if "share_of" in change else None, **change))


@pytest.mark.slow
def test_reports_of_sensors_are_left_out_with_a_warning():
    scenario = shared()
    flow = {**scenario["flows"][0], "name": "meter/sensor-down/1", "station": "meter"}
    reports = {"every_s": 2.0, "arrivals": "constant", "deadline_s": 2.0}
    flow["sensor"] = {**reports, "tcp": flow.pop("tcp")}
    scenario["flows"].append(flow)
    scenario["stations"].append({**scenario["stations"][0], "name": "meter", "group": "meter"})
    result = predict(scenario)
    assert any("reports of sensors, 0.5 a second" in text for text in result["warnings"])
    assert goodput(result) == goodput(predict(shared()))
    assert "goodput_bps" not in result["stations"][-1]


def test_a_channel_that_changes_has_no_steady_state():
    change = {"station.low.channel": {"rain": {"at": "100 s", "error_down": 0.5}}}
    for model in ("vbs", "hotspot", "edca"):
        module = import_module(f"lasthop.models.{model}")
        with pytest.raises(ModelError, match=r"`station\.low\.channel` changes the channel"):
            module.predict(tree(change))


def test_flows_outside_of_all_shares_are_refused():
    names = [flow["name"] for flow in tree()["flows"]]
    with pytest.raises(ModelError, match="flow low-5/down/1 is in no class"):
        predict(shared(classes=[{"name": "most", "share": 1.0, "flows": names[:9]}]))


WARNED = [
    ({"station.low.error": 0.1}, "assumption 2"),
    ({"wire.delay": "10 ms"}, "the wire holds 15 packets"),
    ({"station.low.download.start": "100 s"}, "flows that start after the warm-up, 5 of 10"),
    ({"cell.ack_timeout": "400 us"}, "ack_timeout"),
]


@pytest.mark.parametrize(("changes", "words"), WARNED, ids=lambda x: str(x)[:30])
def test_near_misses_are_warnings(changes, words):
    assert any(words in warning for warning in warnings_before_solving(tree(changes)))


@pytest.mark.parametrize("name", list(Options().to_dict()))
def test_options_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} = 'other' is none of"):
        Options(**{name: "other"})


def in_one_class(changes=None):
    """Return the prediction with all connections in one class, which equals sharing by direction if
    all flows are downloads.
    """
    names = [flow["name"] for flow in tree()["flows"]]
    return predict(shared(changes, [{"name": "down", "share": 1.0, "flows": names}]))


def test_a_single_class_that_fills_its_part_holds_it():
    result = in_one_class()
    assert mean(result, "classes", "down", "goodput_share") == pytest.approx(1.0)
    assert 45.0 < mean(result, "queues", "ap", "occupancy_packets") <= 60.0


@pytest.mark.slow
def test_a_single_class_that_cannot_fill_its_part_is_a_drop_tail_queue():
    # In five simulations of 420 s, the total goodput is 6.109 +- 0.012 Mb/s.
    # The goodput of station high-1 is 0.971 +- 0.006 Mb/s.
    result, plain = in_one_class({"cell.ap_queue": 1000}), predicted_with({"cell.ap_queue": 600})
    assert goodput(result) == pytest.approx(goodput(plain), rel=1e-6)
    assert mean(result, "cells", "cell", "goodput_bps") == pytest.approx(6.109e6, rel=0.005)
    assert goodput(result, "high-1") == pytest.approx(0.971e6, rel=0.02)


@pytest.mark.parametrize(("limit", "occupancy"), [(1, 0.6), (100, 1e-9)])
@pytest.mark.parametrize("changes", [{}, UPLOADS])
def test_less_than_three_packets_are_refused_before_anything_is_solved(
    limit, occupancy, changes, monkeypatch
):
    monkeypatch.setattr(fixed_point, "solve_from", None)
    with pytest.raises(ModelError, match="assumption 1: the AP's queue is to hold"):
        predict(shared({**changes, "cell.ap_queue": limit}, occupancy=occupancy))


def test_many_kinds_of_connections_are_refused_by_their_number():
    cell = picture_of(read(tree())).cell
    many = fixed_point.replace(cell, classes=cell.classes * 200)
    with pytest.raises(TooCostlyError, match="the shares of 400 kinds of connections would take"):
        fixed_point.solutions(many, Options())


@pytest.mark.slow
def test_growth_by_segments_is_flagged_where_acks_are_delayed():
    def flagged(**tcp):
        warnings = predicted_with({f"tcp.{name}": value for name, value in tcp.items()})["warnings"]
        return any("grow per ACK" in warning for warning in warnings)

    assert flagged(byte_counting=True, delayed_ack=True)
    assert not flagged(byte_counting=False, delayed_ack=True)
    assert not flagged(byte_counting=True, delayed_ack=False)
