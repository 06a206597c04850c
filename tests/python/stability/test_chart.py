"""Charts and the curves in them."""

from time import process_time

import numpy as np
import pytest

from lasthop.stability import (
    Axis,
    Case,
    Chart,
    Jump,
    ParameterError,
    chart,
    edges,
    hopf_curves,
    named,
    roots,
)
from lasthop.stability.chart import changes


def test_curve_of_delay_and_capacity_is_a_hyperbola() -> None:
    [curve] = hopf_curves(Case.of("red"), Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3))
    assert np.allclose(curve.x * curve.y, 8.4834104654, rtol=1e-9)
    assert curve.boundary.all()
    assert {round(end) for end in curve.x[[0, -1]]} == {50, 500}


@pytest.mark.slow
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


@pytest.mark.slow
def test_chart_is_what_roots_say() -> None:
    found = chart(Case.of("red"), Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 5)
    for i, rtt in enumerate(found.y_values):
        for j, capacity in enumerate(found.x_values):
            exact = roots(Case.of("red", rtt=rtt, capacity=capacity), 2).abscissa
            assert found.abscissa[i, j] == pytest.approx(exact, rel=1e-6, abs=1e-7 / rtt)


@pytest.mark.slow
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


@pytest.mark.slow
def test_where_there_is_no_equilibrium_nothing_is_stable() -> None:
    case = Case.of("red", drop="strict")
    found = chart(case, Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 20)
    nowhere = ~np.isfinite(found.abscissa)
    assert 0.0 < nowhere.mean() < 1.0
    assert not found.stable[nowhere].any()


STEEP = named("red-dumbbell", {"tcp": "compound-reno"})
STEEP_X, STEEP_Y = Axis("max_th", 60.0, 2000.0), Axis("rtt", 0.005, 0.5)


@pytest.fixture(scope="module")
def steep() -> Chart:
    return chart(STEEP, STEEP_X, STEEP_Y, 24)


@pytest.mark.slow
def test_edge_without_a_hopf_point_is_found(steep: Chart) -> None:
    """Beyond `max_th` RED's law is steeper, and the point of rest unstable at once."""
    case, found = STEEP, steep
    assert len(found.jumps) > 0
    for max_th, rtt in found.jumps:
        verdicts = {roots(case.with_(max_th=max_th, rtt=f * rtt), 2).stable for f in (0.999, 1.001)}
        assert verdicts == {True, False}
        [jump] = [
            each
            for each in edges(case.with_(max_th=max_th), "rtt", 0.9 * rtt, 1.1 * rtt)
            if isinstance(each, Jump)
        ]
        assert jump.value == pytest.approx(rtt, rel=1e-5)


@pytest.mark.slow
def test_every_edge_of_the_grid_is_a_curve_or_a_jump(steep: Chart) -> None:
    x, y, found = STEEP_X, STEEP_Y, steep
    drawn = [
        (x.place(a), y.place(b))
        for curve in found.curves
        for a, b in zip(curve.x, curve.y, strict=True)
    ]
    drawn += [(x.place(a), y.place(b)) for a, b in found.jumps]
    for pair in changes(found.abscissa) / 23.0:
        gaps = np.linalg.norm(np.array(drawn) - pair.mean(axis=0), axis=1)
        assert gaps.min() < 0.06


def test_axes_must_differ() -> None:
    with pytest.raises(ParameterError, match="same parameter"):
        chart(Case.of("red"), Axis("rtt", 0.01, 1.0), Axis("rtt", 0.01, 1.0))
