"""Checks before a file is replaced: lasthop replaces only files that it has written."""

import json
from collections.abc import Iterable
from pathlib import Path

from lasthop.answers import kinds
from lasthop.answers.tables import COLUMNS_KIND, read_columns
from lasthop.errors import UserError
from lasthop.extras import need_packages

__all__ = ["CAPTURE", "is_ours", "refuse_foreign", "refuse_if_foreign"]

CAPTURE = ".pcapng"

WHAT = {
    ".json": "a result",
    ".parquet": "a table",
    ".csv": "a table",
    ".png": "a picture",
    ".pdf": "a picture",
    ".svg": "a picture",
    ".html": "a report",
    ".conf": "a configuration",
    ".toml": "a scenario",
    CAPTURE: "a capture",
}
"""Descriptions of the files that lasthop writes, by suffix."""

MARKS = {
    ".png": b"tEXtSoftware\0lasthop ",
    ".pdf": b"/Creator (lasthop ",
    ".svg": b"<dc:title>lasthop ",
    ".html": b'<meta name="generator" content="lasthop">',
    ".conf": b"# Written by lasthop for ",
    ".toml": b": written by lasthop reproduce\n",
    CAPTURE: b"lasthop ",
}
"""Bytes by which lasthop recognises its own files, by suffix. A capture contains the program's name
in its first block.
"""

KINDS = {kind.name for kind in kinds.KINDS} | {"progress", "record", "sweep manifest", COLUMNS_KIND}
"""Values of ``kind`` in the JSON files that lasthop writes."""

TABLE = b"lasthop"
"""Metadata key that marks a Parquet table of lasthop."""

SECTION = b"\n\r\r\n"
"""First bytes of a pcapng capture."""

HEAD_BYTES, CAPTURE_BYTES, TAIL_BYTES = 4096, 256, 32768
"""Lengths of the searched regions: beginning of a file, beginning of a capture, and end of a PDF.
[bytes]
"""


def refuse_foreign(directory: Path, names: Iterable[str]) -> None:
    """Refuse to write these files if one of them exists and lasthop has not written it.

    Parameters
    ----------
    directory : Path
        Directory of the files.
    names : iterable of str
        Names of the files to write.

    Raises
    ------
    UserError
        If a file exists that lasthop has not written; the message names the first such file.
    """
    for name in names:
        refuse_if_foreign(directory / name)


def refuse_if_foreign(path: Path, suffix: str | None = None) -> None:
    """Refuse to replace this file if lasthop has not written it.

    The argument `suffix` replaces the suffix of the file name.

    Raises
    ------
    UserError
        If the file exists and lasthop has not written it.
    """
    kind = (path.suffix if suffix is None else suffix).lower()
    if kind == CAPTURE and (path.is_char_device() or path.is_fifo()):
        return  # Another program reads from the pipe or device, so no data is overwritten.
    if (path.exists() or path.is_symlink()) and not is_ours(path, kind):
        raise UserError(
            f"{path}: exists and is not {WHAT[kind]} of lasthop; expected another name or directory"
        )


def is_ours(path: Path, suffix: str | None = None) -> bool:
    """Return whether lasthop has written a file, according to the contents of the file."""
    if not path.is_file():
        return False
    kind = (path.suffix if suffix is None else suffix).lower()
    match kind:
        case ".pdf":
            return MARKS[".pdf"] in _tail(path)
        case ".json":
            return _is_answer(path)
        case ".parquet":
            return _columns(path) is not None
        case ".csv":  # CSV has no metadata: check the Parquet file, or the list of columns.
            columns = _columns(path.with_suffix(".parquet"))
            known = read_columns(path.parent).get(path.name) if columns is None else columns
            return _header(path) == known
    with path.open("rb") as file:
        head = file.read(CAPTURE_BYTES if kind == CAPTURE else HEAD_BYTES)
    return MARKS[kind] in head and (kind != CAPTURE or head.startswith(SECTION))


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read()


def _is_answer(path: Path) -> bool:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False
    return isinstance(known, dict) and known.get("kind") in KINDS


def _columns(path: Path) -> list[str] | None:
    """Return the column names of a Parquet table; None if lasthop has not written the table.

    Raises
    ------
    UserError
        If the file exists and pyarrow, which reads its columns, is not installed.
    """
    if not path.is_file():
        return None
    need_packages(f"replacing {path}", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid):
        return None
    return list(schema.names) if TABLE in (schema.metadata or {}) else None


def _header(path: Path) -> list[str]:
    import csv

    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        try:
            return next(csv.reader(file), [])
        except csv.Error:
            return []
