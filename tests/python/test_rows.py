"""Long lists that are read a piece at a time: the same values, each row once, little memory."""

import contextlib
import gc
import io
import json
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lasthop as lh
from lasthop.cli.check import check, written
from lasthop.cli.simulate import print_result
from lasthop.scenario import rows
from lasthop.scenario.rows import LongList, Rows, View
from lasthop.scenario.typed import read
from lasthop.warnings.settings import cautions

from .conftest import EXAMPLES

FEW, MANY = 200, 600
"""Flows of the networks that are compared."""

MORE_KB = {"check": 0.1, "result": 8.0}
"""Kilobytes that a flow may cost beside the engine. A result has ten quantities per
flow. A tree of all rows costs 10."""


def network(flows: int) -> str:
    """A router with so many flows of hosts with links of their own."""
    return (
        'duration = "50 ms"\nwarmup = "10 ms"\nreplications = 1\nqueue = 1000\n'
        f'dumbbell = {{ flows = {flows}, access = "2 Mbps", bottleneck = "1 Gbps", rtt = "10 ms" }}'
    )


SCENARIOS = sorted(EXAMPLES.glob("*.toml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.stem))
def test_rows_are_those_of_the_whole_tree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 3)
    scenario = lh.Scenario(path)
    assert scenario.typed == read(scenario.to_dict())


def numbers(count: int, asked: list[tuple[int, int]]) -> Rows[int]:
    """The numbers below `count`, which note what stretches of them were asked for."""

    def fetch(first: int, last: int) -> str:
        asked.append((first, last))
        values = ", ".join(f'{{"value": {value}}}' for value in range(first, last))
        return f'{{"shared": {{}}, "rows": [{values}]}}'

    return Rows(LongList(count, fetch), lambda row: int(row["value"]))


def test_a_piece_is_read_when_it_is_asked_for_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 4)
    asked: list[tuple[int, int]] = []
    found = numbers(10, asked)
    assert len(found) == 10
    assert asked == []
    assert found[-1] == 9
    assert asked == [(8, 10)]
    assert next(iter(found)) == 0
    assert asked == [(8, 10), (0, 4)]
    assert found[2:7] == (2, 3, 4, 5, 6)
    assert found == tuple(range(10))
    assert found != tuple(range(11))
    assert hash(found) == hash(tuple(range(10)))
    assert sorted(asked) == [(0, 4), (4, 8), (8, 10)]
    with pytest.raises(IndexError):
        found[10]


def test_rows_share_the_tables_that_are_the_same() -> None:
    scenario = lh.Scenario(
        'duration = "9 s"\ndumbbell = { flows = 3, bottleneck = "9 Mbps", rtt = "40 ms" }\n'
        'flow.other.mss = "500 B"\nflow.more.count = 2\n'
    )
    assert pickle.loads(pickle.dumps(scenario.typed)) == scenario.typed
    tcp = [flow.tcp for flow in scenario.typed.tcp_flows]
    assert [each.mss_bytes for each in tcp] == [1460] * 3 + [500] + [1460] * 2
    assert tcp[0] is tcp[2]
    assert tcp[4] is tcp[5]


def test_a_view_reads_the_lists_that_are_asked_for() -> None:
    scenario = lh.Scenario(network(3))
    assert scenario["duration"] == 0.05
    assert list(scenario) == list(scenario.to_dict())
    assert isinstance(scenario._view, View)
    assert isinstance(scenario._view._tree["flows"], LongList)
    first, *_ = scenario["flows"]
    assert dict(first) | {"tcp": {}} == tree_of(scenario)["flows"][0] | {"tcp": {}}
    assert dict(first["tcp"])["mss_bytes"] == 1460
    assert scenario["flows.flow-2.tcp"] is first["tcp"]
    with pytest.raises(TypeError):
        first["name"] = "another"
    with pytest.raises(KeyError):
        scenario["flows.flow-4"]


def tree_of(scenario: lh.Scenario) -> dict[str, Any]:
    """The tree with tuples in the place of lists, as views have them."""
    tree: dict[str, Any] = scenario.to_dict()
    for flow in tree["flows"]:
        flow |= {way: tuple(flow[way]) for way in ("forward", "back")}
    return tree


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.stem))
def test_a_check_prints_the_whole_tree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 3)
    scenario = lh.Scenario(path)
    whole = json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False)
    assert "".join(written(scenario)) == whole


def test_a_check_reads_neither_flows_nor_links_of_hosts() -> None:
    """What is only counted is not read."""
    known = lh.Scenario(network(MANY)).typed
    assert cautions(known) == []
    assert len(known.flows) == MANY
    assert pieces(known.flows) == set()
    assert pieces(known.links) == {0}
    assert [link.name for link in known.routers] == ["bottleneck", "bottleneck/back"]


def pieces(found: object) -> set[int]:
    """Numbers of the pieces that have been read."""
    assert isinstance(found, Rows)
    return set(found._pieces)


@pytest.mark.parametrize("what", ["check", "result"])
def test_memory_and_work_grow_as_flows_do(what: str, tmp_path: Path) -> None:
    """By slope, so that what every run costs does not count; nothing quadratic, no tree of all."""

    def work(flows: int) -> Callable[[], object]:
        if what == "check":
            return lambda: checked(flows, tmp_path)
        result = lh.simulate(network(flows))
        return lambda: told(result)

    work(10)()  # imports and caches
    few, many = work(FEW), work(MANY)
    flows = MANY - FEW
    assert (peak_kb(many) - peak_kb(few)) / flows < MORE_KB[what]
    few, many = work(FEW), work(MANY)
    assert calls(many) < 1.1 * MANY / FEW * calls(few)


def checked(flows: int, folder: Path) -> None:
    """What `lasthop check` does."""
    path = folder / "network.toml"
    path.write_text(network(flows))
    with contextlib.redirect_stdout(io.StringIO()):
        check(str(path))


def told(result: lh.Result) -> None:
    """What `lasthop simulate` does with a result."""
    fresh = lh.Result(result._output, lh.Scenario(result.scenario.content.decode()))
    with contextlib.redirect_stdout(io.StringIO()):
        print_result(fresh)
    assert isinstance(fresh.warnings, list)


def peak_kb(do: Callable[[], object]) -> float:
    """The most memory of Python that something takes."""
    gc.collect()
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1] / 1e3
    finally:
        tracemalloc.stop()


def calls(do: Callable[[], object]) -> int:
    """Calls of functions that something makes."""
    count = 0

    def counting(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        do()
    finally:
        sys.setprofile(None)
    return count
