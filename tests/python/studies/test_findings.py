"""The findings of a study name the runs from which they were read."""

import numpy as np

from lasthop.studies import findings
from lasthop.studies.findings import Finding
from lasthop.studies.study import Run, Study


def text(runs):
    less = runs["without"].quantity("queues", "ap", "drop_probability")
    return {"demo-1": f"without losses {less}", "demo-2": "guess: chance"}


STUDY = Study(key="demo-fig01", title="a figure", measure=lambda runs: {}, findings=text)
RUN = Run({"queues": {"ap": {"drop_probability": [0.5, 0.5]}}})


def test_a_finding_names_the_runs_that_were_read():
    by_claim = findings.of(STUDY, {"plain": RUN, "without": RUN})
    assert by_claim["demo-1"] == Finding("without losses 0.5000", "demo-fig01", ("without",))
    assert str(by_claim["demo-1"]) == "without losses 0.5000 (study demo-fig01, run without)"


def test_for_many_runs_only_their_number_is_printed():
    points = tuple(map(str, np.arange(7)))
    assert Finding("", "demo-fig01", points).source == "study demo-fig01, 7 runs"
    assert Finding("", "demo-fig01", points[:2]).source == "study demo-fig01, runs 0, 1"


def test_a_study_without_runs_uses_only_the_model():
    assert Finding("", "demo-fig01").source == "study demo-fig01, by the model only"


def test_a_study_without_runs_names_its_basis():
    by_claim = findings.of(
        Study(
            key="demo-fig02",
            title="costs",
            measure=lambda runs: {},
            findings=lambda runs: {"demo-1": "12 us"},
            basis="from a stored measurement",
        ),
        {},
    )
    expected = "12 us (study demo-fig02, from a stored measurement)"
    assert str(by_claim["demo-1"]) == expected


def test_a_guess_is_marked_and_names_no_run():
    assert str(findings.of(STUDY, {"without": RUN})["demo-2"]) == "guess: chance"
