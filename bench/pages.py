"""Rewriting of the tables of a page in Markdown. The surrounding text is not changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

SECTION = "\n## "
NONE = "None so far."
"""Text that replaces a table without rows."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table after an empty line. Without rows, yield a note that
    there are none."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    yield ""
    if not lines:
        yield NONE
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from lines


def rewrite(
    page: Path, tables: Mapping[str, Iterable[str]], pictures: Mapping[str, str] | None = None
) -> None:
    """Replace the tables in sections of a page. The sections are given by their titles. Pictures
    are added to sections that have none.
    """
    before, *sections = page.read_text().split(SECTION)
    named = {each.splitlines()[0]: each for each in sections}
    named |= {name: with_table(named[name], list(rows)) for name, rows in tables.items()}
    for name, picture in (pictures or {}).items():
        if picture not in named[name]:
            named[name] = named[name].replace("\n", f"\n\n{picture}\n", 1)
    page.write_text(SECTION.join([before, *named.values()]))


def with_table(section: str, rows: Sequence[str]) -> str:
    """Return the text of a section with its new table."""
    lines = section.splitlines()
    rows_at = [k for k, line in enumerate(lines) if line.startswith("|") or line == NONE]
    first, last = (rows_at[0], rows_at[-1] + 1) if rows_at else (len(lines), len(lines))
    before, after = ("\n".join(part).strip() for part in (lines[:first], lines[last:]))
    return "\n\n".join(filter(None, [before, "\n".join(rows[1:]), after])) + "\n"
