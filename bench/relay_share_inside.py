"""Programs that `relay_share.py` runs on the nodes of its emulation.

give PORT [PROTOCOL]            a target that sends without end
take HOST PORT FILE [PROTOCOL]  a program that reads, and writes times and received bytes to FILE
wait SECONDS FILE               waits, and writes the times of its begin and end to FILE
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

CHUNK = bytes(65_536)
LOOK_S = 0.05


def give(port: str, protocol: str = "0") -> None:
    """Send data continuously to every client of a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(protocol)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", int(port)))
        listener.listen()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=fill, args=(connection,), daemon=True).start()


def fill(connection: socket.socket) -> None:
    """Send data until the client closes the connection."""
    with suppress(OSError), connection:
        while True:
            connection.sendall(CHUNK)


def take(host: str, port: str, file: str, protocol: str = "0") -> None:
    """Download continuously. When a connection ends, open a new connection. Write times and
    received bytes to a file."""
    with open(file, "w", buffering=1) as out:
        while True:
            with (
                suppress(OSError),
                socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(protocol)) as connection,
            ):
                connection.connect((host, int(port)))
                read(connection, out)
            time.sleep(LOOK_S)


def read(connection: socket.socket, out: TextIO) -> None:
    """Receive data from one connection until it is closed."""
    total, told_s = 0, 0.0
    while piece := connection.recv(len(CHUNK)):
        total += len(piece)
        now_s = time.monotonic()
        if now_s - told_s >= LOOK_S:
            print(now_s, total, file=out)
            told_s = now_s


def wait(seconds: str, file: str) -> None:
    """Sleep, and write the times of the begin and the end to a file."""
    begin_s = time.monotonic()
    time.sleep(float(seconds))
    Path(file).write_text(json.dumps([begin_s, time.monotonic()]))


if __name__ == "__main__":
    todo: dict[str, Callable[..., None]] = {"give": give, "take": take, "wait": wait}
    todo[sys.argv[1]](*sys.argv[2:])
