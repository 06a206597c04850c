"""Undo log, which contains the inverse of each change of the kernel's state. The inverse is written
to the disk before the change is made.

Each record is a line with a checksum. A power failure can leave an incomplete line. An incomplete
line is detected and ignored, since its change was never made.
"""

import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lasthop.errors import UserError
from lasthop.linux.own_file import open_own

Record: TypeAlias = Mapping[str, Any]
"""Inverse of a change. The key `kind` names the change, and the other keys are its parameters."""


class UndoLog:
    """Log of the inverses of all changes, oldest first.

    Parameters
    ----------
    path : Path
        The file of the log, in an existing directory.
    after_record : callable, optional
        Called after each record is written, for tests.
    """

    def __init__(self, path: Path, after_record: Callable[[], None] | None = None) -> None:
        self.path = path
        self.after_record = after_record

    def add(self, record: Record) -> None:
        """Write a record to the disk. After the call, the change may be made.

        Raises
        ------
        UserError
            If the record cannot be written. The log then contains no complete line of the record.
        """
        text = json.dumps(record, sort_keys=True)
        line = f"{zlib.crc32(text.encode()):08x} {text}\n".encode()
        try:
            is_new = not self.path.exists()
            file = open_own(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                if os.write(file, line) != len(line):
                    raise OSError(None, "the disk is full")
                os.fsync(file)
            finally:
                os.close(file)
            if is_new:
                sync_directory(self.path.parent)
        except OSError as error:
            why = error.strerror or "it cannot be written"
            raise UserError(
                f"{self.path}: {why}", "no change was made, since it could not be reverted"
            ) from None
        if self.after_record is not None:
            self.after_record()

    def records(self) -> list[dict[str, Any]]:
        """Return every complete record, oldest first; an empty list if the log does not exist."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}") from None
        return [record for record in map(complete_record, lines) if record is not None]

    def clear(self) -> None:
        """Remove the log after all changes have been reverted."""
        try:
            self.path.unlink(missing_ok=True)
            sync_directory(self.path.parent)
        except OSError as error:
            raise UserError(
                f"{self.path}: {error.strerror}",
                "all listed changes are reverted; only the file remains",
            ) from None


def complete_record(line: bytes) -> dict[str, Any] | None:
    """Return the record in a line of the log; None if the line is incomplete."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def sync_directory(path: Path) -> None:
    """Write the entries of a directory to the disk (fsync)."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
