import io
import json
import os
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lasthop as lh
from lasthop import _core
from lasthop.batch.part import Part
from lasthop.errors import Stopped
from lasthop.scenario.values import values_of
from lasthop.simulation.simulate import Progress
from lasthop.sweep.columns import column
from lasthop.sweep.grid import grid

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


def parts(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(directory.glob("parts/*.zip"))}


def saved_points(directory: Path) -> int:
    """Return the number of points whose results are in the stored parts of a directory."""
    return sum(len(Part(path).runs()) for path in parts(directory))


def count_simulations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    real = _core.simulate

    def counted(scenario: _core.Scenario, *options: Any) -> _core.SimulationOutput:
        seen.append(scenario.to_json())
        return real(scenario, *options)

    monkeypatch.setattr(_core, "simulate", counted)
    return seen


def test_finished_points_are_not_simulated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = lh.sweep(SMALL, OVER, directory=tmp_path)
    before = parts(tmp_path)
    assert saved_points(tmp_path) == 4
    simulated = count_simulations(monkeypatch)
    again = lh.sweep(SMALL, OVER, directory=tmp_path)
    assert again.to_json() == first.to_json()
    assert parts(tmp_path) == before
    assert simulated == []
    lh.sweep(SMALL, {**OVER, "cell.ap.cwmin": [15, 63]}, directory=tmp_path)
    assert len(simulated) == 2


def cut(part: bytes) -> bytes:
    return part[:-200]


def flip(part: bytes) -> bytes:
    """Return the part file with one changed byte. The byte belongs to the first stored run."""
    at = len(part) // 3
    return part[:at] + bytes([part[at] ^ 1]) + part[at + 1 :]


def empty_archive() -> bytes:
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    return buffer.getvalue()


def sealed(part: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """Return the part file with changed members and correct checksums."""
    with zipfile.ZipFile(io.BytesIO(part)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def without_member(part: bytes) -> bytes:
    return sealed(part, lambda members: members.pop("summary-0.jsonl"))


def fewer_lines(part: bytes) -> bytes:
    return sealed(part, lambda members: members.update({"summary-0.jsonl": b"{}\n{}"}))


def members_of_none(part: bytes) -> bytes:
    def change(members: dict[str, bytes]) -> None:
        about = json.loads(members["about.json"]) | {"members": None}
        members["about.json"] = json.dumps(about).encode()

    return sealed(part, change)


def nested(part: bytes) -> bytes:
    return sealed(part, lambda members: members.update({"about.json": b"[" * 100_000}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda part: b"",
        cut,
        flip,
        lambda part: empty_archive(),
        without_member,
        fewer_lines,
        members_of_none,
        nested,
    ],
)
def test_a_damaged_part_is_moved_and_its_points_are_simulated_again(
    tmp_path: Path, damage: Any
) -> None:
    first = lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path, jobs=1)
    path, part = next(iter(parts(tmp_path).items()))
    # The damaged file is computed only once, because an archive contains its time of writing.
    damaged = damage(part)
    path.write_bytes(damaged)
    again = lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path, jobs=1)
    assert again.to_json() == first.to_json()
    assert parts(tmp_path)[path] == part
    [note] = again.notes
    assert str(path) in note
    assert path.with_suffix(".damaged").read_bytes() == damaged


def test_parts_of_another_engine_are_named_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "ENGINE", "another")
    monkeypatch.setattr(_core, "VERSION", "0.0.7")
    lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    monkeypatch.undo()
    simulated = count_simulations(monkeypatch)
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "0123456789abcdef01234567.json").write_text("{}")
    swept = lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    assert len(simulated) == 1
    assert [("0.0.7" in note, "earlier version" in note) for note in swept.notes] == [
        (True, False),
        (False, True),
    ]
    assert len(parts(tmp_path)) == 2


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


def test_a_directory_of_a_newer_format_is_refused_and_stays(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    newer = json.dumps({"kind": "sweep manifest", "version": "0.9.0", "format": 2})
    manifest.write_text(newer)
    with pytest.raises(lh.UserError, match=r"manifest\.json: `format`: 2 is newer than"):
        lh.sweep(SMALL, {"seed": "1..2"}, directory=tmp_path)
    assert manifest.read_text() == newer


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


@pytest.mark.parametrize("values", [5, "15,,31", "15,15", "31..15", [], [15, "15"]])
def test_values_that_are_not_a_list_are_refused(values: Any) -> None:
    with pytest.raises(lh.UserError, match=r"over cell\.ap\.cwmin"):
        lh.sweep(SMALL, {"cell.ap.cwmin": values})
    with pytest.raises(lh.UserError, match="jobs=0"):
        lh.sweep(SMALL, {"seed": [1]}, jobs=0)


def test_stopped_sweep_keeps_finished_points(tmp_path: Path) -> None:
    long = SMALL.replace('duration = "4 s"', 'duration = "500 s"')

    def stop(progress: Progress) -> bool:
        return progress["replications_done"] < 3

    with pytest.raises(Stopped) as caught:
        lh.sweep(long, {"seed": range(1, 200)}, directory=tmp_path, jobs=1, progress=stop)
    assert 1 <= saved_points(tmp_path) < 199
    assert len(caught.value.finished.points) == saved_points(tmp_path)


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


# -- values, grids and tables --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("20..100:20", ["20", "40", "60", "80", "100"]),
        ("20..100:30", ["20", "50", "80"]),
        ("1..4,8", ["1", "2", "3", "4", "8"]),
        ("0.1..0.5:0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("-1..1:0.5", ["-1", "-0.5", "0", "0.5", "1"]),
        ("5..20 ms:5 ms", ["5 ms", "10 ms", "15 ms", "20 ms"]),
        ("500 us..2 ms : 500us", ["500 us", "1000 us", "1500 us", "2000 us"]),
        ("10..1000 log 3", ["10", "100", "1000"]),
        ("10..1000 log 6", ["10", "25", "63", "158", "398", "1000"]),
        ("1.0..10 log 3", ["1", "3.16228", "10"]),
        ("10 ms..1 s log 3", ["10 ms", "100 ms", "1000 ms"]),
        ("1e-3..1e3 log 3", ["0.001", "1", "1000"]),
        ("../some/where.trace", ["../some/where.trace"]),
        ("a..b", ["a..b"]),
        ("100,{red={min_th=20,max_th=60}}", ["100", "{red={min_th=20,max_th=60}}"]),
    ],
)
def test_texts_become_values(text: str, values: list[str]) -> None:
    assert values_of(text, "over x", "") == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("100..20:20", "100 is not below 20"),
        ("1..2:0", "the step of 1..2:0 must be above 0"),
        ("1..2:-1", "must be above 0"),
        ("0.5..2", "needs a step"),
        ("1 s..3 s", "needs a step"),
        ("1..9:", "is not a range"),
        ("1..9 lin 4", "is not a range"),
        ("1..9 log", "lacks the number of values"),
        ("0..9 log 4", "must be above 0"),
        ("1..9 log 1", "at least 2 values"),
        ("10..12 log 9", "does not contain this many whole numbers"),
        ("1 ms..3 Mbps:1 ms", "must be of one kind"),
        ("1 ms..3:1 kB", "must be of one kind"),
        ("1 parsec..3 parsec:1", "an unknown unit"),
        ("0..1:1e-9", "expected at most 1,000,000 values"),
        ("0..1e300:1e-300", "expected at most 1,000,000 values"),
        ("1..9 log 99999999999999999999", "expected at most 1,000,000 values"),
        ("{a=1", "a brace or bracket is not closed"),
    ],
)
def test_texts_without_a_value_are_refused(text: str, message: str) -> None:
    with pytest.raises(lh.UserError) as caught:
        values_of(text, "over x", "")
    assert str(caught.value).startswith("over x: ")
    assert message in str(caught.value)


def test_the_hint_at_a_wrong_range_names_every_form() -> None:
    with pytest.raises(lh.UserError) as caught:
        values_of("1,2..", "over x", "")
    assert caught.value.hint == (
        "write 1..5 for whole numbers, 20..100:20 for equal steps, or 10..1000 log 5 for equal "
        "ratios"
    )


def test_paths_may_be_varied_together() -> None:
    over = {"cell.ap.cwmin": "15,31", "seed": [7, 8]}
    settings = [point.settings for point in lh.sweep(SMALL, over, combine="zip").points]
    assert settings == [
        {"cell.ap.cwmin": "15", "seed": "7"},
        {"cell.ap.cwmin": "31", "seed": "8"},
    ]
    with pytest.raises(lh.UserError, match=r"the same number of values: cell\.ap\.cwmin 2, seed 3"):
        lh.sweep(SMALL, {"cell.ap.cwmin": "15,31", "seed": [7, 8, 9]}, combine="zip")
    with pytest.raises(lh.UserError, match="seed=7 is given twice"):
        lh.sweep(SMALL, {"cell.ap.cwmin": [15, 15], "seed": [7, 7]}, combine="zip")


def test_points_may_be_a_table(tmp_path: Path) -> None:
    rows = [
        {"cell.ap.cwmin": 15, "station.near.rate": "1 Mbps"},
        {"cell.ap.cwmin": 63, "station.near.rate": "11 Mbps"},
    ]
    file = tmp_path / "points.csv"
    file.write_text("# two\ncell.ap.cwmin,station.near.rate\n15,1 Mbps\n\n63,11 Mbps\n")
    expected = lh.sweep(SMALL, rows).to_json()
    assert lh.sweep(SMALL, file).to_json() == expected
    assert lh.sweep(SMALL, pd.DataFrame(rows)).to_json() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no points"),
        ("seed\n", "no points"),
        ("seed,\n1,2\n", ":1: a column has no key path"),
        ("seed,duration\n1\n", ":2: the line has 1 values: expected 2"),
        ("seed,duration\n1,\n", ":2: a value is empty"),
        ("seed,seed\n1,2\n", "the path seed is given twice"),
        ("seed\n1\n1\n", "the point seed=1 is given twice"),
    ],
)
def test_invalid_tables_of_points_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "points.csv"
    file.write_text(text)
    with pytest.raises(lh.UserError) as caught:
        grid(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)


def test_too_many_points_are_refused_with_their_number() -> None:
    with pytest.raises(lh.UserError, match="1,000,000 points: expected at most 100,000"):
        grid({"seed": "1..1000", "cell.ap_queue": "1..1000"})


def test_each_point_of_a_grid_is_found_by_its_number() -> None:
    points = grid({"a": [1, 2, 3], "b": "x,y"})
    assert [points[at] for at in range(len(points))] == list(points)
    assert points.column("b") == ["x", "y"]


def test_swept_numbers_are_numbers_in_the_table() -> None:
    over = {"cell.ap_queue": [20, 200, 50], "station.near.rate": ["1 Mbps", "5.5 Mbps"]}
    swept = lh.sweep(SMALL, over, replications=1)
    table = swept.cells
    assert list(table.columns[:3]) == ["cell.ap_queue", "station.near.rate_bps", "name"]
    assert table["cell.ap_queue"].tolist() == [20, 20, 200, 200, 50, 50]
    assert table["station.near.rate_bps"].tolist() == 3 * [1e6, 5.5e6]
    mixed = column("x", ["0 ms", "packet"])
    assert (mixed.name, mixed.values) == ("x", {"0 ms": "0 ms", "packet": "packet"})
    assert column("tcp.sack", ["true", "false"]).values == {"true": True, "false": False}
    assert column("x", ["1", "2.5"]).values == {"1": 1.0, "2.5": 2.5}
    assert column("name", ["a", "b"]).name == "scenario.name"


def test_saved_tables_are_those_of_the_sweep(tmp_path: Path) -> None:
    swept = lh.sweep(ROUTER, {"queue": [30, {"codel": {}}]}, series="1 s")
    swept.save(tmp_path)
    for name in ("classes", "flows", "links", "queues", "series", "totals"):
        read = pd.read_parquet(tmp_path / f"{name}.parquet")
        table = swept.table(name) if name != "series" else swept.series
        pd.testing.assert_frame_equal(read, table, check_dtype=False)
        again = pd.read_csv(tmp_path / f"{name}.csv")
        pd.testing.assert_frame_equal(again, read, check_dtype=False, rtol=0, atol=0)
    assert set(swept.series["queue"]) == {"30", "{codel = {}}"}
    assert not (tmp_path / "stations.csv").exists()


def test_tables_do_not_depend_on_the_executor(tmp_path: Path) -> None:
    over = {"seed": "1..6", "cell.ap_queue": [10, 20]}
    lh.sweep(SMALL, over, directory=tmp_path / "one", jobs=1, series="1 s").save(tmp_path / "one")
    with ThreadPoolExecutor(3) as pool:
        swept = lh.sweep(SMALL, over, directory=tmp_path / "pool", executor=pool, series="1 s")
    swept.save(tmp_path / "pool")
    ones = {path.name: path.read_bytes() for path in (tmp_path / "one").glob("*.[cp]*[vt]")}
    others = {path.name: path.read_bytes() for path in (tmp_path / "pool").glob("*.[cp]*[vt]")}
    assert "stations.parquet" in ones
    assert "series.csv" in ones
    assert ones == others


def test_loading_reports_a_damaged_part_and_does_not_change_it(tmp_path: Path) -> None:
    lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path).save(tmp_path)
    lh.sweep(SMALL, {"seed": [1, 2]}, directory=tmp_path).save(tmp_path)
    path, part = sorted(parts(tmp_path).items())[0]
    path.write_bytes(cut(part))
    with pytest.warns(RuntimeWarning, match=f"{path.name}: .*; not used"):
        loaded = lh.load(tmp_path)
    assert isinstance(loaded, lh.Sweep)
    assert len(loaded.points) == 1
    assert path.read_bytes() == cut(part)


def test_an_invalid_summary_of_a_run_is_reported_with_its_file(tmp_path: Path) -> None:
    lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path).save(tmp_path)
    path, part = next(iter(parts(tmp_path).items()))
    path.write_bytes(sealed(part, lambda members: members.update({"summary-0.jsonl": b"{"})))
    with pytest.raises(lh.UserError, match=f"{path.name}: summary of a run is no JSON"):
        _ = lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path).stations


def test_a_directory_is_not_a_part(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    os.mkfifo(tmp_path / "parts" / f"{'0' * 16}.zip")
    [note] = lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path).notes
    assert "is not a file, and not used" in note


def test_foreign_files_are_not_replaced_by_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"npm": 1}')
    with pytest.raises(lh.UserError, match=r"manifest\.json: exists and is not"):
        lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "parts").write_text("mine")
    with pytest.raises(lh.UserError, match="parts: is not a directory"):
        lh.sweep(SMALL, {"seed": [1]}, directory=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_data_frame_with_duplicate_columns_is_refused() -> None:
    with pytest.raises(lh.UserError, match="the column seed is given twice"):
        lh.sweep(SMALL, pd.DataFrame([[1, 2]], columns=["seed", "seed"]))
