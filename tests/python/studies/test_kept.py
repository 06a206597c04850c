"""The kept run of all claims says what settings, measures and rules give now.

Nothing is simulated here: scenarios are compared with those that were run, measures are taken once
more from what was read of the runs, and rules judge those values.
"""

import sys
from pathlib import Path

import pytest

from lasthop.studies import kept, ledger

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

import claims

from .brief import STUDIES, by_models_alone

REMEDY = "run `python docs/claims.py` and look at what changed"
NUMBERS = ("predicted", "simulated", "ci95")
FORWARDED = ("what", "paper", "rule", "verdict", "unit", "words", "softer", "reading", "series")


@pytest.fixture(scope="module")
def whole():
    return {**claims.load(), "runs": claims.samples()}


def close(one, other):
    """The same but for the last digits of linear algebra, which depend on the processor."""
    if one is None or other is None:
        return one is other
    return one == pytest.approx(other, rel=1e-6, abs=1e-9, nan_ok=True)


def all_close(some, others):
    return all(close(one, other) for one, other in zip(some, others, strict=True))


def test_every_study_and_every_claim_is_kept(whole):
    read = {f"{claim.subject}-{name}" for claim in ledger.load().claims for name in claim.studies()}
    assert set(whole["studies"]) == read
    assert [one["id"] for one in whole["claims"]] == [one.id for one in ledger.load().claims]


@pytest.mark.parametrize("key", STUDIES)
def test_scenarios_are_those_that_were_run(whole, key):
    assert kept.changed_points(STUDIES[key], whole) == [], REMEDY


@pytest.mark.parametrize("key", STUDIES)
def test_measures_read_the_same_of_the_runs(whole, key):
    study = STUDIES[key]
    runs = kept.runs_of(study, whole)
    values = study.values(runs) if runs else by_models_alone(key)
    was = whole["studies"][key]["values"]
    now = {name: [one.simulated, one.ci95, one.predicted] for name, one in values.items()}
    assert now.keys() == was.keys(), REMEDY
    changed = {name: one for name, one in now.items() if not all_close(one, was[name])}
    assert changed == {}, REMEDY


def flat(checks):
    return [{name: check[name] for name in FORWARDED} for check in checks]


def numbers(checks):
    return [check[name] for check in checks for name in NUMBERS]


def test_rules_give_the_kept_verdicts(whole):
    book = ledger.load()
    values = kept.values_of(whole)
    for claim, was in zip(book.claims, whole["claims"], strict=True):
        now = claim.result(values[claim.subject], book.rules).to_json()
        assert now["verdict"] == was["verdict"], (claim.id, REMEDY)
        for one, other in zip([now, *now["beside"]], [was, *was["beside"]], strict=True):
            assert one["verdict"] == other["verdict"], (claim.id, REMEDY)
            assert flat(one["checks"]) == flat(other["checks"]), (claim.id, REMEDY)
            assert all_close(numbers(one["checks"]), numbers(other["checks"])), claim.id
        beside = [{k: each[k] for k in ("title", "because")} for each in now["beside"]]
        assert beside == [{k: each[k] for k in ("title", "because")} for each in was["beside"]]


def test_a_cause_names_its_runs_or_is_called_a_guess(whole):
    for claim in whole["claims"]:
        lines = [line for line in claim["why"].splitlines() if line.startswith("cause: ")]
        assert all("(study " in line or "cause: guess: " in line for line in lines), claim["id"]
