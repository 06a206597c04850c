"""Lines of the log: with the time, and in a file that does not grow for ever."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux.own_file import open_own

LARGEST_BYTES = 1 << 20
"""A log that has grown beyond this becomes the old one, of which there is one."""
ERRORS = 2
"""Descriptor of standard error."""


def say(line: str) -> None:
    """A line on standard error, with the time unless the journal adds it."""
    stamp = "" if "JOURNAL_STREAM" in os.environ else time.strftime("%Y-%m-%dT%H:%M:%S%z ")
    with suppress(OSError):  # a full disk must not end what is up
        print(f"{stamp}{line}", file=sys.stderr, flush=True)


class LogFile:
    """Standard error of a process in the background.

    Parameters
    ----------
    path : Path

    Raises
    ------
    UserError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.open()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None

    def open(self) -> None:
        """Let standard error go to the file, which is its owner's alone."""
        handle = open_own(self.path, os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, ERRORS)
        os.close(handle)

    def say(self, line: str) -> None:
        """A line, in a new file if this one is large."""
        if os.fstat(ERRORS).st_size > LARGEST_BYTES:
            with suppress(OSError):
                os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
                self.open()
        say(line)
