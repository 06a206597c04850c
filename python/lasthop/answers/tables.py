"""Tables of results on disk: as CSV always, and as Parquet if pandas and pyarrow are installed."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.answers.quantities import registry
from lasthop.answers.saving import COLUMNS_FILE, Writer
from lasthop.extras import is_installed, need

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS_KIND",
    "Table",
    "columns_of",
    "data_frame",
    "field_metadata",
    "has_parquet",
    "read_columns",
    "table_writers",
    "write_columns",
]

COLUMNS_KIND = "csv columns"
"""Value of ``kind`` in `COLUMNS_FILE`."""

Columns = Mapping[str, Sequence[Any]]
"""Values of a table by column."""


def has_parquet() -> bool:
    """Return whether the packages that write Parquet files are installed."""
    return is_installed("pandas") and is_installed("pyarrow")


def data_frame(values: Any, columns: list[str] | tuple[str, ...] | None = None) -> "pd.DataFrame":
    """Return a pandas data frame.

    Raises
    ------
    UserError
        If pandas is not installed.
    """
    need("data frames")
    import pandas as pd

    return pd.DataFrame(values, columns=columns)


@dataclass(frozen=True)
class Table:
    """A table to save.

    Attributes
    ----------
    name : str
        Name of the files without suffix.
    columns : mapping
        Values by column, for CSV.
    frame : callable
        Function that returns the table as a data frame, for Parquet.
    about : mapping
        Metadata of the Parquet file.
    """

    name: str
    columns: Columns
    frame: "Callable[[], pd.DataFrame]"
    about: Mapping[str, str] = field(default_factory=dict)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of rows by column, in the order in which the columns occur. A missing value
    is None.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def table_writers(directory: Path, tables: Iterable[Table]) -> dict[str, Writer]:
    """Return the functions that write the files of tables into a directory, by file name."""
    tables = list(tables)
    writers: dict[str, Writer] = {}
    for table in tables:
        if has_parquet():
            writers[f"{table.name}.parquet"] = _parquet_writer(table)
        writers[f"{table.name}.csv"] = _csv_writer(table)
    if tables and not has_parquet():
        columns = {f"{table.name}.csv": [*table.columns] for table in tables}
        writers[COLUMNS_FILE] = lambda path: write_columns(path, columns, directory)
    return writers


def write_columns(path: Path, columns: Mapping[str, list[str]], directory: Path) -> None:
    """Write the columns of CSV files into `path`, with those that the file in `directory` has for
    other CSV files.
    """
    tree = {"kind": COLUMNS_KIND, "columns": {**read_columns(directory), **columns}}
    text = json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def read_columns(directory: Path) -> dict[str, list[str]]:
    """Return the columns of the CSV files of a directory, by file name, from its `COLUMNS_FILE`."""
    try:
        tree = json.loads((directory / COLUMNS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(tree, dict) or tree.get("kind") != COLUMNS_KIND:
        return {}
    columns: dict[str, list[str]] = tree.get("columns", {})
    return columns


def _csv_writer(table: Table) -> Writer:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows(zip(*map(_cells, table.columns.values()), strict=True))

    return write


def _cells(values: Sequence[Any]) -> list[Any]:
    """Return the values of a column as its cells in a CSV file.

    A missing value is an empty cell. Integers are written as decimal fractions if the column also
    has a missing value or another decimal fraction.
    """
    cells = [None if value != value else value for value in values]
    kinds = {type(cell) for cell in cells}
    if int in kinds and kinds <= {int, float, type(None)} and len(kinds) > 1:
        return [float(cell) if type(cell) is int else cell for cell in cells]
    return cells


def _parquet_writer(table: Table) -> Writer:
    """Return the function that writes a table as Parquet. The metadata of each column has unit and
    definition of its quantity.
    """

    def write(path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrow = pa.Table.from_pandas(table.frame(), preserve_index=False)
        fields = [each.with_metadata(field_metadata(each.name)) for each in arrow.schema]
        metadata = {"lasthop": json.dumps(dict(table.about))}
        pq.write_table(arrow.cast(pa.schema(fields, metadata=metadata)), path)

    return write


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
