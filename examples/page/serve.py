"""Serve the page over HTTP/1.1 with keep-alive: `serve.py [--objects N] [--port PORT]`.

The server also sends back every datagram that arrives at the UDP port whose number is PORT. The TCP
of the server uses CUBIC on all machines, because the uploads use CUBIC.
"""

import argparse
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from objects import OBJECTS, TYPES, Object, page

LONGEST_DATAGRAM = 2048
"""Largest number of bytes that are read from a datagram. [bytes]"""


class Site(ThreadingHTTPServer):
    """HTTP server of the page's objects."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, objects: list[Object], congestion: str) -> None:
        self.objects = {each.path: each for each in objects}
        super().__init__(("", port), Answers)
        # accepted connections inherit this option
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())


class Answers(BaseHTTPRequestHandler):
    """Handler for the requests of one connection."""

    server: Site
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # header and content are sent together
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send the object at the requested path."""
        served = self.server.objects.get(self.path)
        if served is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", TYPES[served.kind])
        self.send_header("Content-Length", str(len(served.content)))
        self.end_headers()
        self.wfile.write(served.content)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing for successful requests."""


def echo(port: int) -> None:
    """Send each received datagram back to its sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("", port))
        while True:
            datagram, sender = own.recvfrom(LONGEST_DATAGRAM)
            own.sendto(datagram, sender)


def main() -> None:
    """Serve until the process is ended."""
    options = argparse.ArgumentParser(description="Serves a page.")
    options.add_argument("--objects", type=int, default=OBJECTS, help="how many the page has")
    options.add_argument("--port", type=int, default=80)
    options.add_argument("--congestion", default="cubic", help="of its TCP, as the kernel has it")
    asked = options.parse_args()
    site = Site(asked.port, page(asked.objects), asked.congestion)
    threading.Thread(target=echo, args=[asked.port], daemon=True).start()
    site.serve_forever()


if __name__ == "__main__":
    main()
