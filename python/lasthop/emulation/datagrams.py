"""UDP flow between two hosts, such as a call or a flood.

If its payload is long enough, a datagram begins with its sequence number and its transmission time.
"""

import contextlib
import random
import selectors
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from lasthop.answers.fairness import is_met
from lasthop.emulation.places import OTHER_PORT, Ends
from lasthop.emulation.traffic import Traffic
from lasthop.scenario.typed import UdpFlow

STAMP = struct.Struct("!Id")
"""Layout of two fields at the beginning of a datagram: its sequence number [-] and its transmission
time [s]."""

LARGEST = 65_536


@dataclass
class Datagrams:
    """UDP flow with its two sockets, and its counters since the end of the warm-up."""

    flow: UdpFlow
    sender: socket.socket
    receiver: socket.socket
    to: tuple[str, int]
    """Address and port to which the datagrams are sent."""
    gap_s: float
    """Mean time between two datagrams. For bursts, the mean time between two bursts divided by the
    number of datagrams in a burst. [s]"""
    gaps: random.Random
    filling_s: float = 0.0
    """Time after the start for which a greedy source sends at twice its rate. [s]"""
    due_s: float = 0.0
    sent: int = 0
    sent_before: int = 0
    """Number of datagrams sent before the end of the warm-up."""
    open: bool = False
    received_bytes: int = 0
    arrived: int = 0
    """Number of datagrams with a sequence number that have arrived since the end of the warm-up."""
    first: int | None = None
    """Smallest sequence number of the datagrams that have arrived since the end of the warm-up;
    None before the first arrival."""
    last: int | None = None
    """Largest sequence number of the datagrams that have arrived since the end of the warm-up; None
    before the first arrival."""
    delays_s: list[float] = field(default_factory=list)

    def begin(self, traffic: Traffic) -> None:
        """Start the source. If all gaps between datagrams are equal, the first datagram is sent at
        a random time within the first gap."""
        traffic.watch(self.receiver, selectors.EVENT_READ, lambda: self.take(traffic))
        self.open = True
        burst_s = self.burst * self.gap_s
        first_s = self.gaps.uniform(0, burst_s) if self.is_regular else self.next_gap_s()
        self.due_s = self.flow.start_s + first_s
        traffic.at(self.due_s, lambda: self.send(traffic))

    @property
    def is_regular(self) -> bool:
        """Whether all gaps between datagrams are equal."""
        return self.flow.udp.arrivals != "poisson"

    @property
    def burst(self) -> int:
        """Number of datagrams in a burst, which are sent back to back."""
        return self.flow.udp.burst_packets

    def next_gap_s(self) -> float:
        """Return the time to the next datagram, or the next burst. [s]"""
        mean_s = self.burst * self.gap_s
        if not self.is_regular:
            return self.gaps.expovariate(1 / mean_s)
        is_filling = self.due_s < self.flow.start_s + self.filling_s
        return mean_s / 2 if is_filling else mean_s

    def send(self, traffic: Traffic) -> None:
        """Send a datagram, or a burst. Datagrams that do not fit into the kernel's buffer are
        lost."""
        if not self.open:
            return
        length = self.flow.udp.payload_bytes
        for _ in range(self.burst):
            stamp = STAMP.pack(self.sent & 0xFFFF_FFFF, time.monotonic())
            with contextlib.suppress(OSError):
                self.sender.sendto(stamp.ljust(length, b"\0")[:length], self.to)
            self.sent += 1
        self.due_s += self.next_gap_s()
        traffic.at(self.due_s, lambda: self.send(traffic))

    def take(self, traffic: Traffic) -> None:
        """Read a datagram that has arrived, and record its delay."""
        try:
            data = self.receiver.recv(LARGEST)
        except OSError:
            return
        if not traffic.warm:
            return
        self.received_bytes += len(data)
        if len(data) < STAMP.size:
            return
        number, sent_s = STAMP.unpack_from(data)
        self.delays_s.append(time.monotonic() - sent_s)
        self.count(number)

    def count(self, number: int) -> None:
        """Count a datagram that has arrived with the sequence number `number`."""
        self.first = number if self.first is None else min(self.first, number)
        self.last = number if self.last is None else max(self.last, number)
        self.arrived += 1

    def stop(self, traffic: Traffic) -> None:
        """Send no new datagrams."""
        self.open = False

    def begin_to_count(self) -> None:
        """Begin measuring with the datagram that is sent next."""
        self.sent_before = self.sent

    def look(self) -> None:
        """Do nothing, since the kernel reports no state of UDP flows to sample."""

    @property
    def counts(self) -> tuple[int, int]:
        """Return two numbers of datagrams since the end of the warm-up: datagrams that were sent,
        and datagrams that have arrived."""
        return self.sent - self.sent_before, self.received_bytes // self.flow.udp.payload_bytes

    @property
    def is_met(self) -> bool:
        """Whether the source has a given rate, and its datagrams arrive at this rate."""
        if self.flow.udp.arrivals == "greedy":
            return False
        sent, arrived = self.counts
        # no datagram has arrived, or all datagrams are too short for a sequence number
        if self.first is None or self.last is None:
            return is_met(sent, arrived, sent - arrived, 0, 0.0)
        lost = self.last - self.first + 1 - self.arrived
        expected = fmean(self.delays_s) / self.gap_s if self.delays_s else 0.0
        return is_met(sent, self.arrived, lost, self.sent - 1 - self.last, expected)

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput.

        A datagram counts as lost if its sequence number did not arrive and is between the smallest
        and the largest sequence number that arrived. Datagrams with larger sequence numbers may
        still be in flight.
        """
        values: dict[str, float] = {}
        if self.delays_s:
            values |= {
                "one_way_delay_s": fmean(self.delays_s),
                "one_way_delay_p99_s": percentile_99(self.delays_s),
            }
        if self.first is not None and self.last is not None:
            expected = self.last - self.first + 1
            values["loss_probability"] = 1 - self.arrived / expected
        return values

    def close(self) -> None:
        """Close every socket."""
        self.sender.close()
        self.receiver.close()


def percentile_99(values: Iterable[float]) -> float:
    """Return the 99th percentile: the smallest value that at least 99 % of the values do not
    exceed."""
    ordered = sorted(values)
    return ordered[ceil(0.99 * len(ordered)) - 1]


def datagrams(
    flow: UdpFlow, ends: Ends, per_second: float, seed: int, filling_s: float = 0.0
) -> Datagrams:
    """Return a UDP flow with its sockets, each in the namespace of its host.

    Parameters
    ----------
    flow, ends
        The flow, and the hosts at its two ends.
    per_second : float
        Mean number of datagrams sent per second. [1/s]
    seed : int
        Seed of the random gaps between datagrams.
    filling_s : float
        Time after the start for which a greedy source sends at twice its rate. [s]
    """
    sender, receiver, to = udp_sockets(ends)
    gaps = random.Random(f"{seed} {flow.name}")
    return Datagrams(flow, sender, receiver, to, 1 / per_second, gaps, filling_s)


def udp_sockets(ends: Ends) -> tuple[socket.socket, socket.socket, tuple[str, int]]:
    """Return a socket that sends, a socket that receives, and the receiver's address and port."""
    here = (ends.listening.address, ends.port)
    present = (ends.connecting.address, OTHER_PORT + ends.index)

    def bound(to: tuple[str, int]) -> socket.socket:
        connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        connection.setblocking(False)
        connection.bind(to)
        return connection

    listening = ends.listening.namespace.run(lambda: bound(here))
    try:
        connecting = ends.connecting.namespace.run(lambda: bound(present))
    except BaseException:
        listening.close()
        raise
    if ends.listener_sends:
        return listening, connecting, present
    return connecting, listening, here
