"""The comparison with Linux's TCP in simulated time: its plan, and how an interrupted comparison
continues.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from equivalence import Agreement
from kernel_tcp_compared import Compared, needs_more
from kernel_tcp_plan import (
    ALL_SEEDS,
    FIRST_SEEDS,
    SELECTED,
    second_seeds,
    stages,
    with_long_run,
)
from kernel_tcp_points import AS_THEY_ARE, Point, grid
from kernel_tcp_virtual import Fingerprints, Store, Work
from kernel_tcp_virtual_page import Results, counted, keep, not_equal, two_kernels

from lasthop.errors import UserError
from lasthop.uml.kernel import Kernel

ONE = "newreno, 1 of 50 ms, drop-tail 1 BDP"
OTHER = "newreno, 1 of 10 ms, drop-tail 1 BDP"
"""Name of another comparison in the grid."""


def point_named(name: str) -> Point:
    """Return the comparison of the grid with this name."""
    return next(point for point in grid() if point.name == name)


def figures(goodput_bps: float, loss: float = 0.01) -> dict[str, float]:
    """Return the measured values of a run."""
    return {"goodput_bps": goodput_bps, "loss": loss, "queue_packets": 9.0, "jain": 1.0}


def make_work(tmp_path: Path, store: Store) -> Work:
    """Return the plan of a comparison with two kernels, which are only text files here."""
    kernels = []
    for version in ("6.12", "6.1"):
        program = tmp_path / version
        program.write_text(version)
        kernels.append(Kernel(program, version, {}))
    return Work(kernels, store, only=re.compile("newreno, 1 of"))


def test_the_plan_has_the_named_points_on_both_kernels_and_the_others_on_one() -> None:
    assert len(set(SELECTED)) == 12
    all_runs = [each for _, some in stages(lambda _: False) for each in some]
    seeds: dict[tuple[str, int], list[int]] = {}
    for each in all_runs:
        if each.run.variant != AS_THEY_ARE:
            assert each.kernel == 0
            continue
        seeds.setdefault((each.run.point.name, each.kernel), []).append(each.run.seed)
    longs = [long for each in grid() if (long := with_long_run(each))]
    assert len(longs) == 4
    assert all(seeds.pop((long.name, 0)) == list(range(1, FIRST_SEEDS + 1)) for long in longs)
    for point in grid():
        count = ALL_SEEDS if point.name in SELECTED else FIRST_SEEDS
        assert seeds[point.name, 0] == list(range(1, count + 1)), point.name
        assert seeds.get((point.name, 1), []) == (
            seeds[point.name, 0] if count == ALL_SEEDS else []
        )


def test_only_undecided_points_run_with_all_seeds() -> None:
    planned = dict(stages(lambda point: point.name == OTHER))
    more = planned["points that are undecided after the first seeds"]
    assert [(each.run.point.name, each.kernel) for each in more] == [(OTHER, 0)] * (
        ALL_SEEDS - FIRST_SEEDS
    )
    assert [each.run.seed for each in more] == list(range(FIRST_SEEDS + 1, ALL_SEEDS + 1))


def test_finished_runs_are_not_repeated_unless_the_kernel_or_the_engine_changes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.jsonl"
    with Store.opened(path) as store:
        work = make_work(tmp_path, store)
        before = work.todo()
        seen = {"figures": figures(1e7), "cost_s": 36.0, "version": "6.12"}
        store.add(work.key(before[0]), work.fingerprints[0], seen)
    work = make_work(tmp_path, Store(path))
    assert work.todo() == before[1:]
    assert work.cost().startswith("1 runs made, 0.01 CPU hours")
    # The first kernel has taken 36 s, and takes six times as long for long runs.
    # The second kernel has the assumed cost.
    assert set(work.costs_s(before)) == {36.0, 6 * 36.0, 35.0}
    work = make_work(tmp_path, Store(path))
    (tmp_path / "6.12").write_text("another program")
    assert work.todo() == before


def test_an_interrupted_line_is_removed_and_a_second_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    prints = Fingerprints("kernel", "preload", "engine")
    with Store.opened(path) as store:
        store.add("one", prints, {"cost_s": 1.0})
        with pytest.raises(UserError, match="another process"), Store.opened(path):
            pass
    with path.open("a") as file:
        file.write('{"key": "two", "se')
    with Store.opened(path) as store:
        assert list(store.seen) == [("one", prints)]
        store.add("three", prints, {"cost_s": 1.0})
    assert [key for key, _ in Store(path).seen] == ["one", "three"]


def test_points_with_losses_of_the_link_are_compared_seed_by_seed() -> None:
    goodputs = [8e6, 10e6, 12e6]
    kernel = [{"figures": figures(1.01 * each)} for each in goodputs]
    engine = {
        "runs": [figures(each) for each in goodputs],
        "by_seed": [figures(each) for each in goodputs],
    }
    lossy = Compared.of(point_named("newreno, 1 of 50 ms, 1 BDP, 1 % lost"), engine, kernel)
    difference = lossy.difference("goodput_bps")
    assert difference is not None
    assert difference.part == pytest.approx(0.01)
    assert lossy.agreement("goodput_bps") is Agreement.EQUAL
    assert not lossy.is_undecided
    other = Compared.of(point_named("newreno, 12 of 50 ms, drop-tail 1 BDP"), engine, kernel)
    assert other.agreement("goodput_bps") is Agreement.UNDECIDED
    assert other.is_undecided


@pytest.mark.parametrize(("loss", "expected"), [(0.0104, False), (0.012, True)])
def test_simulations_that_vary_much_are_replicated_more(loss: float, expected: bool) -> None:
    engine = {"runs": [figures(1e7), figures(1e7, loss), figures(1e7)], "by_period": []}
    # More runs are needed if the half width exceeds half of the band, which is 7.5 %.
    # Here the half widths are 5.7 and 26.7 % of the mean.
    assert needs_more(point_named("newreno, 12 of 50 ms, drop-tail 1 BDP"), engine) is expected
    assert not needs_more(point_named("newreno, 12 of 50 ms, 1 BDP, 1 % lost"), engine)
    unknown = {**engine, "by_period": [float("nan")] * 5}
    assert not needs_more(point_named("newreno, 1 of 200 ms, CoDel"), unknown)


@pytest.mark.parametrize(("missing", "runs"), [(0, 20), (1, 5)])
def test_a_second_series_counts_only_if_it_is_complete(missing: int, runs: int) -> None:
    name = "bbr, 12 of 200 ms, CoDel"
    seeds = second_seeds(point_named(name))
    assert seeds == range(101, 121)

    def tree(run: str, some: Iterable[int]) -> dict[str, Any]:
        by_seed = {str(seed): {"figures": figures(1e7 + seed)} for seed in some}
        return {"engine": {}, "kernels": {"6.12": {"points": {run: by_seed}}}}

    series = Results(tree(f"{name}, large-buffer", seeds[: len(seeds) - missing]))
    results = Results(tree(name, range(1, 6)), series)
    goodputs = [
        run["figures"]["goodput_bps"] for run in results.best(point_named(name), "6.12").kernel
    ]
    assert len(goodputs) == runs
    assert (min(goodputs) > 1e7 + 100) is (missing == 0)


def test_stored_results_give_the_tables_without_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "kept.json.gz"
    with Store.opened(tmp_path / "runs.jsonl") as store:
        work = make_work(tmp_path, store)
        for each in work.todo():
            if each.run.point.name != ONE or each.run.seed > 2:
                continue
            seen = {"figures": figures(1e7), "by_period": None, "cost_s": 36.0, "version": "6.12"}
            if each.kernel == 1:
                seen |= {"figures": figures(0.5e7), "version": "6.1"}
            store.add(work.key(each), work.fingerprints[each.kernel], seen)
        simulated = {"runs": [figures(1.01e7)] * 3, "by_period": []}
        store.add(f"{ONE}, simulated", work.of_engine, simulated)
        keep(work, path)
    results = Results.read(path)
    _, _, _, row, *_ = counted(results)
    assert row.startswith("| Linux 6.12 | Reno | 1 | 1 / 0 / 0 | 1 / 0 / 0 | 1 / 0 / 0 | 0 |")
    *_, row = two_kernels(results)
    assert row.endswith("goodput +100% |")
    assert all("| None |" not in each for each in not_equal(results))
