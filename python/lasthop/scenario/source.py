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
from lasthop.arguments import short
from lasthop.errors import Problem, ScenarioError
from lasthop.scenario.files import UnreadableError, in_utf8, opened

__all__ = [
    "DICTIONARY",
    "FILES_SHUT",
    "SETTING",
    "File",
    "Setting",
    "as_json",
    "as_setting",
    "as_toml",
    "contents",
    "looks_like_json",
    "named_files",
]

MAX_BYTES = 1 << 24
"""Maximum number of bytes that are read from a file. The engine's own limit is much smaller.
[bytes]
"""

FILES_SHUT = "LASTHOP_FILES_SHUT"
"""Environment variable for a server with scenarios of other users. If it is set, no file that a
scenario names is read.
"""

DICTIONARY = "<dict>"
"""Name that messages use for a scenario that is a mapping."""

SETTING = "settings "
"""Text before a setting in the `source` of a problem; the command line replaces it by ``--set``."""

MAX_DEPTH = 100
"""Maximum number of nested mappings and lists in a mapping or a setting."""

BARE = r"[A-Za-z0-9_-]+"
"""Pattern of keys that TOML accepts without quotes."""

Setting: TypeAlias = tuple[str, str]
File: TypeAlias = tuple[str, bytes | None, str]
"""A file that a scenario names: its name, its content, and an error message. The message is empty
if the file was read. Otherwise the content is None.
"""


def as_setting(value: object, path: str = "") -> str:
    """Return a value as text for a setting: text is unchanged, another value becomes one line of
    TOML.

    Raises
    ------
    ScenarioError
        If TOML has no such value; the message names the key path.
    """
    if isinstance(value, str):
        return value
    setting = f"{SETTING}{path}" if path else ""
    return _inline(_writable(value, [path] if path else [], setting))


def _inline(tree: Any) -> str:
    """Return a value as one line of TOML."""
    if isinstance(tree, Mapping):
        entries = zip(map(_key, tree), map(_inline, tree.values()), strict=True)
        return f"{{{', '.join(f'{key} = {value}' for key, value in entries)}}}"
    if isinstance(tree, list):
        return f"[{', '.join(map(_inline, tree))}]"
    return json.dumps(tree, ensure_ascii=False)


def as_toml(tree: Mapping[str, Any]) -> str:
    """Return a tree as TOML text. Each key has its own line; this includes the keys of inner
    tables."""
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
    return str(name) if re.fullmatch(BARE, str(name)) else json.dumps(str(name), ensure_ascii=False)


def as_json(tree: object) -> str:
    """Return a tree as JSON text. NumPy numbers are accepted. NaN and infinity become text, which
    the engine refuses.
    """
    return json.dumps(_writable(tree))


def numpy_arrays() -> Any:
    """Return the classes of NumPy's numbers and arrays; an empty tuple if NumPy is not imported."""
    numpy = sys.modules.get("numpy")
    return () if numpy is None else (numpy.generic, numpy.ndarray)


def _writable(tree: Any, keys: Sequence[str] = (), setting: str = "") -> Any:
    """Return a value in the types of JSON.

    Parameters
    ----------
    tree : object
        Value of a scenario or of a setting.
    keys : sequence of str
        Keys that lead to the value, for messages.
    setting : str
        Name of the setting in messages; empty for a value of a mapping.

    Raises
    ------
    ScenarioError
        If JSON has no such value.
    """
    if len(keys) > MAX_DEPTH:
        raise _no_value(keys[:1], setting, f"has more than {MAX_DEPTH} levels, or contains itself")
    if isinstance(tree, Mapping):
        return {str(key): _writable(each, [*keys, str(key)], setting) for key, each in tree.items()}
    if isinstance(tree, list | tuple):
        return [_writable(each, [*keys, str(k)], setting) for k, each in enumerate(tree)]
    if isinstance(tree, numpy_arrays()):
        return _writable(tree.tolist(), keys, setting)
    if isinstance(tree, float) and not isfinite(tree):
        return str(tree)
    if tree is not None and not isinstance(tree, str | int | float):
        shown = f"{short(tree)}: expected a number, text, a boolean, a list or a mapping"
        raise _no_value(keys, setting, shown)
    return tree


def _no_value(keys: Sequence[str], setting: str, message: str) -> ScenarioError:
    path = ".".join(keys)
    source = setting or DICTIONARY
    return ScenarioError([Problem(source, None, path, message, None, path if setting else None)])


def looks_like_json(content: bytes) -> bool:
    """Return whether a text is JSON: it begins with ``{`` or ``[{``, or it can be parsed as
    JSON.
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
    """Return the bytes of a scenario, and its name in messages."""
    if isinstance(source, Mapping):
        return as_json(source).encode(), DICTIONARY
    if isinstance(source, str):
        if "\n" in source or source.lstrip().startswith("{"):
            return source.encode(), "<text>"
        if source == "-":
            return in_utf8(sys.stdin.buffer.read(MAX_BYTES)), "<stdin>"
        if not source.strip():
            raise ScenarioError([Problem(f'"{source}"', None, "", "the name is empty", None)])
    other: object = source
    if not isinstance(other, str | PathLike):
        message = "is no scenario; expected a file name, text, a mapping or a Scenario"
        raise ScenarioError([Problem(short(other), None, "", message, None)])
    path = Path(source)
    if not str(path).strip():
        raise ScenarioError([Problem(f'"{path}"', None, "", "the name is empty", None)])
    try:
        with opened(path, or_input=True) as file:
            return in_utf8(file.read(MAX_BYTES)), str(path)
    except UnreadableError as error:
        problem = Problem(error.path, None, "", error.what, error.hint)
    except OSError as error:
        problem = Problem(str(path), None, "", f"cannot be read: {error.strerror}", None)
    raise ScenarioError([problem])


FILE_KEY = "trace_file"
"""Key whose value is the name of another file."""


def named_files(
    content: bytes, kind: str, source: str, settings: list[Setting], known: Sequence[File] = ()
) -> list[File]:
    """Return the files that a scenario names. Files in `known` are not read again."""
    folder = Path() if source.startswith("<") else Path(source).parent
    present = {file[0]: file for file in known}
    names = _core.files_named(content, kind, settings)
    return [present.get(name) or _named(name, folder / name) for name in names]


def _named(name: str, path: Path) -> File:
    if os.environ.get(FILES_SHUT):
        return name, None, "a scenario of a page has no files"
    try:
        with path.open("rb") as file:
            return name, file.read(MAX_BYTES + 1), ""
    except FileNotFoundError:
        return name, None, "no such file"
    except OSError as error:
        return name, None, error.strerror or str(error)
    except ValueError as error:
        return name, None, str(error)
