"""Results on disk: JSON, and each table as Parquet and CSV. Either all files are written or none
is.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.answers.quantities import LISTS, registry

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "MANIFEST",
    "PROGRESS",
    "RECORD_FILE",
    "RESULT_FILE",
    "RESULT_FILES",
    "TABLE_FILES",
    "save_table",
    "write_atomically",
]

Writer = Callable[[Path], object]


def table_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the file names of tables: one Parquet file and one CSV file per table."""
    return tuple(f"{name}{suffix}" for name in names for suffix in (".parquet", ".csv"))


TABLE_FILES = table_files((*LISTS, "series"))
"""Names of the table files that a sweep may write."""

PROGRESS = "progress.json"
"""File with the progress of a run, in the directory of its results."""

MANIFEST = "manifest.json"
"""File with the requested grid points of a sweep, which `lasthop.load` reads."""

MAX_FRAMES = 1_000_000
"""Default maximum number of frames in a packet capture."""

RESULT_FILE, RECORD_FILE = "result.json", "record.json"
"""Files of a saved result: the summary, and the other data that `lasthop.load` needs."""

RESULT_FILES = (RESULT_FILE, RECORD_FILE, *TABLE_FILES, *table_files(("samples",)))
"""Names of all files that a saved result may have."""


def save_table(table: "pd.DataFrame", directory: Path, name: str) -> list[Path]:
    """Write one table as Parquet and CSV into `directory`."""
    return write_all(directory, table_writers(name, table, {}))


def write_atomically(path: Path, write: Writer) -> None:
    """Write a temporary file next to `path`, then rename it. Devices and pipes are written
    directly.
    """
    with naming(path), in_place_of(path) as partial:
        write(partial)


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to `path`, which replaces `path` at the end. If `path` is a
    device or pipe, yield `path` itself.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(dir=path.parent, prefix=".writing-") as staging:
        partial = Path(staging, path.name)
        yield partial
        if partial.exists():
            partial.replace(path)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Replace the path of the temporary file by `path` in error messages."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def write_all(directory: Path, writers: Mapping[str, Writer]) -> list[Path]:
    """Write all files into a directory. If one file fails, no file is changed."""
    with staged(directory) as staging:
        for name, write in writers.items():
            write(staging / name)
    return [directory / name for name in writers]


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """Yield a temporary folder. Its files are moved into `directory` at the end, unless an error
    was raised.
    """
    from tempfile import TemporaryDirectory

    created = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        with naming(directory):
            directory.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=directory, prefix=".writing-") as staging:
                yield Path(staging)
                for path in sorted(Path(staging).iterdir()):
                    path.replace(directory / path.name)
    except BaseException:
        for path in created:
            with suppress(OSError):
                path.rmdir()
        raise


def text_writer(text: str) -> Writer:
    """Return a function that writes the text into a file."""
    return lambda path: path.write_text(text, encoding="utf-8", newline="\n")


def table_writers(name: str, table: "pd.DataFrame", about: Mapping[str, str]) -> dict[str, Writer]:
    """Return the functions that write the Parquet and the CSV file of a table, by file name."""
    return {
        f"{name}.parquet": lambda path: write_parquet(table, path, about),
        f"{name}.csv": lambda path: table.to_csv(path, index=False, lineterminator="\n"),
    }


def write_parquet(table: "pd.DataFrame", path: Path, about: Mapping[str, str]) -> None:
    """Write a table as Parquet. The metadata of each column has unit and definition of its
    quantity.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    fields = [field.with_metadata(field_metadata(field.name)) for field in arrow.schema]
    metadata = {"lasthop": json.dumps(dict(about))}
    pq.write_table(arrow.cast(pa.schema(fields, metadata=metadata)), path)


def field_metadata(column: str) -> dict[str, str]:
    """Return the metadata of a column: unit and definition, from the registry of quantities."""
    quantity = column.removesuffix("_ci95")
    known = registry().get(quantity)
    if known is None:
        return {}
    definition = known.definition
    if column != quantity:
        definition = f"half width of the 95 % confidence interval of: {definition}"
    return {"unit": known.unit, "definition": definition}
