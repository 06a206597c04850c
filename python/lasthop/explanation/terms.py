"""Glossary: names and their meanings, which `lasthop explain TERM` prints.

The names are terms (from ``terms.toml``), quantities, column headings, keys, assumptions, claims
and causes. The heading of a quantity finds the quantity; ``headings.toml`` has all other headings.
The function `find` searches all of them for a name. The command `lasthop explain TERM`, the
documentation and the tooltips of the workbench show the same text.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import metadata, resources
from typing import Any

from lasthop.errors import UserError, listed
from lasthop.explanation.facts import rules
from lasthop.scenario.from_json import Table, read_as

__all__ = ["KINDS", "Entry", "Term", "entries", "find", "glossary"]

CLOSE = 0.72
"""Smallest similarity between an unknown name and a proposed name, as measured by `difflib`. [-]"""

MAX_PROPOSED = 3
"""Maximum number of names that an error message proposes."""

ALL_NAMES = "`lasthop explain --terms` lists all names"

KINDS = {
    "term": "term of the glossary",
    "quantity": "quantity of results",
    "heading": "heading of tables",
    "key": "key of scenario files",
    "assumption": "assumption of a model",
    "claim": "claim of a paper",
    "cause": "cause that `lasthop explain FILE` looks for",
}
"""Kinds of entries of the glossary, in the order in which they are printed."""


NAMES_OF_LISTS = {"aps": "access points", "reports": "sensors"}
"""Names of the tables of results, where they differ from the names of the lists."""

PAPERS = {"000": "vbs", "001": "acsma", "002": "hotspot", "003": "edca", "004": "red"}
"""Short names of the papers, by the number of the paper in `source`."""


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    Attributes
    ----------
    name : str
        The term; an abbreviation may follow in parentheses.
    means : str
        Its meaning, in complete sentences or a noun phrase.
    source : str
        Document that defines the term (RFC, IEEE clause, paper); empty if lasthop defines the term.
    carried_by : str
        Keys, quantities and commands that use the term, in backquotes; may be empty.
    aliases : tuple of str
        Other names of the term.
    """

    name: str
    means: str
    source: str = ""
    carried_by: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """An entry of the glossary: a name with its meaning.

    Attributes
    ----------
    kind : str
        Kind of the entry, a key of `KINDS`.
    name : str
        Name in its printed form.
    title : str
        Kind of the entry in words, such as ``"assumption of model hotspot"``.
    means : str
        Meaning of the name, in sentences.
    source : str
        Document that defines the name (RFC, IEEE clause, paper); empty if lasthop defines the name.
    carried_by : str
        Keys, quantities and commands that use the name, in backquotes; may be empty.
    aliases : tuple of str
        Other names that `find` accepts.
    page : str
        Path of the page in the documentation, with an anchor if the page has one.
    headings : tuple of str
        For a quantity: its column headings, each with the tables that have it.
    """

    kind: str
    name: str
    title: str
    means: str
    source: str = ""
    carried_by: str = ""
    aliases: tuple[str, ...] = ()
    page: str = ""
    headings: tuple[str, ...] = ()

    @property
    def address(self) -> str | None:
        """Public address of the documentation page; None if this installation does not contain the
        address.
        """
        site = documentation()
        return f"{site}/{self.page}" if site and self.page else None


@cache
def glossary() -> tuple[Term, ...]:
    """Return the terms of the glossary, in alphabetical order."""
    return tuple(
        Term(**{**entry, "aliases": tuple(entry.get("aliases", ()))})
        for entry in _table("explanation/terms.toml")["term"]
    )


@cache
def entries() -> tuple[Entry, ...]:
    """Return all entries of the glossary, in the order of `KINDS`."""
    return (
        *_of_glossary(),
        *_of_quantities(),
        *_of_headings(),
        *_of_keys(),
        *_of_assumptions(),
        *_of_claims(),
        *_of_causes(),
    )


def find(name: str) -> list[Entry]:
    """Return all entries of the glossary with this name, in the order of `KINDS`.

    Capital letters, hyphens, underscores, the plural and a unit in brackets are ignored. The last
    part of a key finds the key: ``cwmin`` finds ``cell.ap.cwmin``. The name of a model finds its
    assumptions.

    Raises
    ------
    UserError
        If no entry has the name; the hint proposes similar names.

    Examples
    --------
    >>> [entry.name for entry in find("jain")]
    ["Jain's index", 'jain']
    """
    index = _index()
    results = [entry for form in _forms(name) for entry in index.get(form, ())]
    results = results or _at_path(name)
    if results:
        order = list(KINDS)
        return sorted(dict.fromkeys(results), key=lambda entry: order.index(entry.kind))
    near = {
        index[form][0].name: None
        for form in get_close_matches(_form(name), index, n=MAX_PROPOSED, cutoff=CLOSE)
    }
    raise UserError(
        f'"{name}": no such name: expected a term, a quantity, a column heading, a key, an '
        "assumption, a claim or a cause",
        f"did you mean {' or '.join(near)}? {ALL_NAMES}" if near else ALL_NAMES,
    )


@cache
def documentation() -> str:
    """Return the public address of the documentation, without a final slash; empty if unknown."""
    try:
        urls = metadata.metadata("lasthop").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    pairs = (url.partition(", ")[::2] for url in urls)
    return next((to.rstrip("/") for label, to in pairs if label.lower() == "documentation"), "")


@cache
def _index() -> Mapping[str, list[Entry]]:
    """Return the entries of the glossary by all normalised names."""
    index: dict[str, list[Entry]] = {}
    for entry in entries():
        for form in dict.fromkeys(map(_form, (entry.name, *entry.aliases))):
            index.setdefault(form, []).append(entry)
    return index


def _forms(name: str) -> Iterator[str]:
    """Yield the normalised name to look up, then its possible singulars."""
    form = _form(name)
    yield form
    for plural, singular in (("ies", "y"), ("es", ""), ("s", "")):
        if form.endswith(plural):
            yield f"{form.removesuffix(plural)}{singular}"


def _at_path(name: str) -> list[Entry]:
    """Return the entries of the keys for a path that contains the name of a station or link, such
    as ``station.phone.rate``.
    """
    steps = name.strip("`[] ").split(".")

    def leads_there(path: str) -> bool:
        parts = path.split(".")
        return len(parts) == len(steps) > 1 and all(
            part in ("NAME", step) for part, step in zip(parts, steps, strict=True)
        )

    keys = (entry for entry in entries() if entry.kind == "key")
    return [entry for entry in keys if any(map(leads_there, (entry.name, *entry.aliases)))]


def _form(name: str) -> str:
    """Return a normalised name: lower case, single spaces instead of hyphens and underscores, and
    no unit in brackets at the end.
    """
    without_unit = re.sub(r"(?<=\w)\s+\[[^\]]*\]$", "", name.strip().casefold())
    return re.sub(r"[\s_-]+", " ", re.sub(r"['’]s\b|['’]", "", without_unit)).strip(" `.?")


def _table(file: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("lasthop").joinpath(file).read_text(encoding="utf-8"))


def _of_glossary() -> Iterator[Entry]:
    """Yield the entries of terms. A term such as "air time (AT)" or "h-ACK, n-ACK" has two
    names.
    """
    for term in glossary():
        outside, _, inside = term.name.partition(" (")
        parts = [outside, inside.rstrip(")")] if inside else term.name.split(", ")
        aliases = tuple(dict.fromkeys([*(p for p in parts if p != term.name), *term.aliases]))
        yield Entry(
            "term",
            term.name,
            KINDS["term"],
            term.means,
            _with_title(term.source),
            term.carried_by,
            aliases,
            "nomenclature.html#terms",
        )


def _of_quantities() -> Iterator[Entry]:
    """Yield the entries of quantities. A quantity is also found by its name without the unit, by
    its list and name (``cells.jain``), and by its column headings.
    """
    from lasthop.answers.quantities import registry

    tables = _tables_by_heading()
    for name, quantity in registry().items():
        aliases = [f"{each}.{name}" for each in quantity.lists]
        aliases += [
            name.removesuffix(end) for end in ("_s", "_bps", "_packets") if name.endswith(end)
        ]
        headings = tables.get(name, {})
        aliases += [title for title, _ in headings]
        yield Entry(
            "quantity",
            name,
            f"{KINDS['quantity']}, unit {quantity.unit}",
            _sentence(quantity.definition),
            carried_by=", ".join(f"`{each}.{name}`" for each in quantity.lists),
            aliases=tuple(aliases),
            page=f"nomenclature.html#{name.replace('_', '-')}",
            headings=tuple(
                f'"{title} [{unit}]" in {_of_tables(list(names))}'
                for (title, unit), names in headings.items()
            ),
        )


def _of_tables(names: Sequence[str]) -> str:
    """Return a phrase with the names of tables."""
    *first, last = names
    return f"the tables of {', '.join(first)} and {last}" if first else f"the table of {last}"


def _tables_by_heading() -> Mapping[str, Mapping[tuple[str, str], Mapping[str, None]]]:
    """Return the tables that have a quantity, by quantity and by heading: its title and unit."""
    from lasthop.display.columns import COLUMNS, OF_SHARES
    from lasthop.display.compared import SHOWN
    from lasthop.display.delays import OF_DATAGRAMS

    shown = [
        (column, NAMES_OF_LISTS.get(list_name, list_name))
        for list_name, own in COLUMNS.items()
        for column in own
    ]
    shown += [
        (replace(column, title=OF_SHARES[column.quantity]), "classes that share a queue")
        for column in COLUMNS["classes"]
        if column.quantity in OF_SHARES
    ]
    shown += [(column, "calls and datagrams") for column in OF_DATAGRAMS]
    results: dict[str, dict[tuple[str, str], dict[str, None]]] = {}
    for column, table in shown:
        heading = column.title, column.unit or "-"
        results.setdefault(column.quantity, {}).setdefault(heading, {})[table] = None
    for quantity, (text, _) in SHOWN.items():
        title, _, unit = text.partition(" [")
        heading = title, unit.rstrip("]") or "-"
        results.setdefault(quantity, {}).setdefault(heading, {})["`lasthop compare`"] = None
    return results


def _of_headings() -> Iterator[Entry]:
    """Yield the entries of the headings that are not titles of quantities in results."""
    for heading in _table("explanation/headings.toml")["heading"]:
        yield Entry(
            "heading",
            heading["name"],
            f"heading in the tables of {heading['table']}, unit {heading['unit']}",
            heading["means"],
            aliases=tuple(heading.get("aliases", ())),
            page="nomenclature.html#headings-of-tables",
        )


def _of_keys() -> Iterator[Entry]:
    """Yield the entries of the keys of scenario files. Keys with equal name and text share one
    entry.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for path, text in _paths():
        alike.setdefault((path.rpartition(".")[2], text), []).append(path)
    for (last, text), paths in alike.items():
        shortest, *others = sorted(paths, key=lambda path: path.count("."))
        also = f" Also {listed([f'`{path}`' for path in others])}." if others else ""
        yield Entry(
            "key",
            shortest,
            KINDS["key"],
            f"{text}{also}",
            carried_by=f"`--set {shortest}=VALUE`",
            aliases=(*others, *([last] if last != shortest and last != "NAME" else [])),
            page="reference/scenario.html",
        )


def _paths() -> Iterator[tuple[str, str]]:
    """Yield the path and the description of every key, short paths first."""
    from lasthop.scenario.scenario import schema

    tree = schema()
    tables = [("", tree)]
    for prefix, table in tables:  # Breadth-first search: the loop appends to the list.
        for key, node in table["properties"].items():
            yield f"{prefix}{key}", node.get("description", "")
            for name, suffix in _references(node):
                tables.append((f"{prefix}{key}{suffix}.", tree["$defs"][name]))


def _references(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the possible table types of a value, each with the suffix that the key path gets."""
    if "$ref" in node:
        yield node["$ref"].removeprefix("#/$defs/"), ""
    for choice in node.get("oneOf", ()):
        yield from _references(choice)
    if isinstance(node.get("additionalProperties"), Mapping):
        for name, _ in _references(node["additionalProperties"]):
            yield name, ".NAME"


def _of_assumptions() -> Iterator[Entry]:
    """Yield the entries of assumptions. "a1", "hotspot a1" and the model's name find an
    assumption.
    """
    from lasthop.models.assumptions import BY_MODEL, SOURCES

    for model, assumptions in BY_MODEL.items():
        for number, words in assumptions.items():
            name = model if number == "cell" else f"{model} {number}"
            aliases = (model, *([] if number == "cell" else [number, f"{model}.{number}"]))
            yield Entry(
                "assumption",
                name,
                f"assumption of model {model}",
                f"The model assumes {words.removeprefix('of ')}.",
                _with_title(SOURCES.get(model, "")),
                "`lasthop predict`",
                aliases,
                f"papers/{model}.html#assumptions-of-the-model",
            )


def _of_claims() -> Iterator[Entry]:
    """Yield the entries of claims; the name of a claim is its identifier."""
    for claim in _claims().claim:
        place = f"figure {claim.figure}" if re.match(r"\d", claim.figure) else claim.figure
        yield Entry(
            "claim",
            claim.id,
            f"claim of paper {claim.subject}",
            _sentence(claim.text),
            f'"{_claims().subject[claim.subject]}", {place}',
            f"`lasthop reproduce {claim.id}`",
            (),
            f"papers/{claim.subject}.html",
        )


def _of_causes() -> Iterator[Entry]:
    """Yield the entries of causes; title and identifier find a cause."""
    for rule in rules():
        yield Entry(
            "cause",
            rule.title,
            KINDS["cause"],
            f"It may apply if {rule.applies}. Edit that removes it: {rule.edit}.",
            carried_by="`lasthop explain FILE`",
            aliases=(rule.id,),
            page="guide/explain.html#causes-and-their-edits",
        )


class _Claim(Table):
    """Values of a claim in ``claims.toml`` that its entry contains."""

    id: str
    figure: str
    text: str

    @property
    def subject(self) -> str:
        """Short name of the paper that makes the claim."""
        return self.id.rpartition("-")[0]


class _Claims(Table):
    """Contents of ``claims.toml`` that the entries contain."""

    subject: Mapping[str, str]
    claim: tuple[_Claim, ...]


@cache
def _claims() -> _Claims:
    return read_as(_Claims, _table("studies/claims.toml"))


def _with_title(source: str) -> str:
    """Return a source with the paper's title instead of its number."""
    titles = _claims().subject
    return re.sub(r"paper (\d{3})", lambda result: f'"{titles[PAPERS[result[1]]]}"', source)


def _sentence(text: str) -> str:
    """Return a text with an initial capital letter and a final period."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
