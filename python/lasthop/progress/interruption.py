"""Handling of Ctrl-C at the start and end of the command line: one line, exit code 130, no
traceback.

This module imports only modules that are built into the interpreter, because any other import would
delay the handler.
"""

import _signal  # type: ignore[import-not-found] # `signal` would import enum.
import _thread
import sys
import time

if sys.platform == "win32":
    import nt as system
else:
    import posix as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

__all__ = ["INTERRUPTED", "exit_quietly", "exits_quietly", "raise_interrupt"]

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

AGAIN_S = 0.01
"""Time after which an interrupt that Python has ignored is raised again. [s]"""


def exit_quietly() -> None:
    """Set a handler that ends the process at Ctrl-C, unless SIGINT is ignored or has another
    handler.
    """
    _replace(_signal.default_int_handler, _exit)


def exits_quietly() -> bool:
    """Return whether the handler of `exit_quietly` is set."""
    return bool(_signal.getsignal(_signal.SIGINT) is _exit)


def raise_interrupt() -> None:
    """Restore the handler that raises `KeyboardInterrupt`, if the handler of `exit_quietly` is
    set. From then on, an interrupt that is raised in a destructor or a callback is raised again.
    """
    if exits_quietly():
        sys.unraisablehook = _raise_again
    _replace(_exit, _signal.default_int_handler)


def _raise_again(ignored: "Any") -> None:
    """Interrupt the main thread again if Python ignores a `KeyboardInterrupt`; print all other
    ignored exceptions.

    Python ignores exceptions of destructors and of callbacks of weak references. Without this
    function, Ctrl-C would sometimes have no effect.
    """
    if ignored.exc_type is KeyboardInterrupt:
        # If the signal were sent from here, it would be raised in this function and ignored again.
        _thread.start_new_thread(_interrupt, (_thread.get_ident(),))
    else:
        sys.__unraisablehook__(ignored)


def _interrupt(thread: int) -> None:
    """Send SIGINT to a thread after `AGAIN_S`."""
    time.sleep(AGAIN_S)
    if hasattr(_signal, "pthread_kill"):
        _signal.pthread_kill(thread, _signal.SIGINT)
    else:  # On Windows, Python handles a signal of any thread in the main thread.
        _signal.raise_signal(_signal.SIGINT)


def _replace(present: object, handler: "Callable[[int, FrameType | None], object]") -> None:
    """Set the handler of SIGINT to `handler` if the present handler is `present`."""
    if _signal.getsignal(_signal.SIGINT) is present:
        _signal.signal(_signal.SIGINT, handler)


def _exit(number: int, frame: "FrameType | None") -> None:
    """Print a line and end the process immediately, without shutting down the interpreter."""
    system.write(2, b"error: interrupted\n")
    system._exit(INTERRUPTED)
