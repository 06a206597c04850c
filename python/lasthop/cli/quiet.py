"""State of the option ``--quiet``, with which a command prints only its result and errors."""

__all__ = ["be_quiet", "is_quiet"]

_state = {"quiet": False}
"""State of this process, which is shared with the threads that draw progress."""


def be_quiet(asked: bool) -> None:
    """Set whether progress, warnings and notes are omitted."""
    _state["quiet"] = asked


def is_quiet() -> bool:
    """Return whether ``--quiet`` is set."""
    return _state["quiet"]
