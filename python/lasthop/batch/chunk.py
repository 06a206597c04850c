"""Messages to and from a worker: a chunk of runs to simulate, and an archive with their results."""

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from socket import gethostname

from lasthop import _core
from lasthop.batch.part import Run, packed
from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.source import FILE_KEY, File, Setting
from lasthop.simulation.series_memory import values_sampled
from lasthop.simulation.simulate import Progress

KEPT: dict[str, Callable[[_core.SimulationOutput], str]] = {
    "summary": lambda output: output.summary_line,
    "samples": lambda output: output.samples_json,
    "halves": lambda output: output.halves_json,
    "series": lambda output: output.series_json,
}
"""Functions that return the stored data of a run as JSON, by name."""

CHECKED_TOGETHER = 256
"""Number of points that are checked in one call of the engine."""

TOGETHER = 16
"""Number of runs whose scenarios are prepared before the first of these runs is simulated."""

TOGETHER_S = 0.1
"""Longest time for which results of finished runs are collected before they are passed on. [s]"""


@dataclass(frozen=True)
class Task:
    """One run: a scenario with the settings that change it."""

    key: str
    """Key of the scenario with the settings; see `Scenario.key`."""
    scenario: Scenario
    length: tuple[int, float]
    """Number of replications, and total simulated time of all replications. [s]"""
    settings: tuple[Setting, ...] = ()
    files: tuple[File, ...] = ()
    """Files, such as traces, that the scenario names with these settings."""
    values_sampled: int = 0
    """Number of values in the time series of the run."""

    @staticmethod
    def of(scenario: Scenario) -> "Task":
        """Return the run of a scenario as it is, without settings."""
        return Task(
            scenario.key,
            scenario,
            length(scenario),
            values_sampled=values_sampled(scenario),
        )

    @staticmethod
    def over(base: Scenario, settings: Mapping[str, str]) -> "Task":
        """Return the run of a scenario that settings change.

        Raises
        ------
        ScenarioError
            If the scenario is refused with the settings.
        """
        made = Scenario(base, settings)
        files = tuple(made.checked.files)
        sampled = values_sampled(made)
        return Task(made.key, base, length(made), tuple(settings.items()), files, sampled)

    def made(self) -> _core.Scenario:
        """Return the engine's scenario with the settings of this run."""
        base = self.scenario
        if not self.settings:
            return base.checked
        settings = [*base.settings, *self.settings]
        return _core.Scenario(base.content, base.format, base.source, settings, list(self.files))


def tasks_over(base: Scenario, points: Iterable[Mapping[str, str]], jobs: int) -> Iterator[Task]:
    """Yield the run of a scenario at each point, checked by the engine on `jobs` threads.

    Raises
    ------
    ScenarioError
        If the scenario is refused at a point.
    """
    remaining = iter(points)
    while together := list(islice(remaining, CHECKED_TOGETHER)):
        rows = [list(point.items()) for point in together]
        if base.checked.files or any(
            FILE_KEY in path or FILE_KEY in value for row in rows for path, value in row
        ):
            # Only Python reads the files that a scenario names.
            yield from (Task.over(base, point) for point in together)
            continue
        facts = _core.check_points(base.checked, rows, jobs)
        for row, (key, replications, length_s, values) in zip(rows, facts, strict=False):
            yield Task(key, base, (replications, length_s), tuple(row), (), values)
        if len(facts) < len(rows):
            yield Task.over(base, together[len(facts)])  # raises the error


def length(scenario: Scenario) -> tuple[int, float]:
    """Return the number of replications of a scenario, and their total simulated time. [s]"""
    return scenario.checked.replications, scenario.checked.length_s


@dataclass(frozen=True)
class Chunk:
    """Runs that one worker simulates, one after the other."""

    tasks: tuple[Task, ...]
    contents: tuple[str, ...]
    """Names in `KEPT` of the data that are stored for each run."""
    threads: int = 1
    """Number of threads that simulate the replications of a run."""
    tails: bool = False
    """Whether to also measure percentiles and times of starvation; see ``tails`` of `simulate`."""
    engine: str = field(default_factory=lambda: _core.ENGINE)
    """Fingerprint of the engine in the process that submits the chunk."""


@dataclass(frozen=True)
class Finished:
    """Results of a finished chunk."""

    part: bytes
    """ZIP archive with the results of the runs; see `lasthop.batch.part`."""
    keys: tuple[str, ...]
    cpu_s: float
    """CPU time of the chunk. [s]"""
    simulated_s: float
    """Total simulated time of all replications of the chunk. [s]"""


class Watch:
    """Observer of runs in the same process, which may stop them. This base class never stops a
    run.
    """

    def see(self, key: str, replications: int, simulated_s: float) -> bool:
        """Record the progress of a run; return whether the run may continue."""
        return True

    def may_begin(self) -> bool:
        """Return whether another run may begin."""
        return True


def compute(chunk: Chunk, watch: Watch | None = None) -> Finished:
    """Simulate the runs of a chunk. Runs that were stopped are left out of the results.

    Raises
    ------
    UserError
        If this worker's engine differs from the engine of the submitting process.
    """
    if chunk.engine != _core.ENGINE:
        raise UserError(
            f"worker on {gethostname()}: its engine, of lasthop {_core.VERSION}, differs",
            "install the same lasthop on all workers",
        )
    runs: dict[str, Run] = {}
    simulated_s = 0.0
    with PROCESSOR.shared() as spent, deaf(watch is None):
        for task, length_s, output in _outputs(chunk, watch or Watch()):
            runs[task.key] = {what: KEPT[what](output) for what in chunk.contents}
            simulated_s += length_s
        part = packed(runs)
    return Finished(part, tuple(runs), spent(), simulated_s)


def _outputs(chunk: Chunk, watch: Watch) -> Iterator[tuple[Task, float, _core.SimulationOutput]]:
    """Yield the finished runs of a chunk, with their simulated time. [s]

    Short runs are simulated without other work between them. Other work would evict the engine from
    the processor's caches.
    """
    for first in range(0, len(chunk.tasks), TOGETHER):
        tasks = chunk.tasks[first : first + TOGETHER]
        done: list[tuple[Task, float, _core.SimulationOutput]] = []
        began_s = time.monotonic()
        for task, made in zip(tasks, [each.made() for each in tasks], strict=True):
            output = _simulated(task.key, made, chunk, watch) if watch.may_begin() else None
            if output is None:
                yield from done
                return
            done.append((task, made.length_s, output))
            watch.see(task.key, *task.length)
            if time.monotonic() - began_s > TOGETHER_S:
                yield from done
                done = []
        yield from done


def _simulated(
    key: str, scenario: _core.Scenario, chunk: Chunk, watch: Watch
) -> _core.SimulationOutput | None:
    """Return the output of a run; None if the run was stopped before its end."""

    def on_progress(seen: Progress) -> bool:
        return watch.see(key, seen["replications_done"], seen["simulated_s"])

    try:
        output = _core.simulate(scenario, chunk.threads, on_progress, chunk.tails)
    except KeyboardInterrupt:  # The run was stopped before its first replication was finished.
        return None
    return None if output.interrupted else output


@contextmanager
def deaf(wanted: bool) -> Iterator[None]:
    """Ignore Ctrl-C in a worker process if `wanted`. A terminal also sends Ctrl-C to the parent
    process, which handles it.
    """
    main = threading.current_thread() is threading.main_thread()
    if not (wanted and main):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Processor:
    """CPU time of this process, divided equally among the threads that work
    simultaneously.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shares: dict[object, float] = {}
        self._looked_s = 0.0

    @contextmanager
    def shared(self) -> Iterator[Callable[[], float]]:
        """Yield a function that returns the calling thread's share of the CPU time. [s]"""
        me = object()
        with self._lock:
            self._share_out()
            self._shares[me] = 0.0
        spent_s = 0.0

        def spent() -> float:
            with self._lock:
                self._share_out()
                return self._shares.get(me, spent_s)

        try:
            yield spent
        finally:
            spent_s = spent()
            with self._lock:
                del self._shares[me]

    def _share_out(self) -> None:
        now_s = time.process_time()
        for each in self._shares:
            self._shares[each] += (now_s - self._looked_s) / len(self._shares)
        self._looked_s = now_s


PROCESSOR = Processor()
"""Shared clock of the CPU time of this process."""
