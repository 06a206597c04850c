"""Datagrams through RED and CoDel, for `uml_queues.py`: the loads, and their runs in the engine.

The load is 1.1 times the capacity of the link. Through CoDel the datagrams have a constant rate,
and the drops can be predicted by the algorithm in `uml_queues_codel.py`. Through RED they have
random gaps, and the average queue length converges to the value at which one packet in eleven is
dropped. Two bursts of twice the capacity, with a pause between them, show whether the average queue
length decreases while no packets arrive.
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
"""Drop probability of RED at an average queue length just below the upper threshold. [-]"""
LOOKS_S = (0.5, 1.0, 2.0, 3.0)
"""Times until which the drops of CoDel are counted and compared with its algorithm. During all of
this time the queueing delay is above the target. [s]"""


@dataclass(frozen=True)
class Load:
    """A load of datagrams, with the queue that the datagrams pass."""

    name: str
    queue: Mapping[str, Any]
    is_random: bool
    """Whether the gaps between datagrams are exponentially distributed. Otherwise they are
    equal."""
    looks_s: tuple[float, ...]
    """Times until which drops are counted. The last time is the end of the run. [s]"""
    settled_s: float
    """Start of the interval over which averages are taken. [s]"""
    overload: float = OVERLOAD
    pause_s: tuple[float, float] | None = None
    """Interval in which no datagrams are sent; None without a pause. [s]"""

    @property
    def packets_per_s(self) -> float:
        """Rate of the datagrams outside the pause. [packets/s]"""
        return self.overload * PACKETS_PER_S

    def offered(self, until_s: float) -> float:
        """Return the number of datagrams that are sent until a time."""
        begins_s, ends_s = self.pause_s or (until_s, until_s)
        return self.packets_per_s * (min(until_s, begins_s) + max(0.0, until_s - ends_s))

    def key(self, way: str, seed: int) -> str:
        """Return the key under which a run with this load is stored."""
        return f"datagrams, {self.name}, {way}, seed {seed}"

    def task(self, seed: int) -> dict[str, Any]:
        """Return the argument TASK of `uml_queues_inside.py` that describes the datagrams."""
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
        """Return the scenario of this load in the engine."""
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
    """Run the load through the engine's queue. Return the number of drops until each of the times
    `looks_s`, the fraction lost, and the mean queue length, including the packet in service."""
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
    """Simulate, and return the quantities of the queue."""
    [lists] = by_replication(lh.simulate(tree, seed=seed, replications=1), ("queues",))
    return lists["queues"]["bottleneck"]


# -- computation by hand ------------------------------------------------------------------------


def red_mean_packets(lost: float, *, is_linux: bool) -> float:
    """Return the mean queue length, including the packet in service, at which RED drops the
    fraction `lost` of the load.

    p is the drop probability, which increases to 0.1 between the thresholds. The number of packets
    from one drop to the next is uniform from 1 to 1/p in Linux, and from 1 to 1/p - 1 in the
    engine. Its mean is therefore (1 + 1/p) / 2 in Linux, and 1 / (2 p) in the engine.
    """
    settings = RED["red"]
    probability = 1 / (2 / lost - is_linux)
    return float(
        settings["min_th"] + (settings["max_th"] - settings["min_th"]) * probability / MAX_P + 1
    )
