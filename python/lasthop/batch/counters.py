"""Progress of a batch, for a progress bar and for readers of ``progress.json``."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from lasthop.answers.saving import PROGRESS, text_writer, write_atomically
from lasthop.batch.chunk import Finished, Watch
from lasthop.simulation.simulate import Progress

WRITE_S = 1.0
"""Smallest interval between two updates of ``progress.json``. [s]"""


class BatchProgress(Progress):
    """Progress of a batch: its runs, replications and simulated time."""

    runs_done: int
    """Number of finished scenarios, including those of earlier batches and those not yet saved."""
    runs: int
    """Number of all scenarios, finished or not."""
    parts: int
    """Number of saved archives with finished scenarios."""
    simulated_s_per_cpu_s: float | None
    """Simulated time per CPU time of the saved runs; None if no run was saved. [s/s]"""
    time_left_s: float | None
    """Estimated remaining time at the speed so far; None if it is unknown. [s]"""
    runs_under_way: int
    """Number of scenarios that run now in this process."""
    draining: bool
    """Whether Ctrl-C was pressed, so that only running scenarios are finished."""


ProgressCallback: TypeAlias = Callable[[BatchProgress], bool | None]


class ProgressCounters(Watch):
    """Total progress of runs that are simulated in parallel or on other machines.

    Parameters
    ----------
    lengths : mapping
        Number of replications and simulated time [s] of each run to be simulated, by its key.
    before : int
        Number of runs that were finished before this batch.
    callback : callable or None
        Called with the `BatchProgress`; if it returns False, `stopped` is set.
    directory : Path or None
        Folder in which `PROGRESS` is written.
    """

    def __init__(
        self,
        lengths: dict[str, tuple[int, float]],
        before: int,
        callback: ProgressCallback | None,
        directory: Path | None,
    ) -> None:
        self.stopped = threading.Event()
        self.draining = threading.Event()
        self._lengths = lengths
        self._before = before
        self._callback = callback
        self._file = None if directory is None else directory / PROGRESS
        self._lock = threading.Lock()
        self._under_way: dict[str, tuple[int, float]] = {}
        self._replications = sum(count for count, _ in lengths.values())
        self._total_s = sum(length_s for _, length_s in lengths.values())
        self._runs = self._parts = self._replications_done = 0
        self._simulated_s = self._cpu_s = 0.0
        self._began_s = time.monotonic()
        self._written_s = -WRITE_S

    def see(self, key: str, replications: int, simulated_s: float) -> bool:
        """Record the progress of a run; return whether the run may continue."""
        with self._lock:
            self._under_way[key] = replications, simulated_s
            self._tell()
        return not self.stopped.is_set()

    def may_begin(self) -> bool:
        """Return whether another run may begin."""
        return not (self.stopped.is_set() or self.draining.is_set())

    def sealed(self, finished: Finished, parts: int) -> None:
        """Record that a chunk was saved; `parts` is the number of saved archives."""
        with self._lock:
            for key in finished.keys:
                self._under_way.pop(key, None)
                replications, length_s = self._lengths[key]
                self._replications_done += replications
                self._simulated_s += length_s
            self._runs += len(finished.keys)
            self._cpu_s += finished.cpu_s
            self._parts = parts
            self._tell()

    def drain(self) -> None:
        """Start no further runs, and report that only running scenarios are finished."""
        with self._lock:
            self.draining.set()
            self._tell()

    @property
    def runs_done(self) -> int:
        """Number of runs that this batch has finished and saved."""
        return self._runs

    def finish(self, state: str) -> None:
        """Write the state at the end of the batch to ``progress.json``."""
        with self._lock:
            self._write(self._progress(), state)

    def _tell(self) -> None:
        progress = self._progress()
        answer = None if self._callback is None else self._callback(progress)
        if answer is not None and not answer:
            self.stopped.set()
        if time.monotonic() - self._written_s >= WRITE_S:
            self._write(progress, "draining" if self.draining.is_set() else "running")

    def _progress(self) -> BatchProgress:
        runs = self._under_way.values()
        simulated_s = self._simulated_s + sum(each for _, each in runs)
        under_way = sum(
            count != self._lengths[key][0] for key, (count, _) in self._under_way.items()
        )
        finished = len(self._under_way) - under_way
        passed_s = time.monotonic() - self._began_s
        left_s = None
        if simulated_s > 0.0:
            left_s = passed_s * (self._total_s - simulated_s) / simulated_s
        return BatchProgress(
            replications_done=self._replications_done + sum(each for each, _ in runs),
            replications=self._replications,
            simulated_s=simulated_s,
            total_s=self._total_s,
            runs_done=self._before + self._runs + finished,
            runs=self._before + len(self._lengths),
            parts=self._parts,
            simulated_s_per_cpu_s=self._simulated_s / self._cpu_s if self._cpu_s > 0.0 else None,
            time_left_s=left_s,
            runs_under_way=under_way,
            draining=self.draining.is_set(),
        )

    def _write(self, progress: BatchProgress, state: str) -> None:
        self._written_s = time.monotonic()
        if self._file is None or not self._file.parent.is_dir():
            return
        tree = {"kind": "progress", "state": state, **progress}
        with suppress(OSError):  # If the disk is full, writing an archive reports the error.
            write_atomically(self._file, text_writer(json.dumps(tree, indent=2) + "\n"))
