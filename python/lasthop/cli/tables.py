"""Results as tables of plain text, at most as wide as the terminal and without colour.

A table that is wider than the terminal is printed in blocks. Each block repeats the columns with
names and contains the next columns with numbers. Long names are wrapped if no space for a number
remains. No text is cut off. In a file or a pipe, the width of tables is at most 100 characters, or
the number in the variable COLUMNS.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from lasthop.cli.screen import echo, screen_width
from lasthop.display.columns import COLUMNS, TITLES, called, of_shares, printed, shown_columns
from lasthop.display.delays import MAX_ROWS as FEW_ROWS
from lasthop.display.delays import Delays, unshown_columns

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer

__all__ = ["COLUMNS", "TITLES", "print_answer", "print_table", "printed"]

MAX_ROWS = 40
"""Maximum number of printed rows of a table. If there are more, their number is printed."""

GAP = "  "
"""Space between two columns."""

NARROWEST = 8
"""Smallest width of a column of names, to which names are wrapped. [characters]"""


def print_answer(answer: "Answer", delays: Delays | None = None) -> None:
    """Print all lists of a result that contain values; delays are first.

    Columns that contain only zeros are omitted.

    Parameters
    ----------
    answer : Answer
        Result with its scenario.
    delays : Delays, optional
        Delays of the result, if they have already been computed.
    """
    summary = answer.contents
    tables = list((Delays.of(answer) if delays is None else delays).tables())
    for table in tables:
        print_table(table.heads, table.rows, table.names, FEW_ROWS)
    for list_name in COLUMNS:
        items = printed(summary, list_name)
        shown = unshown_columns(tables, list_name, items, shown_columns(items, list_name))
        if list_name == "classes":
            shown = [of_shares(column, answer.scenario.typed) for column in shown]
        if shown:
            headers = [TITLES[list_name], *(column.header for column in shown)]
            rows = [[called(item), *(column.cell(item) for column in shown)] for item in items]
            print_table(headers, rows)


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: int = 1,
    most: int | None = MAX_ROWS,
) -> None:
    """Print a table of at most `most` rows; the first `names` columns are text, the rest are
    numbers.

    Headers may have several lines, which are aligned at the bottom.
    """
    # If only one row would be left out, print it instead of a line "... and 1 more".
    shown = rows if most is None or len(rows) == most + 1 else rows[:most]
    columns = zip_longest(*(reversed(header.split("\n")) for header in headers), fillvalue="")
    heads = list(reversed(list(columns)))
    widths = [max(map(len, column)) for column in zip(*heads, *shown, strict=True)]
    room = screen_width()
    if spread(widths) > room:
        widths[:names] = squeezed(widths[:names], room - max((*widths[names:], 0)) - len(GAP))
    for number, numbers in enumerate(blocks(widths, names, room)):
        if number:
            echo()
        chosen = [*range(names), *numbers]
        for head in heads:
            if any(head[column] for column in chosen):
                print_row(head, chosen, widths, names)
        echo(GAP.join("-" * widths[column] for column in chosen))
        for cells in shown:
            print_row(cells, chosen, widths, names)
    if len(rows) > len(shown):
        echo(f"... and {len(rows) - len(shown)} more: --json has them all")
    echo()


def spread(widths: Sequence[int]) -> int:
    """Return the total width of columns with these widths. [characters]"""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def squeezed(widths: Sequence[int], room: int) -> list[int]:
    """Return narrower widths for text columns so that they fit into `room`. The widest column is
    narrowed first.
    """
    results = list(widths)
    while spread(results) > room and max(results) > NARROWEST:
        results[results.index(max(results))] -= 1
    return results


def blocks(widths: Sequence[int], names: int, room: int) -> Iterator[list[int]]:
    """Yield groups of number columns that fit after the name columns, at least one column per
    group.
    """
    taken: list[int] = []
    used = start = spread(widths[:names])
    for column in range(names, len(widths)):
        more = len(GAP) + widths[column]
        if taken and used + more > room:
            yield taken
            taken, used = [], start
        taken.append(column)
        used += more
    yield taken


def print_row(
    cells: Sequence[str], chosen: Sequence[int], widths: Sequence[int], names: int
) -> None:
    """Print the chosen cells of a row; long names continue on further lines."""
    texts = {column: cells[column] for column in chosen}
    pieces = [
        wrap(text, widths[column]) if len(text) > widths[column] else [text]
        for column, text in texts.items()
    ]
    for line in zip_longest(*pieces, fillvalue=""):
        padded = [
            text.ljust(widths[column]) if column < names else text.rjust(widths[column])
            for column, text in zip(chosen, line, strict=True)
        ]
        echo(GAP.join(padded).rstrip())
