"""Reports of one sensor, sent over the kernel's TCP or UDP.

Over TCP, a report is one segment of a connection that stays open. Over UDP, a report is one
datagram that begins with the number of the report.
"""

import contextlib
import random
import selectors
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from lasthop.emulation.connection import tcp_sockets
from lasthop.emulation.datagrams import LARGEST, udp_sockets
from lasthop.emulation.places import Ends
from lasthop.emulation.traffic import Traffic
from lasthop.scenario.transports import Tcp, Udp
from lasthop.scenario.typed import SensorFlow

NUMBER = struct.Struct("!I")


@dataclass
class Reports(ABC):
    """Reports of one sensor, and the times of their arrivals."""

    flow: SensorFlow
    gaps: random.Random
    made: list[tuple[float, float | None]] = field(default_factory=list)
    """Time at which each report was made, and time at which it arrived; None for a report that has
    not arrived. [s]"""
    received_bytes: int = 0
    warmup_s: float = 0.0
    duration_s: float = 0.0
    open: bool = False
    due_s: float = 0.0
    """Time at which the next report is made. [s]"""

    @property
    def length_bytes(self) -> int:
        """Length of the payload of a report. [bytes]"""
        return self.flow.sensor.transport.payload_bytes

    def begin(self, traffic: Traffic) -> None:
        """Start making reports. If all gaps between reports are equal, the first report is made at
        a random time within the first gap."""
        self.warmup_s, self.duration_s = traffic.warmup_s, traffic.duration_s
        self.open = True
        self.connect(traffic)
        self.due_s = self.flow.start_s + self.gap_s(first=True)
        traffic.at(self.due_s, lambda: self.make(traffic))

    def gap_s(self, *, first: bool = False) -> float:
        """Return the time until the next report. [s]"""
        every_s = self.flow.sensor.every_s
        if self.flow.sensor.arrivals == "poisson":
            return self.gaps.expovariate(1 / every_s)
        return self.gaps.uniform(0, every_s) if first else every_s

    def make(self, traffic: Traffic) -> None:
        """Make and send a report, and schedule the next report."""
        if self.open:
            self.made.append((traffic.now_s(), None))
            self.send(len(self.made) - 1)
            self.due_s += self.gap_s()
            traffic.at(self.due_s, lambda: self.make(traffic))

    def arrive(self, number: int, traffic: Traffic) -> None:
        """Record the arrival time of a report."""
        if number < len(self.made) and self.made[number][1] is None:
            self.made[number] = (self.made[number][0], traffic.now_s())
            if traffic.warm:
                self.received_bytes += self.length_bytes

    def stop(self, traffic: Traffic) -> None:
        """Make no more reports."""
        self.open = False

    def begin_to_count(self) -> None:
        """Do nothing. Whether a report is counted depends only on the time at which it was made."""
        return

    def look(self) -> None:
        """Do nothing, since reports have no state to sample."""
        return

    def quantities(self) -> dict[str, float]:
        """Return the quantities of the reports that were made after the warm-up and whose deadline
        is before the end of the run."""
        deadline_s = self.flow.sensor.deadline_s
        last_s = self.duration_s - deadline_s
        counted = [each for each in self.made if self.warmup_s <= each[0] <= last_s]
        delays = sorted(
            arrived - made
            for made, arrived in counted
            if arrived is not None and arrived - made <= deadline_s
        )
        values = {"reports": float(len(counted))}
        if counted:
            values["report_delivery"] = len(delays) / len(counted)
        if delays:
            p95_s = delays[ceil(0.95 * len(delays)) - 1]
            values |= {"report_delay_s": fmean(delays), "report_delay_p95_s": p95_s}
        return values

    @abstractmethod
    def connect(self, traffic: Traffic) -> None:
        """Open the sockets that transmit the reports."""

    @abstractmethod
    def send(self, number: int) -> None:
        """Send the report with this number."""

    @abstractmethod
    def close(self) -> None:
        """Close every socket."""


class ReportsByTcp(Reports):
    """Reports of a sensor over one TCP connection."""

    def __init__(
        self,
        flow: SensorFlow,
        ends: Ends,
        tcp: Tcp,
        algorithms: Mapping[str, str],
        gaps: random.Random,
    ) -> None:
        super().__init__(flow, gaps)
        self.ends = ends
        self.client, self.listener = tcp_sockets(tcp, ends, algorithms)
        self.server: socket.socket | None = None
        self.unsent_bytes = self.taken_bytes = 0

    def connect(self, traffic: Traffic) -> None:
        """Connect from the sender's or receiver's host, and accept at the other host."""
        traffic.watch(self.listener, selectors.EVENT_READ, lambda: self.accept(traffic))
        self.client.connect_ex((self.ends.listening.address, self.ends.port))
        if not self.ends.listener_sends:
            self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.empty_when_ready(traffic, self.client)

    def accept(self, traffic: Traffic) -> None:
        """Accept the connection at the listening socket."""
        traffic.leave(self.listener)
        self.server, _ = self.listener.accept()
        self.server.setblocking(False)
        if self.ends.listener_sends:
            self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.flush()
        else:
            self.empty_when_ready(traffic, self.server)

    def empty_when_ready(self, traffic: Traffic, connection: socket.socket) -> None:
        """Read the data of a connection whenever data arrives."""
        traffic.watch(connection, selectors.EVENT_READ, lambda: self.empty(traffic, connection))

    def empty(self, traffic: Traffic, connection: socket.socket) -> None:
        """Read the data that has arrived, and record each complete report. Reports arrive in
        order."""
        try:
            length = len(connection.recv(LARGEST))
        except BlockingIOError:
            return
        except OSError:
            length = 0
        if length == 0:
            traffic.leave(connection)
            return
        before = self.taken_bytes // self.length_bytes
        self.taken_bytes += length
        for number in range(before, self.taken_bytes // self.length_bytes):
            self.arrive(number, traffic)

    def send(self, number: int) -> None:
        """Send a report after all earlier reports that are still unsent."""
        self.unsent_bytes += self.length_bytes
        self.flush()

    def flush(self) -> None:
        """Send as much unsent data as the kernel accepts. The next report sends the remaining
        data."""
        sender = self.server if self.ends.listener_sends else self.client
        if sender is not None:
            with contextlib.suppress(OSError):
                self.unsent_bytes -= sender.send(bytes(self.unsent_bytes))

    def close(self) -> None:
        """Close every socket."""
        for each in (self.client, self.listener, self.server):
            if each is not None:
                each.close()


class ReportsByUdp(Reports):
    """Reports of a sensor as UDP datagrams."""

    def __init__(self, flow: SensorFlow, ends: Ends, gaps: random.Random) -> None:
        super().__init__(flow, gaps)
        self.sender, self.receiver, self.to = udp_sockets(ends)

    def connect(self, traffic: Traffic) -> None:
        """Watch the receiving socket."""
        traffic.watch(self.receiver, selectors.EVENT_READ, lambda: self.take(traffic))

    def take(self, traffic: Traffic) -> None:
        """Read a report that has arrived."""
        with contextlib.suppress(OSError):
            data = self.receiver.recv(LARGEST)
            self.arrive(NUMBER.unpack_from(data)[0], traffic)

    def send(self, number: int) -> None:
        """Send a report. The report is lost if it does not fit into the kernel's buffer."""
        with contextlib.suppress(OSError):
            self.sender.sendto(NUMBER.pack(number).ljust(self.length_bytes, b"\0"), self.to)

    def close(self) -> None:
        """Close every socket."""
        self.sender.close()
        self.receiver.close()


def reports(flow: SensorFlow, ends: Ends, algorithms: Mapping[str, str], seed: int) -> Reports:
    """Create the sockets of a sensor's flow, each in the namespace of its host."""
    gaps = random.Random(f"{seed} {flow.name}")
    carrier = flow.sensor.transport
    if isinstance(carrier, Udp):
        return ReportsByUdp(flow, ends, gaps)
    return ReportsByTcp(flow, ends, carrier, algorithms, gaps)
