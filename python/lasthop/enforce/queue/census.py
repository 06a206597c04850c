"""Find the long-lived flows that leave through an interface, and their round-trip times, from
captured packets.

Packets are captured after the queue, with time stamps of the kernel. Round-trip times therefore
exclude the queueing delay. The smallest round-trip time of each flow is used, since the receiver
and other queues of the path delay some segments.
"""

import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from statistics import median
from typing import NamedTuple

from lasthop.enforce.queue.config import LinkQueue
from lasthop.errors import UserError
from lasthop.linux.overhearing import HEADERS_BYTES, OUTGOING, REFUSE, of_tcp, placed
from lasthop.linux.packets import MAX_AT_ONCE, packet_socket
from lasthop.linux.ping import SO_TIMESTAMPNS, arrival_s
from lasthop.linux.segments import Flow, RoundTripProbe, Segment, parsed

FULL_BYTES = 1000
"""Smallest payload with which a segment counts as a full segment. Full segments show that the flow
has more data to send. [bytes]"""
MAX_FLOWS = 4096
"""Largest number of flows that are observed. Further flows are ignored."""
BUFFER_BYTES = 8 << 20
SHOWN_S = 0.25
"""Time between two reports of the progress. [s]"""
EVERY_SEGMENT = (
    *placed(of_tcp(IPv4Address(0))),
    *placed(of_tcp(IPv6Address(0))),
    REFUSE,
)


class FlowCounts(NamedTuple):
    """Flows that were observed at an interface."""

    over_s: float
    """Duration of the observation. [s]"""
    rtts_s: tuple[float, ...]
    """Smallest round-trip time of each long-lived flow, in ascending order. Flows without a
    measured round-trip time are left out. [s]"""
    flows: int
    """Number of long-lived flows."""
    others: int
    """Number of other flows with data, which are not long-lived."""

    @property
    def rtt_s(self) -> float | None:
        """Median of the smallest round-trip times of the long-lived flows; None if no round-trip
        time was measured. [s]"""
        return median(self.rtts_s) if self.rtts_s else None


@dataclass
class Sender:
    """State of one flow, computed from its packets."""

    probe: RoundTripProbe = field(default_factory=RoundTripProbe)
    full: set[float] = field(default_factory=set)
    """Times at which full segments were captured, since the start of the capture. The times are
    rounded down to tenths of seconds. [s]"""
    least_s: float | None = None


class Census:
    """Flows that are found in captured packets.

    Parameters
    ----------
    began_s : float
        Start of the capture, on the clock of the packets' time stamps. [s]
    """

    def __init__(self, began_s: float) -> None:
        self.began_s = began_s
        self.senders: dict[Flow, Sender] = {}

    def leaves(self, segment: Segment, at_s: float) -> None:
        """Process a segment that leaves through the interface."""
        payload = (segment.end - segment.start) & 0xFFFFFFFF
        flow = segment.to_station
        if not payload or (flow not in self.senders and len(self.senders) >= MAX_FLOWS):
            return
        sender = self.senders.setdefault(flow, Sender())
        if payload >= FULL_BYTES:
            sender.full.add(int(10 * (at_s - self.began_s)) / 10)
        if sender.probe.is_over or sender.probe.is_late(at_s):
            sender.probe = RoundTripProbe()
        sender.probe.leaves(segment, at_s)

    def comes(self, segment: Segment, at_s: float) -> None:
        """Process a segment that arrives at the interface."""
        sender = self.senders.get(segment.from_station)
        if sender is None or (trip := sender.probe.returns(segment, at_s)) is None:
            return
        if sender.least_s is None or trip.rtt_s < sender.least_s:
            sender.least_s = trip.rtt_s

    def counts(self, over_s: float) -> FlowCounts:
        """Return the flows that were observed during the capture. A flow is long-lived if it sent
        full segments in each third of the capture. `over_s` is the duration of the capture. [s]

        Packets with a time stamp just before the start of the capture count for the first third.
        Packets with a time stamp just after its end count for the last third.
        """
        long = [
            each
            for each in self.senders.values()
            if len({min(max(int(3 * at_s / over_s), 0), 2) for at_s in each.full}) == 3
        ]
        rtts_s = sorted(each.least_s for each in long if each.least_s is not None)
        return FlowCounts(over_s, tuple(rtts_s), len(long), len(self.senders) - len(long))


def listen(
    interface: str, over_s: float, progress: Callable[[float, float], None] | None = None
) -> FlowCounts:
    """Capture packets at an interface for a given time, and return the observed flows.

    Parameters
    ----------
    interface : str
    over_s : float
        Duration of the capture, at least one second. [s]
    progress : callable, optional
        Called repeatedly with two times: the time since the start of the capture, and the duration
        of the capture. [s]

    Raises
    ------
    UserError
        If packets of the interface cannot be captured, or if the interface was removed.
    """
    try:
        source = packet_socket(interface, EVERY_SEGMENT, BUFFER_BYTES)
    except OSError as error:
        raise UserError(f"{interface}: cannot listen: {error.strerror}") from None
    with source:
        source.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        census, began_s = Census(time.time()), time.monotonic()
        while (passed_s := time.monotonic() - began_s) < over_s:
            if progress is not None:
                progress(passed_s, over_s)
            until_s = min(SHOWN_S, over_s - passed_s)
            try:
                if select.select([source], [], [], until_s)[0]:
                    take(source, census)
            except OSError as error:
                raise UserError(f"{interface}: packets stopped: {error.strerror}") from None
    return census.counts(over_s)


def take(source: socket.socket, census: Census) -> None:
    """Process the packets that are waiting at the socket."""
    for _ in range(MAX_AT_ONCE):
        try:
            packet, ancillary, _, (_, _, kind, *_) = source.recvmsg(HEADERS_BYTES, 64)
        except BlockingIOError:
            return  # no more packets are waiting
        if (segment := parsed(packet)) is not None:
            tell = census.leaves if kind == OUTGOING else census.comes
            tell(segment, arrival_s(ancillary))


def in_words(counts: FlowCounts, wanted: LinkQueue) -> str:
    """Return a line about the observed flows for users."""
    flows = f"{counts.flows or 'no'} long-lived flow{'' if counts.flows == 1 else 's'}"
    rtts = ""
    if counts.rtt_s is not None:
        least, most = (f"{1e3 * each:.3g}" for each in (counts.rtts_s[0], counts.rtts_s[-1]))
        spread = "" if least == most else f" ({least} to {most} ms)"
        rtts = f" with an RTT of {1e3 * counts.rtt_s:.3g} ms{spread} without this queue"
    elif counts.flows:
        rtts = ", without an observed acknowledgement"
    others = ""
    if counts.others:
        others = f", {counts.others} other flow{'' if counts.others == 1 else 's'}"
    return f"{wanted.interface} in {counts.over_s:g} s: {flows}{rtts}{others}"
