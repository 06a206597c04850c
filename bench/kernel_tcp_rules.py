"""Rules that explain why Linux and the engine are different at points of the grid."""

from collections.abc import Mapping

from kernel_tcp_plan import LONG

BURSTS = "quick ACKs, TSO deferral and SACK compression of Linux"
FIRST_RTO = "minimum RTO: timeouts of the engine in the first seconds"
TICK = "SACK compression of Linux, and the tick of the clock that its CUBIC reads"
RULES: Mapping[str, str] = {
    "newreno, 1 of 10 ms, drop-tail 1/4 BDP": BURSTS,
    "newreno, 12 of 200 ms, drop-tail 4 BDP": FIRST_RTO,
    "cubic, 1 of 10 ms, drop-tail 1/4 BDP": TICK,
}
"""Rules by point, each found by a single changed setting."""


def rule_of(name: str) -> str:
    """Return the rule that explains the difference at a point, also of its long runs."""
    return RULES.get(name.removesuffix(LONG), "not known")
