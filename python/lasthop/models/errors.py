"""Errors and warnings of models."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from lasthop.errors import ConvergenceError, ModelError, where_told

__all__ = ["ConvergenceError", "Doubt", "ModelError", "in_words", "refuse", "warning_text"]

Doubt: TypeAlias = tuple[str, str]
"""Number of an assumption, and a message about the property of a scenario that breaks or nearly
breaks the assumption.
"""


def warning_text(model: str, doubt: Doubt | str) -> str:
    """Return a warning as text, with the paper section or the documentation page that states the
    assumption.
    """
    if isinstance(doubt, str):
        return doubt
    number, what = doubt
    return f"{what}{where_told(number, model)}"


@contextmanager
def in_words(model: str, assumptions: Mapping[str, str]) -> Iterator[None]:
    """Replace the numbers of assumptions by their texts in the message of a `ModelError`. The
    function is a context manager: it applies to errors that the body of the `with` statement
    raises.

    Parameters
    ----------
    model : str
        Name of the model, which is also the name of its documentation page.
    assumptions : mapping of str to str
        Texts of the assumptions by number; each text follows the words "the assumption".
    """
    try:
        yield
    except ModelError as error:
        raise error.in_words(model, assumptions) from error.__cause__


def refuse(broken: Iterable[Doubt]) -> None:
    """Raise an error that lists every broken assumption without duplicates; do nothing if none is
    broken.
    """
    reasons = list(dict.fromkeys(broken))
    if reasons:
        (assumption, message), *more = reasons
        raise ModelError(assumption, message, more)
