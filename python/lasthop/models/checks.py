"""Tables of checks: the assumption of each row, its test, and the message if it is broken."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from lasthop.models.errors import Doubt

T = TypeVar("T")


@dataclass(frozen=True)
class Check(Generic[T]):
    """Row of a table: an assumption, and how a subject breaks it.

    Attributes
    ----------
    assumption : str
        Number of the assumption; `lasthop.models.assumptions` has its text.
    is_broken : callable
        Test of a subject.
    message : str
        Message about a subject that breaks the assumption, with fields such as ``{0.name}``.
    """

    assumption: str
    is_broken: Callable[[T], object]
    message: str

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the assumption with the message if the subject breaks it."""
        if self.is_broken(of):
            yield self.assumption, self.message.format(of)


@dataclass(frozen=True)
class Messages(Generic[T]):
    """Row whose messages a function of the subject yields."""

    assumption: str
    messages: Callable[[T], Iterable[str]]

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the assumption with each message."""
        for message in self.messages(of):
            yield self.assumption, message


class Each(Generic[T]):
    """Rows that are read for each of several subjects."""

    def __init__(self, subjects: Callable[[T], Iterable[Any]], *rows: Check[Any]) -> None:
        self.subjects = subjects
        self.rows = rows

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the violations of each subject in turn."""
        for subject in self.subjects(of):
            yield from violations(self.rows, subject)


Table: TypeAlias = Iterable[Check[T] | Messages[T] | Each[T] | Callable[[T], Iterable[Doubt]]]
"""Rows in the order of their messages; any function that yields violations is a row, too."""


def violations(table: Table[T], of: T) -> Iterator[Doubt]:
    """Yield the assumptions that a subject breaks, with messages, in the order of the rows."""
    for row in table:
        yield from row(of)
