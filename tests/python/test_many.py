"""Many scenarios at once give the numbers of each scenario alone, as arrays."""

import os
import pickle
import signal
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lasthop as lh

from .conftest import CALL, SMALL

QUICK = SMALL.replace('duration = "4 s"', 'duration = "2 s"').replace("replications = 3\n", "")

AGGREGATES = {
    "duration": "1 s",
    "warmup": "0.5 s",
    "cell": {"phy": "802.11ax"},
    "station": {"reader": {"count": 4, "mcs": 7, "download": 1}},
}

WIRED = {
    "duration": "2 s",
    "warmup": "1 s",
    "dumbbell": {"flows": 3, "bottleneck": "2 Mbps", "rtt": "20 ms"},
}

LONG = SMALL.replace('duration = "4 s"', 'duration = "100000 s"')


def of_one(result: lh.Result, quantity: str) -> dict[str, float]:
    """Return the values of a quantity in a single result, by name of the item."""
    list_name, _, name = quantity.partition(".")
    items = result.summary.get(list_name, [])
    return {item["name"]: item.get(name, {"mean": np.nan})["mean"] for item in items}


def assert_equal_to_single_runs(
    many: lh.ArrayResult, scenarios: Sequence[Any], options: Sequence[Mapping[str, Any]]
) -> None:
    singles = [lh.simulate(each, **own) for each, own in zip(scenarios, options, strict=True)]
    assert many.is_finished.tolist() == [True] * len(singles)
    for quantity, array in many.items():
        names = many.names(quantity)
        rows = array.reshape(len(singles), len(names))
        for single, row in zip(singles, rows, strict=True):
            expected = of_one(single, quantity)
            assert set(expected) <= set(names)
            values = np.array([expected.get(name, np.nan) for name in names])
            assert row.tobytes() == values.tobytes(), quantity


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_values_are_those_of_single_runs_to_the_last_bit(jobs: int) -> None:
    windows = [3, 31, 3, 127, 31, 15]
    many = lh.simulate_many(
        QUICK,
        quantities=[
            "cells.jain",
            "stations.goodput_bps",
            "stations.fairness_level",
            "flows.rtt_s",
            "queues.occupancy_packets",
            "totals.events",
        ],
        settings={"cell.ap.cwmin": windows, "cell.ap_queue": 20},
        seeds=range(6),
        jobs=jobs,
    )
    options = [
        {"settings": {"cell.ap.cwmin": window, "cell.ap_queue": 20}, "seed": seed}
        for seed, window in enumerate(windows)
    ]
    assert_equal_to_single_runs(many, [QUICK] * 6, options)
    assert many["cells.jain"].shape == many["totals.events"].shape == (6,)
    assert many["stations.goodput_bps"].shape == (6, 2)
    assert many.names("stations.goodput_bps") == ("near", "far")
    assert len(set(many["totals.events"])) == 6


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_different_scenarios_share_arrays_with_all_their_items(jobs: int) -> None:
    scenarios: list[Any] = [QUICK, CALL, WIRED, AGGREGATES, lh.Scenario(QUICK), WIRED]
    many = lh.simulate_many(
        scenarios,
        quantities=["flows.goodput_bps", "stations.collision_rate", "links.utilisation"],
        jobs=jobs,
    )
    assert_equal_to_single_runs(many, scenarios, [{}] * 6)
    stations = ("near", "far", "laptop", "phone", *(f"reader-{k}" for k in range(1, 5)))
    assert many.names("stations.collision_rate") == stations
    assert np.isnan(many["stations.collision_rate"][2]).all()


def test_values_are_means_over_replications_with_tails() -> None:
    many = lh.simulate_many(
        CALL,
        quantities=["flows.one_way_delay_p99_s", "queues.sojourn_p99_s", "cells.goodput_bps"],
        settings=[{"seed": seed} for seed in (1, 2, 1)],
        replications=3,
        tails=True,
        jobs=2,
    )
    options = [{"replications": 3, "tails": True, "seed": seed} for seed in (1, 2, 1)]
    assert_equal_to_single_runs(many, [CALL] * 3, options)
    assert np.isfinite(many["flows.one_way_delay_p99_s"]).any(axis=1).all()


def test_series_that_nobody_reads_are_not_recorded_and_change_nothing() -> None:
    settings = {"record.series_interval": "0.1 s", "record.frames": 100}
    both = [
        lh.simulate_many(QUICK, quantities="stations.goodput_bps", settings=own, seeds=[4, 5])
        for own in ({}, settings)
    ]
    arrays = [each["stations.goodput_bps"] for each in both]
    assert arrays[0].tobytes() == arrays[1].tobytes()


def test_settings_may_name_files(tmp_path: Path) -> None:
    base = {
        "duration": "2 s",
        "link": {"ab": {"from": "a", "to": "b", "rate": "2 Mbps"}},
        "flow": {"x": {"from": "a", "to": "b"}},
    }
    traces = [tmp_path / f"{k}.txt" for k in (1, 2)]
    traces[0].write_text("5\n")
    traces[1].write_text("50\n")
    plain = lh.Scenario(base)
    rates = ["3 Mbps", *({"trace_file": str(path)} for path in traces)]
    settings = [{"link.ab.rate": rate} for rate in rates]
    expected = [lh.simulate(plain, settings=own) for own in settings]
    many = lh.simulate_many(plain, quantities="flows.goodput_bps", settings=settings)
    for row, single in zip(many["flows.goodput_bps"], expected, strict=True):
        assert row.tolist() == list(of_one(single, "flows.goodput_bps").values())


def test_settings_are_lists_arrays_or_a_data_frame() -> None:
    frame = pd.DataFrame({"cell.ap_queue": [10, 20], "cell.ap.cwmin": [7, 15]})
    forms: list[Any] = [
        frame,
        {"cell.ap_queue": np.array([10, 20]), "cell.ap.cwmin": (7, 15)},
        frame.to_dict("records"),
        {"cell.ap_queue": range(10, 30, 10), "cell.ap.cwmin": frame["cell.ap.cwmin"]},
    ]
    every = [lh.simulate_many(QUICK, quantities="cells.jain", settings=form) for form in forms]
    assert len({many["cells.jain"].tobytes() for many in every}) == 1
    assert np.isfinite(every[0]["cells.jain"]).all()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"quantities": []}, "quantities: must have at least one"),
    ({"quantities": "cells.jian"}, 'no quantity "jian"; the nearest are jain'),
    ({"quantities": "goodput_bps"}, "goodput_bps: missing list; expected one of flows.goodput_bps"),
    ({"quantities": "queues.jain"}, "queues.jain: queues do not have"),
    ({"quantities": [3]}, "quantities: 3: expected text"),
    ({"scenarios": []}, "scenarios: the list is empty"),
    ({"seeds": []}, "seeds: the list is empty"),
    ({"settings": []}, "settings: the list is empty"),
    ({"settings": {"cell.ap_queue": []}}, "settings cell.ap_queue: the list is empty"),
    (
        {"settings": "cell.ap_queue=3"},
        "expected a mapping of key paths, a list of mappings, or a data frame",
    ),
    ({"settings": [3]}, "expected a mapping of key paths, a list of mappings, or a data frame"),
    ({"seeds": [1, -1]}, r"scenario 1: seeds\[1\]=-1: expected a whole number from 0 to"),
    ({"seeds": [True]}, r"scenario 0: seeds\[0\]=True: expected a whole number"),
    ({"seeds": [2.5]}, r"scenario 0: seeds\[0\]=2.5: expected a whole number"),
    ({"seeds": 3}, r"^seeds=3: expected a list, such as range\(1, 1001\)"),
    ({"seeds": b"12"}, "^seeds=b'12': expected a list"),
    ({"seeds": {1: 2}}, "^seeds={1: 2}: expected a list"),
    ({"scenarios": [QUICK, 3]}, "^scenario 1: 3: is no scenario; expected a file name, text, a"),
    ({"scenarios": 5}, "^5: is no scenario"),
    ({"scenarios": b"abc"}, "^b'abc': is no scenario"),
    ({"quantities": 3}, r'^quantities=3: expected a list, such as \["cells.goodput_bps"\]'),
    ({"quantities": [["cells.jain"]]}, r"^quantities: \['cells.jain'\]: expected text"),
    (
        {"settings": {"cell.ap_queue": np.array([[10, 20]])}},
        r"^scenario 0: settings cell.ap_queue=\[10, 20\]: `cell.ap_queue`: ",
    ),
    (
        {"settings": {"cell.ap_queue": (each for each in [10, 20])}},
        "^settings cell.ap_queue: `cell.ap_queue`: <generator .*: expected a number, text, a",
    ),
    ({"settings": {"cell.ap_queue": {10}}}, "^settings cell.ap_queue: `cell.ap_queue`: .10.: exp"),
    ({"settings": {"cell.ap_queue": [10, 1j]}}, "^scenario 1: settings cell.ap_queue: .* 1j: exp"),
    ({"settings": [{"seed": 3}, {"seed": 1j}]}, "^scenario 1: settings seed: `seed`: 1j: expected"),
    (
        {"settings": pd.DataFrame([[3, 7]], columns=["cell.ap.cwmin"] * 2)},
        "^settings: the data frame has several columns cell.ap.cwmin; expected each key path once",
    ),
    ({"tails": "no"}, "^tails='no': expected True or False"),
    ({"progress": 3}, "^progress=3: expected a function, or None"),
    ({"replications": "2"}, "^replications='2': expected a whole number from 1"),
    ({"jobs": True}, "^jobs=True: must be a whole number of threads"),
    (
        {"seeds": [1], "settings": {"seed": 3}},
        "^`seed`: set by both `seeds` and `settings`; expected only one of them",
    ),
    (
        {"seeds": [1, 2, 3], "settings": {"cell.ap_queue": [10, 20]}},
        "^scenarios, settings, seeds: expected lists of equal length, got settings cell.ap_queue "
        "2, seeds 3",
    ),
    (
        {"settings": {"cell.ap_queue": [10, 20], "cell.ap.cwmin": [1]}},
        "lists of equal length, got settings cell.ap_queue 2, settings cell.ap.cwmin 1",
    ),
    ({"scenarios": [QUICK] * 2, "seeds": [1]}, "lists of equal length, got scenarios 2, seeds 1"),
    ({"jobs": 0}, "jobs=0: must be a whole number of threads"),
    (
        {"replications": 2, "settings": {"replications": 3}},
        "^`replications`: set by both `replications` and `settings`;",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_invalid_arguments_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    given = {"scenarios": QUICK, "quantities": "cells.jain"} | options
    with pytest.raises(lh.UserError, match=message) as caught:
        lh.simulate_many(given.pop("scenarios"), **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_first_refused_scenario_is_named_before_anything_runs(jobs: int) -> None:
    windows = [7] * 20
    windows[9], windows[13] = 5000, 6000
    with pytest.raises(lh.ScenarioError) as caught:
        lh.simulate_many(
            LONG, quantities="cells.jain", settings={"cell.ap.cwmin": windows}, jobs=jobs
        )
    line = "scenario 9: settings cell.ap.cwmin=5000: `cell.ap.cwmin`: 5000 is above cwmax"
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_refused_scenario_of_a_list_is_named() -> None:
    broken = QUICK.replace("download = 1", "downlaod = 1")
    with pytest.raises(lh.ScenarioError, match=r"^scenario 1: <text>:\d+: `station.near.downlaod`"):
        lh.simulate_many([QUICK, broken], quantities="cells.jain")


def test_a_quantity_without_any_value_is_warned_of() -> None:
    with pytest.warns(RuntimeWarning, match="no scenario has a value of flows.rtt_p95_s; some"):
        many = lh.simulate_many(QUICK, quantities=["flows.rtt_p95_s", "cells.jain"])
    assert np.isnan(many["flows.rtt_p95_s"]).all()
    assert many["flows.rtt_p95_s"].shape == (1, 3)


def test_ctrl_c_finishes_running_scenarios_and_keeps_them() -> None:
    slow = SMALL.replace('duration = "4 s"', 'duration = "2000 s"')
    pressed: list[lh.SimulateManyProgress] = []

    def press(progress: lh.SimulateManyProgress) -> None:
        if progress["runs_done"] >= 2 and not pressed:
            pressed.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(
        lh.SimulateManyInterrupted, match=r"of 400 scenarios are finished"
    ) as caught:
        lh.simulate_many(
            slow,
            quantities="stations.goodput_bps",
            seeds=range(400),
            replications=1,
            jobs=2,
            progress=press,
        )
    [progress] = pressed
    finished = caught.value.finished
    count = int(finished.is_finished.sum())
    assert progress["runs_done"] <= count < 400
    assert finished.is_finished[:count].all(), "scenarios are begun in order, and all finish"
    assert np.isfinite(finished["stations.goodput_bps"][:count]).all()
    assert np.isnan(finished["stations.goodput_bps"][count:]).all()
    alone = lh.simulate(slow, replications=1, seed=1)
    goodputs = np.array(list(of_one(alone, "stations.goodput_bps").values()))
    assert finished["stations.goodput_bps"][1].tobytes() == goodputs.tobytes()
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) == f"{count} of 400 scenarios are finished"


def test_results_with_the_same_numbers_are_equal() -> None:
    def run(**options: Any) -> lh.ArrayResult:
        given = {"quantities": ["cells.jain", "flows.rtt_s", "flows.one_way_delay_s"]} | options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # TCP flows have no one-way delay
            return lh.simulate_many(QUICK, seeds=[1, 2], **given)

    first, same = run(), run()
    assert np.isnan(first["flows.one_way_delay_s"]).any()
    assert first == same == pickle.loads(pickle.dumps(first))
    assert first != run(quantities="cells.jain")
    assert first != run(replications=2)
    assert first != dict(first)
    for change in (np.nan, -same["cells.jain"][0]):
        changed = pickle.loads(pickle.dumps(first))
        changed["cells.jain"].flags.writeable = True
        changed["cells.jain"][0] = change
        assert changed != first
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_a_zero_dimensional_array_is_a_number() -> None:
    many = lh.simulate_many(QUICK, quantities="cells.jain", settings={"cell.ap_queue": np.array(9)})
    assert many == lh.simulate_many(QUICK, quantities="cells.jain", settings={"cell.ap_queue": 9})


def test_a_second_ctrl_c_ends_running_scenarios() -> None:
    def press(progress: lh.SimulateManyProgress) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(lh.SimulateManyInterrupted, match="0 of 3 scenarios are finished"):
        lh.simulate_many(LONG, quantities="cells.jain", seeds=range(3), progress=press)


def test_progress_can_stop_the_simulation() -> None:
    with pytest.raises(lh.Stopped, match="0 of 2 scenarios") as caught:
        lh.simulate_many(
            LONG, quantities="cells.jain", seeds=range(2), progress=lambda progress: False
        )
    assert isinstance(caught.value.finished, lh.ArrayResult)
    assert repr(caught.value.finished) == (
        "ArrayResult(0 of 2 scenarios are finished: cells.jain (2,))"
    )


def test_an_error_of_progress_is_passed_on() -> None:
    def fail(progress: lh.SimulateManyProgress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lh.simulate_many(LONG, quantities="cells.jain", seeds=range(2), progress=fail)
