"""Several runs of an emulation as one answer: means with their intervals."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from lasthop.emulation.emulate import Emulation
from lasthop.estimates import Estimate

Item = dict[str, Any]


def together(runs: Sequence[Emulation]) -> Emulation:
    """One answer of several runs of a scenario with other seeds; the exit code is the first that is
    not 0. What some run does not have has no estimate.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    summaries = [run.summary for run in runs]
    lengths_s = [float(summary["duration_s"]) for summary in summaries]
    summary = dict(first.summary) | {"replications": len(runs), "duration_s": fmean(lengths_s)}
    for name, items in first.summary.items():
        if isinstance(items, list):
            summary[name] = [
                item
                for item in (
                    of_item(one, [each.get(name, []) for each in summaries]) for one in items
                )
                if item is not None
            ]
    answer = Emulation(summary, first.scenario)
    answer.intervals = True
    codes = [run.exit_code for run in runs if run.exit_code is not None]
    answer.exit_code = next((code for code in codes if code != 0), 0) if codes else None
    return answer


def of_item(item: Item, lists: Iterable[Sequence[Item]]) -> Item | None:
    """An item with its estimates over all runs; None if some run has no item of this name."""
    named = [{one["name"]: one for one in items}.get(item["name"]) for items in lists]
    same = [one for one in named if one is not None]
    if len(same) < len(named):
        return None
    return {
        key: Estimate.of([one[key]["mean"] for one in same]).to_dict()
        if is_estimate(value)
        else value
        for key, value in item.items()
        if not is_estimate(value) or all(key in one for one in same)
    }


def is_estimate(value: object) -> bool:
    """Whether a value of an item is measured."""
    return isinstance(value, Mapping)
