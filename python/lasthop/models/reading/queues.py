"""Queues of nodes and links, as far as somebody asks for their settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lasthop.typed import named


@dataclass(frozen=True, kw_only=True)
class Queue:
    """Queue of a node or a link, of any discipline whose settings no model asks for."""

    discipline: str
    ecn: bool = False
    """Whether it marks packets that can be marked."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Queue]":
        """The class of a discipline."""
        return DISCIPLINES.get(tree["discipline"], Queue)


@dataclass(frozen=True, kw_only=True)
class Threshold(Queue):
    """Drop-tail at a threshold below the limit."""

    threshold_packets: int


@dataclass(frozen=True, kw_only=True)
class Red(Queue):
    """Random early detection."""

    form: Literal["ns-2", "published"]
    min_th_packets: float
    max_th_packets: float
    max_p: float
    weight: float | Literal["auto"]
    """Weight of an arrival in the average; 0: that of one second. [-]"""
    gentle: bool
    wait: bool
    counts_bytes: bool = named("bytes")
    mean_packet_bytes: int


@dataclass(frozen=True, kw_only=True)
class Proportional(Queue):
    """Drops in proportion to the queue."""

    slope: float
    """Drop probability of each packet in the queue. [1/packet]"""


@dataclass(frozen=True, kw_only=True)
class Vbs(Queue):
    """Virtual buffer sharing."""

    limit_packets: int
    occupancy: float
    """Part of the limit that is kept filled. [-]"""
    share_of: Literal["queue", "service"]
    algorithm: Literal["corrected", "printed", "regulated"]


DISCIPLINES: Mapping[str, type[Queue]] = {
    "threshold": Threshold,
    "red": Red,
    "proportional": Proportional,
    "vbs": Vbs,
}
"""Disciplines whose settings models ask for."""
