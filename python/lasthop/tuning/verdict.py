"""Reasons why a search recommends no other setting than the present setting, as text."""

from math import inf

from lasthop.answers.digits import estimate, signed
from lasthop.answers.estimates import Estimate
from lasthop.tuning.measures import means
from lasthop.tuning.search import Search
from lasthop.tuning.shown import SHOWN
from lasthop.tuning.trial import Trial

ABSENT = {
    "jain": "fewer than two stations have a flow whose demand is not met",
    "sojourn_s": "no packet of the category passes the access point's queue",
}
"""Reasons why a simulation may have no value of an objective, by quantity."""


def reason(search: Search) -> str:
    """Return the reason why no other setting is recommended, as a clause."""
    aim = search.objective.aim.quantity
    title = SHOWN[aim].title
    if not search.is_over:
        return "the search ended before a setting was checked"
    if aim not in means(search.present.samples):
        why = f", because {ABSENT[aim]}" if aim in ABSENT else ""
        return f"{title} is absent{why}"
    if not search.trials[1:]:
        return "there was no other setting to try"
    tried = [trial for trial in search.trials[1:] if trial.samples]
    if not tried:
        return "every other setting was not searched or is ruled out"
    if search.checks:
        return _failed(search)
    allowed = [trial for trial in tried if search.objection(trial) is None]
    if not allowed:
        best = min(tried, key=lambda trial: _worse(search, trial))
        return (
            f"all confirmed settings are ruled out; the best of them, {best.name}, because of "
            f"{search.objection(best)}"
        )
    best = min(allowed, key=lambda trial: _worse(search, trial))
    change = _shortfall(search, search.objective.change(best.samples, search.present.samples))
    return f"the best setting that is not ruled out, {best.name}, changes {title} by {change}"


def _failed(search: Search) -> str:
    """Return the results of the checks with fresh seeds, as a clause."""
    last, title = search.checks[-1], SHOWN[search.objective.aim.quantity].title
    if last.objection is None:
        change = _shortfall(search, last.change)
        return f"with fresh seeds {last.trial.name} changes {title} by {change}"
    names = ", ".join(f"{check.trial.name} ({check.objection})" for check in search.checks)
    return f"ruled out with fresh seeds: {names}"


def _worse(search: Search, trial: Trial) -> float:
    """Return the change of the objective relative to the present setting. The sign is chosen such
    that smaller values are better.
    """
    change = search.objective.change(trial.samples, search.present.samples)
    if change is None:
        return inf
    return -change.mean if search.objective.aim.greatest else change.mean


def _shortfall(search: Search, change: Estimate | None) -> str:
    """Return a text about a setting that is not recommended, because its change of the objective is
    too small or too uncertain.
    """
    if change is None:
        return "an unknown amount"
    aim = search.objective.aim
    shown = SHOWN[aim.quantity]
    half = None if change.ci95 is None else change.ci95 * shown.scale
    text = signed(change.mean * shown.scale, half)
    if half:
        text += f" ± {estimate(half, half).partition(' ')[0]}"
    if shown.unit != "-":
        text += f" {shown.unit}"
    gain = change.mean if aim.greatest else -change.mean
    if gain <= 0.0:
        return f"{text}, no improvement"
    if gain <= (change.ci95 or 0.0):
        return f"{text}, no improvement beyond the interval"
    return f"{text}, a negligible difference"
