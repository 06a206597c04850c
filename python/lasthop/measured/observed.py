"""What a measuring program saw: its streams in the quantities of results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Measurement", "Stream"]


@dataclass(frozen=True)
class Stream:
    """One stream of a measurement; None where the program does not tell.

    Attributes
    ----------
    name : str
        As the program calls it.
    direction : str
        ``"up"``: from the machine that measured; ``"down"``: to it.
    goodput_bps : float
        Goodput. [bit/s]
    rtt_s : float
        Mean round trip of its own segments. [s]
    loss_probability : float
        Segments sent again, or datagrams lost, over those sent. [-]
    retransmissions : float
        Segments sent again.
    """

    name: str
    direction: str
    goodput_bps: float | None = None
    rtt_s: float | None = None
    loss_probability: float | None = None
    retransmissions: float | None = None

    def quantities(self) -> dict[str, float]:
        """What is known of it, by the names of the registry."""
        known = {
            "goodput_bps": self.goodput_bps,
            "rtt_s": self.rtt_s,
            "loss_probability": self.loss_probability,
            "retransmissions": self.retransmissions,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Measurement:
    """A file of a measuring program.

    Attributes
    ----------
    source : str
        The file.
    program : str
        ``"flent"``, ``"iperf3"`` or ``"lasthop"``.
    streams : sequence of Stream
        In the program's order; empty for a result of lasthop.
    notes : sequence of str
        What must be known of it.
    summary : mapping
        Lists of a result of lasthop, whose items have names already.
    """

    source: str
    program: str
    streams: Sequence[Stream] = ()
    notes: Sequence[str] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
