"""Facts and causes of a finished run, from the compiled crate."""

import json
from typing import Any

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.scenario.scenario import Scenario

__all__ = ["facts", "rules"]


def facts(scenario: Scenario, answer: Answer) -> dict[str, Any]:
    """Return where packets wait, what limits each flow, and the causes that may apply.

    The keys are ``calls``, ``delays``, ``limits``, ``air`` and ``causes``.
    """
    loads: dict[str, Any] = json.loads(_core.explain(scenario.to_json(), answer.to_json()))
    return loads


def rules() -> list[dict[str, Any]]:
    """Return the table of causes: identifier, title, condition, edit and objectives of each."""
    loads: list[dict[str, Any]] = json.loads(_core.explain_rules())
    return loads
