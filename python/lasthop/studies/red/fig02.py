"""Figure 2: Hopf condition of RED with averaging, over capacity, gain of the average, and
thresholds.
"""

from lasthop.stability import Axis, Case, chart, normal_form
from lasthop.studies.red import curves
from lasthop.studies.red.curves import HIGH_TH, LOW_TH
from lasthop.studies.study import Figure, Quantity, Runs, Study, theory

GAMMA = 0.03
"""Gain gamma of RED's average in figure 3. [-]"""

DELAY = 0.0848
"""Round-trip time of figure 2c. In figure 2a, this round-trip time is critical at a capacity of 100
packets/s per flow. [s]
"""


def measure(_: Runs) -> dict[str, Quantity]:
    """Return critical round-trip times, and alpha at the smallest and largest lower threshold."""
    point = curves.critical_delay("red", gamma=GAMMA)
    return {
        **curves.delays("red", "hopf_delay", "capacity", curves.CAPACITIES),
        "hopf_delay_gamma": theory(point.value),
        "window_gamma": theory(point.case.equilibrium[0]),
        **curves.over_threshold("red", DELAY),
    }


def findings(_: Runs) -> dict[str, str]:
    """Return texts on the type of the bifurcation, and on how alpha depends on the threshold."""
    forms = {g: normal_form(curves.critical_delay("red", gamma=g)) for g in (1e-4, GAMMA)}
    kinds = [
        f"with gamma {g:g} the bifurcation is "
        f"{'super' if form.supercritical else 'sub'}-critical, and mu2 of kappa is "
        f"{form.mu2_of('kappa'):.3g}"
        for g, form in forms.items()
    ]
    point = curves.critical_delay("red")
    pipe = point.case.values["capacity"] * point.value
    return {
        "red-1": f"at every C, C tau at the Hopf point is {pipe:.4f} packets; {kinds[0]}",
        "red-2": kinds[1],
        "red-3": f"in figure 2c, {curves.trade_off('red', DELAY)}",
    }


def draw(_: Runs) -> Figure:
    """Draw the three panels of the figure."""
    from lasthop.plot.stability import chart_panels

    charts = [
        chart(Case.of("red"), Axis("capacity", 100.0, 500.0), Axis("rtt", 0.01, 0.099)),
        chart(Case.of("red"), Axis("gamma", 1e-4, 0.05), Axis("rtt", 0.05, 0.25)),
        chart(Case.of("red", rtt=DELAY), Axis("min_th", LOW_TH, HIGH_TH), Axis("alpha", 0.08, 0.2)),
    ]
    marks = [[(100.0, 0.0848)], [(GAMMA, 0.171)], [(50.0, 0.125)]]
    return chart_panels(charts, ["a", "b", "c"], marks)


STUDY = Study(
    key="red-fig02",
    title="Figure 2: where RED with averaging is stable",
    measure=measure,
    draw=draw,
    findings=findings,
)
