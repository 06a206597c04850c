"""Queues of a checked scenario as typed values, see `lasthop.scenario.typed`."""

from collections.abc import Mapping
from typing import Any, Literal

from lasthop.scenario.from_json import Table, named


class Queue(Table):
    """Queue of a node or a link, of any discipline whose settings are not used in Python."""

    discipline: str
    ecn: bool = False
    """Whether it marks packets that can be marked."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Queue]":
        """Return the class of a discipline."""
        return DISCIPLINES.get(tree["discipline"], Queue)


class Threshold(Queue):
    """Drop-tail at a threshold below the limit."""

    threshold_packets: int


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


class Proportional(Queue):
    """Drops in proportion to the queue."""

    slope: float
    """Drop probability of each packet in the queue. [1/packet]"""


class Codel(Queue):
    """CoDel."""

    target_s: float
    interval_s: float
    ce_threshold_s: float | None
    """Delay from which ECN-capable packets are marked."""


class FqCodel(Codel):
    """A CoDel queue for each flow, in turns."""

    queues: int
    quantum_bytes: int


class Pi(Queue):
    """A proportional-integral controller of the drop probability."""

    target_packets: int
    a: float
    b: float
    """Weights of the distance from the target at a step, and at the one before. [-]"""
    update_s: float


class Pie(Queue):
    """A proportional-integral controller of the drop probability by the queueing delay."""

    target_s: float
    update_s: float
    alpha_per_s: float
    beta_per_s: float
    """Weights of the distance from the target, and of its change. [1/s]"""
    max_burst_s: float


class Vbs(Queue):
    """Virtual buffer sharing."""

    limit_packets: int
    occupancy: float
    """Part of the limit that is kept filled. [-]"""
    share_of: Literal["queue", "service"]
    algorithm: Literal["corrected", "printed", "regulated", "partition"]
    tol_packets2: float
    """Squared distance from the target occupancy that counts as none. [packets²]"""
    update_s: float | None
    """Time between steps; None: the default of `algorithm`."""


class Mac80211(Queue):
    """The queues of a Linux access point: one for each station and category."""

    airtime_fairness: bool
    """Whether stations have the same air time; if not, they have a turn each."""
    aql: bool
    """Whether the device takes packets up to an estimated air time of each station."""


DISCIPLINES: Mapping[str, type[Queue]] = {
    "threshold": Threshold,
    "red": Red,
    "proportional": Proportional,
    "codel": Codel,
    "fq_codel": FqCodel,
    "pi": Pi,
    "pie": Pie,
    "vbs": Vbs,
    "mac80211": Mac80211,
}
"""Disciplines whose settings models or gateways use."""
