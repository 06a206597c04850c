"""Questions to what is up, over a socket in its directory."""

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
"""A question that takes longer to arrive is given up. [s]"""


Another = TypeVar("Another", contravariant=True)


class Asked(Protocol[Another]):
    """What is up, as far as others ask."""

    def status(self) -> dict[str, Any]:
        """What there is to know."""

    def reload(self, again: Callable[[], Another] | None = None) -> list[str]:
        """Read the file anew, or what this reads; what is wrong with it, in words."""

    def stop(self) -> None:
        """End once what is being done is done."""


class Control(Generic[Wanted]):
    """The socket for questions, and the answers.

    Parameters
    ----------
    state : State
        Where the socket lies.
    service : Asked
    read : callable
        Reads a file that is named.
    """

    def __init__(self, state: State, service: Asked[Wanted], read: Read[Wanted]) -> None:
        self.state = state
        self.service = service
        self.read = read

    def open(self, stack: ExitStack) -> socket.socket:
        """A socket for questions, until `stack` is left."""
        present = stack.enter_context(listener(self.state.address))
        stack.callback(remove, self.state.address)
        return present

    def serve(self, connection: socket.socket) -> None:
        """Answer a question."""
        with suppress(OSError):
            asking, _ = connection.accept()
            with asking:
                asking.settimeout(ASKED_S)
                request = read_object(asking.recv(REQUEST_BYTES))
                asking.sendall(json.dumps(self.answer(request)).encode())

    def answer(self, request: dict[str, Any] | None) -> dict[str, Any]:
        """The answer to a question."""
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
        """Read the file anew, or the one that is named, which later commands then find."""
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
            with suppress(UserError):  # it is for later commands; this one went well
                self.state.write_file(Path(file))
        return refused


def read_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in some bytes, or None if they are anything else."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):  # the latter if it is nested too deeply
        return None
    return tree if isinstance(tree, dict) else None


def listener(address: str) -> socket.socket:
    """A socket for questions; that of a process that was killed is in the way."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            os.unlink(address)
        os.fchmod(connection.fileno(), 0o600)  # what is bound has the rights of the socket
        connection.bind(address)
        connection.listen(8)
    except OSError as error:
        connection.close()
        raise UserError(f"{address}: {error.strerror or error}", who(error)) from None
    connection.setblocking(False)
    return connection


def remove(path: str) -> None:
    """Remove a file, if that can be: without its process it does nothing."""
    with suppress(OSError):
        os.unlink(path)
