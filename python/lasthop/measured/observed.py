"""Measurements of a program: streams and queues, in the quantities of lasthop's results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lasthop.errors import UserError

__all__ = ["Measurement", "NothingMeasuredError", "Queue", "Stream"]


class NothingMeasuredError(UserError):
    """Error about a report that has nothing to compare, such as that of a failed run."""


@dataclass(frozen=True)
class Stream:
    """One stream of a measurement; None where the program does not report a value.

    Attributes
    ----------
    name : str
        Name of the stream in the program's output.
    direction : str
        ``"up"``: from the machine that measured; ``"down"``: to it.
    goodput_bps : float
        Goodput. [bit/s]
    rtt_s : float
        Mean round-trip time of the stream's segments. [s]
    loss_probability : float
        Retransmitted divided by sent segments, or lost divided by sent datagrams. [-]
    retransmissions : float
        Number of retransmitted segments.
    one_way_delay_s : float
        Mean one-way delay of the datagrams. [s]
    transport : str
        ``"tcp"`` or ``"udp"``.
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

    def quantities(self) -> dict[str, float]:
        """Return the values that are known, by the names of the registry."""
        known = {
            "goodput_bps": self.goodput_bps,
            "rtt_s": self.rtt_s,
            "loss_probability": self.loss_probability,
            "retransmissions": self.retransmissions,
            "one_way_delay_s": self.one_way_delay_s,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Queue:
    """The statistics of a qdisc during a measurement; None where they are not reported.

    Attributes
    ----------
    host : str
        Machine of the qdisc; empty for the machine that measured.
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
    """A report of a measuring program.

    Attributes
    ----------
    source : str
        The file, and the report's number if the file has several.
    program : str
        ``"flent"``, ``"iperf3"`` or ``"lasthop"``.
    streams : sequence of Stream
        Streams in the program's order; empty for a result of lasthop.
    notes : sequence of str
        Remarks for the user.
    summary : mapping
        Lists of a lasthop result, whose items already have names.
    queues : sequence of Queue
        Qdiscs whose statistics were read during the measurement.
    """

    source: str
    program: str
    streams: Sequence[Stream] = ()
    notes: Sequence[str] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    queues: Sequence[Queue] = ()
