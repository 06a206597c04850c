"""A TCP connection of the kernel between the servers and a station: one bulk flow."""

import selectors
import socket
from dataclasses import dataclass, field
from statistics import fmean

from lasthop.emulation.traffic import FIRST_PORT, SERVER, Traffic
from lasthop.linux.netns import Namespace
from lasthop.linux.tcp import (
    clamp_window,
    forbid_quick_acks,
    limit_segment,
    set_congestion,
    tcp_info,
)
from lasthop.models.reading import TcpFlow

CHUNK = bytes(65_536)


@dataclass
class Connection:
    """One flow: its two sockets and what has been counted since the end of the warm-up."""

    flow: TcpFlow
    port: int
    """Port of the server."""
    client: socket.socket
    """Socket at the station, which connects."""
    listener: socket.socket
    quick_acks: bool = True
    """Whether the receiver may acknowledge each segment for a while, as Linux does after a gap."""
    server: socket.socket | None = None
    received_bytes: int = 0
    has_data: bool = False
    """Whether something has arrived."""
    rtts_s: list[float] = field(default_factory=list)
    cwnds: list[int] = field(default_factory=list)
    retransmissions: int = 0
    """Retransmissions at the end of the warm-up."""

    @property
    def sender(self) -> socket.socket | None:
        """The socket that sends data."""
        return self.client if self.flow.is_up else self.server

    @property
    def window_bytes(self) -> int:
        """Receive window."""
        return self.flow.tcp.window_packets * self.flow.tcp.mss_bytes

    def begin(self, traffic: Traffic) -> None:
        """Let the station connect."""
        traffic.watch(self.listener, selectors.EVENT_READ, lambda: self.accept(traffic))
        self.client.connect_ex((SERVER, self.port))
        self.attach(traffic, self.client)

    def accept(self, traffic: Traffic) -> None:
        """Let the server take the connection."""
        traffic.leave(self.listener)
        self.server, _ = self.listener.accept()
        self.server.setblocking(False)
        self.attach(traffic, self.server)

    def attach(self, traffic: Traffic, one: socket.socket) -> None:
        """Fill the sender, empty the receiver."""
        if one is self.sender:
            traffic.watch(one, selectors.EVENT_WRITE, lambda: self.fill(traffic, one))
        else:
            traffic.watch(one, selectors.EVENT_READ, lambda: self.empty(traffic, one))

    def fill(self, traffic: Traffic, one: socket.socket) -> None:
        """Give the kernel as much as it takes."""
        try:
            one.send(CHUNK)
        except BlockingIOError:
            pass
        except OSError:
            traffic.leave(one)

    def empty(self, traffic: Traffic, one: socket.socket) -> None:
        """Take what has arrived."""
        try:
            length = len(one.recv(len(CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            length = 0
        if not self.has_data:
            self.has_data = True
            clamp_window(one, self.window_bytes)
        if not self.quick_acks and self.flow.tcp.delayed_ack:
            forbid_quick_acks(one)
        if length == 0:
            traffic.leave(one)
        elif traffic.warm:
            self.received_bytes += length

    def stop(self, traffic: Traffic) -> None:
        """Send no new data."""
        if self.sender is not None and traffic.watches(self.sender):
            traffic.leave(self.sender)
            self.sender.shutdown(socket.SHUT_WR)

    def begin_to_count(self) -> None:
        """Count from now on."""
        if self.sender is not None:
            self.retransmissions = tcp_info(self.sender).retransmissions

    def look(self) -> None:
        """Note round-trip time and window; the kernel's may grow beyond what the receiver takes."""
        if self.sender is None:
            return
        info = tcp_info(self.sender)
        if info.rtt_s > 0:
            self.rtts_s.append(info.rtt_s)
            self.cwnds.append(min(info.cwnd_packets, self.flow.tcp.window_packets))

    def quantities(self) -> dict[str, float]:
        """What has been measured beside the goodput."""
        values: dict[str, float] = {}
        if self.rtts_s:
            values["rtt_s"] = fmean(self.rtts_s)
            values["cwnd_packets"] = fmean(self.cwnds)
        if self.sender is not None:
            again = tcp_info(self.sender).retransmissions - self.retransmissions
            values["retransmissions"] = float(again)
        return values

    def close(self) -> None:
        """Close every socket."""
        for one in (self.client, self.listener, self.server):
            if one is not None:
                one.close()


def connection(
    index: int,
    flow: TcpFlow,
    server: Namespace,
    station: Namespace,
    algorithm: str,
    *,
    quick_acks: bool = True,
) -> Connection:
    """Make the sockets of flow number `index`, each in its namespace."""
    tcp = flow.tcp
    window = tcp.window_packets * tcp.mss_bytes

    def made() -> socket.socket:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        set_congestion(one, algorithm)
        limit_segment(one, tcp.mss_bytes)
        clamp_window(one, window)
        return one

    def listening() -> socket.socket:
        one = made()
        one.bind((SERVER, FIRST_PORT + index))
        one.listen(1)
        return one

    listener = server.run(listening)
    try:
        return Connection(flow, FIRST_PORT + index, station.run(made), listener, quick_acks)
    except BaseException:
        listener.close()
        raise
