"""One run of each study is simulated again: the kept samples are what the engine gives now.

The others are simulated again by `make test-long`; see `tests/python/studies/test_kept.py` for what
is computed from the samples.
"""

import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.studies.kept import fingerprint
from lasthop.studies.reproduction import SUBJECTS_STUDIED

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import claims

STUDIES = [
    study
    for subject in SUBJECTS_STUDIED
    for study in import_module(f"lasthop.studies.{subject}").STUDIES
    if study.points
]
MOST_FLOW_SECONDS = 8_000
"""Simulated time of one replication times its flows, beyond which it takes over two seconds of a
processor; of a study whose every point takes more none is simulated here. [s]"""


def cost(tree):
    scenario = lh.Scenario(tree)
    return scenario["duration_s"] * len(scenario.typed.flows)


@pytest.fixture(scope="module")
def samples():
    return claims.samples()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.key)
def test_the_first_replication_gives_the_kept_samples(study, samples):
    read = {
        point: tree
        for point, tree in study.points.items()
        if samples[fingerprint(tree, study.model)]["samples"]
    }
    point, tree = min(read.items(), key=lambda item: cost(item[1]))
    if cost(tree) > MOST_FLOW_SECONDS:
        pytest.skip(f"a replication of {point} takes {cost(tree):.0f} s times flows")
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
