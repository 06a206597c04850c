"""The glossary: terms of the field and of lasthop, from ``terms.toml``."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Term", "glossary"]


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
        The document that defines the term (RFC, IEEE clause, paper); empty if lasthop does.
    carried_by : str
        Keys, quantities and commands that carry the term, in backquotes; may be empty.
    aliases : tuple of str
        Other names of the term.
    """

    name: str
    means: str
    source: str = ""
    carried_by: str = ""
    aliases: tuple[str, ...] = ()


@cache
def glossary() -> tuple[Term, ...]:
    """Return the terms, in alphabetical order."""
    text = resources.files("lasthop").joinpath("terms.toml").read_text(encoding="utf-8")
    return tuple(
        Term(**{**entry, "aliases": tuple(entry.get("aliases", ()))})
        for entry in tomllib.loads(text)["term"]
    )
