"""Long lists that are read in pieces: their values are equal, each row is read once, and memory is
small.
"""

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
from lasthop.warnings.settings import warnings_for

from .conftest import EXAMPLES

FEW, MANY = 200, 600
"""Numbers of flows in a smaller network and in a larger network, whose memory is compared."""

MORE_KB = {"check": 0.1, "result": 8.0}
"""Largest memory of Python per flow, without the memory of the engine. [kB]

A result has ten quantities per flow. For comparison, a tree of all rows has 10 kB per flow.
"""


def network(flows: int) -> str:
    """Return a router scenario with this many flows, each from a host with its own link."""
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
    """Return rows with the numbers below `count`. The requested ranges are recorded in `asked`."""

    def fetch(first: int, last: int) -> str:
        asked.append((first, last))
        values = ", ".join(f'{{"value": {value}}}' for value in range(first, last))
        return f'{{"shared": {{}}, "rows": [{values}]}}'

    return Rows(LongList(count, fetch), lambda row: int(row["value"]))


def test_a_piece_is_read_on_demand_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 4)
    asked: list[tuple[int, int]] = []
    sequence = numbers(10, asked)
    assert len(sequence) == 10
    assert asked == []
    assert sequence[-1] == 9
    assert asked == [(8, 10)]
    assert next(iter(sequence)) == 0
    assert asked == [(8, 10), (0, 4)]
    assert sequence[2:7] == (2, 3, 4, 5, 6)
    assert sequence == tuple(range(10))
    assert sequence != tuple(range(11))
    assert hash(sequence) == hash(tuple(range(10)))
    assert sorted(asked) == [(0, 4), (4, 8), (8, 10)]
    with pytest.raises(IndexError):
        sequence[10]


def test_rows_share_equal_tables() -> None:
    scenario = lh.Scenario(
        'duration = "9 s"\ndumbbell = { flows = 3, bottleneck = "9 Mbps", rtt = "40 ms" }\n'
        'flow.other.mss = "500 B"\nflow.more.count = 2\n'
    )
    assert pickle.loads(pickle.dumps(scenario.typed)) == scenario.typed
    tcp = [flow.tcp for flow in scenario.typed.tcp_flows]
    assert [each.mss_bytes for each in tcp] == [1460] * 3 + [500] + [1460] * 2
    assert tcp[0] is tcp[2]
    assert tcp[4] is tcp[5]


def test_a_view_reads_only_requested_lists() -> None:
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
    """Return the tree of a scenario. Routes are tuples instead of lists, which is how views return
    them.
    """
    tree: dict[str, Any] = scenario.to_dict()
    for flow in tree["flows"]:
        flow |= {way: tuple(flow[way]) for way in ("forward", "back")}
    return tree


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.stem))
def test_a_check_prints_the_whole_tree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 3)
    scenario = lh.Scenario(path)
    expected = json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False)
    assert "".join(written(scenario)) == expected


def test_a_check_reads_neither_flows_nor_links_of_hosts() -> None:
    """The number of rows is read without reading the items."""
    known = lh.Scenario(network(MANY)).typed
    assert warnings_for(known) == []
    assert len(known.flows) == MANY
    assert pieces(known.flows) == set()
    assert pieces(known.links) == {0}
    assert [link.name for link in known.routers] == ["bottleneck", "bottleneck/back"]


def pieces(value: object) -> set[int]:
    """Return the indices of the pieces of a list that were read."""
    assert isinstance(value, Rows)
    return set(value._pieces)


@pytest.mark.parametrize("what", ["check", "result"])
def test_memory_and_work_are_proportional_to_flows(what: str, tmp_path: Path) -> None:
    """The test compares two numbers of flows, so that constant costs cancel. Costs per flow must
    not grow.
    """

    def work(flows: int) -> Callable[[], object]:
        if what == "check":
            return lambda: checked(flows, tmp_path)
        result = lh.simulate(network(flows))
        return lambda: printed(result)

    work(10)()  # loads imports and caches
    few, many = work(FEW), work(MANY)
    flows = MANY - FEW
    assert (peak_kb(many) - peak_kb(few)) / flows < MORE_KB[what]
    few, many = work(FEW), work(MANY)
    assert calls(many) < 1.1 * MANY / FEW * calls(few)


def checked(flows: int, folder: Path) -> None:
    """Run `lasthop check`."""
    path = folder / "network.toml"
    path.write_text(network(flows))
    with contextlib.redirect_stdout(io.StringIO()):
        check(str(path), settings=None, as_json=False)


def printed(result: lh.Result) -> None:
    """Print a result as `lasthop simulate` does."""
    fresh = lh.Result(result._output, lh.Scenario(result.scenario.content.decode()))
    with contextlib.redirect_stdout(io.StringIO()):
        print_result(fresh)
    assert isinstance(fresh.warnings, list)


def peak_kb(do: Callable[[], object]) -> float:
    """Return the peak of the memory of Python during a call. [kB]"""
    gc.collect()
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1] / 1e3
    finally:
        tracemalloc.stop()


def calls(do: Callable[[], object]) -> int:
    """Return the number of calls of functions during a call."""
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
