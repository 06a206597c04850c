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
    """Something that takes its time, as its watcher has it."""

    def done(self, count: int) -> None:
        """Hear how many of its parts are done."""
        ...

    def expect(self, what: str, time_s: float) -> None:
        """Hear what is under way in it, and how long it will take at most. [s]"""
        ...

    def report_early(self, what: str) -> None:
        """Hear what is known before it is over, in words that say what is still to come."""
        ...


Watcher = Callable[[str, int | None], AbstractContextManager[Step]]
"""Begins to watch a step, given its name and the number of its parts, None if it has none."""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)
_current: ContextVar[Step | None] = ContextVar("_current", default=None)


class Unwatched:
    """A step that nobody watches."""

    def done(self, count: int) -> None:
        """Nothing to do."""

    def expect(self, what: str, time_s: float) -> None:
        """Nothing to do."""

    def report_early(self, what: str) -> None:
        """Nothing to do."""


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Have steps watched while the body runs."""
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
        Number of its parts; the body reports how many are done.
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
    """Yield the items, each of which is a part of a step."""
    with step(what, total) as current:
        for number, item in enumerate(items):
            current.done(number)
            yield item


def expect(what: str, time_s: float) -> None:
    """Tell of what begins now in the step that is under way, and may take so long. [s]"""
    current = _current.get()
    if current is not None:
        current.expect(what, time_s)
