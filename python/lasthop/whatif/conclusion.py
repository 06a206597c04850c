"""Conclusions of a what-if question: the best cases for the calls and for each compared quantity,
by the intervals of paired differences.

A case is advised for a purpose (good calls, or one quantity) if it is better than the unchanged
scenario by more than the interval. Advised cases are the best if each of them is also better than
every case that is not advised for the purpose.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lasthop.answers.calls import BAD, UNCERTAIN
from lasthop.batch.paired import Measure
from lasthop.whatif.differences import Differences, Run

__all__ = ["Advice", "advised", "costs", "undecided"]

FAULTS = {"one_way_delay_p99_s": "delay", "loss_probability": "loss"}
"""Names of the quantities of calls in `Call.faults`."""


@dataclass(frozen=True)
class Advice:
    """Advice: the cases that are advised for the calls, or for one column of the comparison."""

    measure: Measure | None
    """Column of the comparison that improves; None for advice by the verdicts of the calls.
    """
    cases: tuple[str, ...]
    """Names of the advised cases. For a column, these cases do not differ significantly from each
    other. For the calls, they have the same call verdicts.
    """
    is_best: bool
    """Whether each advised case is also better than all cases that are not advised, by more than
    the intervals.
    """


def advised(what_if: Differences) -> Iterator[Advice]:
    """Yield the advice for the calls, then for each column that a case improves.

    If the calls are good in the unchanged scenario, their delay and loss are treated like other
    columns.
    """
    base = what_if.runs[0]
    of_calls, background = what_if.call_measures, what_if.background
    if not base.has_good_calls:
        yield from _for_calls(what_if)
    for measure in what_if.measures:
        if measure in background or (measure in of_calls and not base.has_good_calls):
            continue
        names = tuple(c.case for c in what_if.changes if c.measure == measure and c.is_best)
        if names:
            best = [what_if.run_of(name) for name in names]
            others = [run for run in what_if.runs[1:] if run not in best]
            is_best = all(_is_better(what_if, o, run, (measure,)) for o in others for run in best)
            yield Advice(measure, names, is_best)


def costs(what_if: Differences, names: Sequence[str]) -> dict[Measure, list[str]]:
    """Return the columns in which at least one of the given cases is worse than the unchanged
    scenario, with the names of these cases.

    A worse delay or loss of calls that remain good is left out, and so are the columns that are not
    judged.
    """
    results: dict[Measure, list[str]] = {}
    for change in what_if.changes:
        if change.case not in names or change.difference.verdict != "worse":
            continue
        if change.measure in what_if.background:
            continue
        if change.measure in what_if.call_measures and what_if.run_of(change.case).has_good_calls:
            continue
        results.setdefault(change.measure, []).append(change.case)
    return results


def undecided(what_if: Differences) -> Iterator[tuple[str, Measure | None]]:
    """Yield the cases whose verdict is open, for which more replications may lead to a verdict.
    Each case has the column of the open verdict, or None for calls.

    A verdict is open if the verdict of a call's direction is uncertain, or if a difference exceeds
    its own 95 % interval but not its simultaneous interval.
    """
    for run in what_if.runs:
        if any(call.verdict == UNCERTAIN for call in run.calls):
            yield run.case.name, None
    for change in what_if.changes:
        difference = change.difference
        if change.measure in what_if.background:
            continue
        if difference.verdict == "same" and abs(difference.mean or 0.0) > (difference.ci95 or 0.0):
            yield change.case, change.measure


def _for_calls(what_if: Differences) -> Iterator[Advice]:
    base = what_if.runs[0]
    better = [run for run in what_if.runs[1:] if _improves_calls(what_if, base, run)]
    if not better:
        return
    fewest = min(map(_badness, better))
    best = [run for run in better if _badness(run) == fewest]
    others = [run for run in what_if.runs[1:] if run not in best]
    is_best = all(
        _badness(other) > fewest and _is_better(what_if, other, run, _at_fault(what_if, other))
        for other in others
        for run in best
    )
    yield Advice(None, tuple(run.case.name for run in best), is_best)


def _improves_calls(what_if: Differences, base: Run, run: Run) -> bool:
    """Return whether a case improves calls that are not good in the unchanged scenario.

    At least one quantity that prevents good calls in the unchanged scenario must improve. No
    quantity that prevents good calls in the case may get worse. A longer delay is therefore
    accepted if it is still below the limit for good calls.
    """
    if len(run.calls) != len(base.calls) or _badness(run) > _badness(base):
        return False
    verdicts = {c.measure: c.difference.verdict for c in what_if.changes if c.case == run.case.name}
    return any(verdicts[each] == "better" for each in _at_fault(what_if, base)) and not any(
        verdicts[each] == "worse" for each in _at_fault(what_if, run)
    )


def _badness(run: Run) -> tuple[int, int]:
    """Return the number of bad and the number of uncertain directions of calls."""
    verdicts = [call.verdict for call in run.calls]
    return verdicts.count(BAD), verdicts.count(UNCERTAIN)


def _at_fault(what_if: Differences, run: Run) -> list[Measure]:
    """Return the columns of calls (delay or loss) that prevent a good verdict in at least one
    direction.
    """
    faults = {fault for call in run.calls for fault in call.faults if not call.is_good}
    return [each for each in what_if.call_measures if FAULTS[each.quantity] in faults]


def _is_better(what_if: Differences, other: Run, run: Run, measures: Sequence[Measure]) -> bool:
    """Return whether a run is better than another run in at least one of the given columns."""
    return any(what_if.between(other, run, each).verdict == "better" for each in measures)
