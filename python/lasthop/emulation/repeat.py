"""Several runs of an emulation as one answer: means with their intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from lasthop.emulation.emulate import Emulation
from lasthop.estimates import Estimate

Item = dict[str, Any]
Key = tuple[str, str, int]


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
    left_out: set[Key] = set()
    for name, items in first.summary.items():
        if isinstance(items, list):
            lists = [keyed(each.get(name, [])) for each in summaries]
            shared = common(lists)
            summary[name] = [of_items([each[key] for each in lists]) for key in shared]
            left_out |= {key for each in lists for key in each} - set(shared)
    answer = Emulation(summary, first.scenario)
    answer.intervals = True
    answer.left_out = len(left_out)
    answer.with_excess = {name: None for run in runs for name in run.with_excess}
    codes = [run.exit_code for run in runs if run.exit_code is not None]
    answer.exit_code = next((code for code in codes if code != 0), 0) if codes else None
    return answer


def keyed(items: Iterable[Item]) -> dict[Key, Item]:
    """Items by what makes them the same in several runs: the name, and of a program's connections
    what they are and the how-manieth.
    """
    found: dict[Key, Item] = {}
    count: Counter[tuple[str, str]] = Counter()
    for item in items:
        if "traffic" in item:
            what = item["name"].rpartition("/")[0], item["traffic"]
            count[what] += 1
            found[*what, count[what]] = item
        else:
            found[item["name"], "", 0] = item
    return found


def common(lists: Sequence[Mapping[Key, Item]]) -> list[Key]:
    """What all runs have, in the order of the first."""
    return [key for key in lists[0] if all(key in each for each in lists)]


def of_items(same: Sequence[Item]) -> Item:
    """An item with its estimates over all runs; ports of clients are those of one run, and go."""
    return {
        key: Estimate.of([one[key]["mean"] for one in same]).to_dict()
        if is_estimate(value)
        else value
        for key, value in same[0].items()
        if key != "connection" and (not is_estimate(value) or all(key in one for one in same))
    }


def is_estimate(value: object) -> bool:
    """Whether a value of an item is measured."""
    return isinstance(value, Mapping)
