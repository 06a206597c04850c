"""Measure the CPU time that two relays need to open, keep and close TCP connections, and to send
packets.

The relays are threads of this process. The kernel reports the CPU time of each thread in
nanoseconds. While a stream exists, the relays keep the largest number of connections open. Ten
seconds after the end of the last stream, they need only one connection. The other connections
remain idle for a minute and are then closed.
"""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import BenchError

import lasthop as lh

PATIENCE_S = 90.0
MANY = 101
"""Number of connections while a stream exists. One connection always exists."""
CYCLES = 3
PACKETS, PACKET_BYTES, RATE_PPS = 1000, 1000, 200.0
"""Number, size [bytes] and rate [1/s] of packets that are sent slowly. Each packet is a message of
the relays and a TCP segment."""
SETTLE_S, IDLE_S = 2.0, 4.0
"""Pause after the last stream, and idle time during which the CPU time of open connections is
measured. [s]"""

LOOK_S, AROUND_S = 0.1, 1.0
ESTABLISHED = "01"
"""Code of an established connection in /proc/net/tcp."""

Cpu = np.ndarray
"""CPU times of both relays: first the relay near the targets, then the relay near the programs.
[s]"""


def costs() -> dict[str, list[float]]:
    """Return the CPU time of each relay to open a connection, to close it, to keep it open for a
    second, and to send a packet.

    The values are medians over several runs. The relay near the targets comes first. [s, s, s/s, s]
    """
    runs = [one_run() for _ in range(CYCLES)]
    return {
        what: [median(float(run[what][index]) for run in runs) for index in (0, 1)]
        for what in runs[0]
    }


def one_run() -> dict[str, Cpu]:
    """Open many connections, send packets slowly over them, leave them idle, and close them."""
    with pair() as (relays, cpu):
        none, rest_s = resting(cpu)
        begun, begun_s = cpu(), time.monotonic()
        with stream(relays[1]) as ends:
            for end in ends:
                end.sendall(b"x")  # without an RTT sample the relays open no connection
            await_sockets(relays[0], MANY)
            opened_s = time.monotonic() - begun_s
            opened = cpu()
            send_slowly(*ends)
            sent = cpu()
        time.sleep(SETTLE_S)
        idle, idle_s = resting(cpu)
        await_connections(relays, 1)
        closed = closing(relays[0], cpu)
    count = MANY - 1
    return {
        "open": (opened - begun - none / rest_s * opened_s) / count,
        "close": closed / count,
        "have": (idle / idle_s - none / rest_s) / count,
        "packet": (sent - opened - idle / idle_s * PACKETS / RATE_PPS) / PACKETS,
    }


@contextmanager
def pair() -> Iterator[tuple[list[Any], Callable[[], Cpu]]]:
    """Start two relays, first the one near the targets. Yield the relays, and a function that reads
    their CPU times."""
    key = lh.relay.new_key()
    terms = lh.relay.Terms(k_per_s=1e9, connections=(1, MANY), interval_s=0.1)
    with ExitStack() as stack:
        server, server_thread = with_its_thread(partial(lh.relay.Server, key), stack)
        near = partial(lh.relay.Client, server.address, key, terms)
        client, client_thread = with_its_thread(near, stack)
        # at their start, relays open all connections in advance; wait until they are closed again
        await_connections((server, client), MANY)
        await_connections((server, client), 1)
        await_connections((server, client), 0, "connections_resting")
        yield [server, client], lambda: np.array([cpu_of(server_thread), cpu_of(client_thread)])


@contextmanager
def stream(client: Any) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Open a stream through the relays. Yield the sockets at both ends."""
    with (
        socket.create_server(("127.0.0.1", 0)) as target,
        client.connect(*target.getsockname()) as near,
    ):
        far, _ = target.accept()
        with far:
            yield near, far


def resting(cpu: Callable[[], Cpu]) -> tuple[Cpu, float]:
    """Return the CPU time of both relays during an idle period, and the duration of the period.
    [s]"""
    before, begun_s = cpu(), time.monotonic()
    time.sleep(IDLE_S)
    return cpu() - before, time.monotonic() - begun_s


def closing(server: Any, cpu: Callable[[], Cpu]) -> Cpu:
    """Return the CPU time of both relays to close all connections except one. The usual CPU time,
    measured before and after the closing, is subtracted. [s]"""
    times: list[float] = []
    spent: list[Cpu] = []
    left = MANY
    closed_at = 0
    while left > 1 or times[-1] < times[closed_at] + 2 * AROUND_S:
        time.sleep(LOOK_S)
        times.append(time.monotonic())
        spent.append(cpu())
        if left > 1:
            left, closed_at = sockets(server), len(times) - 1
        if times[-1] > times[0] + PATIENCE_S:
            raise BenchError(f"{left} connections stay")
    looks = round(AROUND_S / LOOK_S)
    first, last = closed_at - looks, closed_at + looks
    rates = [
        (spent[until] - spent[since]) / (times[until] - times[since])
        for since, until in ((0, first), (last - looks // 2, len(times) - 1))
    ]
    usual = sum(rates) / 2 * (times[last] - times[first])
    return np.array(spent[last] - spent[first] - usual)


def sockets(server: Any) -> int:
    """Return the number of connections of a server, as the kernel reports it. A query to the relay
    itself would cost CPU time of the relay."""
    port = f":{server.address[1]:04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(row[1].endswith(port) and row[3] == ESTABLISHED for row in rows)


def await_sockets(server: Any, count: int) -> None:
    """Wait until a server has this many connections, and then for a moment until their handshakes
    are complete."""
    until_s = time.monotonic() + PATIENCE_S
    while sockets(server) != count:
        if time.monotonic() > until_s:
            raise BenchError(f"not {count} connections: {server.metrics()}")
        time.sleep(LOOK_S)
    time.sleep(AROUND_S)


def send_slowly(near: socket.socket, far: socket.socket) -> None:
    """Send packets one by one at the rate `RATE_PPS`."""
    packet, begun_s = bytes(PACKET_BYTES), time.monotonic()
    for number in range(PACKETS):
        time.sleep(max(0.0, begun_s + number / RATE_PPS - time.monotonic()))
        near.sendall(packet)
        left = PACKET_BYTES
        while left:
            left -= len(far.recv(left))


def with_its_thread(make: Callable[[], Any], stack: ExitStack) -> tuple[Any, str]:
    """Start a relay in this process. Return the relay and the name of its thread."""
    before = relay_threads()
    relay = stack.enter_context(make())
    relay.metrics()  # The call returns only after the thread exists and has its name.
    (thread,) = relay_threads() - before
    return relay, thread


def relay_threads() -> set[str]:
    """Return the names of the threads of relays in this process."""
    tasks = Path("/proc/self/task").iterdir()
    return {task.name for task in tasks if (task / "comm").read_text().strip() == "relay"}


def cpu_of(thread: str) -> float:
    """Return the CPU time of a thread so far. [s]"""
    return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[0]) / 1e9


def await_connections(relays: Sequence[Any], count: int, which: str = "connections") -> None:
    """Wait until all relays have this many connections."""
    until_s = time.monotonic() + PATIENCE_S
    while any(relay.metrics()[which] != count for relay in relays):
        if time.monotonic() > until_s:
            raise BenchError(f"not {count} connections: {relays[0].metrics()}")
        time.sleep(0.02)
