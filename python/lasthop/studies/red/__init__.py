"""Studies of paper 004, Compound TCP with RED: the packet-level figures 6 to 9, 15, 18 and 19."""

from lasthop.studies.red import policies, swings
from lasthop.studies.study import Study

PACKETS: tuple[Study, ...] = (
    swings.over_rtt(mixed=False),
    swings.two_groups(mixed=False),
    swings.averaging(mixed=False),
    swings.thresholds(mixed=False),
    policies.fig15(),
    policies.costs(18),
    policies.costs(19),
)
"""Those of simulated packets."""

STUDIES: tuple[Study, ...] = PACKETS
