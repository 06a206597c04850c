"""Figure 3: phase portraits of RED with averaging, on both sides of the Hopf point at gamma =
0.03.
"""

from functools import cache

from lasthop.stability import Case, Trajectory, integrate
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, theory

RTT_S = 0.171
"""Round-trip time of figure 3. [s]"""

GAMMAS = (0.032, 0.028)
"""Gains gamma of RED's average on both sides of the Hopf point. [-]"""

END_S = 1500.0
"""End of the integration, by which transients have died out. [s]"""

FINAL = 0.1
"""Fraction of the integration time, at its end, in which the amplitude is measured. [-]"""


@cache
def trajectory(gamma: float) -> Trajectory:
    """Return the solution that starts with windows 5 % above equilibrium. The solution respects the
    limits of the queue and of the drop probability.
    """
    return integrate(Case.of("red", gamma=gamma, rtt=RTT_S), END_S)


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the amplitude of the window at the end of the integration, for each gain."""
    return {
        f"amplitude_{g}".replace(".", "_"): theory(trajectory(g).amplitude(FINAL)) for g in GAMMAS
    }


def finding(_: Runs) -> str:
    """Return a text on the period of the limit cycle."""
    cycling = trajectory(GAMMAS[1])
    return (
        f"with gamma {GAMMAS[1]} the window oscillates by ± {cycling.amplitude(FINAL):.2f} "
        f"packets, with a period of {cycling.period(FINAL):.2f} s"
    )


def draw(_: Runs) -> Figure:
    """Draw the window over its value one round-trip time earlier."""
    from lasthop.plot.stability import portraits

    return portraits([trajectory(g) for g in GAMMAS], [f"γ = {g}" for g in GAMMAS], until=300.0)


STUDY = Study(
    key="red-fig03",
    title="Figure 3: converging and cycling, τ = 171 ms",
    measure=measure,
    draw=draw,
    findings=about("red-2", finding),
)
