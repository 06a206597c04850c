"""Facts and causes of a finished run, from the compiled crate."""

import json
from collections.abc import Mapping
from typing import Any

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.scenario.scenario import Scenario

__all__ = ["Cause", "Facts", "Limit", "Remedy", "Rule", "facts", "read_facts", "rules"]


class Part(Table):
    """Part of a flow's delay."""

    queue: str
    share: float
    """Fraction of the delay. [-]"""


class Delay(Table):
    """Mean delay of the packets of a flow."""

    flow: str
    total_s: float
    parts: tuple[Part, ...]
    """Parts of the delay, the largest first."""


class Limit(Table):
    """Resource or window that limits some flows."""

    flows: tuple[str, ...]
    is_of_all: bool = named("all")
    """Whether the limit applies to all TCP flows."""
    by: str
    where: str
    fraction: float
    """Utilisation of the resource, or fraction of lost packets. [-]"""


class AirTime(Table):
    """The station that uses most air time."""

    station: str
    airtime_fraction: float
    goodput_share: float


class Remedy(Table):
    """A change that may help against a cause."""

    label: str
    place: str
    is_setting: bool
    settings: tuple[tuple[str, ...], ...]


class Cause(Table):
    """A cause that may apply, with the edit that removes it."""

    id: str
    title: str
    subject: str
    sentence: str
    edits: tuple[tuple[str, ...], ...]
    remedies: tuple[Remedy, ...] = ()


class Facts(Table):
    """Where packets wait, what limits each flow, and the causes that may apply."""

    calls: tuple[Any, ...]
    """Verdicts on calls, in the format of `lasthop.answers.calls.call_of`."""
    delays: tuple[Delay, ...]
    limits: tuple[Limit, ...]
    air: AirTime | None
    causes: tuple[Cause, ...]


class Rule(Table):
    """A cause that `lasthop explain` looks for."""

    id: str
    title: str
    applies: str
    edit: str
    objectives: tuple[str, ...]


def facts(scenario: Scenario, answer: Answer) -> dict[str, Any]:
    """Return where packets wait, what limits each flow, and the causes that may apply.

    The keys are ``calls``, ``delays``, ``limits``, ``air`` and ``causes``.
    """
    loads: dict[str, Any] = json.loads(_core.explain(scenario.to_json(), answer.to_json()))
    return loads


def read_facts(tree: Mapping[str, Any]) -> Facts:
    """Return facts as typed values."""
    return read_as(Facts, tree)


def rules() -> list[Rule]:
    """Return the table of causes."""
    return [read_as(Rule, rule) for rule in json.loads(_core.explain_rules())]
