"""Studies made short."""

import dataclasses

from lasthop.studies import ledger
from lasthop.studies.study import Study


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
