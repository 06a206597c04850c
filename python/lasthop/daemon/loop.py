"""Event loop in one thread, which calls functions periodically, for readable sockets, and for
signals.

If a function raises an error, the error is stored as a fault, and the loop continues.
"""

import math
import selectors
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from lasthop.errors import UserError

Deed = Callable[[], object]
Answer = TypeVar("Answer")

SLOW_S = 2.0
"""Smallest period of a slow function. Calls of slow functions are aligned to multiples of this
time, so that several functions share a wake-up. [s]"""


class Round(NamedTuple):
    """Schedule of a function that is called periodically or once."""

    at_s: float
    """Time of the next call on the monotonic clock. [s]"""
    period_s: Callable[[], float] | None
    """Function that returns the present period of the calls; None if the scheduled function is
    called only once. [s]"""


class Loop:
    """Event loop, with the functions that it calls at given times or for readable sockets, and with
    the errors of these functions.

    Parameters
    ----------
    say : callable
        Writes a line of the log.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.stopping = False
        self.faults: dict[Deed, str] = {}
        """Message of the uncaught error in the last call of a function, by function. Functions
        without an error are left out."""
        self.rounds: dict[Deed, Round] = {}
        self.watched: dict[socket.socket, Deed] = {}
        self.wakings = 0
        """Number of times that the loop has woken up since its start."""
        self.selector: selectors.BaseSelector | None = None
        """Selector of the loop; None while the loop does not run."""
        self.asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        """Calls that other threads have requested."""
        self.waker: socket.socket | None = None

    def every(self, period_s: Callable[[], float], do: Deed) -> None:
        """Call a function periodically. The first call is one period from now."""
        self.rounds[do] = Round(next_at(time.monotonic(), period_s()), period_s)

    def at(self, at_s: float, do: Deed) -> None:
        """Call a function once at this time. If an earlier call of the function is already
        scheduled, keep the earlier time."""
        due = self.rounds.get(do, Round(math.inf, None))
        self.rounds[do] = due._replace(at_s=min(at_s, due.at_s))

    def watch(self, connection: socket.socket, do: Deed) -> None:
        """Call a function whenever a socket is readable."""
        if self.selector is not None and connection not in self.watched:
            self.selector.register(connection, selectors.EVENT_READ)
        self.watched[connection] = do

    def unwatch(self, connection: socket.socket) -> None:
        """Stop watching a socket, without closing it."""
        if self.watched.pop(connection, None) is not None and self.selector is not None:
            self.selector.unregister(connection)

    def stop(self) -> None:
        """Stop the loop after the present call."""
        self.stopping = True

    def ask(self, what: Callable[[], Answer], patience_s: float) -> Answer | None:
        """Call a function in the thread of the loop, on behalf of another thread. Return the result
        of the function, or None if there is no result within `patience_s`. [s]"""
        future: Future[Answer] = Future()
        self.asked.put((future, what))
        with suppress(CancelledError, TimeoutError, OSError):
            if self.waker is not None:
                self.waker.send(b"?")
                return future.result(patience_s)
        return None

    def tell(self, do: Deed) -> None:
        """Schedule a call of a function in the thread of the loop, on behalf of another thread."""
        self.asked.put((Future(), lambda: self.guarded(do)))
        with suppress(OSError):
            if self.waker is not None:
                self.waker.send(b"!")

    def run(self) -> None:
        """Call the scheduled functions when they are due, until `stop` is called."""
        with self.waiting() as selector:
            while not self.stopping:
                first_s = min((each.at_s for each in self.rounds.values()), default=math.inf)
                wait_s = max(first_s - time.monotonic(), 0)
                ready = selector.select(None if math.isinf(wait_s) else wait_s)
                self.wakings += 1
                for key, _ in ready:
                    assert isinstance(key.fileobj, socket.socket)
                    if key.fileobj in self.watched:  # an earlier call may have removed the socket
                        self.guarded(self.watched[key.fileobj])
                now = time.monotonic()
                for do, due in list(self.rounds.items()):
                    if due.at_s <= now:
                        self.do_round(do, due, now)

    def do_round(self, do: Deed, due: Round, now: float) -> None:
        """Call a function that is due, and set the time of its next call."""
        if due.period_s is None:
            del self.rounds[do]
            self.guarded(do)
            return
        self.guarded(do)
        # If several calls were due while another function ran, only one of these calls is made.
        self.rounds[do] = due._replace(at_s=max(next_at(due.at_s, due.period_s()), now))

    @contextmanager
    def waiting(self) -> Iterator[selectors.BaseSelector]:
        """Yield a selector for the loop, which also wakes up when another thread requests a
        call."""
        with selectors.DefaultSelector() as selector, ExitStack() as stack:
            wake, waker = (stack.enter_context(end) for end in socket.socketpair())
            for end in (wake, waker):
                end.setblocking(False)

            def answer() -> None:
                with suppress(BlockingIOError):
                    wake.recv(4096)
                self.answer()

            self.watch(wake, answer)
            for each in self.watched:
                selector.register(each, selectors.EVENT_READ)
            self.selector, self.waker = selector, waker
            try:
                yield selector
            finally:
                self.selector = self.waker = None
                del self.watched[wake]
                with suppress(Empty):
                    while True:
                        self.asked.get_nowait()[0].cancel()

    def answer(self) -> None:
        """Make the calls that other threads have requested."""
        with suppress(Empty):
            while True:
                future, what = self.asked.get_nowait()
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    future.set_result(what())
                except Exception as error:
                    future.set_exception(error)

    def guarded(self, do: Deed) -> None:
        """Call a function. An error is stored as a fault, and the kernel's state is not
        reverted."""
        try:
            do()
        except BrokenPipeError:
            raise  # the reader of the standard output of `run` has closed the pipe
        except Exception as error:
            words = in_words(error)
            if self.faults.get(do) != words:
                self.say(f"{words}\n{traceback.format_exc()}" if is_defect(error) else words)
            self.faults[do] = words
        else:
            self.faults.pop(do, None)

    def take_signals(self, stack: ExitStack, also: Mapping[int, Deed]) -> None:
        """Stop the loop at SIGTERM and SIGINT, and call the functions of `also` at other signals,
        until `stack` ends."""
        wake, waker = (stack.enter_context(end) for end in socket.socketpair())
        waker.setblocking(False)
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(waker.fileno()))
        for number in (signal.SIGTERM, signal.SIGINT, *also):
            before = signal.signal(number, lambda *_: None)
            stack.callback(signal.signal, number, before)

        def signalled() -> None:
            for number in wake.recv(64):
                also.get(number, self.stop)()

        self.watch(wake, signalled)


def next_at(at_s: float, period_s: float) -> float:
    """Return the time of the next call of a periodic function that was called at `at_s`. [s]"""
    next_s = at_s + period_s
    return next_s if period_s < SLOW_S or math.isinf(next_s) else next_s - next_s % SLOW_S


def in_words(error: Exception) -> str:
    """Return an error as a message of one line."""
    if is_defect(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return str(error)


def is_defect(error: Exception) -> bool:
    """Return whether an error is unexpected, which means a defect of lasthop."""
    return not isinstance(error, UserError)
