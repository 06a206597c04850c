"""The table of messages: verdicts, closeness of numbers, and causes for differences from the
papers.
"""

import pytest

from lasthop.studies import ledger, messages
from lasthop.studies.messages import Count
from lasthop.studies.rules import Measured, RuleError

from .kept_run import claims
from .test_ledger import HEAD

CHECKS = """
check = [
  { what = "n", kind = "number", value = "fig.a", paper = 100 },
  { what = "m {}", kind = "number", value = "fig.b_{}", at = [1, 2], paper = 10, about = true },
  { what = "s", kind = "shape", holds = ["fig.a < 100"], bound = true },
  { what = "t", kind = "shape", holds = ["fig.a < 100"] },
]
difference = [
  { checks = ["m 1, 2"], because = "unstated", run = "study x, run y", reason = "a timer" },
]
[[message]]
subject = "demo"
text = "Things are so."
condition = "on some days"
claims = ["demo-1"]
"""
HOLDS = """holds = ["fig.a > 50"]\nagrees = ["fig.b_1"]\n"""

VALUES = {
    "fig.a": Measured(104.0, 0.1, 104.0),
    "fig.b_1": Measured(12.0, 0.1, 11.9),
    "fig.b_2": Measured(14.0, 0.1, 14.0),
}


def judged(text: str = CHECKS + HOLDS, values=VALUES):
    """Return the messages and the claims in the format of `reproduce --json`."""
    book = ledger.load(HEAD + text)
    results = [claim.result(values, book.rules).to_json() for claim in book.claims]
    return [each.to_json(values, book.rules) for each in book.messages], results


def test_numbers_are_counted_within_bands_and_bounds_by_both_rules():
    """The values differ from the paper by 4, 20 and 40 %. The value 104 violates an upper bound of
    100, but by less than 5 %.
    """
    _, results = judged()
    closeness = messages.closeness(results)
    assert closeness.numbers == (Count(1, 3), Count(1, 3), Count(2, 3))
    assert (closeness.orders, closeness.orders_exact) == (Count(1, 2), Count(0, 2))
    # The difference of the check `m 1` (12 with a band of 15 %) has the cause "unstated".
    # The violated inequality has no cause.
    assert closeness.causes == {"unstated": 2, messages.UNKNOWN: 1}


def test_a_number_that_two_claims_share_counts_once():
    _, results = judged()
    again = {**results[0], "id": "demo-2"}
    assert messages.closeness([results[0], again]).numbers[0] == Count(1, 3)
    other = {**results[0], "id": "other-1"}
    assert messages.closeness([results[0], other]).numbers[0] == Count(2, 6)


def test_a_row_has_the_condition_and_the_causes():
    entries, results = judged()
    assert messages.rows(entries, results) == [
        (
            *("demo", "Things are so.", "yes: on some days", "1 of 2"),
            *("1 of 3", "1 of 3", "2 of 3", "unstated: demo-1; not classified: demo-1"),
        )
    ]
    assert messages.summary(entries, results, ledger.CAUSES) == (
        "1 of 1 messages hold, 1 of them under a stated condition. 1 of 2 checks of an order "
        "or a shape hold (0 without the margin of 5 % on bounds that papers state). lasthop "
        "reproduces the following of the 3 stated numbers: 1 (33 %) within 5 %, 1 (33 %) within "
        "15 %, 2 (67 %) within 25 %. 3 of 5 checks are not reproduced. In 2, the result depends on "
        "a setting that the paper does not state. In 1, the cause is not classified."
    )
    assert messages.summary([], [], ledger.CAUSES) == ""


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "reproduced"),
        ({"fig.a": Measured(40.0, 0.1)}, "deviates"),
        ({"fig.b_1": Measured(14.0, 0.1, 11.9)}, "deviates"),  # 18 % off the model's value
        ({"fig.a": Measured(51.0, 2.0)}, "open"),
    ],
)
def test_a_message_holds_if_all_its_inequalities_hold_and_values_agree(changes, verdict):
    entries, _ = judged(values=VALUES | changes)
    assert entries[0]["verdict"] == verdict


def test_a_message_about_the_model_is_judged_by_the_model():
    values = {**VALUES, "fig.a": Measured(None, None, 104.0)}
    text = CHECKS + HOLDS.partition("\n")[0]
    assert judged(text + '\njudge = "model"', values)[0][0]["verdict"] == "reproduced"
    assert judged(text, values)[0][0]["verdict"] == "open"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CHECKS, "neither `holds` nor `agrees`"),
        (CHECKS.replace('["demo-1"]', '["demo-2"]') + HOLDS, "demo-2 is no claim of demo"),
        (CHECKS.replace('"demo"\n', '"other"\n') + HOLDS, "demo-1 is no claim of other"),
    ],
)
def test_an_invalid_message_is_refused(text, message):
    with pytest.raises(RuleError, match=message):
        ledger.load(HEAD + text)


def test_every_claim_marked_as_a_message_is_in_a_message():
    book = ledger.load()
    named = {name for message in book.messages for name in message.claims}
    assert named == {claim.id for claim in book.claims if claim.kind == "message"}


def test_every_difference_of_the_stored_run_has_a_cause_with_its_run():
    """Only studies of papers are included; the subject `ax` has no paper. A difference with the
    cause "paper" or "unstated" must name a run.
    """
    missing = []
    for claim in claims.load()["claims"]:
        if claim["id"].startswith("ax-"):
            continue
        [row] = messages.ClaimRow.all_of([claim])
        missing += [
            (row.id, check.what)
            for check in row.checks
            if check.verdict != "reproduced" and row.cause(check) == messages.UNKNOWN
        ]
        for each in claim["differences"]:
            assert each["run"] or each["because"] in ("number", "rule", "ours"), claim["id"]
            assert each["reason"], claim["id"]
    assert missing == []
