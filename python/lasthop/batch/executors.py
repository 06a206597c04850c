"""Executors of runs: threads of this process, a Dask cluster, Slurm, or any Python executor."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from lasthop.errors import UserError
from lasthop.extras import missing

ELSEWHERE = ("dask", "distributed", "submitit", "tornado")
"""Packages whose exceptions mean that a worker or the scheduler was lost."""

SLURM_CHUNK_S = 300.0
"""Wanted CPU time of one Slurm job. It must exceed the time that a job waits to start. [s]"""

LOOK_S = 5.0
"""Interval between two checks whether any worker is alive. [s]"""

LOST_S = 60.0
"""Time without any worker after which a batch fails. A worker may restart within this time. [s]"""

POLL_S = 0.5
"""Interval between two polls of the state of Slurm jobs. [s]"""


@dataclass(frozen=True)
class Workers:
    """An executor, with its number of workers and a suitable size of chunks."""

    executor: Executor
    count: int
    """Number of workers that work simultaneously."""
    chunk_s: float | None = None
    """Wanted CPU time of a chunk; None for the default. [s]"""
    is_there: Callable[[], bool] = lambda: True
    """Function that returns whether any worker is alive, for executors that do not report lost
    workers.
    """

    @staticmethod
    def of(executor: "Executor | Workers") -> "Workers":
        """Return an executor of `concurrent.futures` with its number of workers."""
        if isinstance(executor, Workers):
            return executor
        if not isinstance(executor, Executor):
            raise UserError(
                f"executor={executor!r}: not an executor of concurrent.futures",
                "use client.get_executor() of a Dask client",
            )
        count = getattr(executor, "_max_workers", None)
        return Workers(executor, count if isinstance(count, int) else os.cpu_count() or 1)


class WorkerWatchdog:
    """Watchdog that fails a batch if no worker has been alive for `LOST_S`.

    Parameters
    ----------
    workers : Workers
        Executor whose workers are checked.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._looked_s = self._seen_s = time.monotonic()

    def look(self) -> None:
        """Check whether any worker is alive, unless the last check was less than `LOOK_S` ago.

        Raises
        ------
        ConnectionError
            If there has been no worker for `LOST_S`.
        """
        now_s = time.monotonic()
        if now_s - self._looked_s < LOOK_S:
            return
        self._looked_s = now_s
        if self._workers.is_there():
            self._seen_s = now_s
        elif now_s - self._seen_s > LOST_S:
            raise ConnectionError(f"no worker was active for {LOST_S:g} s")


def went_away(error: BaseException) -> bool:
    """Return whether an error means that a worker or the scheduler was lost."""
    if isinstance(error, BrokenExecutor | CancelledError | ConnectionError | EOFError):
        return True
    return any(each.__module__.split(".")[0] in ELSEWHERE for each in type(error).__mro__)


@contextmanager
def dask_cluster(address: str) -> Iterator[Workers]:
    """Yield the workers of a Dask cluster, by the address of its scheduler.

    Raises
    ------
    UserError
        If Dask is not installed, or if no scheduler answers at the address.
    """
    try:
        from distributed import Client
    except ImportError:
        raise missing("distributed") from None
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"cluster {address}: no scheduler answers: {what}", "such as tcp://10.0.0.1:8786"
        ) from None
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise UserError(f"cluster {address}: the scheduler has no workers")
        yield Workers(
            client.get_executor(pure=False), threads, is_there=lambda: bool(client.nthreads())
        )
    finally:
        client.close()


CONNECT_S = "10s"
"""Longest time to wait for a connection to the Dask scheduler."""


@contextmanager
def slurm(folder: Path, options: dict[str, Any], cluster: str = "slurm") -> Iterator[Workers]:
    """Yield Slurm jobs as workers; the package submitit starts the jobs.

    Parameters
    ----------
    folder : Path
        Folder for submitit's input and output files, on a disk that all nodes share.
    options : dict
        Parameters of submitit's executor, such as ``slurm_partition``, ``timeout_min``.
    cluster : str
        ``slurm``, or ``local`` for processes of this machine.

    Raises
    ------
    UserError
        If submitit is not installed, if Slurm is absent, or if an option is unknown to Slurm.
    """
    try:
        import submitit
    except ImportError:
        raise missing("submitit") from None
    try:
        inner = submitit.AutoExecutor(folder=folder, cluster=cluster)
        inner.update_parameters(**options)
    except (RuntimeError, ValueError, NameError, TypeError) as error:
        raise UserError(f"slurm: {str(error).splitlines()[0]}") from None
    count = int(options.get("slurm_array_parallelism", MAX_JOBS))
    if cluster == "local":
        count = os.cpu_count() or 1
    executor = Jobs(inner.submit)
    try:
        yield Workers(executor, count, SLURM_CHUNK_S if cluster == "slurm" else None)
    finally:
        executor.shutdown(cancel_futures=True)


MAX_JOBS = 64
"""Default number of Slurm jobs in the queue at the same time."""


class Jobs(Executor):
    """Executor whose submitted jobs are polled until they end.

    Parameters
    ----------
    hand_in : callable
        Function that submits a job and returns the job. Its arguments are the function that the job
        calls, and the arguments of this function. The job has the methods `done`, `result` and
        `cancel` of submitit's jobs.
    """

    def __init__(self, hand_in: Callable[..., Any]) -> None:
        self._hand_in = hand_in
        self._jobs: dict[Future[Any], Any] = {}
        self._thread: Thread | None = None
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a job; return the future of its result."""
        future: Future[Any] = Future()
        job = self._hand_in(fn, *args, **kwargs)
        future.set_running_or_notify_cancel()
        self._jobs[future] = job
        if self._thread is None:
            self._thread = Thread(target=self._look, daemon=True, name="jobs")
            self._thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all unfinished jobs if `cancel_futures`; wait for the jobs if `wait`."""
        if cancel_futures:
            for job in list(self._jobs.values()):
                job.cancel()
            self._jobs.clear()
        elif wait:
            for future in list(self._jobs):
                future.exception()
        self._closed = True

    def _look(self) -> None:
        while not self._closed:
            for future, job in list(self._jobs.items()):
                if not job.done():
                    continue
                self._jobs.pop(future, None)
                try:
                    future.set_result(job.result())
                except Exception as error:
                    future.set_exception(error)
            time.sleep(POLL_S)
