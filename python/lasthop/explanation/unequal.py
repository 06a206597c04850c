"""Whether the shares of a run are so unequal that the objective ``fairness`` is proposed."""

from lasthop.answers.estimates import Estimate
from lasthop.errors import UserError
from lasthop.explanation.objective import Objective
from lasthop.explanation.objectives import default_objective, objective_for
from lasthop.simulation.result import Result

__all__ = ["is_unequal", "unequal_shares"]

UNEQUAL = 0.8
"""Jain's index below which goodputs are called unequal. [-]"""


def unequal_shares(result: Result) -> Objective | None:
    """Return the objective ``fairness`` if the whole interval of Jain's index is below `UNEQUAL`;
    else None.
    """
    try:
        objective = objective_for(result.scenario, "fairness")
    except UserError:
        return None
    index = Estimate.of([value for value in objective.values(result) if value is not None])
    return objective if index.mean + (index.ci95 or 0.0) < UNEQUAL else None


def is_unequal(result: Result) -> bool:
    """Return whether `lasthop explain` proposes the objective ``fairness`` for this result."""
    is_fair = unequal_shares(result) is None
    return not is_fair and default_objective(result.scenario) == "throughput"
