"""Traffic of the kernel's TCP and UDP through the hot-spot, and measurements of its performance.

Each kind of traffic runs in a separate process. All processes use the same clock, and return tables
of their results between `Window.from_s` and `Window.to_s`.
"""

import json
import os
import random
import selectors
import socket
import statistics
import struct
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from tc_network import ADDRESSES, SERVER, SERVERS, entered

CHUNK = bytes(1 << 18)
CALL_INTERVAL_S, CALL_BYTES = 0.02, 160
ECHO_INTERVAL_S, ECHO_BYTES = 0.1, 64
PAGE_OBJECTS, OBJECT_BYTES, PAGE_CONNECTIONS, REQUEST_BYTES = 30, 20_000, 6, 400
PAGE_PAUSE_S = 1.0
START_INTERVAL_S = 0.1
"""Mean time between the starts of two endless connections. [s]"""
STAMP = struct.Struct("!d")
"""Layout of a datagram's first bytes: the sending time."""
ECHO_REPLY, ECHO_REQUEST = 0, 8
IP_HEADER, ICMP_HEADER, PING_BYTES = 20, 8, 56
LINGER_S = 3.0
"""Time after the end of a window in which datagrams may still arrive. [s]"""

Table = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """Start of the traffic, and begin and end of the measured interval, on the monotonic clock.
    [s]"""

    begin_s: float
    from_s: float
    to_s: float
    seed: int
    """Seed of the random start times of connections and of datagram sources."""

    def wait(self) -> None:
        """Sleep until the start of the traffic."""
        time.sleep(max(0.0, self.begin_s - time.monotonic()))

    def counts(self, sent_s: float) -> bool:
        """Return whether a packet with this sending time is measured."""
        return self.from_s <= sent_s < self.to_s


class Process:
    """Call of a function in a separate process."""

    def __init__(self, work: Callable[[], Table]) -> None:
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            try:
                answer: Table = work()
            except BaseException:
                answer = {"failed": traceback.format_exc()}
            with os.fdopen(writer, "w") as pipe:
                json.dump(answer, pipe)
            os._exit(0)
        os.close(writer)
        self.reader = reader

    def result(self) -> Table:
        """Return the function's result. Raises `RuntimeError` with the reason if the function
        failed."""
        with os.fdopen(self.reader) as pipe:
            answer: Table = json.load(pipe)
        os.waitpid(self.pid, 0)
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the quantile of the values at the fraction `share`; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


# -- bulk ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bulk:
    """Number of endless connections of one station in one direction."""

    station: str
    connections: int
    download: bool


def bulk(groups: Sequence[Bulk], window: Window) -> Table:
    """Run endless connections, and return the goodput of each station. [bit/s]"""
    servers = cycle(SERVERS)
    received: dict[str, int] = {group.station: 0 for group in groups}
    with selectors.DefaultSelector() as selector:
        window.wait()
        drawn = random.Random(window.seed)
        every = [group for group in groups for _ in range(group.connections)]
        for group in drawn.sample(every, len(every)):
            time.sleep(drawn.uniform(0, 2 * START_INTERVAL_S))
            server, client = connection(next(servers), group.station)
            sender, receiver = (server, client) if group.download else (client, server)
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 16_384)
            selector.register(sender, selectors.EVENT_WRITE, None)
            selector.register(receiver, selectors.EVENT_READ, group.station)
        buffer = bytearray(1 << 20)

        def until(end_s: float) -> float:
            while (now := time.monotonic()) < end_s:
                for key, _ in selector.select(end_s - now):
                    end: socket.socket = key.fileobj  # type: ignore[assignment]
                    try:
                        if key.data is None:
                            end.send(CHUNK)
                        else:
                            received[key.data] += end.recv_into(buffer)
                    except BlockingIOError:
                        continue
            return now

        before_s, before = until(window.from_s), dict(received)
        after_s = until(window.to_s)
    return {name: 8 * (received[name] - before[name]) / (after_s - before_s) for name in received}


def connection(server: str, station: str) -> tuple[socket.socket, socket.socket]:
    """Open a TCP connection from a station to a server. Return the sender's and the receiver's
    socket, both non-blocking."""
    with entered(SERVER), socket.create_server((server, 0)) as listener:
        with entered(station):
            client = socket.create_connection(listener.getsockname(), timeout=30)
        end, _ = listener.accept()
    for each in (end, client):
        each.setblocking(False)
    return end, client


# -- datagrams ----------------------------------------------------------------------------------


def datagram_socket(namespace: str, address: str) -> socket.socket:
    """Return a UDP socket in a namespace, bound to an address."""
    with entered(namespace):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((address, 0))
    return made


def ticks(window: Window, interval_s: float, count: int) -> list[tuple[float, int]]:
    """Return the sending times of the datagrams of `count` sources, each with the index of the
    source. Each source sends at equal intervals, with a random phase."""
    drawn = random.Random(f"{window.seed} {interval_s}")
    schedule = []
    for source in range(count):
        due_s = window.begin_s + drawn.uniform(0, interval_s)
        while due_s < window.to_s:
            schedule.append((due_s, source))
            due_s += interval_s
    return sorted(schedule)


def counted(window: Window, plan: Sequence[tuple[float, int]], source: int) -> int:
    """Return the number of datagrams of a source that are sent in the measured interval."""
    return sum(window.counts(due_s) for due_s, which in plan if which == source)


def exchanged(
    sources: Sequence[tuple[socket.socket, Any]],
    sinks: Sequence[socket.socket],
    window: Window,
    plan: Sequence[tuple[float, int]],
    size_bytes: int,
    echo: bool,
) -> list[list[tuple[float, float]]]:
    """Send datagrams at the times of `plan`. Return the sending and arrival times of the datagrams
    of each source.

    With `echo`, a sink returns each datagram to its source, and the arrival time is the time of its
    return to the source.
    """
    seen: list[list[tuple[float, float]]] = [[] for _ in sources]
    padding = bytes(size_bytes - STAMP.size)
    with selectors.DefaultSelector() as selector:
        for index, (source, sink) in enumerate(zip(sources, sinks, strict=True)):
            selector.register(sink, selectors.EVENT_READ, (index, echo))
            if echo:
                selector.register(source[0], selectors.EVENT_READ, (index, False))

        def listen(end_s: float) -> None:
            while (now := time.monotonic()) < end_s:
                for key, _ in selector.select(end_s - now):
                    end: socket.socket = key.fileobj  # type: ignore[assignment]
                    index, back = key.data
                    data, came_from = end.recvfrom(2048)
                    if back:
                        end.sendto(data, came_from)
                    else:
                        seen[index].append((*STAMP.unpack_from(data), time.monotonic()))

        for due_s, index in plan:
            listen(due_s)
            sender, to = sources[index]
            sender.sendto(STAMP.pack(time.monotonic()) + padding, to)
        listen(window.to_s + LINGER_S)
    return seen


def call(station: str, window: Window) -> Table:
    """Simulate a voice call of a station, and measure its one-way delay and loss in each
    direction."""
    server_socket, station_socket = (
        datagram_socket(SERVER, SERVERS[-1]),
        datagram_socket(station, ADDRESSES[station]),
    )
    ways = [
        (server_socket, station_socket.getsockname()),
        (station_socket, server_socket.getsockname()),
    ]
    plan = ticks(window, CALL_INTERVAL_S, len(ways))
    seen = exchanged(ways, [station_socket, server_socket], window, plan, CALL_BYTES, echo=False)
    figures: Table = {}
    for index, way in enumerate(("down", "up")):
        delays = [came_s - sent_s for sent_s, came_s in seen[index] if window.counts(sent_s)]
        figures[f"{way}_delay_median_s"] = quantile(delays, 0.5)
        figures[f"{way}_delay_p95_s"] = quantile(delays, 0.95)
        figures[f"{way}_loss"] = max(0.0, 1 - len(delays) / counted(window, plan, index))
    return figures


def echoes(stations: Sequence[str], window: Window) -> Table:
    """Measure the round-trip times of UDP packets from the server to stations and back. The packets
    are similar to those of a game.
    """
    sinks = [datagram_socket(name, ADDRESSES[name]) for name in stations]
    sources = [(datagram_socket(SERVER, SERVERS[-2]), sink.getsockname()) for sink in sinks]
    plan = ticks(window, ECHO_INTERVAL_S, len(sources))
    seen = exchanged(sources, sinks, window, plan, ECHO_BYTES, echo=True)
    return summaries(stations, window, plan, seen)


def pings(stations: Sequence[str], window: Window) -> Table:
    """Measure the ICMP round-trip times from the server to stations."""
    plan, seen = pinged(stations, window)
    return summaries(stations, window, plan, seen)


def pinged(
    stations: Sequence[str], window: Window
) -> tuple[list[tuple[float, int]], list[list[tuple[float, float]]]]:
    """Send pings from the server to stations. Return the planned sending times, and for each
    station the actual sending times and the arrival times of the replies."""
    with entered(SERVER):
        pinger = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    addresses = [ADDRESSES[name] for name in stations]
    seen: list[list[tuple[float, float]]] = [[] for _ in stations]

    def listen(end_s: float) -> None:
        while (left_s := end_s - time.monotonic()) > 0:
            pinger.settimeout(left_s)
            try:
                data, (address, _) = pinger.recvfrom(2048)
            except TimeoutError:
                return
            if data[IP_HEADER] == ECHO_REPLY and address in addresses:
                [sent_s] = STAMP.unpack_from(data, IP_HEADER + ICMP_HEADER)
                seen[addresses.index(address)].append((sent_s, time.monotonic()))

    plan = ticks(window, ECHO_INTERVAL_S, len(stations))
    for number, (due_s, index) in enumerate(plan):
        listen(due_s)
        request = echo_request(number, STAMP.pack(time.monotonic()).ljust(PING_BYTES, b"\0"))
        pinger.sendto(request, (addresses[index], 0))
    listen(window.to_s + LINGER_S)
    return plan, seen


def echo_request(number: int, payload: bytes) -> bytes:
    """Return an ICMP echo request (RFC 792)."""
    head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, 77, number & 0xFFFF)
    total = sum(struct.unpack(f"!{(len(head) + len(payload)) // 2}H", head + payload))
    total = (total >> 16) + (total & 0xFFFF)
    total += total >> 16
    return head[:2] + struct.pack("!H", ~total & 0xFFFF) + head[4:] + payload


def summaries(
    stations: Sequence[str],
    window: Window,
    plan: Sequence[tuple[float, int]],
    seen: Sequence[Sequence[tuple[float, float]]],
) -> Table:
    """Return for each station the median and the 95th percentile of the round-trip times, and the
    fraction of datagrams without reply."""
    by_name: Table = {}
    for index, name in enumerate(stations):
        rtts = [came_s - sent_s for sent_s, came_s in seen[index] if window.counts(sent_s)]
        by_name[name] = {
            "rtt_median_s": quantile(rtts, 0.5),
            "rtt_p95_s": quantile(rtts, 0.95),
            "loss": max(0.0, 1 - len(rtts) / counted(window, plan, index)),
        }
    return by_name


# -- a web page -----------------------------------------------------------------------------------


def pages(station: str, window: Window) -> Table:
    """Measure the load time of a web page repeatedly. Each load uses new connections, and each
    connection loads one object after another."""
    with entered(SERVER):
        listener = socket.create_server((SERVERS[-3], 0), backlog=64)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    address = listener.getsockname()
    window.wait()
    loads: list[float] = []
    cut = 0
    while time.monotonic() < window.to_s:
        began_s = time.monotonic()
        fetchers = [
            threading.Thread(target=fetch, args=(station, address), daemon=True)
            for _ in range(PAGE_CONNECTIONS)
        ]
        for fetcher in fetchers:
            fetcher.start()
        for fetcher in fetchers:
            fetcher.join(max(0.0, window.to_s + LINGER_S - time.monotonic()))
        if window.counts(began_s):
            loads.append(time.monotonic() - began_s)
            cut += any(fetcher.is_alive() for fetcher in fetchers)
        time.sleep(PAGE_PAUSE_S)
    median_s = statistics.median(loads) if loads else None
    return {"load_median_s": median_s, "loads": len(loads), "not_finished": cut}


def serve(listener: socket.socket) -> None:
    """Accept connections, and reply to every request with an object."""
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(end,), daemon=True).start()


def answer(end: socket.socket) -> None:
    """Reply to each request of one connection with an object."""
    with end:
        while read(end, REQUEST_BYTES):
            end.sendall(CHUNK[:OBJECT_BYTES])


def fetch(station: str, address: tuple[str, int]) -> None:
    """Load the objects of a page that one connection requests."""
    with entered(station):
        end = socket.create_connection(address)
    with end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(PAGE_OBJECTS // PAGE_CONNECTIONS):
            end.sendall(CHUNK[:REQUEST_BYTES])
            read(end, OBJECT_BYTES)


def read(end: socket.socket, count: int) -> bool:
    """Read `count` bytes. Return whether all of them arrived."""
    while count > 0:
        got = len(end.recv(count))
        if got == 0:
            return False
        count -= got
    return True
