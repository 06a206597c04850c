"""A slotted simulation of figure 5's cell with two kinds of backoff counters, without the engine.

The Markov chain of the paper has p-persistent backoff, which has no memory of the time that a node
has already waited. After each busy period all counters are drawn again from a geometric
distribution. In 802.11 the counter is drawn uniformly from [0, CWmin], and a busy medium freezes
the counter. After sending, a station without a packet also counts down (post-backoff). This module
simulates the same cell with either kind of counter. The traffic is downloads with immediate ACKs.
All nodes have the same contention window, which does not double at a collision. The access point
sends its queued packets in random order.
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
"""Durations of a slot, of AIFS, and of the part by which EIFS exceeds AIFS. This part is SIFS and a
MAC ACK at 1 Mb/s. [s]
"""

DATA_S, ACK_S = 1310.545e-6, 248.727e-6
"""Durations of the frame of a segment and of the frame of a TCP ACK (table 2). [s]"""

MAC_ACK_S = 258e-6
"""Duration of SIFS and MAC ACK after a frame. [s]"""

BATCHES = 20
STUDENT = 2.093
"""Student's t of a 95 % interval with 19 degrees of freedom."""

AP = -1
"""Index of the access point; the indices of stations are 0 to 6."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % confidence interval."""

    mean: float
    ci95: float

    def __str__(self) -> str:
        return estimate(self.mean, self.ci95)


@dataclass(frozen=True)
class Result:
    """Mean values of a simulated cell.

    Attributes
    ----------
    active : Estimate
        Time average of the number of stations with a packet, as in the Markov chain of the paper:
        the number does not change during an exchange. [stations]
    active_from_receipt : Estimate
        Time average of the number of stations with a packet, as in the simulator of lasthop: a
        station is active as soon as it has received a segment, while it still sends the MAC ACK.
        [stations]
    collisions : Estimate
        Fraction of the stations' attempts that collide. [-]
    """

    active: Estimate
    active_from_receipt: Estimate
    collisions: Estimate


def _drawn(cwmin: int, random: Random, memory: bool) -> int:
    """Return a random backoff counter, uniform or geometric with the same mean. [slots]"""
    if memory:
        return random.randint(0, cwmin)
    return int(log(1.0 - random.random()) / log(1.0 - 1.0 / (cwmin / 2 + 1)))


@cache
def simulate(cwmin: int, *, memory: bool, successes: int = 40_000, seed: int = 1) -> Result:
    """Simulate the cell, and return its active stations and collisions.

    Parameters
    ----------
    cwmin : int
        CWmin of the access point and of the stations. [slots]
    memory : bool
        Whether backoff counters follow 802.11. If not, they are p-persistent.
    successes : int
        Number of successful exchanges. Confidence intervals are computed from twenty batches.
    seed : int
        Seed of the random numbers.
    """
    random = Random(seed)

    def draw() -> int:
        return _drawn(cwmin, random, memory)

    held = [0] * STATIONS
    counters = {AP: draw()}
    idle: dict[int, int] = {}  # Backoff counters of stations without packets.
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
