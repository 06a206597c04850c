"""Saved and printed results are read again. Other files are refused with one line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.emulation import Emulation
from lasthop.scenario.origin import origin_of, scenario_of

from .conftest import EXAMPLES, SMALL, Lasthop

SHORT = {"duration": "4 s", "warmup": "1 s"}
KINDS = ("hotspot.toml", "dumbbell.toml", "csma-hidden.toml")


@pytest.mark.parametrize("example", KINDS)
def test_a_loaded_result_equals_the_saved_one(example: str, tmp_path: Path) -> None:
    result = lh.simulate(EXAMPLES / example, settings=SHORT, replications=2, series="0.5 s")
    result.save(tmp_path)
    for place in (tmp_path, tmp_path / "result.json"):
        again = lh.load(place)
        assert isinstance(again, lh.Result)
        assert again == result
        assert hash(again) == hash(result)
        assert again.to_json() == result.to_json()
        assert again.sample_tree == result.sample_tree
        assert again.series.equals(result.series)
        assert again.scenario == result.scenario
        assert again.scenario.settings == result.scenario.settings
        assert again.warnings == result.warnings
        assert (again.seed, again.interrupted) == (result.seed, False)
    again.save(tmp_path / "again")
    assert lh.load(tmp_path / "again") == result


def test_results_saved_by_the_command_line_are_loaded(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--seed", "3", "--out", "here", "--json")
    saved, printed = lh.load("here"), Path("printed.json")
    printed.write_text(done.stdout)
    assert saved == lh.simulate(small, seed=3)
    assert lh.load(printed).to_json() == saved.to_json()


def test_a_saved_result_needs_no_file_that_its_scenario_named(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n2\n5\n")
    text = SMALL + '\n[wire]\nrate = { trace_file = "up.trace" }\n'
    (tmp_path / "a.toml").write_text(text)
    result = lh.simulate(tmp_path / "a.toml", replications=1)
    result.save(tmp_path / "kept")
    (tmp_path / "up.trace").unlink()
    (tmp_path / "a.toml").unlink()
    again = lh.load(tmp_path / "kept")
    assert again == result
    assert lh.simulate(again.scenario) == result


def test_named_files_may_hold_any_bytes_or_be_missing() -> None:
    files = [("a", b"\xff\x00", ""), ("b", None, "no such file"), ("c", "é".encode(), "")]
    checked = _core.Scenario(SMALL.encode(), "toml", "x.toml", [("seed", "7")], files)
    origin = json.loads(json.dumps(origin_of(lh.Scenario.of(checked))))
    again = scenario_of(origin).checked
    assert sorted(again.files) == sorted(files)
    assert (again.settings, again.source) == ([("seed", "7")], "x.toml")


def test_a_summary_without_samples_has_tables_and_names_the_missing_parts(
    small_result: lh.Result, tmp_path: Path
) -> None:
    path = tmp_path / "printed.json"
    path.write_text(small_result.to_json())
    alone = lh.load(path)
    assert isinstance(alone, lh.Result)
    assert alone.stations.equals(small_result.stations)
    assert alone.to_json() == small_result.to_json()
    assert alone != small_result  # The small result also has samples.
    assert alone == lh.load(path)
    assert alone._repr_html_()
    assert alone.plot.goodput()
    lacking: dict[str, Callable[[], object]] = {
        "scenario": lambda: alone.scenario,
        "samples": lambda: alone.samples,
        "series": lambda: alone.track("queues", "ap", "occupancy_packets"),
        "word of whether it was interrupted": lambda: alone.interrupted,
    }
    for what, ask in lacking.items():
        with pytest.raises(lh.UserError) as caught:
            ask()
        assert str(caught.value) == f"{path}: has no {what}: only a summary was loaded"
    for ask in (lambda: alone.warnings, lambda: alone.save(tmp_path / "x"), alone.plot.conflicts):
        with pytest.raises(lh.UserError, match="has no scenario: only a summary"):
            ask()
    assert not (tmp_path / "x").exists()


def test_a_result_replaced_by_that_of_another_run_has_no_samples(tmp_path: Path) -> None:
    lh.simulate(SMALL).save(tmp_path)
    (tmp_path / "result.json").write_text(lh.simulate(SMALL, seed=9).to_json())
    again = lh.load(tmp_path)
    assert again.seed == 9
    with pytest.raises(lh.UserError, match=r"record\.json in the same directory is of another"):
        _ = again.samples


def test_a_capture_is_not_saved_and_says_so(small_result: lh.Result, tmp_path: Path) -> None:
    small_result.save(tmp_path)
    again = lh.load(tmp_path)
    assert again.frame_count == 0
    with pytest.raises(lh.UserError, match="frames were not saved") as caught:
        again.save_capture(tmp_path / "x.pcapng")
    assert "save_capture" in (caught.value.hint or "")
    assert not (tmp_path / "x.pcapng").exists()


def test_predictions_emulations_and_comparisons_are_loaded_from_json(tmp_path: Path) -> None:
    both = lh.compare(SMALL, replications=2)
    emulation = Emulation({**both.simulation.summary, "kind": "emulation"}, both.scenario)
    assert both.prediction is not None
    for number, answer in enumerate((both.prediction, emulation, both)):
        path = tmp_path / f"{number}.json"
        path.write_text(answer.to_json())
        again = lh.load(path)
        assert type(again) is type(answer)
        assert again.to_json() == answer.to_json()
        assert repr(again) == repr(answer)
    assert again.rows == both.rows
    assert again.table.equals(both.table)
    assert again.prediction == both.prediction
    with pytest.raises(lh.UserError, match="has no scenario"):
        again.figure()
    assert "<img" not in again._repr_html_()
    alone = lh.load(tmp_path / "0.json")
    assert alone.warnings == both.prediction.warnings
    with pytest.raises(lh.UserError, match="has no scenario"):
        _ = alone.scenario
    assert lh.load(tmp_path / "1.json").intervals  # the file has two replications


def test_a_sweep_is_loaded_from_json_and_from_its_directory(
    tmp_path: Path, lasthop: Lasthop, small: Path
) -> None:
    over = {"cell.ap.cwmin": [15, 31], "station.near": [{"upload": 1}, {"download": 2}]}
    swept = lh.sweep(SMALL, over, replications=1)
    swept.save(tmp_path / "kept")
    (tmp_path / "printed.json").write_text(swept.to_json())
    saved = tmp_path / "kept"
    for place in (saved, saved / "manifest.json", tmp_path / "printed.json"):
        again = lh.load(place)
        assert isinstance(again, lh.Sweep)
        assert again == swept
        assert hash(again) == hash(swept)
        assert again.stations.equals(swept.stations)
        assert again.warnings == swept.warnings
        assert [point.scenario for point in again.points] == [
            original.scenario for original in swept.points
        ]
    done = lasthop("sweep", small, "--over", "seed=1,2", "--out", "swept", "--json")
    assert lh.load("swept") == lh.sweep(small, {"seed": [1, 2]})
    (tmp_path / "printed.json").write_text(done.stdout)
    assert lh.load(tmp_path / "printed.json") == lh.load("swept")


def test_the_example_prints_the_output_next_to_it() -> None:
    example = EXAMPLES / "keep.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert done.stdout == example.with_suffix(".txt").read_text("utf-8")


GOOD = {
    "kind": "simulation",
    "scenario": "x",
    "seed": 1,
    "replications": 1,
    "version": _core.VERSION,
    "duration_s": 1.0,
    "warmup_s": 0.0,
}

BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "it is empty"),
    "no JSON": ("hello", "not JSON: Expecting value in line 1"),
    "cut short": (json.dumps(GOOD)[:50], "cut short: "),
    "cut in a list": ('{"kind": "simulation", "flows": [', "cut short: "),
    "no text": (b"\xff\xfe\x00", "not JSON: it is no text in UTF-8"),
    "too deep": ("[" * 100_000, "not JSON of lasthop"),
    "a list": ("[1]", "no answer of lasthop: it is no JSON object"),
    "a number": ("3", "no answer of lasthop: it is no JSON object"),
    "no kind": ('{"a": 1}', "no answer of lasthop: it has no `kind`; expected one of predic"),
    "other kind": ('{"kind": "survey"}', "`kind` is 'survey'; expected one of"),
    "kind of no kind": ('{"kind": [1]}', "`kind` is [1]; expected one of"),
    "a search": (
        '{"kind": "tuning"}',
        "`kind` is 'tuning', which cannot be read from its JSON; expected one of",
    ),
    "a record": ('{"kind": "record"}', "belongs to result.json in the same directory"),
    "no version": ('{"kind": "simulation"}', "it has no `version`"),
    "major version": (
        json.dumps(GOOD | {"version": "7.1.0"}),
        f"written by lasthop 7.1.0, whose major version differs from that of {_core.VERSION}",
    ),
    "no seed": (json.dumps(GOOD | {"seed": None}), "`seed` is missing or no int"),
    "list is none": (json.dumps(GOOD | {"flows": 3}), "`flows` is no list"),
    "nameless": (json.dumps(GOOD | {"cells": [{}]}), "an item of `cells` has no name"),
    "no estimate": (
        json.dumps(GOOD | {"cells": [{"name": "c", "jain": {"mean": "much", "ci95": 0}}]}),
        "`jain` of cells c is no estimate",
    ),
    "prediction without model": (
        json.dumps(GOOD | {"kind": "prediction"}),
        "`model` is missing or no str",
    ),
    "comparison without parts": ('{"kind": "comparison"}', "an incomplete comparison"),
    "comparison of what": (
        json.dumps(
            {"kind": "comparison", "prediction": None, "refusal": "", "simulation": 3, "rows": []}
        ),
        "no answer of lasthop",
    ),
    "rows": (
        json.dumps(
            {"kind": "comparison", "prediction": None, "refusal": "", "simulation": GOOD}
            | {"rows": [{"a": 1}]}
        ),
        "an incomplete comparison",
    ),
    "comparison of a newer format": (
        json.dumps({"kind": "comparison", "format": _core.FORMAT + 1}),
        "`format`: 2 is newer than this version of lasthop supports: expected 1",
    ),
    "sweep of another version": ('{"kind": "sweep", "version": "3.0"}', "written by lasthop 3.0"),
    "sweep of a newer format": (
        json.dumps({"kind": "sweep", "version": _core.VERSION, "format": _core.FORMAT + 1}),
        "`format`: 2 is newer than this version of lasthop supports: expected 1",
    ),
    "sweep without scenario": (
        json.dumps({"kind": "sweep", "version": _core.VERSION, "points": []}),
        "has no scenario: `origin` is missing or damaged",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_is_not_an_answer_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    content, message = BAD[case]
    path = tmp_path / "x.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(lh.UserError, match=re.escape(message)) as caught:
        lh.load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert len(text) < 250


def test_places_without_an_answer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        lh.UserError,
        match=r"the directory has no result\.json, no manifest\.json and no what-if\.json",
    ):
        lh.load(tmp_path)
    with pytest.raises(lh.UserError, match="no such file or directory"):
        lh.load(tmp_path / "nowhere")
    with pytest.raises(lh.UserError, match="neither a file nor a directory"):
        lh.load("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(lh.UserError, match="neither a file nor a directory"):
        lh.load(tmp_path / "pipe")
    lh.simulate(SMALL).save(tmp_path)
    lh.sweep(SMALL, {"seed": [1]}, replications=1).save(tmp_path)
    with pytest.raises(lh.UserError, match=r"has result\.json and manifest\.json") as caught:
        lh.load(tmp_path)
    assert lh.load(tmp_path / "manifest.json") == lh.sweep(SMALL, {"seed": [1]}, replications=1)
    assert (caught.value.hint or "").startswith("name the file")


def damaged(record: dict[str, Any], part: str, value: Any) -> str:
    """Return a record in which a part has another value, or is missing if the value is `...`."""
    changed = {key: each for key, each in record.items() if key != part}
    return json.dumps(changed if value is ... else changed | {part: value})


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("kind", "simulation", "its `kind` must be record"),
        ("version", "9.0", "written by lasthop 9.0"),
        ("format", 2, "`format`: 2 is newer than this version of lasthop supports: expected 1"),
        ("format", "1", '`format`: "1" is not a format: expected 1'),
        ("interrupted", ..., "`interrupted` is missing"),
        ("samples", ..., "`samples` is missing"),
        ("samples", {"flows": 3}, "`samples` is missing or damaged"),
        ("samples", {"flows": {"a": {"goodput_bps": ["much"]}}}, "`samples` is missing or damaged"),
        ("halves", 3, "`halves` is missing or damaged"),
        ("series", {"time_s": [1], "tracks": [{}]}, "`series` is missing or damaged"),
        ("series", [], "`series` is missing or damaged"),
        ("origin", ..., "`origin` is missing or damaged"),
        ("origin", {"text": 5}, "`origin` is missing or damaged"),
    ],
)
def test_a_damaged_record_is_refused_by_its_part(
    part: str, value: Any, message: str, tmp_path: Path
) -> None:
    lh.simulate(SMALL, replications=1).save(tmp_path)
    path = tmp_path / "record.json"
    text = path.read_text()
    path.write_text(damaged(json.loads(text), part, value))
    with pytest.raises(lh.UserError, match=re.escape(message)) as caught:
        lh.load(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    path.write_text(text[: len(text) // 2])
    with pytest.raises(lh.UserError, match=r"record\.json: cut short"):
        lh.load(tmp_path)


def test_a_scenario_that_this_version_refuses_or_reads_differently_is_reported(
    tmp_path: Path,
) -> None:
    lh.simulate(SMALL, replications=1).save(tmp_path)
    path = tmp_path / "record.json"
    record = json.loads(path.read_text())
    origin = record["origin"]
    other = origin | {"text": origin["text"].replace("upload = 2", "upload = 3")}
    path.write_text(json.dumps(record | {"origin": other}))
    with pytest.warns(RuntimeWarning, match="reads the scenario otherwise") as seen:
        lh.load(tmp_path)
    assert seen[0].filename == __file__
    refused = origin | {"text": origin["text"].replace("upload", "uplaod")}
    path.write_text(json.dumps(record | {"origin": refused}))
    with pytest.raises(lh.UserError, match="its scenario is refused by lasthop") as caught:
        lh.load(tmp_path)
    assert "uplaod" in str(caught.value)
    assert "\n" not in str(caught.value)
