"""Charts and the curves in them."""

from time import process_time

import numpy as np
import pytest

from lasthop.stability import Axis, Case, ParameterError, chart, hopf_curves, roots


def test_curve_of_delay_and_capacity_is_a_hyperbola() -> None:
    [curve] = hopf_curves(Case.of("red"), Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3))
    assert np.allclose(curve.x * curve.y, 8.4834104654, rtol=1e-9)
    assert curve.boundary.all()
    assert {round(end) for end in curve.x[[0, -1]]} == {50, 500}


@pytest.mark.parametrize(
    ("model", "x", "y"),
    [
        ("red", Axis("gamma", 1e-4, 0.5), Axis("rtt", 0.01, 0.5)),
        ("red-groups", Axis("rtt_1", 0.01, 0.5), Axis("rtt_2", 0.01, 0.5)),
        ("threshold", Axis("q_th", 10.0, 100.0), Axis("alpha", 0.01, 1.0)),
    ],
)
def test_shaded_region_ends_at_the_curve(model: str, x: Axis, y: Axis) -> None:
    found = chart(Case.of(model), x, y, 40)
    assert 0.1 < found.stable.mean() < 0.9
    for curve in found.curves:
        for k in range(1, len(curve.x) - 1, 5):
            verdicts = {
                roots(Case.of(model, **{x.name: curve.x[k], y.name: f * curve.y[k]}), 2).stable
                for f in (0.999, 1.001)
            }
            assert verdicts == {True, False}


def test_chart_is_what_roots_say() -> None:
    found = chart(Case.of("red"), Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 5)
    for i, rtt in enumerate(found.y_values):
        for j, capacity in enumerate(found.x_values):
            exact = roots(Case.of("red", rtt=rtt, capacity=capacity), 2).abscissa
            assert found.abscissa[i, j] == pytest.approx(exact, rel=1e-6, abs=1e-7 / rtt)


def test_hundred_by_hundred_takes_seconds() -> None:
    rows = []
    start = process_time()
    found = chart(
        Case.of("red"),
        Axis("gamma", 1e-4, 0.5),
        Axis("rtt", 0.01, 0.5),
        100,
        lambda done, total: rows.append((done, total)),
    )
    assert process_time() - start < 20.0  # 2 s here; a slow machine may take longer.
    assert found.abscissa.shape == (100, 100)
    assert rows[-1] == (100, 100)


def test_where_there_is_no_equilibrium_nothing_is_stable() -> None:
    case = Case.of("red", drop="strict")
    found = chart(case, Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 20)
    nowhere = ~np.isfinite(found.abscissa)
    assert 0.0 < nowhere.mean() < 1.0
    assert not found.stable[nowhere].any()


def test_axes_must_differ() -> None:
    with pytest.raises(ParameterError, match="same parameter"):
        chart(Case.of("red"), Axis("rtt", 0.01, 1.0), Axis("rtt", 0.01, 1.0))
