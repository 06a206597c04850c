"""The stored reproduction of all claims agrees with the present scenarios and measures.

These tests simulate nothing. Scenarios are compared with the scenarios of the stored run, and
measures are computed again from stored samples. `test_verdicts.py` judges these values by the
rules.
"""

import json

import pytest

from lasthop.studies import kept, ledger

from .brief import STUDIES, by_models_alone
from .kept_run import REMEDY, all_close, claims


@pytest.fixture(scope="module")
def stored():
    return {**claims.load(), "runs": claims.samples()}


def test_every_study_and_every_claim_is_stored(stored):
    read = {f"{claim.subject}-{name}" for claim in ledger.load().claims for name in claim.studies()}
    assert set(stored["studies"]) == read
    assert [entry["id"] for entry in stored["claims"]] == [
        entry.id for entry in ledger.load().claims
    ]


@pytest.mark.parametrize("key", STUDIES)
def test_scenarios_are_those_that_were_run(stored, key):
    assert kept.changed_points(STUDIES[key], stored) == [], REMEDY


@pytest.mark.smoke(12)
@pytest.mark.parametrize("key", STUDIES)
def test_measures_of_the_runs_are_unchanged(stored, key):
    study = STUDIES[key]
    runs = kept.runs_of(study, stored)
    values = study.values(runs) if runs else by_models_alone(key)
    was = stored["studies"][key]["values"]
    now = {name: [value.simulated, value.ci95, value.predicted] for name, value in values.items()}
    assert now.keys() == was.keys(), REMEDY
    changed = {name: value for name, value in now.items() if not all_close(value, was[name])}
    assert changed == {}, REMEDY


def test_repeating_a_single_study_changes_no_other(stored, monkeypatch, tmp_path):
    study = STUDIES["hotspot-two_stations"]
    monkeypatch.setattr(claims, "KEPT", tmp_path / "claims.json")
    monkeypatch.setattr(claims, "SAMPLES", tmp_path / "claims-samples.json.gz")
    monkeypatch.setattr(claims, "load", lambda: {k: v for k, v in stored.items() if k != "runs"})
    monkeypatch.setattr(claims, "samples", dict)
    claims.write_studies([study], {study.key: kept.runs_of(study, stored)})
    now = json.loads((tmp_path / "claims.json").read_text("utf-8"))
    assert now["studies"] == stored["studies"]
    assert now["claims"] == stored["claims"]
    assert set(now["apart"]) == {*stored.get("apart", {}), study.key}


def test_findings_of_other_studies_stay_in_the_reason_for_a_verdict():
    why = "loss: 2 < 1\ncause: one (study red-fig18, 8 runs)\nfound: two (study red-fig19, run a)"
    assert [*claims._others(why, {"red-fig19"})] == ["one (study red-fig18, 8 runs)"]
