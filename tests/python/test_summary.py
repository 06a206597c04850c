"""Summaries that are stored as arrays: they are dictionaries, and create only what is read."""

import copy
import json
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import lasthop as lh
from lasthop.answers.estimates import estimates_of
from lasthop.answers.summary import Summary, estimates_in
from lasthop.scenario.rows import LongList, Rows, passing

from .conftest import EXAMPLES, SMALL

Tree = dict[str, Any]

READ: Mapping[str, Callable[[Tree], object]] = {
    "dict": dict,
    "stars": lambda tree: {**tree},
    "items": lambda tree: list(tree.items()),
    "values": lambda tree: list(tree.values()),
    "keys": lambda tree: (list(tree), list(tree.keys()), len(tree), "flows" in tree, "x" in tree),
    "get": lambda tree: (tree.get("flows"), tree.get("x"), tree.get("x", 3)),
    "copy": lambda tree: tree.copy(),
    "or": lambda tree: tree | {"flows": []},
    "ror": lambda tree: {"flows": []} | tree,
    "pop": lambda tree: (tree.pop("flows"), tree.pop("flows", 3), tree),
    "setdefault": lambda tree: (tree.setdefault("flows", 3), tree.setdefault("x", 3), tree),
    "set": lambda tree: (tree.__setitem__("flows", 3), tree),
    "delete": lambda tree: (tree.__delitem__("flows"), tree),
    "repr": repr,
    "json": json.dumps,
    "indented": lambda tree: json.dumps(tree, indent=2, sort_keys=True),
    "deepcopy": copy.deepcopy,
    "pickle": lambda tree: pickle.loads(pickle.dumps(tree)),
}


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


@pytest.mark.parametrize("way", READ)
def test_a_summary_is_read_as_a_dictionary(result: lh.Result, way: str) -> None:
    fresh = lh.Result(result._output, result.scenario).summary
    assert isinstance(fresh, Summary)
    assert READ[way](fresh) == READ[way](json.loads(result.to_json()))


def test_a_changed_summary_is_not_equal(result: lh.Result) -> None:
    fresh = lh.Result(result._output, result.scenario)
    assert fresh.summary == result.summary
    fresh.summary["flows"][0]["name"] = "another"
    assert fresh.summary != result.summary
    assert "another" in estimates_in(fresh.summary, "flows", "rtt_s")


def test_estimates_are_read_without_the_dictionaries_of_a_list(result: lh.Result) -> None:
    fresh = lh.Result(result._output, result.scenario)
    tree = json.loads(result.to_json())
    for list_name in ("flows", "stations", "x"):
        for quantity in ("goodput_bps", "rtt_s", "x"):
            expected = estimates_of(tree.get(list_name, ()), quantity)
            assert estimates_in(fresh.summary, list_name, quantity) == expected
            assert estimates_in(tree, list_name, quantity) == expected


def test_warnings_and_totals_read_no_list_of_flows() -> None:
    run = lh.simulate(
        EXAMPLES / "dumbbell.toml", settings={"duration": "2 s", "warmup": "1 s"}, replications=1
    )
    summary = run.summary
    assert isinstance(summary, Summary)
    assert isinstance(run.warnings, list)
    assert summary["totals"][0]["name"] == "run"
    assert {"flows", "queues"} <= summary._unread


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
