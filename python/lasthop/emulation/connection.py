"""A flow between two hosts that is one TCP connection of the kernel, with a given length or
endless."""

import selectors
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean

from lasthop.emulation.places import Ends
from lasthop.emulation.traffic import Traffic
from lasthop.linux.tcp import (
    abort,
    clamp_window,
    empty_error_queue,
    forbid_quick_acks,
    is_acknowledged,
    limit_segment,
    set_congestion,
    tcp_info,
    tell_when_acknowledged,
)
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import TcpFlow

CHUNK = bytes(65_536)
BIND_ADDRESS_NO_PORT = 24
"""Socket option of linux/in.h: the kernel chooses the port when both addresses are known."""


@dataclass
class Connection:
    """One flow: its two sockets, and counts since the end of the warm-up."""

    flow: TcpFlow
    ends: Ends
    client: socket.socket
    """Socket of the end that opens the connection."""
    listener: socket.socket | None
    """Listening socket; None if the user of the flow watches a shared listening socket."""
    quick_acks: bool = True
    """Whether the receiver may acknowledge each segment for a short time, as Linux does after a
    gap."""
    server: socket.socket | None = None
    received_bytes: int = 0
    arrived_bytes: int = 0
    """Payload that has arrived since the start. [bytes]"""
    rtts_s: list[float] = field(default_factory=list)
    cwnds: list[int] = field(default_factory=list)
    retransmissions: int = 0
    """Number of retransmitted segments at the end of the warm-up."""
    left_bytes: int | None = None
    """Data that remains to be sent; None for an endless flow. [bytes]"""
    begun_s: float = 0.0
    finished_s: float | None = None
    is_over: bool = False
    """Whether all data of a flow with a given length has arrived."""

    def __post_init__(self) -> None:
        segments = self.flow.tcp.segments
        if segments is not None:
            self.left_bytes = segments * self.flow.tcp.mss_bytes

    @property
    def sender(self) -> socket.socket | None:
        """Socket that sends the data of the flow; None before the connection is accepted."""
        return self.server if self.ends.listener_sends else self.client

    @property
    def sent_again(self) -> int:
        """Number of retransmitted segments since the start; 0 before the connection is
        established."""
        return 0 if self.sender is None else tcp_info(self.sender).retransmissions

    @property
    def window_bytes(self) -> int:
        """Receive window of the flow. [bytes]"""
        return self.flow.tcp.window_packets * self.flow.tcp.mss_bytes

    def begin(self, traffic: Traffic) -> None:
        """Connect one end, and accept at the other one."""
        if self.listener is not None:
            listener = self.listener
            traffic.watch(listener, selectors.EVENT_READ, lambda: self.accept(traffic, listener))
        self.connect(traffic)

    def connect(self, traffic: Traffic) -> None:
        """Connect to the other end."""
        self.begun_s = traffic.now_s()
        self.client.connect_ex((self.ends.listening.address, self.ends.port))
        self.attach(traffic, self.client)

    def accept(self, traffic: Traffic, listener: socket.socket) -> None:
        """Accept the connection at the listening socket."""
        traffic.leave(listener)
        server, _ = listener.accept()
        self.take(traffic, server)

    def take(self, traffic: Traffic, server: socket.socket) -> None:
        """Use the accepted socket."""
        self.server = server
        server.setblocking(False)
        self.attach(traffic, server)

    def attach(self, traffic: Traffic, end: socket.socket) -> None:
        """Fill the socket if it is the sender; empty it otherwise."""
        if end is self.sender:
            traffic.watch(end, selectors.EVENT_WRITE, lambda: self.fill(traffic, end))
        else:
            traffic.watch(end, selectors.EVENT_READ, lambda: self.empty(traffic, end))

    def fill(self, traffic: Traffic, end: socket.socket) -> None:
        """Send as much data as the kernel accepts. After the last byte, wait for its ACK."""
        length = len(CHUNK) if self.left_bytes is None else min(self.left_bytes, len(CHUNK))
        try:
            if length == self.left_bytes:
                tell_when_acknowledged(end)
            sent = end.send(CHUNK[:length])
        except BlockingIOError:
            empty_error_queue(end)
            return
        except OSError:
            traffic.leave(end)
            return
        if self.left_bytes is not None:
            self.left_bytes -= sent
            if self.left_bytes == 0:
                traffic.leave(end)
                end.shutdown(socket.SHUT_WR)
                traffic.watch(end, selectors.EVENT_READ, lambda: self.finish(traffic, end))

    def finish(self, traffic: Traffic, end: socket.socket) -> None:
        """End the sender after the ACK of the last byte, or the loss of the connection."""
        try:
            empty_error_queue(end)
            if is_acknowledged(end):
                self.finished_s = traffic.now_s()
            else:
                end.recv(1)
        except BlockingIOError:
            return
        except OSError:
            pass
        traffic.leave(end)

    def empty(self, traffic: Traffic, end: socket.socket) -> None:
        """Read the data that has arrived."""
        try:
            length = len(end.recv(len(CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            length = 0
        if not self.arrived_bytes:
            clamp_window(end, self.window_bytes)
        self.arrived_bytes += length
        if not self.quick_acks and self.flow.tcp.delayed_ack:
            forbid_quick_acks(end)
        if length == 0:
            self.is_over = True
            traffic.leave(end)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        elif traffic.warm:
            self.received_bytes += length

    def stop(self, traffic: Traffic) -> None:
        """Send no new data."""
        is_done = self.left_bytes == 0
        if self.sender is not None and traffic.watches(self.sender) and not is_done:
            traffic.leave(self.sender)
            self.sender.shutdown(socket.SHUT_WR)

    def begin_to_count(self) -> None:
        """Start counting."""
        self.retransmissions = self.sent_again

    def look(self) -> None:
        """Sample RTT and cwnd until all data is acknowledged.

        The kernel's cwnd can grow beyond the receive window, which limits the sample.
        """
        if self.sender is None or self.finished_s is not None:
            return
        info = tcp_info(self.sender)
        if info.rtt_s > 0:
            self.rtts_s.append(info.rtt_s)
            self.cwnds.append(min(info.cwnd_packets, self.flow.tcp.window_packets))

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities, without the goodput."""
        values = {"retransmissions": float(self.sent_again - self.retransmissions)}
        if self.rtts_s:
            values |= {"rtt_s": fmean(self.rtts_s), "cwnd_packets": fmean(self.cwnds)}
        if self.left_bytes is not None:
            values["unfinished"] = float(self.finished_s is None)
            if self.finished_s is not None:
                values["completion_s"] = self.finished_s - self.begun_s
        return values

    def close(self) -> None:
        """Close every socket, and discard data that has not arrived."""
        for each in filter(None, (self.client, self.listener, self.server)):
            if self.is_over:
                each.close()
            else:
                abort(each)


def connection(
    flow: TcpFlow, ends: Ends, algorithms: Mapping[str, str], *, quick_acks: bool = True
) -> Connection:
    """Create the sockets of a flow, each in its namespace."""
    client, listener = tcp_sockets(flow.tcp, ends, algorithms)
    return Connection(flow, ends, client, listener, quick_acks)


def tcp_sockets(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str]
) -> tuple[socket.socket, socket.socket]:
    """Return two non-blocking sockets: one that connects, and one that listens.

    `algorithms` are the kernel's names of congestion controls.
    """
    listener = listening(tcp, ends, algorithms, 1)
    try:
        (client,) = connecting(tcp, ends, algorithms, 1)
    except BaseException:
        listener.close()
        raise
    return client, listener


def listening(tcp: Tcp, ends: Ends, algorithms: Mapping[str, str], most: int) -> socket.socket:
    """Return a socket that listens; up to `most` connections wait to be accepted."""

    def made() -> socket.socket:
        endpoint = tcp_socket(tcp, algorithms[tcp.congestion])
        endpoint.bind((ends.listening.address, ends.port))
        endpoint.listen(most)
        return endpoint

    return ends.listening.namespace.run(made)


def connecting(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str], count: int
) -> list[socket.socket]:
    """Return sockets that are to connect. Their ports are chosen when they connect."""

    def made() -> list[socket.socket]:
        clients: list[socket.socket] = []
        try:
            for _ in range(count):
                clients.append(tcp_socket(tcp, algorithms[tcp.congestion]))
                clients[-1].setsockopt(socket.IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1)
                clients[-1].bind((ends.connecting.address, 0))
        except BaseException:
            for each in clients:
                each.close()
            raise
        return clients

    return ends.connecting.namespace.run(made)


def tcp_socket(tcp: Tcp, algorithm: str) -> socket.socket:
    """Return a socket with the settings of a connection, in the calling thread's namespace."""
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        endpoint.setblocking(False)
        set_congestion(endpoint, algorithm)
        limit_segment(endpoint, tcp.mss_bytes)
        clamp_window(endpoint, tcp.window_packets * tcp.mss_bytes)
    except BaseException:
        endpoint.close()
        raise
    return endpoint
