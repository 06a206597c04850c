"""State of ``--quiet``: a quiet command prints only its answer and errors."""

__all__ = ["be_quiet", "is_quiet"]

_state = {"quiet": False}
"""One state per process, so that threads that draw can also read it."""


def be_quiet(asked: bool) -> None:
    """Set whether progress, warnings and notes are omitted from now on."""
    _state["quiet"] = asked


def is_quiet() -> bool:
    """Return whether a command prints only its answer and errors."""
    return _state["quiet"]
