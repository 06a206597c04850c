"""Points of a sweep. A sweep has one point per combination of the values, one point for the k-th
values of all paths, or one point per row of a table.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from lasthop.errors import UserError
from lasthop.scenario.files import UnreadableError, opened
from lasthop.scenario.scenario import as_setting
from lasthop.scenario.values import twice, values_of

MAX_POINTS = 100_000
"""Largest number of points of a sweep."""

EXAMPLE = "write a table as {red={min_th=50,max_th=100}}"

Over: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]] | str | PathLike[str] | Any
"""Swept values by key path, or a table of points (mappings, a data frame, or a CSV file).
"""


@dataclass(frozen=True)
class Grid:
    """Points of a sweep, in order.

    Parameters
    ----------
    paths : tuple of str
        Swept key paths.
    axes : tuple
        Axes whose rows are combined with each other. Each axis is a list of rows, and a row has a
        value for each key path of the axis. The last axis varies fastest.
    """

    paths: tuple[str, ...]
    axes: tuple[tuple[tuple[str, ...], ...], ...]

    def __len__(self) -> int:
        return prod(map(len, self.axes))

    def __iter__(self) -> Iterator[dict[str, str]]:
        for rows in product(*self.axes):
            values = (value for row in rows for value in row)
            yield dict(zip(self.paths, values, strict=True))

    def __getitem__(self, index: int) -> dict[str, str]:
        """Return the settings of one point."""
        rows: list[tuple[str, ...]] = []
        for axis in reversed(self.axes):
            index, at = divmod(index, len(axis))
            rows.insert(0, axis[at])
        values = (value for row in rows for value in row)
        return dict(zip(self.paths, values, strict=True))

    def column(self, path: str) -> list[str]:
        """Return the different values of a key path, in their order."""
        at, place = self.paths.index(path), 0
        for axis in self.axes:
            width = len(axis[0])
            if at < place + width:
                return list(dict.fromkeys(row[at - place] for row in axis))
            place += width
        raise IndexError(path)


def grid(over: Over, combine: str = "grid", named: str = "over") -> Grid:
    """Return the points of a sweep.

    Parameters
    ----------
    over : Grid, mapping, sequence of mappings, data frame or path
        Values by key path, each a sequence or a text such as ``20..100:20``, or a table with one
        point per row.
    combine : str
        ``"grid"`` for every combination of the values; ``"zip"`` for the first values of all paths,
        then the second values of all paths, and so on.
    named : str
        Name of the argument `over` in messages.

    Raises
    ------
    UserError
        If a path has no values or a value twice, if lists that are combined by ``"zip"`` have
        different lengths, or if there are more than `MAX_POINTS` points.
    """
    if isinstance(over, Grid):
        return over
    if combine not in ("grid", "zip"):
        raise UserError(f'combine={combine!r}: expected "grid" or "zip"')
    result = values_by_path(over, named) if isinstance(over, Mapping) else None
    if result is None:
        made = table(over, named)
    elif combine == "zip":
        made = side_by_side(result, named)
    else:
        for path, values in result.items():
            if (value := twice(values)) is not None:
                raise UserError(f"{named} {path}: the value {value} is given twice")
        made = Grid(tuple(result), tuple(tuple((v,) for v in values) for values in result.values()))
    if len(made) > MAX_POINTS:
        raise UserError(f"{named}: {len(made):,} points: expected at most {MAX_POINTS:,}")
    return made


def side_by_side(values: Mapping[str, list[str]], named: str) -> Grid:
    """Return the grid whose first point has the first values of all paths, whose second point has
    their second values, and so on.
    """
    lengths = {path: len(each) for path, each in values.items()}
    if len(set(lengths.values())) > 1:
        messages = ", ".join(f"{path} {count}" for path, count in lengths.items())
        raise UserError(
            f"{named}: paths that are zipped need the same number of values: {messages}"
        )
    rows = tuple(zip(*values.values(), strict=True))
    refuse_twice(list(values), rows, named)
    return Grid(tuple(values), (rows,))


def values_by_path(over: Mapping[str, object], named: str) -> dict[str, list[str]]:
    """Return the values by key path, as texts for settings."""
    results = {
        str(path): texts(values, f"{named} {path}", str(path)) for path, values in over.items()
    }
    if not results:
        raise UserError(f"{named}: no path is given", 'write {"cell.ap.cwmin": [7, 15, 31]}')
    return results


def texts(values: object, what: str, path: str) -> list[str]:
    """Return the values of a sequence, or of a text such as ``20..100:20``, as texts."""
    if isinstance(values, str):
        return values_of(values, what, EXAMPLE)
    if not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise UserError(f"{what}: {values!r} is not a list of values", 'write {"PATH": [...]}')
    results = [as_setting(value, path) for value in values]
    if not results:
        raise UserError(f"{what}: no values")
    return results


def table(over: object, named: str) -> Grid:
    """Return the points of a table: mappings, a data frame, or a CSV file."""
    if isinstance(over, str | PathLike):
        return from_csv(Path(over), named)
    if hasattr(over, "to_dict") and hasattr(over, "columns"):
        names = [str(name) for name in over.columns]
        if (name := twice(names)) is not None:
            raise UserError(f"{named}: the column {name} is given twice")
        over = over.to_dict("records")
    rows = list(over) if isinstance(over, Iterable) else []
    if not rows or not all(isinstance(row, Mapping) and row for row in rows):
        raise UserError(
            f"{named}: neither values by path nor a table of points",
            'write {"cell.ap.cwmin": [7, 15]} or [{"cell.ap.cwmin": 7}, {"cell.ap.cwmin": 15}]',
        )
    paths = list(map(str, rows[0]))
    for index, row in enumerate(rows, start=1):
        if list(map(str, row)) != paths:
            raise UserError(f"{named}: point {index}: expected the paths {', '.join(paths)}")
    return of_rows(
        paths,
        [[as_setting(value, str(path)) for path, value in row.items()] for row in rows],
        named,
    )


def from_csv(path: Path, named: str) -> Grid:
    """Return the points of a CSV file. The first line has the key paths, and each other line has
    one point.

    Empty lines and lines that begin with ``#`` are ignored.

    Raises
    ------
    UserError
        If the file cannot be read, or if a line does not have a value for each path.
    """
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="") as file:
            lines = [
                (number, row)
                for number, row in enumerate(csv.reader(file), 1)
                if row and not row[0].startswith("#")
            ]
    except UnicodeDecodeError:
        raise UserError(f"{named} {path}: not a text file; expected CSV in UTF-8") from None
    except (OSError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{named} {path}: cannot be read: {why}") from None
    except UnreadableError as error:
        raise UserError(f"{named} {error}", error.hint) from None
    if len(lines) < 2:
        raise UserError(
            f"{named} {path}: the file has no points: expected key paths in the first line, and "
            "one point in each further line"
        )
    paths = [cell.strip() for cell in lines[0][1]]
    if not all(paths):
        raise UserError(f"{named} {path}:1: a column has no key path")
    for number, row in lines[1:]:
        if len(row) != len(paths):
            raise UserError(
                f"{named} {path}:{number}: the line has {len(row)} values: expected {len(paths)}"
            )
        if not all(cell.strip() for cell in row):
            raise UserError(f"{named} {path}:{number}: a value is empty")
    rows = [[cell.strip() for cell in row] for _, row in lines[1:]]
    return of_rows(paths, rows, f"{named} {path}")


def of_rows(paths: Sequence[str], rows: Sequence[Sequence[str]], named: str) -> Grid:
    """Return the grid of a list of points."""
    if (path := twice(paths)) is not None:
        raise UserError(f"{named}: the path {path} is given twice")
    parts = tuple(map(tuple, rows))
    refuse_twice(paths, parts, named)
    return Grid(tuple(paths), (parts,))


def refuse_twice(paths: Sequence[str], rows: Sequence[tuple[str, ...]], named: str) -> None:
    """Raise an error if a table contains the same point twice."""
    seen = set[tuple[str, ...]]()
    for row in rows:
        if row in seen:
            point = ", ".join(f"{path}={value}" for path, value in zip(paths, row, strict=True))
            raise UserError(f"{named}: the point {point} is given twice")
        seen.add(row)
