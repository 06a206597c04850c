"""Objectives of a search, which rank settings of access parameters and break ties."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lasthop.answers.estimates import Estimate
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT
from lasthop.tuning.categories import categories_above, delay_quantity
from lasthop.tuning.measures import (
    Samples,
    Values,
    differences,
    estimated,
    is_beyond,
    means,
    paired,
    sharing,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Criterion:
    """A quantity that an objective maximises or minimises.

    Attributes
    ----------
    quantity : str
        Name of the quantity in `lasthop.tuning.measures.Samples`.
    greatest : bool
        Whether larger values of the quantity are better.
    tolerance : float
        Difference up to which two settings are equally good, in addition to the relative difference
        `TOLERANCE`. [unit of the quantity]
    search_tolerance : float
        Difference up to which two settings have equal rank by predictions or short simulations,
        whose values are rough. [unit of the quantity]
    """

    quantity: str
    greatest: bool
    tolerance: float = 0.0
    search_tolerance: float = 0.0

    def worth(self, value: float) -> float:
        """Return the worth of a value, which is larger for better settings, in the unit of the
        tolerances.
        """
        return value if self.greatest else -value

    def cautious(self, estimate: Estimate) -> float:
        """Return the worth of an estimate at the unfavourable end of its confidence interval."""
        half = estimate.ci95 or 0.0
        return self.worth(estimate.mean - half if self.greatest else estimate.mean + half)


class Evenness(Criterion):
    """Criterion that maximises Jain's index; settings are compared by the spread of the shares.

    If the standard deviation of the shares is c times their mean, Jain's index is 1 / (1 + c²). An
    index of 0.995 means that stations differ by 7 %, and 0.99998 that they differ by 0.5 %. A
    tolerance of half a per cent of the index would hide the difference between these two cases.
    """

    def worth(self, value: float) -> float:
        """Return the spread of the shares (`spread`) with a negative sign. [-]"""
        return value if math.isnan(value) else -spread(value)


def spread(jain: float) -> float:
    """Return the spread of shares: their standard deviation divided by their mean, computed from
    Jain's index. [-]
    """
    return math.sqrt(1.0 / min(max(jain, 1e-12), 1.0) - 1.0)


TOLERANCE = 0.005
"""Relative difference that is too small to justify a change of settings. [-]"""

HELD_BACK_S = 5e-3
"""Largest increase of the mean waiting time that a setting may cause in a higher category, for the
queue with the longest waiting time. The value is a thirtieth of the 150 ms that ITU-T G.114 permits
for the mouth-to-ear delay of a call. [s]
"""


@dataclass(frozen=True)
class Objective:
    """An objective with its tie-breaks.

    Attributes
    ----------
    name : str
        Value of ``--for``.
    criteria : tuple of Criterion
        Criterion of the objective, followed by the criteria that decide between equally good
        settings.
    higher : tuple of str
        Categories above the tuned category that have flows.
    redistributes : bool
        Whether single flows and stations may get less than with the present setting, because the
        objective is to redistribute goodput.
    """

    name: str
    criteria: tuple[Criterion, ...]
    higher: tuple[str, ...] = ()
    redistributes: bool = False

    @property
    def aim(self) -> Criterion:
        """Criterion of the objective, without the tie-breaks."""
        return self.criteria[0]

    def objection(self, values: Values, present: Values, give_up: float) -> str | None:
        """Return a text about the cost that rules out a setting; None if no cost rules it out.

        Goodput and fairness, unless they are the objective, must not decrease by more than the
        fraction `give_up`. No additional flow may starve; Jain's index hardly shows a starved flow
        with a small demand. The waiting time of categories above the tuned category must not
        increase by more than `HELD_BACK_S`.
        """
        for each in self.criteria[1:]:
            least = (1.0 - give_up) * present.get(each.quantity, 0.0)
            if each.greatest and values.get(each.quantity, least) < least:
                what = "goodput" if each.quantity == "goodput_bps" else "Jain's index"
                return f"more than {100 * give_up:g} % of {what} lost"
        starved = "starved_flows"
        if values.get(starved, 0.0) > present.get(starved, 0.0):
            return "a further flow with nothing, or with less than a tenth of its rate"
        for category in self.higher:
            delay = delay_quantity(category)
            if values.get(delay, 0.0) > present.get(delay, math.inf) + HELD_BACK_S:
                return f"category {category} waiting longer by more than {1e3 * HELD_BACK_S:g} ms"
        return None

    def change(self, ours: Samples, now: Samples) -> Estimate | None:
        """Return the mean paired difference of the objective: `ours` minus the present setting
        `now`; None without common replications.
        """
        return paired(ours, now, self.aim.quantity)

    def seems_better(self, ours: Samples, now: Samples) -> bool:
        """Return whether a setting is better for the objective than the present setting, on
        average.

        Settings are equal if they differ by less than `TOLERANCE` or the tolerance of the
        objective, or if the paired differences may be due to chance; see
        `lasthop.tuning.measures.is_beyond`.
        """
        aim = self.aim
        sign = 1.0 if aim.greatest else -1.0
        gains = [sign * each for each in differences(ours, now, aim.quantity)]
        if not gains:
            return False
        worth, present = (aim.worth(means(each)[aim.quantity]) for each in (ours, now))
        close = max(aim.tolerance, TOLERANCE * abs(worth))
        return worth - present > close and is_beyond(gains, 0.0)

    def is_better(self, ours: Samples, now: Samples) -> bool:
        """Return whether a setting is better for the objective by more than the interval of the
        paired differences.
        """
        change = self.change(ours, now)
        if change is None or change.ci95 is None:
            return False
        return self.seems_better(ours, now) and abs(change.mean) > change.ci95

    def ranked(self, values: Mapping[T, Values]) -> list[T]:
        """Return the settings ranked by predictions or short simulations, best first; settings
        without a value are left out.
        """
        aim, second = self.criteria[:2]
        known = [each for each in values if aim.quantity in values[each]]
        best = max((aim.worth(values[each][aim.quantity]) for each in known), default=0.0)

        def key(each: T) -> tuple[float, float]:
            short = best - aim.worth(values[each][aim.quantity])
            if short <= aim.search_tolerance:
                return 0.0, -second.worth(values[each].get(second.quantity, 0.0))
            return short, 0.0

        return sorted(known, key=key)

    def choice(self, values: Mapping[T, Samples]) -> T:
        """Return the best of the settings that were confirmed by simulation.

        Each setting is rated at the unfavourable end of its confidence interval. The criteria are
        applied one after another, and after each criterion the settings within `TOLERANCE` of the
        best setting remain. After the first criterion, the objective itself, settings also remain
        if their paired differences from the best setting may be due to chance. The first remaining
        setting is the choice.
        """
        gains = _cautious(values, self.aim)
        if not gains:
            return next(iter(values))
        best, close = max(gains, key=lambda each: gains[each]), _closest(gains, self.aim)
        left = [
            each
            for each in gains
            if each in close or not self._is_worse(values[each], values[best])
        ]
        for criterion in self.criteria[1:]:
            later = _cautious({each: values[each] for each in left}, criterion)
            left = _closest(later, criterion) or left
        return next((each for each in left if each in close), left[0])

    def _is_worse(self, ours: Samples, best: Samples) -> bool:
        """Return whether a setting is worse for the objective than the best setting, by a
        difference that is not due to chance.
        """
        sign = 1.0 if self.aim.greatest else -1.0
        losses = [sign * each for each in differences(best, ours, self.aim.quantity)]
        return not losses or is_beyond(losses, 0.0)


def _cautious(values: Mapping[T, Samples], criterion: Criterion) -> dict[T, float]:
    """Return the worth of each setting with a value, at the unfavourable end of its confidence
    interval.
    """
    return {
        each: criterion.cautious(result)
        for each, samples in values.items()
        if (result := estimated(samples).get(criterion.quantity)) is not None
    }


def _closest(gains: Mapping[T, float], criterion: Criterion) -> list[T]:
    """Return the settings that are nearly as good as the best setting: their worth differs from the
    best worth by at most `TOLERANCE` or the tolerance of the criterion.
    """
    best = max(gains.values(), default=0.0)
    close = max(criterion.tolerance, TOLERANCE * abs(best))
    return [each for each, gain in gains.items() if best - gain <= close]


GOODPUT = Criterion("goodput_bps", greatest=True)
SOJOURN = Criterion("sojourn_s", greatest=False, tolerance=1e-3, search_tolerance=1e-3)
CALLS = Criterion("calls", greatest=True, search_tolerance=0.5)
JAIN = Evenness("jain", greatest=True, tolerance=TOLERANCE, search_tolerance=0.02)
DIRECTION_JAIN = replace(JAIN, quantity="direction_jain")

OBJECTIVES = {
    "throughput": Objective("throughput", (GOODPUT, SOJOURN, JAIN)),
    "delay": Objective("delay", (SOJOURN, GOODPUT, JAIN)),
    "fairness": Objective("fairness", (JAIN, GOODPUT, SOJOURN), redistributes=True),
    "calls": Objective("calls", (CALLS, GOODPUT, SOJOURN, JAIN), redistributes=True),
}
"""Objectives by name.

No objective uses the round-trip time of TCP connections, since it is shortest if connections starve
or wait for timeouts. The round-trip time is only reported.
"""


def objective_for(name: str, scenario: Scenario, category: str = BEST_EFFORT) -> Objective:
    """Return an objective by name, for a scenario whose `category` is tuned.

    If a station sends and receives, its two directions are separate shares for fairness. If higher
    categories have flows, their delay is the first tie-break.
    """
    higher = tuple(categories_above(scenario, category))
    usual = OBJECTIVES[name]
    aim, *others = usual.criteria
    criteria = (aim, *(_delay_of(each) for each in higher), *others)
    shares = {(flow.station, flow.direction) for flow in sharing(scenario)}
    if len(shares) > len({station for station, _ in shares}):
        criteria = tuple(DIRECTION_JAIN if each is JAIN else each for each in criteria)
    return replace(usual, criteria=criteria, higher=higher)


def _delay_of(category: str) -> Criterion:
    """Return the criterion that minimises the waiting time of a category's packets in the slowest
    queue.
    """
    return replace(SOJOURN, quantity=delay_quantity(category))
