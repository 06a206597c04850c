"""Rules of Linux or of the engine. Each rule explains why the results of Linux and of the engine
differ in a scenario of the grid.
"""

from collections.abc import Mapping

from kernel_tcp_plan import LONG

BURSTS = "quick ACKs, TSO deferral and SACK compression of Linux"
FIRST_RTO = "minimum RTO: timeouts of the engine in the first seconds"
QUICK = "quick ACKs of Linux"
WINDOW = "receive window of the engine, 2500 packets"
COMPRESSION = "SACK compression of Linux, in part"
RULES: Mapping[str, str] = {
    "newreno, 1 of 10 ms, drop-tail 1/4 BDP": BURSTS,
    "newreno, 1 of 50 ms, drop-tail 1 BDP": BURSTS,
    "newreno, 1 of 200 ms, drop-tail 4 BDP": WINDOW,
    "newreno, 1 of 200 ms, CoDel": BURSTS,
    "newreno, 12 of 200 ms, drop-tail 1 BDP": QUICK,
    "newreno, 12 of 200 ms, drop-tail 4 BDP": FIRST_RTO,
    "cubic, 1 of 10 ms, drop-tail 1/4 BDP": COMPRESSION,
    "cubic, 1 of 10 ms, drop-tail 1 BDP": BURSTS,
    "cubic, 12 of 50 ms, drop-tail 4 BDP": QUICK,
}
"""Rule that explains the difference, by scenario. Each rule was found by changing this setting."""


def rule_of(name: str, otherwise: str) -> str:
    """Return the rule that explains the difference in a scenario, or `otherwise` if no rule is
    known. Names of scenarios with long runs are accepted, too.
    """
    return RULES.get(name.removesuffix(LONG), otherwise)
