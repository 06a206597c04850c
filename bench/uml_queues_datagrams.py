"""Datagrams through RED and CoDel, for `uml_queues.py`: loads, and the engine.

A load is 1.1 times what the link carries. Through CoDel it comes at a constant rate: drops follow
the law, which `uml_queues_codel.py` works out. Through RED it comes at random: the average settles
where one in eleven is dropped. Two bursts of twice the rate, with a pause between them, show
whether the average falls while nothing comes.
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
"""When drops are counted that CoDel's law foretells: the queue is above its target until then."""


@dataclass(frozen=True)
class Load:
    """Datagrams and a queue."""

    name: str
    queue: Mapping[str, Any]
    is_random: bool
    """Whether gaps are exponential."""
    looks_s: tuple[float, ...]
    """When drops are counted; the last time is the end."""
    settled_s: float
    """Beginning of the averages."""
    overload: float = OVERLOAD
    pause_s: tuple[float, float] | None = None
    """When nothing is sent."""

    @property
    def packets_per_s(self) -> float:
        """How many come while they come."""
        return self.overload * PACKETS_PER_S

    def offered(self, until_s: float) -> float:
        """How many have come by then."""
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
        """The scenario."""
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
    """Drops until each look, part lost, and mean queue, the packet in service included."""
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
    """Return the queue length at which RED settles if this part of the load is lost, the packet in
    service included.

    Drops are uniform on 1 to 1/p packets apart in Linux, on 1 to 1/p - 1 in the engine. So the mean
    gap is (1 + 1/p) / 2, or 1 / (2 p), and p rises to 0.1 between the thresholds.
    """
    settings = RED["red"]
    probability = 1 / (2 / lost - is_linux)
    return float(
        settings["min_th"] + (settings["max_th"] - settings["min_th"]) * probability / MAX_P + 1
    )
