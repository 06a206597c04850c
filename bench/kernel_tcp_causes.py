"""Causes of the differences between Linux and the engine, by scenario of the grid."""

from collections.abc import Mapping

BURSTS = "quick ACKs, TSO deferral and SACK compression of Linux"
FIRST_RTO = "minimum RTO: timeouts of the engine in the first seconds"
QUICK = "quick ACKs of Linux"
WINDOW = "receive window of the engine, 2500 packets"
TSO = "bursts of the engine (`tso`), which Linux hardly sends at this queue"
LATE_STARTUP = "losses at the end of Startup, in rare runs after the warm-up"
COMPRESSION = "SACK compression of Linux, in part"
CAUSE_OF_DIFFERENCE: Mapping[str, str] = {
    "newreno, 1 of 10 ms, drop-tail 1/4 BDP": BURSTS,
    "newreno, 1 of 50 ms, drop-tail 1 BDP": BURSTS,
    "newreno, 1 of 200 ms, drop-tail 4 BDP": WINDOW,
    "newreno, 1 of 200 ms, CoDel": BURSTS,
    "newreno, 12 of 200 ms, drop-tail 1 BDP": QUICK,
    "newreno, 12 of 200 ms, drop-tail 4 BDP": FIRST_RTO,
    "cubic, 1 of 10 ms, drop-tail 1/4 BDP": COMPRESSION,
    "cubic, 1 of 10 ms, drop-tail 1 BDP": BURSTS,
    "cubic, 12 of 50 ms, drop-tail 4 BDP": QUICK,
    "bbr, 1 of 10 ms, drop-tail 1/4 BDP": TSO,
    "bbr, 1 of 10 ms, RED": COMPRESSION,
    "bbr, 12 of 50 ms, drop-tail 4 BDP": LATE_STARTUP,
}
"""Cause of the difference, by scenario. Each cause was confirmed by runs in which the setting is
changed (`kernel_tcp_plan.CAUSES`, and `kernel_tcp_second.CAUSES` for the last two).
"""
