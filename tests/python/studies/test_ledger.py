"""Verdicts of the ledger: every branch of every rule, with its boundary values."""

import pytest

from lasthop.studies import ledger
from lasthop.studies.findings import Finding
from lasthop.studies.ledger import Ledger
from lasthop.studies.outcomes import Mark
from lasthop.studies.rules import Measured, RuleError, Rules, Verdict, worst

LOSSES = Finding("losses; without them 100", "demo-fig", ("still",))

REPRODUCED, OPEN, DEVIATES = Verdict.REPRODUCED, Verdict.OPEN, Verdict.DEVIATES

RULES = Rules(
    band=0.05,
    half_width=0.02,
    band_about=0.15,
    half_width_about=0.05,
    quick_margin=2.0,
    bound_margin=0.05,
)
HEAD = """
[rules]
band = 0.05
half_width = 0.02
band_about = 0.15
half_width_about = 0.05
quick_margin = 2.0
bound_margin = 0.05
[subject]
demo = "a paper"
[[claim]]
id = "demo-1"
kind = "message"
text = "something"
figure = "1"
"""


def book_of(check: str) -> Ledger:
    """Return a ledger with one claim that has the given checks."""
    return ledger.load(f"{HEAD}check = [ {check} ]")


def judge(check: str, quick: bool = False, **values: Measured) -> Verdict:
    """Return the verdict of a single check. The argument `a` is the value ``fig.a``."""
    book = book_of(check)
    measured = {f"fig.{name}": value for name, value in values.items()}
    return book.claims[0].result(measured, book.rules, quick=quick).verdict


NUMBER = '{ what = "w", kind = "number", value = "fig.a", paper = 100 }'
ABOUT = '{ what = "w", kind = "number", value = "fig.a", paper = 100, about = true }'
RANGE = '{ what = "w", kind = "number", value = "fig.a", range = [2, 6] }'
AGREES = '{ what = "w", kind = "number", value = "fig.a", paper = "model" }'
TREND = '{ what = "w", kind = "trend", larger = "fig.a", smaller = "fig.b" }'
SHAPE = '{ what = "w", kind = "shape", holds = ["fig.a < fig.b < 10", "2 * fig.a > 1"] }'


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (100.0, 1.0, REPRODUCED),
        (106.0, 1.0, REPRODUCED),  # The interval touches the band. This counts as an overlap.
        (106.01, 1.0, DEVIATES),
        (94.0, 1.0, REPRODUCED),
        (93.99, 1.0, DEVIATES),
        (100.0, 2.0, REPRODUCED),  # The half width is exactly 2 %.
        (100.0, 2.01, OPEN),
        (105.5, 2.11, REPRODUCED),  # The allowed half width is proportional to the mean.
        (105.5, 2.12, OPEN),
        (0.0, 2.0, DEVIATES),
        (120.0, 14.9, DEVIATES),  # The mean is outside the band by more than the half width.
        (120.0, 15.1, OPEN),
        (0.0, 94.9, DEVIATES),
        (100.0, None, OPEN),
    ],
)
def test_number_needs_a_narrow_interval_that_overlaps_the_band(mean, half, verdict):
    assert judge(NUMBER, a=Measured(mean, half)) is verdict


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (115.0, 5.0, REPRODUCED),
        (119.0, 4.0, REPRODUCED),
        (119.01, 4.0, DEVIATES),
        (100.0, 5.01, OPEN),
    ],
)
def test_about_widens_band_and_precision(mean, half, verdict):
    assert judge(ABOUT, a=Measured(mean, half)) is verdict


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(1.9, REPRODUCED), (1.89, DEVIATES), (4, REPRODUCED), (6.3, REPRODUCED), (6.31, DEVIATES)],
)
def test_range_is_widened_by_the_band_on_each_side(mean, verdict):
    assert judge(RANGE, a=Measured(mean, 0.0)) is verdict


def test_bands_of_negative_paper_values_have_the_correct_order():
    check = NUMBER.replace("100", "-100")
    assert judge(check, a=Measured(-104.0, 0.5)) is REPRODUCED
    assert judge(check, a=Measured(-106.0, 0.5)) is DEVIATES
    assert judge(check, a=Measured(100.0, 0.5)) is DEVIATES


def test_the_allowed_half_width_is_proportional_to_the_largest_of_mean_and_ends():
    check = RANGE.replace("[2, 6]", "[-100, -50]")
    assert judge(check, a=Measured(-97.0, 2.0)) is REPRODUCED
    assert judge(check, a=Measured(-97.0, 2.01)) is OPEN
    assert judge(check, a=Measured(-102.0, 2.04)) is REPRODUCED
    assert judge(check, a=Measured(-102.0, 2.05)) is OPEN


def test_agreement_is_judged_against_the_value_of_the_model():
    assert judge(AGREES) is OPEN
    assert judge(AGREES, a=Measured(100.0, 1.0, predicted=103.0)) is REPRODUCED
    assert judge(AGREES, a=Measured(100.0, 1.0, predicted=110.0)) is DEVIATES
    assert judge(AGREES, a=Measured(100.0, 1.0)) is OPEN


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ((3.0, 0.4), (2.0, 0.5), REPRODUCED),
        # The intervals touch each other, so that the order is not decided.
        ((3.0, 0.5), (2.0, 0.5), OPEN),
        ((2.0, 0.4), (3.0, 0.5), DEVIATES),
        ((2.0, 0.5), (3.0, 0.5), OPEN),
        ((2.0, None), (3.0, 0.1), OPEN),
    ],
)
def test_trend_is_the_sign_outside_both_intervals(a, b, verdict):
    assert judge(TREND, a=Measured(*a), b=Measured(*b)) is verdict


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ((3.0, 0.4), (5.0, 0.5), REPRODUCED),
        ((3.0, 0.4), (3.5, 0.5), OPEN),
        ((3.0, 0.4), (9.8, 0.5), OPEN),
        ((3.0, 0.4), (11.0, 0.5), DEVIATES),
        ((5.0, 0.1), (3.0, 0.1), DEVIATES),
        ((0.4, 0.05), (3.0, 0.1), DEVIATES),  # The product 2 a is below 1.
        ((0.55, 0.06), (3.0, 0.1), OPEN),  # The factor 2 also scales the interval.
    ],
)
def test_shape_needs_every_inequality_outside_its_intervals(a, b, verdict):
    assert judge(SHAPE, a=Measured(*a), b=Measured(*b)) is verdict


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ((3.0, 0.4), (2.0, 0.1), REPRODUCED),
        # The value a = -3.8 exceeds -2 b = -4 by 0.2.
        # This is less than the sum of the half widths, which are 0.05 and 2 * 0.1.
        ((-3.8, 0.05), (2.0, 0.1), OPEN),
        ((-4.3, 0.05), (2.0, 0.1), DEVIATES),
    ],
)
def test_a_negative_factor_turns_the_value_and_not_its_interval(a, b, verdict):
    check = '{ what = "w", kind = "shape", holds = ["fig.a > -2 * fig.b"] }'
    assert judge(check, a=Measured(*a), b=Measured(*b)) is verdict


def test_a_shape_with_a_missing_value_is_open_unless_another_inequality_fails():
    assert judge(SHAPE, a=Measured(3.0, 0.4)) is OPEN
    assert judge(SHAPE, a=Measured(0.3, 0.1)) is DEVIATES  # The product 2 * 0.3 is below 1.
    assert judge(SHAPE, b=Measured(5.0, 0.5)) is OPEN
    assert judge(SHAPE, b=Measured(11.0, 0.5)) is DEVIATES


@pytest.mark.parametrize(
    ("a", "b", "detail"),
    [
        (Measured(3.0, 0.1), None, "no study runs it yet"),
        (None, Measured(2.0, 0.1), "no study runs it yet"),
        (None, None, "no study runs it yet"),
        (Measured(3.0, 0.1), Measured(predicted=2.0), "the run gave no value"),
        (Measured(predicted=3.0), Measured(2.0, 0.1), "the run gave no value"),
        (Measured(3.0, 0.1), Measured(2.0), "no interval: fewer than two replications"),
        (Measured(3.0), Measured(2.0, 0.1), "no interval: fewer than two replications"),
        (Measured(3.0, 0.1), Measured(2.0, 0.1), "2.00 ± 0.10 < 3.00 ± 0.10"),
    ],
)
def test_a_trend_names_its_values_or_the_missing_values(a, b, detail):
    values = {"fig.a": a, "fig.b": b}
    book = book_of(TREND)
    known = {key: value for key, value in values.items() if value is not None}
    [check] = book.claims[0].result(known, book.rules).checks
    assert check.detail == detail


def test_shape_shows_the_tightest_margin():
    check = SHAPE.replace('"fig.a < fig.b < 10", "2 * fig.a > 1"', '"fig.a < 5", "fig.b < 4.8"')
    book = book_of(check)
    # The margin 5 - a is at least 0.5, and the margin 4.8 - b is at least 1.7.
    values = {"fig.a": Measured(3.0, 1.5), "fig.b": Measured(3.0, 0.1)}
    [check] = book.claims[0].result(values, book.rules).checks
    assert (check.simulated, check.ci95) == (2.0, 1.5)


def test_shape_shows_the_tightest_margin_of_a_chain():
    book = book_of(SHAPE)
    values = {"fig.a": Measured(3.0, 0.4), "fig.b": Measured(5.0, 0.5)}
    [check] = book.claims[0].result(values, book.rules).checks
    assert (check.simulated, check.ci95) == (pytest.approx(2.0), pytest.approx(0.9))
    assert check.paper == "fig.a < fig.b < 10, 2 * fig.a > 1"


def test_a_claim_is_as_good_as_its_worst_check():
    assert worst([REPRODUCED, REPRODUCED]) is REPRODUCED
    assert worst([REPRODUCED, OPEN]) is OPEN
    assert worst([OPEN, DEVIATES, REPRODUCED]) is DEVIATES
    both = f"{NUMBER}, {TREND}"
    assert judge(both, a=Measured(100.0, 1.0), b=Measured(90.0, 1.0)) is REPRODUCED
    assert judge(both, a=Measured(100.0, 1.0), b=Measured(99.0, 1.0)) is OPEN
    assert judge(both, a=Measured(100.0, 1.0), b=Measured(120.0, 1.0)) is DEVIATES


def test_without_a_study_the_claim_is_open_and_says_so():
    book = book_of(f"{NUMBER}, {TREND}")
    result = book.claims[0].result({}, book.rules)
    assert (result.verdict, result.why) == (OPEN, "no study runs it yet")
    assert [check.simulated for check in result.checks] == [None, None]


def test_a_check_on_the_model_has_no_interval_and_no_simulation():
    check = NUMBER.replace("paper", 'judge = "model", paper')
    book = book_of(check)
    result = book.claims[0].result({"fig.a": Measured(predicted=104.0)}, book.rules)
    assert result.verdict is REPRODUCED
    assert result.checks[0].predicted == 104.0
    assert result.checks[0].simulated is None
    assert judge(check, a=Measured(predicted=106.0)) is DEVIATES
    assert judge(check, a=Measured(simulated=100.0, ci95=0.1)) is OPEN


def test_why_names_the_failure_the_cause_and_the_value_of_the_model():
    book = book_of(NUMBER)
    values = {"fig.a": Measured(120.0, 1.0, predicted=101.0)}
    claim = book.claims[0]
    assert claim.result(values, book.rules).why == (
        "w: 120.0 ± 1.0 against 95.00..105.0\nno run isolates why\nmodel: 1 of 1 checks hold"
    )
    isolated = claim.result(values, book.rules, findings=[LOSSES])
    assert "cause: losses; without them 100 (study demo-fig, run still)" in isolated.why
    missed = claim.result({"fig.a": Measured(100.0, 1.0, predicted=120.0)}, book.rules)
    assert missed.verdict is REPRODUCED
    assert missed.why == "model: 0 of 1 checks hold, not: w"


def test_findings_are_printed_with_every_verdict():
    book = book_of(NUMBER)
    values = {"fig.a": Measured(100.0, 1.0)}
    result = book.claims[0].result(values, book.rules, findings=[LOSSES])
    assert result.why == "found: losses; without them 100 (study demo-fig, run still)"


def test_a_secondary_check_is_judged_and_does_not_count():
    first = f'{{ title = "first rule", because = "coarse", check = [{ABOUT}] }}'
    book = ledger.load(f"{HEAD}check = [ {NUMBER} ]\nbeside = [ {first} ]")
    [claim] = book.claims
    result = claim.result({"fig.a": Measured(110.0, 1.0)}, book.rules)
    assert result.verdict is DEVIATES
    [secondary] = result.related
    assert (secondary.title, secondary.because, secondary.verdict) == (
        "first rule",
        "coarse",
        REPRODUCED,
    )
    assert secondary.checks[0].detail == "110.0 ± 1.0 against 85.00..115.0"
    elsewhere = first.replace("fig.a", "other.a")
    book = ledger.load(f"{HEAD}check = [ {NUMBER} ]\nbeside = [ {elsewhere} ]")
    assert book.claims[0].studies() == {"fig", "other"}


@pytest.mark.parametrize("check", [NUMBER, ABOUT, RANGE, TREND, SHAPE])
def test_a_quick_run_agrees_with_a_full_run_or_leaves_the_claim_open(check):
    """The test uses a grid of means and half widths of quick runs. The interval of a full run is
    half as wide, and its mean is within the interval of the quick run.
    """
    for mean in [0.3, 2.0, 5.0, 9.0, 84.0, 94.0, 95.5, 100.0, 104.5, 106.0, 118.0, 150.0]:
        for half in [0.0, 0.002 * mean, 0.01 * mean, 0.03 * mean]:
            quick = judge(check, quick=True, a=Measured(mean, half), b=Measured(4.0, half))
            for shift in [-1.0, -0.5, 0.0, 0.5, 1.0]:
                a = Measured(mean + shift * half, half / 2)
                b = Measured(4.0 - shift * half, half / 2)
                assert quick in (OPEN, judge(check, a=a, b=b))


def test_a_quick_run_leaves_narrow_decisions_of_a_full_run_open():
    assert judge(NUMBER, a=Measured(105.5, 1.0)) is REPRODUCED
    assert judge(NUMBER, quick=True, a=Measured(105.5, 1.0)) is OPEN
    assert judge(NUMBER, quick=True, a=Measured(102.5, 1.0)) is REPRODUCED
    assert judge(NUMBER, a=Measured(106.5, 1.0)) is DEVIATES
    assert judge(NUMBER, quick=True, a=Measured(106.5, 1.0)) is OPEN
    assert judge(NUMBER, quick=True, a=Measured(107.5, 1.0)) is DEVIATES


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        # The interval of twice the half width begins at 95, the lower limit of the band.
        (97.0, 1.0, REPRODUCED),
        (96.9, 1.0, OPEN),
        (103.0, 1.0, REPRODUCED),
        (103.1, 1.0, OPEN),
        # Twice the half width is 4 %, which is twice the limit of a full run.
        (100.0, 2.0, REPRODUCED),
        (100.0, 2.01, OPEN),
    ],
)
def test_a_quick_run_decides_values_within_the_band_at_twice_their_interval(mean, half, verdict):
    assert judge(NUMBER, quick=True, a=Measured(mean, half)) is verdict


def test_a_quick_run_reports_measured_intervals_and_values_that_were_too_close():
    def check(rule, mean, predicted=None):
        book = book_of(rule)
        values = {"fig.a": Measured(mean, 1.0, predicted)}
        return book.claims[0].result(values, book.rules, quick=True).checks[0]

    assert check(NUMBER, 100.0).ci95 == 1.0
    assert check(NUMBER, 100.0).detail == "100.0 ± 1.0 against 95.00..105.0"
    close = "105.5 ± 1.0 against 95.00..105.0: too close for a quick run"
    assert check(NUMBER, 105.5).detail == close
    by_model = NUMBER.replace("paper", 'judge = "model", paper')
    assert check(by_model, 105.5, predicted=100.0).detail == "100.0 against 95.00..105.0"


def test_at_repeats_a_check_with_its_own_paper_value():
    check = (
        '{ what = "w {}", kind = "number", value = "fig.a_{}", at = [1, 2], paper = [10, 20] },'
        '{ what = "v {}", kind = "shape", holds = ["fig.a_{} < fig.b_{}"], at = ["x", "y"] }'
    )
    book = book_of(check)
    assert [c.what for c in book.claims[0].checks] == ["w 1", "w 2", "v x", "v y"]
    values = {"fig.a_1": Measured(10.0, 0.1), "fig.a_2": Measured(10.0, 0.1)}
    first, second, third, _ = book.claims[0].result(values, book.rules).checks
    assert [first.verdict, second.verdict, third.verdict] == [REPRODUCED, DEVIATES, OPEN]
    assert book.claims[0].studies() == {"fig"}


@pytest.mark.parametrize(
    ("place", "words"),
    [("0_3", "0.3"), ("44_7", "44.7"), ("two_classes", "two classes"), ("c_2", "c 2")],
)
def test_parts_of_names_are_printed_as_words(place, words):
    book = book_of(
        f'{{ what = "at {{}}", kind = "shape", holds = ["fig.a_{{}} < 1"], at = ["{place}"] }}'
    )
    assert [check.what for check in book.claims[0].checks] == [f"at {words}"]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ('{ what = "w", kind = "number", value = "fig.a" }', "either `paper` or `range`"),
        (RANGE.replace("range", "paper = 1, range"), "either `paper` or `range`"),
        ('{ what = "w", kind = "number", value = "a", paper = 1 }', "not a value"),
        ('{ what = "w", kind = "trend", larger = "fig.a", smaller = "3" }', "not a value"),
        ('{ what = "w", kind = "shape", holds = ["fig.a"] }', "no inequality"),
        ('{ what = "w", kind = "shape", holds = ["fig.a < fig.b * 2"] }', "not a number"),
        ('{ what = "w", kind = "shape", holds = ["fig.a < 2 * 3"] }', "not a number"),
        ('{ what = "w", kind = "shape", holds = ["fig.a < fig.b * fig.c"] }', "not a number"),
        ('{ what = "w", kind = "shape", holds = ["fig.a < 2 * fig.b * 3"] }', "not a number"),
        (NUMBER.replace("paper", "papre"), "unknown keys: papre"),
        (NUMBER.replace("number", "guess"), "guess"),
    ],
)
def test_an_invalid_rule_is_refused(check, message):
    with pytest.raises(RuleError, match=message):
        book_of(check)


def test_each_place_has_a_number_of_the_paper():
    check = '{ what = "w {}", kind = "number", value = "fig.a_{}", at = [1, 2], paper = [3, 4, 5] }'
    with pytest.raises(ValueError, match="longer"):
        book_of(check)


def test_a_claim_has_the_words_and_the_figure_of_its_entry():
    [claim] = book_of(NUMBER).claims
    assert (claim.id, claim.subject) == ("demo-1", "demo")
    assert (claim.text, claim.figure) == ("something", "1")


def test_the_rules_are_those_described_at_the_head_of_claims():
    """The bands are 5 and 15 %. The largest half widths are 2 and 5 %, and twice these values for a
    quick run.
    """
    assert ledger.load().rules == ledger.load(f"{HEAD}check = []").rules == RULES


def test_a_claim_given_twice_is_refused():
    with pytest.raises(RuleError, match="given twice: demo-1"):
        ledger.load(
            f"{HEAD}check = []\n[[claim]]\nid='demo-1'\nkind='detail'\ntext=''\nfigure=''\ncheck=[]"
        )


def test_select_accepts_only_subjects_and_claims():
    book = ledger.load()
    assert len(book.select([])) == len(book.claims)
    assert {claim.subject for claim in book.select(["vbs"])} == {"vbs"}
    assert [c.id for c in book.select(["hotspot-5", "hotspot-2"])] == ["hotspot-2", "hotspot-5"]
    with pytest.raises(KeyError, match="hotspots"):
        book.select(["hotspots"])


@pytest.mark.parametrize(
    ("subject", "claims"),
    [
        ("hotspot", 18),
        ("edca", 22),
        ("vbs", 21),
        ("acsma", 25),
        ("red", 21),
        ("ax", 5),
        ("bbr-wifi", 4),
    ],
)
def test_every_claim_of_every_subject_has_checks(subject, claims):
    chosen = ledger.load().select([subject])
    assert [claim.id for claim in chosen] == [f"{subject}-{k + 1}" for k in range(claims)]
    assert all(claim.checks and claim.text and claim.figure for claim in chosen)


def test_json_has_the_agreed_keys():
    book = book_of(NUMBER)
    result = book.claims[0].result({"fig.a": Measured(100.0, 1.0, 98.0)}, book.rules).to_json()
    assert list(result) == [
        *("id", "kind", "mark", "differences", "verdict", "why", "checks", "beside"),
    ]
    assert (result["kind"], result["mark"], result["differences"]) == ("message", "holds", [])
    assert result["checks"] == [
        {
            "what": "w",
            "paper": 100.0,
            "predicted": 98.0,
            "simulated": 100.0,
            "ci95": 1.0,
            "rule": "number: interval overlaps 5 %, half width at most 2 %",
            "verdict": "reproduced",
            "detail": "100.0 ± 1.0 against 95.00..105.0",
            "unit": "",
            "words": "",
            "softer": "",
            "reading": "",
            "series": "w",
            "model_verdict": "reproduced",
            "inequality": False,
            "value": "fig.a",
            "off": 0.0,
            "verdict_with_margin": "reproduced",
        }
    ]


BOUND = SHAPE.replace("}", ", bound = true }")


@pytest.mark.parametrize(
    ("b", "plain", "margin"),
    [(9.9, REPRODUCED, REPRODUCED), (10.4, DEVIATES, REPRODUCED), (10.6, DEVIATES, DEVIATES)],
)
def test_a_bound_of_the_paper_may_be_missed_by_five_per_cent(b, plain, margin):
    """The bound of the check b < 10 has a margin of 0.5. The comparison a < b has no margin."""
    for check, expected in ((BOUND, margin), (SHAPE, plain)):
        book = book_of(check)
        values = {"fig.a": Measured(9.0, 0.0), "fig.b": Measured(b, 0.0)}
        [result] = book.claims[0].result(values, book.rules).checks
        assert (result.verdict, result.verdict_with_margin) == (plain, expected)
    values = {"fig.a": Measured(b + 0.1, 0.0), "fig.b": Measured(b, 0.0)}
    book = book_of(BOUND)
    assert book.claims[0].result(values, book.rules).checks[0].verdict_with_margin is DEVIATES


@pytest.mark.parametrize(
    ("number", "order", "mark"),
    [
        (100.0, 1.0, Mark.HOLDS),
        (110.0, 1.0, Mark.NUMBER_OFF),
        (100.0, 3.0, Mark.FAILS),
        (110.0, 3.0, Mark.FAILS),
    ],
)
def test_a_mark_distinguishes_orders_from_numbers(number, order, mark):
    book = book_of(f"{NUMBER}, {TREND.replace('fig.a', 'fig.c')}")
    values = {
        "fig.a": Measured(number, 0.1),
        "fig.c": Measured(2.0, 0.1),
        "fig.b": Measured(order, 0.1),
    }
    assert book.claims[0].result(values, book.rules).mark is mark


@pytest.mark.parametrize(("value", "off"), [(1.0, -0.5), (2.0, 0.0), (4.0, 0.0), (6.6, 0.1)])
def test_a_number_within_the_range_of_the_paper_is_not_a_difference(value, off):
    book = book_of(RANGE)
    [check] = book.claims[0].result({"fig.a": Measured(value, 0.0)}, book.rules).checks
    assert check.off == pytest.approx(off)


DIFFERENCE = 'difference = [ { checks = ["w"], because = "paper", run = "r", reason = "it does" } ]'


def test_a_difference_names_checks_and_a_known_cause():
    [claim] = ledger.load(f"{HEAD}check = [ {NUMBER} ]\n{DIFFERENCE}").claims
    assert claim.differences[0].to_json() == {
        "checks": ["w"],
        "because": "paper",
        "run": "r",
        "reason": "it does",
    }
    for wrong, message in (
        (DIFFERENCE.replace('"w"', '"v"'), "no check is called 'v'"),
        (DIFFERENCE.replace('"paper"', '"weather"'), "'weather' is none of paper, unstated"),
    ):
        with pytest.raises(RuleError, match=message):
            ledger.load(f"{HEAD}check = [ {NUMBER} ]\n{wrong}")
    with pytest.raises(RuleError, match="kind: 'news' is none of message, detail"):
        ledger.load(f"{HEAD}check = []".replace('"message"', '"news"'))
