"""Diagnosis of a machine: which commands run, and why others do not."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from lasthop.doctor.commands import COMMANDS, GROUPS
from lasthop.doctor.limits import Limit
from lasthop.doctor.machine import Linux, Machine, Refusal
from lasthop.doctor.privacy import Replacement, redact, replacements
from lasthop.doctor.probe import examine
from lasthop.doctor.states import FAILS, PARTLY, RUNS, CommandState, Extra
from lasthop.doctor.text import WIDTH, text
from lasthop.errors import UserError, similar_names
from lasthop.extras import PACKAGES_OF_EXTRA, install_command

__all__ = ["Diagnosis", "commands_named", "doctor"]

NEAR = 0.6
"""Smallest similarity between an unknown word and a proposed command. [-]"""

REFUSALS = {field.name for field in fields(Linux) if field.name.endswith("_refusal")}
"""Facts about Linux that are refusals."""


@dataclass(frozen=True)
class Diagnosis:
    """Facts about a machine, and the state of each command. `print` shows them as a table."""

    machine: Machine
    extras: tuple[Extra, ...]
    commands: tuple[CommandState, ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH, *, has_facts: bool = True) -> str:
        """Return the diagnosis as text.

        Parameters
        ----------
        width : int
            Largest length of a line. [characters]
        has_facts : bool
            Whether the text begins with the facts about the machine.
        """
        return text(self.machine, self.extras, self.commands, width, has_facts=has_facts)

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as values of JSON."""
        machine = self.machine
        linux = None if machine.linux is None else asdict(machine.linux)
        if linux is not None:
            for name in linux.keys() & REFUSALS:
                linux[name] = refusal_json(linux[name])
        return {
            "kind": "doctor",
            "version": machine.version,
            "build": {
                "profile": machine.profile,
                "features": machine.features,
            },
            "python": machine.python,
            "system": {
                "name": machine.system,
                "kernel": machine.kernel,
                "architecture": machine.architecture,
                "cores": machine.cores,
            },
            "extras": [
                {
                    "name": each.name,
                    "complete": not each.missing,
                    "missing": list(each.missing),
                    "remedy": each.remedy,
                }
                for each in self.extras
            ],
            "user_mode_linux": machine.uml_version,
            "linux": linux,
            "commands": [
                {
                    "command": each.command,
                    "group": each.group,
                    "state": each.state,
                    "limits": [limit._asdict() for limit in each.limits],
                }
                for each in self.commands
            ],
        }

    def to_json(self) -> str:
        """Return the diagnosis as one JSON document."""
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def failed(self, commands: list[str]) -> list[str]:
        """Return those of these commands that do not run."""
        states = {each.command: each.state for each in self.commands}
        return [command for command in commands if states[command] == FAILS]


def refusal_json(value: Any) -> Mapping[str, str | None] | None:
    """Return a refusal as values of JSON; None for None."""
    return None if value is None else dict(zip(("reason", "remedy"), value, strict=True))


def doctor(*commands: str, machine: Machine | None = None) -> Diagnosis:
    """Report which commands run on this machine, and the remedies for those that do not.

    The function changes nothing on the machine, needs no root, and returns no private data.

    Parameters
    ----------
    commands : str
        Commands and groups to report, such as ``"emulate"``; by default all commands.
    machine : Machine, optional
        Facts about a machine; by default this machine is examined.

    Returns
    -------
    Diagnosis
        Facts about the machine, its `extras`, and the state of each of the `commands` with its
        limits. `print` shows it as a table.

    Raises
    ------
    UserError
        If a command does not exist.

    Examples
    --------
    >>> import lasthop as lh
    >>> [each.state for each in lh.doctor("check", "schema").commands]
    ['runs', 'runs']
    """
    chosen = commands_named(commands) or list(COMMANDS)
    return diagnosis(examine() if machine is None else machine, chosen, replacements())


def diagnosis(machine: Machine, commands: list[str], private: Sequence[Replacement]) -> Diagnosis:
    """Return the diagnosis of a machine, without private texts."""
    groups = {name: group for group, names in GROUPS.items() for name in names}
    states = []
    for name in commands:
        command = COMMANDS[name]
        limits = command.limits(machine)
        state = (PARTLY if limits else RUNS) if command.runs(limits) else FAILS
        limits = [without_private(each, private) for each in limits]
        states.append(CommandState(name, groups[name], state, tuple(limits)))
    return Diagnosis(machine_without_private(machine, private), extras(machine), tuple(states))


def without_private(limit: Limit, private: Sequence[Replacement]) -> Limit:
    """Return a limit without private texts."""
    remedy = None if limit.remedy is None else redact(limit.remedy, private)
    return limit._replace(reason=redact(limit.reason, private), remedy=remedy)


def machine_without_private(machine: Machine, private: Sequence[Replacement]) -> Machine:
    """Return the facts about a machine without private texts."""

    def hidden(value: Any) -> Any:
        if isinstance(value, Refusal):
            remedy = None if value.remedy is None else redact(value.remedy, private)
            return Refusal(redact(value.reason, private), remedy)
        return redact(value, private) if isinstance(value, str) else value

    linux = machine.linux
    if linux is not None:
        linux = replace(linux, **{name: hidden(value) for name, value in vars(linux).items()})
    facts = {name: hidden(value) for name, value in vars(machine).items()}
    return replace(machine, **{**facts, "linux": linux})


def extras(machine: Machine) -> tuple[Extra, ...]:
    """Return the optional packages of a machine by extra."""
    results = []
    for name, packages in PACKAGES_OF_EXTRA.items():
        absent = [each for each in packages if each in machine.missing_packages]
        written = tuple(each.replace("_", "-") for each in absent)
        results.append(Extra(name, written, install_command(name) if absent else None))
    return tuple(results)


def commands_named(words: tuple[str, ...] | list[str]) -> list[str]:
    """Return the commands that words name: a command such as ``emulate``, a group such as
    ``gateway``, a group and its command, as one word or two, or a heading of the report.

    Raises
    ------
    UserError
        If a word names no command.
    """
    results: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if rest and f"{word} {rest[0]}" in COMMANDS:
            word = f"{word} {rest.pop(0)}"
        heading = next((each for each in GROUPS if each.lower() == word.lower()), "")
        inside = [name for name in COMMANDS if name == word or name.startswith(f"{word} ")]
        inside += GROUPS.get(heading, ())
        if not inside:
            raise unknown_command(word)
        results += inside
    return list(dict.fromkeys(results))


def unknown_command(word: str) -> UserError:
    """Return the error for a word that names no command, with the most similar commands."""
    known = dict.fromkeys([*COMMANDS, *(name.partition(" ")[0] for name in COMMANDS)])
    similar = [name for name in COMMANDS if name.endswith(f" {word}")]
    similar = similar or similar_names(word, known, cutoff=NEAR)
    return UserError(
        f'COMMAND: "{word}": unknown command: expected a command or a group of `lasthop --help`, '
        "or a heading of `lasthop doctor`",
        f"did you mean {' or '.join(similar)}?" if similar else None,
    )
