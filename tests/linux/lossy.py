"""A path of fixed delay with defined losses, for many connections of the kernel's TCP.

There are two network namespaces without names and a TUN interface in each. This process is
between them. It delays each segment by the path's round-trip time, and forwards each ACK
immediately. A segment that is to be lost is dropped when it enters the path. The receiver
acknowledges every segment immediately, and every segment is a separate packet, as in the engine's
networks.
"""

import fcntl
import os
import random
import select
import selectors
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import RouteMetrics, habits_towards
from lasthop.linux.tcp import limit_segment, set_congestion, without_timestamps
from lasthop.linux.tun import open_tun

SENDER, RECEIVER, MASK = "10.255.0.1", "10.0.0.1", "255.0.0.0"
INTERFACE = "lossy"
MSS = 200
HEADERS = 40
"""Length of IPv4 and TCP headers without options; no segment has both data and SACK blocks. [bytes]
"""
FIRST_PORT = 20_000
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
BUFFER_BYTES = 8 << 20

SWELL_S, LARGEST_S = (2.0, 8.0, 9.0), 1.0
"""An additional delay: the times at which it begins, is largest and ends, and its maximum. [s]

Before counting begins, the additional delay grows from 0 to its maximum and shrinks to 0 again. The
changes are so slow that no timer expires. Some congestion controls compare the current delay with
the largest delay that they have measured. After a delay of 1 s, the small delays of a busy machine
hardly affect these congestion controls.
"""

Losses = Callable[[], bool]
"""Function that returns whether the next segment with data that enters the path is lost."""


def every(period: int) -> Losses:
    """Return a function that loses the last of every `period` packets."""
    count = 0

    def lost() -> bool:
        nonlocal count
        count = (count + 1) % period
        return count == 0

    return lost


def independent(probability: float, seed: int) -> Losses:
    """Return a function that loses each packet with the given probability."""
    draws = random.Random(seed)
    return lambda: draws.random() < probability


@dataclass
class Flow:
    """A connection, and the counters of its packets on the path since counting began."""

    congestion: str
    losses: Losses
    delivered: int = 0
    lost: int = 0
    kept_s: float = 0.0
    marks: list[tuple[int, int, float]] = field(default_factory=list)

    def mark(self) -> None:
        """Record the present values of the counters."""
        self.marks.append((self.delivered, self.lost, self.kept_s))

    def window(self, length_s: float, part: int = 0) -> float:
        """Return the mean number of packets in flight between mark number `part` and the next mark,
        by Little's law. `length_s` is the time between these marks. [packets]
        """
        return (self.marks[part + 1][2] - self.marks[part][2]) / length_s


def run(flows: Sequence[Flow], rtt_s: float, warmup_s: float, length_s: float) -> float:
    """Let all flows send simultaneously; return the 99th percentile of the lateness of segments.
    [s]"""
    with ExitStack() as stack:
        sender, receiver = Namespace(), Namespace()
        stack.callback(sender.close)
        stack.callback(receiver.close)
        out = sender.run(lambda: interface(SENDER))
        stack.callback(os.close, out)
        back = receiver.run(lambda: interface(RECEIVER))
        stack.callback(os.close, back)
        receiver.run(acknowledge)
        stack.enter_context(traffic(flows, sender, receiver))
        return forward(flows, out, back, rtt_s, warmup_s, length_s)


def interface(address: str) -> int:
    """Open the interface of a namespace; only TCP segments leave it."""
    without_timestamps()
    tun = open_tun(INTERFACE, address, MASK, 1500)
    subprocess.run(["ip", "link", "set", INTERFACE, "gso_max_segs", "1"], check=True)
    return tun


def acknowledge() -> None:
    with Socket() as kernel:
        kernel.carry_out([habits_towards(SENDER, INTERFACE, RouteMetrics(acknowledges_each=True))])


@contextmanager
def traffic(flows: Sequence[Flow], sender: Namespace, receiver: Namespace) -> Iterator[None]:
    """Run senders and receivers in a separate process."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            send_and_receive(flows, sender, receiver)
        os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def made(congestion: str) -> socket.socket:
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.setblocking(False)
    set_congestion(connection, congestion)
    limit_segment(connection, MSS)
    connection.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    connection.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
    return connection


def listening(port: int) -> socket.socket:
    listener = made("reno")
    listener.bind((RECEIVER, port))
    listener.listen(1)
    return listener


def send_and_receive(flows: Sequence[Flow], sender: Namespace, receiver: Namespace) -> None:
    """Keep the send buffer of every connection full, and its receive buffer empty."""
    watched = selectors.DefaultSelector()
    listeners = [
        receiver.run(lambda port=FIRST_PORT + k: listening(port)) for k in range(len(flows))
    ]
    for k, flow in enumerate(flows):
        watched.register(listeners[k], selectors.EVENT_READ, "accept")
        connection = sender.run(lambda flow=flow: made(flow.congestion))
        connection.connect_ex((RECEIVER, FIRST_PORT + k))
        watched.register(connection, selectors.EVENT_WRITE, "send")
    chunk = bytes(1 << 16)
    while True:
        for key, _ in watched.select():
            connection = key.fileobj
            with suppress(BlockingIOError):
                if key.data == "accept":
                    accepted, _ = connection.accept()
                    accepted.setblocking(False)
                    watched.register(accepted, selectors.EVENT_READ, "receive")
                elif key.data == "send":
                    connection.send(chunk)
                else:
                    connection.recv(1 << 20)
        time.sleep(0.005)  # the kernel has enough data during this time, so that few calls suffice


def forward(
    flows: Sequence[Flow],
    out: int,
    back: int,
    rtt_s: float,
    warmup_s: float,
    length_s: float,
) -> float:
    """Forward segments with the delay and the losses of the path, until the time is over."""
    for each in (out, back):
        fcntl.fcntl(each, fcntl.F_SETFL, os.O_NONBLOCK)
    in_flight: deque[tuple[float, Flow, bytes]] = deque()
    late: list[float] = []
    poll = select.poll()
    poll.register(out, select.POLLIN)
    poll.register(back, select.POLLIN)
    read, write, now = os.read, os.write, time.monotonic
    begun = now()
    marks = [begun + warmup_s, begun + warmup_s + length_s]
    while True:
        wait_s = in_flight[0][0] + rtt_s - now() if in_flight else 0.05
        poll.poll(max(0.0, 1000 * wait_s))
        for _ in range(32):
            try:
                packet = read(back, 2048)
            except BlockingIOError:
                break
            write(out, packet)
        time_s = now()
        for _ in range(32):
            try:
                packet = read(out, 2048)
            except BlockingIOError:
                break
            flow = None
            if packet[0] == 0x45 and packet[9] == 6:
                port = packet[22] << 8 | packet[23]
                flow = flows[port - FIRST_PORT] if port >= FIRST_PORT else None
            if flow is None:
                continue
            if len(packet) > 20 + 4 * (packet[32] >> 4) and flow.losses():
                flow.lost += 1
                continue
            in_flight.append((time_s, flow, packet))
        delay_s = rtt_s + swell_s(time_s - begun)
        while in_flight and in_flight[0][0] + delay_s <= time_s:
            entered, flow, packet = in_flight.popleft()
            write(back, packet)
            left = now()
            flow.delivered += 1
            flow.kept_s += left - entered
            late.append(left - entered - delay_s)
        while marks and time_s >= marks[0]:
            del marks[0]
            late.sort()
            for flow in flows:
                flow.mark()
            if not marks:
                return late[len(late) * 99 // 100]
            late.clear()


def swell_s(time_s: float) -> float:
    """Return the additional delay of the path at a time before counting begins. [s]"""
    begin, top, end = SWELL_S
    if time_s >= end or time_s <= begin:
        return 0.0
    return LARGEST_S * min((time_s - begin) / (top - begin), (end - time_s) / (end - top))
