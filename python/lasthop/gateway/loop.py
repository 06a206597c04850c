"""What is done when: rounds that are due, sockets that have something, signals. One thread.

Whatever is wrong with one thing that is done is a fault of that, and the loop goes on.
"""

import selectors
import signal
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from lasthop.errors import UserError

Deed = Callable[[], None]


class Round(NamedTuple):
    """Something that is done again and again."""

    at_s: float
    """When it is due next, on the clock that never jumps."""
    period_s: Callable[[], float]
    """Time from one round to the next, as it is then. [s]"""


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
        self.watched: list[tuple[socket.socket, Deed]] = []

    def every(self, period_s: Callable[[], float], do: Deed) -> None:
        """Do something again and again; the first time after a period."""
        self.rounds[do] = Round(time.monotonic() + period_s(), period_s)

    def watch(self, one: socket.socket, do: Deed) -> None:
        """Do something whenever a socket has something to read."""
        self.watched.append((one, do))

    def stop(self) -> None:
        """Do nothing more once what is being done is done."""
        self.stopping = True

    def run(self) -> None:
        """Do what is due, wait for the next, until it is to stop."""
        with selectors.DefaultSelector() as selector:
            for one, do in self.watched:
                selector.register(one, selectors.EVENT_READ, do)
            while not self.stopping:
                wait_s = min(each.at_s for each in self.rounds.values()) - time.monotonic()
                for key, _ in selector.select(max(wait_s, 0)):
                    self.guarded(key.data)
                now = time.monotonic()
                for do, due in list(self.rounds.items()):
                    if due.at_s <= now:
                        self.guarded(do)
                        # After a stall the missed rounds are left out.
                        self.rounds[do] = due._replace(at_s=max(due.at_s + due.period_s(), now))

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


def in_words(error: Exception) -> str:
    """What is wrong, in a line."""
    if is_defect(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return str(error)


def is_defect(error: Exception) -> bool:
    """Whether nobody has foreseen this."""
    return not isinstance(error, UserError)
