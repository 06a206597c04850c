"""A complete reproduction as one JSON object: measured values, their sources, and verdicts.

The object contains the fingerprint of every scenario, and the parts of its results that the
functions `Study.measure` read. Therefore values and verdicts can be computed again without a
simulation, for example after a change of a measure or a rule.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.scenario import Scenario
from lasthop.studies.ledger import ClaimResult
from lasthop.studies.rules import Measured
from lasthop.studies.study import Run, Runs, Study, Tree

Kept = Mapping[str, Any]
"""A stored reproduction. The object has the keys ``runs``, ``studies`` and ``claims``. Runs are
stored by fingerprint. Each study, by its key, has ``points`` (fingerprints by name) and ``values``.
Claims have the form of `lasthop reproduce --json`.
"""


class _Run(Table):
    """Parts of a run that a study's `measure` reads."""

    samples: Any
    prediction: Any
    series: Any = None
    scenario: bool


class _Study(Table):
    """Fingerprints of the scenarios of a study by name, and the measured values of the study."""

    points: Mapping[str, str]
    values: Mapping[str, Sequence[float | None]]


def studies_of(trees: Mapping[str, Any]) -> dict[str, _Study]:
    """Return the studies of a stored reproduction."""
    return {key: read_as(_Study, tree) for key, tree in trees.items()}


class _Document(Table):
    """A stored reproduction. The field `runs` is None if the runs are in a separate file."""

    runs: Mapping[str, Any] | None = None
    studies: Annotated[dict[str, _Study], studies_of]


def read(remaining: Kept) -> _Document:
    """Check a stored reproduction, and return its contents."""
    return read_as(_Document, remaining)


def fingerprint(scenario: Mapping[str, Any], model: str | None) -> str:
    """Return a fingerprint of a study's scenario and of the model that predicts it."""
    text = json.dumps([scenario, model], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep(
    studies: Sequence[Study], runs: Mapping[str, Runs], results: Sequence[ClaimResult]
) -> dict[str, Any]:
    """Return a reproduction as an object that can be stored as JSON.

    Parameters
    ----------
    studies : sequence of Study
        The studies that were run.
    runs : mapping
        Runs of each study, by its key.
    results : sequence of ClaimResult
        The judged claims.
    """
    read: dict[str, dict[str, Any]] = {}
    table = {}
    for study in studies:
        watched = {name: _Watched(run) for name, run in runs[study.key].items()}
        values = study.values({name: each.run for name, each in watched.items()})
        points = {}
        for name, each in watched.items():
            points[name] = fingerprint(study.points[name], study.model)
            _add(read.setdefault(points[name], {}), each.read())
        table[study.key] = {
            "points": points,
            "values": {name: _written(value) for name, value in values.items()},
        }
    claims = [{**result.to_json(), "statement": result.claim.text} for result in results]
    return {"runs": read, "studies": table, "claims": claims}


def changed_points(study: Study, remaining: Kept) -> list[str]:
    """Return the names of the points whose scenario or model is not the same as in the stored
    reproduction.
    """
    points = read(remaining).studies[study.key].points
    now = {name: fingerprint(tree, study.model) for name, tree in study.points.items()}
    return sorted(name for name in {*points, *now} if points.get(name) != now.get(name))


def runs_of(study: Study, remaining: Kept) -> dict[str, Run]:
    """Return the runs of a study, with the stored parts that its `measure` reads."""
    document, runs = read(remaining), {}
    stored = document.runs or {}
    for name, print_ in document.studies[study.key].points.items():
        run = read_as(_Run, stored[print_])
        scenario = Scenario(study.points[name]) if run.scenario else {}
        runs[name] = Run(run.samples, run.prediction, series=run.series or {}, scenario=scenario)
    return runs


def values_of(remaining: Kept) -> dict[str, dict[str, Measured]]:
    """Return the stored values, by subject and then by the names in ``claims.toml``."""
    values: dict[str, dict[str, Measured]] = {}
    for key, study in read(remaining).studies.items():
        subject = key.rpartition("-")[0]
        some = {name: Measured(*value) for name, value in study.values.items()}
        values.setdefault(subject, {}).update(some)
    return values


def _written(value: Measured) -> list[float | None]:
    return [value.simulated, value.ci95, value.predicted]


def _add(known: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add to `known` the parts of a run that another study has read."""
    for key, value in more.items():
        if isinstance(value, dict):
            _add(known.setdefault(key, {}), value)
        elif key == "tracks":
            known[key] = known.get(key, []) + value
        elif key == "scenario":
            known[key] = known.get(key, False) or value
        else:
            known[key] = value


class _Looked(Mapping[str, Any]):
    """A tree that records in `seen` which of its leaves were read and which of its branches were
    visited.
    """

    def __init__(self, tree: Mapping[str, Any], seen: dict[str, Any]) -> None:
        self._tree, self._seen = tree, seen

    def __getitem__(self, key: str) -> Any:
        value = self._tree[key]
        if not isinstance(value, Mapping):
            self._seen[key] = value
            return value
        return _Looked(value, self._seen.setdefault(key, {}))

    def __iter__(self) -> Iterator[str]:
        for key, value in self._tree.items():
            if isinstance(value, Mapping):
                self._seen.setdefault(key, {})
        return iter(self._tree)

    def __len__(self) -> int:
        return len(self._tree)


class _Watched:
    """A run that records which of its parts were read."""

    def __init__(self, run: Run) -> None:
        self._samples: dict[str, Any] = {}
        self._prediction: dict[str, Any] = {}
        self._scenario: dict[str, Any] = {}
        self._series: dict[str, Any] = {}
        samples: Tree = _Looked(run.samples, self._samples)
        prediction: Tree = _Looked(run.prediction, self._prediction)
        scenario = _Looked(run.scenario, self._scenario)
        self.run = _sampled(run, self._series)(samples, prediction, run.remarks, {}, scenario)

    def read(self) -> dict[str, Any]:
        """Return the parts of the run that were read. For the scenario, return only whether it was
        read.
        """
        return {
            "samples": self._samples,
            "prediction": self._prediction,
            **({"series": self._series} if self._series else {}),
            "scenario": bool(self._scenario),
        }


def _sampled(run: Run, seen: dict[str, Any]) -> type[Run]:
    """Return a class of runs that records in `seen` which time series of `run` were read."""

    class Sampled(Run):
        def track(
            self, list_name: str, item: str, quantity: str
        ) -> tuple[list[float], list[float]]:
            times, values = run.track(list_name, item, quantity)
            place = {"list": list_name, "name": item, "quantity": quantity}
            seen["time_s"] = times
            seen.setdefault("tracks", []).append({**place, "values": values})
            return times, values

    return Sampled
