"""Tables of a sweep. Tables are written to files one row group at a time, so that memory does not
grow with the number of points.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.answers.answer import flat_row
from lasthop.answers.quantities import LISTS
from lasthop.answers.saving import COLUMNS_FILE
from lasthop.answers.tables import data_frame, field_metadata, has_parquet, write_columns
from lasthop.progress.steps import counting
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.sweep.columns import Column
from lasthop.sweep.points import Point

if TYPE_CHECKING:
    import pandas as pd


SERIES = "series"

TABLES = (*LISTS, SERIES)

ROWS = 8192
"""Number of rows in a Parquet row group. The number is constant, so that equal tables give files
with equal bytes.
"""

Row = Mapping[str, Any]
Layout = dict[str, type]
"""Layout of a table: its columns in order, each with the type of its values."""


class NewColumnError(Exception):
    """A row has a column that the layout of the table lacks, or a value of another type."""


class Track(Table):
    """Time series of a quantity."""

    list_name: str = named("list")
    name: str
    quantity: str
    values: list[float | None]


class Series(Table):
    """Time series of a point."""

    time_s: list[float]
    tracks: tuple[Track, ...] = ()


def settings_at(point: Point, columns: Sequence[Column]) -> Row:
    """Return the swept values of a point, by column."""
    return {each.name: each.values[point.settings[each.path]] for each in columns}


def items_of(point: Point, table: str) -> Iterator[Row]:
    """Yield the rows of one list of a point's result, such as its stations, or of its time series.
    Estimates have the same form as in the result.
    """
    if table != SERIES:
        yield from point.summary.get(table, ())
        return
    if not point.series:
        return
    series = read_as(Series, point.series)
    for track in series.tracks:
        which = {"list": track.list_name, "name": track.name, "quantity": track.quantity}
        for time_s, value in zip(series.time_s, track.values, strict=True):
            yield {"time_s": time_s, **which, "value": value}


def rows_of(point: Point, columns: Sequence[Column], table: str) -> Iterator[Row]:
    """Yield the rows of a point for a table: swept values and the values of each item."""
    at = settings_at(point, columns)
    return ({**at, **flat_row(item)} for item in items_of(point, table))


def grow(layout: Layout, rows: Iterable[Row]) -> None:
    """Add the columns of the given rows to a layout, in the order in which they occur."""
    for row in rows:
        for name, value in row.items():
            if value is None or (isinstance(value, float) and isnan(value)):
                layout.setdefault(name, float)
            elif layout.get(name) is not str:
                kind = type(value)
                known = layout.get(name, kind)
                layout[name] = kind if known is kind else wider(known, kind)


def wider(each: type, other: type) -> type:
    """Return a type that can represent the values of both types."""
    return float if {each, other} == {int, float} else str


def frame(points: Iterable[Point], columns: Sequence[Column], table: str) -> "pd.DataFrame":
    """Return a table, such as that of stations, of all points as a data frame."""
    rows = chain.from_iterable(rows_of(point, columns, table) for point in points)
    return data_frame(list(map(dict, rows)))


def write_tables(points: Sequence[Point], columns: Sequence[Column], directory: Path) -> list[Path]:
    """Write all tables that have rows into a directory, each as CSV and, if pandas and pyarrow are
    installed, as Parquet.

    Returns
    -------
    list of Path
        Paths of the files, in the order of the lists of a result.
    """
    if not points:
        return []
    layouts = _layouts(points[:1], columns)
    try:
        return _write(points, columns, layouts, directory)
    # The points have different columns. The columns of all points are collected first, and the
    # table is then written again.
    except NewColumnError:
        return _write(points, columns, _layouts(points, columns), directory)


def _layouts(points: Iterable[Point], columns: Sequence[Column]) -> dict[str, Layout]:
    layouts: dict[str, Layout] = {table: {} for table in TABLES}
    for point in points:
        for table in TABLES:
            grow(layouts[table], rows_of(point, columns, table))
    return layouts


def _write(
    points: Sequence[Point],
    columns: Sequence[Column],
    layouts: Mapping[str, Layout],
    directory: Path,
) -> list[Path]:
    units = {each.name: each.unit for each in columns}
    with ExitStack() as open_files:
        sheets = {
            table: open_files.enter_context(Sheet(directory / table, layouts[table], units))
            for table in TABLES
        }
        for point in counting("saving tables", points, len(points)):
            at = settings_at(point, columns)
            for table, sheet in sheets.items():
                for item in items_of(point, table):
                    sheet.add(at, item)
    written = [path for sheet in sheets.values() for path in sheet.written()]
    if written and not has_parquet():
        written.append(directory / COLUMNS_FILE)
        csv_columns = {f"{table}.csv": [*layout] for table, layout in layouts.items() if layout}
        write_columns(written[-1], csv_columns, directory.parent)
    return written


class Sheet:
    """Writer of one table, as CSV and, if pandas and pyarrow are installed, as Parquet.

    Parameters
    ----------
    stem : Path
        Path of both files without their suffixes.
    layout : Layout
        Columns of the table; if there are none, no table is written.
    units : mapping
        Units of the columns of swept values.
    """

    def __init__(self, stem: Path, layout: Layout, units: Mapping[str, str]) -> None:
        self._csv_path = stem.with_suffix(".csv")
        self._parquet_path = stem.with_suffix(".parquet") if has_parquet() else None
        self._layout = layout
        self._units = units
        self._names = [*layout]
        self._estimates: dict[tuple[str, ...], list[bool]] = {}
        self._rows: list[list[Any]] = []
        self._files = ExitStack()

    def __enter__(self) -> "Sheet":
        if self._layout:
            if self._parquet_path is not None:
                self._open_parquet(self._parquet_path)
            file = self._files.enter_context(self._csv_path.open("w", encoding="utf-8", newline=""))
            self._csv = csv.writer(file, lineterminator="\n")
            self._csv.writerow(self._layout)
        return self

    def _open_parquet(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
        fields = [pa.field(name, types[kind]) for name, kind in self._layout.items()]
        fields = [each.with_metadata(self._about(each.name)) for each in fields]
        self._schema = pa.schema(fields, metadata={"lasthop": "{}"})
        self._parquet = self._files.enter_context(pq.ParquetWriter(path, self._schema))

    def __exit__(self, kind: type[BaseException] | None, *args: object) -> None:
        if kind is None and self._rows:
            self._flush()
        self._files.close()

    def add(self, at: Row, item: Row) -> None:
        """Write a row: the swept values of a point, and an item of its result.

        Raises
        ------
        NewColumnError
            If the row has a column that the layout does not have, or a value of another type.
        """
        row = self._plainly(at, item)
        if row is None:
            flat = {**at, **flat_row(item)}
            if not flat.keys() <= self._layout.keys():
                raise NewColumnError
            row = [*map(flat.get, self._layout)]
            self._learn(at, item)
        self._rows.append(row)
        if len(self._rows) == ROWS:
            self._flush()

    def _plainly(self, at: Row, item: Row) -> list[Any] | None:
        """Return the row of an item whose structure (its names, and which of its values are
        estimates) is already stored; None if the structure is not stored. This method is several
        times faster than the general conversion of an item, and applies to most items.
        """
        row = [*at.values()]
        estimates = self._estimates.get(tuple(item))
        if estimates is None:
            return None
        for is_estimate, value in zip(estimates, item.values(), strict=True):
            if (type(value) is dict) is not is_estimate:
                return None
            if is_estimate:
                row += value["mean"], value["ci95"]
            else:
                row.append(value)
        return row

    def _learn(self, at: Row, item: Row) -> None:
        """Store which values of an item are estimates, if the item has a value for every column."""
        flat = {**at, **flat_row(item)}
        if [*flat] == self._names:
            is_estimate = [isinstance(value, dict) and "mean" in value for value in item.values()]
            self._estimates[tuple(item)] = is_estimate

    def written(self) -> list[Path]:
        """Return the paths of the written files; an empty list if the table has no columns."""
        if not self._layout:
            return []
        return [path for path in (self._parquet_path, self._csv_path) if path is not None]

    def _flush(self) -> None:
        columns = [*zip(*self._rows, strict=True)]
        if self._parquet_path is not None:
            self._write_parquet(columns)
        # NaN is replaced by None, which the csv module writes as an empty cell.
        blank = [[None if cell != cell else cell for cell in cells] for cells in columns]
        self._csv.writerows(zip(*blank, strict=True))
        self._rows = []

    def _write_parquet(self, columns: Sequence[Sequence[Any]]) -> None:
        import pyarrow as pa

        try:
            arrays = [
                pa.array(cells, each.type, from_pandas=True)
                for cells, each in zip(columns, self._schema, strict=True)
            ]
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise NewColumnError from error
        self._parquet.write_table(pa.Table.from_arrays(arrays, schema=self._schema), ROWS)

    def _about(self, name: str) -> dict[str, str]:
        unit = self._units.get(name)
        return {"unit": unit} if unit else field_metadata(name)
