"""How many runs go out together: as many as take about ten seconds, fewer near the end."""

from collections.abc import Iterable
from itertools import islice
from math import ceil

CHUNK_S = 10.0
"""Work of a chunk. [s]"""

MOST_TASKS = 2000
"""Most runs of a chunk: its part is put together in memory."""

ROUNDS = 3
"""Chunks that each worker gets at least of what is left, so that all end at about the same time."""


class Sizes:
    """The size of chunks, from the times of finished chunks.

    Parameters
    ----------
    chunk_s : float
        Wanted processor time of a chunk. [s]
    workers : int
        Number of workers that work simultaneously.
    """

    def __init__(self, chunk_s: float, workers: int) -> None:
        self._chunk_s = chunk_s
        self._workers = workers
        self._simulated_s = 0.0
        self._cpu_s = 0.0

    def learn(self, simulated_s: float, cpu_s: float) -> None:
        """Hear what a chunk has taken."""
        self._simulated_s += simulated_s
        self._cpu_s += cpu_s

    @property
    def cost(self) -> float | None:
        """Processor time of a simulated second, as far as it is known. [s/s]"""
        return self._cpu_s / self._simulated_s if self._simulated_s > 0.0 else None

    def next(self, lengths_s: Iterable[float], left: int) -> int:
        """Return the number of runs of the next chunk.

        Parameters
        ----------
        lengths_s : iterable of float
            Simulated time of each, in their order. [s]
        left : int
            Number of runs that are left, at least one.
        """
        if self.cost is None:
            return 1
        fair = ceil(left / (ROUNDS * self._workers))
        count, work_s = 0, 0.0
        for length_s in islice(lengths_s, min(fair, MOST_TASKS)):
            if count and work_s >= self._chunk_s:
                break
            work_s += length_s * self.cost
            count += 1
        return count
