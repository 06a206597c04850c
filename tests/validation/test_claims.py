"""One run of each study is simulated again. The result must equal the stored samples.

`make test-long` also simulates the long studies again. `tests/python/studies/test_kept.py` checks
the values that are computed from the samples.
"""

import sys
import warnings
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.studies.kept import fingerprint
from lasthop.studies.red import PACKETS
from lasthop.studies.reproduction import SUBJECTS_STUDIED, studies_of

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import claims

STUDIES = [study for subject in SUBJECTS_STUDIED for study in studies_of(subject) if study.points]
MAX_FLOW_SECONDS = 8_000
"""Longest run in `make test`, as simulated time of a replication times number of flows. [s]

Longer runs take more than two seconds of CPU time."""


def is_long(study):
    """Return whether every run of a study is longer than `MAX_FLOW_SECONDS`.

    The studies of paper 004 simulate routers with about 60 flows for 500 s.
    """
    return study.subject == "red"


def cost(tree):
    scenario = lh.Scenario(tree)
    return scenario["duration_s"] * len(scenario.typed.flows)


@pytest.fixture(scope="module")
def samples():
    return claims.samples()


def test_every_long_study_has_short_runs_in_another_test() -> None:
    """`tests/python/studies/test_router.py` simulates short runs of each of these studies."""
    assert [study.key for study in STUDIES if is_long(study)] == [study.key for study in PACKETS]


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(study, marks=pytest.mark.slow if is_long(study) else (), id=study.key)
        for study in STUDIES
    ],
)
def test_the_first_replication_gives_the_kept_samples(study, samples):
    read = {
        point: tree
        for point, tree in study.points.items()
        if samples[fingerprint(tree, study.model)]["samples"]
    }
    point, tree = min(read.items(), key=lambda item: cost(item[1]))
    assert (cost(tree) > MAX_FLOW_SECONDS) == is_long(study), point
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = lh.simulate(tree, replications=1, jobs=1)
    now = {(row.list, row.name, row.quantity): row.value for row in result.samples.itertuples()}
    was = {
        (list_name, item, quantity): values[0]
        for list_name, items in samples[fingerprint(tree, study.model)]["samples"].items()
        for item, quantities in items.items()
        for quantity, values in quantities.items()
    }
    assert was
    assert {place: now.get(place) for place in was} == was
