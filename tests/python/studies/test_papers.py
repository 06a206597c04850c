"""The numbers in the rules agree with a table that was typed only from the papers.

``papers.toml`` was typed from the texts and a list of questions, by somebody who did not see
``claims.toml``. Each row has the line of the paper's text with the number. A note marks the rows
that were typed together with their rule.
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
    if isinstance(check.rule, Number) and check.rule.span is not None
}


def limits(row):
    """Return the smallest and the largest number that the paper permits. None replaces a limit that
    the paper does not state.
    """
    if "number" in row:
        return row["number"], row["number"]
    return tuple(row.get("range", (row.get("at_least"), row.get("at_most"))))


def agree(ours, papers):
    return papers is None or ours == pytest.approx(papers, rel=5e-4, abs=1e-12)


def test_the_number_of_a_rule_is_that_of_the_paper_or_says_how_it_was_read():
    differing = []
    for key, check in CHECKS.items():
        rule, row = check.rule, TYPED[key]
        same = "absent" not in row and all(map(agree, rule.span, limits(row)))
        if not same and not check.reading:
            differing.append((key, rule.span, row))
    assert differing == []


def test_a_plain_number_is_not_judged_as_approximate():
    plain = {key for key, row in TYPED.items() if not row.get("about", True)}
    about = {key for key, check in CHECKS.items() if check.rule.about and not check.softer}
    assert plain & about == set()


def test_every_number_of_the_paper_is_used_by_a_check():
    read = {
        (claim.id, key)
        for claim in ledger.load().claims
        for check in (*claim.checks, *(other for each in claim.related for other in each.checks))
        for key in check.rule.reads()
    }
    assert set(TYPED) <= read


def test_every_check_has_the_words_of_the_paper():
    checks = [(claim.id, check) for claim in ledger.load().claims for check in claim.checks]
    assert [(name, check.what) for name, check in checks if not check.words] == []
