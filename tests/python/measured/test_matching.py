"""Which measured stream is which flow: by name, by direction and order, or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.measured.matching import Flow, Measured, match
from lasthop.measured.observed import Measurement, Stream

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
    assert seen.told == [
        "f: up: s1 is a/up/1, by order",
        "f: down: s0 is a/down/1, s2 is b/down/1, by order",
    ]


def test_shares_and_ratios_follow_where_all_was_measured() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("up", 2.0), ("down", 2.0), ("down", 4.0)))])
    stations, cell = seen.items("stations"), seen.items("cells")["cell"]
    assert stations["b"]["goodput_share"]["mean"] == 0.5
    assert stations["b"]["fairness_level"]["mean"] == 1.0
    assert cell["jain"]["mean"] == 1.0
    assert cell["updown_ratio"]["mean"] == pytest.approx(2 / 6)


def test_a_name_takes_its_own_flows_alone() -> None:
    seen = match(FLOWS, CELL, [("b", measurement(("down", 5.0)))])
    assert goodputs(seen, "flows") == {"b/down/1": 5.0}
    assert goodputs(seen, "stations") == {"b": 5.0}
    assert seen.items("cells") == {}


def test_where_counts_differ_only_sums_are_compared() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("up", 1.0), ("down", 5.0)))])
    assert goodputs(seen, "flows") == {"a/up/1": 1.0}
    assert goodputs(seen, "cells") == {"cell": 6.0}
    assert "f: 1 stream down, the scenario has 2: only sums are compared" in seen.told


def test_one_direction_alone_is_no_sum_of_all() -> None:
    seen = match(FLOWS, CELL, [("", measurement(("down", 5.0)))])
    assert seen.lists == {}
    assert seen.told[-1] == "f: nothing up, so that there is no sum of all"


def test_a_direction_that_a_station_has_not_is_left_out() -> None:
    seen = match(FLOWS, CELL, [("b", measurement(("up", 9.0)))])
    assert seen.lists == {}
    assert seen.told == ["f: 1 stream up left out: b has none up"]


def test_several_streams_of_a_flow_are_added() -> None:
    seen = match(FLOWS, CELL, [("b/down/1", measurement(("down", 1.0), ("down", 2.0)))])
    assert goodputs(seen, "flows") == {"b/down/1": 3.0}


def test_files_of_one_name_are_repeats_with_an_interval() -> None:
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


def test_a_name_of_nothing_is_refused() -> None:
    with pytest.raises(UserError, match=r"^measured z=f: no station or flow is called z.* a, b"):
        match(FLOWS, CELL, [("z", measurement(("up", 1.0)))])


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


def test_a_result_of_lasthop_is_taken_by_its_own_names(tmp_path: Path) -> None:
    result = lh.simulate(SMALL)
    path = tmp_path / "result.json"
    path.write_text(result.to_json())
    comparison = lh.compare(SMALL, measured=[path])
    rows = {(row.list, row.name, row.quantity): row for row in comparison.rows}
    row = rows["stations", "near", "goodput_bps"]
    assert row.measured == row.simulated
    assert rows["aps", "ap", "queue_packets"].measured is not None


def test_measured_stands_in_rows_table_json_and_picture(tmp_path: Path) -> None:
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
    told = comparison.to_dict()["measured"]
    assert told["files"] == [str(path)]
    assert told["matched"] == [f"{path}: down: stream 1 is near/down/1, by order"]
    labels = [text for each in comparison.figure().legends for text in each.get_texts()]
    assert "measured" in [text.get_text() for text in labels]
    plain = lh.compare(SMALL)
    assert "measured" not in plain.table.columns
    assert "measured" not in plain.to_dict()


@pytest.mark.parametrize("files", [5, [("a",)], {"up": None}, [b"f"]])
def test_what_names_no_file_is_refused(files: Any) -> None:
    with pytest.raises(UserError, match="is no file"):
        lh.compare(SMALL, measured=files)


def test_one_file_needs_no_list(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^nofile\.json: no such file"):
        lh.compare(SMALL, measured="nofile.json")
