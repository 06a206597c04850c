"""Studies with shortened runs."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from lasthop.studies import ledger
from lasthop.studies.reproduction import SUBJECTS_STUDIED, studies_of
from lasthop.studies.rules import Measured
from lasthop.studies.runner import Plan
from lasthop.studies.study import Runs, Study

STUDIES = {study.key: study for subject in SUBJECTS_STUDIED for study in studies_of(subject)}
"""All studies, by the key of the study."""


@cache
def by_models_alone(key: str) -> dict[str, Measured]:
    """Return the values of a study that uses only models. The values are cached, because their
    computation takes seconds.
    """
    study = STUDIES[key]
    assert not study.points
    return study.values({})


def read_by_claims(study: Study) -> set[str]:
    """Return the names of the study's values that the claims of its subject use."""
    return {
        key
        for claim in ledger.load().select([study.subject])
        for check in claim.checks
        for key in check.rule.reads()
        if key.startswith(f"{study.name}.")
    }


def shortened(study: Study, duration: str, warmup: str) -> Study:
    """Return the study with two runs of this length for each scenario."""
    times = {"duration": duration, "warmup": warmup, "replications": 2}
    points = {name: {**tree, **times} for name, tree in study.points.items()}
    return dataclasses.replace(study, points=points)


class RunsByStudy(Mapping[str, Runs]):
    """Runs of some studies, by the key of the study.

    A study is simulated when its runs are first read, so that a test simulates only its own study.
    A scenario that several studies have in common is simulated once.

    Parameters
    ----------
    studies : iterable of Study
        Studies whose runs can be read.
    folder : path
        Folder in which results are stored.
    """

    def __init__(self, studies: Iterable[Study], folder: Path) -> None:
        self._studies = {study.key: study for study in studies}
        self._folder = folder
        self._runs: dict[str, Runs] = {}

    def __getitem__(self, key: str) -> Runs:
        if key not in self._runs:
            self._runs |= Plan([self._studies[key]]).run(self._folder)
        return self._runs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)
