"""Figure 20: type of the bifurcation of RED without averaging, and its type along the curves of
figure 4.
"""

from functools import cache

from lasthop.stability import Branch, NormalForm, branch, normal_form
from lasthop.studies.red.curves import critical, critical_delay
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, theory

THRESHOLDS = tuple(float(b) for b in range(50, 151, 10))
"""Lower thresholds of RED along figures 4b and 4c. [packets]"""

ALPHAS = (0.05, 0.07, 0.1, 0.125, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.326)
"""Values of Compound's growth parameter alpha. At the largest value, the round-trip time 0.7751 s
of appendix B is critical. [-]
"""

PAPER_DELAY = 0.7751
"""Round-trip time of the Hopf point in appendix B. [s]"""

SLOWER = 35.06
"""Capacity per flow at which the round-trip time of appendix B is critical. [packets/s]"""

DELAY = 0.273
"""Round-trip time of figure 4c. [s]"""


@cache
def form(**values: float) -> NormalForm:
    """Return the normal form of the bifurcation at the critical round-trip time."""
    return normal_form(critical_delay("red-instant", **values))


@cache
def form_in_alpha(min_th: float) -> NormalForm:
    """Return the normal form of the bifurcation at the critical alpha of figure 4c."""
    return normal_form(critical("red-instant", "alpha", 0.01, 1.0, rtt=DELAY, min_th=min_th))


@cache
def cycles() -> Branch:
    """Return the branch of limit cycles beyond the Hopf point at the default parameters."""
    return branch(critical_delay("red-instant"), 0.2, 0.4, cycles=30)


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the coefficients mu2 and beta2 of the normal form, and the smallest mu2 along curves.

    The curves are those of figure 4, and the Hopf curve over alpha.
    """
    here = form()
    along = [form(min_th=b).mu2_of("kappa") for b in THRESHOLDS]
    along += [form_in_alpha(b).mu2_of("kappa") for b in THRESHOLDS]
    return {
        "mu2": theory(here.mu2_of("kappa")),
        "beta2": theory(here.beta2),
        "mu2_min": theory(min(along)),
        "mu2_at_papers_delay_by_alpha": theory(form(alpha=ALPHAS[-1]).mu2_of("kappa")),
        "mu2_at_papers_delay_by_capacity": theory(form(capacity=SLOWER).mu2_of("kappa")),
        "mu2_min_alpha": theory(min(form(alpha=a).mu2_of("kappa") for a in ALPHAS)),
    }


def finding(_: Runs) -> str:
    """Return a text on the parameters for which the paper's statement on the bifurcation holds."""
    large = form(alpha=ALPHAS[-1])
    traced = cycles()
    kind = "super" if large.supercritical else "sub"
    turns = [a for a in ALPHAS if not form(alpha=a).supercritical]
    turned = f"{traced.values[traced.folds[0]]:.5f}" if traced.folds else "no value traced"
    return (
        f"with the default parameters the Hopf point is at {traced.form.point.value:.5f} s, not at "
        f"the {PAPER_DELAY} s of appendix B. With alpha = {ALPHAS[-1]} it is at "
        f"{large.point.value:.4f} s, and the bifurcation there is {kind}-critical (mu2 of kappa "
        f"{large.mu2_of('kappa'):.3g}). At the tau of each alpha, it is sub-critical for alpha "
        f"from {min(turns):g} on. The branch of stable cycles turns back at tau = {turned} s, so "
        "the motion jumps beyond it"
    )


def draw(_: Runs) -> Figure:
    """Draw the coefficient mu2 along the Hopf curve over alpha, and the branch of limit cycles with
    its fold.
    """
    from lasthop.plot.stability import kind_figure

    return kind_figure(ALPHAS, [form(alpha=a).mu2_of("kappa") for a in ALPHAS], cycles())


STUDY = Study(
    key="red-fig20",
    title="Figure 20: kind of the bifurcation without averaging",
    measure=measure,
    draw=draw,
    findings=about("red-6", finding),
)
