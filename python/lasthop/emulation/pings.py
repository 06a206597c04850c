"""Pings between two hosts: real ICMP echo requests, to which the other host's kernel replies.

A request begins with its number and its transmission time. The kernel of the receiving host swaps
the addresses and sends the payload back (RFC 792), so that a reply contains both values. The kernel
stamps the arrival of a reply, as it does for ping(8).
"""

import contextlib
import random
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean
from typing import NamedTuple

from lasthop.emulation.datagrams import LARGEST
from lasthop.emulation.places import Ends, let_ping
from lasthop.emulation.traffic import Traffic
from lasthop.scenario.typed import PingFlow

STAMP = struct.Struct("!Id")
"""Layout of two fields at the beginning of the payload: the number of the request [-] and its
transmission time [s]."""
HEADER = struct.Struct("!BBHHH")
"""ICMP header of an echo request or reply: type, code, checksum, identifier and sequence number."""
ECHO_REQUEST, ECHO_REPLY = 8, 0
SO_TIMESTAMPNS = 35
"""Socket option with which Linux reports the arrival time of a packet (asm-generic/socket.h)."""
TIMESPEC = struct.Struct("@ll")


class Counted(NamedTuple):
    """Pings of a flow that count in the result."""

    sent: int = 0
    rtts_s: Sequence[float] = ()
    """Round-trip times of the replies that arrived by the deadline. [s]"""


@dataclass
class Pings:
    """Pings of one flow, with their round-trip times."""

    flow: PingFlow
    sender: socket.socket
    to: str
    """Address to which the requests are sent."""
    identifier: int
    gaps: random.Random
    sent: list[tuple[float, float | None]] = field(default_factory=list)
    """Time at which each request was sent, and its round-trip time; None before the reply. [s]"""
    received_bytes: int = 0
    """Always 0: pings deliver nothing to an application."""
    traffic: Traffic | None = None
    """Event loop of the run; None before the start of the flow."""
    open: bool = False
    due_s: float = 0.0
    """Time at which the next request is sent. [s]"""

    def begin(self, traffic: Traffic) -> None:
        """Start to ping. The first request is sent at a random time within the first interval."""
        self.traffic = traffic
        traffic.watch(self.sender, selectors.EVENT_READ, lambda: self.take(traffic))
        self.open = True
        self.due_s = self.flow.start_s + self.gaps.uniform(0, self.flow.ping.every_s)
        traffic.at(self.due_s, lambda: self.send(traffic))

    def send(self, traffic: Traffic) -> None:
        """Send a request, and schedule the next request."""
        if not self.open:
            return
        number = len(self.sent)
        now_s = traffic.now_s()
        self.sent.append((now_s, None))
        payload = STAMP.pack(number, time.time()).ljust(self.flow.ping.payload_bytes, b"\0")
        header = HEADER.pack(ECHO_REQUEST, 0, 0, self.identifier, number & 0xFFFF)
        with contextlib.suppress(OSError):  # The ping is lost.
            self.sender.sendto(header + payload, (self.to, 0))
        self.due_s += self.flow.ping.every_s
        traffic.at(self.due_s, lambda: self.send(traffic))

    def take(self, traffic: Traffic) -> None:
        """Read a reply, and record its round-trip time."""
        try:
            data, ancillary, _, _ = self.sender.recvmsg(LARGEST, 256)
        except OSError:
            return
        if len(data) < HEADER.size + STAMP.size or data[0] != ECHO_REPLY:
            return
        number, sent_s = STAMP.unpack_from(data, HEADER.size)
        if number < len(self.sent) and self.sent[number][1] is None:
            self.sent[number] = self.sent[number][0], arrived_s(ancillary) - sent_s

    def stop(self, traffic: Traffic) -> None:
        """Send no more requests."""
        self.open = False

    def begin_to_count(self) -> None:
        """Do nothing. Whether a ping is counted depends only on the time at which it was sent."""

    def look(self) -> None:
        """Do nothing, since pings have no state to sample."""

    def counted(self) -> "Counted":
        """Return the pings that were sent after the warm-up and at least one deadline before the
        end of the run."""
        if self.traffic is None:
            return Counted()
        deadline_s = self.flow.ping.deadline_s
        first_s, last_s = self.traffic.warmup_s, self.traffic.until_s - deadline_s
        rtts_s = [rtt_s for sent_s, rtt_s in self.sent if first_s <= sent_s <= last_s]
        arrived = [rtt_s for rtt_s in rtts_s if rtt_s is not None and rtt_s <= deadline_s]
        return Counted(len(rtts_s), tuple(arrived))

    def quantities(self) -> dict[str, float]:
        """Return the round-trip times and the loss probability of the pings that count."""
        return quantities_of([self.counted()])

    def close(self) -> None:
        """Close the socket."""
        self.sender.close()


def quantities_of(flows: Iterable[Counted]) -> dict[str, float]:
    """Return the quantities of all pings of some flows."""
    known = list(flows)
    count = sum(each.sent for each in known)
    rtts_s = sorted(rtt_s for each in known for rtt_s in each.rtts_s)
    values = {}
    if rtts_s:
        values["rtt_s"] = fmean(rtts_s)
        for percent in (50, 95, 99):
            values[f"rtt_p{percent}_s"] = rtts_s[ceil(percent / 100 * len(rtts_s)) - 1]
    if count:
        values["loss_probability"] = 1 - len(rtts_s) / count
    return values


def arrived_s(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Return the time at which the kernel received a packet, or the present time without this
    information. [s since 1970]"""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(data) >= TIMESPEC.size:
            seconds, nanoseconds = TIMESPEC.unpack_from(data)
            return float(seconds) + 1e-9 * float(nanoseconds)
    return time.time()


def pings(flow: PingFlow, ends: Ends, seed: int) -> Pings:
    """Return a flow of pings with its socket, in the namespace of the host that pings.

    The socket has an identifier of its own, by which the network recognises the flow's packets. The
    identifier is the flow's port.
    """

    def opened() -> socket.socket:
        let_ping()
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        sender.setblocking(False)
        sender.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sender.bind((ends.sender.address, ends.port))
        return sender

    sender = ends.sender.namespace.run(opened)
    gaps = random.Random(f"{seed} {flow.name}")
    return Pings(flow, sender, ends.receiver.address, ends.port, gaps)
