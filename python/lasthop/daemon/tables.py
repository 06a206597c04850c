"""Status tables for a terminal. Each column shows one quantity of the status rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

GAP = 2
"""Distance between two columns. [characters]"""
MIN_NAME = 8
"""Smallest number of characters to which a name is shortened. [-]"""

Row: TypeAlias = Mapping[str, Any]


class Column(NamedTuple):
    """Column of a status table."""

    title: str
    cell: Callable[[Row], str]
    """Function that returns the text in the column for a row."""
    is_text: bool = False
    """Whether the column is aligned to the left."""


def text(title: str, name: str) -> Column:
    """Return a column that shows a text of the rows."""
    return Column(title, lambda row: str(row[name]), True)


def quantity(title: str, name: str, unit: float = 1.0, digits: int = 0) -> Column:
    """Return a column that shows a quantity of the rows, divided by `unit`."""
    return Column(title, lambda row: scaled(row.get(name), unit, digits))


def scaled(value: float | None, unit: float, digits: int) -> str:
    """Return `value` divided by `unit` as text, or a dash if the value is unknown."""
    return "-" if value is None else f"{value / unit:.{digits}f}"


def fitted(
    columns: Sequence[Column],
    rows: Sequence[Row],
    width: int | None = None,
    drop: Sequence[str] = (),
) -> "Table":
    """Return a table that fits into the width of the terminal.

    If the table is too wide, its titles use two lines. If it is still too wide, the columns in
    `drop` are left out one after the other. Finally, names are shortened at their beginning, since
    MAC addresses often differ only in their last characters.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    cells = [[column.cell(row) for column in columns] for row in rows]
    titles = [column.title for column in columns]
    remaining, shown = list(range(len(columns))), titles

    def widths() -> list[int]:
        title = {k: max(map(cell_len, shown[k].split("\n"))) for k in remaining}
        return [max([title[k], *(cell_len(row[k]) for row in cells)]) for k in remaining]

    def spare() -> int:
        return 0 if width is None else width - sum(widths()) - GAP * (len(remaining) - 1)

    if spare() < 0:
        shown = [title.replace(" [", "\n[") for title in titles]
    for title in drop:
        if spare() < 0 and titles.index(title) in remaining:
            remaining.remove(titles.index(title))
    longest = max(widths()[0] + min(spare(), 0), MIN_NAME)
    table = Table(box=None, pad_edge=False)
    for k in remaining:
        side = "left" if columns[k].is_text else "right"
        table.add_column(Text(shown[k]), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in cells:
        name = row[0] if cell_len(row[0]) <= longest else "…" + row[0][1 - longest :]
        table.add_row(*(Text(name if k == 0 else row[k]) for k in remaining))
    return table


def with_messages(
    parts: Sequence["RenderableType"], warnings: Sequence[str], faults: Sequence[str]
) -> "Group":
    """Return tables, followed by warnings and faults."""
    from rich.console import Group
    from rich.text import Text

    lines = [f"warning: {warning}" for warning in warnings] + [f"fault: {each}" for each in faults]
    return Group(*parts, *map(Text, lines))
