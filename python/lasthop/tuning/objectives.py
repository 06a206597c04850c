"""Aims of a search, and the order of settings with ties."""

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
    """A quantity to make great or small.

    Attributes
    ----------
    quantity : str
        Its name in `lasthop.tuning.measures.Samples`.
    greatest : bool
        Whether more is better.
    tolerance : float
        Difference that does not justify a change, in addition to `TOLERANCE`. [the quantity's]
    search_tolerance : float
        Difference within which a search, whose values are rough, does not rank. [the quantity's]
    """

    quantity: str
    greatest: bool
    tolerance: float = 0.0
    search_tolerance: float = 0.0

    def worth(self, value: float) -> float:
        """Return a value of which more is better, in the unit of the tolerances."""
        return value if self.greatest else -value

    def cautious(self, estimate: Estimate) -> float:
        """Return the worth of an estimate at the unfavourable end of its interval."""
        half = estimate.ci95 or 0.0
        return self.worth(estimate.mean - half if self.greatest else estimate.mean + half)


class Evenness(Criterion):
    """Jain's index, by the spread of the shares.

    If the standard deviation of shares is the part c of their mean, Jain's index is 1 / (1 + c²):
    0.995 means that stations differ by 7 %, 0.99998 by 0.5 %. Half a per cent of the index would
    hide that.
    """

    def worth(self, value: float) -> float:
        """Return the spread c with a minus sign. [-]"""
        return value if math.isnan(value) else -spread(value)


def spread(jain: float) -> float:
    """Return the standard deviation of shares as a fraction of their mean, from their Jain's index.
    [-]
    """
    return math.sqrt(1.0 / min(max(jain, 1e-12), 1.0) - 1.0)


TOLERANCE = 0.005
"""Relative difference that nobody would change a setting for. [-]"""

HELD_BACK_S = 5e-3
"""Time by which a higher category may wait longer in its slowest queue: a thirtieth of the 150 ms
that ITU-T G.114 allows a call from mouth to ear. [s]"""


@dataclass(frozen=True)
class Objective:
    """An aim with its tie-breaks.

    Attributes
    ----------
    name : str
        Value of ``--for``.
    criteria : tuple of Criterion
        The aim, then what decides between settings that serve it equally well.
    higher : tuple of str
        Categories above the tuned one that have flows.
    redistributes : bool
        Whether single flows and stations may lose, because the aim is to share differently.
    """

    name: str
    criteria: tuple[Criterion, ...]
    higher: tuple[str, ...] = ()
    redistributes: bool = False

    @property
    def aim(self) -> Criterion:
        """Criterion of the aim."""
        return self.criteria[0]

    def objection(self, values: Values, present: Values, give_up: float) -> str | None:
        """Return the cost that forbids a setting; None if there is none.

        Neither goodput nor fairness may fall by more than the part `give_up`, unless it is the aim.
        No further flow may be left with nothing: indices of shares hardly show a starved flow with
        a small demand. No category above the tuned one may wait longer by more than `HELD_BACK_S`.
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
        """Return the mean of the paired differences of the aim, ours less now; None without any."""
        return paired(ours, now, self.aim.quantity)

    def seems_better(self, ours: Samples, now: Samples) -> bool:
        """Return whether a setting serves the aim better than the present one, on average.

        Settings within `TOLERANCE` or the tolerance of the aim count as equal, and so do settings
        whose paired differences may be chance; see `lasthop.tuning.measures.is_beyond`.
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
        """Return whether a setting is better by more than the interval of the differences."""
        change = self.change(ours, now)
        if change is None or change.ci95 is None:
            return False
        return self.seems_better(ours, now) and abs(change.mean) > change.ci95

    def ranked(self, values: Mapping[T, Values]) -> list[T]:
        """Return settings by their searched values, the best first; those without value are left
        out.
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

        Each counts at the unfavourable end of its interval. After each criterion those stay that
        are within `TOLERANCE` of the best. After the aim, those stay too whose paired differences
        from the best may be chance; they win if a later criterion decides for them. The first of
        those left at the end is chosen.
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
        """Return whether a setting serves the aim worse than the best, beyond chance."""
        sign = 1.0 if self.aim.greatest else -1.0
        losses = [sign * each for each in differences(best, ours, self.aim.quantity)]
        return not losses or is_beyond(losses, 0.0)


def _cautious(values: Mapping[T, Samples], criterion: Criterion) -> dict[T, float]:
    """What settings are worth at the unfavourable ends of their intervals; only those known."""
    return {
        each: criterion.cautious(result)
        for each, samples in values.items()
        if (result := estimated(samples).get(criterion.quantity)) is not None
    }


def _closest(gains: Mapping[T, float], criterion: Criterion) -> list[T]:
    """Return settings within `TOLERANCE`, or the tolerance of the criterion, of the best."""
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

None aims at the connections' round-trip time: its samples are shortest where connections starve or
wait for timeouts. It is reported.
"""


def objective_for(name: str, scenario: Scenario, category: str = BEST_EFFORT) -> Objective:
    """Return an objective by name, for a scenario whose `category` is tuned.

    Where a station sends and receives, fairness counts its two directions as two shares. Where
    higher categories have flows, their delay decides next after the aim.
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
    """Return the criterion that packets of a category wait as little as possible where they wait
    longest.
    """
    return replace(SOJOURN, quantity=delay_quantity(category))
