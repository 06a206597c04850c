"""The loop of a batch: cut chunks, hand them out, seal what comes back, stop when asked to."""

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from lasthop.batch.chunk import Chunk, Finished, Task, compute
from lasthop.batch.executors import Workers, went_away
from lasthop.batch.keyboard import counted_interrupts
from lasthop.batch.parts import Parts
from lasthop.batch.sizes import CHUNK_S, Sizes
from lasthop.batch.tally import ProgressCallback, Tally
from lasthop.errors import UserError

__all__ = ["Batch", "BatchInterrupted", "BatchStopped"]

TICK_S = 0.1
"""How often Ctrl-C is looked for. [s]"""


class BatchInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a batch; its finished runs are kept."""


class BatchStopped(Exception):
    """The callback of progress ended a batch; its finished runs are kept."""


@dataclass
class Batch:
    """Runs that are to be done, and where they are kept.

    Parameters
    ----------
    parts : Parts
        What is finished.
    kept : sequence of str
        What is kept of each run: ``summary``, ``samples``, ``halves``, ``series``.
    threads : int
        Threads of this process that do the work, if there is no executor.
    executor : Executor or Workers, optional
        Who else does it.
    tails : bool
        Whether what means hide is measured as well.
    directory : Path, optional
        Where it is told how far the batch is.
    """

    parts: Parts
    kept: Sequence[str]
    threads: int = 1
    executor: Executor | Workers | None = None
    tails: bool = False
    directory: Path | None = None
    _pending: set[Future[Finished]] = field(default_factory=set, init=False)

    def run(self, tasks: Iterable[Task], progress: ProgressCallback | None = None) -> None:
        """Do the runs that are not finished, each key once, and keep them.

        The first Ctrl-C lets what is under way be finished, the second ends it.

        Raises
        ------
        BatchInterrupted
            At Ctrl-C.
        BatchStopped
            If `progress` returns False.
        UserError
            If a worker or the scheduler went away, or a run is refused.
        OSError
            If a part cannot be written.
        """
        distinct = {task.key: task for task in tasks}
        todo = [task for key, task in distinct.items() if not self.parts.has(key, self.kept)]
        lengths = {task.key: task.length for task in todo}
        tally = Tally(lengths, len(distinct) - len(todo), progress, self.directory)
        if not todo:
            return
        if self.executor is not None:
            self._loop(deque(todo), tally, Workers.of(self.executor), here=False)
            return
        with ThreadPoolExecutor(min(self.threads, len(todo))) as pool:
            self._loop(deque(todo), tally, Workers(pool, min(self.threads, len(todo))), here=True)

    def _loop(self, todo: deque[Task], tally: Tally, workers: Workers, here: bool) -> None:
        sizes = Sizes(workers.chunk_s or CHUNK_S, workers.count)
        most = workers.count if here else 2 * workers.count
        threads = max(1, self.threads // len(todo)) if here else 1
        asked = len(todo)
        state = "failed"
        try:
            with counted_interrupts() as interrupts:
                while todo or self._pending:
                    if interrupts() > 1:
                        tally.stopped.set()
                    if tally.stopped.is_set():
                        break
                    if interrupts() and not tally.draining.is_set():
                        tally.draining.set()
                        todo.clear()
                        self._recall()
                    while todo and len(self._pending) < most:
                        count = sizes.next((task.length[1] for task in todo), len(todo))
                        tasks = tuple(todo.popleft() for _ in range(count))
                        chunk = Chunk(tasks, tuple(self.kept), threads, self.tails)
                        watch = (tally,) if here else ()
                        self._pending.add(workers.executor.submit(compute, chunk, *watch))
                    done, _ = wait(self._pending, timeout=TICK_S, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._take(future, tally, sizes)
                self._recall()
                for future in list(self._pending):
                    # Threads hand over what is done of their chunks as soon as they see it.
                    if here or future.done():
                        self._take(future, tally, sizes)
                by_keyboard = interrupts() > 0
            state = "done" if tally.runs_done == asked else "interrupted"
        except BaseException as error:
            tally.stopped.set()
            self._save_others(tally, sizes, wait_for=here)
            if went_away(error):
                raise self._lost(error) from None
            raise
        finally:
            self._pending.clear()
            tally.finish(state)
        if state == "interrupted":
            raise BatchInterrupted if by_keyboard else BatchStopped

    def _take(self, future: Future[Finished], tally: Tally, sizes: Sizes) -> None:
        """Seal what a future has, if it was not recalled."""
        self._pending.discard(future)
        if future.cancelled():
            return
        finished = future.result()
        if not finished.keys:
            return
        self.parts.keep(finished.part)
        sizes.learn(finished.simulated_s, finished.cpu_s)
        tally.sealed(finished, self.parts.count)

    def _recall(self) -> None:
        """Take back what nobody has begun."""
        for future in list(self._pending):
            if future.cancel():
                self._pending.discard(future)

    def _save_others(self, tally: Tally, sizes: Sizes, wait_for: bool) -> None:
        """Seal what others have finished, when one has failed."""
        self._recall()
        for future in list(self._pending):
            if not (wait_for or future.done()):
                continue
            try:
                self._take(future, tally, sizes)
            except Exception:
                continue

    def _lost(self, error: BaseException) -> UserError:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        return UserError(
            f"workers went away: {what}; {self.parts.count} parts are kept",
            "the same call goes on from there" if self.directory else None,
        )
