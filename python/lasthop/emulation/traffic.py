"""Real TCP connections between namespaces: made, filled, emptied and counted by one thread."""

import heapq
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lasthop.emulation.limits import CONGESTION
from lasthop.linux.netns import Namespace
from lasthop.linux.tcp import clamp_window, set_congestion, tcp_info

__all__ = ["FIRST_PORT", "SERVER", "Connection", "Traffic"]

SERVER = "10.255.0.1"
FIRST_PORT = 20_000
"""As in crates/emulator: the server's port of flow k is this plus k."""

CHUNK = bytes(65_536)
LOOK_S = 0.1
"""Time between two looks at round-trip times. [s]"""


@dataclass
class Connection:
    """One flow: its two sockets and what has been counted since the end of the warm-up."""

    flow: Mapping[str, Any]
    client: socket.socket
    """At the station, which connects."""
    listener: socket.socket
    server: socket.socket | None = None
    received_bytes: int = 0
    rtts_s: list[float] = field(default_factory=list)
    retransmissions: int = 0
    """When the warm-up ended."""

    @property
    def sender(self) -> socket.socket | None:
        """The socket that sends data."""
        return self.client if self.flow["direction"] == "up" else self.server

    @property
    def receiver(self) -> socket.socket | None:
        """The socket that receives it."""
        return self.server if self.flow["direction"] == "up" else self.client

    def close(self) -> None:
        """Close every socket."""
        for one in (self.client, self.listener, self.server):
            if one is not None:
                one.close()


def connection(
    index: int, flow: Mapping[str, Any], server: Namespace, station: Namespace
) -> Connection:
    """Make the sockets of flow number `index`, each in its namespace."""
    tcp = flow["tcp"]
    window = tcp["window_packets"] * tcp["mss_bytes"]
    algorithm = CONGESTION[tcp["congestion"]]

    def made() -> socket.socket:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        set_congestion(one, algorithm)
        clamp_window(one, window)
        return one

    def listening() -> socket.socket:
        one = made()
        one.bind((SERVER, FIRST_PORT + index))
        one.listen(1)
        return one

    listener = server.run(listening)
    try:
        return Connection(flow, station.run(made), listener)
    except BaseException:
        listener.close()
        raise


class Traffic:
    """All connections, driven by the clock.

    Parameters
    ----------
    connections : list of Connection
    warmup_s, duration_s : float
        When counting begins, and when all ends.
    """

    def __init__(self, connections: list[Connection], warmup_s: float, duration_s: float) -> None:
        self.connections = connections
        self.warmup_s = warmup_s
        self.duration_s = duration_s
        self.selector = selectors.DefaultSelector()
        self.begun_s = 0.0
        self.warm = False

    def run(self, keep_going: Callable[[float], bool]) -> None:
        """Drive the connections from now on for the duration.

        Parameters
        ----------
        keep_going : callable
            Given the time passed about every 100 ms; False stops.
        """
        self.begun_s = time.monotonic()
        agenda: list[tuple[float, int, Callable[[], None]]] = []
        for number, each in enumerate(self.connections):
            agenda.append((each.flow["start_s"], 2 * number, partial(self.begin, each)))
            if each.flow["stop_s"] is not None:
                stop = (each.flow["stop_s"], 2 * number + 1, partial(self.stop, each))
                agenda.append(stop)
        heapq.heapify(agenda)
        look_s = 0.0
        while (now := time.monotonic() - self.begun_s) < self.duration_s:
            while agenda and agenda[0][0] <= now:
                heapq.heappop(agenda)[2]()
            if not self.warm and now >= self.warmup_s:
                self.begin_to_count()
            if now >= look_s:
                look_s = now + LOOK_S
                self.look()
                if not keep_going(now):
                    return
            until = min(look_s, self.duration_s, *(agenda[0][:1] if agenda else ()))
            for key, _ in self.selector.select(max(0.0, until - now)):
                key.data()

    def begin(self, each: Connection) -> None:
        """The station connects."""
        index = self.connections.index(each)
        self.selector.register(each.listener, selectors.EVENT_READ, lambda: self.accept(each))
        each.client.connect_ex((SERVER, FIRST_PORT + index))
        self.attach(each, each.client)

    def accept(self, each: Connection) -> None:
        """The server takes the connection."""
        self.selector.unregister(each.listener)
        each.server, _ = each.listener.accept()
        each.server.setblocking(False)
        self.attach(each, each.server)

    def attach(self, each: Connection, one: socket.socket) -> None:
        """Fill the sender, empty the receiver."""
        if one is each.sender:
            self.selector.register(one, selectors.EVENT_WRITE, lambda: self.fill(one))
        else:
            self.selector.register(one, selectors.EVENT_READ, lambda: self.empty(each, one))

    def fill(self, one: socket.socket) -> None:
        """Give the kernel as much as it takes."""
        try:
            one.send(CHUNK)
        except BlockingIOError:
            pass
        except OSError:
            self.selector.unregister(one)

    def empty(self, each: Connection, one: socket.socket) -> None:
        """Take what has arrived."""
        try:
            length = len(one.recv(len(CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            length = 0
        if length == 0:
            self.selector.unregister(one)
        elif self.warm:
            each.received_bytes += length

    def stop(self, each: Connection) -> None:
        """No new data."""
        if each.sender is not None and each.sender in self.selector.get_map():
            self.selector.unregister(each.sender)
            each.sender.shutdown(socket.SHUT_WR)

    def begin_to_count(self) -> None:
        """What is counted is counted from now on."""
        self.warm = True
        for each in self.connections:
            if each.sender is not None:
                each.retransmissions = tcp_info(each.sender).retransmissions

    def look(self) -> None:
        """Note the round-trip times."""
        if self.warm:
            for each in self.connections:
                if each.sender is not None and (rtt_s := tcp_info(each.sender).rtt_s) > 0:
                    each.rtts_s.append(rtt_s)

    def close(self) -> None:
        """Close every socket."""
        self.selector.close()
        for each in self.connections:
            each.close()
