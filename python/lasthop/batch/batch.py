"""Main loop of a batch: form chunks of runs, submit them, and save their results until the end or a
stop.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.saving import PROGRESS
from lasthop.batch.chunk import Chunk, Finished, Task, compute
from lasthop.batch.counters import ProgressCallback, ProgressCounters
from lasthop.batch.executors import Workers, WorkerWatchdog, went_away
from lasthop.batch.keyboard import counted_interrupts
from lasthop.batch.parts import Parts
from lasthop.batch.sizes import CHUNK_S, Sizes
from lasthop.errors import UserError

TICK_S = 0.1
"""Interval between two checks for Ctrl-C while chunks run. [s]"""


class BatchInterrupted(KeyboardInterrupt):
    """Exception after Ctrl-C ended a batch; the finished runs are saved."""


class BatchStopped(Exception):
    """Exception after the `progress` callback ended a batch; the finished runs are saved."""


@dataclass
class Batch:
    """Runs to simulate, with the archives in which their results are saved.

    Parameters
    ----------
    parts : Parts
        Archives with the finished runs.
    contents : sequence of str
        Names of the data that are stored for each run: ``summary``, ``samples``, ``halves``,
        ``series``.
    threads : int
        Threads of this process that simulate if there is no executor.
    executor : Executor or Workers, optional
        Executor of the runs, if not threads of this process.
    tails : bool
        Whether to also measure percentiles and times of starvation; see ``tails`` of `simulate`.
    directory : Path, optional
        Folder in which the progress of the batch is written to a file.
    """

    parts: Parts
    contents: Sequence[str]
    threads: int = 1
    executor: Executor | Workers | None = None
    tails: bool = False
    directory: Path | None = None

    def run(self, tasks: Iterable[Task], progress: ProgressCallback | None = None) -> None:
        """Simulate the runs that are not finished, and save their results. Runs with the same key
        are simulated once.

        After the first Ctrl-C, running simulations are finished. The second Ctrl-C ends them.

        Raises
        ------
        BatchInterrupted
            At Ctrl-C.
        BatchStopped
            If `progress` returns False.
        UserError
            If a worker or the scheduler was lost, if a run is refused, or if `PROGRESS` exists in
            the directory and is not a file of lasthop.
        OSError
            If an archive cannot be written.
        """
        distinct = {task.key: task for task in tasks}
        todo = [task for key, task in distinct.items() if not self.parts.has(key, self.contents)]
        if not todo:
            return
        if self.directory is not None:
            refuse_foreign(self.directory, (PROGRESS,))
        lengths = {task.key: task.length for task in todo}
        tally = ProgressCounters(lengths, len(distinct) - len(todo), progress, self.directory)
        if self.executor is not None:
            _Loop(self, deque(todo), tally, Workers.of(self.executor), here=False).run()
            return
        count = min(self.threads, len(todo))
        with ThreadPoolExecutor(count) as pool:
            _Loop(self, deque(todo), tally, Workers(pool, count), here=True).run()


class _Loop:
    """A running batch: its waiting runs, its submitted chunks, and its counters.

    Parameters
    ----------
    batch : Batch
        The batch to run.
    todo : deque of Task
        Runs that have not been submitted.
    tally : ProgressCounters
        Counters to which progress is reported.
    workers : Workers
        Workers that simulate the chunks.
    here : bool
        Whether the workers are threads of this process. Threads report their progress to `tally`
        and stop when `tally` requests a stop.
    """

    def __init__(
        self,
        batch: Batch,
        todo: deque[Task],
        tally: ProgressCounters,
        workers: Workers,
        *,
        here: bool,
    ) -> None:
        self._batch = batch
        self._todo = todo
        self._asked = len(todo)
        self._tally = tally
        self._workers = workers
        self._here = here
        self._sizes = Sizes(workers.chunk_s or CHUNK_S, workers.count)
        self._threads = max(1, batch.threads // len(todo)) if here else 1
        self._pending: set[Future[Finished]] = set()

    def run(self) -> None:
        """Submit chunks and save results until all runs are done or the batch must stop."""
        state = "failed"
        try:
            with counted_interrupts() as interrupts:
                self._until_done(interrupts)
                self._recall()
                for future in list(self._pending):
                    # Threads of this process end soon after a request to stop, and return the
                    # finished runs of their chunk.
                    if self._here or future.done():
                        self._take(future)
                by_keyboard = interrupts() > 0
            state = "done" if self._tally.runs_done == self._asked else "interrupted"
        except BaseException as error:
            self._tally.stopped.set()
            self._save_others()
            if went_away(error):
                raise self._lost(error) from None
            raise
        finally:
            self._tally.finish(state)
        if state == "interrupted":
            raise BatchInterrupted if by_keyboard else BatchStopped

    def _until_done(self, interrupts: Callable[[], int]) -> None:
        lookout = WorkerWatchdog(self._workers)
        while self._todo or self._pending:
            if interrupts() > 1:
                self._tally.stopped.set()
            if self._tally.stopped.is_set():
                return
            if interrupts() and not self._tally.draining.is_set():
                self._tally.drain()
                self._todo.clear()
                self._recall()
            self._hand_out()
            done, _ = wait(self._pending, timeout=TICK_S, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)
            lookout.look()

    def _hand_out(self) -> None:
        """Assign one chunk to each worker without a chunk; remote workers get a second chunk in
        advance.
        """
        most = self._workers.count * (1 if self._here else 2)
        while self._todo and len(self._pending) < most:
            count = self._sizes.next((task.length[1] for task in self._todo), len(self._todo))
            tasks = tuple(self._todo.popleft() for _ in range(count))
            chunk = Chunk(tasks, tuple(self._batch.contents), self._threads, self._batch.tails)
            watch = (self._tally,) if self._here else ()
            self._pending.add(self._workers.executor.submit(compute, chunk, *watch))

    def _take(self, future: Future[Finished]) -> None:
        """Save the results of a finished chunk; ignore a cancelled chunk."""
        self._pending.discard(future)
        if future.cancelled():
            return
        finished = future.result()
        if not finished.keys:
            return
        self._batch.parts.keep(finished.part)
        self._sizes.learn(finished.simulated_s, finished.cpu_s)
        self._tally.sealed(finished, self._batch.parts.count)

    def _recall(self) -> None:
        """Cancel the submitted chunks that no worker has begun."""
        for future in list(self._pending):
            if future.cancel():
                self._pending.discard(future)

    def _save_others(self) -> None:
        """Save the finished chunks of other workers after one worker has failed. Afterwards the
        batch reports the failure.
        """
        self._recall()
        for future in list(self._pending):
            if self._here or future.done():
                with suppress(Exception):
                    self._take(future)

    def _lost(self, error: BaseException) -> UserError:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        return UserError(
            f"workers were lost: {what}; {self._tally.runs_done} of {self._asked} runs are kept",
            "make the same call again to continue" if self._batch.directory else None,
        )
