"""Run the scenarios of studies once each, keep what is finished, and go on from there.

Points are kept in a `Store`, each with its scenario and the samples of every replication.
"""

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

from lasthop.errors import ConvergenceError, ModelError, TooCostlyError
from lasthop.predict import predict
from lasthop.result import Result
from lasthop.run import Progress, ProgressCallback, simulate
from lasthop.scenario import Scenario
from lasthop.store import Store
from lasthop.studies.study import Run, Runs, Study, Tree

PREDICTION_S = 1800.0
"""What a study's prediction may take: long enough that no busy machine refuses one which another
gives. [s]"""


@dataclass(frozen=True)
class Plan:
    """All scenarios that some studies need, each once.

    Parameters
    ----------
    studies : sequence of Study
        What to run.
    """

    studies: Sequence[Study]
    scenarios: dict[tuple[str, str], Scenario] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for study in self.studies:
            for point, tree in study.points.items():
                self.scenarios[study.key, point] = Scenario(tree)

    def run(
        self,
        directory: Path,
        progress: ProgressCallback | None = None,
        jobs: int | None = None,
    ) -> dict[str, Runs]:
        """Simulate what `directory` does not hold yet, predict all; return the runs by study key.

        Parameters
        ----------
        directory : path
            Where finished points are kept and found again.
        progress : callable, optional
            Called with the `Progress` over all points that are still to be simulated.
        jobs : int, optional
            Threads over which the replications of a point are spread; by default one for each
            processor.

        Raises
        ------
        KeyboardInterrupt
            At Ctrl-C; the points finished by then are kept.
        """
        distinct = {scenario.key: scenario for scenario in self.scenarios.values()}
        store = Store(directory)
        missing = [each for key, each in distinct.items() if store.find(key) is None]
        tally = _Tally(missing, progress)
        for scenario in missing:
            _keep(store, scenario, _simulated(scenario, tally, jobs))
        reader = _Reader(store)
        return {
            study.key: {
                point: reader.run(self.scenarios[study.key, point], study.model)
                for point in study.points
            }
            for study in self.studies
        }

    def finished(self, directory: Path) -> tuple[int, int]:
        """Return how many of the points `directory` holds, and how many there are."""
        keys = {scenario.key for scenario in self.scenarios.values()}
        store = Store(directory)
        return sum(store.find(key) is not None for key in keys), len(keys)


class _Tally:
    """Progress of a run turned into progress over all runs."""

    def __init__(self, scenarios: Sequence[Scenario], progress: ProgressCallback | None) -> None:
        self._progress = progress
        each = [(one.typed.replications, one.typed.duration_s) for one in scenarios]
        self._replications = sum(replications for replications, _ in each)
        self._total = sum(replications * duration_s for replications, duration_s in each)
        self._before = (0, 0.0)

    def report(self, seen: Progress) -> bool | None:
        """Pass the progress of the run under way on."""
        replications, simulated = self._before
        if self._progress is None:
            return None
        return self._progress(
            Progress(
                replications_done=replications + seen["replications_done"],
                replications=self._replications,
                simulated_s=simulated + seen["simulated_s"],
                total_s=self._total,
            )
        )

    def finish(self, scenario: Scenario) -> None:
        """Count a run as done."""
        replications, simulated = self._before
        more, duration_s = scenario.typed.replications, scenario.typed.duration_s
        self._before = (replications + more, simulated + more * duration_s)


def _simulated(scenario: Scenario, tally: _Tally, jobs: int | None) -> dict[str, Any]:
    """Return samples and series of a whole run; an interrupted one raises KeyboardInterrupt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = simulate(scenario, jobs=jobs, progress=tally.report)
    if result.interrupted:
        raise KeyboardInterrupt
    tally.finish(scenario)
    tree = {
        list_name: {
            name: {quantity: _numbers(values) for quantity, values in quantities.items()}
            for name, quantities in items.items()
        }
        for list_name, items in result.sample_tree.items()
    }
    return {"samples": tree, **_series(result)}


def _numbers(values: Iterable[float | None]) -> list[float]:
    """Return values of replications, NaN where one gave none."""
    return [nan if value is None else value for value in values]


def _series(result: Result) -> dict[str, Any]:
    """Return the time series of the first replication, if there are any."""
    if result.series.empty:
        return {}
    keys = ["list", "name", "quantity"]
    tracks = [
        {**dict(zip(keys, key, strict=True)), "values": list(track["value"])}
        for key, track in result.series.groupby(keys, sort=False)
    ]
    return {"series": {"time_s": list(result.series["time_s"].unique()), "tracks": tracks}}


def _keep(store: Store, scenario: Scenario, outcome: Mapping[str, Any]) -> None:
    content = {"scenario": scenario.to_dict(), **outcome}
    store.keep(scenario.key, json.dumps(content, ensure_ascii=False) + "\n")


class _Reader:
    """Finished points with their predictions, each read and predicted once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, str | None], Run] = {}

    def run(self, scenario: Scenario, model: str | None) -> Run:
        """Return the point's samples and what `model`, by default a suitable one, predicts."""
        known = self._known.get((scenario.key, model))
        if known is None:
            known = self._known[scenario.key, model] = self._read(scenario, model)
        return known

    def _read(self, scenario: Scenario, model: str | None) -> Run:
        kept = self._store.find(scenario.key)
        samples, series = kept["samples"], kept.get("series", {})
        try:
            prediction = predict(scenario, model=model, max_time_s=PREDICTION_S)
        except (ModelError, ConvergenceError, TooCostlyError) as error:
            return Run(samples, remarks=(str(error),), series=series, scenario=scenario)
        remarks = tuple(prediction.warnings)
        return Run(samples, _means(prediction.summary), remarks, series, scenario)


def _means(summary: Mapping[str, Any]) -> Tree:
    """Return the estimates of a prediction as a tree like that of samples."""
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
