"""Durations and seeds of the simulations in each stage of a search."""

from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import TcpFlow

SHORT_S = 20.0
"""Simulated time of a short simulation after the warm-up. [s]"""

SHORT_REPLICATIONS = 2

CHECKED_REPLICATIONS = 5
"""Least number of replications with fresh seeds. With fewer replications, confidence intervals are
too wide.
"""

LARGEST_SEED = 2**53 - 1
"""Largest allowed `seed` of a scenario."""


def length_s(scenario: Scenario) -> float:
    """Return the total simulated time of all replications. [s]"""
    return scenario.typed.duration_s * scenario.typed.replications


def shortened(scenario: Scenario) -> list[tuple[str, object]]:
    """Return settings for a short simulation: fewer replications, and a shorter duration if the
    scenario is steady.

    A scenario is steady if all flows start before the end of the warm-up and no flow ends. For
    other scenarios the duration does not change. The seed differs from that of the scenario, so
    that the full simulations, which confirm settings, are independent of the short simulations.
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
    """Return a scenario with a fresh seed, which neither the short nor the full simulations use,
    and with enough replications.
    """
    known = scenario.typed
    count = max(known.replications, CHECKED_REPLICATIONS)
    return Scenario(scenario, [("replications", count), ("seed", fresh_seed(known.seed))])


def fresh_seed(seed: int) -> int:
    """Return a seed that neither the full simulations (confirmation) nor the short simulations
    (screening, see `shortened`) use.
    """
    return seed + 1 + (seed == 0) if seed < LARGEST_SEED else seed - 2
