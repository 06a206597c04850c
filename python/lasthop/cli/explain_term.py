"""Output of `lasthop explain TERM`: the meaning of a term, quantity, column heading, assumption,
claim or key.
"""

import json
import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

import typer

from lasthop.cli.screen import screen_width
from lasthop.explanation.terms import KINDS, Entry, entries, find

__all__ = ["print_names", "print_term"]

MAX_COLUMNS = 100
"""Largest width to which text is wrapped. [characters]"""

MAX_KEYS = 2
"""Maximum number of keys that are printed in full. If there are more, one sentence per key is
printed.
"""

INDENT = "  "


def print_term(name: str, *, as_json: bool = False) -> None:
    """Print all glossary entries with this name.

    Raises
    ------
    UserError
        If no entry has the name; the hint proposes similar names.
    """
    result = find(name)
    if as_json:
        typer.echo(json.dumps([_as_dict(entry) for entry in result], indent=2, ensure_ascii=False))
        return
    keys = [entry for entry in result if entry.kind == "key"]
    short_keys = keys if len(keys) > MAX_KEYS else []
    blocks = [list(_block(entry)) for entry in result if entry not in short_keys]
    if short_keys:
        blocks.insert(
            sum(e.kind in ("term", "quantity", "heading") for e in result),
            list(_keys_block(short_keys)),
        )
    typer.echo("\n\n".join("\n".join(block) for block in blocks))


def print_names(*, as_json: bool = False) -> None:
    """Print the names of all terms, quantities, headings, assumptions, claims and causes."""
    names = {
        kind: [entry.name for entry in entries() if entry.kind == kind]
        for kind in KINDS
        if kind != "key"
    }
    if as_json:
        typer.echo(json.dumps(names, indent=2, ensure_ascii=False))
        return
    for kind, listed in names.items():
        first, _, rest = KINDS[kind].partition(" ")
        plural = "quantities" if first == "quantity" else f"{first}s"
        typer.echo(f"{len(listed)} {plural} {rest}:")
        for line in _wrapped(", ".join(listed)):
            typer.echo(line)
        typer.echo()
    typer.echo(
        "`lasthop explain KEY` also explains the keys of scenario files, which `lasthop schema` "
        "lists."
    )


def _as_dict(entry: Entry) -> dict[str, object]:
    """Return a glossary entry as an object for JSON. The address of the page is null if unknown."""
    return {
        "kind": entry.kind,
        "name": entry.name,
        "means": entry.means,
        "source": entry.source,
        "carried_by": re.findall(r"`([^`]+)`", entry.carried_by),
        "aliases": list(entry.aliases),
        "headings": list(entry.headings),
        "address": entry.address,
    }


def _block(entry: Entry) -> Iterator[str]:
    """Yield the printed lines of a glossary entry."""
    title = entry.title if entry.name not in entry.title else KINDS[entry.kind]
    yield f"{entry.name} ({title})"
    yield from _wrapped(entry.means)
    facts = {
        "source": entry.source,
        "in lasthop": entry.carried_by,
        "heading": "; ".join(entry.headings),
        "also called": ", ".join(_aliases(entry)) if entry.kind == "term" else "",
        "page": entry.address or "",
    }
    for label, text in facts.items():
        if text:
            yield from _wrapped(f"{label}: {text}")


def _aliases(entry: Entry) -> list[str]:
    """Return the aliases of a glossary entry that occur neither in its name nor in its meaning."""
    text = f"{entry.name} {entry.means}".casefold()
    return [each for each in entry.aliases if each.casefold() not in text]


def _keys_block(keys: Sequence[Entry]) -> Iterator[str]:
    """Yield the printed lines of several keys with the same name."""
    yield f"{len(keys)} keys of scenario files"
    for entry in keys:
        sentence = re.split(r"(?<=[.\w])\. ", entry.means)[0].rstrip(".")
        yield from _wrapped(f"`{entry.name}`: {sentence}.")


def _wrapped(text: str) -> list[str]:
    """Return a text as indented lines."""
    width = min(screen_width() or MAX_COLUMNS, MAX_COLUMNS)
    return wrap(
        text,
        width,
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )
