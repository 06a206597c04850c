"""Ratios of costs, tested without measurements."""

from dataclasses import replace

import cost_ratios
import pytest
from cost_ratios import CostRatio, Measurement
from measure import BenchError

MEASUREMENT = Measurement("a / b", "AMD EPYC", 2.0, False, [3.0, 4.0, 9.0], [2.0, 2.0, 3.0])


def test_an_aim_is_the_largest_or_the_smallest_ratio() -> None:
    assert MEASUREMENT.ratios == [1.5, 2.0, 3.0]
    assert list(MEASUREMENT.missed()) == []
    assert list(replace(MEASUREMENT, aim=1.9).missed()) == ["a / b: 2, aim at most 1.9"]
    smallest = replace(MEASUREMENT, aim=2.1, is_minimum=True)
    assert list(smallest.missed()) == ["a / b: 2, aim at least 2.1"]
    assert list(replace(smallest, aim=2.0).missed()) == []


def test_an_aim_for_another_processor_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = CostRatio("a / b", lambda: 1.0, lambda: 2.0, 9.0, is_minimum=True, is_amd_only=True)
    monkeypatch.setattr(cost_ratios, "processor", lambda: "Xeon")
    measured = cost_ratios.compare(ratio, 2)
    assert list(measured.missed()) == []
    assert cost_ratios.table_row(measured) == [
        "a / b",
        "1, 2",
        "0.5 (0.5 to 0.5)",
        "not checked (AMD only)",
    ]
    monkeypatch.setattr(cost_ratios, "processor", lambda: "AMD EPYC")
    assert list(cost_ratios.compare(ratio, 2).missed()) == ["a / b: 0.5, aim at least 9"]


def test_the_aim_is_at_least_half_of_the_growth_of_the_minimal_program() -> None:
    ratio = CostRatio("a / b", lambda: 1.0, lambda: 1.0, 1.2, minimal_growth=lambda: 3.0)
    assert cost_ratios.compare(ratio, 3).aim == 1.5
    assert cost_ratios.compare(replace(ratio, aim=1.6), 3).aim == 1.6


def test_an_unknown_row_is_refused_with_the_rows() -> None:
    with pytest.raises(
        BenchError, match=r"^--only x\?: no row contains this text; expected a part"
    ):
        cost_ratios.measure("x?", 1)
