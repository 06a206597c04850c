"""Real kernel TCP through the lab, from sockets of this process in several namespaces."""

import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from lab import PATIENCE_S, SERVER, SERVER_V4, STATIONS, entered

CHUNK = bytes(16384)


class Flow:
    """A TCP connection between the server and a station, with data in one direction."""

    def __init__(self, station: str, *, download: bool, algorithm: str = "cubic") -> None:
        family = socket.AF_INET6 if ":" in station else socket.AF_INET
        here = "fd77::2" if ":" in station else SERVER_V4
        with ExitStack() as stack:
            stack.enter_context(entered(SERVER))
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
            listener.bind((here, 0))
            listener.listen()
            listener.settimeout(PATIENCE_S)
            port = listener.getsockname()[1]
            with entered(STATIONS):
                client = socket.socket(family, socket.SOCK_STREAM)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
                client.settimeout(PATIENCE_S)
                try:
                    client.bind((station, 0))
                    client.connect((here, port))
                except OSError:
                    client.close()
                    raise
            server, _ = listener.accept()
        self.sender, self.receiver = (server, client) if download else (client, server)
        self.received = 0
        for end in (self.sender, self.receiver):
            end.setblocking(False)

    def close(self) -> None:
        self.sender.close()
        self.receiver.close()


def run(flows: Sequence[Flow], seconds: float) -> None:
    """Let all flows send at full speed."""
    with selectors.DefaultSelector() as selector:
        for flow in flows:
            selector.register(flow.sender, selectors.EVENT_WRITE, flow)
            selector.register(flow.receiver, selectors.EVENT_READ, flow)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for key, events in selector.select(timeout=0.05):
                flow: Flow = key.data
                try:
                    if events & selectors.EVENT_WRITE:
                        flow.sender.send(CHUNK)
                    else:
                        flow.received += len(flow.receiver.recv(1 << 20))
                except BlockingIOError:
                    continue


def goodputs(
    flows: Mapping[str, Sequence[Flow]], seconds: float, warm_up: float
) -> dict[str, float]:
    """Return the goodput of each station. [bit/s]"""
    every = [flow for group in flows.values() for flow in group]
    run(every, warm_up)
    before = {name: sum(flow.received for flow in group) for name, group in flows.items()}
    start = time.monotonic()
    run(every, seconds)
    elapsed = time.monotonic() - start
    return {
        name: 8 * (sum(flow.received for flow in group) - before[name]) / elapsed
        for name, group in flows.items()
    }


def transfers(station: str, count: int = 20_000, seconds: float = 20) -> bool:
    """Return whether a short download succeeds, which shows that traffic flows."""
    try:
        flow = Flow(station, download=True)
    except TimeoutError:
        return False
    try:
        deadline = time.monotonic() + seconds
        while flow.received < count and time.monotonic() < deadline:
            run([flow], 0.005)
        return flow.received >= count
    finally:
        flow.close()
