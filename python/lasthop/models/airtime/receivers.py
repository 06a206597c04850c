r"""Durations of exchanges with a station, by the number of packets.

The frames are those of saturated cells (`aggregates.sending`). Here a PPDU may have any number of
packets, since a shared queue may hold few packets for a station.
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
        """Durations of the exchanges of one packet, of two packets, and so on, that open an access,
        including RTS. [ns]
        """
        return tuple(self.sending.until_answered_ns(ppdu, opens=True) for ppdu in self.ppdus)

    @cached_property
    def following_ns(self) -> tuple[int, ...]:
        """Durations of the exchanges that continue an opportunity, without the preceding SIFS.
        [ns]
        """
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
        Rate of datagrams of each greedy source after a wire with a rate, which serves the sources
        in turn. Infinite without a rate; the sources then keep the access point's queue full.
        [packets/s]
    """

    station: Station
    frames: Frames
    flows: Sequence[Flow]
    turns_pps: float = inf

    @property
    def sending(self) -> Sending:
        """Access point as the sender to this station."""
        return self.frames.sending

    @property
    def name(self) -> str:
        """Name of the station."""
        return self.station.name

    @property
    def is_greedy(self) -> bool:
        """Whether the sources of the station are greedy."""
        return any(
            isinstance(flow, UdpFlow) and flow.udp.arrivals == "greedy" for flow in self.flows
        )

    @cached_property
    def offered_pps(self) -> float:
        """Arrival rate of the station's packets; infinite if the queue is kept full. [packets/s]"""
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
        """Return the number of packets of the longest PPDU whose exchange fits; at least one packet
        if it opens an access.

        Parameters
        ----------
        left_ns : int or None
            Remaining time of an opportunity; None for no limit. [ns]
        opens : bool
            Whether the PPDU opens an access.
        """
        if left_ns is None:
            return len(self.frames.ppdus)
        fits = bisect_right(self.frames.opening_ns if opens else self.frames.following_ns, left_ns)
        return max(fits, 1) if opens else fits

    def exchange_s(self, packets: float) -> float:
        """Return the mean duration of an exchange with this mean number of packets. [s]"""
        return _between(self.frames.opening_ns, packets)

    def ppdu_s(self, packets: float) -> float:
        """Return the mean air time of a PPDU with this mean number of packets. [s]"""
        return _between(self.frames.ppdu_ns, packets)


def _between(times_ns: Sequence[int], packets: float) -> float:
    """Return the time of a mean number of packets, by linear interpolation between whole numbers.
    [s]
    """
    below = min(int(packets), max(len(times_ns) - 1, 1))
    lower, upper = times_ns[below - 1], times_ns[min(below, len(times_ns) - 1)]
    return 1e-9 * (lower + (packets - below) * (upper - lower))
