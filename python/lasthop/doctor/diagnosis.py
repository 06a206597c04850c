"""Diagnosis of a machine: which verbs run, and why others do not."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from lasthop.doctor.limits import Limit
from lasthop.doctor.machine import Machine, Refusal
from lasthop.doctor.privacy import Replacements, public, replacements
from lasthop.doctor.probe import examine
from lasthop.doctor.states import NO, PARTLY, RUNS, Extra, VerbState
from lasthop.doctor.text import WIDTH, text
from lasthop.doctor.verbs import GROUPS, VERBS
from lasthop.errors import UserError, nearest
from lasthop.extras import PACKAGES, install

__all__ = ["Diagnosis", "doctor", "verbs_named"]


@dataclass(frozen=True)
class Diagnosis:
    """Facts about a machine, and the state of each verb. `print` shows them as a table."""

    machine: Machine
    extras: tuple[Extra, ...]
    verbs: tuple[VerbState, ...]

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
        return text(self.machine, self.extras, self.verbs, width, has_facts=has_facts)

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as values of JSON."""
        machine = self.machine
        linux = None if machine.linux is None else asdict(machine.linux)
        if linux is not None:
            for name in ("network_namespaces", "tun", "congestion_loading", "kernel_build"):
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
            "verbs": [
                {
                    "verb": each.verb,
                    "group": each.group,
                    "state": each.state,
                    "limits": [limit._asdict() for limit in each.limits],
                }
                for each in self.verbs
            ],
        }

    def to_json(self) -> str:
        """Return the diagnosis as one JSON document."""
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def failed(self, verbs: list[str]) -> list[str]:
        """Return those of these verbs that do not run."""
        states = {each.verb: each.state for each in self.verbs}
        return [verb for verb in verbs if states[verb] == NO]


def refusal_json(value: Any) -> Mapping[str, str | None] | None:
    """Return a refusal as values of JSON; None for None."""
    return None if value is None else dict(zip(("reason", "remedy"), value, strict=True))


def doctor(*verbs: str, machine: Machine | None = None) -> Diagnosis:
    """Say which verbs run on this machine, and what helps where they do not.

    The function changes nothing on the machine, needs no root, and returns no private data.

    Parameters
    ----------
    verbs : str
        Verbs and groups to report, such as ``"emulate"``; by default all verbs.
    machine : Machine, optional
        Facts about a machine; by default this machine is examined.

    Returns
    -------
    Diagnosis
        Facts about the machine, its `extras`, and the state of each of the `verbs` with its
        limits. `print` shows it as a table.

    Raises
    ------
    UserError
        If a verb does not exist.

    Examples
    --------
    >>> import lasthop as lh
    >>> [each.state for each in lh.doctor("check", "schema").verbs]
    ['runs', 'runs']
    """
    chosen = verbs_named(verbs) or list(VERBS)
    return diagnosis(examine() if machine is None else machine, chosen, replacements())


def diagnosis(machine: Machine, verbs: list[str], private: Replacements) -> Diagnosis:
    """Return the diagnosis of a machine, without private texts."""
    groups = {name: group for group, names in GROUPS.items() for name in names}
    states = []
    for name in verbs:
        verb = VERBS[name]
        limits = verb.limits(machine)
        state = (PARTLY if limits else RUNS) if verb.runs(limits) else NO
        limits = [without_private(each, private) for each in limits]
        states.append(VerbState(name, groups[name], state, tuple(limits)))
    return Diagnosis(machine_without_private(machine, private), extras(machine), tuple(states))


def without_private(limit: Limit, private: Replacements) -> Limit:
    """Return a limit without private texts."""
    remedy = None if limit.remedy is None else public(limit.remedy, private)
    return limit._replace(reason=public(limit.reason, private), remedy=remedy)


def machine_without_private(machine: Machine, private: Replacements) -> Machine:
    """Return the facts about a machine without private texts."""

    def hidden(value: Any) -> Any:
        if isinstance(value, Refusal):
            remedy = None if value.remedy is None else public(value.remedy, private)
            return Refusal(public(value.reason, private), remedy)
        return public(value, private) if isinstance(value, str) else value

    linux = machine.linux
    if linux is not None:
        linux = replace(linux, **{name: hidden(value) for name, value in vars(linux).items()})
    facts = {name: hidden(value) for name, value in vars(machine).items()}
    return replace(machine, **{**facts, "linux": linux})


def extras(machine: Machine) -> tuple[Extra, ...]:
    """Return the optional packages of a machine by extra."""
    results = []
    for name, packages in PACKAGES.items():
        absent = [each for each in packages if each in machine.missing_packages]
        written = tuple(each.replace("_", "-") for each in absent)
        results.append(Extra(name, written, install(name) if absent else None))
    return tuple(results)


def verbs_named(words: tuple[str, ...] | list[str]) -> list[str]:
    """Return the verbs that words name: a verb such as ``emulate``, a group such as ``gateway``, or
    a group and its verb, as one word or two.

    Raises
    ------
    UserError
        If a word names no verb.
    """
    results: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if rest and f"{word} {rest[0]}" in VERBS:
            word = f"{word} {rest.pop(0)}"
        inside = [name for name in VERBS if name == word or name.startswith(f"{word} ")]
        if not inside:
            known = dict.fromkeys([*VERBS, *(name.partition(" ")[0] for name in VERBS)])
            raise UserError(
                f'VERB: "{word}": no such verb: expected {", ".join(nearest(word, known))}',
                "run `lasthop --help` for all verbs",
            )
        results += inside
    return list(dict.fromkeys(results))
