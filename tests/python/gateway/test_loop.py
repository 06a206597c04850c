"""Rounds and sockets of a gateway's loop."""

import os
import signal
import socket
from contextlib import ExitStack

import pytest

from lasthop.errors import UserError
from lasthop.gateway.loop import Loop, in_words


def test_rounds_are_done_until_the_loop_is_to_stop() -> None:
    loop, done = Loop(print), list[int]()

    def once_more() -> None:
        done.append(len(done))
        if len(done) == 3:
            loop.stop()

    loop.every(lambda: 0.001, once_more)
    loop.run()
    assert done == [0, 1, 2]


def test_what_a_socket_has_is_taken_between_rounds() -> None:
    loop, taken = Loop(print), list[bytes]()
    here, there = socket.socketpair()
    with here, there:

        def take() -> None:
            taken.append(here.recv(16))
            loop.stop()

        loop.watch(here, take)
        loop.every(lambda: 0.001, lambda: there.send(b"x"))
        loop.run()
    assert taken[0].startswith(b"x")


def test_what_goes_wrong_is_said_once_and_forgotten_when_it_goes_well() -> None:
    said = list[str]()
    loop, wrong = Loop(said.append), [UserError("no link"), UserError("no link"), None]

    def do() -> None:
        if (error := wrong.pop(0)) is not None:
            raise error

    loop.guarded(do)
    loop.guarded(do)
    assert (said, list(loop.faults.values())) == (["no link"], ["no link"])
    loop.guarded(do)
    assert loop.faults == {}


def test_nobody_who_reads_ends_the_loop() -> None:
    def printed() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Loop(print).guarded(printed)


def test_signals_are_answered_in_the_loop() -> None:
    loop, heard = Loop(print), list[str]()
    before = signal.getsignal(signal.SIGHUP)
    with ExitStack() as stack:

        def reload() -> None:
            heard.append("reload")
            os.kill(os.getpid(), signal.SIGTERM)

        loop.take_signals(stack, {signal.SIGHUP: reload})
        loop.every(lambda: 1.0, lambda: None)
        os.kill(os.getpid(), signal.SIGHUP)
        loop.run()
    assert heard == ["reload"]
    assert signal.getsignal(signal.SIGHUP) is before


def test_a_defect_is_called_by_its_kind() -> None:
    assert in_words(UserError("no link")) == "no link"
    assert in_words(KeyError("a")) == "KeyError: 'a'"
