"""Studies of paper 004, Compound TCP with RED: the analysis, and the packet-level figures."""

from lasthop.studies.red import (
    fig02,
    fig03,
    fig04,
    fig14,
    fig20,
    policies,
    swings,
    threshold,
)
from lasthop.studies.study import Study

THEORY: tuple[Study, ...] = (
    fig02.STUDY,
    fig03.STUDY,
    fig04.STUDY,
    fig14.STUDY,
    fig20.STUDY,
    threshold.STUDY,
)
"""Those of the fluid models."""

PACKETS: tuple[Study, ...] = (
    swings.over_rtt(mixed=False),
    swings.two_groups(mixed=False),
    swings.averaging(mixed=False),
    swings.thresholds(mixed=False),
    swings.over_rtt(mixed=True),
    swings.two_groups(mixed=True),
    swings.averaging(mixed=True),
    swings.thresholds(mixed=True),
    policies.fig15(),
    policies.fig17(),
    policies.costs(18),
    policies.costs(19),
)
"""Those of simulated packets."""

STUDIES: tuple[Study, ...] = THEORY + PACKETS
