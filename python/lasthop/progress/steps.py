"""Progress of long steps, for display by the command line.

Long steps report their name here, and their number of parts or expected duration. Without a
display, as in a program that imports lasthop, this has no effect.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

__all__ = ["Step", "Unwatched", "Watcher", "counting", "expect", "step", "watched_by"]

Item = TypeVar("Item")


class Step(Protocol):
    """A long step, from the view of the watcher that displays it."""

    def done(self, count: int) -> None:
        """Receive the number of finished parts."""
        ...

    def expect(self, what: str, time_s: float) -> None:
        """Receive the name of the present computation, and its largest expected duration. [s]"""
        ...

    def report_early(self, what: str) -> None:
        """Receive a preliminary result, as text that also names the missing parts."""
        ...


Watcher = Callable[[str, int | None], AbstractContextManager[Step]]
"""Function that begins to watch a step, given its name and the number of its parts (or None)."""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)
_current: ContextVar[Step | None] = ContextVar("_current", default=None)


class Unwatched:
    """A step without a watcher."""

    def done(self, count: int) -> None:
        """Do nothing."""

    def expect(self, what: str, time_s: float) -> None:
        """Do nothing."""

    def report_early(self, what: str) -> None:
        """Do nothing."""


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Report steps to the watcher while the body runs."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def step(what: str, total: int | None = None) -> Iterator[Step]:
    """Report a step while the body runs.

    Parameters
    ----------
    what : str
        Name of the step, such as ``"checking points"``; empty if only `expect` reports it.
    total : int, optional
        Number of parts of the step; the body reports the number of finished parts.
    """
    watcher = _watcher.get()
    if watcher is None:
        yield Unwatched()
        return
    with watcher(what, total) as current:
        token = _current.set(current)
        try:
            yield current
        finally:
            _current.reset(token)


def counting(what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """Yield the items, and report each finished item as a part of a step."""
    with step(what, total) as current:
        for number, item in enumerate(items):
            current.done(number)
            yield item


def expect(what: str, time_s: float) -> None:
    """Report to the present step that a computation begins, with its largest expected duration.
    [s]
    """
    current = _current.get()
    if current is not None:
        current.expect(what, time_s)
