"""Studies that use only a model evaluate it at the parameters of their claims.

Solvers are replaced by tables of plain numbers, and a request outside the table fails.
"""

from math import pi
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lasthop.stability import Case, named
from lasthop.studies import red, vbs
from lasthop.studies.red import curves, fig03, fig14, fig20, threshold
from lasthop.studies.study import Study
from lasthop.studies.vbs import fixed_point, stability

from .brief import read_by_claims

STUDY = {study.key: study for study in (*red.STUDIES, *vbs.STUDIES)}
UNSEEN: dict[str, Study] = {key: study for key, study in STUDY.items() if not study.points}


def predicted(key: str) -> dict[str, float | None]:
    """Return the values of a study, all of which are predictions."""
    measured = STUDY[key].measure({})
    assert all(np.isnan(quantity.samples).all() for quantity in measured.values())
    assert read_by_claims(STUDY[key]) <= {f"{STUDY[key].name}.{name}" for name in measured}
    return {name: quantity.predicted for name, quantity in measured.items()}


def test_these_studies_use_only_models():
    assert set(UNSEEN) == {
        *(f"red-{name}" for name in ("fig02", "fig03", "fig04", "fig14", "fig20", "threshold")),
        "vbs-stability",
        "vbs-fixed_point",
    }


# -- paper 004 ---------------------------------------------------------------------------------


class Points:
    """Table of Hopf points, by model, parameter and settings. A call checks the range in which a
    study searches a point, and returns the point.

    A range of round-trip times must correspond to 2 to 200 packets in flight.
    """

    def __init__(self, **ranges: tuple[float, float]) -> None:
        self.table: dict[tuple[Any, ...], float] = {}
        self.ranges = ranges

    def has(self, model: str, parameter: str, value: float, **values: Any) -> "Points":
        self.table[model, parameter, *sorted(values.items())] = value
        return self

    def __call__(
        self, model: str, parameter: str, low: float, high: float, **values: Any
    ) -> SimpleNamespace:
        value = self.table[model, parameter, *sorted(values.items())]
        capacity = values.get("capacity", 100.0)
        ranges = {"rtt": (2 / capacity, 200 / capacity), **self.ranges}
        assert (low, high) == ranges[parameter]
        assert low < value < high
        case = SimpleNamespace(equilibrium=[17.5, 118.0])
        return SimpleNamespace(value=value, case=case, unstable_above=model == "threshold")


def over_threshold(points: Points, model: str, rtt: float) -> dict[str, float]:
    """Add a critical alpha to `points` for each lower threshold of RED from 50 to 150. Return the
    values that the study must compute from these points.
    """
    along = {50: 0.125, 75: 0.14, 100: 0.15, 125: 0.16, 150: 0.175}
    for low, alpha in along.items():
        points.has(model, "alpha", alpha, rtt=rtt, min_th=low)
    return {
        **{f"alpha_{low}": alpha for low, alpha in along.items()},
        "alpha_threshold_low": 0.125,
        "alpha_threshold_high": 0.175,
        "alpha_change": 0.4,  # alpha grows from 0.125 to 0.175, which is 40 %
        # The study evaluates the growth 5 % above and 5 % below the critical alpha of 0.15.
        # In place of the growth rate, `grown` returns alpha.
        "growth_above": 0.1575,
        "growth_below": 0.1425,
        # At a threshold of 150, `grown` returns the default alpha with a negative sign.
        "growth_default_150": -0.125,
    }


def grown(case: Case) -> float:
    """Return alpha in place of the growth rate, with a negative sign at a threshold of 150."""
    asked = case.values
    assert asked["min_th"] in (100, 150)
    return float(asked["alpha"] * (1 if asked["min_th"] == 100 else -1))


def test_figure_2_is_read_at_50_100_and_200_and_at_gamma_0_03(monkeypatch):
    points = Points(alpha=(0.01, 1.0))
    for capacity, delay in ((50, 0.17), (100, 0.085), (200, 0.0425)):
        points.has("red", "rtt", delay, capacity=capacity)
    points.has("red", "rtt", 0.171, gamma=0.03)
    wanted = over_threshold(points, "red", 0.0848)
    monkeypatch.setattr(curves, "critical", points)
    monkeypatch.setattr(curves, "growth", grown)
    assert predicted("red-fig02") == pytest.approx(
        {
            "hopf_delay_50": 0.17,
            "hopf_delay_100": 0.085,
            "hopf_delay_200": 0.0425,
            "hopf_delay_gamma": 0.171,
            "window_gamma": 17.5,
            **wanted,
        }
    )


def test_figure_4_is_read_at_capacities_and_thresholds(monkeypatch):
    points = Points(alpha=(0.01, 1.0))
    for capacity, delay in ((50, 0.5), (100, 0.27), (200, 0.13)):
        points.has("red-instant", "rtt", delay, capacity=capacity)
    for low, delay in ((20, 0.3), (50, 0.28), (80, 0.26)):
        points.has("red-instant", "rtt", delay, min_th=low)
    wanted = over_threshold(points, "red-instant", 0.273)
    monkeypatch.setattr(curves, "critical", points)
    monkeypatch.setattr(curves, "growth", grown)
    assert predicted("red-fig04") == pytest.approx(
        {
            "hopf_delay_50": 0.5,
            "hopf_delay_100": 0.27,
            "hopf_delay_200": 0.13,
            "hopf_delay_threshold_20": 0.3,
            "hopf_delay_threshold_50": 0.28,
            "hopf_delay_threshold_80": 0.26,
            **wanted,
        }
    )


def test_figure_3_has_two_gains_at_171_ms(monkeypatch):
    def integrate(case: Case, until: float) -> SimpleNamespace:
        assert case.values["rtt"] == 0.171
        assert until == 1500

        def amplitude(part: float) -> float:
            assert part == 0.1
            return {0.032: 1e-3, 0.028: 2.5}[case.values["gamma"]]

        return SimpleNamespace(amplitude=amplitude)

    monkeypatch.setattr(fig03, "integrate", integrate)
    monkeypatch.setattr(fig03, "trajectory", fig03.trajectory.__wrapped__)
    assert predicted("red-fig03") == {"amplitude_0_032": 1e-3, "amplitude_0_028": 2.5}


def test_figure_14_is_read_at_20_40_and_60_and_cycles_beyond_37(monkeypatch):
    points = Points(q_th=(5.0, 100.0)).has("threshold", "q_th", 37.02)
    monkeypatch.setattr(fig14, "critical", points)
    exact = {20.0: 0.3, 40.0: 0.12, 60.0: 0.07}
    monkeypatch.setattr(fig14, "critical_alpha", lambda model, q_th: exact[q_th])

    def integrate(case: Case, until: float) -> SimpleNamespace:
        assert until == 600
        return SimpleNamespace(amplitude=lambda part: case.values["q_th"] * part)

    monkeypatch.setattr(fig14, "integrate", integrate)
    monkeypatch.setattr(fig14, "amplitude", fig14.amplitude.__wrapped__)
    enough, rest = {}, {}
    for q in (20, 40, 60):
        # In equilibrium, the window w satisfies alpha w^(k - 1) (1 - p) = w p / 2 with k = 0.75.
        # The loss is p = (w / (C tau))^q with C tau = 100.
        # At the limit of condition (43), alpha q w^(k - 1) = pi / 2.
        w = between(lambda w, q=q: (w / 100) ** q * (w + pi / q) - pi / q)
        enough[q] = pi / (2 * q) * w**0.25
        rest[q] = between(
            lambda w, q=q: (w / 100) ** q * (w / 2 + 0.125 * w**-0.25) - 0.125 * w**-0.25
        )
    assert predicted("red-fig14") == pytest.approx(
        {
            "hopf_threshold": 38,
            **{f"alpha_{q}": alpha for q, alpha in enough.items()},
            **{f"sufficient_ratio_{q}": alpha / exact[q] for q, alpha in enough.items()},
            **{f"window_{q}": w for q, w in rest.items()},
            "amplitude_38": 3.8,
            "amplitude_39": 3.9,
            "amplitude_40": 4.0,
            "amplitude_42": 4.2,
            "amplitude_44": 4.4,
        }
    )


def between(function: Any) -> float:
    """Return the zero of a function that increases with the window, by bisection. [packets]"""
    low, high = 1.0, 100.0
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


def test_figure_20_has_the_minimum_along_the_curves_and_over_alpha(monkeypatch):
    asked: list[tuple[str, float]] = []

    def form(**values: float) -> SimpleNamespace:
        name, value = next(iter(values.items()), ("", 0.0))
        assert len(values) < 2
        asked.append((name, value))
        mu2 = {"": 7.0, "min_th": value / 10, "alpha": 2 - value, "capacity": value}[name]
        return SimpleNamespace(mu2_of={"kappa": mu2}.__getitem__, beta2=-3.0)

    def in_alpha(low: float) -> SimpleNamespace:
        asked.append(("both", low))
        return SimpleNamespace(mu2_of={"kappa": 154.0 - low}.__getitem__)

    monkeypatch.setattr(fig20, "form", form)
    monkeypatch.setattr(fig20, "form_in_alpha", in_alpha)
    assert predicted("red-fig20") == pytest.approx(
        {
            "mu2": 7,
            "beta2": -3,
            "mu2_min": 4,  # smallest on the first curve: 5, on the second: 4
            "mu2_at_papers_delay_by_alpha": 0.674,  # by hand: 2 - 1.326
            "mu2_at_papers_delay_by_capacity": 35.06,
            "mu2_min_alpha": 0.674,
        }
    )
    along = [float(low) for low in range(50, 151, 10)]
    assert [value for name, value in asked if name == "min_th"] == along
    assert [value for name, value in asked if name == "both"] == along
    alphas = {value for name, value in asked if name == "alpha"}
    assert (min(alphas), max(alphas)) == (0.05, 1.326)
    assert 0.125 in alphas  # the default alpha of Compound


def test_figure_20_is_at_critical_delays_and_at_critical_alpha_of_figure_4c(monkeypatch):
    points = Points(alpha=(0.01, 1.0))
    points.has("red-instant", "rtt", 0.3).has("red-instant", "rtt", 0.9, capacity=35.06)
    points.has("red-instant", "alpha", 0.14, rtt=0.273, min_th=70.0)
    monkeypatch.setattr(curves, "critical", points)
    monkeypatch.setattr(fig20, "critical", points)
    monkeypatch.setattr(fig20, "normal_form", lambda point: point.value)
    form, in_alpha = fig20.form.__wrapped__, fig20.form_in_alpha.__wrapped__
    assert (form(), form(capacity=35.06), in_alpha(70.0)) == (0.3, 0.9, 0.14)


def test_growth_is_that_of_the_rightmost_of_two_roots(monkeypatch):
    def roots(case: str, count: int) -> SimpleNamespace:
        return SimpleNamespace(abscissa={("a case", 2): -0.25}[case, count])

    monkeypatch.setattr(curves, "roots", roots)
    assert curves.growth("a case") == -0.25


def test_the_papers_delay_is_critical_at_that_capacity():
    """The product C tau = 0.7751 s times 35.06 packets/s is constant."""
    pipe = curves.critical_delay("red-instant").value * 100
    assert pipe / 0.7751 == pytest.approx(35.06, abs=0.01)


def test_section_6_compares_0_1_and_1_s_and_follows_settings_over_round_trips(monkeypatch):
    points = Points(alpha=(0.01, 20.0), q_th=(2.0, 500.0))
    rtts = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
    edges = {"compound": (10, 20, 9.895, 30, 9.95, 50), "reno": (8, 9, 10, 11, 12, 13)}
    alphas = (0.1, 0.2, 0.05, 0.1, 0.3, 0.4)
    for rtt, alpha in zip(rtts, alphas, strict=True):
        points.has("red", "alpha", alpha, rtt=rtt, capacity=100.0)
    for tcp, each in edges.items():
        for rtt, edge in zip(rtts, each, strict=True):
            points.has("threshold", "q_th", edge, tcp=tcp, rtt=rtt, capacity=100.0)
        # At a round-trip time of 0.1 s, a capacity of 1000 packets/s has 100 packets in flight.
        # At 1 s, the capacity of 100 packets/s has the same number of packets in flight.
        points.has("threshold", "q_th", each[4] * 3, tcp=tcp, rtt=0.1, capacity=1000.0)
    monkeypatch.setattr(threshold, "critical", points)

    def growth(case: Case) -> float:
        assert (case.values["q_th"], case.values["capacity"]) == (15, 100)
        return -10 * case.values["rtt"]

    monkeypatch.setattr(threshold, "growth", growth)
    assert predicted("red-threshold") == pytest.approx(
        {
            "hopf_ratio_compound": 3,
            "hopf_ratio_reno": 3,
            # The setting is 9.9, which is stable at the shortest round-trip time.
            # At five round-trip times, 9.9 is stable: below 10, 20, 30, 9.95 and 50.
            # At the other round-trip time, 9.9 is above the critical 9.895, and is unstable.
            "stable_part_compound": 5 / 6,
            "stable_part_reno": 1,
            # RED is stable if its alpha is above the critical alpha of the round-trip time. Here
            # alpha is 0.101, above three of the six critical values in `alphas`: 0.1, 0.05 and 0.1.
            "stable_part_red": 0.5,
            "growth_0_01": -0.1,
            "growth_0_02": -0.2,
            "growth_0_05": -0.5,
            "growth_0_1": -1,
            "growth_0_2": -2,
            "growth_1": -10,
        }
    )


# -- paper 000 ---------------------------------------------------------------------------------


def test_the_appendix_uses_c_h_b_of_8_packets():
    values = named("vbs-default").values
    assert (values["k"], values["alpha"], values["beta"]) == (0.75, 0.125, 0.5)
    assert values["part"] * values["share"] * values["buffer"] == pytest.approx(8)


def test_the_appendix_is_read_with_k_1_at_every_rate_and_at_its_hopf_points(monkeypatch):
    rates: list[float] = []

    def roots(case: Case, count: int) -> SimpleNamespace:
        assert count == 2
        assert (case.values["k"], case.values["alpha"]) == (1, 0.01)  # alpha is 1 / B
        rates.append(case.values["capacity"])
        return SimpleNamespace(abscissa=-1 / case.values["capacity"])

    # The linear equation is x' = -a x(t) - b x(t - RTT) with a = 0 and b = 2.
    # The paper's formula for the period contains the inverse cosine of a / b = 0.
    # This angle is a quarter of a turn, so that the period by the formula is four round trips.
    linear = SimpleNamespace(now=np.array([[0.0]]), lagged=np.array([[[-2.0]]]))
    asked: list[str] = []

    def hopf_points(case: Case, parameter: str, low: float, high: float) -> list[SimpleNamespace]:
        assert case.values["k"] == 0.75
        assert (low, high) == {"capacity": (0.01, 1000.0), "alpha": (0.01, 1.0)}[parameter]
        asked.append(parameter)
        changed = SimpleNamespace(
            linear=linear,
            values={"rtt": 0.1},
            equilibrium=[0.37],
            with_=lambda alpha: ("beyond", alpha),
        )
        return [SimpleNamespace(case=changed, value=0.8)]

    def integrate(case: tuple[str, float], until: float) -> SimpleNamespace:
        # The case is integrated at an alpha 0.5 % above its critical value 0.8.
        assert case == ("beyond", pytest.approx(0.804))
        assert until == pytest.approx(200)  # The end is after 2000 round trips.
        return SimpleNamespace(period={0.1: 0.5}.__getitem__)

    monkeypatch.setattr(stability, "roots", roots)
    monkeypatch.setattr(stability, "hopf_points", hopf_points)
    monkeypatch.setattr(stability, "integrate", integrate)
    for name in ("smallest", "in_alpha"):
        monkeypatch.setattr(stability, name, getattr(stability, name).__wrapped__)
    # The growth rate is largest at 1e5 packets/s.
    # The period by the paper's formula is 0.4 s, and the integrated period is 0.5 s.
    assert predicted("vbs-stability") == pytest.approx(
        {"rightmost_kappa_1": -1e-5, "smallest_window": 0.37, "period_ratio": 0.8}
    )
    assert rates == pytest.approx([10 ** (k * 7 / 199 - 2) for k in range(200)])
    assert sorted(asked) == ["alpha", "capacity"]


def test_the_fixed_point_is_searched_in_21_systems(monkeypatch):
    asked: list[tuple[Any, ...]] = []

    def spread(tree: dict[str, Any], options: Any) -> tuple[float, int]:
        cell, low = tree["cell"], tree["station"]["low"]
        law = cell["ap_queue"]["vbs"] if isinstance(cell["ap_queue"], dict) else None
        share = law and law["class"]["high"]["share"]
        algorithm = law and law.get("algorithm", "corrected")
        wire = tree["wire"]["delay"]
        own = options == fixed_point.PAPER
        asked.append((own, cell["attempts_long"], low["error_down"], wire, share, algorithm))
        return 1e-9 * len(asked), 10

    monkeypatch.setattr(fixed_point, "spread", spread)
    monkeypatch.setattr(fixed_point, "spreads", fixed_point.spreads.__wrapped__)
    assert predicted("vbs-fixed_point") == pytest.approx({"spread": 21e-9})
    plain = [
        (own, attempts, error, "0 ms", None, None)
        for own in (False, True)
        for attempts in (4, 8)
        for error in (0.0, 0.1, 0.2, 0.3)
    ]
    wires = [(own, 4, 0.3, "35 ms", None, None) for own in (False, True)]
    # "h_i* = 0.526" (line 171 of the text)
    shared = [
        (False, 4, 0.3, "0 ms", 0.526, law) for law in ("corrected", "regulated", "partition")
    ]
    assert sorted(map(str, asked)) == sorted(map(str, [*plain, *wires, *shared]))
