"""A gateway between a server and many stations, in network namespaces, at full speed.

    SERVER --- ISP --- wan GATEWAY lan --- STATIONS, as addresses of one interface

Sender and receiver use as little CPU time as possible, because they share processors with the
gateway. The server sends 64 kB per system call, without copying. The ISP cuts these segments into
frames of 1514 bytes, as a network card would deliver them. Stations discard the data.

The ISP has a second purpose. While a packet of a local socket waits in a queue, its sender stops
(TCP small queues). The ISP passes packets on as if they came from another machine, so that their
senders do not stop.
"""

import mmap
import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Self

from tc_network import entered, sh

from lasthop.linux import offload

PREFIX = f"lhc{os.getpid()}"
SERVER, ISP, GATEWAY, STATIONS = (f"{PREFIX}-{role}" for role in ("srv", "isp", "gw", "sta"))
SERVER_V4 = "10.77.0.2"
CHUNK_BYTES = 1 << 18
WINDOW_BYTES = 1 << 18
"""Receive buffer of a connection. A thousand buffers must fit into memory. [bytes]"""
PROCESSES = 2
"""Number of processes that send. The same number of processes receive."""


def station_v4(k: int) -> str:
    """Return the IPv4 address of station number `k`."""
    return f"10.78.{k // 250}.{k % 250 + 2}"


SET_TSO = 0x1F


def cut_segments(device: str) -> None:
    """Make an interface split large segments into single frames, which the other end of the veth
    pair may merge.

    A veth interface merges only packets from an interface that cannot send the merged packet
    itself.
    """
    offload.ethtool(device, SET_TSO, 0)


class Network:
    """The network namespaces of server, ISP, gateway and stations."""

    def __init__(self, stations: int) -> None:
        for name in (SERVER, ISP, GATEWAY, STATIONS):
            sh(f"ip netns add {name}; ip -n {name} link set lo up")
        for a, device_a, b, device_b in (
            (SERVER, "up0", ISP, "down0"),
            (ISP, "up0", GATEWAY, "wan"),
            (GATEWAY, "lan", STATIONS, "wl0"),
        ):
            sh(f"ip link add {device_a} netns {a} type veth peer name {device_b} netns {b}")
            sh(f"ip -n {a} link set {device_a} up; ip -n {b} link set {device_b} up")
        for name, device in ((ISP, "up0"), (STATIONS, "wl0")):
            with entered(name):
                cut_segments(device)
        for name, device, own in (
            (SERVER, "up0", f"{SERVER_V4}/24"),
            (ISP, "down0", "10.77.0.1/24"),
            (ISP, "up0", "10.79.0.1/24"),
            (GATEWAY, "wan", "10.79.0.2/24"),
            (GATEWAY, "lan", "10.78.255.254/16"),
        ):
            sh(f"ip -n {name} address add {own} dev {device}")
        for name, via in (
            (SERVER, "10.77.0.1"),
            (ISP, "10.79.0.2"),
            (GATEWAY, "10.79.0.1"),
        ):
            sh(f"ip -n {name} route add default via {via}")
        for name in (ISP, GATEWAY):
            sh(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1")
        lines = "\n".join(f"address add {station_v4(k)}/16 dev wl0" for k in range(stations))
        sh(f"ip -n {STATIONS} -batch - <<'end'\n{lines}\nend")
        sh(f"ip -n {STATIONS} route add default via 10.78.255.254")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in (SERVER, ISP, GATEWAY, STATIONS):
            with suppress(RuntimeError):
                sh(f"ip netns del {name}")


class Pair(NamedTuple):
    """The two sockets of a TCP connection."""

    sender: socket.socket
    receiver: socket.socket


def connected(stations: Sequence[int], window_bytes: int | None = WINDOW_BYTES) -> list[Pair]:
    """Open a connection from the server to each of these stations. With None, Linux sets the
    receive windows.

    The receive buffer is twice as large as the window, and at most `net.core.rmem_max`.
    """
    pairs = []
    with entered(SERVER):
        listener = socket.create_server((SERVER_V4, 0), backlog=len(stations))
    with listener:
        for k in stations:
            with entered(STATIONS):
                client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                if window_bytes is not None:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window_bytes)
                client.settimeout(10)
                client.bind((station_v4(k), 0))
                client.connect(listener.getsockname())
            server, _ = listener.accept()
            pairs.append(Pair(server, client))
    return pairs


class Downloads:
    """A download to each of these stations. Separate processes send and receive until the `with`
    block ends.
    """

    def __init__(self, stations: Sequence[int], window_bytes: int | None = WINDOW_BYTES) -> None:
        self.received = mmap.mmap(-1, 8 * PROCESSES)
        self.children: list[int] = []
        pairs = connected(stations, window_bytes)
        for pair in pairs:
            pair.sender.setblocking(False)
            pair.receiver.setblocking(False)
        for k in range(PROCESSES):
            part = pairs[k::PROCESSES]
            self.start(partial(send, [pair.sender for pair in part]))
            self.start(partial(receive, [pair.receiver for pair in part], self.tell(k)))
        for pair in pairs:
            pair.sender.close()
            pair.receiver.close()

    def tell(self, k: int) -> memoryview:
        """Return the shared memory in which receiving process `k` counts received bytes. [bytes]"""
        return memoryview(self.received).cast("Q")[k : k + 1]

    def start(self, what: Callable[[], None]) -> None:
        """Run the function `what` in a separate process."""
        child = os.fork()
        if child == 0:
            try:
                what()
            finally:
                os._exit(0)
        self.children.append(child)

    def received_bytes(self) -> int:
        """Return the total of received bytes so far. [bytes]"""
        return sum(memoryview(self.received).cast("Q"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def send(sockets: Sequence[socket.socket]) -> None:
    """Send data on all connections as fast as their sockets accept it."""
    file = os.memfd_create("zeros")
    os.truncate(file, CHUNK_BYTES)
    poll = select.epoll()
    for each in sockets:
        poll.register(each, select.EPOLLOUT)
    while True:
        for number, _ in poll.poll():
            with suppress(BlockingIOError):
                os.sendfile(number, file, 0, CHUNK_BYTES)


def receive(sockets: Sequence[socket.socket], total: memoryview) -> None:
    """Discard the received data, and add its length to `total`."""
    by_number = {each.fileno(): each for each in sockets}
    poll = select.epoll()
    for each in sockets:
        poll.register(each, select.EPOLLIN)
    while True:
        for number, _ in poll.poll():
            with suppress(BlockingIOError):
                # with the flag MSG_TRUNC, TCP discards data without copying it
                total[0] += len(by_number[number].recv(CHUNK_BYTES, socket.MSG_TRUNC))
