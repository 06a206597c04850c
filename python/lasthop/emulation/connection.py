"""TCP flow between two hosts over one connection of the kernel. The flow has a given length or is
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
"""Number of a socket option of linux/in.h. With this option, the kernel chooses the local port only
when both addresses are known."""


@dataclass
class Connection:
    """TCP flow with its two sockets, and its counters since the end of the warm-up."""

    flow: TcpFlow
    ends: Ends
    client: socket.socket
    """Socket of the host that opens the connection."""
    listener: socket.socket | None
    """Listening socket; None if the connections of a flow share a listening socket."""
    quick_acks: bool = True
    """Whether the receiver may acknowledge each segment for a short time, as Linux does after a gap
    in the data."""
    server: socket.socket | None = None
    received_bytes: int = 0
    arrived_bytes: int = 0
    """Payload that has arrived since the start of the flow. [bytes]"""
    rtts_s: list[float] = field(default_factory=list)
    cwnds: list[int] = field(default_factory=list)
    retransmissions: int = 0
    """Number of segments that had been retransmitted by the end of the warm-up."""
    left_bytes: int | None = None
    """Payload that remains to be sent; None for an endless flow. [bytes]"""
    begun_s: float = 0.0
    finished_s: float | None = None
    is_over: bool = False
    """Whether the sender has closed the connection and all its data has arrived."""

    def __post_init__(self) -> None:
        segments = self.flow.tcp.segments
        if segments is not None:
            application = self.flow.application
            size = None if application is None else application.size_bytes
            self.left_bytes = size or segments * self.flow.tcp.mss_bytes

    @property
    def sender(self) -> socket.socket | None:
        """Socket that sends the data of the flow; None before the connection is accepted."""
        return self.server if self.ends.listener_sends else self.client

    @property
    def sent_again(self) -> int:
        """Number of segments that were retransmitted since the start of the flow; 0 while there is
        no sender socket yet."""
        return 0 if self.sender is None else tcp_info(self.sender).retransmissions

    @property
    def window_bytes(self) -> int:
        """Receive window of the flow. [bytes]"""
        return self.flow.tcp.window_packets * self.flow.tcp.mss_bytes

    def begin(self, traffic: Traffic) -> None:
        """Connect the client's socket, and accept the connection at the listening socket."""
        if self.listener is not None:
            listener = self.listener
            traffic.watch(listener, selectors.EVENT_READ, lambda: self.accept(traffic, listener))
        self.connect(traffic)

    def connect(self, traffic: Traffic) -> None:
        """Connect the client's socket to the listening socket."""
        self.begun_s = traffic.now_s()
        self.client.connect_ex((self.ends.listening.address, self.ends.port))
        self.attach(traffic, self.client)

    def accept(self, traffic: Traffic, listener: socket.socket) -> None:
        """Accept the connection at the listening socket."""
        traffic.leave(listener)
        server, _ = listener.accept()
        self.take(traffic, server)

    def take(self, traffic: Traffic, server: socket.socket) -> None:
        """Use the accepted socket as the server's socket."""
        self.server = server
        server.setblocking(False)
        self.attach(traffic, server)

    def attach(self, traffic: Traffic, end: socket.socket) -> None:
        """Watch one socket of the connection. If the socket is the sender, write data to it;
        otherwise, read data from it."""
        if end is self.sender:
            traffic.watch(end, selectors.EVENT_WRITE, lambda: self.fill(traffic, end))
        else:
            traffic.watch(end, selectors.EVENT_READ, lambda: self.empty(traffic, end))

    def fill(self, traffic: Traffic, end: socket.socket) -> None:
        """Send as much data as the kernel accepts. After the last byte, wait for the ACK of this
        byte."""
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
        """Stop watching the sender when the last byte is acknowledged, or when the connection is
        lost."""
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
        """Send no new data. Data that the kernel has accepted is still delivered."""
        is_done = self.left_bytes == 0
        if self.sender is not None and traffic.watches(self.sender) and not is_done:
            traffic.leave(self.sender)
            self.sender.shutdown(socket.SHUT_WR)

    def begin_to_count(self) -> None:
        """Begin measuring at the end of the warm-up."""
        self.retransmissions = self.sent_again

    def look(self) -> None:
        """Sample the RTT and the cwnd of the connection, unless all data has been acknowledged.

        The kernel's cwnd can exceed the receive window. Each sample is therefore limited to the
        receive window.
        """
        if self.sender is None or self.finished_s is not None:
            return
        info = tcp_info(self.sender)
        if info.rtt_s > 0:
            self.rtts_s.append(info.rtt_s)
            self.cwnds.append(min(info.cwnd_packets, self.flow.tcp.window_packets))

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput."""
        values = {"retransmissions": float(self.sent_again - self.retransmissions)}
        if self.rtts_s:
            values |= {"rtt_s": fmean(self.rtts_s), "cwnd_packets": fmean(self.cwnds)}
        if self.left_bytes is not None:
            values["unfinished"] = float(self.finished_s is None)
            if self.finished_s is not None:
                values["completion_s"] = self.finished_s - self.begun_s
        return values

    def close(self) -> None:
        """Close every socket, and discard data that has not been delivered."""
        for each in filter(None, (self.client, self.listener, self.server)):
            if self.is_over:
                each.close()
            else:
                abort(each)


def connection(
    flow: TcpFlow, ends: Ends, algorithms: Mapping[str, str], *, quick_acks: bool = True
) -> Connection:
    """Create the sockets of a flow, each in the namespace of its host."""
    client, listener = tcp_sockets(flow.tcp, ends, algorithms)
    return Connection(flow, ends, client, listener, quick_acks)


def tcp_sockets(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str]
) -> tuple[socket.socket, socket.socket]:
    """Return two non-blocking sockets: a socket that connects, and a listening socket.

    `algorithms` maps names of congestion controls in scenarios to those of the kernel.
    """
    listener = listening(tcp, ends, algorithms, 1)
    try:
        (client,) = connecting(tcp, ends, algorithms, 1)
    except BaseException:
        listener.close()
        raise
    return client, listener


def listening(tcp: Tcp, ends: Ends, algorithms: Mapping[str, str], most: int) -> socket.socket:
    """Return a listening socket. Up to `most` connections may wait to be accepted."""

    def made() -> socket.socket:
        endpoint = tcp_socket(tcp, algorithms[tcp.congestion])
        endpoint.bind((ends.listening.address, ends.port))
        endpoint.listen(most)
        return endpoint

    return ends.listening.namespace.run(made)


def connecting(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str], count: int
) -> list[socket.socket]:
    """Return sockets that are not connected yet. The kernel chooses their ports when they
    connect."""

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
    """Return a TCP socket with the settings of a flow, in the calling thread's namespace."""
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
