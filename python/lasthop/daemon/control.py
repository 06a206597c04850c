"""Requests to a running service, over a socket in the service's state directory."""

import json
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from lasthop.daemon.configuration import Read, Wanted
from lasthop.daemon.state import State, who
from lasthop.errors import UserError

REQUEST_BYTES = 1 << 16
ASKED_S = 1.0
"""Time limit for a request to arrive after the connection. [s]"""


Another = TypeVar("Another", contravariant=True)


class Asked(Protocol[Another]):
    """Methods of a service that the control socket calls."""

    def status(self) -> dict[str, Any]:
        """Return the status of the service."""

    def reload(self, again: Callable[[], Another] | None = None) -> list[str]:
        """Read the configuration file again, or call `again` to read another file, and apply the
        configuration. Return error messages."""

    def stop(self) -> None:
        """Stop the service after the present iteration of its event loop."""


class Control(Generic[Wanted]):
    """Control socket, which receives requests and sends the replies of a service.

    Parameters
    ----------
    state : State
        State of the service, with the address of the socket.
    service : Asked
    read : callable
        Function that reads the configuration file that a request names.
    """

    def __init__(self, state: State, service: Asked[Wanted], read: Read[Wanted]) -> None:
        self.state = state
        self.service = service
        self.read = read

    def open(self, stack: ExitStack) -> socket.socket:
        """Return a listening socket for requests, which `stack` closes."""
        present = stack.enter_context(listener(self.state.address))
        stack.callback(remove, self.state.address)
        return present

    def serve(self, connection: socket.socket) -> None:
        """Read a request from a connection, and send the reply."""
        with suppress(OSError):
            asking, _ = connection.accept()
            with asking:
                asking.settimeout(ASKED_S)
                request = read_object(asking.recv(REQUEST_BYTES))
                asking.sendall(json.dumps(self.answer(request)).encode())

    def answer(self, request: dict[str, Any] | None) -> dict[str, Any]:
        """Return the reply to a request; None stands for an unreadable request."""
        if request is None:
            return {"refused": ["a request must be a JSON object"]}
        match request.get("do"):
            case "status":
                return self.service.status()
            case "reload":
                return {"refused": self.reload(request)}
            case "stop":
                self.service.stop()
                return {"pid": os.getpid()}
        return {"refused": [f"unknown request {request.get('do')!r}"]}

    def reload(self, request: dict[str, Any]) -> list[str]:
        """Read the configuration file again, or the file that the request names. If the service
        accepts this new file, later commands use it too.
        """
        if not (file := request.get("file")):
            return self.service.reload()
        try:
            settings = [(str(path), str(value)) for path, value in request.get("settings", ())]
        except (TypeError, ValueError):
            return ["settings: must be a list of pairs of texts"]
        if not isinstance(file, str):
            return ["file: must be a text"]
        refused = self.service.reload(lambda: self.read(Path(file), settings))
        if not refused:
            # A failure to store the path is ignored: only later commands use the path, and the
            # present request has succeeded.
            with suppress(UserError):
                self.state.write_file(Path(file))
        return refused


def read_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in some bytes, or None if the bytes are not a JSON object."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):  # RecursionError occurs if the JSON is nested too deeply
        return None
    return tree if isinstance(tree, dict) else None


def listener(address: str) -> socket.socket:
    """Return a listening socket for requests. Remove the socket file that a killed process has
    left."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            os.unlink(address)
        os.fchmod(connection.fileno(), 0o600)  # The socket file gets these permissions.
        connection.bind(address)
        connection.listen(8)
    except OSError as error:
        connection.close()
        raise UserError(f"{address}: {error.strerror or error}", who(error)) from None
    connection.setblocking(False)
    return connection


def remove(path: str) -> None:
    """Remove a socket file if possible. A socket file without its process has no effect."""
    with suppress(OSError):
        os.unlink(path)
