"""Durations and seeds of the simulations in the stages of a search."""

from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import TcpFlow

SHORT_S = 20.0
"""Time that a short simulation measures. [s]"""

SHORT_REPLICATIONS = 2

CHECKED_REPLICATIONS = 5
"""Least replications of the check with fresh seeds: with fewer, intervals say little."""

LARGEST_SEED = 2**53 - 1
"""Largest `seed` of a scenario."""


def length_s(scenario: Scenario) -> float:
    """Return the simulated time of all replications. [s]"""
    return scenario.typed.duration_s * scenario.typed.replications


def shortened(scenario: Scenario) -> list[tuple[str, object]]:
    """Return settings for a quick look at a scenario: fewer replications, and less time if it is
    steady.

    A scenario with flows that start after the warm-up or end keeps its time. The seed is another,
    so that the simulations that confirm are independent of those that chose.
    """
    known = scenario.typed
    seed = known.seed
    settings: list[tuple[str, object]] = [
        ("replications", min(SHORT_REPLICATIONS, known.replications)),
        ("seed", seed - 1 if seed > 0 else 1),
    ]
    duration = known.warmup_s + SHORT_S
    steady = all(
        flow.start_s <= known.warmup_s
        and flow.stop_s is None
        and (not isinstance(flow, TcpFlow) or flow.tcp.segments is None)
        for flow in known.flows
    )
    if steady and duration < known.duration_s:
        settings += [("warmup", f"{known.warmup_s} s"), ("duration", f"{duration} s")]
    return settings


def fresh(scenario: Scenario) -> Scenario:
    """Return a scenario with a seed for neither screening nor confirmation, and its
    replications."""
    known = scenario.typed
    count = max(known.replications, CHECKED_REPLICATIONS)
    return Scenario(scenario, [("replications", count), ("seed", fresh_seed(known.seed))])


def fresh_seed(seed: int) -> int:
    """Return a seed that neither confirms nor screens, see `shortened`."""
    return seed + 1 + (seed == 0) if seed < LARGEST_SEED else seed - 2
