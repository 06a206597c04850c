r"""Durations of exchanges with a station, by their number of packets.

The frames are those of saturated cells (`aggregates.sending`); here a PPDU may have any number of
packets, since a queue that others share may hold few for a station.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from lasthop.models.aggregates.sending import Mpdus, Sending
from lasthop.scenario.typed import Flow, Station, UdpFlow


@dataclass(frozen=True)
class Frames:
    """PPDUs of a sender, and exchanges with them, by the packets that they hold.

    Attributes
    ----------
    sending : Sending
        The access point as the sender to a station, or to several that are alike.
    """

    sending: Sending

    @cached_property
    def ppdus(self) -> tuple[Mpdus, ...]:
        """PPDUs of one packet, of two, up to the longest."""
        return self.sending.ppdus()

    @cached_property
    def ppdu_ns(self) -> tuple[int, ...]:
        """Air times of those PPDUs. [ns]"""
        return tuple(self.sending.ppdu_ns(ppdu.psdu_bytes) for ppdu in self.ppdus)

    @cached_property
    def opening_ns(self) -> tuple[int, ...]:
        """Exchanges of one packet, of two, and so on, that open an access; RTS included. [ns]"""
        return tuple(self.sending.until_answered_ns(ppdu, opens=True) for ppdu in self.ppdus)

    @cached_property
    def following_ns(self) -> tuple[int, ...]:
        """Durations of the exchanges that continue an opportunity, without the SIFS before. [ns]"""
        return tuple(self.sending.until_answered_ns(ppdu, opens=False) for ppdu in self.ppdus)


@dataclass(frozen=True)
class Receiver:
    """A station to which the access point sends datagrams of one size.

    Attributes
    ----------
    station : Station
    frames : Frames
        Frames to this station, and to equal stations.
    flows : sequence of Flow
        The station's flows.
    turns_pps : float
        Datagrams of each greedy source that the wire carries, which takes them in turn; infinite
        without a rate, where sources keep the access point's queue full. [packets/s]
    """

    station: Station
    frames: Frames
    flows: Sequence[Flow]
    turns_pps: float = inf

    @property
    def sending(self) -> Sending:
        """The access point as its sender."""
        return self.frames.sending

    @property
    def name(self) -> str:
        """The station's name."""
        return self.station.name

    @property
    def is_greedy(self) -> bool:
        """Whether its sources are greedy."""
        return any(
            isinstance(flow, UdpFlow) and flow.udp.arrivals == "greedy" for flow in self.flows
        )

    @cached_property
    def offered_pps(self) -> float:
        """Rate at which its packets come, infinite if the queue is kept full. [packets/s]"""
        if self.is_greedy:
            return len(self.flows) * self.turns_pps
        rates = (flow.udp.rate_bps for flow in self.flows if isinstance(flow, UdpFlow))
        return sum(rates) / (8 * self.sending.payload_bytes)

    @property
    def offered(self) -> float:
        """Offered load of the station, relative to others; greedy sources have equal turns."""
        return float(len(self.flows)) if self.is_greedy else self.offered_pps

    @property
    def loss(self) -> float:
        """Probability that an MPDU to it is lost. [-]"""
        return self.station.error_down

    def most_packets(self, left_ns: int | None, *, opens: bool) -> int:
        """Return packets of the longest PPDU whose exchange fits; at least one where it opens an
        access.

        Parameters
        ----------
        left_ns : int or None
            Remaining time of an opportunity; None for no limit. [ns]
        opens : bool
            Whether it opens an access.
        """
        if left_ns is None:
            return len(self.frames.ppdus)
        fits = bisect_right(self.frames.opening_ns if opens else self.frames.following_ns, left_ns)
        return max(fits, 1) if opens else fits

    def exchange_s(self, packets: float) -> float:
        """Return the mean time of an exchange, by the mean of its packets. [s]"""
        return _between(self.frames.opening_ns, packets)

    def ppdu_s(self, packets: float) -> float:
        """Return the mean air time of a PPDU, by the mean of its packets. [s]"""
        return _between(self.frames.ppdu_ns, packets)


def _between(times_ns: Sequence[int], packets: float) -> float:
    """Return the time of a mean number of packets: that of whole ones, and between them linear.
    [s]
    """
    below = min(int(packets), max(len(times_ns) - 1, 1))
    lower, upper = times_ns[below - 1], times_ns[min(below, len(times_ns) - 1)]
    return 1e-9 * (lower + (packets - below) * (upper - lower))
