"""Opening of files that a user names, with exact errors if the path is no readable file.

Pipes are accepted: ``/dev/stdin``, a FIFO, and ``<(command)`` of a shell are read to their end.
"""

import os
import re
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path

from lasthop.errors import UserError

__all__ = ["NO_FILE", "UnreadableError", "in_utf8", "opened", "text_of"]

ADDRESS = r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)"
"""Pattern of a web address. One slash is enough, because a `Path` merges the two slashes."""

OF_KERNEL = ("/proc/", "/sys/")
"""Directories whose files the kernel generates when they are read."""

OF_WEB = ("http", "https", "ftp")
"""Schemes of web addresses for which a hint proposes a download."""

DOWNLOAD = "download it first: "
"""Text before a web address in a hint; the command line replaces it by a command."""


NO_FILE = "no such file"
"""Message for a path that does not exist."""


class UnreadableError(UserError):
    """Error for a path that is no readable file; `what` is the message without the path."""

    def __init__(self, path: str, what: str, hint: str | None = None) -> None:
        super().__init__(f"{path}: {what}", hint)
        self.path, self.what = path, what

    def __reduce__(self) -> tuple[type, tuple[str, str, str | None]]:
        return type(self), (self.path, self.what, self.hint)


def opened(path: Path, *, or_input: bool = False) -> BufferedReader:
    """Open a file for reading.

    Parameters
    ----------
    path : Path
        Path of the file.
    or_input : bool
        Whether standard input is also accepted. If so, the hint for a web address proposes a pipe.

    Raises
    ------
    UnreadableError
        If there is no file, if the path is not a file, or if the file cannot be read.
    """
    name = str(path)
    if re.fullmatch(ADDRESS, path.as_posix()) and not path.exists():
        raise not_there(path, or_input)
    try:
        mode = path.stat().st_mode
        if (what := not_a_file(path, mode)) is not None:
            raise UnreadableError(name, what)
        file = path.open("rb")
    except FileNotFoundError:
        raise not_there(path, or_input) from None
    except OSError as error:
        raise UnreadableError(name, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UnreadableError(name, f"not a file name: {error}") from None
    if stat.S_ISCHR(mode) and not file.isatty():
        file.close()
        raise UnreadableError(name, "is a device, not a file")
    return file


def not_a_file(path: Path, mode: int) -> str | None:
    """Return the end of a message if the path is no file, such as "is a directory"; None for a
    file.
    """
    if stat.S_ISDIR(mode):
        return "is a directory, not a file"
    if stat.S_ISSOCK(mode):
        return "is a socket, not a file"
    if stat.S_ISBLK(mode):
        return "is a disk or a part of one, not a file"
    if stat.S_ISREG(mode) and os.path.realpath(path).startswith(OF_KERNEL):
        return "contains state of the kernel and is not a file on disk"
    return None


def not_there(path: Path, or_input: bool) -> UnreadableError:
    """Return the error for a path that does not exist, with a hint: a download, or a similar
    name.
    """
    if (match := re.fullmatch(ADDRESS, path.as_posix())) is None:
        missing = NO_FILE
        if path.is_symlink():
            missing = f"is a link to {path.readlink()}, which does not exist"
        return UnreadableError(str(path), missing, nearest_file(path))
    kind, rest = match[1].lower(), match[2]
    if kind == "file":
        root = "" if re.match("[A-Za-z]:/", rest) and sys.platform == "win32" else "/"
        return UnreadableError(
            f"file:///{rest}", "is an address; lasthop reads files", f"its path is {root}{rest}"
        )
    address = f"{kind}://{rest}"
    hint = f"{DOWNLOAD}{address}" if or_input and kind in OF_WEB else "save it as a file first"
    return UnreadableError(address, "is an address; lasthop reads files", hint)


def in_utf8(content: bytes) -> bytes:
    """Return a text in UTF-8. A text in UTF-16 with a byte order mark is converted, because
    redirection in Windows PowerShell writes such files. Other contents are unchanged.
    """
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError:
            return content
    return content


def text_of(path: Path) -> str:
    """Return a text file as text, with line feeds as line ends. The encoding is UTF-8, or UTF-16 as
    Windows PowerShell writes it.

    Raises
    ------
    OSError
        If the file cannot be read.
    UnicodeDecodeError
        If the file is not such a text.
    """
    return TextIOWrapper(BytesIO(in_utf8(path.read_bytes())), "utf-8-sig").read()


def nearest_file(path: Path) -> str | None:
    """Return a hint with a similar file name in the same directory; None if there is none."""
    from difflib import get_close_matches

    try:
        names = [file.name for file in path.parent.iterdir() if file.exists()]
    except OSError:
        return None
    near = get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"did you mean {path.parent / near[0]}?" if near else None
