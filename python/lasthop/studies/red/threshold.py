"""Section VI: effect of the round-trip time on the threshold policy with Compound TCP and Reno."""

from collections.abc import Sequence

from lasthop.stability import Case
from lasthop.studies.red.curves import critical, growth
from lasthop.studies.study import Quantity, Runs, Study, about, theory
from lasthop.studies.sweep import tag

RULES = ("compound", "reno")
"""TCP variants that are compared."""

DELAYS = (0.1, 1.0)
"""Round-trip times whose critical thresholds are compared. [s]"""

PIPE = 100.0
"""Number of packets in flight. The number is equal at both round-trip times, so that the windows at
equilibrium are similar. [packets]
"""

CAPACITY = 100.0
"""Capacity per flow, which is constant while the round-trip time grows. [packets/s]"""

RTTS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Round-trip times at which a setting is checked for stability. [s]"""

POLICY_TH = 15.0
"""Threshold of the paper's experiments. [packets]"""

SHORT_RTTS = (0.01, 0.02, 0.05, 0.1, 0.2, 1.0)
"""Round-trip times at which the stability of the paper's threshold is examined. [s]"""

INSIDE = 0.01
"""Distance of the setting from its critical value at the shortest round-trip time, as a fraction of
this value. [-]
"""

OTHER_PIPES = (10.0, 250.0)
"""Other numbers of packets in flight at the longer round-trip time, for comparison. [packets]"""


def critical_threshold(tcp: str, rtt: float, pipe: float) -> float:
    """Return the critical threshold, at which the Hopf condition holds. [packets]"""
    return critical("threshold", "q_th", 2.0, 500.0, tcp=tcp, rtt=rtt, capacity=pipe / rtt).value


def measure(_: Runs) -> dict[str, Quantity]:
    """Return critical thresholds at the shorter round-trip time, divided by the critical thresholds
    at the longer round-trip time.

    Also return the fractions of round-trip times at which settings are stable.
    """
    ratios = {tcp: [critical_threshold(tcp, rtt, PIPE) for rtt in DELAYS] for tcp in RULES}
    longer = {tcp: [critical_threshold(tcp, rtt, CAPACITY * rtt) for rtt in RTTS] for tcp in RULES}
    red = [critical("red", "alpha", 0.01, 20.0, rtt=rtt, capacity=CAPACITY) for rtt in RTTS]
    return {
        **{f"hopf_ratio_{tcp}": theory(short / long) for tcp, (short, long) in ratios.items()},
        **{f"stable_part_{tcp}": stable_part(edges, True) for tcp, edges in longer.items()},
        **{f"growth_{tag(rtt)}": theory(_growth(rtt)) for rtt in SHORT_RTTS},
        "stable_part_red": stable_part(
            [point.value for point in red], all(point.unstable_above for point in red)
        ),
    }


def _growth(rtt: float) -> float:
    return growth(Case.of("threshold", q_th=POLICY_TH, capacity=CAPACITY, rtt=rtt))


def stable_part(edges: Sequence[float], unstable_above: bool) -> Quantity:
    """Return the fraction of round-trip times at which a setting is stable. [-]

    The setting is close to its critical value at the shortest round-trip time.

    Parameters
    ----------
    edges : sequence of float
        Critical values of the setting over the round-trip times, the shortest first.
    unstable_above : bool
        Whether the system is unstable above the critical values; otherwise it is unstable below.
    """
    held = edges[0] * (1.0 - INSIDE if unstable_above else 1.0 + INSIDE)
    return theory(sum((held < edge) == unstable_above for edge in edges) / len(edges))


def finding(_: Runs) -> str:
    """Return a text on the effect of the round-trip time if the capacity is constant and the window
    is not.
    """
    far = "; ".join(
        f"{critical_threshold('compound', DELAYS[-1], pipe):.1f} at {pipe:g} packets"
        for pipe in OTHER_PIPES
    )
    return (
        "at a fixed capacity, the delay acts through the window, C tau. A longer delay allows a "
        "larger threshold to be stable, while averaged RED needs a larger alpha. The threshold of "
        f"Compound TCP at the Hopf condition is {far}. With threshold {POLICY_TH:g} small "
        f"oscillations grow at {_growth(SHORT_RTTS[0]):.1f}/s at {SHORT_RTTS[0] * 1e3:g} ms, where "
        f"C tau is {CAPACITY * SHORT_RTTS[0]:g} packet, less than the windows of a fluid model. At "
        f"{SHORT_RTTS[1] * 1e3:g} ms they grow at {_growth(SHORT_RTTS[1]):.2f}/s. So short "
        "round-trip times destabilise the policy, not long ones"
    )


STUDY = Study(
    key="red-threshold",
    title="Section VI: the threshold policy at two round-trip times",
    measure=measure,
    findings=about("red-8", finding),
)
