"""Whether a command says more than its answer and its errors: not with ``--quiet``."""

__all__ = ["be_quiet", "is_quiet"]

_state = {"quiet": False}
"""One for the process: threads that draw have it too."""


def be_quiet(asked: bool) -> None:
    """Leave out progress, warnings and notes from now on, or not."""
    _state["quiet"] = asked


def is_quiet() -> bool:
    """Return whether only errors and the answer are wanted."""
    return _state["quiet"]
