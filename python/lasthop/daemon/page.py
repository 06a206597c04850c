"""Server of one page over HTTP for few clients, in a thread that never blocks.

A connection has `PATIENCE_S` for its request and the reply. If there are more than
`MAX_CONNECTIONS`, the oldest connection is closed. Idle clients therefore never delay the requests
of other clients.
"""

import ipaddress
import re
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

MAX_CONNECTIONS = 32
PATIENCE_S = 5.0
PAUSE_S = 0.05
"""Pause after a failure to accept a connection. [s]"""
REQUEST_BYTES = 1 << 13
"""Largest length of a request. [bytes]"""
END = b"\r\n\r\n"
LOCAL_DOMAINS = (".local", ".lan", ".internal", ".home.arpa")
"""Suffixes of host names that only a local network resolves."""

Page = Callable[[], bytes]


class Conversation:
    """Connection of a client, with the received request and the unsent reply."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.until_s = time.monotonic() + PATIENCE_S
        self.request = b""
        self.answer = memoryview(b"")


class Server:
    """HTTP server that answers every GET request with the page. A request whose header `Host` names
    another machine is refused.

    Parameters
    ----------
    listening : socket
    page : callable
        Returns the content of the page.
    kind : str
        Media type of the page.
    """

    def __init__(self, listening: socket.socket, page: Page, kind: str) -> None:
        self.listening = listening
        self.page = page
        self.kind = kind
        self.open: dict[socket.socket, Conversation] = {}
        """Open connections, the oldest first."""
        self.selector = selectors.DefaultSelector()

    def run(self, end: socket.socket) -> None:
        """Serve requests until `end` becomes readable."""
        self.listening.setblocking(False)
        with self.selector, self.listening:
            self.selector.register(end, selectors.EVENT_READ)
            self.selector.register(self.listening, selectors.EVENT_READ)
            while True:
                first = next(iter(self.open.values()), None)
                wait_s = None if first is None else max(first.until_s - time.monotonic(), 0)
                ready = [key.fileobj for key, _ in self.selector.select(wait_s)]
                if end in ready:
                    break
                for item in ready:
                    if isinstance(item, socket.socket) and item in self.open:
                        self.go_on(self.open[item])
                # Requests that have arrived are served before new connections are accepted.
                if self.listening in ready:
                    self.accept()
                now_s = time.monotonic()
                for late in [each for each in self.open.values() if each.until_s <= now_s]:
                    self.close(late)
            for each in list(self.open.values()):
                self.close(each)

    def accept(self) -> None:
        """Accept a connection. If there are too many connections, close the oldest."""
        try:
            item, _ = self.listening.accept()
        # The client has closed the connection, or no file descriptor is free. If no descriptor is
        # free, the connection waits in the kernel until the next attempt.
        except OSError:
            time.sleep(PAUSE_S)
            return
        item.setblocking(False)
        if len(self.open) >= MAX_CONNECTIONS:
            self.close(next(iter(self.open.values())))
        self.open[item] = Conversation(item)
        self.selector.register(item, selectors.EVENT_READ)

    def go_on(self, conversation: Conversation) -> None:
        """Read the request, or write the reply, as far as possible without blocking."""
        try:
            if not conversation.answer:
                data = conversation.socket.recv(REQUEST_BYTES)
                conversation.request += data
                if not data:
                    return self.close(conversation)
                if END not in conversation.request and len(conversation.request) < REQUEST_BYTES:
                    return None
                conversation.answer = memoryview(self.answer(conversation.request))
                self.selector.modify(conversation.socket, selectors.EVENT_WRITE)
            conversation.answer = conversation.answer[
                conversation.socket.send(conversation.answer) :
            ]
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return self.close(conversation)
        return None if conversation.answer else self.close(conversation)

    def close(self, conversation: Conversation) -> None:
        """Close a connection."""
        del self.open[conversation.socket]
        self.selector.unregister(conversation.socket)
        with suppress(OSError):
            conversation.socket.shutdown(socket.SHUT_RDWR)
        conversation.socket.close()

    def answer(self, request: bytes) -> bytes:
        """Return the reply to a request, with its HTTP header."""
        words = request.partition(b"\r\n")[0].split(b" ")
        if END not in request:
            return head("431 Request Header Fields Too Large", 0)
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return head("400 Bad Request", 0)
        if not all(map(is_own_host, hosts(request))):
            return head("421 Misdirected Request", 0)
        if words[0] not in (b"GET", b"HEAD"):
            return head("405 Method Not Allowed", 0, "Allow: GET, HEAD\r\n")
        try:
            body = self.page()
        except Exception:  # An error while a page is rendered does not affect later pages.
            return head("500 Internal Server Error", 0)
        start = head("200 OK", len(body), f"Content-Type: {self.kind}\r\n")
        return start if words[0] == b"HEAD" else start + body


def hosts(request: bytes) -> list[str]:
    """Return the values of the header `Host` in a request."""
    lines = request.partition(END)[0].split(b"\r\n")[1:]
    fields = [line.partition(b":") for line in lines]
    return [
        value.strip().decode("latin-1")
        for name, _, value in fields
        if name.strip().lower() == b"host"
    ]


def is_own_host(host: str) -> bool:
    """Return whether the header `Host` names this machine: by address, as localhost, or by a local
    name.

    In a DNS rebinding attack, a foreign name resolves to this machine, and the header contains the
    foreign name.
    """
    match = re.fullmatch(r"(?:\[([^\]]*)\]|([^:]*))(?::\d*)?", host)
    if match is None:
        return False
    name = (match[1] or match[2]).lower()
    try:
        ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return not match[1] and name in {"localhost", own, *(own + each for each in LOCAL_DOMAINS)}
    return True


def head(status: str, size: int, more: str = "") -> bytes:
    """Return the HTTP header of a reply. `size` is the length of the reply's body. [bytes]"""
    return (
        f"HTTP/1.1 {status}\r\n{more}Content-Length: {size}\r\nConnection: close\r\n\r\n"
    ).encode()


@contextmanager
def serving(listening: socket.socket, page: Page, kind: str) -> Iterator[None]:
    """Serve a page in a thread while the body runs."""
    end, bell = socket.socketpair()
    thread = threading.Thread(
        target=Server(listening, page, kind).run, args=(end,), name="page", daemon=True
    )
    with end, bell:
        thread.start()
        try:
            yield
        finally:
            bell.send(b"x")
            thread.join()
