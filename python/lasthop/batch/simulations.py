"""Simulations for a search: several in parallel, each once, on threads or an executor."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path

from lasthop.answers.record import StoredOutput
from lasthop.batch import Batch, BatchStopped, Parts, ProgressCallback, Task, Workers
from lasthop.errors import Stopped
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import threads_asked

KEPT = ("summary", "samples", "halves", "series")
"""Parts of each run that are kept, so that a `Result` can be made from them."""

Tell = Callable[[int], bool | None]
"""Called with the number of finished simulations; returns False to stop."""


class Simulations:
    """Finished simulations, including the quantities that averages hide.

    Parameters
    ----------
    jobs : int or None
        Threads of this process; by default one for each available processor.
    executor : Executor or Workers, optional
        Executor that simulates instead of threads of this process.
    directory : Path, optional
        Folder in which finished simulations are kept and found again.
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
            threads=threads_asked(jobs),
            executor=executor,
            tails=True,
            directory=directory,
        )
        self.threads = self._batch.threads if executor is None else 1
        """Number of threads that simulate in parallel in this process."""

    def ahead(self, scenarios: Sequence[Scenario], tell: Tell | None = None) -> None:
        """Simulate the scenarios that will be needed and are not finished yet.

        Raises
        ------
        Stopped
            If `tell` returns False; finished simulations are kept.
        KeyboardInterrupt
            At Ctrl-C. The finished runs are kept.
        """
        messages = None if tell is None else lambda progress: tell(progress["runs_done"])
        try:
            self.run(scenarios, messages)
        except BatchStopped:
            raise Stopped("progress stopped the search") from None

    def run(self, scenarios: Sequence[Scenario], progress: ProgressCallback | None = None) -> None:
        """Simulate scenarios that have not been simulated, and report progress as a `Batch` does.

        Raises
        ------
        BatchStopped
            If `progress` returns False; finished simulations are kept.
        KeyboardInterrupt
            At Ctrl-C; finished simulations are kept.
        """
        self._batch.run(map(with_tails, scenarios), progress)

    def has(self, scenario: Scenario) -> bool:
        """Return whether a scenario has been simulated."""
        return self._batch.parts.has(with_tails(scenario).key, KEPT)

    def result(self, scenario: Scenario) -> Result:
        """Return the result of a scenario, which is simulated now if there is none."""
        task = with_tails(scenario)
        self._batch.run([task])
        texts = (self._batch.parts.read(task.key, what) or b"" for what in KEPT)
        summary, samples, halves, series = (text.decode() for text in texts)
        return Result(StoredOutput(summary, samples, halves, series, False), scenario)


def with_tails(scenario: Scenario) -> Task:
    """Return the run of a scenario whose key marks runs with the quantities that averages hide."""
    task = Task.of(scenario)
    return Task(f"{task.key}.tails", scenario, task.length)
