"""HTML pages for notebooks: tables for light and dark themes, and pictures on white."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

MAX_ROWS = 12
"""Maximum number of rows of a table. A longer table ends with the number of omitted rows."""

DPI = 110
"""Resolution of an inline picture. [dpi]"""

TABLE = "border-collapse:collapse;margin:4px 0;color:inherit;font-size:inherit"
CELL = "padding:1px 8px;border:none;text-align:{};white-space:nowrap"
LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"
PICTURE = "background:#fff;padding:4px;border-radius:4px;max-width:100%;margin-top:6px"
"""CSS of a picture: the background is white, because lines and letters are dark."""


@dataclass(frozen=True)
class Table:
    """A table: title, headers, and rows of plain text. The first `names` columns contain text.

    The set `bold` contains the indices of bold rows, and `quiet` those of grey rows.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    bold: frozenset[int] = frozenset()
    quiet: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Page:
    """Contents of a page for notebooks and reports.

    All texts are plain text, which `html` escapes.

    Attributes
    ----------
    title, about : str
        Headline, and the line below it.
    tables : sequence of Table
        Tables; the first is open, and the others are folded.
    notes : sequence of str
        Lines below the first table.
    picture : callable or None
        Function that draws the picture.
    alt : str
        Alternative text of the picture.
    """

    title: str
    about: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    picture: "Callable[[], Figure] | None" = None
    alt: str = ""

    def html(self) -> str:
        """Return the page as HTML: title, line `about`, first table, notes, folded tables, picture.

        The picture is left out if matplotlib is not installed, or if a loaded result lacks the data
        to draw.
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
    """Return a picture as a PNG in base64; empty if the picture cannot be drawn."""
    data = BytesIO()
    try:
        picture().savefig(data, format="png", dpi=DPI)
    # A name with dollar signs that is not a formula raises ValueError.
    except (ImportError, UserError, ValueError):
        return ""
    return b64encode(data.getvalue()).decode()


def text_page(answer: object) -> Page:
    """Return the page of a result from its short text: the title and the other lines."""
    title, *notes = repr(answer).split("\n")
    return Page(title, "", [], notes=notes)


def _table(table: Table) -> str:
    return "".join(_lines(table))


def _lines(table: Table) -> Iterator[str]:
    # Show one extra row instead of a row with the number of omitted rows.
    few = len(table.rows) <= MAX_ROWS + 1
    shown = table.rows if few else table.rows[:MAX_ROWS]
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
