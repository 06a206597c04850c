"""Theorem 1: queues under arrivals just inside the capacity region of topology a."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS
from lasthop.studies.study import Quantity, Run, Runs, Study, along
from lasthop.studies.sweep import Sweep

LOAD = 0.95
SCHEDULE = {1: 0.6, 2: 0.4, 3: 0.3, 4: 0.3}
"""Air time of each link on the border: 2 alone 0.4 of the time, 1 with 3 or 4 0.3 each. [-]"""

WINDOWS_S = ((2000.0, 3000.0), (4000.0, 5000.0))
"""Times whose mean queues are compared. [s]"""

ACCESS: Mapping[str, Mapping[str, Any]] = {
    "acsma": {"access": "adaptive", "service_rate": network.THEORY_PPS},
    "lcsma": {"access": "legacy", "service_rate": network.THEORY_PPS},
}
"""Settings of `csma` for both kinds of access, with backoffs as (3.3) and (4.1) have them."""


def _arrivals() -> dict[str, float]:
    return {f"user-{link}": LOAD * part * network.THEORY_PPS for link, part in SCHEDULE.items()}


def growth(early: Run, late: Run) -> Quantity:
    """Return the growth of the queue that grows fastest. [packets/s]"""
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


SWEEP = Sweep(
    "{access}-{part}",
    lambda access, part: network.scenario(
        f"UDP at {LOAD:.0%} of the border",
        seconds=WINDOWS_S[part - 1],
        udp_pps=_arrivals(),
        aqm=False,
        queue=1_000_000,
        **ACCESS[access],
    ),
    {"access": tuple(ACCESS), "part": (1, 2)},
)


def _measure(runs: Runs) -> dict[str, Quantity]:
    return {f"growth_{access}": growth(*SWEEP.at(access=access).runs(runs)) for access in ACCESS}


STUDY = Study(
    key="acsma-capacity",
    title="Theorem 1: 95 % of the capacity region's border",
    points=SWEEP.points(),
    measure=_measure,
)
