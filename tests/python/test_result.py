import json
import math

import pytest

import lasthop as lh

from .conftest import SMALL


def test_tables_have_the_units_in_their_columns(small_result: lh.Result) -> None:
    stations = small_result.stations
    assert list(stations.index) == ["near", "far"]
    item = small_result.summary["stations"][0]
    assert stations.loc["near", "goodput_bps"] == item["goodput_bps"]["mean"]
    assert stations.loc["near", "goodput_bps_ci95"] == item["goodput_bps"]["ci95"]


@pytest.mark.parametrize("name", ["flows", "stations", "aps", "queues", "cells", "totals"])
def test_every_list_is_a_table(small_result: lh.Result, name: str) -> None:
    table = getattr(small_result, name)
    assert len(table) == len(small_result.summary[name]) > 0


def test_one_replication_has_no_interval() -> None:
    result = lh.simulate(SMALL, replications=1)
    assert math.isnan(result.stations.loc["near", "goodput_bps_ci95"])


def test_samples_have_the_means_of_the_tables(small_result: lh.Result) -> None:
    samples = small_result.samples
    chosen = samples[
        (samples["list"] == "stations")
        & (samples["name"] == "far")
        & (samples["quantity"] == "goodput_bps")
    ]
    assert list(chosen["replication"]) == [0, 1, 2]
    mean = small_result.stations.loc["far", "goodput_bps"]
    assert chosen["value"].mean() == pytest.approx(mean, rel=1e-12)


def test_series_are_sampled_at_the_interval(small_result: lh.Result) -> None:
    series = small_result.series
    ap = series[(series["list"] == "queues") & (series["name"] == "ap")]
    steps = ap["time_s"].diff().dropna()
    assert steps.to_list() == pytest.approx([0.1] * len(steps))
    assert ap["time_s"].max() <= 4.0


def test_no_series_unless_asked() -> None:
    assert lh.simulate(SMALL).series.empty


def test_a_track_is_found_by_its_names(small_result: lh.Result) -> None:
    times, packets = small_result.track("queues", "ap", "occupancy_packets")
    assert len(times) == len(packets) > 30
    assert ("queues", "ap", "occupancy_packets") in small_result.tracks


def test_a_missing_track_is_refused_with_similar_names(small_result: lh.Result) -> None:
    with pytest.raises(lh.UserError) as caught:
        small_result.track("queues", "ap", "occupancy")
    text = str(caught.value)
    assert text.startswith("no series of queues, ap, occupancy; the nearest are queues, ap, occu")
    assert text.count(";") == 3  # four of many series
    with pytest.raises(lh.UserError, match="no series of x, y, z; the nearest are "):
        small_result.track("x", "y", "z")
    with pytest.raises(lh.UserError, match="no series were sampled") as caught:
        lh.simulate(SMALL, replications=1).track("queues", "ap", "occupancy_packets")
    assert caught.value.hint == "ask for them: simulate(..., series='0.1 s')"


def test_json_is_the_summary(small_result: lh.Result) -> None:
    assert json.loads(small_result.to_json()) == small_result.to_dict() == small_result.summary
    assert small_result.to_json().endswith("}\n")


def test_shares_add_up_to_one(small_result: lh.Result) -> None:
    assert small_result.stations["goodput_share"].sum() == pytest.approx(1, rel=1e-12)
