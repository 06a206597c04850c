"""Differences of paired runs: intervals computed by hand, and verdicts that are not due to
chance.
"""

import random
from math import isclose

import pytest

import lasthop as lh
from lasthop.answers.quantities import registry
from lasthop.batch.paired import (
    HIGHER_IS_BETTER,
    LOWER_IS_BETTER,
    Measure,
    better_direction,
    judge,
    run,
)

from .conftest import CALL

DELAY = Measure("flows", "one_way_delay_p99_s", ("phone/udp-up/1",))


def test_interval_is_students_over_the_differences() -> None:
    # The differences are 1, 2 and 3, with mean 2 and standard error 1/sqrt(3).
    # Student's t is 4.3027 for 2 degrees of freedom at 97.5 %.
    difference = judge([10.0, 20.0, 30.0], [11.0, 22.0, 33.0], 1, confidence=0.95)
    assert difference.mean == 2.0
    assert difference.half is not None
    assert isclose(difference.half, 4.3027 / 3**0.5, rel_tol=1e-4)
    assert difference.half == difference.ci95
    assert difference.verdict == "same"


def test_more_comparisons_widen_the_interval_and_change_the_verdict() -> None:
    base, case = [10.0, 20.0, 30.0, 40.0], [11.0, 21.1, 31.2, 41.1]
    alone, among = (judge(base, case, -1, comparisons=count) for count in (1, 1000))
    assert (alone.verdict, among.verdict) == ("worse", "same")
    assert alone.ci95 == among.ci95


def test_missing_values_leave_out_their_pair() -> None:
    difference = judge([1.0, None, 3.0, 4.0], [None, 2.0, 3.5, 4.6], 0, confidence=0.5)
    assert (difference.pairs, difference.verdict) == (2, "different")
    assert judge([None], [1.0], 0).verdict == "unknown"
    assert judge([1.0], [2.0], 0).verdict == "unknown"


def test_rounding_of_a_sum_is_not_a_difference() -> None:
    base = [1e8 + k for k in range(5)]
    assert judge(base, [value + 1e-6 for value in base], 1).verdict == "identical"


@pytest.mark.parametrize(
    ("base", "case", "verdict"),
    [
        ([0.0] * 3, [1.0] * 3, "same"),  # by chance with probability 2 / 4^3 = 0.03
        ([0.0] * 5, [1.0] * 5, "worse"),  # by chance with probability 2 / 4^5 = 0.002
        # Five differences have equal signs by chance with probability 2 / 2^5 = 0.06.
        ([0.0, 5.0, 3.0, 1.0, 2.0], [1.0, 6.0, 4.0, 2.0, 3.0], "same"),
    ],
)
def test_equal_differences_count_only_if_chance_hardly_gives_them(
    base: list[float], case: list[float], verdict: str
) -> None:
    assert judge(base, case, -1).verdict == verdict
    assert judge(base, case, -1, is_random=False).verdict == "worse"


def test_false_differences_of_equal_samples_are_as_rare_as_the_confidence() -> None:
    draw = random.Random(5)
    false = 0
    for _ in range(400):
        columns = [[[draw.expovariate(1.0) for _ in range(5)] for _ in range(2)] for _ in range(8)]
        verdicts = {judge(*pair, -1, comparisons=8, confidence=0.95).verdict for pair in columns}
        false += verdicts != {"same"}
    assert false <= 0.05 * 400


def test_cases_share_their_random_numbers_with_the_base() -> None:
    base = lh.check(CALL).with_("replications", 5)
    runs = run(
        base,
        {
            "fq": base.with_("wire.queue.fq_codel", {}),
            "large": base.with_("cell.ap_queue", 5000),
            "larger": base.with_("cell.ap_queue", 6000),
            "more": base.with_("station.laptop.upload", 2),
        },
        jobs=2,
    )
    better = runs.difference("fq", DELAY, comparisons=1)
    assert better.verdict == "better"
    assert better.mean is not None
    assert better.mean < -0.03
    same = runs.difference("larger", DELAY, comparisons=1, against="large")
    assert same.verdict == "identical"
    assert runs.missing("more") == ([], ["laptop/up/2"])
    everybody = Measure("flows", "goodput_bps", ("laptop/up/1", "phone/udp-up/1"), label="all")
    flows = runs.base.sample_tree["flows"].values()
    sums = [sum(values) for values in zip(*(flow["goodput_bps"] for flow in flows), strict=True)]
    assert everybody.values(runs.base) == pytest.approx(sums)


def test_directions_are_of_known_quantities() -> None:
    assert {*registry(), "wait_s"} >= HIGHER_IS_BETTER | LOWER_IS_BETTER
    assert not HIGHER_IS_BETTER & LOWER_IS_BETTER
    assert [better_direction(name) for name in ("rtt_s", "jain", "events")] == [-1, 1, 0]
