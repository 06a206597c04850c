"""Represent the users of a conflict graph as flows, so that hosts treat users and flows in the same
way."""

import json
from dataclasses import replace

from lasthop.scenario.from_json import read_as
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CsmaScenario, Flow
from lasthop.scenario.typed import Scenario as Typed


def with_users(scenario: Scenario) -> Typed:
    """Return the scenario, with the users of its conflict graph added to its flows."""
    known = scenario.typed
    if not isinstance(known, CsmaScenario):
        return known
    users = json.loads(scenario.checked.users_to_json())
    return replace(known, flows=tuple(read_as(Flow.kind_of(user), user) for user in users))
