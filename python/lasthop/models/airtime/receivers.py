r"""Durations of exchanges with a station, by the number of packets.

Module `aggregates.sending` forms the frames, as for saturated cells. In this model a PPDU may have
any number of packets, since a shared queue may contain few packets for a station.
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
    """PPDUs of a sender and exchanges with these PPDUs, by their number of packets.

    Attributes
    ----------
    sending : Sending
        The access point as the sender to one station, or to several equal stations.
    """

    sending: Sending

    @cached_property
    def ppdus(self) -> tuple[Mpdus, ...]:
        """PPDUs of one packet, of two packets, up to the longest PPDU."""
        return self.sending.ppdus()

    @cached_property
    def ppdu_ns(self) -> tuple[int, ...]:
        """Air times of `ppdus`. [ns]"""
        return tuple(self.sending.ppdu_ns(ppdu.psdu_bytes) for ppdu in self.ppdus)

    @cached_property
    def opening_ns(self) -> tuple[int, ...]:
        """Durations of the exchanges of one packet, of two packets, and so on, that begin a channel
        access, including RTS. [ns]
        """
        return tuple(self.sending.until_answered_ns(ppdu, opens=True) for ppdu in self.ppdus)

    @cached_property
    def following_ns(self) -> tuple[int, ...]:
        """Durations of the exchanges of one packet, of two packets, and so on, that continue a
        TXOP, excluding the preceding SIFS. [ns]
        """
        return tuple(self.sending.until_answered_ns(ppdu, opens=False) for ppdu in self.ppdus)


@dataclass(frozen=True)
class Receiver:
    """A station to which the access point sends datagrams of one size.

    Attributes
    ----------
    station : Station
    frames : Frames
        PPDUs and exchanges with the station; equal stations use the same object.
    flows : sequence of Flow
        The station's flows.
    turns_pps : float
        Datagram rate of each greedy source if the wire has a rate and serves the sources in turn.
        If the wire has no rate, the value is infinite, and the sources keep the access point's
        queue full. [packets/s]
    """

    station: Station
    frames: Frames
    flows: Sequence[Flow]
    turns_pps: float = inf

    @property
    def sending(self) -> Sending:
        """The access point as the sender to the station."""
        return self.frames.sending

    @property
    def name(self) -> str:
        """Name of the station."""
        return self.station.name

    @property
    def is_greedy(self) -> bool:
        """Whether at least one of the station's sources is greedy."""
        return any(
            isinstance(flow, UdpFlow) and flow.udp.arrivals == "greedy" for flow in self.flows
        )

    @cached_property
    def offered_pps(self) -> float:
        """Arrival rate of the station's packets; infinite if its sources keep the queue full.
        [packets/s]
        """
        if self.is_greedy:
            return len(self.flows) * self.turns_pps
        rates = (flow.udp.rate_bps for flow in self.flows if isinstance(flow, UdpFlow))
        return sum(rates) / (8 * self.sending.payload_bytes)

    @property
    def offered(self) -> float:
        """Offered load of the station, relative to other stations; greedy sources have equal
        loads.
        """
        return float(len(self.flows)) if self.is_greedy else self.offered_pps

    @property
    def loss(self) -> float:
        """Probability that an MPDU to the station is lost. [-]"""
        return self.station.error_down

    def most_packets(self, left_ns: int | None, *, opens: bool) -> int:
        """Return the number of packets in the longest PPDU whose exchange fits into the TXOP. A
        PPDU that begins a channel access has at least one packet.

        Parameters
        ----------
        left_ns : int or None
            Remaining time of the TXOP; None if there is no limit. [ns]
        opens : bool
            Whether the PPDU begins a channel access.
        """
        if left_ns is None:
            return len(self.frames.ppdus)
        fits = bisect_right(self.frames.opening_ns if opens else self.frames.following_ns, left_ns)
        return max(fits, 1) if opens else fits

    def exchange_s(self, packets: float) -> float:
        """Return the mean duration of an exchange with a mean number of packets. [s]"""
        return _between(self.frames.opening_ns, packets)

    def ppdu_s(self, packets: float) -> float:
        """Return the mean air time of a PPDU with a mean number of packets. [s]"""
        return _between(self.frames.ppdu_ns, packets)


def _between(times_ns: Sequence[int], packets: float) -> float:
    """Return the duration for a mean number of packets, which may be fractional. The duration is
    interpolated linearly between whole numbers of packets. [s]
    """
    below = min(int(packets), max(len(times_ns) - 1, 1))
    lower, upper = times_ns[below - 1], times_ns[min(below, len(times_ns) - 1)]
    return 1e-9 * (lower + (packets - below) * (upper - lower))
