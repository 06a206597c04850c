"""Common functions for the figures of the analysis: Hopf points and Hopf conditions."""

from collections.abc import Sequence
from functools import cache

from lasthop.stability import Case, HopfPoint, hopf_points, roots
from lasthop.studies.study import Quantity, theory

CAPACITIES = (50, 100, 200)
"""Capacities per flow at which claims are judged. [packets/s]"""

LOW_TH, HIGH_TH = 50.0, 150.0
"""Smallest and largest lower threshold of RED in figures 2c, 4b and 4c. [packets]"""

ALONG_TH = (50, 75, 100, 125, 150)
"""Lower thresholds of RED along the curves of figures 2c and 4c. [packets]"""

MIDDLE_TH = 100.0
"""Lower threshold at which stability is examined on both sides of the curve. [packets]"""

ASIDE = 0.05
"""Distance of the examined points from the curve, as a fraction of alpha. [-]"""


@cache
def critical(model: str, parameter: str, low: float, high: float, **values: float) -> HopfPoint:
    """Return the only Hopf point of a model in a range of a parameter."""
    [point] = hopf_points(Case.of(model, values), parameter, low, high)
    return point


def critical_delay(model: str, **values: float) -> HopfPoint:
    """Return the Hopf point over the round-trip time, with the given values of the other
    parameters.
    """
    capacity = values.get("capacity", 100.0)
    return critical(model, "rtt", 2.0 / capacity, 200.0 / capacity, **values)


def critical_alpha(model: str, **values: float) -> float:
    """Return the value of Compound's growth parameter alpha at which the Hopf condition holds."""
    return critical(model, "alpha", 0.01, 1.0, **values).value


def delays(model: str, name: str, parameter: str, values: Sequence[int]) -> dict[str, Quantity]:
    """Return critical round-trip times for several values of a parameter. [s]

    The names of the results begin with `name`.
    """
    return {
        f"{name}_{value}": theory(critical_delay(model, **{parameter: float(value)}).value)
        for value in values
    }


def over_threshold(model: str, rtt: float) -> dict[str, Quantity]:
    """Return the critical alpha, at which the Hopf condition holds, for several lower thresholds of
    RED. [-]

    The result also has the relative change of the critical alpha from the smallest to the largest
    threshold, and three growth rates of disturbances [1/s]. Two of these rates are for an alpha
    slightly above and slightly below the critical alpha at the middle threshold. The third rate is
    for the default alpha at the largest threshold.
    """
    low, high = (critical_alpha(model, rtt=rtt, min_th=b) for b in (LOW_TH, HIGH_TH))
    middle = critical_alpha(model, rtt=rtt, min_th=MIDDLE_TH)
    case = Case.of(model, rtt=rtt, min_th=MIDDLE_TH)
    return {
        **{f"alpha_{b}": theory(critical_alpha(model, rtt=rtt, min_th=float(b))) for b in ALONG_TH},
        "growth_above": theory(growth(case.with_(alpha=middle * (1.0 + ASIDE)))),
        "growth_below": theory(growth(case.with_(alpha=middle * (1.0 - ASIDE)))),
        "growth_default_150": theory(growth(Case.of(model, rtt=rtt, min_th=HIGH_TH))),
        "alpha_threshold_low": theory(low),
        "alpha_threshold_high": theory(high),
        "alpha_change": theory(abs(high / low - 1.0)),
    }


def growth(case: Case) -> float:
    """Return the growth rate of small disturbances, the real part of the rightmost root. [1/s]"""
    return float(roots(case, 2).abscissa)


def alpha_side(model: str, **values: float) -> str:
    """Return the side of the critical alpha on which the system is stable: "above" or "below"."""
    point = critical(model, "alpha", 0.01, 1.0, **values)
    return "below" if point.unstable_above else "above"


def trade_off(model: str, rtt: float) -> str:
    """Return a text on how the critical alpha depends on the lower threshold of RED."""
    low, high = (critical_alpha(model, rtt=rtt, min_th=b) for b in (LOW_TH, HIGH_TH))
    side = alpha_side(model, rtt=rtt, min_th=LOW_TH)
    verb = "rises" if high > low else "falls"
    return (
        f"alpha on the Hopf condition {verb} from {low:.4f} to {high:.4f} as the lower threshold "
        f"rises from {LOW_TH:g} to {HIGH_TH:g}, and the system is stable {side} the curve"
    )
