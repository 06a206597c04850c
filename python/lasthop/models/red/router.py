"""Conversion of the settings of a router's queue to parameters of the fluid model."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import expm1, inf
from typing import Any

from lasthop.models.errors import ModelError
from lasthop.scenario.queues import Pi, Proportional, Red, Threshold
from lasthop.scenario.typed import Link


@dataclass(frozen=True)
class QueueModel:
    """A queue discipline of the fluid model.

    Parameters
    ----------
    model : str
        ``"red"``, ``"red-instant"``, ``"pi"`` or ``"threshold"``.
    parameters : Mapping
        Parameters of the model that the queue sets.
    sees_service : bool
        Whether the queue length in the drop function includes the packet in service.
    """

    model: str
    parameters: Mapping[str, Any]
    sees_service: bool


def queue_model_of(link: Link, packet_bytes: int, ecn: bool) -> QueueModel:
    """Return the drop function of the queue in front of a link.

    Parameters
    ----------
    link : Link
        Link of the scenario.
    packet_bytes : int
        Length of the packets. [bytes]
    ecn : bool
        Whether the flows are ECN-capable.

    Raises
    ------
    ModelError
        If no fluid model supports this queue discipline or one of its settings.
    """
    queue, limit = link.queue, link.queue_packets
    if queue.discipline == "drop_tail":
        return QueueModel("threshold", {"q_th": float(limit)}, True)
    if isinstance(queue, Threshold):
        return QueueModel("threshold", {"q_th": float(min(limit, queue.threshold_packets))}, True)
    feedback = "ecn" if ecn and queue.ecn else "loss"
    if isinstance(queue, Proportional):
        parameters = {
            "min_th": 0.0,
            "max_th": 1.0 / queue.slope,
            "max_p": 1.0,
            "drop": "linear",
            "feedback": feedback,
            "buffer": float(limit),
        }
        return QueueModel("red-instant", parameters, True)
    if isinstance(queue, Pi):
        parameters = {
            "target": float(queue.target_packets),
            "a": queue.a,
            "b": queue.b,
            "update": queue.update_s,
            "feedback": feedback,
            "buffer": float(limit),
        }
        return QueueModel("pi", parameters, True)
    if not isinstance(queue, Red):
        raise ModelError(
            "section II-C",
            f"link {link.name} has {queue.discipline.replace('_', ' ')}; the model supports red, "
            "pi, proportional, threshold and drop-tail",
        )
    return red_queue_model(queue, link, packet_bytes, feedback)


def red_queue_model(queue: Red, link: Link, packet_bytes: int, feedback: str) -> QueueModel:
    """Return RED's drop function: its thresholds, drop probability, and the weight of an arrival in
    the average.
    """
    if queue.counts_bytes and queue.mean_packet_bytes != packet_bytes:
        raise ModelError(
            "section II-C",
            f"RED of link {link.name} counts bytes of a mean packet of "
            f"{queue.mean_packet_bytes} B, but packets have {packet_bytes} B",
        )
    # In ns-2, RED's average queue excludes the packet in service.
    waiting = queue.form == "ns-2"
    weight = weight_of(queue, link)
    parameters = {
        "min_th": queue.min_th_packets,
        "max_th": queue.max_th_packets,
        "max_p": dropped(queue.max_p, wait=queue.wait),
        "drop": "gentle" if queue.gentle else "strict",
        "feedback": feedback,
        "buffer": float(link.queue_packets) - waiting,
    }
    if weight >= 1.0:
        return QueueModel("red-instant", parameters, not waiting)
    return QueueModel("red", {**parameters, "queue_weight": weight}, not waiting)


def dropped(base: float, *, wait: bool) -> float:
    r"""Return the fraction of packets that RED drops if its drop function has the value p_b. [-]

    .. math:: \frac{2 p_b}{3 - p_b} \text{ with wait}, \qquad \frac{2 p_b}{1 + p_b} \text{ without}

    Parameters
    ----------
    base : float
        Value of RED's drop function of the average queue, :math:`p_b`. [-]
    wait : bool
        Whether RED waits between drops. If true, the distance between two drops is :math:`1/p_b` to
        :math:`2/p_b` packets (ns-2). If false, the distance is 1 to :math:`1/p_b` packets (Floyd &
        Jacobson 1993, section VII). The formulas use the mean of these distances.
    """
    return 2.0 * base / (3.0 - base) if wait else 2.0 * base / (1.0 + base)


def weight_of(queue: Red, link: Link) -> float:
    """Return the weight w_q of one arriving packet in RED's average queue. [-]

    Automatic weights are computed by the rule of ns-2, for packets of the mean length in RED's
    settings.
    """
    setting = queue.weight
    if not isinstance(setting, str) and setting > 0.0:
        return float(setting)
    rate = (link.rate_bps or inf) / (8.0 * queue.mean_packet_bytes)
    if setting == "auto":
        return -expm1(-1.0 / (10.0 * max(3.0 * (link.delay_s + 1.0 / rate), 0.1) * rate))
    return -expm1(-1.0 / rate)
