"""Results as tables of plain text, readable at 80 columns and without colour."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import typer

from lasthop.display.columns import COLUMNS, TITLES, called, of_shares, printed, shown_columns
from lasthop.models.reading import Scenario

__all__ = ["COLUMNS", "TITLES", "print_answer", "print_table", "printed"]

MOST_ROWS = 40
"""Most rows of a table that are printed; the rest is counted."""


def print_answer(summary: Mapping[str, Any], scenario: Scenario) -> None:
    """Print every list of a result that has something to show; columns of zeros are left out."""
    flows = summary.get("flows", ())
    lists = {**summary, "reports": [flow for flow in flows if "reports" in flow]}
    for list_name in COLUMNS:
        items = printed(lists, list_name)
        shown = shown_columns(items, list_name)
        if list_name == "classes":
            shown = [of_shares(column, scenario) for column in shown]
        if shown:
            headers = [TITLES[list_name], *(column.header for column in shown)]
            rows = [[called(item), *(column.cell(item) for column in shown)] for item in items]
            print_table(headers, rows)


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: int = 1,
    most: int | None = MOST_ROWS,
) -> None:
    """Print a table of at most `most` rows; its first `names` columns are text, the others numbers.

    Headers may have line breaks; they stand at the bottom of their lines.
    """
    # a line that counts one row would take the place of it
    shown = rows if most is None or len(rows) == most + 1 else rows[:most]
    columns = zip_longest(*(reversed(header.split("\n")) for header in headers), fillvalue="")
    heads = list(reversed(list(columns)))
    widths = [max(map(len, column)) for column in zip(*heads, *shown, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if index < names else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    for text in (*map(line, heads), "  ".join("-" * width for width in widths), *map(line, shown)):
        typer.echo(text)
    if len(rows) > len(shown):
        typer.echo(f"... and {len(rows) - len(shown)} more: --json has them all")
    typer.echo()
