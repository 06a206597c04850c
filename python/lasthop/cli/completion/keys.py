"""Completion of the key paths and values of scenarios, from the JSON Schema of scenario files."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from lasthop import _core
from lasthop.scenario.files import text_of

__all__ = ["settings"]

Schema = Mapping[str, Any]

MAX_SAID = 70
"""Maximum length of a key's description. [characters]"""


def settings(typed: str, file: str, *, several: bool = False) -> Iterator[tuple[str, str]]:
    """Yield completions of ``PATH=VALUE``, each with a description.

    Each completion extends the path by one key. A dot follows the key of a table, and an equals
    sign follows the key of a value.

    Parameters
    ----------
    typed : str
        Beginning of ``PATH=VALUE`` before the cursor.
    file : str
        Scenario file with the names of tables; empty if there is no file yet.
    several : bool
        Whether several values, separated by commas, are accepted.
    """
    schema: Schema = json.loads(_core.schema())
    path, equals, value = typed.partition("=")
    *steps, last = path.split(".")
    tree = contents(file)
    tables = [schema]
    for step in steps:
        tables = list(below(schema, tables, step))
        tree = tree.get(step, {}) if isinstance(tree, Mapping) else {}
    if equals:
        before, comma, _ = value.rpartition(",") if several else ("", "", "")
        taken = before.split(",")
        for node in children(tables, last):
            for word in words(schema, node):
                if word not in taken:
                    yield f"{path}={before}{comma}{word}", ""
        return
    start = path.removesuffix(last)
    for table in tables:
        for key, node in table.get("properties", {}).items():
            yield from ways(schema, f"{start}{key}", node)
        of_names = table.get("additionalProperties")
        if isinstance(of_names, Mapping) and isinstance(tree, Mapping):
            for name in tree:
                yield from ways(schema, f"{start}{name}", of_names)


def contents(file: str) -> Any:
    """Return the contents of a scenario file; empty if the file cannot be parsed."""
    try:
        text = text_of(Path(file).expanduser())
        return json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (OSError, ValueError, RuntimeError):
        return {}


def ways(schema: Schema, path: str, node: Schema) -> Iterator[tuple[str, str]]:
    """Yield completions of a key path. A completion ends with ``.`` if the key may be a table, and
    with ``=`` if its value may be something else.
    """
    sentence = str(node.get("description", "")).partition(". ")[0]
    text = shorten(sentence, MAX_SAID, placeholder=" ...")
    kinds = list(choices(schema, node))
    if any(not is_table(kind) for kind in kinds):
        yield f"{path}=", text
    if any(is_table(kind) for kind in kinds):
        yield f"{path}.", text


def below(schema: Schema, tables: list[Schema], key: str) -> Iterator[Schema]:
    """Yield the schemas of the tables that a key may contain, if the key is in one of the outer
    tables with the schemas `tables`.
    """
    for node in children(tables, key):
        yield from filter(is_table, choices(schema, node))


def children(tables: list[Schema], key: str) -> Iterator[Schema]:
    """Yield the schemas of the values that a key may have in these tables."""
    for table in tables:
        if key in table.get("properties", {}):
            yield table["properties"][key]
        elif isinstance(table.get("additionalProperties"), Mapping):
            yield table["additionalProperties"]


def choices(schema: Schema, node: Schema) -> Iterator[Schema]:
    """Yield the alternative schemas of a value, with all ``$ref`` resolved."""
    if "$ref" in node:
        yield from choices(schema, schema["$defs"][node["$ref"].removeprefix("#/$defs/")])
    elif "oneOf" in node:
        for each in node["oneOf"]:
            yield from choices(schema, each)
    else:
        yield node


def is_table(node: Schema) -> bool:
    """Return whether a schema describes a table."""
    return node.get("type") == "object"


def words(schema: Schema, node: Schema) -> Iterator[str]:
    """Yield the words that a schema permits as value: enumerations and booleans."""
    for kind in choices(schema, node):
        yield from map(str, kind.get("enum", ()))
        if kind.get("type") == "boolean":
            yield from ("true", "false")
        if word := re.match(r"\^\\s\*\((\w+)\|", kind.get("pattern", "")):
            yield word[1]
