"""Standard error of a command. A message that cannot be written does not end the command."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["discard", "losing_messages"]


@contextmanager
def losing_messages() -> Iterator[None]:
    """Discard messages if standard error cannot be written, for example on a full disk.

    A result does not depend on its warnings, and the exit code of an error does not depend on its
    message.
    """
    stream: Any = sys.stderr
    if stream is None or isinstance(stream, Lossy):
        yield
        return
    lossy: Any = Lossy(stream)
    sys.stderr = lossy
    try:
        yield
    finally:
        lossy.flush()
        if sys.stderr is lossy:
            sys.stderr = stream


class Lossy:
    """Text stream that discards its text after the first error of the system."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, or discard the text."""
        try:
            count: int = self._stream.write(text)
        except OSError:
            discard(self._stream)
            return len(text)
        return count

    def flush(self) -> None:
        """Write the text that is stored, or discard this text."""
        try:
            self._stream.flush()
        except OSError:
            discard(self._stream)


def discard(stream: Any) -> None:
    """Redirect a stream to /dev/null, so that the interpreter can flush the stream at its end."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)
