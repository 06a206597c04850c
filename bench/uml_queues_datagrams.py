"""Datagrams through RED and CoDel, for `uml_queues.py`: loads, and the engine.

The load is 1.1 times the capacity of the link. Through CoDel it has a constant rate, and the drops
follow the algorithm in `uml_queues_codel.py`. Through RED it has random gaps, and the average
settles where one packet in eleven is dropped. Two bursts of twice the rate, with a pause between
them, show whether the average falls while no packets arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs import by_replication

import lasthop as lh

RATE_BPS = 10_000_000
PACKET_BYTES, HEADER_BYTES = 1500, 28
PACKETS_PER_S = RATE_BPS / (8 * PACKET_BYTES)
OVERLOAD = 1.1
MAX_P = 0.1
"""Drop probability of RED just below its upper threshold. [-]"""
LOOKS_S = (0.5, 1.0, 2.0, 3.0)
"""Times at which drops are counted that CoDel's algorithm predicts. Until then the queue is above
its target. [s]"""


@dataclass(frozen=True)
class Load:
    """Load of datagrams, and the queue that it passes."""

    name: str
    queue: Mapping[str, Any]
    is_random: bool
    """Whether gaps are exponential."""
    looks_s: tuple[float, ...]
    """Times at which drops are counted. The last one is the end. [s]"""
    settled_s: float
    """Start of the averages. [s]"""
    overload: float = OVERLOAD
    pause_s: tuple[float, float] | None = None
    """Interval in which nothing is sent. [s]"""

    @property
    def packets_per_s(self) -> float:
        """Rate of the datagrams outside the pause."""
        return self.overload * PACKETS_PER_S

    def offered(self, until_s: float) -> float:
        """Return the number of datagrams sent until a time."""
        begins_s, ends_s = self.pause_s or (until_s, until_s)
        return self.packets_per_s * (min(until_s, begins_s) + max(0.0, until_s - ends_s))

    def key(self, way: str, seed: int) -> str:
        """Return the key of a run."""
        return f"datagrams, {self.name}, {way}, seed {seed}"

    def task(self, seed: int) -> dict[str, Any]:
        """Return the task for `uml_queues_inside.py`."""
        return {
            "payload_bytes": PACKET_BYTES - HEADER_BYTES,
            "packets_per_s": self.packets_per_s,
            "pause_s": self.pause_s,
            "is_random": self.is_random,
            "seed": seed,
            "looks_s": self.looks_s,
            "settled_s": self.settled_s,
        }

    def tree(self, length_s: float, warmup_s: float) -> dict[str, Any]:
        """Return the scenario."""
        udp = {
            "rate": f"{8 * (PACKET_BYTES - HEADER_BYTES) * self.packets_per_s} bps",
            "arrivals": "poisson" if self.is_random else "constant",
            "packet": f"{PACKET_BYTES - HEADER_BYTES} B",
            "header": f"{HEADER_BYTES} B",
        }
        ends = {"from": "left", "to": "right"}
        flow = {**ends, "rtt": "10 ms", "start_spread": "0 s", "udp": udp}
        begins_s, ends_s = self.pause_s or (length_s, length_s)
        flows = {"first": {**flow, "stop": f"{min(begins_s, length_s)} s"}}
        if ends_s < length_s:
            flows["second"] = {**flow, "start": f"{ends_s} s"}
        return {
            "duration": f"{length_s} s",
            "warmup": f"{warmup_s} s",
            "link": {"bottleneck": {**ends, "rate": f"{RATE_BPS} bps", "queue": self.queue}},
            "flow": flows,
        }


RED: Mapping[str, Any] = {
    "limit": 150,
    "red": {
        "min_th": 50,
        "max_th": 100,
        "max_p": MAX_P,
        "weight": 2.0**-9,
        "gentle": False,
        "wait": False,
        "mean_packet": f"{PACKET_BYTES} B",
    },
}
LOADS = (
    Load("CoDel", {"limit": 1000, "codel": {}}, False, (*LOOKS_S, 20.0), 5.0),
    Load("RED", RED, True, (20.0, 60.0), 10.0),
    Load("RED, two bursts", RED, False, (1.0, 6.0, 6.15), 6.0, 2.0, (1.0, 6.0)),
)


def by_engine(load: Load, seed: int) -> dict[str, Any]:
    """Return drops at each of the given times, the fraction lost, and the mean queue, including the
    packet in service."""
    drops = []
    for look_s in load.looks_s:
        lost = queue_of(load.tree(look_s, 0.0), seed)["drop_probability"]
        drops.append(round(lost * load.offered(look_s), 1))
    settled = queue_of(load.tree(load.looks_s[-1], load.settled_s), seed)
    return {
        "drops": drops,
        "lost": settled["drop_probability"],
        "queue_packets": settled["occupancy_packets"],
    }


def queue_of(tree: Mapping[str, Any], seed: int) -> Mapping[str, float]:
    """Quantities of the queue in a simulation."""
    [lists] = by_replication(lh.simulate(tree, seed=seed, replications=1), ("queues",))
    return lists["queues"]["bottleneck"]


# -- by hand ------------------------------------------------------------------------------------


def red_mean_packets(lost: float, *, is_linux: bool) -> float:
    """Return the queue length at which RED settles if this fraction of the load is lost, including
    the packet in service.

    Gaps between drops are uniform from 1 to 1/p packets in Linux, and from 1 to 1/p - 1 packets in
    the engine. The mean gap is therefore (1 + 1/p) / 2, or 1 / (2 p). Between the thresholds p
    rises to 0.1.
    """
    settings = RED["red"]
    probability = 1 / (2 / lost - is_linux)
    return float(
        settings["min_th"] + (settings["max_th"] - settings["min_th"]) * probability / MAX_P + 1
    )
