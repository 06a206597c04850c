"""Run an emulation with several seeds, and combine the runs into means with confidence
intervals."""

import os
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

from lasthop.answers.estimates import Estimate
from lasthop.emulated.emulation import Emulation
from lasthop.emulation.emulate import emulate
from lasthop.emulation.request import Progress
from lasthop.scenario.scenario import Scenario

Item = dict[str, Any]
Key = tuple[str, str, int]

BY_CTRL_C = 130
"""Exit code of a program that SIGINT ended. After a run with this exit code, no further run
starts."""


def replicate(
    scenario: Scenario,
    count: int,
    progress: Progress | None = None,
    *,
    pcapng: Path | None = None,
    virtual: bool = False,
    **options: Any,
) -> Emulation:
    """Emulate a scenario several times, each time with the next seed.

    Runs in real time are sequential. Runs in simulated time use all processors. If programs run,
    runs are sequential, since the programs of all runs write to the same folder.

    Parameters
    ----------
    scenario : Scenario
    count : int
        Number of runs.
    progress : callable, optional
        Function that is called with two times: the sum of the emulated times of all runs so far,
        and the sum of the durations of all runs. [s]
    pcapng : path, optional
        File for the captured frames of the first run.
    virtual : bool
        Whether the runs are in simulated time.
    options
        Further arguments of `emulate`.

    Raises
    ------
    ScenarioError, UserError, KeyboardInterrupt
        If `emulate` raises the error in a run. The other runs are stopped.
    """
    duration_s = scenario.typed.duration_s
    passed_s = [0.0] * count
    is_stopped = threading.Event()

    def run(number: int) -> Emulation:
        def report(now_s: float, _duration_s: float) -> None:
            if is_stopped.is_set():
                raise KeyboardInterrupt
            passed_s[number] = now_s
            if progress is not None:
                progress(sum(passed_s), count * duration_s)

        return emulate(
            scenario,
            settings={"seed": scenario["seed"] + number},
            progress=report,
            pcapng=pcapng if number == 0 else None,
            virtual=virtual,
            **options,
        )

    runs_programs = options.get("foreground") or options.get("others") or scenario.typed.programs
    if virtual and count > 1 and not runs_programs:
        with ThreadPoolExecutor(min(count, len(os.sched_getaffinity(0)))) as pool:
            futures = [pool.submit(run, number) for number in range(count)]
            try:
                return together([future.result() for future in futures])
            except BaseException:
                is_stopped.set()
                for future in futures:
                    future.cancel()
                raise
    runs: list[Emulation] = []
    while len(runs) < count and (not runs or runs[-1].exit_code != BY_CTRL_C):
        runs.append(run(len(runs)))
    return together(runs)


def together(runs: Sequence[Emulation]) -> Emulation:
    """Combine runs of a scenario with different seeds into one answer.

    The exit code is the first exit code that is not 0. Items and quantities that are missing in any
    run are left out.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    summaries = [run.contents for run in runs]
    lengths_s = [float(summary["duration_s"]) for summary in summaries]
    summary = dict(first.contents) | {"replications": len(runs), "duration_s": fmean(lengths_s)}
    if "repeatable" in summary:
        summary["repeatable"] = all(each["repeatable"] for each in summaries)
    left_out: set[Key] = set()
    for name, items in first.contents.items():
        if isinstance(items, list):
            lists = [keyed(each.get(name, [])) for each in summaries]
            shared = common(lists)
            summary[name] = [of_items([each[key] for each in lists]) for key in shared]
            left_out |= {key for each in lists for key in each} - set(shared)
    answer = Emulation(summary, first.scenario)
    answer.intervals = True
    answer.left_out = len(left_out)
    answer.followed, answer.refused_congestion = first.followed, first.refused_congestion
    answer.short_window_packets = first.short_window_packets
    answer.captured, answer.is_cut = first.captured, any(run.is_cut for run in runs)
    answer.not_saved = tuple(each for run in runs for each in run.not_saved)
    failed = (each for run in runs for each in run.failed_programs)
    answer.failed_programs = tuple(dict.fromkeys(failed))
    answer.with_excess = {name: None for run in runs for name in run.with_excess}
    codes = [run.exit_code for run in runs if run.exit_code is not None]
    answer.exit_code = next((code for code in codes if code != 0), 0) if codes else None
    return answer


def keyed(items: Iterable[Item]) -> dict[Key, Item]:
    """Return the items of a list by keys. An item has the same key in all runs.

    The key of a program's connection consists of the host, the kind of traffic, and a number that
    counts the connections of this kind. The key of any other item contains its name.
    """
    results: dict[Key, Item] = {}
    count: Counter[tuple[str, str]] = Counter()
    for item in items:
        if "traffic" in item:
            kind = item["name"].rpartition("/")[0], item["traffic"]
            count[kind] += 1
            results[*kind, count[kind]] = item
        else:
            results[item["name"], "", 0] = item
    return results


def common(lists: Sequence[Mapping[Key, Item]]) -> list[Key]:
    """Return the keys of the items that all runs have, in the order of the first run."""
    return [key for key in lists[0] if all(key in each for each in lists)]


def of_items(items: Sequence[Item]) -> Item:
    """Combine items into one item with estimates. `items` contains the same item of each run.

    The field ``connection`` is left out, since the client port differs between runs.
    """
    return {
        key: Estimate.of([item[key]["mean"] for item in items]).to_dict()
        if is_estimate(value)
        else value
        for key, value in items[0].items()
        if key != "connection" and (not is_estimate(value) or all(key in item for item in items))
    }


def is_estimate(value: object) -> bool:
    """Return whether a value of an item is an estimate with a mean."""
    return isinstance(value, Mapping)
