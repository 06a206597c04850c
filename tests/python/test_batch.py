"""Runs are sent in chunks to executors. Stored results are equal and are never computed again."""

import errno
import hashlib
import json
import os
import pickle
import random
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.batch import BatchProgress, Workers, executors, parts
from lasthop.batch.chunk import Chunk, Task, compute
from lasthop.batch.executors import Jobs, dask_cluster, slurm
from lasthop.batch.part import Part
from lasthop.batch.sizes import MAX_TASKS, Sizes
from lasthop.sweep import SweepInterrupted

from .conftest import SMALL

OVER = {"seed": "1..4", "cell.ap_queue": [10, 20]}

LONG = SMALL.replace('duration = "4 s"', 'duration = "200 s"')
"""A point of this sweep takes about a quarter of a second."""


# -- sizes of chunks -----------------------------------------------------------------------------


def test_the_first_chunks_have_one_run_each() -> None:
    assert Sizes(10.0, 2).next([1.0] * 50, 50) == 1


def test_chunks_have_ten_seconds_of_work_and_fewer_runs_near_the_end() -> None:
    sizes = Sizes(10.0, 2)
    sizes.learn(simulated_s=100.0, cpu_s=1.0)  # A simulated second takes 10 ms.
    assert sizes.next([100.0] * 600, 600) == 10
    assert sizes.next([100.0] * 12, 12) == 2
    assert sizes.next([100.0], 1) == 1
    assert sizes.next([5000.0, 1.0], 900) == 1, "one run of 50 s"
    assert sizes.next([1e-6] * 100_000, 100_000) == MAX_TASKS


# -- executors -----------------------------------------------------------------------------------


def tables(directory: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(directory.iterdir())
        if path.suffix in (".csv", ".parquet")
    }


def keys(directory: Path) -> set[str]:
    """Return the keys of the stored runs, and check that no run is in two part files."""
    sealed = [key for path in directory.glob("parts/*.zip") for key in Part(path).runs()]
    assert len(sealed) == len(set(sealed))
    return set(sealed)


def processes() -> Executor:
    return ProcessPoolExecutor(2, get_context("spawn"))


@contextmanager
def threads_of_this_process(folder: Path) -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@contextmanager
def pool(folder: Path) -> Iterator[Executor]:
    with processes() as executor:
        yield executor


@contextmanager
def cluster(folder: Path) -> Iterator[Workers]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder)
        ) as running,
        dask_cluster(running.scheduler_address) as workers,
    ):
        yield workers


@contextmanager
def jobs(folder: Path) -> Iterator[Workers]:
    pytest.importorskip("submitit")
    with slurm(folder / "jobs", {}, cluster="local") as workers:
        yield workers


FAR = [pytest.param(cluster, marks=pytest.mark.slow), pytest.param(jobs, marks=pytest.mark.slow)]
WHO = [threads_of_this_process, pool, *FAR]


@pytest.mark.parametrize("who", WHO)
def test_tables_are_the_same_with_every_executor(tmp_path: Path, who: Any) -> None:
    alone = tmp_path / "alone"
    lh.sweep(SMALL, OVER, directory=alone, jobs=1).save(alone)
    here = tmp_path / "here"
    with who(tmp_path) as executor:
        lh.sweep(SMALL, OVER, directory=here, executor=executor).save(here)
    assert len(tables(alone)) > 4
    assert tables(here) == tables(alone)
    assert keys(here) == keys(alone)


def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the keys of the simulations of this process."""
    seen: list[str] = []
    real = _core.simulate

    def noted(scenario: _core.Scenario, *options: Any) -> _core.SimulationOutput:
        seen.append(hashlib.sha256(scenario.to_json().encode()).hexdigest())
        return real(scenario, *options)

    monkeypatch.setattr(_core, "simulate", noted)
    return seen


def children() -> set[int]:
    """Return the child processes of this process."""
    psutil = pytest.importorskip("psutil")
    every = psutil.Process().children(recursive=True)
    return {each.pid for each in every if "resource_tracker" not in " ".join(each.cmdline())}


@pytest.mark.parametrize("who", [pool, *FAR])
def test_sealed_runs_are_not_repeated_after_workers_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: Any
) -> None:
    over = {"seed": "1..20"}
    before, killed = children(), threading.Event()
    draw = random.Random(os.environ.get("SEED"))
    after = draw.randint(1, 12)

    def kill(progress: BatchProgress) -> None:
        if progress["runs_done"] >= after and not killed.is_set():
            killed.set()
            with suppress(ProcessLookupError):
                os.kill(draw.choice(sorted(children() - before)), signal.SIGKILL)

    here = tmp_path / "here"
    # The cluster replaces the killed workers and completes the sweep.
    # With other executors, the sweep ends with an error.
    with who(tmp_path) as executor, suppress(lh.UserError):
        lh.sweep(LONG, over, directory=here, executor=executor, progress=kill)
    assert killed.is_set()
    sealed = keys(here)
    assert len(sealed) >= after
    again = simulated(monkeypatch)
    lh.sweep(LONG, over, directory=here).save(here)
    assert len(keys(here)) == 20
    assert sorted(again) == sorted(keys(here) - sealed)
    lh.sweep(LONG, over, directory=tmp_path / "alone").save(tmp_path / "alone")
    assert tables(here) == tables(tmp_path / "alone")


# -- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c_lets_running_simulations_finish(tmp_path: Path) -> None:
    seen: list[BatchProgress] = []

    def press(progress: BatchProgress) -> None:
        seen.append(progress)
        if len(seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(SweepInterrupted, match=r"2 of 40 points are finished") as caught:
        lh.sweep(LONG, {"seed": "1..40"}, directory=tmp_path, jobs=2, progress=press)
    assert len(caught.value.finished.points) == len(keys(tmp_path)) == 2
    assert seen[-1]["draining"]
    written = json.loads((tmp_path / "progress.json").read_text())
    assert (written["state"], written["runs_done"], written["runs"], written["parts"]) == (
        "interrupted",
        2,
        40,
        2,
    )
    assert written["simulated_s_per_cpu_s"] > 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_the_batch(tmp_path: Path) -> None:
    endless = SMALL.replace('duration = "4 s"', 'duration = "100000 s"')

    def press(progress: BatchProgress) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(SweepInterrupted, match=r"0 of 3 points are finished"):
        lh.sweep(endless, {"seed": "1..3"}, directory=tmp_path, jobs=2, progress=press)
    assert keys(tmp_path) == set()


def test_an_interrupted_sweep_is_a_pickle() -> None:
    stop = SweepInterrupted(lh.sweep(SMALL, {"seed": [1]}), 3)
    again = pickle.loads(pickle.dumps(stop))
    assert (again.finished, str(again)) == (stop.finished, str(stop))


# -- failures ------------------------------------------------------------------------------------


def test_a_full_disk_loses_nothing_that_is_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = parts.write_atomically
    written: list[Path] = []

    def full(path: Path, write: Any) -> None:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        written.append(path)
        real(path, write)

    monkeypatch.setattr(parts, "write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        lh.sweep(SMALL, {"seed": "1..9"}, directory=tmp_path, jobs=1)
    monkeypatch.undo()
    sealed = keys(tmp_path)
    assert len(sealed) >= 3
    assert len(list(tmp_path.glob("parts/*"))) == 3
    again = simulated(monkeypatch)
    lh.sweep(SMALL, {"seed": "1..9"}, directory=tmp_path)
    assert sorted(again) == sorted(keys(tmp_path) - sealed)


def test_a_worker_with_another_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = Chunk((Task.of(lh.Scenario(SMALL)),), ("summary",), engine="another")
    with pytest.raises(lh.UserError, match=r"its engine, of lasthop .* differs"):
        compute(chunk)


def test_an_error_of_the_engine_is_reported_and_other_runs_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _core.simulate

    def fails(scenario: _core.Scenario, *options: Any) -> _core.SimulationOutput:
        if json.loads(scenario.to_json())["seed"] == 3:
            raise lh.EngineError("a law is broken")
        return real(scenario, *options)

    monkeypatch.setattr(_core, "simulate", fails)
    with pytest.raises(lh.EngineError, match="a law is broken"):
        lh.sweep(SMALL, {"seed": "1..9"}, directory=tmp_path, jobs=1)
    assert len(keys(tmp_path)) >= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"executor": 3}, "not an executor"),
        ({"executor": ThreadPoolExecutor(1), "jobs": 2}, "expected only one of the two"),
    ],
)
def test_invalid_executors_are_refused(options: Any, message: str) -> None:
    with pytest.raises(lh.UserError, match=message):
        lh.sweep(SMALL, {"seed": [1]}, **options)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "CONNECT_S", "1s")
    address = "tcp://127.0.0.1:9"
    message = re.escape(f"cluster {address}: no scheduler answers")
    with pytest.raises(lh.UserError, match=message), dask_cluster(address):
        pass


def test_waiting_for_workers_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "LOOK_S", 0.0)
    monkeypatch.setattr(executors, "LOST_S", 0.2)
    looks = iter([False, True, *[False] * 1000])

    class Nobody(Executor):
        def submit(self, *work: Any) -> Future[Any]:  # type: ignore[override]
            return Future()

    workers = Workers(Nobody(), 2, is_there=lambda: next(looks))
    with pytest.raises(lh.UserError, match=r"workers were lost: .*; 0 of 3 runs are kept"):
        lh.sweep(SMALL, {"seed": "1..3"}, executor=workers)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "submitit", None)
    with (
        pytest.raises(lh.UserError, match="distributed is not installed") as caught,
        dask_cluster("x"),
    ):
        pass
    assert caught.value.hint == 'run `pip install "lasthop[cluster]"`'
    with pytest.raises(lh.UserError, match="submitit is not") as caught, slurm(Path(), {}):
        pass
    assert caught.value.hint == 'run `pip install "lasthop[slurm]"`'


class Job:
    """A job that is finished when its state is checked for the second time."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work, self.looks, self.cancelled = work, 0, False

    def done(self) -> bool:
        self.looks += 1
        return self.looks > 1

    def result(self) -> Any:
        return self.work()

    def cancel(self) -> None:
        self.cancelled = True


def test_submitted_jobs_are_futures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "POLL_S", 0.001)
    executor = Jobs(lambda work, *args: Job(lambda: work(*args)))
    assert executor.submit(pow, 2, 5).result(5.0) == 32
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 1, 0).result(5.0)
    executor.shutdown()
