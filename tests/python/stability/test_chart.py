"""Stability charts over two parameters, and the curves in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

import numpy as np
import pytest

import lasthop as lh
from lasthop.plot.stability import shading
from lasthop.progress.steps import Step, Unwatched, watched_by
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


@pytest.mark.slow
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
    result = chart(Case.of(model), x, y, 40)
    assert 0.1 < result.stable.mean() < 0.9
    for curve in result.curves:
        for k in range(1, len(curve.x) - 1, 5):
            verdicts = {
                roots(Case.of(model, **{x.name: curve.x[k], y.name: f * curve.y[k]}), 2).stable
                for f in (0.999, 1.001)
            }
            assert verdicts == {True, False}


@pytest.mark.slow
def test_a_chart_agrees_with_roots() -> None:
    result = chart(Case.of("red"), Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 5)
    for i, rtt in enumerate(result.y_values):
        for j, capacity in enumerate(result.x_values):
            exact = roots(Case.of("red", rtt=rtt, capacity=capacity), 2).abscissa
            assert result.abscissa[i, j] == pytest.approx(exact, rel=1e-6, abs=1e-7 / rtt)


@pytest.mark.slow
def test_a_chart_of_hundred_by_hundred_takes_seconds() -> None:
    rows = []
    start = process_time()
    result = chart(
        Case.of("red"),
        Axis("gamma", 1e-4, 0.5),
        Axis("rtt", 0.01, 0.5),
        100,
        lambda done, total: rows.append((done, total)),
    )
    assert process_time() - start < 20.0  # The chart takes 2 s. A slow machine may take longer.
    assert result.abscissa.shape == (100, 100)
    assert rows[-1] == (100, 100)


@pytest.mark.slow
def test_where_there_is_no_equilibrium_nothing_is_stable() -> None:
    case = Case.of("red", drop="strict")
    result = chart(case, Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.3), 20)
    nowhere = ~np.isfinite(result.abscissa)
    assert 0.0 < nowhere.mean() < 1.0
    assert not result.stable[nowhere].any()


STEEP = named("red-dumbbell", {"tcp": "compound-reno"})
STEEP_X, STEEP_Y = Axis("max_th", 60.0, 2000.0), Axis("rtt", 0.005, 0.5)


@pytest.fixture(scope="module")
def steep() -> Chart:
    return chart(STEEP, STEEP_X, STEEP_Y, 24)


@pytest.mark.slow
def test_edge_without_a_hopf_point_is_found(steep: Chart) -> None:
    """Above `max_th` the drop probability of RED is steeper, so that the equilibrium becomes
    unstable immediately.
    """
    case, result = STEEP, steep
    assert len(result.jumps) > 0
    for max_th, rtt in result.jumps:
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
    x, y, result = STEEP_X, STEEP_Y, steep
    drawn = [
        (x.place(a), y.place(b))
        for curve in result.curves
        for a, b in zip(curve.x, curve.y, strict=True)
    ]
    drawn += [(x.place(a), y.place(b)) for a, b in result.jumps]
    for pair in changes(result.abscissa) / 23.0:
        gaps = np.linalg.norm(np.array(drawn) - pair.mean(axis=0), axis=1)
        assert gaps.min() < 0.06


ROUTER = """
name = "sixty flows through RED"
duration = "60 s"
queue = { limit = 2000, red = { min_th = 50, max_th = 100, mean_packet = "1500 B" } }
tcp = { congestion = "compound", window = 1000, delayed_ack = false }

[dumbbell]
flows = 60
access = "20 Mbps"
access_spread = 0.01
bottleneck = "100 Mbps"
rtt = "200 ms"
"""
FLOWS = Axis("rtt", 0.005, 0.5), Axis("flows", 20.0, 100.0)
"""Axes of a chart with two curves. The curve above `max_th` ends at the corner, far from the other
curve.
"""


def is_edge(case: Case, x: Axis, y: Axis, ends: np.ndarray) -> bool:
    """Return whether a segment of a curve separates stable from unstable points. The function tests
    two points, one on each side of the middle of the segment.
    """
    middle, along = ends.mean(axis=0), np.diff(ends, axis=0)[0]
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    for distance in (1e-3, 1e-4, 1e-5, 1e-6, 4e-3):  # Distances as fractions of the axes.
        sides = [middle + s * distance * across for s in (-1.0, 1.0)]
        verdicts = {
            roots(case.with_(**{x.name: float(x.value(a)), y.name: float(y.value(b))}), 1).stable
            for a, b in sides
        }
        if len(verdicts) == 2:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "x", "y"),
    [
        (ROUTER, *FLOWS),
        (ROUTER, STEEP_X, STEEP_Y),
        (STEEP, STEEP_X, STEEP_Y),
        ("red", Axis("gamma", 1e-4, 0.5), Axis("rtt", 0.01, 0.5)),
        ("red-instant", Axis("capacity", 50.0, 500.0), Axis("rtt", 0.01, 0.5)),
        ("red-groups", Axis("rtt_1", 0.01, 0.5), Axis("rtt_2", 0.01, 0.5)),
        ("threshold", Axis("q_th", 10.0, 100.0), Axis("alpha", 0.01, 1.0)),
    ],
    ids=["flows", "max_th", "dumbbell", "red", "instant", "groups", "threshold"],
)
def test_points_between_those_of_a_curve_are_on_the_edge(
    case: Case | str, x: Axis, y: Axis
) -> None:
    if isinstance(case, str):
        case = lh.fluid(case).case if case is ROUTER else Case.of(case)
    curves = chart(case, x, y, 12).curves
    drawn = 0
    for curve in curves:
        places = np.array([[x.place(a), y.place(b)] for a, b in zip(curve.x, curve.y, strict=True)])
        for k in np.flatnonzero(curve.boundary[1:] & curve.boundary[:-1]):
            ends = places[k : k + 2]
            if np.linalg.norm(ends[1] - ends[0]) > 1e-4:
                assert is_edge(case, x, y, ends), (curve.x[k : k + 2], curve.y[k : k + 2])
                drawn += 1
    assert drawn > 10


@pytest.mark.slow
def test_a_strip_narrower_than_the_grid_is_found() -> None:
    """At 80 packets the equilibrium is unstable only between a Hopf point and the corner of the
    drop function.
    """
    case = lh.fluid(ROUTER).case
    bounds = [each.value for each in edges(case.with_(max_th=80.0), "rtt", 0.02, 0.03)]
    assert bounds == pytest.approx([0.024427, 0.025232], rel=1e-4)
    result = chart(case, STEEP_X, STEEP_Y, 40)
    rows = (result.y_values > bounds[0]) & (result.y_values < bounds[1])
    assert not rows.any()
    x, y, height = shading(result)
    column = int(np.argmin(np.abs(x - 80.0)))
    unstable = y[(height[:, column] > 0.0) & (y < 0.03)]
    assert len(unstable) > 0
    assert bounds[0] * 0.99 < unstable.min() <= unstable.max() < bounds[1] * 1.01
    near = (result.jumps[:, 0] > 75.0) & (result.jumps[:, 0] < 87.0)
    assert near.sum() >= 2
    assert x[::8] == pytest.approx(result.x_values)


def test_axes_must_differ() -> None:
    with pytest.raises(ParameterError, match="same parameter"):
        chart(Case.of("red"), Axis("rtt", 0.01, 1.0), Axis("rtt", 0.01, 1.0))


def test_the_stable_part_is_reported_before_the_edges() -> None:
    heard = []

    class Recorder(Unwatched):
        def report_early(self, what: str) -> None:
            heard.append(what)

    @contextmanager
    def watch(what: str, total: int | None) -> Iterator[Step]:
        yield Recorder()

    x, y = Axis("capacity", 100.0, 200.0), Axis("rtt", 0.04, 0.12)
    with watched_by(watch):
        result = chart(Case.of("red-instant"), x, y, 6)
    share = result.stable.mean()
    assert heard == [f"stable on {share:.1%} of the chart; its edges are looked for"]
