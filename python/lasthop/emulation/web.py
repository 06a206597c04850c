"""Web traffic over the kernel's TCP. The engine plans the start of each connection, the lengths of
its request and response, and the delay of the server.

Each connection has one request and one response, as in HTTP/1.0. The client connects and sends the
request. After the last byte of the request, the server waits for the planned delay. It then sends
the response, and closes its socket. With the last byte of the response the connection is finished.
The client closes its socket after the server.
"""

import resource
import selectors
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean
from typing import NamedTuple

from lasthop import _core
from lasthop.emulation.connection import CHUNK, connecting, listening
from lasthop.emulation.places import Ends
from lasthop.emulation.traffic import Traffic
from lasthop.linux.descriptors import raise_descriptors
from lasthop.linux.tcp import clamp_window, forbid_quick_acks
from lasthop.scenario.typed import TcpFlow

MAX_WAITING = 4096
"""Largest number of connections that may wait to be accepted."""
AT_ONCE = 64
"""Number of sockets that the thread creates each time that it enters a namespace."""
KEPT_DESCRIPTORS = 512
"""Number of file descriptors that are reserved for other purposes. Each web connection needs two
descriptors."""


class Asked(NamedTuple):
    """Planned connection of a source. The engine has computed the plan."""

    start_s: float
    request_bytes: int
    server_delay_s: float
    """Time from the end of the request to the start of the response. [s]"""
    response_bytes: int


class Counts:
    """Counters of a source's connections, with the same definitions as in a simulation."""

    def __init__(self) -> None:
        self.begun = self.finished = self.broken = self.open = 0
        """Four numbers of connections: begun, finished, ended early, and open. A connection is open
        until its response has arrived."""
        self.refused = 0
        """Number of connections since the end of the warm-up that were refused because the limit
        was reached."""
        self.completions_s: list[float] = []
        """Time from the start to the last byte of the response, for each connection that finished
        since the end of the warm-up. [s]"""

    def begin(self) -> None:
        """Count a connection that begins."""
        self.begun += 1
        self.open += 1

    def finish(self, completion_s: float) -> None:
        """Count a connection whose response has arrived."""
        self.finished += 1
        self.open -= 1
        self.completions_s.append(completion_s)

    def break_off(self) -> None:
        """Count a connection that ends before its response has arrived completely."""
        self.broken += 1
        self.open -= 1

    def begin_to_count(self) -> None:
        """Begin measuring at the end of the warm-up."""
        self.refused = 0
        self.completions_s = []

    def quantities(self) -> dict[str, float]:
        """Return the quantities of a web traffic class, except goodput and losses.

        Raises
        ------
        ArithmeticError
            If the number of begun connections is not the sum of finished, broken and open
            connections.
        """
        if self.begun != self.finished + self.broken + self.open:
            raise ArithmeticError(
                f"web: {self.begun} connections begun, {self.finished} finished + "
                f"{self.broken} broken off + {self.open} open"
            )
        times_s = sorted(self.completions_s)
        values = {
            "connections_finished": float(len(times_s)),
            "connections_refused": float(self.refused),
            "unfinished": float(self.open + self.broken),
        }
        if times_s:
            p95_s = times_s[ceil(0.95 * len(times_s)) - 1]
            values |= {"completion_s": fmean(times_s), "completion_p95_s": p95_s}
        return values


@dataclass
class Exchange:
    """Web connection, with the amounts of data that both hosts must still send and receive.
    [bytes]"""

    asked: Asked
    client: socket.socket
    unasked_bytes: int
    """Length of the part of the request that the client has not sent yet. [bytes]"""
    unheard_bytes: int
    """Length of the part of the request that the server has not received yet. [bytes]"""
    unsaid_bytes: int
    """Length of the part of the response that the server has not sent yet. [bytes]"""
    untaken_bytes: int
    """Length of the part of the response that the client has not received yet. [bytes]"""
    begun_s: float
    server: socket.socket | None = None


@dataclass
class Web:
    """Flow of a web traffic source, with its connections."""

    flow: TcpFlow
    ends: Ends
    algorithms: Mapping[str, str]
    listener: socket.socket
    plan: Iterator[Asked]
    room: int
    """Largest number of simultaneous connections of the source."""
    quick_acks: bool
    counts: Counts = field(default_factory=Counts)
    received_bytes: int = 0
    spare: list[socket.socket] = field(default_factory=list)
    """Sockets of the client that were created in advance and are not connected yet."""
    coming: dict[int, Exchange] = field(default_factory=dict)
    """Connections that the server has not accepted yet, by the client's port."""
    sockets: set[socket.socket] = field(default_factory=set)
    """Open sockets of all connections."""
    clients: int = 0
    """Number of connections whose client socket is open, including connections that are closing."""

    def begin(self, traffic: Traffic) -> None:
        """Accept connections, and start the planned connections."""
        traffic.watch(self.listener, selectors.EVENT_READ, lambda: self.accept(traffic))
        self.expect(traffic)

    def expect(self, traffic: Traffic) -> None:
        """Schedule the next planned connection."""
        asked = next(self.plan, None)
        if asked is not None:
            traffic.at(asked.start_s, lambda: self.connect(asked, traffic))

    def connect(self, asked: Asked, traffic: Traffic) -> None:
        """Start a connection, if the limit of simultaneous connections allows it."""
        self.expect(traffic)
        if self.clients >= self.room:
            self.counts.refused += 1
            return
        if not self.spare:
            self.spare = connecting(self.flow.tcp, self.ends, self.algorithms, AT_ONCE)
        client = self.spare.pop()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request, response = asked.request_bytes, asked.response_bytes
        exchange = Exchange(asked, client, request, request, response, response, traffic.now_s())
        self.counts.begin()
        self.clients += 1
        self.sockets.add(client)
        client.connect_ex((self.ends.listening.address, self.ends.port))
        self.coming[client.getsockname()[1]] = exchange
        traffic.watch(client, selectors.EVENT_WRITE, lambda: self.ask(exchange, traffic))

    def ask(self, exchange: Exchange, traffic: Traffic) -> None:
        """Send as much of the request as the kernel accepts."""
        try:
            exchange.unasked_bytes -= exchange.client.send(CHUNK[: exchange.unasked_bytes])
        except BlockingIOError:
            return
        except OSError:
            self.leave(exchange, traffic)
            return
        if exchange.unasked_bytes == 0:
            traffic.leave(exchange.client)
            traffic.watch(
                exchange.client, selectors.EVENT_READ, lambda: self.take(exchange, traffic)
            )

    def accept(self, traffic: Traffic) -> None:
        """Accept the connections that have arrived."""
        with suppress(OSError):
            while True:
                server, (_, port) = self.listener.accept()
                server.setblocking(False)
                self.hear_from(self.coming.pop(port), server, traffic)

    def hear_from(self, exchange: Exchange, server: socket.socket, traffic: Traffic) -> None:
        """Watch the server's socket for a request."""
        exchange.server = server
        self.sockets.add(server)
        traffic.watch(server, selectors.EVENT_READ, lambda: self.hear(exchange, server, traffic))

    def hear(self, exchange: Exchange, server: socket.socket, traffic: Traffic) -> None:
        """Read the request at the server. After the planned delay, the server sends the
        response."""
        length = received(server)
        if length is None:
            return
        exchange.unheard_bytes -= length
        if length == 0:
            self.hang_up(exchange, server, traffic)
        elif exchange.unheard_bytes == 0:
            traffic.leave(server)
            ready_s = traffic.now_s() + exchange.asked.server_delay_s
            traffic.at(ready_s, lambda: self.answer(exchange, server, traffic))

    def answer(self, exchange: Exchange, server: socket.socket, traffic: Traffic) -> None:
        """Start sending the response."""
        traffic.watch(server, selectors.EVENT_WRITE, lambda: self.say(exchange, server, traffic))
        self.say(exchange, server, traffic)

    def say(self, exchange: Exchange, server: socket.socket, traffic: Traffic) -> None:
        """Send as much of the response as the kernel accepts. After the last byte, close the
        server's socket."""
        try:
            exchange.unsaid_bytes -= server.send(CHUNK[: exchange.unsaid_bytes])
        except BlockingIOError:
            return
        except OSError:
            exchange.unsaid_bytes = 0
        if exchange.unsaid_bytes == 0:
            self.hang_up(exchange, server, traffic)

    def hang_up(self, exchange: Exchange, server: socket.socket, traffic: Traffic) -> None:
        """Close the server's socket. The kernel still sends the remaining data."""
        traffic.leave(server)
        self.sockets.discard(server)
        server.close()
        exchange.server = None

    def take(self, exchange: Exchange, traffic: Traffic) -> None:
        """Read the response at the client. When the server has closed, close the client's
        socket."""
        length = received(exchange.client)
        if length is None:
            return
        if length == 0:
            self.leave(exchange, traffic)
            return
        tcp = self.flow.tcp
        if exchange.untaken_bytes == exchange.asked.response_bytes:
            clamp_window(exchange.client, tcp.window_packets * tcp.mss_bytes)
        if not self.quick_acks and tcp.delayed_ack:
            forbid_quick_acks(exchange.client)
        exchange.untaken_bytes -= length
        if traffic.warm:
            self.received_bytes += length
        if exchange.untaken_bytes == 0:
            self.counts.finish(traffic.now_s() - exchange.begun_s)

    def leave(self, exchange: Exchange, traffic: Traffic) -> None:
        """Close the client's socket."""
        traffic.leave(exchange.client)
        self.sockets.discard(exchange.client)
        exchange.client.close()
        self.clients -= 1
        if exchange.untaken_bytes > 0:
            self.counts.break_off()

    def stop(self, traffic: Traffic) -> None:
        """Do nothing, since the plan ends at the end of the run."""

    def begin_to_count(self) -> None:
        """Begin measuring at the end of the warm-up."""
        self.counts.begin_to_count()

    def look(self) -> None:
        """Do nothing, since the flow has no state to sample."""

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput."""
        return self.counts.quantities()

    def close(self) -> None:
        """Close every socket."""
        for each in (*self.sockets, *self.spare, self.listener):
            each.close()


def received(connection: socket.socket) -> int | None:
    """Return the length of the data that has arrived. [bytes] The result is 0 at the end of the
    stream, and None if no data is waiting."""
    try:
        return len(connection.recv(len(CHUNK)))
    except BlockingIOError:
        return None
    except OSError:
        return 0


def web(
    flow: TcpFlow,
    ends: Ends,
    algorithms: Mapping[str, str],
    plan: Iterator[tuple[float, int, float, int]],
    room: int,
    *,
    quick_acks: bool,
) -> Web:
    """Return the flow of a web traffic source, with the socket that accepts its connections.

    Parameters
    ----------
    flow, ends, algorithms
        The flow, the hosts at its ends, and the kernel's names of congestion controls.
    plan : iterator
        Planned connections: start [s], length of the request [bytes], delay of the server [s],
        length of the response [bytes].
    room : int
        Largest number of simultaneous connections.
    quick_acks : bool
        Whether receivers may acknowledge each segment for a short time.
    """
    listener = listening(flow.tcp, ends, algorithms, MAX_WAITING)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    asked = (Asked(*each) for each in plan)
    return Web(flow, ends, algorithms, listener, asked, room, quick_acks)


def room_for(sources: int) -> int:
    """Return the limit of simultaneous connections per source. It is the engine's limit, or a
    smaller limit if this process may not open enough files.

    The limit of open files of this process is first raised to the allowed maximum.
    """
    most = raise_descriptors()
    if most == resource.RLIM_INFINITY:
        return _core.MAX_OPEN
    return min(_core.MAX_OPEN, max(1, (most - KEPT_DESCRIPTORS) // (2 * sources)))
