"""Studies made short."""

import dataclasses
from functools import cache
from importlib import import_module

from lasthop.studies import ledger
from lasthop.studies.reproduction import SUBJECTS_STUDIED
from lasthop.studies.rules import Measured
from lasthop.studies.study import Study

STUDIES = {
    study.key: study
    for subject in SUBJECTS_STUDIED
    for study in import_module(f"lasthop.studies.{subject}").STUDIES
}
"""All studies by key."""


@cache
def by_models_alone(key: str) -> dict[str, Measured]:
    """Return the values of a study without runs, which take seconds and are read by many tests."""
    study = STUDIES[key]
    assert not study.points
    return study.values({})


def read_by_claims(study: Study) -> set[str]:
    """Return the names of the study's values that claims of its subject read."""
    return {
        key
        for claim in ledger.load().select([study.subject])
        for check in claim.checks
        for key in check.rule.reads()
        if key.startswith(f"{study.name}.")
    }


def shortened(study: Study, duration: str, warmup: str) -> Study:
    """Return the study with runs of this length, two of each."""
    times = {"duration": duration, "warmup": warmup, "replications": 2}
    points = {name: {**tree, **times} for name, tree in study.points.items()}
    return dataclasses.replace(study, points=points)
