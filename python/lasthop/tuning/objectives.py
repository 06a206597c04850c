"""What a setting is chosen for, and how ties are broken."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lasthop.tuning.measures import Estimate, Values

__all__ = ["OBJECTIVES", "Criterion", "Objective", "objective_for"]

T = TypeVar("T")


@dataclass(frozen=True)
class Criterion:
    """A quantity to make great or small.

    Attributes
    ----------
    quantity : str
        Its name in `lasthop.tuning.measures.Samples`.
    greatest : bool
        Whether more is better.
    tolerance : float
        Difference that nobody would change a setting for, beside `TOLERANCE`. [the quantity's]
    search_tolerance : float
        Difference within which a search, whose values are rough, does not rank. [the quantity's]
    """

    quantity: str
    greatest: bool
    tolerance: float = 0.0
    search_tolerance: float = 0.0

    def gain(self, difference: float) -> float:
        """A difference as an improvement."""
        return difference if self.greatest else -difference


TOLERANCE = 0.005
"""Relative difference that nobody would change a setting for. [-]"""


@dataclass(frozen=True)
class Objective:
    """An aim with its tie-breaks.

    Attributes
    ----------
    name : str
        As ``--for`` takes it.
    criteria : tuple of Criterion
        The aim, then what decides between settings that serve it equally well.
    """

    name: str
    criteria: tuple[Criterion, ...]

    @property
    def aim(self) -> Criterion:
        """What is to be made best."""
        return self.criteria[0]

    def affordable(self, values: Values, present: Values, give_up: float) -> bool:
        """Whether neither goodput nor fairness, unless aimed at, falls by more than a part, and no
        further flow is left with nothing: indices of shares hardly see one that asks for little.
        """
        starved = "starved_flows"
        if values.get(starved, 0.0) > present.get(starved, 0.0):
            return False
        return all(
            values[one.quantity] >= (1.0 - give_up) * present[one.quantity]
            for one in self.criteria[1:]
            if one.greatest and one.quantity in values and one.quantity in present
        )

    def ranked(self, values: Mapping[T, Values]) -> list[T]:
        """Settings by their searched values, the best first; those without value are left out."""
        aim, second = self.criteria[:2]
        known = [each for each in values if aim.quantity in values[each]]
        best = max((aim.gain(values[each][aim.quantity]) for each in known), default=0.0)

        def key(each: T) -> tuple[float, float]:
            short = best - aim.gain(values[each][aim.quantity])
            if short <= aim.search_tolerance:
                return 0.0, -second.gain(values[each].get(second.quantity, 0.0))
            return short, 0.0

        return sorted(known, key=key)

    def choice(self, values: Mapping[T, Mapping[str, Estimate]]) -> T:
        """The best of the settings confirmed by simulation.

        Each counts at the unfavourable end of its interval. After each criterion those stay that
        are within `TOLERANCE` of the best. The first of those left at the end is chosen.
        """
        left = list(values)
        for criterion in self.criteria:
            gains = {
                each: criterion.gain(found.mean) - (found.ci95 or 0.0)
                for each in left
                if (found := values[each].get(criterion.quantity)) is not None
            }
            if gains:
                best = max(gains.values())
                close = max(criterion.tolerance, TOLERANCE * abs(best))
                left = [each for each in gains if best - gains[each] <= close]
        return left[0]


GOODPUT = Criterion("goodput_bps", greatest=True)
SOJOURN = Criterion("sojourn_s", greatest=False, tolerance=1e-3, search_tolerance=1e-3)
JAIN = Criterion("jain", greatest=True, search_tolerance=0.02)
DIRECTION_JAIN = Criterion("direction_jain", greatest=True, search_tolerance=0.02)

OBJECTIVES = {
    "throughput": Objective("throughput", (GOODPUT, SOJOURN, JAIN)),
    "delay": Objective("delay", (SOJOURN, GOODPUT, JAIN)),
    "fairness": Objective("fairness", (JAIN, GOODPUT, SOJOURN)),
}
"""Objectives by name.

None aims at the connections' round-trip time: its samples are shortest where connections starve or
wait for timeouts. It is reported.
"""


def objective_for(name: str, scenario: Mapping[str, Any]) -> Objective:
    """An objective by name, as it applies to a scenario.

    Where a station sends and receives, fairness counts its two directions as two shares.
    """
    chosen = OBJECTIVES[name]
    shares = {(flow["station"], flow["direction"]) for flow in scenario["flows"]}
    if len(shares) == len({station for station, _ in shares}):
        return chosen
    criteria = tuple(DIRECTION_JAIN if one is JAIN else one for one in chosen.criteria)
    return replace(chosen, criteria=criteria)
