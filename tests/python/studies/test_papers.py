"""The rules' numbers are the papers': held against a table that was typed from the papers alone.

``papers.toml`` was typed by somebody who had the texts and a list of what is asked, and had not
seen ``claims.toml``; each number stands there with the line of the text that it is from.
"""

import tomllib
from pathlib import Path

import pytest

from lasthop.studies import ledger
from lasthop.studies.rules import Number

TYPED = {
    (row["claim"], row["key"]): row
    for row in tomllib.loads(Path(__file__).with_name("papers.toml").read_text("utf-8"))["value"]
}
CHECKS = {
    (claim.id, check.rule.value): check
    for claim in ledger.load().claims
    for check in claim.checks
    if isinstance(check.rule, Number) and check.rule.low is not None
}


def limits(row):
    """What the paper gives: least and greatest value, None where it gives no bound."""
    if "number" in row:
        return row["number"], row["number"]
    return tuple(row.get("range", (row.get("at_least"), row.get("at_most"))))


def agree(ours, papers):
    return papers is None or ours == pytest.approx(papers, rel=5e-4, abs=1e-12)


@pytest.mark.parametrize("key", CHECKS, ids=" ".join)
def test_a_rules_number_is_the_papers(key):
    check, row = CHECKS[key], TYPED[key]
    rule = check.rule
    if "absent" in row or not all(map(agree, (rule.low, rule.high), limits(row))):
        assert check.reading, f"the paper has {row}, the rule {rule}, and says nothing of it"


@pytest.mark.parametrize("key", CHECKS, ids=" ".join)
def test_a_plain_number_is_not_judged_as_if_it_were_about(key):
    check, row = CHECKS[key], TYPED[key]
    if check.rule.about and not row.get("about", True):
        assert check.softer, f"{row['words']!r} is a plain number"


def test_every_number_that_was_typed_is_judged_or_stands_beside():
    read = {
        (claim.id, key)
        for claim in ledger.load().claims
        for check in (*claim.checks, *(one for each in claim.beside for one in each.checks))
        for key in check.rule.reads()
    }
    assert set(TYPED) <= read


@pytest.mark.parametrize("claim", ledger.load().claims, ids=lambda claim: claim.id)
def test_every_check_has_the_papers_words(claim):
    assert [check.what for check in claim.checks if not check.words] == []
