"""Figure 14: Hopf condition, sufficient condition (43) and limit cycles of the threshold policy."""

from functools import cache
from math import ceil, pi

import numpy as np

from lasthop.stability import Axis, Branch, Case, branch, chart, integrate, normal_form
from lasthop.studies.red.curves import critical, critical_alpha
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, theory

LOW, HIGH = 10.0, 100.0
"""Smallest and largest threshold of the figure. [packets]"""

READ = (20, 40, 60)
"""Thresholds at which the Hopf condition and condition (43) are compared. [packets]"""

CYCLES = (38, 39, 40, 42, 44)
"""Thresholds at which the limit cycle is integrated. [packets]"""

UNTIL = 600.0
"""End of the integration, which has 150 periods. [s]"""

HALVINGS = 50
"""Number of bisections of the range of alpha. This number gives full precision for values of alpha
above 0.01.
"""


@cache
def sufficient_alpha(q_th: float) -> float:
    r"""Return the largest growth parameter alpha that satisfies the sufficient condition (43),
    :math:`\alpha q_{th} w^{k-1} = \pi/2`.
    """
    low, high = 1e-3, 1.0
    for _ in range(HALVINGS):
        alpha = 0.5 * (low + high)
        [w] = Case.of("threshold", q_th=q_th, alpha=alpha).equilibrium
        low, high = (low, alpha) if alpha * q_th * w**-0.25 > pi / 2.0 else (alpha, high)
    return low


@cache
def amplitude(q_th: float) -> float:
    """Return the amplitude of the window at the end of the integration. [packets]"""
    return integrate(Case.of("threshold", q_th=q_th), UNTIL).amplitude(0.1)


@cache
def cycles() -> Branch:
    """Return the branch of limit cycles beyond the Hopf point."""
    return branch(critical("threshold", "q_th", 5.0, 100.0), LOW, HIGH, cycles=20)


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the first unstable threshold, the amplitudes of the limit cycles above this threshold,
    and the largest alpha by condition (43). This alpha is also divided by the alpha of the Hopf
    condition.
    """
    point = critical("threshold", "q_th", 5.0, 100.0)
    values = {"hopf_threshold": theory(ceil(point.value))}
    for q in READ:
        exact, enough = critical_alpha("threshold", q_th=float(q)), sufficient_alpha(float(q))
        values[f"alpha_{q}"] = theory(enough)
        values[f"sufficient_ratio_{q}"] = theory(enough / exact)
        values[f"window_{q}"] = theory(Case.of("threshold", q_th=float(q)).equilibrium[0])
    return values | {f"amplitude_{q}": theory(amplitude(float(q))) for q in CYCLES}


def finding(_: Runs) -> str:
    """Return a text on the exact Hopf point and the type of the bifurcation."""
    point = critical("threshold", "q_th", 5.0, 100.0)
    kind = "super" if normal_form(point).supercritical else "sub"
    return (
        f"the Hopf point is at q_th = {point.value:.3f}, so {ceil(point.value)} is the first "
        f"unstable integer. The bifurcation is {kind}-critical, and the period there is "
        f"{point.period:.2f} s"
    )


def draw(_: Runs) -> Figure:
    """Draw the Hopf condition with condition (43), and the bifurcation diagram."""
    from lasthop.plot.stability import threshold_figure

    result = chart(Case.of("threshold"), Axis("q_th", LOW, HIGH), Axis("alpha", 0.02, 0.5))
    places = np.geomspace(LOW, HIGH, 40)
    return threshold_figure(
        result, places.tolist(), [sufficient_alpha(float(q)) for q in places], cycles()
    )


STUDY = Study(
    key="red-fig14",
    title="Figure 14: threshold policy, stability and cycles",
    measure=measure,
    draw=draw,
    findings=about("red-7", finding),
)
