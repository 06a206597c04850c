"""Ctrl-C while the command line starts and ends: one line and exit code 130, no traceback.

This module imports only modules that are built into the interpreter, because any other import would
delay the handler.
"""

import _signal  # type: ignore[import-not-found] # `signal` would import enum.
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["INTERRUPTED", "exit_quietly", "exits_quietly", "raise_interrupt"]

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def exit_quietly() -> None:
    """End the process at Ctrl-C, unless SIGINT is ignored or has another handler."""
    _replace(_signal.default_int_handler, _exit)


def exits_quietly() -> bool:
    """Return whether Ctrl-C ends the process immediately."""
    return bool(_signal.getsignal(_signal.SIGINT) is _exit)


def raise_interrupt() -> None:
    """Raise `KeyboardInterrupt` at Ctrl-C again, if `exit_quietly` was called."""
    _replace(_exit, _signal.default_int_handler)


def _replace(present: object, handler: "Callable[[int, FrameType | None], object]") -> None:
    """Replace the handler of SIGINT if the present handler is `present`."""
    if _signal.getsignal(_signal.SIGINT) is present:
        _signal.signal(_signal.SIGINT, handler)


def _exit(number: int, frame: "FrameType | None") -> None:
    """Print a line and end the process immediately, without the shutdown of the interpreter."""
    posix.write(2, b"error: interrupted\n")
    posix._exit(INTERRUPTED)
