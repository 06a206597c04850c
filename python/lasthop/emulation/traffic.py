"""Run all flows of an emulation in one thread, according to the clock."""

import heapq
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from typing import Protocol

from lasthop.linux.scheduling import waited_s
from lasthop.linux.timer import Timer
from lasthop.scenario.typed import Flow

LOOK_S = 0.1
"""Time between two samples of the flows' state. [s]"""


class Driven(Protocol):
    """Flow with its sockets, which `Traffic` runs."""

    @property
    def flow(self) -> Flow:
        """Flow of the scenario."""

    @property
    def received_bytes(self) -> int:
        """Payload that has reached the application since the end of the warm-up."""

    def begin(self, traffic: "Traffic") -> None:
        """Start the flow."""

    def stop(self, traffic: "Traffic") -> None:
        """Send no new data."""

    def begin_to_count(self) -> None:
        """Begin measuring at the end of the warm-up."""

    def look(self) -> None:
        """Sample the state of the flow."""

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput."""

    def close(self) -> None:
        """Close every socket of the flow."""


class Traffic:
    """Event loop that runs all flows according to the clock.

    Parameters
    ----------
    flows : sequence of Driven
    warmup_s, duration_s : float
        Time at which measuring begins, and time at which the run ends. [s]
    """

    def __init__(self, flows: Sequence[Driven], warmup_s: float, duration_s: float) -> None:
        self.flows = flows
        self.warmup_s = warmup_s
        self.duration_s = duration_s
        self.selector = selectors.DefaultSelector()
        self.begun_s = 0.0
        self.until_s = 0.0
        """Time since the start of the run at which the loop last woke up. After a complete run, the
        field is the duration of the run. [s]
        """
        self.warm = False
        self.waited_s: float | None = None
        """Time for which the thread had waited for a processor by the end of the warm-up. [s]"""
        self.order = count()
        self.agenda: list[tuple[float, int, Callable[[], None]]] = []

    def run(self, keep_going: Callable[[float], bool]) -> None:
        """Run the flows from now on, until the duration has passed.

        Parameters
        ----------
        keep_going : callable
            Function that is called about every 100 ms with the time since the start of the run. If
            it returns False, the run stops.
        """
        self.begun_s = time.monotonic()
        for each in self.flows:
            self.at(each.flow.start_s, partial(each.begin, self))
            if each.flow.stop_s is not None:
                self.at(each.flow.stop_s, partial(each.stop, self))
        self.at(self.warmup_s, self.begin_to_count)
        look_s = 0.0
        with closing(Timer()) as timer:
            self.selector.register(timer, selectors.EVENT_READ)
            while (now := self.now_s()) < self.duration_s:
                self.until_s = now
                while self.agenda and self.agenda[0][0] <= now:
                    heapq.heappop(self.agenda)[2]()
                if now >= look_s:
                    look_s = now + LOOK_S
                    self.look()
                    if not keep_going(now):
                        return
                self.serve(timer, min(look_s, self.duration_s))
        self.until_s = self.duration_s

    def serve(self, timer: Timer, until_s: float) -> None:
        """Call the functions of ready sockets until `until_s`, or until a scheduled call is due.

        The selector also watches a timer, which expires at that time. Without the timer, each
        event would need two more readings of the clock. In user-mode Linux, each reading is a
        system call.
        """
        set_s = None
        is_over = False
        while not is_over:
            due_s = min(until_s, self.agenda[0][0]) if self.agenda else until_s
            if due_s != set_s:
                timer.set(self.begun_s + due_s)
                set_s = due_s
            for key, _ in self.selector.select():
                if key.fileobj is timer:
                    is_over = True
                else:
                    key.data()

    def processor_wait(self) -> dict[str, float]:
        """Return the fraction of the measured time for which the thread waited for a processor."""
        now_s, length_s = waited_s(), self.until_s - self.warmup_s
        if now_s is None or self.waited_s is None or length_s <= 0.0:
            return {}
        return {"processor_wait": (now_s - self.waited_s) / length_s}

    def now_s(self) -> float:
        """Return the time since the start of the run. [s]"""
        return time.monotonic() - self.begun_s

    def at(self, when_s: float, do: Callable[[], None]) -> None:
        """Schedule a call of a function. Calls at the same time happen in the order in which they
        were scheduled."""
        heapq.heappush(self.agenda, (when_s, next(self.order), do))

    def watch(self, connection: socket.socket, events: int, do: Callable[[], None]) -> None:
        """Call a function whenever a socket is ready for reading or writing."""
        self.selector.register(connection, events, do)

    def watches(self, connection: socket.socket) -> bool:
        """Return whether a socket is watched."""
        return connection in self.selector.get_map()

    def leave(self, connection: socket.socket) -> None:
        """Stop watching a socket."""
        self.selector.unregister(connection)

    def begin_to_count(self) -> None:
        """Begin measuring: the warm-up has ended."""
        self.warm = True
        self.waited_s = waited_s()
        for each in self.flows:
            each.begin_to_count()

    def look(self) -> None:
        """Sample the state of all flows, if the warm-up has ended."""
        if self.warm:
            for each in self.flows:
                each.look()

    def close(self) -> None:
        """Close every socket."""
        self.selector.close()
        for each in self.flows:
            each.close()
