"""Simulation of the scenarios of studies. Each scenario is simulated once, and stored results are
reused.

For each point, the samples of all replications are stored, and the time series if the scenario
records them.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

from lasthop.batch import Batch, BatchStopped, Parts, ProgressCallback, Task, Workers
from lasthop.errors import ConvergenceError, ModelError, Stopped, TooCostlyError
from lasthop.prediction.predict import predict
from lasthop.progress.steps import counting
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.simulate import thread_count
from lasthop.studies.study import Run, Runs, Study, Tree

PREDICTION_S = 1800.0
"""Time limit of a study's prediction. The limit is long enough for a prediction on a busy machine.
[s]
"""


KEPT = ("samples", "series")
"""Parts of a point's results that are stored."""


@dataclass(frozen=True)
class Plan:
    """All scenarios of a set of studies, without duplicates.

    Parameters
    ----------
    studies : sequence of Study
        Studies to run.
    """

    studies: Sequence[Study]
    scenarios: dict[tuple[str, str], Scenario] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for study in counting("planning studies", self.studies, len(self.studies)):
            for point, tree in study.points.items():
                self.scenarios[study.key, point] = Scenario(tree)

    def run(
        self,
        directory: Path,
        progress: ProgressCallback | None = None,
        jobs: int | None = None,
        executor: Executor | Workers | None = None,
    ) -> dict[str, Runs]:
        """Simulate the points whose results are not in `directory`, and compute all predictions.
        Return the runs by the key of the study.

        Parameters
        ----------
        directory : path
            Directory in which finished points are kept and reused.
        progress : callable, optional
            Called with the `BatchProgress` over all points that are still to be simulated.
        jobs : int, optional
            Number of points simulated simultaneously; by default one for each processor.
        executor : concurrent.futures.Executor, optional
            Executor that simulates instead of threads of this process; see `lasthop.sweep`.

        Raises
        ------
        Stopped
            If `progress` returns False; finished points are kept.
        KeyboardInterrupt
            At Ctrl-C. The finished runs are kept.
        """
        parts = Parts(directory)
        threads = thread_count(jobs)
        batch = Batch(parts, KEPT, threads=threads, executor=executor, directory=directory)
        try:
            known = self.scenarios.values()
            batch.run(map(Task.of, counting("looking for runs", known, len(known))), progress)
        except BatchStopped:
            raise Stopped("progress stopped the studies; finished runs are kept") from None
        reader = _Reader(parts)
        results: dict[str, dict[str, Run]] = {study.key: {} for study in self.studies}
        asked = [(study, point) for study in self.studies for point in study.points]
        for study, point in counting("predicting", asked, len(asked)):
            scenario = self.scenarios[study.key, point]
            results[study.key][point] = reader.run(scenario, study.model)
        return dict(results)

    def finished(self, directory: Path) -> tuple[int, int]:
        """Return the number of points whose results are in `directory`, and the number of all
        points.
        """
        keys = {scenario.key for scenario in self.scenarios.values()}
        parts = Parts(directory)
        return sum(parts.has(key, KEPT) for key in keys), len(keys)


class _Reader:
    """Reader of stored results and their predictions. Each result is read, and each prediction
    computed, only once.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._known: dict[tuple[str, str | None], Run] = {}

    def run(self, scenario: Scenario, model: str | None) -> Run:
        """Return the samples of a point, and the prediction of `model`. If `model` is None, a
        suitable model is used.
        """
        known = self._known.get((scenario.key, model))
        if known is None:
            known = self._known[scenario.key, model] = self._read(scenario, model)
        return known

    def _read(self, scenario: Scenario, model: str | None) -> Run:
        samples = self._tree(scenario.key, "samples")
        series = self._tree(scenario.key, "series")
        try:
            prediction = predict(scenario, model=model, max_time_s=PREDICTION_S)
        except (ModelError, ConvergenceError, TooCostlyError) as error:
            return Run(samples, remarks=(str(error),), series=series, scenario=scenario)
        remarks = tuple(prediction.warnings)
        return Run(samples, _means(prediction.contents), remarks, series, scenario)

    def _tree(self, key: str, what: str) -> Any:
        """Return a part of a point's stored results, or an empty mapping if the part is not stored.

        Missing values of a replication or time are NaN.
        """
        text = self._parts.read(key, what)
        assert text is not None, f"{key} has just been simulated"
        tree = json.loads(text) or {}
        return _numbers(tree) if b"null" in text else tree


def _numbers(tree: Any) -> Any:
    """Return a tree of arrays, in which missing values of a replication or a time are NaN."""
    if isinstance(tree, dict):
        return {key: _numbers(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return list(map(_numbers, tree))
    return nan if tree is None else tree


def _means(summary: Mapping[str, Any]) -> Tree:
    """Return the predicted values as a tree with the structure of the samples."""
    return {
        list_name: {
            item["name"]: {
                quantity: value["mean"]
                for quantity, value in item.items()
                if isinstance(value, Mapping) and "mean" in value
            }
            for item in items
        }
        for list_name, items in summary.items()
        if isinstance(items, list) and all(isinstance(item, Mapping) for item in items)
    }
