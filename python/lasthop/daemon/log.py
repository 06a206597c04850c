"""Log of a service: lines with their times, in a file of limited size."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux.own_file import open_own

LARGEST_BYTES = 1 << 20
"""Size at which the log file is renamed to the old log file, replacing the previous old log file.
[bytes]"""
ERRORS = 2
"""Descriptor of standard error."""


def say(line: str) -> None:
    """Write a line to standard error. The time is added unless the systemd journal adds it."""
    stamp = "" if "JOURNAL_STREAM" in os.environ else time.strftime("%Y-%m-%dT%H:%M:%S%z ")
    with suppress(OSError):  # A full disk must not end the service.
        print(f"{stamp}{line}", file=sys.stderr, flush=True)


class LogFile:
    """Log file that replaces standard error of a background process.

    Parameters
    ----------
    path : Path

    Raises
    ------
    UserError
        If the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.open()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None

    def open(self) -> None:
        """Redirect standard error to the file. Only the file's owner can read the file."""
        handle = open_own(self.path, os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, ERRORS)
        os.close(handle)

    def say(self, line: str) -> None:
        """Write a line to the log file. If the file is larger than `LARGEST_BYTES`, start a new
        file first."""
        if os.fstat(ERRORS).st_size > LARGEST_BYTES:
            with suppress(OSError):
                os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
                self.open()
        say(line)
