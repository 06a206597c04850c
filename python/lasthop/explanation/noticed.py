"""Whether a user notices what a change brings, and which causes an objective has."""

from statistics import fmean
from typing import TYPE_CHECKING

from lasthop.explanation.facts import Cause, rules
from lasthop.explanation.objective import Objective

if TYPE_CHECKING:
    from lasthop.explanation.search import Gain

__all__ = ["MIN_NOTICED", "causes_for", "is_noticed"]

MIN_NOTICED = 0.05
"""Smallest improvement that a user notices, as a fraction of the value without the change. [-]"""

OWN_CAUSES = ("fairness",)
"""Objectives for which only the causes of their own rules are examined. Other causes also change
Jain's index, since they change the number of losses, but they do not make shares unequal.
"""


def causes_for(objective: Objective, causes: tuple[Cause, ...]) -> list[Cause]:
    """Return the causes that are examined for an objective."""
    if objective.name not in OWN_CAUSES:
        return list(causes)
    own = {rule.id for rule in rules() if objective.name in rule.objectives}
    return [cause for cause in causes if cause.id in own]


def is_noticed(objective: Objective, gain: "Gain") -> bool:
    """Return whether a change improves the number of the objective, or a printed quantity that
    users notice, by `MIN_NOTICED` or more, or whether the objective is met with the change.
    """
    if objective.is_met(gain.result):
        return True
    columns = [(objective.values, objective.direction)]
    columns += [
        (quantity.values, quantity.direction or objective.direction)
        for quantity in objective.quantities
        if quantity.is_noticed
    ]
    for values, direction in columns:
        before, after = fmean(values(gain.base)), fmean(values(gain.result))
        better = direction * (after - before)
        if better > 0.0 and better >= MIN_NOTICED * abs(before):
            return True
    return False
