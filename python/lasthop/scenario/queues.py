"""Typed values of queues in a checked scenario, see `lasthop.scenario.typed`."""

from collections.abc import Mapping
from typing import Any, Literal

from lasthop.scenario.from_json import Table, named


class Queue(Table):
    """Queue of a node or a link. This class is used for disciplines whose settings Python does not
    need.
    """

    discipline: str
    ecn: bool = False
    """Whether the queue marks ECN-capable packets instead of dropping them."""

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Queue]":
        """Return the class for the discipline of a queue."""
        return DISCIPLINES.get(tree["discipline"], Queue)


class Threshold(Queue):
    """Drop-tail queue with a threshold below its limit. It drops arriving packets if its length has
    reached the threshold.
    """

    threshold_packets: int


class Red(Queue):
    """Settings of random early detection (RED)."""

    form: Literal["ns-2", "published"]
    min_th_packets: float
    max_th_packets: float
    max_p: float
    weight: float | Literal["auto"]
    """Weight of an arrival in the average queue length. 0 selects the weight of an average over one
    second. [-]
    """
    gentle: bool
    wait: bool
    counts_bytes: bool = named("bytes")
    mean_packet_bytes: int


class Proportional(Queue):
    """Queue whose drop probability is proportional to the queue length."""

    slope: float
    """Increase of the drop probability per packet in the queue. [1/packet]"""


class Codel(Queue):
    """Settings of CoDel."""

    target_s: float
    interval_s: float
    ce_threshold_s: float | None
    """Queueing delay above which ECN-capable packets are marked; None if there is no such limit.
    [s]
    """


class FqCodel(Codel):
    """Settings of FQ-CoDel: one CoDel queue per flow, served in turns."""

    queues: int
    quantum_bytes: int


class Cake(Queue):
    """Settings of CAKE: a shaper, tins for classes of traffic, and fair queueing among hosts and
    flows.
    """

    bandwidth_bps: float | None
    """Rate of the shaper; None if only the link limits the rate. [bit/s]"""
    rtt_s: float
    """Round-trip time of the flows, which is the interval of CoDel. [s]"""
    isolation: str
    nat: bool
    diffserv: str
    ack_filter: Literal["off", "conservative", "aggressive"]
    overhead_bytes: int
    """Number of bytes that the line adds to an IP packet."""
    mpu_bytes: int
    link_layer: Literal["none", "atm", "ptm"]
    memory_limit_bytes: int | None
    ingress: bool


class Pi(Queue):
    """Settings of PI: a proportional-integral controller of the drop probability by queue
    length.
    """

    target_packets: int
    a: float
    """Weight of the difference between the queue and its target at the present step. [1/packet]"""
    b: float
    """Weight of the difference between the queue and its target at the previous step; this term is
    subtracted. [1/packet]
    """
    update_s: float


class Pie(Queue):
    """Settings of PIE: a proportional-integral controller of the drop probability by queueing
    delay.
    """

    target_s: float
    update_s: float
    alpha_per_s: float
    """Weight of the difference between the queueing delay and its target. [1/s]"""
    beta_per_s: float
    """Weight of the change of the queueing delay since the previous step. [1/s]"""
    max_burst_s: float


class Vbs(Queue):
    """Settings of virtual buffer sharing (VBS)."""

    limit_packets: int
    occupancy: float
    """Target occupancy of the queue, as a fraction of its limit. [-]"""
    share_of: Literal["queue", "service"]
    algorithm: Literal["corrected", "printed", "regulated", "partition"]
    tol_packets2: float
    """Limit of the squared distance from the target occupancy. Below the limit, the occupancy
    counts as settled. [packets²]
    """
    update_s: float | None
    """Interval between two updates; None for the default of `algorithm`. [s]"""


class Mac80211(Queue):
    """Settings of a Linux access point's queues: one queue per station and access category."""

    airtime_fairness: bool
    """Whether stations get equal air time; if False, they are served in turns."""
    aql: bool
    """Whether the driver limits the estimated air time of queued packets per station (AQL)."""


DISCIPLINES: Mapping[str, type[Queue]] = {
    "threshold": Threshold,
    "red": Red,
    "proportional": Proportional,
    "codel": Codel,
    "fq_codel": FqCodel,
    "cake": Cake,
    "pi": Pi,
    "pie": Pie,
    "vbs": Vbs,
    "mac80211": Mac80211,
}
"""Classes of queue disciplines whose settings models or gateways use, by name."""
