"""Progress of long steps, which the command line displays.

A long step reports its name, and its number of parts or its estimated run time. The reports have no
effect without a display, as in a program that imports lasthop.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

__all__ = ["Step", "Unwatched", "Watcher", "counting", "expect", "step", "watched_by"]

Item = TypeVar("Item")


class Step(Protocol):
    """Receiver of the reports of one long step, which displays them."""

    def done(self, count: int) -> None:
        """Receive the number of finished parts of the step."""
        ...

    def expect(self, what: str, time_s: float) -> None:
        """Receive the name of the computation that begins, and an upper estimate of its run time.
        [s]
        """
        ...

    def report_early(self, what: str) -> None:
        """Receive a preliminary result as text; the text also names what is missing."""
        ...


Watcher = Callable[[str, int | None], AbstractContextManager[Step]]
"""Function that begins to display a step. Its arguments are the name of the step, and the number of
parts or None.
"""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)
_current: ContextVar[Step | None] = ContextVar("_current", default=None)


class Unwatched:
    """Step that is not displayed."""

    def done(self, count: int) -> None:
        """Do nothing."""

    def expect(self, what: str, time_s: float) -> None:
        """Do nothing."""

    def report_early(self, what: str) -> None:
        """Do nothing."""


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Use `watcher` to display the steps that the body reports; None: do not display the steps."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def step(what: str, total: int | None = None) -> Iterator[Step]:
    """Report a long step while the body runs.

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
    """Yield the items of a long step; after each item, report one more finished part."""
    with step(what, total) as current:
        for number, item in enumerate(items):
            current.done(number)
            yield item


def expect(what: str, time_s: float) -> None:
    """Report that a computation of the present step begins, with an upper estimate of its run time.
    [s]
    """
    current = _current.get()
    if current is not None:
        current.expect(what, time_s)
