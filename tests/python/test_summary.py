"""Summaries are plain dictionaries, apart from the arrays that the code of lasthop reads."""

import copy
import json
import pickle
import pprint
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import NoneType
from typing import Any

import pytest

import lasthop as lh
from lasthop.answers.answer import Answer
from lasthop.answers.estimates import estimates_of
from lasthop.answers.summary import ArrayContents, estimates_in
from lasthop.scenario.rows import LongList, Rows, passing

from .conftest import EXAMPLES, SMALL

Tree = dict[str, Any]


@pytest.fixture(scope="module")
def result() -> lh.Result:
    """Return a result of a cell with two replications."""
    return lh.simulate(SMALL, replications=2)


@pytest.mark.parametrize("name", ["hotspot", "dumbbell", "csma-hidden", "udp-beta"])
def test_a_summary_equals_its_text(name: str) -> None:
    short = {"duration": "2 s", "warmup": "1 s"}
    for count in (1, 2):
        run = lh.simulate(EXAMPLES / f"{name}.toml", settings=short, replications=count)
        expected = json.loads(run.to_json())
        assert list(run.summary) == list(expected)
        assert run.summary == expected
        assert expected == run.summary


def types_in(tree: Any) -> set[type]:
    """Return the types of all values in a tree."""
    values = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return {type(tree)}.union(*map(types_in, values))


def numbers_changed(tree: Any) -> Any:
    """Return a tree with another value in place of each number and text."""
    if isinstance(tree, dict):
        return {key: numbers_changed(value) for key, value in tree.items()}
    return [numbers_changed(each) for each in tree] if isinstance(tree, list) else "changed"


@pytest.fixture(params=["simulated", "loaded", "pickled", "predicted", "emulated"])
def answer(request: pytest.FixtureRequest, result: lh.Result, tmp_path: Path) -> Answer:
    """Return an answer of each kind that has a summary."""
    if request.param == "simulated":
        return lh.Result(result._output, result.scenario)
    if request.param == "loaded":
        result.save(tmp_path)
        loaded = lh.load(tmp_path)
        assert isinstance(loaded, lh.Result)
        return loaded
    if request.param == "pickled":
        return copy.deepcopy(pickle.loads(pickle.dumps(result)))
    if request.param == "predicted":
        return lh.predict(SMALL)
    return lh.Emulation({**result.to_dict(), "kind": "emulation"}, result.scenario)


def test_a_summary_is_a_plain_dictionary(answer: Answer) -> None:
    """Serialisers in C read the storage of a dictionary, not its methods."""
    expected = json.loads(answer.to_json())
    assert type(answer.summary) is dict
    assert {key: dict.get(answer.summary, key) for key in expected} == expected
    assert answer.summary == answer.to_dict() == expected
    assert types_in(answer.summary) <= {dict, list, str, int, float, bool, NoneType}
    assert pprint.pformat(answer.summary) == pprint.pformat(expected)
    assert pickle.loads(pickle.dumps(answer.summary)) == expected
    assert answer.summary is answer.summary


def test_a_changed_summary_changes_nothing_else(answer: Answer, tmp_path: Path) -> None:
    unchanged = copy.deepcopy(answer)
    text, number = answer.to_json(), hash(answer)
    answer.summary.update(numbers_changed(answer.summary))
    answer.summary["stations"] = []
    answer.summary["mine"] = {3.0}
    assert answer == unchanged
    assert hash(answer) == number
    assert answer.to_json() == text
    assert answer.to_dict() == unchanged.to_dict()
    assert answer.heading == unchanged.heading
    assert answer.estimates("cells", "jain") == unchanged.estimates("cells", "jain")
    assert answer.stations.equals(unchanged.stations)
    assert answer.table("flows").equals(unchanged.table("flows"))
    assert repr(answer) == repr(unchanged)
    assert answer.page().html() == unchanged.page().html()
    assert pickle.loads(pickle.dumps(answer)).summary == unchanged.summary
    if isinstance(answer, lh.Result):
        answer.sample_tree["stations"].clear()  # type: ignore[attr-defined]
        assert answer == unchanged
        answer.save(tmp_path / "changed")
        assert lh.load(tmp_path / "changed") == unchanged


def test_threads_share_one_summary(result: lh.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 4
    everyone_reads = Barrier(threads)
    created = lh.Result.to_dict

    def slowly(self: lh.Result) -> Tree:
        everyone_reads.wait(timeout=60)  # no thread has stored a summary yet
        return created(self)

    monkeypatch.setattr(lh.Result, "to_dict", slowly)
    fresh = lh.Result(result._output, result.scenario)
    with ThreadPoolExecutor(threads) as pool:
        read = list(pool.map(lambda _: fresh.summary, range(threads)))
    assert {id(each) for each in read} == {id(fresh.summary)}


def test_a_changed_point_of_a_sweep_is_equal() -> None:
    swept = lh.sweep(SMALL, {"cell.cwmin": [15, 31]}, replications=1)
    first, again = swept.points[0], swept.points[0]
    first.summary["stations"].clear()
    assert first == again


def test_estimates_are_read_without_the_dictionaries_of_a_list(result: lh.Result) -> None:
    fresh = lh.Result(result._output, result.scenario)
    tree = json.loads(result.to_json())
    for list_name in ("flows", "stations", "x"):
        for quantity in ("goodput_bps", "rtt_s", "x"):
            expected = estimates_of(tree.get(list_name, ()), quantity)
            assert fresh.estimates(list_name, quantity) == expected
            assert estimates_in(tree, list_name, quantity) == expected


def test_warnings_and_tables_store_no_list() -> None:
    """The lists of a large network need ten times the memory of its arrays."""
    run = lh.simulate(
        EXAMPLES / "dumbbell.toml", settings={"duration": "2 s", "warmup": "1 s"}, replications=1
    )
    assert isinstance(run.contents, ArrayContents)
    head = set(json.loads(run._output.head_json))  # type: ignore[attr-defined]
    assert isinstance(run.warnings, list)
    assert isinstance(run.notes, list)
    assert run.estimates("totals", "packets_delivered")["run"].mean > 0
    assert len(run.flows) == len(run.summary["flows"]) > 0
    assert "stations" not in run.contents
    assert set(run.contents._values) == head
    assert "summary" not in pickle.loads(pickle.dumps(run)).__dict__


def test_contents_are_a_mapping_of_the_summary(result: lh.Result) -> None:
    contents = ArrayContents(result._output)  # type: ignore[arg-type]
    tree = result.to_dict()
    assert (list(contents), len(contents)) == (list(tree), len(tree))
    assert ("flows" in contents, "x" in contents, contents.get("x", 3)) == (True, False, 3)
    assert dict(contents) == contents.tree() == tree
    assert contents["flows"] is contents["flows"]
    with pytest.raises(KeyError):
        contents["x"]


def test_rows_that_are_read_once_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lasthop.scenario.rows.PIECE", 4)

    def rows(count: int) -> Rows[int]:
        def fetch(first: int, last: int) -> str:
            values = [{"value": value} for value in range(first, last)]
            return json.dumps({"shared": {}, "rows": values})

        return Rows(LongList(count, fetch), lambda row: int(row["value"]))

    many, few = rows(10), rows(4)
    assert many[5] == 5
    assert list(passing(many)) == list(range(10))
    assert set(many._pieces) == {1}
    assert list(passing(few)) == [0, 1, 2, 3]
    assert set(few._pieces) == {0}
    assert list(passing((1, 2))) == [1, 2]
