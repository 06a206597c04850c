"""Backoff counters with memory and without: the cell of figure 5, slot by slot, no engine.

The chain has p-persistent backoff, which has no memory of the time waited. After each busy period
every counter is drawn again, from a geometric distribution. The counter of 802.11 is drawn
uniformly from [0, CWmin], and a busy medium only freezes it. A station without a packet counts down
too after it has sent (post-backoff). This is the same cell with either, and nothing else: downloads
with immediate ACKs, equal windows that do not double at a collision, the access point's queue
randomly mixed.
"""

from dataclasses import dataclass
from functools import cache
from math import log
from random import Random

import numpy as np
from numpy.typing import NDArray

from lasthop.answers.digits import estimate
from lasthop.studies.edca.cell import STATIONS, WINDOW

SLOT_S, AIFS_S, EIFS_LEAD_S = 20e-6, 50e-6, 314e-6
"""Slot, AIFS, and what EIFS adds to it: SIFS and a MAC ACK at 1 Mb/s. [s]"""

DATA_S, ACK_S = 1310.545e-6, 248.727e-6
"""Frames of a segment and of a TCP ACK (table 2). [s]"""

MAC_ACK_S = 258e-6
"""SIFS and MAC ACK after each. [s]"""

BATCHES = 20
STUDENT = 2.093
"""Student's t of a 95 % interval with 19 degrees of freedom."""

AP = -1
"""The access point among nodes; stations are 0 to 6."""


@dataclass(frozen=True)
class Estimate:
    """A mean with the half width of its 95 % interval."""

    mean: float
    ci95: float

    def __str__(self) -> str:
        return estimate(self.mean, self.ci95)


@dataclass(frozen=True)
class Result:
    """Counts of a simulated cell.

    Attributes
    ----------
    active : Estimate
        Stations with a packet over time, as the chain counts them: none changes during an
        exchange. [stations]
    active_from_receipt : Estimate
        Stations with a packet over time, as the engine counts them: a station is active from the
        end of its segment on, while it still sends the MAC ACK. [stations]
    collisions : Estimate
        Collided attempts of stations over all of them. [-]
    """

    active: Estimate
    active_from_receipt: Estimate
    collisions: Estimate


def _drawn(cwmin: int, random: Random, memory: bool) -> int:
    """Return a counter, uniform or geometric, with the same mean. [slots]"""
    if memory:
        return random.randint(0, cwmin)
    return int(log(1.0 - random.random()) / log(1.0 - 1.0 / (cwmin / 2 + 1)))


@cache
def simulate(cwmin: int, *, memory: bool, successes: int = 40_000, seed: int = 1) -> Result:
    """Return active stations and collisions of the cell.

    Parameters
    ----------
    cwmin : int
        Window of the access point and of the stations. [slots]
    memory : bool
        Whether counters are those of 802.11, or p-persistent.
    successes : int
        Length of the simulation, in twenty batches, from which the intervals follow.
    seed : int
        Seed of all draws.
    """
    random = Random(seed)

    def draw() -> int:
        return _drawn(cwmin, random, memory)

    held = [0] * STATIONS
    counters = {AP: draw()}  # of nodes with packets
    idle: dict[int, int] = {}  # of stations without
    sums = np.zeros((BATCHES, 5))
    for number in range(successes):
        time, attempts, collided = 0.0, 0, 0
        while True:
            waited = min(counters.values())
            senders = [node for node, left in counters.items() if left == waited]
            time += AIFS_S + waited * SLOT_S
            idle = {node: left - waited for node, left in idle.items() if left > waited}
            stations = len(senders) - (AP in senders)
            attempts += stations
            again = set(senders) if memory else set(counters)
            counters = {n: draw() if n in again else left - waited for n, left in counters.items()}
            if len(senders) == 1:
                break
            collided += stations
            time += (DATA_S if AP in senders else ACK_S) + EIFS_LEAD_S
        [winner] = senders
        time += (DATA_S if winner == AP else ACK_S) + MAC_ACK_S
        active = sum(map(bool, held))
        early = 0.0
        if winner == AP:
            [to] = random.choices(range(STATIONS), [WINDOW - own for own in held])
            early = 0.0 if held[to] else MAC_ACK_S
            held[to] += 1
        else:
            held[winner] -= 1
        waiting = [node for node in range(STATIONS) if held[node]]
        waiting += [AP] if sum(held) < STATIONS * WINDOW else []
        if memory:
            known = idle | counters
            idle = {node: left for node, left in known.items() if node not in waiting}
        else:
            known = counters
        counters = {node: known[node] if node in known else draw() for node in waiting}
        sums[number * BATCHES // successes] += (
            active * time,
            active * time + early,
            time,
            collided,
            attempts,
        )
    before, from_receipt, over, lost, tried = sums.T
    return Result(_ratio(before, over), _ratio(from_receipt, over), _ratio(lost, tried))


def _ratio(part: NDArray[np.float64], total: NDArray[np.float64]) -> Estimate:
    value = part.sum() / total.sum()
    residual = part - value * total
    error = residual.std(ddof=1) / np.sqrt(BATCHES) / total.mean()
    return Estimate(float(value), float(STUDENT * error))
