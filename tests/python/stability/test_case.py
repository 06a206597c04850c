"""Equilibria and linearisations of all stability models."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasthop.stability import (
    MODELS,
    PRESETS,
    Case,
    NoEquilibriumError,
    ParameterError,
    WindowRule,
    named,
)
from lasthop.stability.models.red import Red, ewma_gain

OPTIONS = [
    (name, options)
    for name, model in MODELS.items()
    for options in ({}, {"feedback": "ecn"}, {"delay": "queueing"}, {"queue": "total"})
    if all(key in [each.name for each in model.parameters] for key in options)
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_rates_vanish_at_the_equilibrium(name: str, options: dict[str, str]) -> None:
    case = Case.of(name, options)
    rest = list(case.equilibrium)
    rates = case.model.rates(case.derived, rest, [rest] * len(case.delays))
    assert np.all(np.abs(rates) < 1e-10 * np.array(rest))


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_linearisation_equals_finite_differences(name: str, options: dict[str, str]) -> None:
    case = Case.of(name, options)
    rest, count = case.equilibrium, len(case.delays)

    def rates(change: np.ndarray) -> np.ndarray:
        states = (rest + change.reshape(1 + count, -1)).tolist()
        return np.array(case.model.rates(case.derived, states[0], states[1:]))

    size = (1 + count) * len(rest)
    step = 1e-5
    columns = [(rates(step * e) - rates(-step * e)) / (2.0 * step) for e in np.eye(size)]
    parts = np.split(np.stack(columns, axis=1), 1 + count, axis=1)
    assert np.allclose(case.linear.now, parts[0], rtol=1e-6, atol=1e-6)
    assert np.allclose(case.linear.lagged, parts[1:], rtol=1e-6, atol=1e-6)


@pytest.mark.equation("red", 10)
def test_equilibrium_of_red_is_that_of_the_paper() -> None:
    case = Case.of("red", gamma=0.03, rtt="171 ms")
    w, q, r = case.equilibrium
    p = case.model.loss(case.derived, [w, q, r])[0]
    assert 0.125 * w**-0.25 * (1.0 - p) == pytest.approx(0.5 * w * p, rel=1e-12)
    assert q == pytest.approx(p / 2e-4 + 50.0, rel=1e-12)
    assert w * (1.0 - p) == pytest.approx(100.0 * 0.171, rel=1e-12)
    assert q == r
    assert w == pytest.approx(17.0, abs=0.25)  # The paper has "w* about 17" in section III-A.


def test_marked_packets_are_served() -> None:
    assert Case.of("red", feedback="ecn", rtt=0.1).equilibrium[0] == pytest.approx(10.0, rel=1e-12)


def test_queueing_delay_widens_the_pipe() -> None:
    case = Case.of("red", delay="queueing", rtt=0.1)
    w, q, _ = case.equilibrium
    p = case.model.loss(case.derived, [w, q, q])[0]
    assert w * (1.0 - p) == pytest.approx(100.0 * 0.1 + q, rel=1e-12)
    assert case.delays == pytest.approx([0.1 + q / 100.0])


def test_thresholds_on_the_total_queue_are_steeper_per_flow() -> None:
    total = Case.of("red", queue="total", flows=60, min_th=60.0, max_th=120.0)
    per_flow = Case.of("red", min_th=1.0, max_th=2.0)
    assert np.allclose(total.equilibrium, per_flow.equilibrium, rtol=1e-12)
    assert np.allclose(total.linear.lagged, per_flow.linear.lagged, rtol=1e-10)


def test_gain_of_the_sixty_flow_dumbbell_is_seven_thousandths() -> None:
    assert named("red-dumbbell").decided["gamma"] == pytest.approx(60 / (1e8 / 12000), rel=1e-3)
    assert ewma_gain(0.002, 60.0, 100.0) == pytest.approx(0.12)


def test_gentle_slope_holds_beyond_the_upper_threshold() -> None:
    case = Case.of("red-instant", rtt="5 ms")
    w, q = case.equilibrium
    p = case.model.loss(case.derived, [w, q])[0]
    assert q > 550.0
    assert p == pytest.approx(0.9 / 550.0 * q - 0.8, rel=1e-12)


REFUSED = {
    "thresholds in the wrong order": ("red", {"min_th": 600.0}, "not below max_th"),
    "strict RED past max_p": ("red", {"drop": "strict", "rtt": 0.005}, "above max_p = 0.1"),
    "africa below 38 packets": ("red", {"tcp": "africa"}, "below 38 packets"),
    "africa over a small buffer": ("threshold", {"tcp": "africa", "rtt": 0.1}, "below 38 packets"),
    "two rows in the wrong order": ("parking-lot", {"min_th": 600.0}, "not below max_th"),
    "shares of more than all": (
        Red(averaged=True, groups=3),
        {"share_1": 0.6, "share_2": 0.6},
        "more than 1",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_no_equilibrium_is_refused_with_the_reason(which: str) -> None:
    model, options, reason = REFUSED[which]
    with pytest.raises(NoEquilibriumError, match=reason):
        _ = Case.of(model, options).equilibrium


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rttt": 1}, "no such parameter"),
        ({"rtt": "fast"}, "not a time"),
        ({"rtt": 0.0}, "above 0"),
        ({"rtt": float("nan")}, "above 0"),
        ({"k": 2.0}, "from 0 to 1.999"),
        ({"tcp": "vegas"}, "not allowed"),
    ],
)
def test_bad_parameter_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Case.of("red", settings)


def test_a_user_defined_rule_equals_the_built_in_rule() -> None:
    own = WindowRule("mine", lambda w, p: 1.0 / w, lambda w, p: 0.5 * w)
    assert np.array_equal(
        Case.of("red", tcp=own).linear.lagged, Case.of("red", tcp="reno").linear.lagged
    )


def test_reno_is_compound_with_k_0() -> None:
    reno = Case.of("red", tcp="reno")
    compound = Case.of("red", alpha=1.0, k=0.0, beta=0.5)
    assert np.allclose(reno.equilibrium, compound.equilibrium, rtol=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_every_case_of_a_paper_has_an_equilibrium(name: str) -> None:
    assert np.all(named(name).equilibrium > 0.0)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 1.0), st.floats(20.0, 1000.0), st.sampled_from(sorted(MODELS)))
def test_many_cases_together_equal_each_case(rtt: float, capacity: float, name: str) -> None:
    names = [each.name for each in MODELS[name].parameters]
    delay = next(each for each in names if each.startswith("rtt"))
    rate = next(each for each in names if each.startswith("capacity"))
    rest, linear = Case.of(name).over(**{delay: np.full(3, rtt), rate: np.full(3, capacity)})
    single = Case.of(name, **{delay: rtt, rate: capacity})
    if np.isfinite(rest).all():
        assert np.allclose(rest[:, 1], single.equilibrium, rtol=1e-12)
        assert np.allclose(linear.lagged[2], single.linear.lagged, rtol=1e-9, atol=1e-12)
