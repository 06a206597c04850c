"""Number of runs in a chunk: about ten seconds of work, and less near the end of the batch."""

from collections.abc import Iterable
from itertools import islice
from math import ceil

CHUNK_S = 10.0
"""Wanted CPU time of a chunk. [s]"""

MAX_TASKS = 2000
"""Maximum number of runs in a chunk, because the results of a chunk are collected in memory."""

ROUNDS = 3
"""Minimum number of chunks per worker into which the remaining runs are divided. With several
chunks, all workers finish at about the same time.
"""


class Sizes:
    """Sizes of the next chunks, derived from the CPU time of finished chunks.

    Parameters
    ----------
    chunk_s : float
        Wanted CPU time of a chunk. [s]
    workers : int
        Number of workers that work simultaneously.
    """

    def __init__(self, chunk_s: float, workers: int) -> None:
        self._chunk_s = chunk_s
        self._workers = workers
        self._simulated_s = 0.0
        self._cpu_s = 0.0

    def learn(self, simulated_s: float, cpu_s: float) -> None:
        """Record the simulated time and the CPU time of a finished chunk."""
        self._simulated_s += simulated_s
        self._cpu_s += cpu_s

    @property
    def cost(self) -> float | None:
        """CPU time per simulated second; None before the first chunk is finished. [s/s]"""
        return self._cpu_s / self._simulated_s if self._simulated_s > 0.0 else None

    def next(self, lengths_s: Iterable[float], left: int) -> int:
        """Return the number of runs in the next chunk.

        Parameters
        ----------
        lengths_s : iterable of float
            Simulated time of each remaining run, in order. [s]
        left : int
            Number of remaining runs, at least one.
        """
        if self.cost is None:
            return 1
        fair = ceil(left / (ROUNDS * self._workers))
        count, work_s = 0, 0.0
        for length_s in islice(lengths_s, min(fair, MAX_TASKS)):
            if count and work_s >= self._chunk_s:
                break
            work_s += length_s * self.cost
            count += 1
        return count
