"""Measured streams match flows by name, or by direction and order, or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.measured.matching import Flow, Measured, match
from lasthop.measured.observed import Measurement, Queue, Stream
from lasthop.measured.qdiscs import Queues

FLOWS = [
    Flow("a/up/1", "a", "up"),
    Flow("a/down/1", "a", "down"),
    Flow("b/down/1", "b", "down"),
]
CELL = ("cells", "cell")


def measurement(*streams: tuple[str, float], source: str = "f") -> Measurement:
    return Measurement(
        source, "iperf3", [Stream(f"s{k}", way, rate) for k, (way, rate) in enumerate(streams)]
    )


def goodputs(measured: Measured, list_name: str) -> dict[str, float]:
    return {name: item["goodput_bps"]["mean"] for name, item in measured.items(list_name).items()}


def test_without_a_name_streams_are_the_flows_in_order_of_each_direction() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("down", 2.0), ("up", 1.0), ("down", 3.0)))])
    assert goodputs(seen, "flows") == {"a/up/1": 1.0, "a/down/1": 2.0, "b/down/1": 3.0}
    assert goodputs(seen, "stations") == {"a": 3.0, "b": 3.0}
    assert goodputs(seen, "cells") == {"cell": 6.0}
    assert seen.matched == [
        "f: up: s1 is a/up/1, by order",
        "f: down: s0 is a/down/1, s2 is b/down/1, by order",
    ]


def test_shares_and_ratios_follow_if_all_flows_were_measured() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("up", 2.0), ("down", 2.0), ("down", 4.0)))])
    stations, cell = seen.items("stations"), seen.items("cells")["cell"]
    assert stations["b"]["goodput_share"]["mean"] == 0.5
    assert stations["b"]["fairness_level"]["mean"] == 1.0
    assert cell["jain"]["mean"] == 1.0
    assert cell["updown_ratio"]["mean"] == pytest.approx(2 / 6)


def test_a_name_matches_only_its_own_flows() -> None:
    seen = match(FLOWS, CELL, [("b", measurement(("down", 5.0)))])
    assert goodputs(seen, "flows") == {"b/down/1": 5.0}
    assert goodputs(seen, "stations") == {"b": 5.0}
    assert seen.items("cells") == {}


def test_with_different_counts_only_sums_are_compared() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("up", 1.0), ("down", 5.0)))])
    assert goodputs(seen, "flows") == {"a/up/1": 1.0}
    assert goodputs(seen, "cells") == {"cell": 6.0}
    assert "f: 1 stream down, the scenario has 2: only sums are compared" in seen.matched


def test_a_single_direction_is_not_the_total() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("down", 5.0)))])
    assert seen.lists == {}
    assert seen.matched[-1] == "f: nothing up, so that there is no sum of all"


def test_a_direction_without_flows_is_left_out() -> None:
    seen = match(FLOWS, CELL, [("b", measurement(("up", 9.0)))])
    assert seen.lists == {}
    assert seen.matched == ["f: 1 stream up left out: b has none up"]
    assert seen.unused == [
        "--measured b=f: nothing of this file is compared: its streams go up, and flows of b go "
        "down"
    ]
    used = match(FLOWS, CELL, [("b", measurement(("down", 9.0)))])
    assert used.unused == []


def test_several_streams_of_a_flow_are_added() -> None:
    seen = match(FLOWS, CELL, [("b/down/1", measurement(("down", 1.0), ("down", 2.0)))])
    assert goodputs(seen, "flows") == {"b/down/1": 3.0}


def test_files_with_the_same_name_are_repetitions_with_an_interval() -> None:
    given = [("b", measurement(("down", rate))) for rate in (1.0, 2.0, 3.0)]
    value = match(FLOWS, CELL, given).items("flows")["b/down/1"]["goodput_bps"]
    assert value["mean"] == 2.0
    assert value["ci95"] == pytest.approx(4.303 / 3**0.5, rel=1e-3)
    station = match(FLOWS, CELL, given).items("stations")["b"]["goodput_bps"]
    assert station == value


def test_a_group_is_named_by_its_table() -> None:
    flows = [Flow(f"others-{k}/down/1", f"others-{k}", "down") for k in (1, 2)]
    seen = match(flows, CELL, [("others", measurement(("down", 1.0), ("down", 2.0)))])
    assert goodputs(seen, "stations") == {"others-1": 1.0, "others-2": 2.0}


def test_a_name_without_an_item_is_refused() -> None:
    with pytest.raises(UserError, match=r"^measured z=f: no station or flow is called z.* a, b"):
        match(FLOWS, CELL, [("z", measurement(("up", 1.0)))])


def test_datagrams_are_not_compared_with_connections() -> None:
    """A call and an upload are two streams up. Only one of them is UDP, so that they can be
    distinguished.
    """
    flows = [Flow("a/up/1", "a", "up"), Flow("a/udp-up/1", "a", "up", transport="udp")]
    call = Stream("VoIP", "up", 7e4, one_way_delay_s=0.03, transport="udp")
    streams = [call, Stream("TCP upload", "up", 5e6)]
    seen = match(flows, CELL, [("a", Measurement("f", "flent", streams))])
    assert goodputs(seen, "flows") == {"a/up/1": 5e6, "a/udp-up/1": 7e4}
    assert seen.items("flows")["a/udp-up/1"]["one_way_delay_s"]["mean"] == 0.03
    left = match(flows[:1], CELL, [("a", Measurement("f", "flent", streams))])
    assert "f: 1 UDP stream up left out: a has none up" in left.matched
    assert goodputs(left, "stations") == {"a": 5e6}


def test_a_sum_has_no_streams_that_are_left_out() -> None:
    flows = [Flow("a/up/1", "a", "up"), Flow("a/up/2", "a", "up")]
    seen = match(flows, CELL, [("a", measurement(("up", 3.0), ("down", 9.0)))])
    assert goodputs(seen, "stations") == {"a": 3.0}


def test_reports_and_web_connections_are_not_matched() -> None:
    flows = [Flow("a/up/1", "a", "up"), Flow("a/sensor-up/1", "a", "up", transport="other")]
    seen = match(flows, CELL, [("a", measurement(("up", 3.0)))])
    assert goodputs(seen, "flows") == {"a/up/1": 3.0}


def with_qdiscs(*hosts: str, name: str = "", queues: Queues) -> Measured:
    qdiscs = [Queue(host, sojourn_s=0.02, packets=5.0, drop_probability=0.1) for host in hosts]
    flows = [Flow("a/up/1", "a", "up"), Flow("b/up/1", "b", "up")]
    return match(flows, CELL, [(name, Measurement("f", "flent", queues=qdiscs))], queues)


CELL_QUEUES = Queues(["a", "b"], ["ap"])
LINE_QUEUES = Queues(["a", "b"], ["ap", "wire/down", "wire/up"])


@pytest.mark.parametrize(
    ("host", "name", "queues", "queue"),
    [
        ("wire/up", "", LINE_QUEUES, "wire/up"),
        ("router", "wire/up", LINE_QUEUES, "wire/up"),
        ("router", "a", CELL_QUEUES, "ap"),
        ("", "a", LINE_QUEUES, "a"),
        ("router", "a", LINE_QUEUES, None),
        ("", "", LINE_QUEUES, None),
    ],
)
def test_a_qdisc_matches_a_queue_by_name_or_if_there_is_only_one_queue(
    host: str, name: str, queues: Queues, queue: str | None
) -> None:
    seen = with_qdiscs(host, name=name, queues=queues)
    assert seen.qdiscs == frozenset([queue] if queue else [])
    if queue is None:
        assert "mean delay 20 ms, 5 packets: left out; --measured NAME=FILE" in seen.matched[-1]
        return
    assert seen.items("queues")[queue]["sojourn_s"]["mean"] == 0.02
    place, quantity = {"ap": ("aps", "queue_packets"), "a": ("stations", "queue_packets")}.get(
        queue, ("queues", "occupancy_packets")
    )
    assert seen.items(place)[queue][quantity]["mean"] == 5.0


SMALL = """\
duration = "2 s"
warmup = "0.5 s"
replications = 2
cell = { phy = "802.11b" }
[station.near]
download = 1
[station.far]
upload = 1
"""


def test_a_result_of_lasthop_is_matched_by_its_own_names(tmp_path: Path) -> None:
    result = lh.simulate(SMALL)
    path = tmp_path / "result.json"
    path.write_text(result.to_json())
    comparison = lh.compare(SMALL, measured=[path])
    rows = {(row.list, row.name, row.quantity): row for row in comparison.rows}
    row = rows["stations", "near", "goodput_bps"]
    assert row.measured == row.simulated
    assert rows["aps", "ap", "queue_packets"].measured is not None


def test_a_result_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(lh.simulate(SMALL).to_dict() | {"format": 2}))
    with pytest.raises(lh.UserError, match=r"result\.json: `format`: 2 is newer than"):
        lh.compare(SMALL, measured=[path])


def test_measurements_are_in_rows_table_json_and_picture(tmp_path: Path) -> None:
    path = tmp_path / "near.json"
    stream = {"sender": {"sender": False, "mean_rtt": 9000}, "receiver": {"bits_per_second": 3e6}}
    tree = {"start": {"test_start": {"reverse": 1}}, "end": {"streams": [stream]}}
    path.write_text(json.dumps(tree))
    comparison = lh.compare(SMALL, measured={"near": path})
    rows = {(row.list, row.name, row.quantity): row for row in comparison.rows}
    assert rows["stations", "near", "goodput_bps"].measured == 3e6
    assert rows["flows", "near/down/1", "rtt_s"].measured == pytest.approx(0.009)
    assert rows["stations", "far", "goodput_bps"].measured is None
    assert "measured" in comparison.table.columns
    section = comparison.to_dict()["measured"]
    assert section["files"] == [str(path)]
    assert section["matched"] == [f"{path}: down: stream 1 is near/down/1, by order"]
    labels = [text for each in comparison.figure().legends for text in each.get_texts()]
    assert "measured" in [text.get_text() for text in labels]
    plain = lh.compare(SMALL)
    assert "measured" not in plain.table.columns
    assert "measured" not in plain.to_dict()


def test_several_streams_of_a_direction_and_of_a_group_are_drawn(tmp_path: Path) -> None:
    """Draw measured streams that cannot be matched to single flows by name. They are compared with
    all flows of a direction and of a group of stations.
    """
    scenario = SMALL.replace("download = 1", "upload = 2\ndownload = 1").replace(
        "upload = 1\n", "count = 2\nupload = 1\n"
    )
    results = {"TCP upload 1": [1.0], "TCP upload 2": [2.0], "TCP download": [4.0]}
    for name, streams in {
        "near": results,
        "far": {k: results[k] for k in list(results)[:2]},
    }.items():
        (tmp_path / name).write_text(json.dumps({"results": streams, "x_values": [0]}))
    files = {name: tmp_path / name for name in ("near", "far")}
    comparison = lh.compare(scenario, measured=files)
    rows = {(row.list, row.name, row.quantity): row.measured for row in comparison.rows}
    assert rows["stations", "near", "goodput_bps"] == 7e6
    assert rows["stations", "far-2", "goodput_bps"] == 2e6
    assert comparison.figure().legends


def test_a_measured_qdisc_has_a_row_of_its_own(tmp_path: Path) -> None:
    results = {"qdisc_stats_router::delay": [10.0], "qdisc_stats_router::backlog_pkts": [4.0]}
    path = tmp_path / "x.flent"
    path.write_text(json.dumps({"results": results, "x_values": [0]}))
    comparison = lh.compare(SMALL, measured=path)
    rows = {(row.list, row.name, row.quantity): row for row in comparison.rows}
    assert rows["queues", "ap", "sojourn_s"].measured == 0.01
    assert rows["aps", "ap", "queue_packets"].measured == 4.0
    shown = [row.quantity for row in comparison.rows if not comparison.repeats_a_node(row)]
    assert shown.count("sojourn_s") == 1
    assert "occupancy_packets" not in shown


@pytest.mark.parametrize("files", [5, [("a",)], {"up": None}, [b"f"]])
def test_an_argument_without_a_file_is_refused(files: Any) -> None:
    with pytest.raises(UserError, match="is not a file"):
        lh.compare(SMALL, measured=files)


def test_a_single_file_needs_no_list(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^nofile\.json: no such file"):
        lh.compare(SMALL, measured="nofile.json")


ACCESS = {"a": "best-effort", "v": "voice", "k": "background", "d": "video"}
IN_CLASSES = [Flow(f"{name}/up/1", name, "up", category=own) for name, own in ACCESS.items()]


def in_classes(*categories: str) -> Measurement:
    rates = enumerate(categories, 1)
    return Measurement(
        "f", "flent", [Stream(f"s{k}", "up", float(k), category=own) for k, own in rates]
    )


def test_streams_with_a_category_in_their_name_are_flows_of_that_category() -> None:
    order = ("best-effort", "background", "video", "voice")
    seen = match(IN_CLASSES, CELL, [("", in_classes(*order))])
    assert goodputs(seen, "flows") == {"a/up/1": 1, "k/up/1": 2, "d/up/1": 3, "v/up/1": 4}
    assert seen.matched == [
        "f: up: s1 is a/up/1, s2 is k/up/1, s3 is d/up/1, s4 is v/up/1, by access category"
    ]


@pytest.mark.parametrize(
    ("flows", "categories", "how"),
    [
        (IN_CLASSES, ("", "background", "video", "voice"), "not all names of streams contain"),
        (IN_CLASSES, ("voice", "background", "video", "voice"), "streams and flows have different"),
        (IN_CLASSES[:1], ("voice",), "streams and flows have different"),
        (IN_CLASSES[:1], ("",), None),
        (FLOWS[:1], ("voice",), None),
    ],
)
def test_other_streams_are_matched_by_order_with_the_reason(
    flows: list[Flow], categories: tuple[str, ...], how: str | None
) -> None:
    seen = match(flows, CELL, [("", in_classes(*categories))])
    rates = {flow.name: float(k) for k, flow in enumerate(flows, 1)}
    assert goodputs(seen, "flows") == rates
    [note] = seen.matched
    assert note.endswith("by order") if how is None else f", by order, since {how}" in note
