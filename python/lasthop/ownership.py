"""Whose a file is that stands where one is to be written: lasthop's own is replaced, no other."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from lasthop.errors import UserError

__all__ = ["is_ours", "refuse_foreign"]

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
}
"""What lasthop writes, by suffix."""

MARK = b"lasthop"
HEAD_BYTES, TAIL_BYTES = 4096, 32768
"""Where pictures and reports name the program that made them; PDF does it near its end."""


def refuse_foreign(directory: Path, names: Iterable[str]) -> None:
    """Refuse to replace one of these files if somebody else has written it.

    Parameters
    ----------
    directory : Path
        Where they are to be written.
    names : iterable of str
        Their names.

    Raises
    ------
    UserError
        With the first that exists and is not lasthop's.
    """
    for name in names:
        path = directory / name
        if (path.exists() or path.is_symlink()) and not is_ours(path):
            what = WHAT[path.suffix.lower()]
            message = f"{path}: exists and is not {what} of lasthop; allowed is another directory"
            raise UserError(message)


def is_ours(path: Path) -> bool:
    """Whether lasthop has written a file, by what stands in it."""
    if not path.is_file():
        return False
    match path.suffix.lower():
        case ".pdf":
            return MARK in _tail(path)
        case ".json":
            return _is_answer(path)
        case ".parquet":
            return _columns(path) is not None
        case ".csv":  # it has no place for a mark; its Parquet twin has
            return _header(path) == _columns(path.with_suffix(".parquet"))
    with path.open("rb") as file:
        return MARK in file.read(HEAD_BYTES)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read()


def _is_answer(path: Path) -> bool:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(known, dict) and {"kind", "scenario", "version"} <= known.keys()


def _columns(path: Path) -> list[str] | None:
    """Names of the columns of a table of lasthop; None if it is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid):
        return None
    return list(schema.names) if MARK in (schema.metadata or {}) else None


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return next(csv.reader(file), [])
