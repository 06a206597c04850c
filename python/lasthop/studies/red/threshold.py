"""Section VI: what the round-trip time does to the threshold policy, Compound TCP and Reno."""

from lasthop.studies.red.curves import critical
from lasthop.studies.study import Quantity, Runs, Study, theory

RULES = ("compound", "reno")
"""Window rules."""

DELAYS = (0.1, 1.0)
"""Round-trip times compared. [s]"""

PIPE = 100.0
"""Packets in flight, as many at both delays, so that the windows at rest are alike. [packets]"""

OTHER_PIPES = (10.0, 250.0)
"""Packets in flight at the longer delay for comparison. [packets]"""


def critical_threshold(tcp: str, rtt: float, pipe: float) -> float:
    """Return the threshold at the Hopf condition. [packets]"""
    return critical("threshold", "q_th", 2.0, 500.0, tcp=tcp, rtt=rtt, capacity=pipe / rtt).value


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the critical threshold at the shorter delay over that at the longer one."""
    ratios = {tcp: [critical_threshold(tcp, rtt, PIPE) for rtt in DELAYS] for tcp in RULES}
    return {f"hopf_ratio_{tcp}": theory(short / long) for tcp, (short, long) in ratios.items()}


def findings(_: Runs) -> dict[str, str]:
    """Return what the delay does where capacity is held instead of the window."""
    far = "; ".join(
        f"{critical_threshold('compound', DELAYS[-1], pipe):.1f} at {pipe:g} packets"
        for pipe in OTHER_PIPES
    )
    return {
        "red-8": "with capacity held, the delay acts through the window, C tau: the critical "
        f"threshold of Compound is {far}"
    }


STUDY = Study(
    key="red-threshold",
    title="Section VI: the threshold policy at two round-trip times",
    measure=measure,
    findings=findings,
)
