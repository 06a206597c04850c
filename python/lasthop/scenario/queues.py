"""Queues of a checked scenario as typed values, see `lasthop.scenario.typed`."""

from collections.abc import Mapping
from typing import Any, Literal

from lasthop.scenario.from_json import Table, named


class Queue(Table):
    """Queue of a node or a link, of any discipline whose settings are not used in Python."""

    discipline: str
    ecn: bool = False
    """Whether the queue marks ECN-capable packets."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Queue]":
        """Return the class of a discipline."""
        return DISCIPLINES.get(tree["discipline"], Queue)


class Threshold(Queue):
    """Drop-tail queue with a threshold below the limit."""

    threshold_packets: int


class Red(Queue):
    """Random early detection."""

    form: Literal["ns-2", "published"]
    min_th_packets: float
    max_th_packets: float
    max_p: float
    weight: float | Literal["auto"]
    """Weight of an arrival in the average; 0 selects the weight for an average over one second.
    [-]
    """
    gentle: bool
    wait: bool
    counts_bytes: bool = named("bytes")
    mean_packet_bytes: int


class Proportional(Queue):
    """Queue whose drop probability is proportional to its length."""

    slope: float
    """Drop probability of each packet in the queue. [1/packet]"""


class Codel(Queue):
    """CoDel."""

    target_s: float
    interval_s: float
    ce_threshold_s: float | None
    """Delay from which ECN-capable packets are marked."""


class FqCodel(Codel):
    """FQ-CoDel: one CoDel queue per flow, served in turns."""

    queues: int
    quantum_bytes: int


class Pi(Queue):
    """A proportional-integral controller of the drop probability."""

    target_packets: int
    a: float
    b: float
    """Gains `a` and `b`: weights of the distance from the target at a step, and at the step before.
    [-]
    """
    update_s: float


class Pie(Queue):
    """A proportional-integral controller of the drop probability by the queueing delay."""

    target_s: float
    update_s: float
    alpha_per_s: float
    beta_per_s: float
    """Gains alpha and beta: weights of the distance from the target, and of its change. [1/s]"""
    max_burst_s: float


class Vbs(Queue):
    """Virtual buffer sharing."""

    limit_packets: int
    occupancy: float
    """Target occupancy as a fraction of the limit. [-]"""
    share_of: Literal["queue", "service"]
    algorithm: Literal["corrected", "printed", "regulated", "partition"]
    tol_packets2: float
    """Squared distance from the target occupancy below which the target counts as reached.
    [packets²]
    """
    update_s: float | None
    """Time between steps; None for the default of `algorithm`."""


class Mac80211(Queue):
    """Queues of a Linux access point: one queue per station and access category."""

    airtime_fairness: bool
    """Whether stations get equal air time; if not, they send in turns."""
    aql: bool
    """Whether the device accepts packets only up to an estimated air time per station."""


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
"""Classes of the disciplines whose settings models or gateways use."""
