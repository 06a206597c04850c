"""Ranges of model parameters: which parameters may vary, and how they affect the result."""

import numpy as np
import pytest

import lasthop as lh
from lasthop.stability import (
    Axis,
    Case,
    HopfPoint,
    Jump,
    ParameterError,
    chart,
    edges,
    hopf_points,
    named,
    roots,
)
from lasthop.stability.axis import axis_of
from lasthop.stability.hopf import hopf_points_on

ROUTER = """\
duration = "30 s"
queue = { limit = 2000, red = { min_th = 50, max_th = 100, mean_packet = "1500 B" } }
dumbbell = { flows = 60, access = "20 Mbps", bottleneck = "100 Mbps", rtt = "40 ms" }
tcp = { congestion = "compound", window = 1000, delayed_ack = false }
"""


def router(**settings: object) -> Case:
    return lh.fluid(ROUTER, settings={k.replace("__", "."): v for k, v in settings.items()}).case


def test_more_flows_share_the_same_link() -> None:
    """The verdict at each point of the axis `flows` equals that of a scenario with these flows."""
    points = edges(router(), "flows", 15, 300)
    assert [type(each) for each in points] == [HopfPoint, Jump, HopfPoint]
    for n in (20, 30, 60, 120, 200):
        sides = [each.unstable_above for each in points if each.value < n]
        stable = not sides[-1] if sides else points[0].unstable_above
        assert stable is roots(router(dumbbell__flows=n), 2).stable


def test_flows_of_a_small_buffer_share_the_link() -> None:
    case = router(queue="{ limit = 15 }", dumbbell__rtt="200 ms")
    more = router(queue="{ limit = 15 }", dumbbell__rtt="200 ms", dumbbell__flows=90)
    assert case.with_(flows=90.0).equilibrium == pytest.approx(more.equilibrium, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "decides"), [("gamma", "queue_weight"), ("capacity", "link_capacity")]
)
def test_the_varied_value_is_used(name: str, decides: str) -> None:
    """Some parameters are computed from a setting that takes precedence: `gamma` from
    `queue_weight`, and `capacity` from the capacity of the link. If such a parameter is varied, its
    value is used, and the setting is removed.
    """
    case = router(dumbbell__rtt="100 ms")
    assert case.values[decides] > 0.0
    other = case.with_(**{name: 0.5 * case.decided[name]})
    assert other.values[decides] == 0.0
    assert other.decided[name] == pytest.approx(0.5 * case.decided[name])
    half = case.with_(**{decides: 0.5 * case.values[decides]})
    assert roots(other, 2).abscissa == pytest.approx(roots(half, 2).abscissa, rel=1e-9)
    arrays = case.over(**{name: np.array([0.5, 1.0]) * case.decided[name]})[1]
    assert not np.allclose(arrays.now[0], arrays.now[1], rtol=1e-6)


def test_gain_and_weight_find_the_same_edges() -> None:
    case = router(dumbbell__rtt="50 ms")
    by_weight = [each.value for each in edges(case, "queue_weight", 1e-6, 0.08)]
    by_gain = [each.value for each in edges(case, "gamma", 60e-6, 4.8)]
    assert len(by_gain) >= 1
    assert by_gain == pytest.approx([60.0 * value for value in by_weight], rel=1e-9)


def test_published_router_keeps_its_link() -> None:
    half = named("red-dumbbell", {"flows": 30.0})
    assert half.decided["capacity"] == pytest.approx(
        2.0 * named("red-dumbbell").decided["capacity"]
    )
    assert named("red-dumbbell", {"gamma": 0.1}).decided["gamma"] == 0.1


@pytest.mark.parametrize(
    ("name", "low", "high"), [("alpha", 0.1, 1.0), ("buffer", 100, 1000), ("least_window", 0.1, 1)]
)
def test_parameter_without_effect_is_refused(name: str, low: float, high: float) -> None:
    with pytest.raises(ParameterError, match=f"`{name}`: changes nothing in model red"):
        hopf_points(router(tcp__congestion="newreno"), name, low, high)


def test_special_values_are_not_in_ranges() -> None:
    with pytest.raises(ParameterError, match="`queue_weight`: -1 is not above 0"):
        axis_of(router(), "queue_weight", "-1", "0.1")


def test_times_given_as_text_have_units() -> None:
    assert axis_of(Case.of("red"), "rtt", "5 ms", "1 s") == Axis("rtt", 0.005, 1.0)
    with pytest.raises(ParameterError, match='`rtt`: 5 is not a time such as "200 ms"'):
        axis_of(Case.of("red"), "rtt", "5", "500")
    assert hopf_points(Case.of("red"), "rtt", "10 ms", "1 s")[0].value == pytest.approx(
        0.0848, abs=1e-4
    )


def test_a_chart_needs_independent_axes() -> None:
    case = router()
    with pytest.raises(ParameterError, match="'rtt' is no Axis"):
        chart(case, "rtt", "max_th")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`queue_weight` determines `gamma`"):
        chart(case, Axis("gamma", 0.001, 0.1), Axis("queue_weight", 0.001, 0.1))


def test_a_scenario_given_as_a_model_is_refused_with_the_function_to_call() -> None:
    with pytest.raises(ParameterError, match=r"lasthop\.fluid"):
        named("router.toml")
    with pytest.raises(ParameterError, match=r"Scenario is no model; lasthop\.fluid"):
        Case.of(lh.Scenario(ROUTER))  # type: ignore[arg-type]


def test_an_axis_may_have_its_own_values() -> None:
    steps = axis_of(Case.of("red"), "rtt", "100 ms", "1 s", step="300 ms")
    assert steps.value(steps.places(7)) == pytest.approx([0.1, 0.4, 0.7, 1.0])
    cut = axis_of(Case.of("red"), "rtt", 0.1, 0.95, step=0.3)
    assert cut.value(cut.places(7)) == pytest.approx([0.1, 0.4, 0.7])
    ratios = axis_of(Case.of("red"), "rtt", 0.1, 0.9, ratios=3)
    assert ratios.value(ratios.places(7)) == pytest.approx([0.1, 0.3, 0.9])
    for wrong in ({"step": 0.0}, {"step": 2.0}, {"step": 1e-9}, {"ratios": 1}):
        with pytest.raises(ParameterError, match="`rtt`: "):
            axis_of(Case.of("red"), "rtt", 0.1, 1.0, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="above 0"):
        axis_of(Case.of("red"), "k", 0.0, 0.5, ratios=3)


@pytest.mark.slow
def test_a_chart_has_the_values_of_its_axes() -> None:
    case = Case.of("red")
    x = axis_of(case, "capacity", 100, 500, step=100)
    y = axis_of(case, "rtt", 0.01, 0.09, ratios=3)
    result = chart(case, x, y, 40)
    assert result.x_values == pytest.approx([100, 200, 300, 400, 500])
    assert result.y_values == pytest.approx([0.01, 0.03, 0.09])
    assert result.stable.shape == (3, 5)
    for row, rtt in enumerate(result.y_values):
        for column, capacity in enumerate(result.x_values):
            alone = roots(case.with_(rtt=float(rtt), capacity=float(capacity)), 2)
            assert result.abscissa[row, column] == pytest.approx(alone.abscissa, rel=1e-6)


def test_a_coarse_scan_finds_the_same_edge() -> None:
    case = Case.of("red")
    [point] = hopf_points(case, "rtt", "10 ms", "1 s")
    [again] = hopf_points_on(case, axis_of(case, "rtt", "10 ms", "1 s", ratios=6))
    assert again.value == pytest.approx(point.value, rel=1e-9)
