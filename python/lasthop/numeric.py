"""Numbers among the arguments of functions. Numbers of all types are accepted, such as those of
NumPy. Booleans are refused.
"""

from operator import index

__all__ = ["real_number", "whole_number"]


def whole_number(value: object) -> int | None:
    """Return a whole number as an `int`; None if the value is no whole number."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def real_number(value: object) -> float | None:
    """Return a number as a `float`; None if the value is no number."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except TypeError:  # an array with several values
        return None
