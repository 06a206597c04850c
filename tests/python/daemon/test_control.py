"""Requests to a running gateway over its socket."""

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lasthop.daemon.control import Control
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import Gateway


class Service:
    """A service that answers requests, and records the reloads."""

    def __init__(self) -> None:
        self.requests: list[object] = []

    def status(self) -> dict[str, Any]:
        return {"name": "cafe"}

    def reload(self, again: Callable[[], Gateway] | None = None) -> list[str]:
        self.requests.append("reload" if again is None else "another file")
        return ["no"] if again is None else []

    def stop(self) -> None:
        self.requests.append("stop")


def test_every_question_has_its_answer(tmp_path: Path) -> None:
    service = Service()
    control = Control(State(tmp_path), service, config.read)
    assert control.answer({"do": "status"}) == {"name": "cafe"}
    assert control.answer({"do": "reload"}) == {"refused": ["no"]}
    assert control.answer({"do": "reload", "file": "b.toml"}) == {"refused": []}
    assert control.answer({"do": "stop"}) == {"pid": os.getpid()}
    assert control.answer({"do": "dance"}) == {"refused": ["unknown request 'dance'"]}
    assert service.requests == ["reload", "another file", "stop"]
    assert State(tmp_path).file() == Path("b.toml")  # Later commands find the new file.


def test_questions_arrive_over_a_socket_that_the_process_removes(tmp_path: Path) -> None:
    state, answers = State(tmp_path), list[object]()
    control = Control(state, Service(), config.read)
    with ExitStack() as stack:
        listener = control.open(stack)
        asking = Thread(target=lambda: answers.append(state.ask({"do": "status"})))
        asking.start()
        listener.setblocking(True)
        control.serve(listener)
        asking.join()
        assert Path(state.address).stat().st_mode & 0o777 == 0o600
    assert answers == [{"name": "cafe"}]
    assert not Path(state.address).exists()


@pytest.mark.parametrize(
    "request_bytes",
    [b"[" * 60_000, b'{"do":' * 10_000, b"[]", b"null", b"\xff", b'{"do": ["status"]}'],
    ids=["brackets", "braces", "list", "null", "no-text", "unknown"],
)
def test_an_invalid_request_is_refused(tmp_path: Path, request_bytes: bytes) -> None:
    state = State(tmp_path)
    control = Control(state, Service(), config.read)
    with ExitStack() as stack:
        listener = control.open(stack)
        listener.setblocking(True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.connect(state.address)
            asking.sendall(request_bytes)
            control.serve(listener)
            assert asking.recv(1000).startswith(b'{"refused": [')


def test_a_reload_with_invalid_values_is_refused(tmp_path: Path) -> None:
    control = Control(State(tmp_path), Service(), config.read)
    odd = {"do": "reload", "file": "b.toml", "settings": 3}
    assert control.answer(odd) == {"refused": ["settings: must be a list of pairs of texts"]}
    assert control.answer({"do": "reload", "file": 3}) == {"refused": ["file: must be a text"]}


def test_an_answer_that_is_nested_too_deeply_is_ignored(tmp_path: Path) -> None:
    state = State(tmp_path)
    with ExitStack() as stack:
        listener = Control(state, Service(), config.read).open(stack)
        listener.setblocking(True)

        def answer() -> None:
            with listener.accept()[0] as asking:
                asking.recv(1000)
                asking.sendall(b"[" * 60_000)

        answering = Thread(target=answer)
        answering.start()
        assert state.ask({"do": "status"}) is None
        answering.join()
