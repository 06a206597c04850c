"""Measurements of a program: streams and queues, in the quantities of lasthop's results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lasthop.errors import UserError

__all__ = ["Measurement", "NothingMeasuredError", "Queue", "Stream"]


class NothingMeasuredError(UserError):
    """Error about a report without any value to compare, such as the report of a failed run."""


@dataclass(frozen=True)
class Stream:
    """One stream of a measurement; None for a value that the program does not report.

    Attributes
    ----------
    name : str
        Name of the stream in the program's output.
    direction : str
        ``"up"`` if the machine that measured is the sender, ``"down"`` if it is the receiver.
    goodput_bps : float
        Goodput. [bit/s]
    rtt_s : float
        Mean round-trip time of the stream's segments, or of pings. [s]
    rtt_p50_s, rtt_p95_s, rtt_p99_s : float
        Median and other percentiles of the round-trip times of pings. [s]
    loss_probability : float
        Retransmitted segments divided by sent segments, or lost datagrams divided by sent
        datagrams, or requests without a reply divided by all requests. [-]
    retransmissions : float
        Number of retransmitted segments.
    one_way_delay_s : float
        Mean one-way delay of the datagrams. [s]
    transport : str
        ``"tcp"``, ``"udp"`` or ``"ping"``.
    category : str
        Access category of the packets; empty if the name does not contain one.
    """

    name: str
    direction: str
    goodput_bps: float | None = None
    rtt_s: float | None = None
    loss_probability: float | None = None
    retransmissions: float | None = None
    one_way_delay_s: float | None = None
    transport: str = "tcp"
    category: str = ""
    rtt_p50_s: float | None = None
    rtt_p95_s: float | None = None
    rtt_p99_s: float | None = None

    def quantities(self) -> dict[str, float]:
        """Return the values that the program reported, by the names of quantities in the
        registry."""
        known = {
            "goodput_bps": self.goodput_bps,
            "rtt_s": self.rtt_s,
            "rtt_p50_s": self.rtt_p50_s,
            "rtt_p95_s": self.rtt_p95_s,
            "rtt_p99_s": self.rtt_p99_s,
            "loss_probability": self.loss_probability,
            "retransmissions": self.retransmissions,
            "one_way_delay_s": self.one_way_delay_s,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Queue:
    """Statistics of a qdisc during a measurement; None for a value that was not reported.

    Attributes
    ----------
    host : str
        Host name of the machine with the qdisc; empty for the machine that measured.
    sojourn_s : float
        Mean delay of the queue. [s]
    packets : float
        Mean backlog. [packets]
    drop_probability : float
        Number of dropped packets divided by the number of packets dropped or sent. [-]
    """

    host: str
    sojourn_s: float | None = None
    packets: float | None = None
    drop_probability: float | None = None


@dataclass(frozen=True)
class Measurement:
    """One report of a measuring program.

    Attributes
    ----------
    source : str
        Path of the file, and number of the report if the file contains several.
    program : str
        ``"flent"``, ``"iperf3"``, ``"ping"``, ``"irtt"`` or ``"lasthop"``.
    streams : sequence of Stream
        Streams in the order of the report; empty for a result of lasthop.
    notes : sequence of str
        Remarks for the user.
    summary : mapping
        Lists of a lasthop result, whose items are matched by name.
    queues : sequence of Queue
        Statistics of qdiscs during the measurement.
    """

    source: str
    program: str
    streams: Sequence[Stream] = ()
    notes: Sequence[str] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    queues: Sequence[Queue] = ()
