"""Relays as processes: no stream loses a byte or hangs, and no stranger receives data."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from commands import ForkedCommand, lasthop
from lab import sh, wait_until
from lasthop import relay
from relaying import (
    PATIENCE_S,
    Disturbance,
    many_streams,
    memory_bytes,
    relays,
)

IDLE_MEMORY_BYTES = 24 << 20
"""Largest memory of a relay without streams; it has 15 MB at its start. [bytes]"""
MAX_MEMORY_BYTES = 64 << 20
UNREAD = 1_000
BUFFER_BYTES = 65_536
"""Size of the socket buffers of a target that floods or does not read. [bytes]"""
PYTHON = [sys.executable, "-c"]


@pytest.mark.parametrize(
    ("count", "at_once"), [(250, 40), pytest.param(10_000, 500, marks=pytest.mark.measured)]
)
def test_each_stream_ends_complete_or_with_an_error(
    tmp_path: Path, count: int, at_once: int
) -> None:
    with relays(tmp_path, "--connections", "2..8") as pair:
        disturbance = Disturbance(pair, every_s=0.2, restart_at=2 * count // 3)
        outcome = asyncio.run(many_streams(count, at_once, pair.via, 1, disturbance))
    counted = outcome.counted()
    assert not outcome.wrong(), counted
    assert len(outcome.ends) == count
    assert disturbance.killed > 0 or not can_kill()
    assert disturbance.restarted
    assert counted["broken"] > 0, "the server has been killed"
    assert counted["well"] > count / 2, counted
    assert outcome.longest_s < PATIENCE_S


def can_kill() -> bool:
    """Return whether `ss -K` can end connections in this kernel."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        port = str(connection.getsockname()[1])
        subprocess.run(["ss", "-K", "sport", "=", port], capture_output=True, check=False)
        try:
            connection.send(b"x")
        except OSError:
            return True
    return False


@contextmanager
def flooding(*, reads: bool) -> Iterator[int]:
    """Run a target that sends without end, or that never reads; yield its port."""
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)
    # with the default buffer size, the kernel would store some megabytes for each stream
    server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    held: list[socket.socket] = []

    def flood(connection: socket.socket) -> None:
        connection.setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            while True:
                connection.send(bytes(65_536))

    def take() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            held.append(connection)
            if reads:
                flood(connection)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        while (
            thread.is_alive()
        ):  # the thread may be sending on a connection that it has just accepted
            for connection in held:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join(0.1)
        server.close()
        for connection in held:
            connection.close()


@pytest.mark.parametrize("downloads", [True, False], ids=["downloads", "uploads"])
def test_a_hundred_unread_streams_use_little_memory(tmp_path: Path, downloads: bool) -> None:
    stream_bytes = (MAX_MEMORY_BYTES - IDLE_MEMORY_BYTES) // UNREAD
    check_unread(tmp_path, downloads, 100, IDLE_MEMORY_BYTES + 100 * stream_bytes)


@pytest.mark.slow
@pytest.mark.parametrize("downloads", [True, False], ids=["downloads", "uploads"])
def test_unread_streams_hold_little_memory_and_stop_no_other(
    tmp_path: Path, downloads: bool
) -> None:
    check_unread(tmp_path, downloads, UNREAD, MAX_MEMORY_BYTES)


def check_unread(directory: Path, downloads: bool, count: int, most_bytes: int) -> None:
    """Open streams without readers; check the relays' memory, and that other streams end well."""
    with relays(directory, is_program=True) as pair, flooding(reads=downloads) as port:
        both = [process for process in (pair.client, pair.server) if process is not None]
        held = [relay.connect("127.0.0.1", port, via=pair.via) for _ in range(count)]
        if not downloads:
            for connection in held:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
                connection.setblocking(False)
                with suppress(BlockingIOError):
                    while True:
                        connection.send(bytes(65_536))
        outcome = asyncio.run(many_streams(20, 5, pair.via, 2))
        assert outcome.counted()["well"] > 0
        assert not outcome.wrong()
        for process in both:
            assert memory_bytes(process) < most_bytes
        for connection in held:
            connection.close()


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_streams_end_with_an_error_when_the_far_relay_is_gone(
    tmp_path: Path, how: signal.Signals
) -> None:
    with relays(tmp_path, "--timeout", "2s") as pair, flooding(reads=True) as port:
        with relay.connect("127.0.0.1", port, via=pair.via) as connection:
            connection.recv(1)
            assert pair.server is not None
            pair.server.send_signal(how)
            connection.settimeout(PATIENCE_S)
            begun_s = time.monotonic()
            with pytest.raises(ConnectionResetError):
                read_all(connection)
            assert time.monotonic() - begun_s < PATIENCE_S / 3
        pair.server.send_signal(signal.SIGCONT)


def read_all(connection: socket.socket) -> None:
    """Read until the end."""
    while connection.recv(65_536):
        pass


def test_a_stranger_without_the_key_receives_nothing() -> None:
    key, other = relay.new_key(), relay.new_key()
    with relay.Server(key, patience_s=2.0) as server:
        for number in range(60):
            with socket.create_connection(server.address) as connection:
                length = 48 + number
                connection.sendall(length.to_bytes(2, "big") + os.urandom(length))
                connection.settimeout(PATIENCE_S)
                assert received_until_end(connection) == b""
        stranger = relay.Client(server.address, other)
        with stranger, pytest.raises((OSError, TimeoutError)):
            stranger.connect("127.0.0.1", 9, timeout_s=1)
        handshakes = server.metrics()["handshakes"]
        assert handshakes["good"] == 0
        assert handshakes["strangers"] > 60
        # a connection that sends nothing is closed, too
        with socket.create_connection(server.address) as connection:
            connection.settimeout(PATIENCE_S)
            assert received_until_end(connection) == b""


def received_until_end(connection: socket.socket) -> bytes:
    """Return all data until the end."""
    try:
        return b"".join(iter(lambda: connection.recv(4096), b""))
    except ConnectionResetError:
        return b""


def test_connections_come_from_the_address_that_is_asked_for() -> None:
    key = relay.new_key()
    terms = relay.Terms(rule="fixed", connections=(3, 3))
    with relay.Server(key) as server, relay.Client(server.address, key, terms, source="127.0.0.7"):
        while server.metrics()["connections"] < 3:
            time.sleep(0.01)
        printed = sh("ss -Htn dst 127.0.0.7")
        assert len(printed.splitlines()) == 3


def test_targets_that_a_server_does_not_allow_are_refused() -> None:
    key = relay.new_key()
    with socket.create_server(("127.0.0.1", 0)) as target:
        port = target.getsockname()[1]
        allowed = (relay.Target("127.0.0.0/8", port),)
        with (
            relay.Server(key, allow=allowed) as server,
            relay.Client(server.address, key) as client,
        ):
            client.connect("127.0.0.1", port).close()
            with pytest.raises(PermissionError):
                client.connect("127.0.0.1", port + 1)
    with relay.Server(key) as server, relay.Client(server.address, key) as client:
        with pytest.raises(ConnectionRefusedError):
            client.connect("127.0.0.1", port)
        with pytest.raises(OSError, match=r"nowhere\.invalid"):
            client.connect("nowhere.invalid", 80)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back all that arrives."""
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
    writer.close()
    await writer.wait_closed()


def test_asyncio_streams_go_in_both_directions() -> None:
    async def talk() -> bytes:
        target = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = target.sockets[0].getsockname()[1]
        reader, writer = await client.open_connection("127.0.0.1", port)
        writer.write(b"all of it" * 100_000)
        writer.write_eof()
        received_until_end = await reader.read(-1)
        writer.close()
        await writer.wait_closed()
        target.close()
        return received_until_end

    key = relay.new_key()
    with relay.Server(key) as server, relay.Client(server.address, key) as client:
        assert asyncio.run(talk()) == b"all of it" * 100_000
        assert client.metrics()["sent_bytes"] == 900_000
        assert server.metrics()["taken_bytes"] == 900_000


def test_numbers_of_connections_are_held() -> None:
    key = relay.new_key()
    terms = relay.Terms(rule="fixed", connections=(5, 5))
    with relay.Server(key) as server, relay.Client(server.address, key, terms) as client:
        wait_until(lambda: client.metrics()["connections"] == 5, "five connections")
        assert server.metrics()["connections_asked"] == 5


def test_curl_goes_through_socks_and_a_forward(
    tmp_path: Path, debian_program: Callable[[str, str], str]
) -> None:
    debian_program("curl", "curl")
    body = os.urandom(3_000_000)
    (tmp_path / "whole").write_bytes(body)
    (tmp_path / "relays").mkdir()
    serve = "import http.server as h, sys; s = h.ThreadingHTTPServer(('127.0.0.1', 0), "
    serve += "h.SimpleHTTPRequestHandler); print(s.server_port, flush=True); s.serve_forever()"
    with subprocess.Popen(
        [*PYTHON, serve], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as web:
        assert web.stdout is not None
        port = int(web.stdout.readline())
        try:
            with relays(tmp_path / "relays", "--forward", f"0:localhost:{port}") as pair:
                socks = f"socks5h://127.0.0.1:{pair.socks_port}"
                ways = [
                    ["--proxy", socks, f"http://localhost:{port}/whole"],
                    [f"http://127.0.0.1:{pair.forward_port}/whole"],
                ]
                for way in ways:
                    done = subprocess.run(
                        ["curl", "-sS", "--max-time", "20", *way], capture_output=True, check=False
                    )
                    assert done.stdout == body, done.stderr
        finally:
            web.kill()


def free_port() -> int:
    """Return a free port outside the range of ports that the kernel chooses."""
    least = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10_000, least)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def test_a_relay_reports_its_state_and_ends_with_a_signal(tmp_path: Path) -> None:
    with relays(tmp_path, "--metrics", "127.0.0.1:0") as pair:
        assert pair.client is not None
        assert pair.client.stdout is not None
        printed = [pair.client.stdout.readline() for _ in range(2)]
        assert "n = k T, k = 10 1/s, updated every 1 s, n from 1 to 16;" in printed[0]
        assert printed[1] == "connected\n"
        for process in (pair.client, pair.server):
            assert process is not None
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0


def test_a_relay_that_was_stopped_continues(tmp_path: Path) -> None:
    with (
        relays(tmp_path) as pair,
        flooding(reads=True) as port,
        relay.connect("127.0.0.1", port, via=pair.via) as connection,
    ):
        for process in (pair.client, pair.server):
            assert process is not None
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.6)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.6)
            assert process.poll() is None
        connection.settimeout(PATIENCE_S)
        assert connection.recv(1)


def test_programs_that_come_when_a_session_is_given_up_are_not_left_waiting(tmp_path: Path) -> None:
    with relays(tmp_path, "--timeout", "1s") as pair:
        relay_port = pair.via
        assert pair.server is not None
        pair.server.kill()
        waited_s, begun_s = [], time.monotonic()

        def ask() -> None:
            asked_s = time.monotonic()
            with suppress(OSError):
                relay.connect("127.0.0.1", 9, via=relay_port, timeout_s=PATIENCE_S)
            waited_s.append(time.monotonic() - asked_s)

        threads = []
        while time.monotonic() - begun_s < 3.0:
            threads.append(threading.Thread(target=ask))
            threads[-1].start()
            time.sleep(0.05)
        for thread in threads:
            thread.join()
        assert max(waited_s) < PATIENCE_S / 3


@contextmanager
def hanging_up() -> Iterator[tuple[str, int, list[float]]]:
    """Yield a server that refuses every client: its address, and the arrival time of each
    client.
    """
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)
    came: list[float] = []

    def take() -> None:
        with suppress(OSError):
            while True:
                server.accept()[0].close()
                came.append(time.monotonic())

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    yield (*server.getsockname(), came)
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def test_a_client_asks_a_server_that_is_away_ever_more_rarely() -> None:
    """The client pauses between its attempts to connect. The first pause is 0.1 s, and each pause
    is twice as long as the previous pause: the first five pauses take 3.1 s.
    """
    key = relay.new_key()
    many = relay.Terms(rule="fixed", connections=(16, 16))
    with hanging_up() as (host, port, came), relay.Client((host, port), key, many):
        time.sleep(3.0)
    assert 4 <= len(came) <= 6
    with relay.Server(key) as server:
        host, port = server.address
        client = relay.Client((host, port), key, many)
        while client.metrics()["connections"] < 16:
            time.sleep(0.05)
    with socket.create_server((host, port), backlog=1024) as away, client:
        away.settimeout(0.1)
        begun_s, count = time.monotonic(), 0
        while time.monotonic() - begun_s < 3.0:
            with suppress(TimeoutError):
                away.accept()[0].close()
                count += 1
        # First, the client makes one attempt for each of the 16 lost connections.
        # Then it makes one attempt at a time, after pauses of 0.1 s, 0.2 s, 0.4 s and so on.
        assert count <= 16 + 6


def test_a_stream_that_is_reset_is_not_connected_further() -> None:
    """When a stream is reset, the relay stops connecting to its destination. If the relay
    continued, an unreachable destination would occupy one descriptor for ten seconds.
    """
    key = relay.new_key()
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        relay.Server(key) as server,
        relay.Client(server.address, key) as client,
    ):
        port = full.getsockname()[1]
        fill = [socket.socket() for _ in range(4)]
        for connection in fill:
            connection.setblocking(False)
            with suppress(BlockingIOError):
                connection.connect(("127.0.0.1", port))
        for _ in range(20):
            with socket.create_connection(client.socks) as connection:
                connection.sendall(b"\5\1\0")
                assert connection.recv(2) == b"\5\0"
                connection.sendall(b"\5\1\0\1\x7f\0\0\1" + port.to_bytes(2, "big"))
                time.sleep(0.05)
        time.sleep(0.5)
        asking = sh(f"ss -Htn state syn-sent dport = :{port}").splitlines()
        assert len(asking) <= len(fill)
        for connection in fill:
            connection.close()


VANISHING = """
import subprocess, time
from lasthop import relay

def lo(state):
    subprocess.run(["ip", "link", "set", "lo", state], check=True)

lo("up")
key = relay.new_key()
terms = relay.Terms(rule="fixed", connections=(3, 3), timeout_s=1.0)
with relay.Server(key) as server, relay.Client(server.address, key, terms) as client:
    while server.metrics()["connections"] < 3:
        time.sleep(0.01)
    lo("down")
    begun_s = time.monotonic()
    while server.metrics()["sessions"] and time.monotonic() - begun_s < 30:
        time.sleep(0.1)
    print(server.metrics()["sessions"])
"""


def test_a_client_that_vanishes_makes_room() -> None:
    """The client disappears without closing its connections, which have no stream. The server's
    kernel detects this with TCP keepalive, so that the server closes the connections.
    """
    done = subprocess.run(
        ["unshare", "--net", *PYTHON, VANISHING], capture_output=True, text=True, check=False
    )
    assert done.stdout == "0\n", done.stderr


def test_json_lines_are_json(tmp_path: Path) -> None:
    relay_key = tmp_path / "key"
    assert lasthop("relay", "key", relay_key, namespace=None)[0] == 0
    words = ["relay", "serve", "--json", "--listen", "127.0.0.1:0", "--key", relay_key]
    with ForkedCommand(words, is_read=True) as server:
        assert server.stdout is not None
        first = json.loads(server.stdout.readline())
        server.send_signal(signal.SIGINT)
        last = json.loads(server.stdout.read().splitlines()[-1])
    assert list(first) == ["listen", "to"]
    assert last["streams_total"] == 0
