"""The rules give the stored verdicts for the stored values."""

import pytest

from lasthop.studies import kept, ledger

from .kept_run import REMEDY, all_close, claims

NUMBERS = ("predicted", "simulated", "ci95")
FORWARDED = ("what", "paper", "rule", "verdict", "unit", "words", "softer", "reading", "series")


@pytest.fixture(scope="module")
def stored():
    return claims.load()


def flat(checks):
    return [{name: check[name] for name in FORWARDED} for check in checks]


def numbers(checks):
    return [check[name] for check in checks for name in NUMBERS]


def test_rules_give_the_stored_verdicts(stored):
    book = ledger.load()
    values = kept.values_of(stored)
    for claim, was in zip(book.claims, stored["claims"], strict=True):
        now = claim.result(values[claim.subject], book.rules).to_json()
        assert claim.text == was["statement"], (claim.id, REMEDY)
        assert now["verdict"] == was["verdict"], (claim.id, REMEDY)
        for new, other in zip([now, *now["beside"]], [was, *was["beside"]], strict=True):
            assert new["verdict"] == other["verdict"], (claim.id, REMEDY)
            assert flat(new["checks"]) == flat(other["checks"]), (claim.id, REMEDY)
            assert all_close(numbers(new["checks"]), numbers(other["checks"])), claim.id
        rules = [{k: each[k] for k in ("title", "because")} for each in now["beside"]]
        assert rules == [{k: each[k] for k in ("title", "because")} for each in was["beside"]]


def test_a_cause_names_its_runs_or_is_marked_as_a_guess(stored):
    for claim in stored["claims"]:
        lines = [line for line in claim["why"].splitlines() if line.startswith("cause: ")]
        assert all("(study " in line or "cause: guess: " in line for line in lines), claim["id"]
