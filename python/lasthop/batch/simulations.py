"""Simulations for a search. Each scenario is simulated once, on parallel threads or an executor."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path

from lasthop.answers.record import StoredOutput
from lasthop.batch import Batch, BatchStopped, Parts, ProgressCallback, Task, Workers
from lasthop.errors import Stopped
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import thread_count

KEPT = ("summary", "samples", "halves", "series")
"""Names of the stored data of each run, from which a `Result` can be created."""

Tell = Callable[[int], bool | None]
"""Callback with the number of finished simulations. It returns False to stop the search."""


class Simulations:
    """Finished simulations of a search, including percentiles and starvation.

    Parameters
    ----------
    jobs : int or None
        Threads of this process; by default one for each available processor.
    executor : Executor or Workers, optional
        Executor that simulates instead of threads of this process.
    directory : Path, optional
        Folder in which finished simulations are saved, and from which they are reused.
    """

    def __init__(
        self,
        jobs: int | None,
        executor: Executor | Workers | None = None,
        directory: Path | None = None,
    ) -> None:
        self._batch = Batch(
            Parts(directory),
            KEPT,
            threads=thread_count(jobs),
            executor=executor,
            tails=True,
            directory=directory,
        )
        self.threads = self._batch.threads if executor is None else 1
        """Number of simulations that this process runs in parallel."""

    def ahead(self, scenarios: Sequence[Scenario], tell: Tell | None = None) -> None:
        """Simulate in parallel the scenarios whose results will be requested later.

        Raises
        ------
        Stopped
            If `tell` returns False; finished simulations are saved.
        KeyboardInterrupt
            At Ctrl-C; finished simulations are saved.
        """
        messages = None if tell is None else lambda progress: tell(progress["runs_done"])
        try:
            self.run(scenarios, messages)
        except BatchStopped:
            raise Stopped("progress stopped the search") from None

    def run(self, scenarios: Sequence[Scenario], progress: ProgressCallback | None = None) -> None:
        """Simulate the scenarios that have no result yet; report progress in the same way as a
        `Batch`.

        Raises
        ------
        BatchStopped
            If `progress` returns False; finished simulations are saved.
        KeyboardInterrupt
            At Ctrl-C; finished simulations are saved.
        """
        self._batch.run(map(with_tails, scenarios), progress)

    def has(self, scenario: Scenario) -> bool:
        """Return whether a scenario has been simulated."""
        return self._batch.parts.has(with_tails(scenario).key, KEPT)

    def result(self, scenario: Scenario) -> Result:
        """Return the result of a scenario; simulate the scenario if there is no result yet."""
        task = with_tails(scenario)
        self._batch.run([task])
        texts = (self._batch.parts.read(task.key, what) or b"" for what in KEPT)
        summary, samples, halves, series = (text.decode() for text in texts)
        return Result(StoredOutput(summary, samples, halves, series, False), scenario)


def with_tails(scenario: Scenario) -> Task:
    """Return the run of a scenario that also measures percentiles and starvation. The key of this
    run differs from the key of the scenario.
    """
    task = Task.of(scenario)
    return Task(f"{task.key}.tails", scenario, task.length)
