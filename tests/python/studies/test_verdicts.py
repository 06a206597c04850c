"""The rules judge the values of the kept run as they did when it was made."""

import pytest

from lasthop.studies import kept, ledger

from .kept_run import REMEDY, all_close, claims

NUMBERS = ("predicted", "simulated", "ci95")
FORWARDED = ("what", "paper", "rule", "verdict", "unit", "words", "softer", "reading", "series")


@pytest.fixture(scope="module")
def whole():
    return claims.load()


def flat(checks):
    return [{name: check[name] for name in FORWARDED} for check in checks]


def numbers(checks):
    return [check[name] for check in checks for name in NUMBERS]


def test_rules_give_the_kept_verdicts(whole):
    book = ledger.load()
    values = kept.values_of(whole)
    for claim, was in zip(book.claims, whole["claims"], strict=True):
        now = claim.result(values[claim.subject], book.rules).to_json()
        assert claim.text == was["statement"], (claim.id, REMEDY)
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
