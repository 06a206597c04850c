"""Reader of text files that other programs wrote: encodings, line ends, and binary data."""

import codecs
import sys
from pathlib import Path

from lasthop.errors import UserError
from lasthop.scenario.files import opened

MAX_BYTES = 4 << 20
"""Largest accepted file. A dump of ten thousand stations is smaller. [bytes]"""

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, and the encodings that they indicate."""

LONGEST_LINE = 10_000
"""Longest accepted line. Lines of settings are much shorter. [characters]"""


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``. Refuse more than `most_bytes`."""
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(most_bytes + 1)
        else:
            with opened(path, or_input=True) as file:
                content = file.read(most_bytes + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > most_bytes:
        raise UserError(
            f"{path}: longer than {most_bytes / 1e6:.0f} MB, which is too long for such a file"
        )
    if not content.strip():
        raise UserError(f"{path}: is empty")
    return content


def read_lines(path: Path, what: str) -> list[str]:
    """Return the lines of a text file without line ends.

    Parameters
    ----------
    path : Path
        Path of the text file.
    what : str
        Expected kind of file, for the error message: ``"hostapd.conf"``.
    """
    return lines_of(read_bytes(path, MAX_BYTES), path, what)


def lines_of(content: bytes, source: Path | str, what: str) -> list[str]:
    """Return the lines of a text without line ends.

    Parameters
    ----------
    content : bytes
        Bytes of the text.
    source : Path or str
        Origin of the text, for the error message.
    what : str
        Expected kind of file, for the error message.
    """
    text = decoded(content)
    if text is None:
        raise UserError(f"{source}: is binary, not {what}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise UserError(
                f"{source}:{number}: a line of {len(line)} characters, which is too long for {what}"
            )
    return lines


def decoded(content: bytes) -> str | None:
    """Return the decoded text; None for binary data. The encoding is UTF-8, UTF-16 with a byte
    order mark, or else Windows-1252."""
    for mark, encoding in MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                return None
    if b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    strange = sum((not c.isprintable() and c not in "\t\r\n\f") or c == "\ufffd" for c in text)
    return None if strange > len(text) / 50 else text
