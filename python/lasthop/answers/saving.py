"""Files of results on disk, and their names. Either all files are written or none is."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EISDIR
from os import strerror
from pathlib import Path

from lasthop.answers.quantities import LISTS

__all__ = [
    "MANIFEST",
    "PROGRESS",
    "RECORD_FILE",
    "RESULT_FILE",
    "RESULT_FILES",
    "TABLE_FILES",
    "text_writer",
    "write_atomically",
]

Writer = Callable[[Path], object]


def table_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the file names of tables: one Parquet file and one CSV file per table."""
    return tuple(f"{name}{suffix}" for name in names for suffix in (".parquet", ".csv"))


COLUMNS_FILE = "csv-columns.json"
"""File with the columns of the CSV files of a directory, by which lasthop recognises its own CSV
files. It is written if there are no Parquet files to compare the CSV files with.
"""

TABLE_FILES = (*table_files((*LISTS, "series")), COLUMNS_FILE)
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
            folder = TemporaryDirectory(dir=directory, prefix=".writing-")
        with folder as staging:
            with naming(directory):
                yield Path(staging)
            replace_all(Path(staging), directory)
    except BaseException:
        for path in created:
            with suppress(OSError):
                path.rmdir()
        raise


def replace_all(source: Path, directory: Path) -> None:
    """Move all files of a folder into `directory`, where they replace files with the same names. If
    one file cannot be replaced, all files in `directory` stay as they were. On Windows, a file that
    another program has open cannot be replaced.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(dir=directory, prefix=".replaced-") as replaced:
        changed: list[tuple[Path, Path]] = []
        try:
            for path in sorted(source.iterdir()):
                target, before = directory / path.name, Path(replaced, path.name)
                with naming(target):
                    if target.is_dir() and not target.is_symlink():
                        raise IsADirectoryError(EISDIR, strerror(EISDIR))
                    if target.exists() or target.is_symlink():
                        target.replace(before)
                    changed.append((target, before))
                    path.replace(target)
        except BaseException:
            for target, before in reversed(changed):
                with suppress(OSError):
                    target.unlink(missing_ok=True)
                    before.replace(target)
            raise


def text_writer(text: str) -> Writer:
    """Return a function that writes the text into a file."""
    return lambda path: path.write_text(text, encoding="utf-8", newline="\n")
