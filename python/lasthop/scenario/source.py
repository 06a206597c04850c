"""Sources of a scenario: a file, text or a mapping, and the files that the scenario names."""

import json
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from lasthop import _core
from lasthop.errors import Problem, ScenarioError
from lasthop.scenario.files import UnreadableError, opened

__all__ = [
    "DICTIONARY",
    "FILES_SHUT",
    "File",
    "Setting",
    "as_json",
    "as_setting",
    "as_toml",
    "contents",
    "looks_like_json",
    "named_files",
]

MOST_BYTES = 1 << 24
"""Largest number of bytes that are read from a file; the engine refuses much smaller files.
[bytes]
"""

FILES_SHUT = "LASTHOP_FILES_SHUT"
"""Environment variable for scenarios from other users; if it is set, no file that a scenario names
is read.
"""

DICTIONARY = "<dict>"
"""Name of a scenario in messages if it is a mapping."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Keys that TOML accepts without quotes."""

Setting: TypeAlias = tuple[str, str]
File: TypeAlias = tuple[str, bytes | None, str]
"""A file that a scenario names: its name, its contents (or None), and the reason why it cannot be
read.
"""


def as_setting(value: object) -> str:
    """Return a value as the text of a setting: text is unchanged, other values are one line of
    TOML.
    """
    return value if isinstance(value, str) else _inline(_writable(value))


def _inline(tree: Any) -> str:
    """Return a tree as one line of TOML."""
    if isinstance(tree, Mapping):
        entries = zip(map(_key, tree), map(_inline, tree.values()), strict=True)
        return f"{{{', '.join(f'{key} = {value}' for key, value in entries)}}}"
    if isinstance(tree, list):
        return f"[{', '.join(map(_inline, tree))}]"
    return json.dumps(tree, ensure_ascii=False)


def as_toml(tree: Mapping[str, Any]) -> str:
    """Return a tree as TOML text, with one line for each key, including the keys of tables."""
    lines = []
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            lines += [f"{_key(key)}.{_key(each)} = {_in_file(value[each])}" for each in value]
        else:
            lines.append(f"{_key(key)} = {_in_file(value)}")
    return "\n".join(lines) + "\n"


def _in_file(value: object) -> str:
    return _inline(_writable(value))


def _key(name: object) -> str:
    return str(name) if BARE.fullmatch(str(name)) else json.dumps(str(name), ensure_ascii=False)


def as_json(tree: object) -> str:
    """Return a tree as JSON; NumPy numbers are accepted, NaN and infinity become texts to
    refuse.
    """
    return json.dumps(_writable(tree))


def numpy_scalars() -> Any:
    """Return the base class of NumPy's numbers; no class if NumPy is not yet imported."""
    return getattr(sys.modules.get("numpy"), "generic", ())


def _writable(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _writable(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_writable(value) for value in tree]
    if isinstance(tree, numpy_scalars()):
        tree = tree.item()
    return str(tree) if isinstance(tree, float) and not isfinite(tree) else tree


def looks_like_json(content: bytes) -> bool:
    """Return whether a text is JSON: it begins with a brace, or with a list and a brace, or
    parses.
    """
    text = content.removeprefix(BOM_UTF8).lstrip()
    if re.match(rb"(\[\s*)?{", text):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def contents(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the content of a scenario, and its name in messages."""
    if isinstance(source, Mapping):
        return as_json(source).encode(), DICTIONARY
    if isinstance(source, str):
        if "\n" in source or source.lstrip().startswith("{"):
            return source.encode(), "<text>"
        if source == "-":
            return sys.stdin.buffer.read(MOST_BYTES), "<stdin>"
        if not source.strip():
            raise ScenarioError([Problem(f'"{source}"', None, "", "the name is empty", None)])
    path = Path(source)
    if not str(path).strip():
        raise ScenarioError([Problem(f'"{path}"', None, "", "the name is empty", None)])
    try:
        with opened(path, or_input=True) as file:
            return file.read(MOST_BYTES), str(path)
    except UnreadableError as error:
        problem = Problem(error.path, None, "", error.what, error.hint)
    except OSError as error:
        problem = Problem(str(path), None, "", f"cannot be read: {error.strerror}", None)
    raise ScenarioError([problem])


def named_files(
    content: bytes, kind: str, source: str, settings: list[Setting], known: Sequence[File] = ()
) -> list[File]:
    """Return the files that a scenario from `source` names; files in `known` are not read again."""
    folder = Path() if source.startswith("<") else Path(source).parent
    present = {file[0]: file for file in known}
    names = _core.files_named(content, kind, settings)
    return [present.get(name) or _named(name, folder / name) for name in names]


def _named(name: str, path: Path) -> File:
    if os.environ.get(FILES_SHUT):
        return name, None, "a scenario of a page has no files"
    try:
        with path.open("rb") as file:
            return name, file.read(MOST_BYTES + 1), ""
    except FileNotFoundError:
        return name, None, "no such file"
    except OSError as error:
        return name, None, error.strerror or str(error)
    except ValueError as error:
        return name, None, str(error)
