"""Facts about a finished run and its possible causes, computed by the Rust engine."""

import json
from collections.abc import Mapping
from typing import Any

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.scenario.scenario import Scenario

__all__ = ["Cause", "Facts", "Limit", "Remedy", "Rule", "facts", "read_facts", "rules"]


class Part(Table):
    """Part of a flow's mean delay that arises in one queue."""

    queue: str
    share: float
    """Fraction of the flow's mean delay. [-]"""


class Delay(Table):
    """Mean delay of a flow's packets, split by queue."""

    flow: str
    total_s: float
    parts: tuple[Part, ...]
    """Parts of the delay by queue, in decreasing order."""


class Limit(Table):
    """A resource or window that limits the goodput of some flows."""

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
    """A change that may help against a possible cause."""

    label: str
    place: str
    is_setting: bool
    settings: tuple[tuple[str, ...], ...]


class Cause(Table):
    """A possible cause, with the edit that removes the cause."""

    id: str
    title: str
    subject: str
    sentence: str
    edits: tuple[tuple[str, ...], ...]
    remedies: tuple[Remedy, ...] = ()


class Facts(Table):
    """Facts about a run: where packets wait, what limits each flow, and the possible causes."""

    calls: tuple[Any, ...]
    """Verdicts on calls, in the format of `lasthop.answers.calls.call_of`."""
    delays: tuple[Delay, ...]
    limits: tuple[Limit, ...]
    air: AirTime | None
    causes: tuple[Cause, ...]


class Rule(Table):
    """A kind of cause for which `lasthop explain` searches."""

    id: str
    title: str
    applies: str
    edit: str
    objectives: tuple[str, ...]


def facts(scenario: Scenario, answer: Answer) -> dict[str, Any]:
    """Return the facts about a run: where packets wait, what limits each flow, and possible causes.

    The keys of the result are ``calls``, ``delays``, ``limits``, ``air`` and ``causes``.
    """
    # `Scenario.to_json` would keep the text, which is long for a large network.
    explained = _core.explain(scenario.checked.to_json(), answer.to_json())
    tree: dict[str, Any] = json.loads(explained)
    return tree


def read_facts(tree: Mapping[str, Any]) -> Facts:
    """Return the dictionary of `facts` as typed values."""
    return read_as(Facts, tree)


def rules() -> list[Rule]:
    """Return all kinds of causes for which `lasthop explain` searches."""
    return [read_as(Rule, rule) for rule in json.loads(_core.explain_rules())]
