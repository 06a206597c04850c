"""Notes about senders that Linux paces, printed by `check`."""

from collections.abc import Iterator

from lasthop.errors import listed
from lasthop.scenario.typed import Scenario

__all__ = ["pacing_notes"]


def pacing_notes(scenario: Scenario) -> Iterator[str]:
    """Yield a note if flows with Prague are not paced.

    Linux always paces Prague (`tcp_prague.c` of github.com/L4STeam/linux). Without pacing, segments
    leave in bursts, and a burst is marked although the queue is short on average.
    """
    bursty = [
        flow.name
        for flow in scenario.tcp_flows
        if flow.tcp.congestion == "prague" and not flow.tcp.pacing
    ]
    if bursty:
        yield (
            f"prague is not paced ({listed(bursty)}); Linux always paces Prague: use "
            "tcp.pacing = true"
        )
