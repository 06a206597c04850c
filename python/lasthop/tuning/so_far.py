"""Progress reports of a search: the best value of the objective so far."""

from math import inf

from lasthop.answers.digits import plain
from lasthop.tuning.measures import Values
from lasthop.tuning.objectives import Criterion
from lasthop.tuning.shown import SHOWN


class SoFar:
    """Best value of the objective so far in a stage of the search. Each stage begins with the value
    of the present setting in this stage, so that predictions are not compared with simulations.

    Parameters
    ----------
    aim : Criterion
        Criterion of the objective.

    Attributes
    ----------
    text : str
        Best value with its unit; empty before the first value.
    """

    def __init__(self, aim: Criterion) -> None:
        self.text = ""
        self._aim = aim
        self._worth = -inf

    def begin(self, present: Values) -> None:
        """Begin a stage with the values of the present setting in this stage."""
        self._worth = -inf
        self.note(present)

    def note(self, values: Values) -> None:
        """Update the best value with the values of a setting."""
        value = values.get(self._aim.quantity)
        if value is None or not self._aim.worth(value) > self._worth:
            return
        shown = SHOWN[self._aim.quantity]
        unit = "" if shown.unit == "-" else f" {shown.unit}"
        self._worth, self.text = self._aim.worth(value), f"{plain(value * shown.scale)}{unit}"
