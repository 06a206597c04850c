"""Studies of paper 001 that use only its models. These studies check (4.2), the equilibria of the
fluid models, and the equilibria with other utilities.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from lasthop.studies.acsma import network
from lasthop.studies.study import Quantity, Runs, Study, theory

STARTS_PPS = (10.0, 100.0, 400.0)
"""Initial rates of the fluid systems. [packets/s]"""

FAIRNESS: Mapping[str, tuple[float, float]] = {
    "log": (1.0, 0.01),
    "reciprocal": (2.0, 1.0),
    "sqrt": (0.5, 1e-4),
}
r"""Parameters a and w of the utilities :math:`w x^{1-a} / (1 - a)` of a rate x. The weights w are
such that the aggressiveness r is less than one. [-]
"""


@cache
def rest_distance(topology: str, rule: str, utility: str = "") -> float:
    """Return the largest relative distance of a fluid model's equilibrium from the optimum. [-]

    The maximum is over all flows and all initial rates."""
    from lasthop.models.acsma.fluid import MultiConnection, settle
    from lasthop.models.acsma.optimum import RENO, Problem, optimum
    from lasthop.models.acsma.topologies import topology as build
    from lasthop.models.acsma.utility import AlphaFair

    worth = AlphaFair(*FAIRNESS[utility]) if utility else RENO
    problem = Problem(build(topology, network.THEORY_PPS, worth), network.K, network.BETA)
    wanted = optimum(problem.network, network.K, network.BETA).rates_pps
    furthest = 0.0
    for start in STARTS_PPS:
        system = MultiConnection(
            problem, network.PER_PACKET, "utility" if rule == "utility" else "rtt", rtt_s=1.0
        )
        state = np.concatenate([np.full(len(wanted), start), np.full(problem.wireless, 1e-3)])
        rates = settle(system, state).state[: len(wanted)]
        furthest = max(furthest, float(np.max(np.abs(rates / wanted - 1.0))))
    return furthest


def _ideal(_: Runs) -> dict[str, Quantity]:
    from lasthop.models.acsma.legacy import PAPER_ACCESS_INTENSITY, middle_of_topology_a

    return {"y_2": theory(middle_of_topology_a(PAPER_ACCESS_INTENSITY))}


IDEAL = Study(
    key="acsma-ideal",
    title="(4.2): air time of link 2 under idealised L-CSMA",
    measure=_ideal,
)


def _fluid(_: Runs) -> dict[str, Quantity]:
    return {
        "distance_mp": theory(max(rest_distance(name, "rtt") for name in network.TOPOLOGIES)),
        "distance_ep": theory(rest_distance("e", "rtt")),
    }


FLUID = Study(
    key="acsma-fluid",
    title="Theorems 2 and 3: equilibria of the fluid systems",
    measure=_fluid,
)


def _utilities(_: Runs) -> dict[str, Quantity]:
    return {f"distance_{name}": theory(rest_distance("a", "utility", name)) for name in FAIRNESS}


UTILITIES = Study(
    key="acsma-utilities",
    title="(5.29): any concave utility",
    measure=_utilities,
)
