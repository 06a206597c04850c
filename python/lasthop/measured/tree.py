"""JSON of other programs: limits of size, and access to values with exact error positions."""

import gzip
import io
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from lasthop.errors import UserError
from lasthop.measured.documents import NoNumberError, documents
from lasthop.scenario.files import opened

__all__ = ["Tree", "read_documents", "read_text"]

MAX_BYTES = 64 << 20
"""Largest accepted size of a file after decompression. [bytes]"""
GZIP = b"\x1f\x8b"
MAX_SHOWN = 30


def read_text(path: Path) -> str:
    """Return the text of a file, which may be compressed by gzip.

    Raises
    ------
    UserError
        If the file is empty or binary, or if it exceeds `MAX_BYTES`.
    """
    return _text(path, _content(path))


def read_documents(path: Path, text: str) -> tuple[list[Any], list[str]]:
    """Return the JSON documents in the text of a file, and messages about incomplete documents.

    Raises
    ------
    UserError
        If the text contains no document.
    """
    try:
        return documents(text)
    except RecursionError:
        raise UserError(f"{path}: nested more deeply than any measurement") from None
    except NoNumberError as error:
        raise UserError(f"{path}: has {error}, which is not a number in JSON") from None
    except ValueError as error:
        what = re.sub(r" \(char \d+\)$", "", str(error))
        raise UserError(
            f"{path}: is not JSON: {what}; expected .flent, .flent.gz, output of iperf3 --json, "
            "irtt -o or ping, and result.json of lasthop"
        ) from None


def _content(path: Path) -> bytes:
    try:
        with opened(path) as raw:
            start = raw.peek(2)[:2]
            file: io.BufferedIOBase | gzip.GzipFile = raw
            if start == GZIP:
                file = gzip.GzipFile(fileobj=raw)
            content = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: compressed, and damaged: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        most = MAX_BYTES / 1e6
        raise UserError(
            f"{path}: has more than {most:.0f} MB, which is too large for a measurement"
        )
    if not content.strip():
        raise UserError(f"{path}: is empty")
    return content


def _text(path: Path, content: bytes) -> str:
    for encoding in ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    if b"\0" in content:
        raise UserError(f"{path}: is binary; expected JSON of flent, iperf3 and lasthop")
    return content.decode("cp1252", errors="replace")


@dataclass(frozen=True)
class Tree:
    """A JSON value with its position, so that an error names the file and the key."""

    path: Path
    value: Any
    place: str = ""

    def at(self, key: str | int) -> "Tree":
        """Return the value at a key or index; a `Tree` of None if the value is missing."""
        place = (
            f"{self.place}[{key}]" if isinstance(key, int) else f"{self.place}.{key}".lstrip(".")
        )
        inside: Any = None
        if isinstance(key, int) and isinstance(self.value, list) and key < len(self.value):
            inside = self.value[key]
        elif isinstance(self.value, Mapping):
            inside = self.value.get(key)
        return Tree(self.path, inside, place)

    def wrong(self, what: str) -> UserError:
        """Return an error that names the file and the position of this value."""
        shown = json.dumps(self.value, ensure_ascii=False, default=str)[:MAX_SHOWN]
        return UserError(f"{self.path}: `{self.place}`: {shown} is not {what}")

    def table(self) -> Mapping[str, Any]:
        """Return the value as a dictionary; raise an error if it is no dictionary."""
        if not isinstance(self.value, Mapping):
            raise self.wrong("a table")
        return self.value

    def items(self) -> "Sequence[Tree]":
        """Return the items of a list; raise an error if the value is no list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [self.at(index) for index in range(len(self.value))]

    def number(self, what: str = "a number from 0", least: float = 0.0) -> float | None:
        """Return the value as a number that is at least `least`; None if it is absent or null."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong(what)
        try:
            number = float(self.value)
        except OverflowError:
            raise self.wrong(what) from None
        if not isfinite(number) or number < least or number > 1e18:
            raise self.wrong(what)
        return number

    def text(self) -> str:
        """Return the value as a text; empty if it is absent."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value
