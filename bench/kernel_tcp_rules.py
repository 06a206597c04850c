"""Rules of Linux or of the engine. Each rule explains why the results of Linux and of the engine
differ in a scenario of the grid.
"""

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
"""Rule that explains the difference, by scenario. Each rule was found by a single changed
setting.
"""


def rule_of(name: str) -> str:
    """Return the rule that explains the difference in a scenario. Names of scenarios with long runs
    are accepted, too.
    """
    return RULES.get(name.removesuffix(LONG), "not known")
