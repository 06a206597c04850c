"""Requests of stability analyses that are refused, and the reasons."""

from typing import Any

import numpy as np
import pytest

from lasthop.stability import (
    Axis,
    Case,
    NoEquilibriumError,
    ParameterError,
    WindowRule,
    chart,
    hopf_points,
    integrate,
    larger,
    log,
    named,
    normal_form,
)

REASONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "window too small": (
        "red",
        {"tcp": "africa", "capacity": 10.0},
        "the window would settle below 38 packets, where africa is not defined",
    ),
    "window too large": (
        "red",
        {"tcp": "africa", "capacity": 1e6, "rtt": 1.0},
        "the window would settle above 83000 packets, where africa is not defined",
    ),
    "window too large for a small buffer": (
        "threshold",
        {"tcp": "africa", "capacity": 1e9},
        "the window would settle above 83000 packets",
    ),
    "strict RED in a parking lot": (
        "parking-lot",
        {"drop": "strict", "rtt_1": 0.001, "rtt_2": 0.001},
        "above max_p = 0.1, where strict RED drops everything",
    ),
    "receive window": ("red", {"most_window": 5.0}, "the receive window, ends below"),
}


@pytest.mark.parametrize("which", REASONS)
def test_the_reason_for_a_missing_equilibrium_is_correct(which: str) -> None:
    model, settings, reason = REASONS[which]
    with pytest.raises(NoEquilibriumError) as caught:
        _ = Case.of(model, settings).equilibrium
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "increase",
    [lambda w, p: np.log(w), lambda w, p: 1.0 if w < 3.0 else 2.0, lambda w, p: 2**w],
)
def test_a_rule_that_does_not_accept_series_is_refused(increase: Any) -> None:
    rule = WindowRule("mine", increase, lambda w, p: 0.5 * w)
    with pytest.raises(ParameterError, match=r'rule "mine": `increase` does not work on a Series'):
        Case.of("red", tcp=rule)


def test_the_suggested_rule_works() -> None:
    rule = WindowRule("mine", lambda w, p: larger(log(w), 1.0) / w, lambda w, p: 0.5 * w)
    assert len(hopf_points(Case.of("red", tcp=rule), "rtt", "10 ms", "2 s")) >= 1


def test_rule_without_a_probability_is_refused() -> None:
    rule = WindowRule("mine", lambda w, p: -1.0 / w, lambda w, p: 0.5 * w)
    with pytest.raises(NoEquilibriumError, match="mine would need a loss probability of -"):
        _ = Case.of("red", tcp=rule).equilibrium


WRONG: dict[str, tuple[Any, str]] = {
    "a number of five hundred digits": (lambda: Case.of("red", rtt=10**500), "`rtt`: 1000"),
    "no name": (lambda: named(5), "no model"),  # type: ignore[arg-type]
    "no model": (lambda: Case.of(5), "int is no model"),  # type: ignore[arg-type]
    "no word": (lambda: Case.of("red", tcp=np.array([1, 2])), "`tcp`"),
    "a word over a range": (
        lambda: hopf_points(Case.of("red"), "tcp", 1.0, 2.0),
        "`tcp`: is a word",
    ),
    "no size": (
        lambda: chart(Case.of("red"), Axis("rtt", 0.1, 1.0), Axis("k", 0.1, 1.0), 0),
        "`size`: 0 is not at least 2",
    ),
    "another parameter's speed": (
        lambda: normal_form(hopf_points(Case.of("red"), "rtt", 0.01, 1.0)[0]).mu2_of("foo"),
        "`foo`",
    ),
    "a parameter that moves nothing": (
        lambda: normal_form(hopf_points(Case.of("red"), "rtt", 0.01, 1.0)[0]).mu2_of("flows"),
        "`flows`: does not move the roots",
    ),
    "times past the end": (
        lambda: integrate(Case.of("threshold"), 5.0).at([4.0, 6.0]),
        "known from 0 to 5 s",
    ),
}


@pytest.mark.parametrize("which", WRONG)
def test_mistake_is_a_parameter_error(which: str) -> None:
    act, message = WRONG[which]
    with pytest.raises(ParameterError) as caught:
        act()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_widest_range_has_a_middle() -> None:
    axes = Axis("rtt", 1e-300, 1e300), Axis("capacity", 1e-300, 1e300)
    assert axes[0].value(np.array([0.0, 0.5, 1.0])) == pytest.approx([1e-300, 1.0, 1e300])
    assert axes[0].place(1.0) == pytest.approx(0.5)
