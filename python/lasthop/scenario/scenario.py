"""Scenarios in Python: a read-only view of the scenario that the engine has checked and completed.

The engine defines the grammar of scenario files. It converts a text to a normalised scenario with
all defaults, or reports all errors of the text in one list.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop import _core
from lasthop.arguments import short
from lasthop.errors import Problem, ScenarioError, UserError
from lasthop.references import named
from lasthop.scenario.rows import LongList, View
from lasthop.scenario.source import (
    DICTIONARY,
    SETTING,
    File,
    Setting,
    as_json,
    as_setting,
    contents,
    looks_like_json,
    named_files,
)

if TYPE_CHECKING:
    from lasthop.scenario.typed import Scenario as Typed

__all__ = [
    "SETTING",
    "File",
    "Scenario",
    "ScenarioLike",
    "as_pairs",
    "as_setting",
    "blaming",
    "check",
    "companion",
    "schema",
]

OF_ENGINE = "--set "
"""Text that the engine writes before a setting in the `source` of a problem."""


class Scenario(Mapping[str, Any]):
    """A checked scenario: a read-only mapping with every default filled in.

    The keys are those of the normalised scenario, whose names end with the unit, such as
    ``sc["duration_s"]``. Keys of the file are accepted, too: ``sc["duration"]`` is the same number
    of seconds. A path accesses tables and lists: ``sc["cell.ap.cwmin"]``,
    ``sc["stations.near.rate_bps"]``. A `KeyError` names the most similar keys.

    Scenarios with the same meaning are equal and have the same hash, whatever their files or texts.
    A pickle contains the text, the settings and the named files.

    Parameters
    ----------
    source : str, path or mapping
        File (TOML or JSON); its text, if it has a line break or starts with ``{``; or its tree as a
        mapping, in the grammar of the file.
    settings : mapping or pairs
        Values to replace after parsing, by key path, such as ``{"cell.ap.cwmin": 15}``.

    Raises
    ------
    ScenarioError
        If the scenario has errors; ``problems`` has all of them.
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
        with blaming({}):
            added = tuple((path, as_setting(value, path)) for path, value in as_pairs(settings))
        if isinstance(source, Scenario) and not added:
            self._checked, self._json = source._checked, source._json
            self._read, self._typed = source._read, source._typed
            return
        known: list[File] = []
        if isinstance(source, Scenario):
            content, name, before = source.content, source.source, source.settings
            kind = source.format
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
        """Return the normalised scenario as a read-only tree. The tree is created on first access,
        because a simulation does not need it.
        """
        if self._read is None:
            self._read = View(self.in_pieces())
        return self._read

    def __getstate__(self) -> _core.Scenario:
        return self._checked

    def __setstate__(self, checked: _core.Scenario) -> None:
        self._take(checked)

    def __copy__(self) -> "Scenario":
        return self  # A scenario never changes.

    def __deepcopy__(self, memo: object) -> "Scenario":
        return self

    def __getitem__(self, key: str) -> Any:
        if key in self._view:
            return self._view[key]
        from lasthop.scenario.lookup import value_at

        return value_at(self._view, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._view)

    def __len__(self) -> int:
        return len(self._view)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Scenario) else NotImplemented

    def __repr__(self) -> str:
        return str(named("display.text:scenario_text")(self))

    def _repr_html_(self) -> str:
        return str(named("display.scenarios:scenario_page")(self).html())

    @classmethod
    def of(cls, checked: _core.Scenario) -> "Scenario":
        """Create a `Scenario` from the engine's checked scenario, without a second check."""
        made = cls.__new__(cls)
        made._take(checked)
        return made

    @property
    def checked(self) -> _core.Scenario:
        """The engine's checked scenario, for simulation and emulation."""
        return self._checked

    @property
    def typed(self) -> "Typed":
        """The normalised scenario as typed values, for models, warnings and emulation."""
        if self._typed is None:
            from lasthop.scenario.typed import read

            self._typed = read(self.in_pieces())
        return self._typed

    def in_pieces(self) -> dict[str, Any]:
        """Return the normalised scenario as a tree in which stations, links and flows are a
        `LongList`.
        """
        tree: dict[str, Any] = json.loads(self._checked.head_to_json())
        for name, count in self._checked.long_lists():
            tree[name] = LongList(count, partial(self._checked.rows_to_json, name))
        return tree

    @property
    def source(self) -> str:
        """Path of the scenario's file; a name for messages if there is no file."""
        return self._checked.source

    @property
    def content(self) -> bytes:
        """Text of the scenario in UTF-8, before `settings` replace values."""
        return self._checked.content

    @property
    def format(self) -> str:
        """Format of the text: ``toml`` or ``json``."""
        return self._checked.format

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Values that were replaced after parsing, in order."""
        return tuple(self._checked.settings)

    @property
    def key(self) -> str:
        """Fingerprint of the normalised scenario: equal for scenarios with the same meaning."""
        import hashlib

        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def with_(self, path: str, value: object) -> "Scenario":
        """Return a checked copy of the scenario with one value replaced.

        Parameters
        ----------
        path : str
            Key path in the grammar of the file, such as ``cell.ap.cwmin`` or
            ``station.others.count``.
        value : object
            A number, a boolean, or text with its unit, such as ``"11 Mbps"``.
        """
        return Scenario(self, [(path, value)])

    def with_station(self, name: str, table: Mapping[str, object]) -> "Scenario":
        """Return a checked copy of the scenario with further stations.

        Parameters
        ----------
        name : str
            NAME of the new table ``station.NAME``, which the scenario must not have yet.
        table : mapping
            Contents of the table, in the grammar of the file.
        """
        content = self.content
        if self.format == "toml":
            keys = "".join(f"{key} = {as_setting(value)}\n" for key, value in table.items())
            # No table can be added to an inline table of stations.
            with suppress(ScenarioError):
                return self._of(content + f"\n\n[station.{name}]\n{keys}".encode(), "toml")
            import tomllib

            tree = tomllib.loads(content.decode())
        else:
            tree = json.loads(content.removeprefix(BOM_UTF8))
        stations = {**tree.get("station", {}), name: dict(table)}
        return self._of(as_json({**tree, "station": stations}).encode(), "json")

    def _of(self, content: bytes, kind: str) -> "Scenario":
        """Return a scenario with another text, but with the same settings, source name and named
        files.
        """
        with blaming({}):
            args = (self.source, list(self.settings), self.checked.files)
            return Scenario.of(_core.Scenario(content, kind, *args))

    def to_json(self) -> str:
        """Return the normalised scenario as JSON text."""
        if self._json is None:  # Created on first access: most points of a sweep need no JSON.
            self._json = self._checked.to_json()
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """Return the normalised scenario as a new tree of dictionaries and lists."""
        tree: dict[str, Any] = json.loads(self._json or self._checked.to_json())
        return tree


def as_pairs(
    settings: Mapping[str, object] | Sequence[tuple[str, object]],
) -> list[tuple[str, object]]:
    """Return the argument `settings` as pairs of key path and value.

    Raises
    ------
    UserError
        If it is neither a mapping nor a list of pairs.
    """
    given: Any = settings.items() if isinstance(settings, Mapping) else settings
    pairs = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise UserError(
                f"settings={short(settings)}: expected a mapping of key paths, or pairs",
                'write {"cell.ap.cwmin": 15}',
            )
    return [(path, value) for path, value in pairs]


ScenarioLike: TypeAlias = Scenario | str | PathLike[str] | Mapping[str, Any]


def check(
    scenario: ScenarioLike, *, settings: Mapping[str, object] | Sequence[tuple[str, object]] = ()
) -> Scenario:
    """Check a scenario and return it with every default filled in.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace, such as ``{"cell.ap.cwmin": 15}``.

    Returns
    -------
    Scenario
        Read-only.

    Raises
    ------
    ScenarioError
        If the scenario has errors; ``problems`` has all of them.

    Examples
    --------
    >>> import lasthop as lh
    >>> scenario = lh.check(
    ...     {"duration": "5 s", "cell": {"phy": "802.11b"}, "station": {"reader": {"download": 1}}}
    ... )
    >>> scenario["duration_s"], scenario["cell.ap.cwmin"]
    (5.0, 31)
    """
    if isinstance(scenario, Scenario) and not settings:
        return scenario
    return Scenario(scenario, settings)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files.

    Returns
    -------
    dict
        New dictionary, for editors and other programs that read or write scenarios.

    Examples
    --------
    >>> import lasthop as lh
    >>> lh.schema()["properties"]["seed"]["type"]
    'integer'
    """
    tree: dict[str, Any] = json.loads(_core.schema())
    return tree


@contextmanager
def blaming(names: Mapping[str, str]) -> Iterator[None]:
    """Make errors name settings in the notation of the caller.

    In errors, the name of a setting is ``seed=-1`` in Python and ``--seed -1`` on the command line.
    Without this context, the name is ``settings seed=-1``. The mapping `names` contains the
    caller's name of each setting, by the key path of the setting.
    """
    try:
        yield
    except ScenarioError as error:
        error.problems = [
            problem._replace(
                source=_blamed(problem, names),
                line=None if problem.source == DICTIONARY else problem.line,
                path="" if problem.path == OF_ENGINE.strip() else problem.path,
            )
            for problem in error.problems
        ]
        raise


def _blamed(problem: Problem, names: Mapping[str, str]) -> str:
    if problem.setting is None:
        return problem.source
    if problem.setting in names:
        return names[problem.setting]
    own = problem.source
    return f"{SETTING}{own.removeprefix(OF_ENGINE)}" if own.startswith(OF_ENGINE) else own


def companion(
    check: Callable[[bytes, str, str, list[Setting], list[File]], str],
    source: str | Path,
    settings: Sequence[Setting],
) -> Any:
    """Return a table of a scenario file, such as the table of a gateway, after a function of
    `_core` has checked it.

    Parameters
    ----------
    check : callable
        Function that reads the table: `_core.check_gateway` or `_core.check_interface`.
    source : str or Path
        Path of the file; ``-`` is standard input.
    settings : sequence of (str, str)
        Values to replace after parsing, by key path.

    Raises
    ------
    ScenarioError
        If the scenario has errors; ``problems`` has all of them.
    """
    content, name = contents(source)
    kind = "json" if looks_like_json(content) else "toml"
    files = named_files(content, kind, name, list(settings))
    return json.loads(check(content, kind, name, list(settings), files))
