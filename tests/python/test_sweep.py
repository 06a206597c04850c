import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lasthop as lh
from lasthop.run import Progress

from .conftest import SMALL

ROUTER = """\
duration = "6 s"
warmup = "2 s"
queue = 20
dumbbell = { flows = 4, bottleneck = "10 Mbps", rtt = "20 ms" }
tcp = { congestion = "cubic", window = 100 }
"""

OVER = {"cell.ap.cwmin": [15, 31], "station.near.rate": ["1 Mbps", "11 Mbps"]}


def test_points_are_every_combination_in_order() -> None:
    points = lh.sweep(SMALL, OVER).points
    assert [tuple(point.settings.values()) for point in points] == [
        ("15", "1 Mbps"),
        ("15", "11 Mbps"),
        ("31", "1 Mbps"),
        ("31", "11 Mbps"),
    ]
    alone = lh.Scenario(SMALL).with_("cell.ap.cwmin", 31).with_("station.near.rate", "1 Mbps")
    assert points[2].summary == lh.simulate(alone).to_dict()


def test_finished_points_are_not_simulated_again(tmp_path: Path) -> None:
    first = lh.sweep(SMALL, OVER, directory=tmp_path)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert len(kept) == 4

    def never(progress: Progress) -> bool:
        raise AssertionError("a point was simulated again")

    again = lh.sweep(SMALL, OVER, directory=tmp_path, progress=never)
    assert again.to_json() == first.to_json()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")} == kept


@pytest.mark.parametrize("content", ["", '{"kind": "simul', "null", "[]"])
def test_point_that_is_not_whole_is_simulated_again(tmp_path: Path, content: str) -> None:
    first = lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path)
    kept = min(tmp_path.rglob("*.json"))
    whole = kept.read_bytes()
    kept.write_text(content)
    assert lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path).to_json() == first.to_json()
    assert kept.read_bytes() == whole


def test_point_that_was_changed_is_simulated_again(tmp_path: Path) -> None:
    first = lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path)
    one, other = sorted(tmp_path.rglob("*.json"))
    whole = one.read_bytes()
    changed = re.sub(rb'"mean": [0-9.]+', b'"mean": "much"', whole, count=1)
    assert changed != whole
    for content in (b"{}", changed, other.read_bytes()):
        one.write_bytes(content)
        assert lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path).to_json() == first.to_json()
        assert one.read_bytes() == whole


def test_point_of_another_engine_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    monkeypatch.setattr("lasthop.store.engine", lambda: "another")
    lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    assert len(list(tmp_path.rglob("*.json"))) == 2


def test_values_that_mean_the_same_are_simulated_once() -> None:
    asked: list[int] = []
    over = {"duration": ["2 s", "2000 ms"]}
    swept = lh.sweep(SMALL, over, progress=lambda seen: asked.append(seen["replications"]))
    assert [point.settings["duration"] for point in swept.points] == ["2 s", "2000 ms"]
    assert swept.points[0].summary == swept.points[1].summary
    assert set(asked) == {3}


def test_path_with_values_and_a_value_is_refused() -> None:
    with pytest.raises(lh.UserError, match="over seed: the same path is given the value 3"):
        lh.sweep(SMALL, {"seed": [1, 2]}, seed=3)
    with pytest.raises(lh.UserError, match=r"over cell\.ap_queue: .* 5 as well"):
        lh.sweep(SMALL, {"cell.ap_queue": [1, 2]}, settings={"cell.ap_queue": 5})


def test_values_may_be_an_array() -> None:
    swept = lh.sweep(SMALL, {"seed": np.array([20, 30])}, replications=2)
    assert [point.scenario["seed"] for point in swept.points] == [20, 30]


def test_result_does_not_depend_on_threads() -> None:
    assert lh.sweep(SMALL, OVER, jobs=1).to_json() == lh.sweep(SMALL, OVER, jobs=3).to_json()


def test_bad_point_is_refused_before_any_is_simulated(tmp_path: Path) -> None:
    with pytest.raises(lh.ScenarioError, match=r"cell\.ap\.cwmin"):
        lh.sweep(SMALL, {"cell.ap.cwmin": [15, -1]}, directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_table_names_the_swept_values() -> None:
    table = lh.sweep(SMALL, {"seed": [1, 2]}).table("stations")
    assert list(table.columns[:3]) == ["seed", "name", "goodput_bps"]
    assert len(table) == 4


def test_values_are_replaced_at_every_point() -> None:
    changed = lh.sweep(SMALL, {"seed": [4]}, replications=2, settings={"cell.ap.cwmin": 15})
    alone = lh.simulate(SMALL, seed=4, replications=2, settings={"cell.ap.cwmin": 15})
    assert changed.points[0].summary == alone.to_dict()
    pd.testing.assert_frame_equal(changed.stations, changed.table("stations"))
    assert len(changed.flows) == 3
    assert len(changed.cells) == 1


@pytest.mark.parametrize("values", [5, "15,31", [], [15, "15"]])
def test_values_that_are_no_list_are_refused(values: Any) -> None:
    with pytest.raises(lh.UserError, match=r"over cell\.ap\.cwmin"):
        lh.sweep(SMALL, {"cell.ap.cwmin": values})
    with pytest.raises(lh.UserError, match="jobs=0"):
        lh.sweep(SMALL, {"seed": [1]}, jobs=0)


def test_stopped_sweep_keeps_finished_points(tmp_path: Path) -> None:
    from lasthop.sweep import SweepInterrupted

    long = SMALL.replace('duration = "4 s"', 'duration = "500 s"')

    def stop(progress: Progress) -> bool:
        return progress["replications_done"] < 3

    with pytest.raises(SweepInterrupted) as caught:
        lh.sweep(long, {"seed": range(1, 200)}, directory=tmp_path, jobs=1, progress=stop)
    kept = len(list(tmp_path.rglob("*.json")))
    assert 1 <= kept < 199
    assert len(caught.value.finished.points) == kept


def test_a_value_may_be_a_table() -> None:
    red = {"red": {"min_th": 5, "max_th": 15, "form": "published"}}
    swept = lh.sweep(ROUTER, {"queue": [30, red, {"codel": {}}, {"limit": 8}]})
    disciplines = [point.scenario["links"][0]["queue"] for point in swept.points]
    assert [each["discipline"] for each in disciplines] == [
        "drop_tail",
        "red",
        "codel",
        "drop_tail",
    ]
    assert disciplines[1]["form"] == "published"
    assert list(swept.queues["queue"].unique()) == [
        "30",
        '{red = {min_th = 5, max_th = 15, form = "published"}}',
        "{codel = {}}",
        "{limit = 8}",
    ]
    assert set(swept.classes["name"]) == {"flow"}
    assert set(swept.links["name"]) == {"bottleneck", "bottleneck/back"}


def test_sweep_names_the_points_with_phase_effects() -> None:
    far = '[flow.far]\nrtt = "31 ms"\ncongestion = "cubic"\n'
    over = {"dumbbell.jitter": ["0 ms", "packet"]}
    warnings = lh.sweep(ROUTER + far, over).warnings
    assert [text.split(":")[0] for text in warnings] == ["dumbbell.jitter=0 ms"]
