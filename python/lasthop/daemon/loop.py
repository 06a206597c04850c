"""What is done when: rounds that are due, sockets that have something, signals. One thread.

Whatever is wrong with one thing that is done is a fault of that, and the loop goes on.
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
"""Rounds that are at least so far apart are due at multiples of it: all with one waking. [s]"""


class Round(NamedTuple):
    """Something that is done again and again, or once."""

    at_s: float
    """When it is due next, on the clock that never jumps."""
    period_s: Callable[[], float] | None
    """Time from one round to the next, as it is then; None if there is no next. [s]"""


class Loop:
    """Rounds and sockets, and what each has brought about.

    Parameters
    ----------
    say : callable
        Takes a line of the log.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.stopping = False
        self.faults: dict[Deed, str] = {}
        """Errors that nothing else has caught, by what made them the last time."""
        self.rounds: dict[Deed, Round] = {}
        self.watched: dict[socket.socket, Deed] = {}
        self.wakings = 0
        """How often there was something to do."""
        self.selector: selectors.BaseSelector | None = None
        """What is waited for, while the loop runs."""
        self.asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        """Questions of other threads."""
        self.waker: socket.socket | None = None

    def every(self, period_s: Callable[[], float], do: Deed) -> None:
        """Do something again and again; the first time after a period."""
        self.rounds[do] = Round(next_at(time.monotonic(), period_s()), period_s)

    def at(self, at_s: float, do: Deed) -> None:
        """Do something once at this time, or its next round; what is due before stays so."""
        due = self.rounds.get(do, Round(math.inf, None))
        self.rounds[do] = due._replace(at_s=min(at_s, due.at_s))

    def watch(self, connection: socket.socket, do: Deed) -> None:
        """Do something whenever a socket has something to read."""
        if self.selector is not None and connection not in self.watched:
            self.selector.register(connection, selectors.EVENT_READ)
        self.watched[connection] = do

    def unwatch(self, connection: socket.socket) -> None:
        """Let a socket alone; what it has may wait."""
        if self.watched.pop(connection, None) is not None and self.selector is not None:
            self.selector.unregister(connection)

    def stop(self) -> None:
        """Do nothing more once what is being done is done."""
        self.stopping = True

    def ask(self, what: Callable[[], Answer], patience_s: float) -> Answer | None:
        """What another thread wants to know, done in this one; None if nobody answers in time."""
        future: Future[Answer] = Future()
        self.asked.put((future, what))
        with suppress(CancelledError, TimeoutError, OSError):
            if self.waker is not None:
                self.waker.send(b"?")
                return future.result(patience_s)
        return None

    def tell(self, do: Deed) -> None:
        """Have something done in this thread, soon, by another one."""
        self.asked.put((Future(), lambda: self.guarded(do)))
        with suppress(OSError):
            if self.waker is not None:
                self.waker.send(b"!")

    def run(self) -> None:
        """Do what is due, wait for the next, until it is to stop."""
        with self.waiting() as selector:
            while not self.stopping:
                first_s = min((each.at_s for each in self.rounds.values()), default=math.inf)
                wait_s = max(first_s - time.monotonic(), 0)
                ready = selector.select(None if math.isinf(wait_s) else wait_s)
                self.wakings += 1
                for key, _ in ready:
                    assert isinstance(key.fileobj, socket.socket)
                    if key.fileobj in self.watched:  # one that was ready before may let it alone
                        self.guarded(self.watched[key.fileobj])
                now = time.monotonic()
                for do, due in list(self.rounds.items()):
                    if due.at_s <= now:
                        self.do_round(do, due, now)

    def do_round(self, do: Deed, due: Round, now: float) -> None:
        """Do what is due, and note when it is due next."""
        if due.period_s is None:
            del self.rounds[do]
            self.guarded(do)
            return
        self.guarded(do)
        # After a stall the missed rounds are left out.
        self.rounds[do] = due._replace(at_s=max(next_at(due.at_s, due.period_s()), now))

    @contextmanager
    def waiting(self) -> Iterator[selectors.BaseSelector]:
        """What is waited for while the body runs, with questions of other threads."""
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
        """Answer other threads."""
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
        """Do something; whatever is wrong with it is a fault, and what is in force stays so."""
        try:
            do()
        except BrokenPipeError:
            raise  # nobody reads any more what `run` prints
        except Exception as error:
            words = in_words(error)
            if self.faults.get(do) != words:
                self.say(f"{words}\n{traceback.format_exc()}" if is_defect(error) else words)
            self.faults[do] = words
        else:
            self.faults.pop(do, None)

    def take_signals(self, stack: ExitStack, also: Mapping[int, Deed]) -> None:
        """End at SIGTERM and SIGINT, do `also` at other signals, until `stack` is left."""
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
    """When a round is due that follows one at this time. [s]"""
    next_s = at_s + period_s
    return next_s if period_s < SLOW_S or math.isinf(next_s) else next_s - next_s % SLOW_S


def in_words(error: Exception) -> str:
    """What is wrong, in a line."""
    if is_defect(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return str(error)


def is_defect(error: Exception) -> bool:
    """Whether nobody has foreseen this."""
    return not isinstance(error, UserError)
