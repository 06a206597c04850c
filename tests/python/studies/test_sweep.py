"""A sweep derives the names of its points from their settings, and reads quantities along the
points.
"""

import numpy as np

from lasthop.studies.study import Quantity, Run
from lasthop.studies.sweep import Sweep, tag

SWEEP = Sweep(
    "{law}-{error}",
    lambda law, error: {"name": law, "error": error},
    {"law": ("plain", "vbs"), "error": (0.0, 0.1)},
    words={"vbs": "Algorithm 1"},
)


def goodput(run: Run) -> Quantity:
    return run.quantity("cells", "cell", "goodput_bps")


def runs() -> dict[str, Run]:
    names = ["plain-0", "plain-0_1", "vbs-0", "vbs-0_1"]
    return {
        name: Run({"cells": {"cell": {"goodput_bps": [float(k)]}}}) for k, name in enumerate(names)
    }


def means(quantities: list[Quantity]) -> list[float]:
    return [float(np.mean(quantity.samples)) for quantity in quantities]


def test_names_have_settings_like_values_of_claims():
    assert [tag(value) for value in (0.1, 0.0, 2.0, 15, "fifo")] == ["0_1", "0", "2", "15", "fifo"]
    assert SWEEP.points()["vbs-0_1"] == {"name": "vbs", "error": 0.1}
    assert list(SWEEP.points()) == list(runs())


def test_a_part_of_a_sweep_has_a_single_value_of_a_setting_or_several():
    assert means(SWEEP.at(law="vbs").read(runs(), goodput)) == [2.0, 3.0]
    assert means(SWEEP.at(error=[0.1]).read(runs(), goodput)) == [1.0, 3.0]


def test_values_are_named_by_the_settings_of_their_points():
    values = SWEEP.at(error=0.1).values(runs(), {"goodput_{law}_{error}": goodput})
    assert list(values) == ["goodput_plain_0_1", "goodput_vbs_0_1"]
    assert means(list(values.values())) == [1.0, 3.0]


def test_there_is_a_line_for_each_combination_of_the_other_settings():
    plain, shared = SWEEP.lines("{law}", "error", goodput, "hollow")
    assert (plain.label, shared.label) == ("plain", "Algorithm 1")
    assert (shared.x, shared.variant) == ((0.0, 0.1), "hollow")
    assert means(list(shared.read(runs()))) == [2.0, 3.0]
