"""HTML for notebooks: tables that look right on light and dark, pictures on white."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

MOST_ROWS = 12
"""Most rows of a table; the rest is counted."""

DPI = 110
"""Resolution of an inline picture."""

TABLE = "border-collapse:collapse;margin:4px 0;color:inherit;font-size:inherit"
CELL = "padding:1px 8px;border:none;text-align:{};white-space:nowrap"
LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"
PICTURE = "background:#fff;padding:4px;border-radius:4px;max-width:100%;margin-top:6px"
"""White below a picture, whose lines and letters are dark, whatever the page's colour is."""


@dataclass(frozen=True)
class Table:
    """A table: its title, heads and rows of plain text; the first `names` columns are words.

    Rows numbered in `bold` stand out, those in `quiet` stand back.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    bold: frozenset[int] = frozenset()
    quiet: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Page:
    """An object as a page: a notebook shows it, and a report has it.

    All texts are plain; they are escaped when HTML is written.

    Attributes
    ----------
    title, about : str
        Headline, and the line below it.
    tables : sequence of Table
        The first table is open, the others are folded.
    notes : sequence of str
        Lines below the first table.
    picture : callable or None
        Draws the picture.
    alt : str
        Description of the picture for people who do not see it.
    """

    title: str
    about: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    picture: "Callable[[], Figure] | None" = None
    alt: str = ""

    def html(self) -> str:
        """Return the page as HTML: title, line, first table, notes, folded tables, picture.

        The picture is left out without matplotlib, and if a loaded answer lacks its data.
        """
        about = f"<div>{escape(self.about)}</div>" if self.about else ""
        parts = [f"<div><b>{escape(self.title)}</b>", about]
        parts += [_table(table) for table in self.tables[:1]]
        parts += [f"<div>{escape(note)}</div>" for note in self.notes]
        parts += [
            f"<details><summary>{escape(table.title)}</summary>{_table(table)}</details>"
            for table in self.tables[1:]
        ]
        if self.picture is not None and (data := inline(self.picture)):
            alt = escape(self.alt)
            parts.append(f'<img src="data:image/png;base64,{data}" alt="{alt}" style="{PICTURE}">')
        return "\n".join(part for part in (*parts, "</div>") if part)


def inline(picture: "Callable[[], Figure]") -> str:
    """Return a picture as base64; empty if it cannot be drawn."""
    data = BytesIO()
    try:
        picture().savefig(data, format="png", dpi=DPI)
    except (ImportError, UserError, ValueError):  # the last: a name that is no formula in dollars
        return ""
    return b64encode(data.getvalue()).decode()


def text_page(answer: object) -> Page:
    """Return the page of an answer that has only a text: title and lines."""
    title, *notes = repr(answer).split("\n")
    return Page(title, "", [], notes=notes)


def _table(table: Table) -> str:
    return "".join(_lines(table))


def _lines(table: Table) -> Iterator[str]:
    # a line that counts one row would take the place of it
    few = len(table.rows) <= MOST_ROWS + 1
    shown = table.rows if few else table.rows[:MOST_ROWS]
    yield f'<div style="overflow-x:auto"><table style="{TABLE}"><thead><tr>'
    for index, head in enumerate(table.heads):
        yield f'<th style="{_look(index, table.names)};{LINE}">{_broken(head)}</th>'
    yield "</tr></thead><tbody>"
    for number, row in enumerate(shown):
        weight = ";font-weight:bold" if number in table.bold else ""
        weight += ";opacity:0.6" if number in table.quiet else ""
        cells = (
            f'<td style="{_look(index, table.names)}{weight}">{escape(cell)}</td>'
            for index, cell in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    if not few:
        yield f"<div>... and {len(table.rows) - len(shown)} more</div>"


def _look(index: int, names: int) -> str:
    return CELL.format("left" if index < names else "right")


def _broken(head: str) -> str:
    return escape(head.removesuffix("\n[-]")).replace("\n", "<br>")
