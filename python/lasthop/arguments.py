"""Checks of the arguments of functions: lists, booleans and callbacks."""

from collections.abc import Iterable, Mapping
from typing import Any

from lasthop.errors import UserError

__all__ = ["callback", "flag", "listed_values", "short"]

LONGEST = 60
"""Maximum number of characters of a value in a message."""


def short(value: object) -> str:
    """Return a value of an argument as short text on one line, for a message."""
    if hasattr(value, "tolist") and not isinstance(value, type):
        value = value.tolist()  # numbers of NumPy are shown as numbers of Python
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def listed_values(argument: str, value: object, example: str) -> list[Any]:
    """Return the elements of an argument that is a list, a tuple, an array or an iterator.

    Raises
    ------
    UserError
        If it is text, which is one value; a mapping; a set, which has no order; or no list at all.
    """
    if isinstance(value, Iterable) and not isinstance(
        value, str | bytes | Mapping | set | frozenset
    ):
        return list(value)
    raise UserError(f"{argument}={short(value)}: expected a list, such as {example}")


def flag(argument: str, value: object) -> bool:
    """Return an argument that is True or False, also as NumPy's type.

    Raises
    ------
    UserError
        If it is neither.
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise UserError(f"{argument}={short(value)}: expected True or False")


def callback(argument: str, value: object) -> None:
    """Refuse an argument that is neither None nor a function.

    Raises
    ------
    UserError
        If it cannot be called.
    """
    if value is not None and not callable(value):
        raise UserError(f"{argument}={short(value)}: expected a function, or None")
