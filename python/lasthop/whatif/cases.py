"""Cases of a what-if question: a case is a name and some settings, from a text, a TOML file or a
mapping.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from lasthop.errors import ScenarioError, UserError
from lasthop.scenario.files import UnreadableError, opened
from lasthop.scenario.scenario import Scenario, as_setting, blaming
from lasthop.scenario.values import parts, twice

__all__ = [
    "AS_IT_IS",
    "Case",
    "Cases",
    "all_cases",
    "case_of_text",
    "cases_of",
    "cases_of_file",
    "scenarios_of",
]

AS_IT_IS = "as it is"
"""Name of the unchanged scenario in results."""

LONGEST_NAME = 60
"""Largest number of characters in the name of a case."""

MAX_CASES = 50
"""Largest number of cases of a what-if question."""

MAX_BYTES = 1 << 20
"""Largest size of a file with cases. [bytes]"""

EXAMPLE = 'write --case "fq: wire.queue.fq_codel={}; tcp.congestion=cubic"'

IN_FILE = "[case.fq] with lines such as wire.queue.fq_codel = {}"
"""Example of the format of a file with cases, for messages."""

SHARED = {
    "seed": "--seed",
    "replications": "--replications",
    "duration": "--set duration=TIME",
    "warmup": "--set warmup=TIME",
}
"""Keys whose values must be equal in the scenario and in all cases. The value of each entry is the
command-line option that sets the key.
"""


@dataclass(frozen=True)
class Case:
    """A case: its name, and the settings that change the scenario."""

    name: str
    settings: tuple[tuple[str, str], ...]
    where: str = ""
    """Place where the user has defined the case, such as ``--case "fq"``, for error messages."""

    def has_setting(self, key: str) -> bool:
        """Return whether the case sets this key, or a key within the table of this name."""
        return any(path == key or path.startswith(f"{key}.") for path, _ in self.settings)


Cases: TypeAlias = (
    Mapping[str, Mapping[str, object] | Sequence[tuple[str, object]]] | Sequence[Case]
)
"""Settings by name of the case, such as ``{"fq": {"wire.queue.fq_codel": {}}}``, or a list of
cases.
"""


def case_of_text(text: str) -> Case:
    """Return the case of a text such as ``fq: wire.queue.fq_codel={}; tcp.congestion=cubic``.

    Raises
    ------
    UserError
        If the text has no name, no settings, or a setting without ``=``.
    """
    name, colon, rest = text.partition(":")
    if not colon or "=" in name:
        raise UserError(f'--case "{text}": the name is missing: expected NAME: PATH=VALUE', EXAMPLE)
    where = f'--case "{name.strip()}"'
    settings = []
    for part in filter(None, parts(rest, where, EXAMPLE, separator=";")):
        path, equals, value = part.partition("=")
        if not equals or not path.strip() or not value.strip():
            raise UserError(f'{where}: "{part}" is not a setting: expected PATH=VALUE', EXAMPLE)
        settings.append((path.strip(), value.strip()))
    return checked(Case(name.strip(), tuple(settings), where))


def cases_of(cases: Cases) -> list[Case]:
    """Return the cases in the forms that a Python program may pass.

    Raises
    ------
    UserError
        If a name or the settings of a case are not valid.
    """
    if isinstance(cases, Sequence) and all(isinstance(each, Case) for each in cases):
        return all_cases(cases)
    if not isinstance(cases, Mapping):
        raise UserError(
            f"cases={cases!r}: expected settings by name", '{"fq": {"wire.queue.fq_codel": {}}}'
        )
    results = []
    for name, settings in cases.items():
        pairs = settings.items() if isinstance(settings, Mapping) else settings
        try:
            texts = tuple((str(path), as_setting(value, str(path))) for path, value in pairs)
        except ScenarioError:
            raise
        except (TypeError, ValueError):
            raise UserError(
                f"case {name!r}: {settings!r} has no settings by path",
                '{"fq": {"wire.queue.fq_codel": {}}}',
            ) from None
        results.append(checked(Case(str(name).strip(), texts, f'case "{name}"')))
    return all_cases(results)


def cases_of_file(path: Path) -> list[Case]:
    """Return the cases of a TOML file: one table ``[case.NAME]`` per case, one setting per line.

    A line ``wire.queue = { limit = 20 }`` sets the same value as ``--set wire.queue={limit=20}``.

    Raises
    ------
    UserError
        If the file cannot be read, is not TOML, or contains anything other than cases.
    """
    where = f"--cases {path}"
    try:
        with opened(path, or_input=True) as file:
            text = file.read(MAX_BYTES + 1).decode()
        if len(text) > MAX_BYTES:
            raise UserError(f"{where}: too large: expected at most {MAX_BYTES // 1000} kB")
        tomllib.loads(text)
    except UnreadableError as error:
        raise UserError(f"--cases {error}", error.hint) from None
    except OSError as error:
        raise UserError(f"{where}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{where}: not TOML: it is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where}: not TOML: {error}", f"expected {IN_FILE}") from None
    results: dict[str, list[tuple[str, str]]] = {}
    lines = text.split("\n")
    for number, keys, value in statements(text):
        if keys[0] != "case" or len(keys) < 2 or (len(keys) == 2 and value is not None):
            raise UserError(f"{where}:{number}: {'.'.join(keys)} is not a case: expected {IN_FILE}")
        if value is None and lines[number - 1].lstrip().startswith("[["):
            array = f"[[{'.'.join(keys)}]]"
            raise UserError(f"{where}:{number}: {array} is an array of tables: expected {IN_FILE}")
        settings = results.setdefault(keys[1], [])
        if value is not None:
            settings.append((".".join(keys[2:]), setting_of(value, f"{where}:{number}")))
    if not results:
        raise UserError(f"{where}: no case: expected {IN_FILE}")
    return all_cases(
        [
            checked(Case(name.strip(), tuple(settings), f'{where}: case "{name.strip()}"'))
            for name, settings in results.items()
        ]
    )


def setting_of(value: Any, where: str) -> str:
    """Return a value of TOML as the text of a setting."""
    try:
        return as_setting(value)
    except ScenarioError:  # the value is a date, which JSON does not support
        raise UserError(f"{where}: {value} is not the value of a setting") from None


def statements(text: str) -> Iterator[tuple[int, list[str], Any]]:
    """Yield each statement of a valid TOML text: line number, keys, and value.

    A statement is a table header, or a key with its value. It can extend over several lines, for
    example if the value is an array. The keys include the keys of the table. The value of a table
    header is None. An inline table is one value, and is not split into its keys.
    """
    table: list[str] = []
    held, begins = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        begins = begins if held else number
        held += line + "\n"
        try:
            tree = tomllib.loads(held)
        except tomllib.TOMLDecodeError:
            continue
        if tree and held.lstrip().startswith("["):
            table = chain(tree)
            yield begins, table, None
        elif tree:
            keys = keys_of(held)
            for key in keys:
                tree = tree[key]
            yield begins, [*table, *keys], tree
        held = ""


def keys_of(statement: str) -> list[str]:
    """Return the keys before the equals sign of a TOML statement."""
    for at, sign in enumerate(statement):
        if sign == "=":
            try:
                return chain(tomllib.loads(f"{statement[:at]}= 0"))
            except tomllib.TOMLDecodeError:  # this equals sign is within quotes
                continue
    raise AssertionError("a statement has an equals sign")


def chain(tree: Any) -> list[str]:
    """Return the keys of nested TOML tables with one key per table, from outside to inside."""
    keys = []
    while isinstance(tree, (dict, list)) and tree:
        if isinstance(tree, list):
            tree = tree[0]
            continue
        [(key, tree)] = tree.items()
        keys.append(key)
    return keys


def checked(case: Case) -> Case:
    """Return the case after checks of its name and settings; each key path must be unique."""
    if not case.name:
        raise UserError(f"{case.where}: the name is empty: expected NAME: PATH=VALUE", EXAMPLE)
    if len(case.name) > LONGEST_NAME:
        raise UserError(
            f"{case.where}: a name of {len(case.name)} characters: expected at most {LONGEST_NAME}"
        )
    if not case.name.isprintable():
        raise UserError(f"{case.where!r}: the name has a control character: expected plain text")
    if case.name == AS_IT_IS:
        raise UserError(f"{case.where}: the name of the scenario itself: expected another name")
    if not case.settings:
        raise UserError(f"{case.where}: no settings: expected PATH=VALUE", EXAMPLE)
    if (path := twice([path for path, _ in case.settings])) is not None:
        raise UserError(f"{case.where}: {path} is given twice: expected one value")
    for path, option in SHARED.items():
        if path in dict(case.settings):
            raise UserError(
                f"{case.where}: {path} must be the same in all cases: expected {option} for all"
            )
    return case


def all_cases(cases: Sequence[Case]) -> list[Case]:
    """Return the cases after checks: there is at least one case, and all names are unique."""
    if not cases:
        raise UserError("no case to compare: expected --case or --cases", EXAMPLE)
    if len(cases) > MAX_CASES:
        raise UserError(f"{len(cases)} cases: expected at most {MAX_CASES}")
    if (name := twice([case.name for case in cases])) is not None:
        raise UserError(f'case "{name}": given twice: expected different names')
    return list(cases)


def scenarios_of(base: Scenario, cases: Sequence[Case]) -> dict[str, Scenario]:
    """Return the scenario of each case by name.

    Raises
    ------
    ScenarioError
        If the scenario with the settings of a case is invalid; the error names the case and the
        setting.
    """
    results = {}
    for case in cases:
        names = {path: f"{case.where}: {path}={value}" for path, value in case.settings}
        with blaming(names):
            results[case.name] = Scenario(base, case.settings)
    return results
