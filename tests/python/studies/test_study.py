"""Arithmetic on quantities acts on both the samples and the prediction."""

import numpy as np
import pytest

from lasthop.studies.rules import Measured
from lasthop.studies.study import (
    Quantity,
    Run,
    Study,
    along,
    largest,
    listed,
    mean_of,
    smallest,
)


def quantity(*samples: float, predicted: float | None = None) -> Quantity:
    return Quantity(np.asarray(samples, dtype=float), predicted)


def test_interval_is_students_t_over_replications():
    # The samples have the mean 2 and the standard deviation 1.
    # The half width is Student's t(0.975, 2) = 4.302653 divided by the square root of three.
    measured = quantity(1.0, 2.0, 3.0, predicted=2.5).measured()
    assert measured.simulated == 2.0
    assert measured.ci95 == pytest.approx(4.302653 / 3**0.5, rel=1e-6)
    assert measured.predicted == 2.5


def test_one_replication_has_no_interval():
    assert quantity(4.0).measured() == Measured(4.0, None, None)


def test_a_value_missing_in_a_replication_is_missing():
    assert quantity(1.0, float("nan"), predicted=3.0).measured() == Measured(predicted=3.0)
    assert (quantity(1.0) / quantity(0.0)).measured().simulated is None


def test_ratio_is_taken_replication_by_replication_and_of_predictions():
    ratio = quantity(2.0, 6.0, predicted=8.0) / quantity(1.0, 2.0, predicted=4.0)
    assert list(ratio.samples) == [2.0, 3.0]
    assert ratio.predicted == 2.0


def test_arithmetic_with_plain_numbers_reaches_the_prediction():
    assert list(((quantity(2.0, 4.0) - 1.0) * 3.0 + 1.0).samples) == [4.0, 10.0]
    assert ((quantity(0.0, predicted=2.0) - 1.0) * 3.0 + 1.0).predicted == 4.0


def test_a_missing_prediction_makes_the_result_missing():
    assert (quantity(1.0, predicted=1.0) + quantity(1.0)).predicted is None
    assert (quantity(1.0, predicted=1.0) / quantity(1.0, predicted=0.0)).predicted is None


def test_the_mean_of_quantities_is_taken_per_replication():
    mean = mean_of([quantity(1.0, 2.0, predicted=3.0), quantity(3.0, 6.0, predicted=5.0)])
    assert list(mean.samples) == [2.0, 4.0]
    assert mean.predicted == 4.0


def test_a_number_of_a_curve_is_taken_in_each_replication_and_of_the_predictions():
    curve = [quantity(1.0, 5.0, predicted=2.0), quantity(3.0, 4.0, predicted=7.0)]
    spread = along(lambda values: float(np.ptp(values)), curve)
    assert (list(spread.samples), spread.predicted) == ([2.0, 1.0], 5.0)
    assert along(lambda values: float(values[0]), [quantity(1.0)]).predicted is None
    half = [quantity(1.0, predicted=2.0), quantity(1.0)]
    assert along(lambda values: float(values[0]), half).predicted is None
    both = along(lambda first, other: float(first @ other), curve, curve)
    assert (list(both.samples), both.predicted) == ([10.0, 41.0], 53.0)


def test_curves_of_different_numbers_of_replications_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        along(lambda first, other: float(first @ other), [quantity(1.0, 2.0)], [quantity(1.0)])


def test_the_largest_and_the_smallest_are_found_among_means_and_among_predictions():
    curve = [quantity(1.0, 5.0, predicted=9.0), quantity(4.0, 4.0, predicted=7.0)]
    assert (list(largest(curve).samples), largest(curve).predicted) == ([4.0, 4.0], 9.0)
    assert (list(smallest(curve).samples), smallest(curve).predicted) == ([1.0, 5.0], 7.0)
    assert largest([quantity(1.0, predicted=1.0), quantity(2.0)]).predicted is None
    wide = [quantity(1.0, 9.0), quantity(4.0, 5.0)]  # means of 5 and 4.5
    assert list(largest(wide).samples) == [1.0, 9.0]
    assert list(smallest(wide).samples) == [4.0, 5.0]


def test_a_run_pairs_samples_with_predictions():
    tree = {"stations": {"first": {"goodput_share": [0.5, 0.7], "queue_packets": [1, None]}}}
    run = Run(tree, {"stations": {"first": {"goodput_share": 0.6}}})
    share = run.quantity("stations", "first", "goodput_share")
    assert (list(share.samples), share.predicted) == ([0.5, 0.7], 0.6)
    queue = run.quantity("stations", "first", "queue_packets")
    assert queue.measured().simulated is None


def test_names_of_values_begin_with_the_study():
    study = Study(
        key="demo-fig01", title="a figure", measure=lambda runs: {"eta": quantity(1.0, 1.0)}
    )
    assert study.values({}) == {"fig01.eta": Measured(1.0, 0.0, None)}
    assert (study.subject, study.name) == ("demo", "fig01")


def test_values_of_tables_are_separate_from_values_of_claims():
    study = Study(
        key="paper-figure",
        title="a figure",
        measure=lambda _: {"read": Quantity(np.array([2.0]))},
        shown=lambda _: {"shown": Quantity(np.array([3.0]))},
    )
    values = {name: value.simulated for name, value in study.values({}).items()}
    assert values == {"figure.read": 2.0, "figure.shown": 3.0}


def test_a_curve_of_which_the_prediction_has_no_number_has_no_prediction():
    curve = [quantity(1.0, predicted=1.0)]
    assert along(lambda values: float("nan"), curve).predicted is None


def test_values_are_printed_with_their_intervals():
    # The half width is Student's t(0.975, 2) = 4.302653, divided by the square root of three.
    quantities = [quantity(1.0, 2.0, 3.0), quantity(10.0)]
    assert [str(value) for value in quantities] == ["2.0 ± 2.5", "10.00"]
    assert listed(quantities) == "2.0 ± 2.5, 10.00"


def test_a_quick_run_takes_a_share_of_the_replications_at_least_two_or_its_own_form():
    cell = {"duration": "1 s", "cell": {"phy": "802.11b"}, "station": {"a": {"udp_up": "greedy"}}}
    points = {f"{many}": {**cell, "replications": many} for many in (2, 5, 10, 30)}
    study = Study(key="demo-fig01", title="a figure", points=points, measure=lambda _: {})
    quick = study.shortened(0.3)
    assert {name: tree["replications"] for name, tree in quick.points.items()} == {
        "2": 2,
        "5": 2,
        "10": 3,
        "30": 9,
    }
    own = Study(key="demo-fig01", title="short", measure=lambda _: {})
    longer = Study(key="demo-fig01", title="long", measure=lambda _: {}, quick=own)
    assert longer.shortened(0.3) is own


def test_a_track_is_found_by_list_item_and_quantity():
    names = [(part, item, what) for part in "ab" for item in "cd" for what in "ef"]
    tracks = [
        {"list": part, "name": item, "quantity": what, "values": [float(k)]}
        for k, (part, item, what) in enumerate(names)
    ]
    run = Run({}, series={"time_s": [0.5], "tracks": tracks})
    assert [run.track(*name) for name in names] == [([0.5], [float(k)]) for k in range(8)]
    with pytest.raises(KeyError):
        run.track("a", "c", "g")
