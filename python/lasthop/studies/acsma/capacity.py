"""Theorem 1: growth of queues in topology a, with arrivals just inside the border of its capacity
region.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS
from lasthop.studies.study import Quantity, Run, Runs, Study, along
from lasthop.studies.sweep import Sweep, points_of

LOAD = 0.95
REPLICATIONS = 10
"""Number of replications of each load vector. [-]"""

LIGHT_LOAD = 0.3
"""Load at which L-CSMA's queues do not grow, as a fraction of the load at the border of the
capacity region. [-]
"""

VECTORS: Mapping[str, tuple[float, float, float]] = {
    "even": (0.4, 0.3, 0.3),
    "alone": (0.7, 0.15, 0.15),
    "paired": (0.1, 0.45, 0.45),
    "unequal": (0.3, 0.6, 0.1),
}
"""Load vectors on the border of the capacity region of topology a. Each vector gives the fractions
of time in which only link 2 sends, links 1 and 3 send, and links 1 and 4 send. [-]
"""

WINDOWS_S = ((2000.0, 3000.0), (4000.0, 5000.0))
"""Early and late time interval. The growth of a queue is the difference of its means in these
intervals. [s]
"""

ACCESS: Mapping[str, Mapping[str, Any]] = {
    "acsma": {"access": "adaptive", "service_rate": network.THEORY_PPS},
    "lcsma": {"access": "legacy", "service_rate": network.THEORY_PPS},
}
"""Settings of `csma` for adaptive access with the backoff of (3.3), and for legacy CSMA with the
backoff of (4.1).
"""


def _arrivals(vector: str, load: float) -> dict[str, float]:
    alone, third, fourth = VECTORS[vector]
    schedule = {1: third + fourth, 2: alone, 3: third, 4: fourth}
    return {f"user-{link}": load * part * network.THEORY_PPS for link, part in schedule.items()}


def growth(early: Run, late: Run) -> Quantity:
    """Return the growth rate of the queue that grows fastest. `early` and `late` are runs that
    measure the two intervals `WINDOWS_S`. [packets/s]
    """
    apart_s = WINDOWS_S[1][0] - WINDOWS_S[0][0]

    def fastest(means: NDArray[np.float64]) -> float:
        before, after = np.reshape(means, (2, len(LINKS)))
        return float(np.max(after - before)) / apart_s

    queues = [
        run.quantity("queues", f"{link}", "occupancy_packets")
        for run in (early, late)
        for link in LINKS
    ]
    return along(fastest, queues)


def _loaded(access: str, vector: str, load: float, part: int) -> dict[str, Any]:
    tree = network.scenario(
        f"UDP at {load:.0%} of the border, {vector}",
        seconds=WINDOWS_S[part - 1],
        udp_pps=_arrivals(vector, load),
        aqm=False,
        queue=1_000_000,
        **ACCESS[access],
    )
    return {**tree, "replications": REPLICATIONS}


SWEEP = Sweep(
    "{access}-{vector}-{load}-{part}",
    _loaded,
    {
        "access": tuple(ACCESS),
        "vector": tuple(VECTORS),
        "load": (LOAD, LIGHT_LOAD),
        "part": (1, 2),
    },
)

ADAPTIVE = SWEEP.at(access="acsma", load=LOAD)
LEGACY = SWEEP.at(access="lcsma", vector="even")


def _measure(runs: Runs) -> dict[str, Quantity]:
    values = {
        f"growth_acsma_{vector}": growth(*ADAPTIVE.at(vector=vector).runs(runs))
        for vector in VECTORS
    }
    return values | {
        "growth_lcsma": growth(*LEGACY.at(load=LOAD).runs(runs)),
        "growth_lcsma_light": growth(*LEGACY.at(load=LIGHT_LOAD).runs(runs)),
    }


STUDY = Study(
    key="acsma-capacity",
    title="Theorem 1: queues at 95 % of the capacity region's border",
    points=points_of(ADAPTIVE, LEGACY),
    measure=_measure,
)
