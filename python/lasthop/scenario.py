"""A scenario as Python sees it: a read-only view of what the engine checked and filled in.

The engine owns the grammar. Text goes in, the normalised scenario comes out with every default
filled, or everything wrong with it is reported at once.
"""

import hashlib
import json
import re
import sys
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop import _core
from lasthop.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from lasthop.models.reading import Scenario as Typed

__all__ = ["Scenario", "ScenarioLike", "blaming", "check", "schema"]

MOST_BYTES = 1 << 24
"""No more of a file is read; the engine refuses far smaller ones. [bytes]"""

DICTIONARY = "<dict>"
"""What stands for the file where the scenario is a mapping."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Keys that TOML takes without quotes."""

Setting: TypeAlias = tuple[str, str]
File: TypeAlias = tuple[str, bytes | None, str]
"""A file that a scenario names: its name there, what is in it, else why it cannot be read."""


class Scenario(Mapping[str, Any]):
    """A checked scenario: a read-only mapping with every default filled in.

    Parameters
    ----------
    source : str, path or mapping
        A file (TOML or JSON); the text itself, if it has a line break or starts with ``{``; or
        the tree as a mapping, in the grammar of the file.
    settings : mapping or pairs
        Values to replace after parsing, by key path: ``{"cell.ap.cwmin": 15}``.

    Raises
    ------
    ScenarioError
        With everything that is wrong in ``problems``.
    """

    __slots__ = ("_checked", "_json", "_read", "_typed")
    _checked: _core.Scenario
    _json: str | None
    _read: Mapping[str, Any] | None
    _typed: "Typed | None"

    def __init__(
        self,
        source: "ScenarioLike",
        settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    ) -> None:
        pairs = settings.items() if isinstance(settings, Mapping) else settings
        added = tuple((path, as_setting(value)) for path, value in pairs)
        if isinstance(source, Scenario) and not added:
            self._checked, self._json = source._checked, source._json
            self._read, self._typed = source._read, source._typed
            return
        known: list[File] = []
        if isinstance(source, Scenario):
            content, name, before = source.content, source.source, source.settings
            known = source.checked.files
        else:
            (content, name), before = contents(source), ()
        kind = "json" if looks_like_json(content) else "toml"
        every = [*before, *added]
        files = named_files(content, kind, name, every, known)
        with blaming({}):
            self._take(_core.Scenario(content, kind, name, every, files))

    def _take(self, checked: _core.Scenario) -> None:
        self._checked = checked
        self._json = None
        self._read = None
        self._typed = None

    @property
    def _view(self) -> Mapping[str, Any]:
        """The tree, made when it is first read: a scenario that is only simulated needs none."""
        if self._read is None:
            self._read = _frozen(json.loads(self.to_json()))
        return self._read

    def __getstate__(self) -> _core.Scenario:
        return self._checked

    def __setstate__(self, checked: _core.Scenario) -> None:
        self._take(checked)

    def __getitem__(self, key: str) -> Any:
        return self._view[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._view)

    def __len__(self) -> int:
        return len(self._view)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Scenario) else NotImplemented

    def __repr__(self) -> str:
        return f"Scenario({self.source!r}: {self['name']!r})"

    @property
    def checked(self) -> _core.Scenario:
        """What the engine made of it, which simulation and emulation take as it is."""
        return self._checked

    @property
    def typed(self) -> "Typed":
        """The same as typed values, which models, cautions and the emulator read."""
        if self._typed is None:
            from lasthop.models.reading import read

            self._typed = read(self._view)
        return self._typed

    @property
    def source(self) -> str:
        """The file it came from, or what stands for it in messages."""
        return self._checked.source

    @property
    def content(self) -> bytes:
        """The text as given, before `settings`, in UTF-8."""
        return self._checked.content

    @property
    def format(self) -> str:
        """``toml`` or ``json``."""
        return self._checked.format

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Values set after parsing, in order."""
        return tuple(self._checked.settings)

    @property
    def key(self) -> str:
        """Fingerprint of what is simulated: equal for scenarios that mean the same."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def with_(self, path: str, value: object) -> "Scenario":
        """Return a checked copy with one value replaced, as ``--set PATH=VALUE`` does.

        Parameters
        ----------
        path : str
            Key path in the grammar of the file: ``cell.ap.cwmin``, ``station.others.count``.
        value : object
            A number, a boolean, or text with its unit: ``"11 Mbps"``.
        """
        return Scenario(self, [(path, value)])

    def with_station(self, name: str, table: Mapping[str, object]) -> "Scenario":
        """Return a checked copy with further stations.

        Parameters
        ----------
        name : str
            Name of their table, which the scenario has not: ``station.NAME``.
        table : mapping
            What stands in it, in the grammar of the file.
        """
        content = self.content
        if self.format == "toml":
            keys = "".join(f"{key} = {as_setting(value)}\n" for key, value in table.items())
            with suppress(ScenarioError):  # where all stations stand in braces, no table can follow
                return self._of(content + f"\n\n[station.{name}]\n{keys}".encode(), "toml")
            tree = tomllib.loads(content.decode())
        else:
            tree = json.loads(content.removeprefix(BOM_UTF8))
        stations = {**tree.get("station", {}), name: dict(table)}
        return self._of(as_json({**tree, "station": stations}).encode(), "json")

    def _of(self, content: bytes, kind: str) -> "Scenario":
        """The scenario of another text with the same settings, source and files."""
        made = Scenario.__new__(Scenario)
        with blaming({}):
            args = (self.source, list(self.settings), self.checked.files)
            made._take(_core.Scenario(content, kind, *args))
        return made

    def to_json(self) -> str:
        """The normalised scenario as JSON text."""
        if self._json is None:  # Most points of a sweep are only simulated.
            self._json = self._checked.to_json()
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The normalised scenario as a fresh tree of dictionaries and lists."""
        tree: dict[str, Any] = json.loads(self.to_json())
        return tree


ScenarioLike: TypeAlias = Scenario | str | PathLike[str] | Mapping[str, Any]


def check(scenario: ScenarioLike) -> Scenario:
    """Check a scenario and return it with every default filled in; `ScenarioError` if refused."""
    return scenario if isinstance(scenario, Scenario) else Scenario(scenario)


def schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    tree: dict[str, Any] = json.loads(_core.schema())
    return tree


@contextmanager
def blaming(names: Mapping[str, str]) -> Iterator[None]:
    """Make problems of settings name what the user wrote: ``--seed -1``, not ``--set seed=-1``.

    `names` are by path of the setting. The dictionary's text has no lines that a user knows.
    """
    try:
        yield
    except ScenarioError as error:
        error.problems = [
            problem._replace(
                source=names.get(problem.setting or "", problem.source),
                line=None if problem.source == DICTIONARY else problem.line,
            )
            for problem in error.problems
        ]
        raise


def as_setting(value: object) -> str:
    """A value as ``--set`` takes it: text as it is, anything else as TOML writes it in a line."""
    return value if isinstance(value, str) else _inline(_writable(value))


def _inline(tree: Any) -> str:
    """A tree in TOML, on one line."""
    if isinstance(tree, Mapping):
        keys = (key if BARE.fullmatch(key) else _inline(key) for key in map(str, tree))
        entries = zip(keys, map(_inline, tree.values()), strict=True)
        return f"{{{', '.join(f'{key} = {value}' for key, value in entries)}}}"
    if isinstance(tree, list):
        return f"[{', '.join(map(_inline, tree))}]"
    return json.dumps(tree, ensure_ascii=False)


def as_json(tree: object) -> str:
    """A tree as JSON, NumPy's numbers too; NaN and infinity as text, to be refused by their key."""
    return json.dumps(_writable(tree))


def numpy_scalars() -> Any:
    """The class of NumPy's numbers; no class where NumPy, a heavy import, was not imported."""
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
    """Whether it begins with a brace, perhaps in a list, as no TOML does, or is JSON as a whole."""
    text = content.removeprefix(BOM_UTF8).lstrip()
    if re.match(rb"(\[\s*)?{", text):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def contents(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[bytes, str]:
    """Content of a scenario and the name it goes by in messages."""
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
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES), str(path)
    except FileNotFoundError:
        problem = Problem(str(path), None, "", "no such file", _nearest_file(path))
    except OSError as error:
        problem = Problem(str(path), None, "", f"cannot be read: {error.strerror}", None)
    except ValueError as error:
        problem = Problem(str(path), None, "", f"not a file name: {error}", None)
    raise ScenarioError([problem])


def named_files(
    content: bytes, kind: str, source: str, settings: list[Setting], known: Sequence[File] = ()
) -> list[File]:
    """The files that a scenario from `source` names, those already `known` as they are."""
    folder = Path() if source.startswith("<") else Path(source).parent
    there = {file[0]: file for file in known}
    names = _core.files_named(content, kind, settings)
    return [there.get(name) or _named(name, folder / name) for name in names]


def companion(
    check: Callable[[bytes, str, str, list[Setting], list[File]], str],
    source: str | Path,
    settings: Sequence[Setting],
) -> Any:
    """The tree that a function of `_core` makes of a table beside a scenario.

    Parameters
    ----------
    check : callable
        Reads such a table: `_core.check_gateway`, `_core.check_interface`.
    source : str or Path
        The file; ``-`` is standard input.
    settings : sequence of (str, str)
        Values to replace after parsing, by key path.

    Raises
    ------
    ScenarioError
        With everything that is wrong in ``problems``.
    """
    content, name = contents(source)
    kind = "json" if looks_like_json(content) else "toml"
    files = named_files(content, kind, name, list(settings))
    return json.loads(check(content, kind, name, list(settings), files))


def _named(name: str, path: Path) -> File:
    try:
        with path.open("rb") as file:
            return name, file.read(MOST_BYTES + 1), ""
    except FileNotFoundError:
        return name, None, "no such file"
    except OSError as error:
        return name, None, error.strerror or str(error)
    except ValueError as error:
        return name, None, str(error)


def _nearest_file(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return None
    near = get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"did you mean {path.parent / near[0]}?" if near else None


def _frozen(tree: Any) -> Any:
    if isinstance(tree, dict):
        return MappingProxyType({key: _frozen(value) for key, value in tree.items()})
    if isinstance(tree, list):
        return tuple(_frozen(value) for value in tree)
    return tree
