"""What can go wrong when a model is asked."""

from collections.abc import Iterable

from lasthop.errors import ConvergenceError, ModelError

__all__ = ["ConvergenceError", "ModelError", "refuse"]


def refuse(broken: Iterable[tuple[str, str]]) -> None:
    """Raise every assumption with what breaks it, each pair once; nothing where there is none."""
    reasons = list(dict.fromkeys(broken))
    if reasons:
        (assumption, message), *more = reasons
        raise ModelError(assumption, message, more)
