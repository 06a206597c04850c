"""A TCP connection of the kernel between two hosts: one flow, with an end or without."""

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
"""IP_BIND_ADDRESS_NO_PORT of linux/in.h: the port is chosen when both ends are known."""


@dataclass
class Connection:
    """One flow: its two sockets and what has been counted since the end of the warm-up."""

    flow: TcpFlow
    ends: Ends
    client: socket.socket
    """Socket of the end that connects."""
    listener: socket.socket | None
    """Socket at which it arrives; None: another's, which somebody watches."""
    quick_acks: bool = True
    """Whether the receiver may acknowledge each segment for a while, as Linux does after a gap."""
    server: socket.socket | None = None
    received_bytes: int = 0
    arrived_bytes: int = 0
    """Payload that has arrived since the start."""
    rtts_s: list[float] = field(default_factory=list)
    cwnds: list[int] = field(default_factory=list)
    retransmissions: int = 0
    """Retransmissions at the end of the warm-up."""
    left_bytes: int | None = None
    """What is still to be sent; None: it has no end."""
    begun_s: float = 0.0
    finished_s: float | None = None
    is_over: bool = False
    """Whether all that was sent has arrived, and no more comes."""

    def __post_init__(self) -> None:
        segments = self.flow.tcp.segments
        if segments is not None:
            self.left_bytes = segments * self.flow.tcp.mss_bytes

    @property
    def sender(self) -> socket.socket | None:
        """The socket that sends data."""
        return self.server if self.ends.listener_sends else self.client

    @property
    def sent_again(self) -> int:
        """Segments sent again since the start: none by a server that nobody has reached."""
        return 0 if self.sender is None else tcp_info(self.sender).retransmissions

    @property
    def window_bytes(self) -> int:
        """Receive window."""
        return self.flow.tcp.window_packets * self.flow.tcp.mss_bytes

    def begin(self, traffic: Traffic) -> None:
        """Let one end connect."""
        if self.listener is not None:
            listener = self.listener
            traffic.watch(listener, selectors.EVENT_READ, lambda: self.accept(traffic, listener))
        self.connect(traffic)

    def connect(self, traffic: Traffic) -> None:
        """Ask the other end."""
        self.begun_s = traffic.now_s()
        self.client.connect_ex((self.ends.listening.address, self.ends.port))
        self.attach(traffic, self.client)

    def accept(self, traffic: Traffic, listener: socket.socket) -> None:
        """Let the other end take the connection."""
        traffic.leave(listener)
        server, _ = listener.accept()
        self.take(traffic, server)

    def take(self, traffic: Traffic, server: socket.socket) -> None:
        """The other end has taken the connection."""
        self.server = server
        server.setblocking(False)
        self.attach(traffic, server)

    def attach(self, traffic: Traffic, listener: socket.socket) -> None:
        """Fill the sender, empty the receiver."""
        if listener is self.sender:
            traffic.watch(listener, selectors.EVENT_WRITE, lambda: self.fill(traffic, listener))
        else:
            traffic.watch(listener, selectors.EVENT_READ, lambda: self.empty(traffic, listener))

    def fill(self, traffic: Traffic, listener: socket.socket) -> None:
        """Give the kernel as much as it takes; behind the last byte wait for its ACK."""
        length = len(CHUNK) if self.left_bytes is None else min(self.left_bytes, len(CHUNK))
        try:
            if length == self.left_bytes:
                tell_when_acknowledged(listener)
            sent = listener.send(CHUNK[:length])
        except BlockingIOError:
            empty_error_queue(listener)
            return
        except OSError:
            traffic.leave(listener)
            return
        if self.left_bytes is not None:
            self.left_bytes -= sent
            if self.left_bytes == 0:
                traffic.leave(listener)
                listener.shutdown(socket.SHUT_WR)
                traffic.watch(
                    listener, selectors.EVENT_READ, lambda: self.finish(traffic, listener)
                )

    def finish(self, traffic: Traffic, listener: socket.socket) -> None:
        """The last byte is acknowledged, or the connection is lost."""
        try:
            empty_error_queue(listener)
            if is_acknowledged(listener):
                self.finished_s = traffic.now_s()
            else:
                listener.recv(1)
        except BlockingIOError:
            return
        except OSError:
            pass
        traffic.leave(listener)

    def empty(self, traffic: Traffic, listener: socket.socket) -> None:
        """Take what has arrived."""
        try:
            length = len(listener.recv(len(CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            length = 0
        if not self.arrived_bytes:
            clamp_window(listener, self.window_bytes)
        self.arrived_bytes += length
        if not self.quick_acks and self.flow.tcp.delayed_ack:
            forbid_quick_acks(listener)
        if length == 0:
            self.is_over = True
            traffic.leave(listener)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
        elif traffic.warm:
            self.received_bytes += length

    def stop(self, traffic: Traffic) -> None:
        """Send no new data."""
        is_done = self.left_bytes == 0
        if self.sender is not None and traffic.watches(self.sender) and not is_done:
            traffic.leave(self.sender)
            self.sender.shutdown(socket.SHUT_WR)

    def begin_to_count(self) -> None:
        """Count from now on."""
        self.retransmissions = self.sent_again

    def look(self) -> None:
        """Note round-trip time and window while there is something to send or to acknowledge; the
        kernel's window may grow beyond what the receiver takes."""
        if self.sender is None or self.finished_s is not None:
            return
        info = tcp_info(self.sender)
        if info.rtt_s > 0:
            self.rtts_s.append(info.rtt_s)
            self.cwnds.append(min(info.cwnd_packets, self.flow.tcp.window_packets))

    def quantities(self) -> dict[str, float]:
        """What has been measured beside the goodput."""
        values = {"retransmissions": float(self.sent_again - self.retransmissions)}
        if self.rtts_s:
            values |= {"rtt_s": fmean(self.rtts_s), "cwnd_packets": fmean(self.cwnds)}
        if self.left_bytes is not None:
            values["unfinished"] = float(self.finished_s is None)
            if self.finished_s is not None:
                values["completion_s"] = self.finished_s - self.begun_s
        return values

    def close(self) -> None:
        """Close every socket, and let nothing that has not arrived outlive it."""
        for each in filter(None, (self.client, self.listener, self.server)):
            if self.is_over:
                each.close()
            else:
                abort(each)


def connection(
    flow: TcpFlow, ends: Ends, algorithms: Mapping[str, str], *, quick_acks: bool = True
) -> Connection:
    """Make the sockets of a flow, each in its namespace."""
    client, listener = tcp_sockets(flow.tcp, ends, algorithms)
    return Connection(flow, ends, client, listener, quick_acks)


def tcp_sockets(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str]
) -> tuple[socket.socket, socket.socket]:
    """Two sockets that do not block: one that is to connect, one that listens.

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
    """A socket that listens; up to `most` connections wait to be accepted."""

    def made() -> socket.socket:
        endpoint = tcp_socket(tcp, algorithms[tcp.congestion])
        endpoint.bind((ends.listening.address, ends.port))
        endpoint.listen(most)
        return endpoint

    return ends.listening.namespace.run(made)


def connecting(
    tcp: Tcp, ends: Ends, algorithms: Mapping[str, str], count: int
) -> list[socket.socket]:
    """Sockets that are to connect; their ports are chosen then."""

    def made() -> list[socket.socket]:
        ones: list[socket.socket] = []
        try:
            for _ in range(count):
                ones.append(tcp_socket(tcp, algorithms[tcp.congestion]))
                ones[-1].setsockopt(socket.IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1)
                ones[-1].bind((ends.connecting.address, 0))
        except BaseException:
            for each in ones:
                each.close()
            raise
        return ones

    return ends.connecting.namespace.run(made)


def tcp_socket(tcp: Tcp, algorithm: str) -> socket.socket:
    """A socket with a connection's settings, in the calling thread's namespace."""
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
