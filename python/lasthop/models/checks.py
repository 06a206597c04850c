"""Tables of checks of a model's assumptions. Each row of a table has an assumption, a test, and a
message for the case that the scenario breaks the assumption.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from lasthop.models.errors import Doubt

T = TypeVar("T")


@dataclass(frozen=True)
class Check(Generic[T]):
    """Row of a table of checks: an assumption, and a test whether a subject (a scenario, a station
    or a flow) breaks the assumption.

    Attributes
    ----------
    assumption : str
        Number of the assumption; `lasthop.models.assumptions` has its text.
    is_broken : callable
        Function that returns whether a given subject breaks the assumption.
    message : str
        Message about a subject that breaks the assumption, with fields such as ``{0.name}``.
    """

    assumption: str
    is_broken: Callable[[T], object]
    message: str

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the assumption with the message if the subject breaks the assumption."""
        if self.is_broken(of):
            yield self.assumption, self.message.format(of)


@dataclass(frozen=True)
class Messages(Generic[T]):
    """Row of a table of checks: an assumption, and a function that yields messages about a subject
    that breaks the assumption.
    """

    assumption: str
    messages: Callable[[T], Iterable[str]]

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the assumption with each message about the subject."""
        for message in self.messages(of):
            yield self.assumption, message


class Each(Generic[T]):
    """Rows of a table of checks. They are applied to each of several subjects, such as stations."""

    def __init__(self, subjects: Callable[[T], Iterable[Any]], *rows: Check[Any]) -> None:
        self.subjects = subjects
        self.rows = rows

    def __call__(self, of: T) -> Iterator[Doubt]:
        """Yield the broken assumptions of each subject, one subject after another."""
        for subject in self.subjects(of):
            yield from violations(self.rows, subject)


Table: TypeAlias = Iterable[Check[T] | Messages[T] | Each[T] | Callable[[T], Iterable[Doubt]]]
"""Table of checks: rows in the order of their messages. A row may also be any function that yields
violations.
"""


def violations(table: Table[T], of: T) -> Iterator[Doubt]:
    """Yield the assumptions that a subject breaks, with messages, in the order of the rows."""
    for row in table:
        yield from row(of)
