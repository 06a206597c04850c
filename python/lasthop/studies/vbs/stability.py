"""The appendix: stability of Compound TCP with virtual buffer sharing."""

from functools import cache
from math import acos, pi

import numpy as np

from lasthop.stability import Axis, HopfPoint, chart, hopf_points, integrate, named, roots
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, theory

RATES = np.geomspace(1e-2, 1e5, 200)
"""Service rates at which stability is examined. These rates correspond to 0.001 to 10,000 packets
in flight. [packets/s]
"""

BEYOND = 1.005
"""Growth parameter alpha at which the limit cycle is integrated, divided by the critical alpha.
[-]
"""


@cache
def smallest() -> HopfPoint:
    """Return the Hopf point over the service rate, with Compound's k = 0.75 and alpha = 0.125, and
    a target queue c h* B of 8.
    """
    [point] = hopf_points(named("vbs-default"), "capacity", 0.01, 1000.0)
    return point


@cache
def in_alpha() -> HopfPoint:
    """Return the Hopf point over Compound's growth parameter alpha."""
    [point] = hopf_points(named("vbs-default"), "alpha", 0.01, 1.0)
    return point


def rightmost_kappa_1() -> float:
    """Return the growth rate of disturbances, with Compound's k = 1 and alpha = 1/B. The largest
    value over the service rates `RATES` is returned. [1/s]
    """
    case = named("vbs-default", {"k": 1.0, "alpha": 0.01})
    return max(roots(case.with_(capacity=float(rate)), 2).abscissa for rate in RATES)


def period_ratio() -> float:
    r"""Return the period that the paper prints, :math:`2 \pi RTT / \arccos(-a/b)`, divided by the
    period found by integration.
    """
    point = in_alpha()
    a, b = -point.case.linear.now[0, 0], -point.case.linear.lagged[0, 0, 0]
    rtt = point.case.values["rtt"]
    printed = 2.0 * pi * rtt / acos(-a / b)
    trajectory = integrate(point.case.with_(alpha=BEYOND * point.value), 2000.0 * rtt)
    result = trajectory.period(0.1)
    return printed / result if result else np.nan


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the growth rate of disturbances, the smallest stable window, and the ratio of
    periods.
    """
    return {
        "rightmost_kappa_1": theory(rightmost_kappa_1()),
        "smallest_window": theory(smallest().case.equilibrium[0]),
        "period_ratio": theory(period_ratio()),
    }


def finding(_: Runs) -> str:
    """Return a text on the origin of the paper's number 0.164."""
    point = smallest()
    values = point.case.values
    room = values["part"] * values["share"] * values["buffer"]  # Target queue c h* B of the class
    sufficient = (room * values["alpha"] / (pi / 2.0)) ** 4
    [w] = point.case.equilibrium
    loss = point.case.model.loss(point.case.derived, [w])[0]
    return (
        f"{sufficient:.4f} packets is where the sufficient condition (29) ends. The exact "
        f"condition (30) holds down to {w:.4f}, where the loss probability is {loss:.2f}"
    )


def draw(_: Runs) -> Figure:
    """Draw the stable region over the growth parameter alpha and the service rate."""
    from lasthop.plot.stability import chart_figure

    return chart_figure(
        chart(named("vbs-default"), Axis("capacity", 1.0, 1000.0), Axis("alpha", 0.02, 2.0))
    )


STUDY = Study(
    key="vbs-stability",
    title="Appendix: where Compound TCP with virtual buffer sharing is stable",
    measure=measure,
    draw=draw,
    findings=about("vbs-16", finding),
)
