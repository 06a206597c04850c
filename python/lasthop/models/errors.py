"""Errors and warnings of models."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from lasthop.errors import ConvergenceError, ModelError, where_told

__all__ = ["ConvergenceError", "Doubt", "ModelError", "in_words", "refuse", "warning_text"]

Doubt: TypeAlias = tuple[str, str]
"""An assumption, by its number, and the property of a scenario that breaks or nearly breaks it."""


def warning_text(model: str, doubt: Doubt | str) -> str:
    """Return a warning in words, with the place of the assumption."""
    if isinstance(doubt, str):
        return doubt
    number, what = doubt
    return f"{what}{where_told(number, model)}"


@contextmanager
def in_words(model: str, assumptions: Mapping[str, str]) -> Iterator[None]:
    """Replace the numbers of assumptions by their words in refusals raised in the body.

    Parameters
    ----------
    model : str
        Name of the model, which is also the name of its page.
    assumptions : mapping of str to str
        Assumptions by number, as words after "the assumption".
    """
    try:
        yield
    except ModelError as error:
        raise error.in_words(model, assumptions) from error.__cause__


def refuse(broken: Iterable[Doubt]) -> None:
    """Raise an error with every broken assumption, each pair once; do nothing without one."""
    reasons = list(dict.fromkeys(broken))
    if reasons:
        (assumption, message), *more = reasons
        raise ModelError(assumption, message, more)
