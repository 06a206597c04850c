"""UDP probes that measure the round-trip time T: the number of connections depends on T, and a
server answers only clients with the key.
"""

import heapq
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random

import pytest

from lab import wait_until
from lasthop import relay
from relaying import relays
from test_relay import free_port
from test_relay_attacks import Wire, ask, serving_echo

LENGTH = 34
"""Length of a probe and of its answer. [bytes]"""
BATCH, PAUSE_S = 64, 0.001
"""Number of datagrams that a server reads without a pause, and the pause afterwards. [s]"""


class UdpPath(Wire):
    """Path to a server, for connections and datagrams. The path delays datagrams or loses all of
    them, but it does not delay connections.

    Parameters
    ----------
    server : tuple of str and int
        The address of the server.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        super().__init__(server)
        self.near = socket.socket(type=socket.SOCK_DGRAM)
        self.near.bind(self.address)
        self.far = socket.socket(type=socket.SOCK_DGRAM)
        self.far.connect(server)
        self.sockets += [self.near, self.far]
        self.delay_s = 0.0
        """Delay of each request, and also of each answer. [s]"""
        self.loses = False
        self.requests: list[bytes] = []
        self.answers: list[bytes] = []
        self.is_over = False

    def run_udp(self) -> None:
        """Forward datagrams until `is_over`."""
        order = count()
        due: list[tuple[float, int, bytes, tuple[str, int] | None]] = []
        client: tuple[str, int] | None = None
        while not self.is_over:
            for ready in select.select([self.near, self.far], [], [], 0.01)[0]:
                with suppress(ConnectionError):
                    if ready is self.near:
                        datagram, client = self.near.recvfrom(2048)
                        self.requests.append(datagram)
                        to = None
                    else:
                        datagram, to = self.far.recv(2048), client
                        self.answers.append(datagram)
                    if not self.loses:
                        at_s = time.monotonic() + self.delay_s
                        heapq.heappush(due, (at_s, next(order), datagram, to))
            while due and due[0][0] <= time.monotonic():
                _, _, datagram, to = heapq.heappop(due)
                with suppress(ConnectionError):
                    if to is None:
                        self.far.send(datagram)
                    else:
                        self.near.sendto(datagram, to)


@contextmanager
def path_to(server: tuple[str, int]) -> Iterator[UdpPath]:
    """Run a path to a server, for connections and datagrams."""
    path = UdpPath(server)
    threads = [threading.Thread(target=each) for each in (path.run_udp, path.run)]
    for thread in threads:
        thread.start()
    try:
        yield path
    finally:
        path.is_over = True
        threads[0].join()
        path.close()
        threads[1].join()


def await_note(client: relay.Client | relay.Server, part: str) -> None:
    """Wait until a relay reports a message that contains `part`."""
    notes: list[str] = []

    def is_noted() -> bool:
        while (note := client.relay.note()) is not None:
            notes.append(note)
        return any(part in note for note in notes)

    wait_until(is_noted, f'"{part}"')


@pytest.mark.parametrize("rule", ["rtt", "marks"])
def test_connections_follow_the_delay_of_datagrams(rule: str) -> None:
    """The TCP path has no delay, and a busy machine can only increase the delay of datagrams.

    With the rule "rtt", the number of connections depends only on the round-trip time T. Then only
    the client chooses the number. With the rule "marks" the server also chooses a number, with the
    T that the client has measured.
    """
    key = relay.new_key()
    with serving_echo() as target, relay.Server(key) as server, path_to(server.address) as path:
        path.delay_s = 0.2  # the round-trip time T is 0.4 s, so that k T = 10 x 0.4 = 4 connections
        with (
            relay.Client(path.address, key, relay.Terms(rule=rule), probe=True) as client,
            client.connect("127.0.0.1", target),
        ):
            await_note(client, "answers UDP probes, which measure T")
            wait_until(lambda: client.metrics()["connections"] >= 4, "four connections")
            if rule == "rtt":
                assert server.metrics()["connections_asked"] == 1
            else:
                wait_until(lambda: server.metrics()["connections_asked"] >= 4, "as many there")
            seen = client.metrics()
            assert seen["probes_in_use"]
            assert 0.4 <= seen["probe_rtt_s"] < 1.5
            assert seen["probes_answered"] <= seen["probes_sent"]
    assert {len(each) for each in path.requests + path.answers} == {LENGTH}
    assert len(path.answers) <= len(path.requests)


def test_without_answers_t_is_that_of_the_connections() -> None:
    key, port = relay.new_key(), free_port()
    with socket.socket(type=socket.SOCK_DGRAM) as taken, serving_echo() as target:
        taken.bind(("127.0.0.1", port))
        with (
            relay.Server(key, port=port) as server,
            relay.Client(server.address, key, probe=True) as client,
            client.connect("127.0.0.1", target) as stream,
        ):
            await_note(
                server, f"127.0.0.1:{port}: UDP: Address already in use: probes are not answered"
            )
            await_note(client, f"127.0.0.1:{port} does not answer UDP probes: T is that of the TCP")
            assert ask(stream, b"hello") == b"hello"
            seen = client.metrics()
            assert (seen["probes_in_use"], seen["probe_rtt_s"]) == (False, None)
            assert seen["probes_sent"] > seen["probes_answered"] == 0


@pytest.mark.slow
def test_probes_are_tried_again() -> None:
    """A client reports that it has no answer after 5 s, or, if it had an answer earlier, after 20
    s. Then it sends a probe every 5 to 15 s.
    """
    key = relay.new_key()
    with (
        serving_echo() as target,
        relay.Server(key) as server,
        path_to(server.address) as path,
    ):
        path.loses = True
        with (
            relay.Client(path.address, key, probe=True) as client,
            client.connect("127.0.0.1", target),
        ):
            await_note(client, "does not answer UDP probes")
            count_before = len(path.requests)
            time.sleep(3.0)
            assert len(path.requests) - count_before <= 1
            path.loses = False
            await_note(client, "answers UDP probes again, which measure T")
            assert client.metrics()["probes_in_use"]
            path.loses = True
            await_note(client, "does not answer UDP probes")


def test_a_server_answers_each_probe_once_and_none_that_is_forged() -> None:
    key, other = relay.new_key(), relay.new_key()
    drawn = Random(1)
    with serving_echo() as target, relay.Server(key) as server, path_to(server.address) as path:
        with (
            relay.Client(path.address, key, probe=True) as client,
            client.connect("127.0.0.1", target),
        ):
            wait_until(lambda: client.metrics()["probes_answered"] >= 3, "three answers")
            with socket.socket(type=socket.SOCK_DGRAM) as prober:
                prober.connect(server.address)
                known = path.requests[0]
                forged = [known[:-1] + bytes([known[-1] ^ 1]), known[:-1], known + b"x", b""]
                forged += [drawn.randbytes(length) for length in (0, 1, LENGTH, LENGTH, 1400)]
                forged += [path.answers[0]]
                for datagram in (known, *forged):
                    prober.send(datagram)
                wait_until(
                    lambda: server.metrics()["probes"]["forged"] == len(forged), "all are read"
                )
                seen = server.metrics()["probes"]
                assert (seen["repeated"], seen["too_many"]) == (1, 0)
                assert not select.select([prober], [], [], 0.1)[0]
            before = client.metrics()["probes_answered"]
            wait_until(lambda: client.metrics()["probes_answered"] > before, "another answer")
        with relay.Client(server.address, other, probe=True) as stranger:
            await_note(stranger, "another key")
            assert stranger.metrics()["probes_sent"] == 0


def test_a_flood_costs_a_bounded_rate_of_reading() -> None:
    key = relay.new_key()
    with (
        serving_echo() as target,
        relay.Server(key) as server,
        relay.Client(server.address, key, probe=True) as client,
        client.connect("127.0.0.1", target) as stream,
        socket.socket(type=socket.SOCK_DGRAM) as prober,
    ):
        prober.connect(server.address)
        begun_s = time.monotonic()
        sent = 0
        while time.monotonic() - begun_s < 0.5:
            prober.send(bytes([1, 1]) + bytes(LENGTH - 2))
            sent += 1
        assert ask(stream, b"hello") == b"hello"
        read = server.metrics()["probes"]["forged"]
        elapsed_s = time.monotonic() - begun_s
        assert 0 < read <= (elapsed_s / PAUSE_S + 1) * BATCH
        assert read <= sent
        before = client.metrics()["probes_answered"]
        wait_until(lambda: client.metrics()["probes_answered"] > before, "an answer afterwards")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_answers_come_from_the_address_that_was_asked(host: str) -> None:
    """The socket of the client is connected to one address of the server, and receives answers only
    from this address.
    """
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    key = relay.new_key()
    with (
        serving_echo() as target,
        relay.Server(key, host) as server,
        relay.Client(("127.0.0.5", server.address[1]), key, probe=True) as client,
        client.connect("127.0.0.1", target),
    ):
        wait_until(lambda: client.metrics()["probes_answered"] > 0, "an answer")


def test_a_relay_reports_how_t_is_measured(tmp_path: Path) -> None:
    with relays(tmp_path, "--probe") as pair:
        assert pair.client is not None
        assert pair.client.stdout is not None
        server = f"127.0.0.1:{pair.server_port}"
        printed = [pair.client.stdout.readline() for _ in range(4)]
    assert printed[1:] == [
        f"the round-trip time T is measured by UDP probes to {server}\n",
        "connected\n",
        f"{server} answers UDP probes, which measure T\n",
    ]
