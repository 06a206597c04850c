"""User of a conflict graph over the kernel's TCP. A rule sets the user's number of connections.

```text
begin --> one connection --each interval--> sample: round-trip times, payload arrived
                 ^                                    | the engine's rule
                 +---------- open or close <----------+
```

The connection that was opened last is closed first. Data that the kernel has already accepted is
still delivered after its connection was closed.
"""

import math
import selectors
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean

from lasthop._core import MultiConnection
from lasthop.emulation.connection import Connection, connecting, listening
from lasthop.emulation.places import Ends
from lasthop.emulation.traffic import LOOK_S, Traffic
from lasthop.linux.tcp import limit_unsent, tcp_info
from lasthop.scenario.typed import TcpFlow

MAX_WAITING = 4096
"""Largest number of connections that may wait to be accepted."""
UNSENT_SEGMENTS = 4
"""Largest amount of unsent data of a connection in the kernel. A small amount ensures that a closed
connection soon stops sending. [segments]"""


@dataclass
class User:
    """Flow of a user with its connections, and its counters since the end of the warm-up."""

    flow: TcpFlow
    ends: Ends
    algorithms: Mapping[str, str]
    listener: socket.socket
    rule: MultiConnection | None
    """Rule for the number of connections; None for a single connection."""
    interval_s: float
    """Time between two applications of the rule. [s]"""
    quick_acks: bool
    traffic: Traffic = field(init=False)
    """Event loop that runs the flow, set at the start."""
    open: list[Connection] = field(default_factory=list)
    """Open connections, in the order in which they were opened."""
    closing: list[Connection] = field(default_factory=list)
    coming: dict[int, Connection] = field(default_factory=dict)
    """Connections that the other host has not accepted yet, by the port of the client."""
    active: bool = False
    """Whether the user has started and has not stopped."""
    gone_bytes: int = 0
    gone_retransmissions: int = 0
    """Counters of connections that have ended, in two fields: `gone_bytes` is the payload that
    arrived [bytes], and `gone_retransmissions` is the number of retransmitted segments."""
    begun_s: float = math.inf
    stopped_s: float = math.inf
    looked_s: float = 0.0
    looked_bytes: int = 0
    """State at the last application of the rule, in two fields: `looked_s` is the time [s], and
    `looked_bytes` is the payload that had arrived [bytes]."""
    seen_s: list[float] = field(default_factory=list)
    """Samples of the round-trip time since the rule was last applied. [s]"""
    rtts_s: list[float] = field(default_factory=list)
    """Samples of the round-trip time since the end of the warm-up. [s]"""
    counted_bytes: int = 0
    counted_retransmissions: int = 0
    """Counters at the end of the warm-up, in two fields: `counted_bytes` is the payload that had
    arrived [bytes], and `counted_retransmissions` is the number of retransmitted segments."""
    opened: int = 0
    closed: int = 0
    changed_s: float = 0.0
    connection_s: float = 0.0
    """Integral of the number of connections over time, from the end of the warm-up to `changed_s`.
    [s]"""

    def begin(self, traffic: Traffic) -> None:
        """Open the first connection, and start the periodic samples of the round-trip time."""
        self.traffic = traffic
        self.active = True
        self.begun_s = traffic.now_s()
        traffic.watch(self.listener, selectors.EVENT_READ, self.accept)
        self.looked_s = traffic.now_s()
        self.connect(1)
        traffic.at(self.looked_s, self.sample)
        if self.rule is not None:
            self.look_later()

    def look_later(self) -> None:
        """Schedule the next application of the rule, at a multiple of the interval."""
        number = int(self.traffic.now_s() / self.interval_s) + 1
        self.traffic.at(number * self.interval_s, self.step)

    def connect(self, count: int) -> None:
        """Open this number of connections, or fewer if no file descriptors are left."""
        self.change()
        with suppress(OSError):
            for client in connecting(self.flow.tcp, self.ends, self.algorithms, count):
                limit_unsent(client, UNSENT_SEGMENTS * self.flow.tcp.mss_bytes)
                connection = Connection(self.flow, self.ends, client, None, self.quick_acks)
                connection.connect(self.traffic)
                self.coming[client.getsockname()[1]] = connection
                self.open.append(connection)
                self.opened += 1

    def accept(self) -> None:
        """Accept a connection."""
        with suppress(OSError):
            server, (_, port) = self.listener.accept()
            self.coming.pop(port).take(self.traffic, server)

    def step(self) -> None:
        """Apply the rule: open or close connections."""
        assert self.rule is not None, "only who has a rule looks"
        self.clear()
        if not self.active:
            return
        now_s, arrived_bytes = self.traffic.now_s(), self.arrived_bytes
        packets = (arrived_bytes - self.looked_bytes) / self.flow.tcp.mss_bytes
        rtt_s = fmean(self.seen_s) if self.seen_s else None
        asked = self.rule.step(rtt_s, packets / (now_s - self.looked_s))
        self.looked_s, self.looked_bytes, self.seen_s = now_s, arrived_bytes, []
        if asked > len(self.open):
            self.connect(asked - len(self.open))
        self.shrink(asked)
        self.look_later()

    def shrink(self, count: int) -> None:
        """Close connections until this number of connections is open."""
        self.change()
        while len(self.open) > count:
            connection = self.open.pop()
            try:
                connection.stop(self.traffic)
            except OSError:
                connection.is_over = True  # the connection is not established yet
            self.closing.append(connection)
            self.closed += 1

    def clear(self) -> None:
        """Close the sockets of stopped connections whose last byte has arrived, and add the
        counters of these connections to the counters of the user."""
        over = [each for each in self.closing if each.is_over]
        for each in over:
            self.closing.remove(each)
            self.gone_bytes += each.arrived_bytes
            self.gone_retransmissions += tcp_info(each.client).retransmissions
            each.close()

    def sample(self) -> None:
        """Sample the round-trip times of all open connections."""
        seen = [tcp_info(each.client).rtt_s for each in self.open]
        known = [rtt_s for rtt_s in seen if rtt_s > 0]
        self.seen_s += known
        if self.traffic.warm:
            self.rtts_s += known
        if self.active:
            self.traffic.at(self.traffic.now_s() + LOOK_S, self.sample)

    def change(self) -> None:
        """Update the time integral of the number of connections. Call this method before the number
        changes."""
        now_s = self.traffic.now_s()
        self.connection_s += len(self.open) * (now_s - self.changed_s)
        self.changed_s = now_s

    def stop(self, traffic: Traffic) -> None:
        """Send no new data, and close all connections."""
        self.active = False
        self.stopped_s = traffic.now_s()
        self.shrink(0)

    @property
    def has_begun(self) -> bool:
        """Whether the user has started."""
        return self.begun_s < math.inf

    @property
    def existed(self) -> float:
        """Fraction of the measured time between the user's start and stop. [-]"""
        if not self.has_begun:
            return 0.0
        from_s, until_s = self.traffic.warmup_s, self.traffic.until_s
        own_s = min(until_s, self.stopped_s) - max(from_s, self.begun_s)
        return max(0.0, own_s) / (until_s - from_s) if until_s > from_s else 0.0

    @property
    def arrived_bytes(self) -> int:
        """Payload that has arrived since the start of the user. [bytes]"""
        return self.gone_bytes + sum(each.arrived_bytes for each in (*self.open, *self.closing))

    @property
    def received_bytes(self) -> int:
        """Payload that has arrived since the end of the warm-up. [bytes]"""
        return self.arrived_bytes - self.counted_bytes

    @property
    def retransmissions(self) -> int:
        """Number of segments that were retransmitted since the start of the user."""
        infos = (tcp_info(each.client) for each in (*self.open, *self.closing))
        return self.gone_retransmissions + sum(info.retransmissions for info in infos)

    def begin_to_count(self) -> None:
        """Begin measuring at the end of the warm-up."""
        if self.has_begun:
            self.change()
        self.opened = self.closed = 0
        self.connection_s = 0.0
        self.counted_bytes = self.arrived_bytes
        self.counted_retransmissions = self.retransmissions

    def look(self) -> None:
        """Do nothing, since the method `sample` samples the connections. The rule also needs
        samples before the end of the warm-up."""

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput."""
        again = self.retransmissions - self.counted_retransmissions
        values = {"retransmissions": float(again)}
        if self.rtts_s:
            values["rtt_s"] = fmean(self.rtts_s)
        if self.rule is not None and self.has_begun:
            rest_s = self.traffic.until_s - self.changed_s
            life_s = (self.traffic.until_s - self.traffic.warmup_s) * self.existed
            if life_s > 0.0:
                values["connections"] = (self.connection_s + len(self.open) * rest_s) / life_s
            opened, closed = float(self.opened), float(self.closed)
            values |= {"connections_opened": opened, "connections_closed": closed}
        return values

    def close(self) -> None:
        """Close every socket."""
        for each in (*self.open, *self.closing):
            each.close()
        self.listener.close()


def user(
    flow: TcpFlow,
    ends: Ends,
    algorithms: Mapping[str, str],
    rule: MultiConnection | None,
    interval_s: float,
    *,
    quick_acks: bool,
) -> User:
    """Return the flow of a user, with the socket that accepts its connections.

    Parameters
    ----------
    flow, ends, algorithms
        The flow, the hosts at its ends, and the kernel's names of congestion controls.
    rule : MultiConnection or None
        Rule for the number of connections; None for a single connection.
    interval_s : float
        Time between two applications of the rule. [s]
    quick_acks : bool
        Whether receivers may acknowledge each segment for a short time.
    """
    listener = listening(flow.tcp, ends, algorithms, MAX_WAITING)
    return User(flow, ends, algorithms, listener, rule, interval_s, quick_acks)
