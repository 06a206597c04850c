"""Figure 4: Hopf condition of RED without averaging, over capacity and thresholds."""

from lasthop.stability import Axis, Case, chart
from lasthop.studies.red import curves
from lasthop.studies.red.curves import HIGH_TH, LOW_TH
from lasthop.studies.study import Figure, Quantity, Runs, Study

DELAY = 0.273
"""Round-trip time of figure 4c. [s]"""

THRESHOLDS = (20, 50, 80)
"""Lower thresholds of RED at which claims are judged. [packets]"""


def measure(_: Runs) -> dict[str, Quantity]:
    """Return critical round-trip times, and alpha at the smallest and largest lower threshold."""
    return {
        **curves.delays("red-instant", "hopf_delay", "capacity", curves.CAPACITIES),
        **curves.delays("red-instant", "hopf_delay_threshold", "min_th", THRESHOLDS),
        **curves.over_threshold("red-instant", DELAY),
    }


def findings(_: Runs) -> dict[str, str]:
    """Return texts on how alpha depends on the threshold, and on the round-trip time of 0.273 s."""
    exact = curves.critical_delay("red-instant").value
    return {
        "red-3": f"in figure 4c, {curves.trade_off('red-instant', DELAY)}",
        "red-4": f"the {DELAY} s of figure 4c are exactly {exact:.4f} s",
    }


def draw(_: Runs) -> Figure:
    """Draw the three panels of the figure."""
    from lasthop.plot.stability import chart_panels

    case = Case.of("red-instant")
    charts = [
        chart(case, Axis("capacity", 100.0, 500.0), Axis("rtt", 0.03, 0.29)),
        chart(case, Axis("min_th", LOW_TH, HIGH_TH), Axis("rtt", 0.2, 0.3)),
        chart(case.with_(rtt=DELAY), Axis("min_th", LOW_TH, HIGH_TH), Axis("alpha", 0.08, 0.2)),
    ]
    marks = [[(100.0, 0.273)], [(50.0, 0.273)], [(50.0, 0.125)]]
    return chart_panels(charts, ["a", "b", "c"], marks)


STUDY = Study(
    key="red-fig04",
    title="Figure 4: where RED without averaging is stable",
    measure=measure,
    draw=draw,
    findings=findings,
)
