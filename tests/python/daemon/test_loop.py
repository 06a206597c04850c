"""Repeated tasks and sockets of a gateway's event loop."""

import math
import os
import signal
import socket
import threading
import time
from contextlib import ExitStack
from functools import partial

import pytest

from lasthop.daemon.loop import Loop, in_words, next_at
from lasthop.errors import UserError


def test_rounds_are_repeated_until_the_loop_stops() -> None:
    loop, done = Loop(print), list[int]()

    def once_more() -> None:
        done.append(len(done))
        if len(done) == 3:
            loop.stop()

    loop.every(lambda: 0.001, once_more)
    loop.run()
    assert done == [0, 1, 2]


def test_data_of_a_socket_is_read_between_rounds() -> None:
    loop, taken = Loop(print), list[bytes]()
    here, peer = socket.socketpair()
    with here, peer:

        def take() -> None:
            taken.append(here.recv(16))
            loop.stop()

        loop.watch(here, take)
        loop.every(lambda: 0.001, lambda: peer.send(b"x"))
        loop.run()
    assert taken[0].startswith(b"x")


def test_a_fault_is_reported_once_and_ends_with_success() -> None:
    messages = list[str]()
    loop, wrong = Loop(messages.append), [UserError("no link"), UserError("no link"), None]

    def do() -> None:
        if (error := wrong.pop(0)) is not None:
            raise error

    loop.guarded(do)
    loop.guarded(do)
    assert (messages, list(loop.faults.values())) == (["no link"], ["no link"])
    loop.guarded(do)
    assert loop.faults == {}


def test_a_closed_output_does_not_end_the_loop() -> None:
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


def test_a_defect_is_reported_with_its_type() -> None:
    assert in_words(UserError("no link")) == "no link"
    assert in_words(KeyError("a")) == "KeyError: 'a'"


def test_a_single_task_runs_once_at_the_earliest_requested_time() -> None:
    loop, done = Loop(print), list[str]()
    once = partial(done.append, "once")
    loop.at(time.monotonic() + 60, once)
    loop.at(time.monotonic(), once)
    loop.at(time.monotonic() + 0.02, loop.stop)
    loop.run()
    assert done == ["once"]


def test_a_round_can_run_early_and_continues_afterwards() -> None:
    loop, done = Loop(print), list[int]()

    def round_() -> None:
        done.append(1)
        if len(done) == 3:
            loop.stop()

    loop.every(lambda: math.inf if not done else 0.001, round_)
    loop.at(time.monotonic(), round_)
    loop.run()
    assert len(done) == 3


def test_an_unwatched_socket_does_not_wake_the_loop() -> None:
    loop, taken = Loop(print), list[bytes]()
    here, peer = socket.socketpair()
    with here, peer:

        def take() -> None:
            taken.append(here.recv(16))
            loop.unwatch(here)
            peer.send(b"more")
            loop.at(time.monotonic() + 0.05, again)

        def again() -> None:
            assert loop.wakings == 2
            loop.watch(here, lambda: (taken.append(here.recv(16)), loop.stop()))

        loop.watch(here, take)
        peer.send(b"some")
        loop.run()
    assert taken == [b"some", b"more"]
    assert loop.faults == {}


def test_slow_rounds_share_their_wake_ups() -> None:
    at_s = 12.3
    assert next_at(at_s, 0.5) == 12.8
    assert [next_at(at_s, period_s) for period_s in (2, 3, 5, 7.9)] == [14, 14, 16, 20]
    assert next_at(14.0, 2.0) == 16.0
    assert next_at(at_s, math.inf) == math.inf
    assert all(next_at(k / 10, 2 + j / 10) > k / 10 for k in range(50) for j in range(50))


def test_other_threads_are_answered_while_the_loop_runs() -> None:
    loop, answers = Loop(print), list[object]()
    assert loop.ask(lambda: 1, 10) is None

    def fail() -> None:
        raise UserError("no")

    def ask() -> None:
        answers.append(loop.ask(lambda: threading.current_thread() is main, 10))
        try:
            loop.ask(fail, 10)
        except UserError as error:
            answers.append(str(error))
        loop.ask(loop.stop, 10)

    main = threading.current_thread()
    asking = threading.Thread(target=ask)
    loop.at(time.monotonic(), asking.start)
    loop.run()
    asking.join()
    assert answers == [True, "no"]
