"""Values of the cases of a what-if question, and their paired differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lasthop.answers.calls import Call
from lasthop.answers.estimates import Estimate
from lasthop.batch.paired import Difference, Measure, judge
from lasthop.scenario.scenario import Scenario
from lasthop.whatif.cases import Case
from lasthop.whatif.measures import CALL_QUANTITIES, CHUNKS, STALLED

__all__ = ["Change", "Differences", "Run"]


@dataclass(frozen=True)
class Run:
    """Values of one case, or of the unchanged scenario."""

    case: Case
    values: Mapping[str, Sequence[float | None]]
    """Values per replication, by the key of the column (`Measure.key`)."""
    is_random: bool
    """Whether the case is random: at least one value differs between its replications."""
    only_as_it_is: tuple[str, ...] = ()
    """Stations and flows that only the unchanged scenario has."""
    only_here: tuple[str, ...] = ()
    """Stations and flows that only the case has."""
    is_unchanged: bool = False
    """Whether the settings do not change the scenario."""
    never_acts: bool = False
    """Whether the settings change the scenario, but do not change any quantity in any
    replication.
    """
    calls: tuple[Call, ...] = ()
    """Directions of the calls, with their verdicts."""

    @property
    def has_good_calls(self) -> bool:
        """Whether all directions of all calls are good."""
        return all(call.is_good for call in self.calls)


@dataclass(frozen=True)
class Change:
    """Difference between one case and the unchanged scenario, in one column."""

    case: str
    measure: Measure
    difference: Difference
    is_best: bool
    """Whether the case is the best in the column, or does not differ significantly from the best
    case.

    In a column of calls, only cases with good calls can be the best.
    """


class Differences:
    """Values of an unchanged scenario and of its cases, and the differences between them."""

    def __init__(
        self,
        scenario: Scenario,
        measures: Sequence[Measure],
        runs: Sequence[Run],
    ) -> None:
        self.scenario = scenario
        """Unchanged scenario, with the seed and the replications of the what-if question."""
        self.measures = tuple(measures)
        """Columns of the comparison."""
        self.runs = tuple(runs)
        """Values of the unchanged scenario, then of each case."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """Cases in their order, without the unchanged scenario."""
        return tuple(each.case for each in self.runs[1:])

    @property
    def comparisons(self) -> int:
        """Number of differences whose intervals hold simultaneously: number of cases times number
        of columns.
        """
        return (len(self.runs) - 1) * len(self.measures)

    @property
    def call_measures(self) -> tuple[Measure, ...]:
        """Columns that contain only the delay or the loss of calls."""
        flows = {name for each in self.runs for call in each.calls for name in call.flows}
        return tuple(
            measure
            for measure in self.measures
            if measure.list_name == "flows"
            and measure.quantity in CALL_QUANTITIES
            and flows.issuperset(measure.items)
        )

    @property
    def background(self) -> tuple[Measure, ...]:
        """Columns that are printed, but not judged: the completion times of the chunks of adaptive
        video, if there are columns of its stalls. Viewers notice stalls and the bitrate.
        """
        watched = {
            name for each in self.measures if each.quantity == STALLED for name in each.items
        }
        return tuple(
            each
            for each in self.measures
            if each.quantity == CHUNKS and watched.issuperset(each.items)
        )

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Differences of each case to the unchanged scenario in each column, case by case."""
        results = {
            (each.case.name, measure.key): self._difference(self.runs[0], each, measure)
            for each in self.runs[1:]
            for measure in self.measures
        }
        best = {measure.key: self._best(measure, results) for measure in self.measures}
        return tuple(
            Change(
                case.name, measure, results[case.name, measure.key], case.name in best[measure.key]
            )
            for case in self.cases
            for measure in self.measures
        )

    def run_of(self, name: str) -> Run:
        """Return the values of the case with this name, or of the unchanged scenario, ``"as it
        is"``.
        """
        [result] = [each for each in self.runs if each.case.name == name]
        return result

    def between(self, first: Run, second: Run, measure: Measure) -> Difference:
        """Return the difference of two runs; its interval is simultaneous for all pairs of runs."""
        pairs = len(self.runs) * (len(self.runs) - 1) // 2
        return self._difference(first, second, measure, pairs * len(self.measures))

    def _difference(
        self, base: Run, case: Run, measure: Measure, comparisons: int | None = None
    ) -> Difference:
        return judge(
            base.values[measure.key],
            case.values[measure.key],
            measure.direction,
            comparisons=comparisons or self.comparisons,
            is_random=base.is_random or case.is_random,
        )

    def _best(
        self, measure: Measure, differences: Mapping[tuple[str, str], Difference]
    ) -> set[str]:
        """Return the names of the best cases of a column.

        The best cases are better than the unchanged scenario, and do not differ significantly from
        the case with the best mean.
        """
        better = {
            each.case.name: each
            for each in self.runs[1:]
            if differences[each.case.name, measure.key].verdict == "better"
            and (each.has_good_calls or measure not in self.call_measures)
        }
        if not better:
            return set()

        def merit(name: str) -> float:
            return measure.direction * (differences[name, measure.key].mean or 0.0)

        most = max(map(merit, better))
        first = [each for name, each in better.items() if merit(name) == most]
        return {
            name
            for name, each in better.items()
            if each in first or not any(self.between(f, each, measure).is_beyond for f in first)
        }

    def estimate(self, name: str, measure: Measure) -> Estimate | None:
        """Return the mean of a case, or of the unchanged scenario, with its own 95 % interval."""
        values = self.run_of(name).values[measure.key]
        known = [value for value in values if value is not None]
        return Estimate.of(known) if known else None
