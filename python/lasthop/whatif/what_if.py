"""What-if questions: cases of a scenario, compared with the scenario as it is."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.calls import Call, call_facts, call_of
from lasthop.answers.estimates import Estimate
from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.quantities import check_name
from lasthop.answers.saving import save_table, text_writer, write_atomically
from lasthop.batch import ProgressCallback
from lasthop.batch.paired import (
    CONFIDENCE,
    Difference,
    Measure,
    Paired,
    are_identical,
    is_random,
    judge,
    run,
)
from lasthop.errors import UserError, listed
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.scenario.values import twice
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import replaced, threads_asked
from lasthop.whatif.cases import AS_IT_IS, Case, Cases, cases_of, scenarios_of
from lasthop.whatif.conclusion import Advice, advised, costs, undecided
from lasthop.whatif.measures import (
    CALL_QUANTITIES,
    measures_of,
    of_dict,
    over_common_stations,
    to_dict,
)

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.display.page import Page
    from lasthop.plot import WhatIfPlots

__all__ = ["FILES", "LEAST_REPLICATIONS", "REPLICATIONS", "Change", "Run", "WhatIf", "what_if"]

REPLICATIONS = 10
"""Default number of replications of each case, unless the scenario has more."""

LEAST_REPLICATIONS = 2
"""Least replications: with one there is no interval."""

FILE, TABLE = "what-if.json", "differences"
FILES = (FILE, f"{TABLE}.parquet", f"{TABLE}.csv")
"""Files that a question writes into its directory."""

KIND = "what-if"

WIRE_QUEUE = "wire.queue"
"""Key of the queues for both directions of a wire, which has no key for one direction."""


@dataclass(frozen=True)
class Run:
    """Values of one case, or of the scenario as it is."""

    case: Case
    values: Mapping[str, Sequence[float | None]]
    """Values per replication by `Measure.key`."""
    is_random: bool
    """Whether the replications of the case differ in any value."""
    only_as_it_is: tuple[str, ...] = ()
    """Stations and flows that this case lacks."""
    only_here: tuple[str, ...] = ()
    """Stations and flows that only this case has."""
    is_unchanged: bool = False
    """Whether the settings do not change the scenario."""
    never_acts: bool = False
    """Whether the settings change the scenario, but no quantity in any replication."""
    calls: tuple[Call, ...] = ()
    """Directions of the calls, with their verdicts."""

    @property
    def has_good_calls(self) -> bool:
        """Whether all directions of all calls are good."""
        return all(call.is_good for call in self.calls)


@dataclass(frozen=True)
class Change:
    """Difference of one case and the scenario as it is, in one column."""

    case: str
    measure: Measure
    difference: Difference
    is_best: bool
    """Whether the case is the best of the column, or the same as the best within the noise.

    In a column of calls, only cases with good calls can be the best.
    """


class WhatIf:
    """Cases of a scenario, compared with the scenario as it is by paired differences.

    Replication k of all cases has the same random streams. The intervals of all differences hold at
    the same time with a probability of `CONFIDENCE`; see `lasthop.batch.paired`. A what-if can be
    pickled. Two are equal if scenario, cases and all values are equal.
    """

    def __init__(
        self,
        scenario: Scenario,
        measures: Sequence[Measure],
        runs: Sequence[Run],
        results: Mapping[str, Result] | None = None,
    ) -> None:
        self.scenario = scenario
        """Scenario as it is, with the seed and replications of the question."""
        self.measures = tuple(measures)
        """Columns of the comparison."""
        self.runs = tuple(runs)
        """Values of the scenario as it is, then of each case."""
        self._results = results

    def __repr__(self) -> str:
        from lasthop.display import what_if_text

        return what_if_text(self)

    def _repr_html_(self) -> str:
        return self.page().html()

    def page(self) -> "Page":
        """Return title, tables, notes and picture, which notebooks and reports show."""
        from lasthop.display import what_if_page

        return what_if_page(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WhatIf):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __getstate__(self) -> dict[str, Any]:
        names = ("scenario", "measures", "runs", "_results")
        return {name: self.__dict__[name] for name in names}

    @property
    def cases(self) -> tuple[Case, ...]:
        """Cases in their order, without the scenario as it is."""
        return tuple(each.case for each in self.runs[1:])

    @property
    def replications(self) -> int:
        """Number of replications of each case."""
        return self.scenario.typed.replications

    @property
    def comparisons(self) -> int:
        """Number of differences whose intervals hold at the same time: cases times columns."""
        return (len(self.runs) - 1) * len(self.measures)

    @property
    def call_measures(self) -> tuple[Measure, ...]:
        """Columns that contain delay or loss of calls only."""
        flows = {name for each in self.runs for call in each.calls for name in call.flows}
        return tuple(
            measure
            for measure in self.measures
            if measure.list_name == "flows"
            and measure.quantity in CALL_QUANTITIES
            and flows.issuperset(measure.items)
        )

    @property
    def results(self) -> Mapping[str, Result]:
        """Whole results by name of the case; the first is ``"as it is"``.

        Raises
        ------
        UserError
            If the what-if was loaded, since the results are not saved.
        """
        if self._results is None:
            raise UserError("the results of the cases were not saved with the what-if")
        return self._results

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Differences of each case in each column, case by case."""
        found = {
            (each.case.name, measure.key): self._difference(self.runs[0], each, measure)
            for each in self.runs[1:]
            for measure in self.measures
        }
        best = {measure.key: self._best(measure, found) for measure in self.measures}
        return tuple(
            Change(
                case.name, measure, found[case.name, measure.key], case.name in best[measure.key]
            )
            for case in self.cases
            for measure in self.measures
        )

    def run_of(self, name: str) -> Run:
        """Return the values of a case, or of ``"as it is"``."""
        [found] = [each for each in self.runs if each.case.name == name]
        return found

    def between(self, first: Run, second: Run, measure: Measure) -> Difference:
        """Return the difference of two runs; its interval holds for all pairs at the same time."""
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

    def _best(self, measure: Measure, found: Mapping[tuple[str, str], Difference]) -> set[str]:
        """Names of the best cases of a column: better than the scenario as it is, and than all
        other cases.
        """
        better = {
            each.case.name: each
            for each in self.runs[1:]
            if found[each.case.name, measure.key].verdict == "better"
            and (each.has_good_calls or measure not in self.call_measures)
        }
        if not better:
            return set()

        def merit(name: str) -> float:
            return measure.direction * (found[name, measure.key].mean or 0.0)

        most = max(map(merit, better))
        first = [each for name, each in better.items() if merit(name) == most]
        return {
            name
            for name, each in better.items()
            if each in first or not any(self.between(f, each, measure).is_beyond for f in first)
        }

    def estimate(self, name: str, measure: Measure) -> Estimate | None:
        """Return the mean of a case, or of ``"as it is"``, with its own 95 % interval."""
        values = self.run_of(name).values[measure.key]
        known = [value for value in values if value is not None]
        return Estimate.of(known) if known else None

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """Cases to choose for the calls and for each column that some case improves."""
        return tuple(advised(self))

    def costs(self, names: Sequence[str]) -> dict[Measure, list[str]]:
        """Return the columns in which some of these cases are worse, with their names."""
        return costs(self, names)

    @property
    def undecided(self) -> list[tuple[str, Measure | None]]:
        """Cases that more replications may decide, with the column; None for the calls."""
        return list(undecided(self))

    @property
    def notes(self) -> list[str]:
        """Sentences on cases that change nothing or both directions, and on stations and flows
        that differ.
        """
        return [*self._notes()]

    def _notes(self) -> Iterator[str]:
        for each in self.runs[1:]:
            name = each.case.name
            if each.is_unchanged:
                yield f"{name}: no change: its settings are those of the scenario as it is"
            elif each.never_acts:
                has_several = len(each.case.settings) > 1
                settings = "these settings" if has_several else "this setting"
                yield (
                    f"{name}: identical in every replication: {settings} never acted in these runs"
                )
            if each.only_as_it_is or each.only_here:
                parts = (
                    (each.only_as_it_is, "only the scenario as it is has"),
                    (each.only_here, "only this case has"),
                )
                missing = "; ".join(f"{owner} {listed(names)}" for names, owner in parts if names)
                yield f"{name}: {missing}"
        if both := [each.name for each in self.cases if each.has_setting(WIRE_QUEUE)]:
            yield f"{WIRE_QUEUE} sets the queue at both ends of the line: {listed(both)}"

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """Table with a row for each case and two columns per measure: mean, and 95 % interval."""
        import pandas as pd

        rows = []
        for each in self.runs:
            row: dict[str, Any] = {"case": each.case.name}
            for measure in self.measures:
                found = self.estimate(each.case.name, measure)
                row[measure.key] = None if found is None else found.mean
                row[f"{measure.key} ci95"] = None if found is None else found.ci95
            rows.append(row)
        return pd.DataFrame(rows).set_index("case")

    @cached_property
    def differences(self) -> "pd.DataFrame":
        """Table with a row for each case and measure.

        Columns are case, list, name, quantity, as_it_is, value, difference, half (half width of the
        simultaneous interval), ci95 (half width of the 95 % interval of this difference only),
        pairs (of replications), verdict and best.
        """
        import pandas as pd

        return pd.DataFrame(self._records())

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "case": each.case,
                "list": each.measure.list_name,
                "name": each.measure.name,
                "quantity": each.measure.quantity,
                "as_it_is": each.difference.base,
                "value": each.difference.case,
                "difference": each.difference.mean,
                "half": each.difference.half,
                "ci95": each.difference.ci95,
                "pairs": each.difference.pairs,
                "verdict": each.difference.verdict,
                "best": each.is_best,
            }
            for each in self.changes
        ]

    @property
    def plot(self) -> "WhatIfPlots":
        """Picture of the comparison, which ``w.plot()`` draws."""
        from lasthop.plot import WhatIfPlots

        return WhatIfPlots(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a tree of dictionaries and lists."""
        tree: dict[str, Any] = json.loads(self.to_json())
        return tree

    def to_json(self) -> str:
        """Return the text that ``lasthop what-if --json`` prints."""
        typed = self.scenario.typed
        tree = {
            "kind": KIND,
            "scenario": typed.name,
            "version": _core.VERSION,
            "format": _core.FORMAT,
            "seed": typed.seed,
            "replications": typed.replications,
            "duration_s": typed.duration_s,
            "warmup_s": typed.warmup_s,
            "confidence": CONFIDENCE,
            "comparisons": self.comparisons,
            "differences": self._records(),
            "notes": self.notes,
            "measures": [to_dict(measure) for measure in self.measures],
            "cases": [
                {
                    "name": each.case.name,
                    "settings": [list(setting) for setting in each.case.settings],
                    "is_random": each.is_random,
                    "is_unchanged": each.is_unchanged,
                    "never_acts": each.never_acts,
                    "calls": [call.to_dict() for call in each.calls],
                    "only_as_it_is": list(each.only_as_it_is),
                    "only_here": list(each.only_here),
                    "values": [list(each.values[measure.key]) for measure in self.measures],
                }
                for each in self.runs
            ],
            "origin": origin_of(self.scenario),
        }
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write ``what-if.json``, and the differences as Parquet and CSV; return the files.

        `lasthop.load` reads the comparison again.
        """
        into = Path(directory)
        refuse_foreign(into, FILES)
        into.mkdir(parents=True, exist_ok=True)
        tables = save_table(self.differences, into, TABLE)
        write_atomically(into / FILE, text_writer(self.to_json()))
        return [into / FILE, *tables]


def of_tree(scenario: Scenario, tree: Mapping[str, Any]) -> WhatIf:
    """Return the comparison that `WhatIf.to_json` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the tree has another shape, a case or column twice, a value that is not finite, or other
        values than one per replication.
    """
    measures = [of_dict(each) for each in tree["measures"]]
    runs = []
    for each in tree["cases"]:
        settings = tuple((str(path), str(value)) for path, value in each["settings"])
        if len(each["values"]) != len(measures):
            raise ValueError("another number of columns than of measures")
        values = {
            measure.key: [None if value is None else float(value) for value in column]
            for measure, column in zip(measures, each["values"], strict=True)
        }
        runs.append(
            Run(
                Case(str(each["name"]), settings),
                values,
                bool(each["is_random"]),
                tuple(map(str, each["only_as_it_is"])),
                tuple(map(str, each["only_here"])),
                bool(each["is_unchanged"]),
                bool(each.get("never_acts")),
                tuple(map(call_of, each.get("calls", ()))),
            )
        )
    if len(runs) < 2 or not measures:
        raise ValueError("no cases or no measures")
    names = [each.case.name for each in runs]
    if names[0] != AS_IT_IS or twice(names) or twice([measure.key for measure in measures]):
        raise ValueError("a name is given twice, or the scenario as it is is missing")
    for column in (column for each in runs for column in each.values.values()):
        if len(column) != scenario.typed.replications:
            raise ValueError("other values than one per replication")
        if not all(value is None or isfinite(value) for value in column):
            raise ValueError("a value that is not finite")
    return WhatIf(scenario, measures, runs)


def what_if(
    scenario: ScenarioLike,
    cases: Cases,
    *,
    show: Sequence[str] = (),
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    directory: str | PathLike[str] | None = None,
    jobs: int | None = None,
    progress: ProgressCallback | None = None,
    max_time_s: float | None = None,
) -> WhatIf:
    """Compare named cases of a scenario with the scenario as it is.

    All cases have the same random streams, so their differences have little noise. A difference
    within its interval is ``same``: within the noise. The intervals of all differences hold at the
    same time with a probability of 99 %, however many cases and columns there are.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    cases : mapping
        Settings by name of the case: ``{"fq": {"wire.queue.fq_codel": {}}}``. A case may have
        several settings. All cases share seed, replications, duration and warm-up.
    show : sequence of str
        Quantities to compare, one column per item, such as ``flows.one_way_delay_p99_s``. By
        default delay and loss of each call, goodput in each direction, and Jain's index.
    replications : int, optional
        Replications of each case; by default 10, or those of the scenario if it has more.
    seed, settings
        Values to replace in all cases, see `simulate`.
    directory : path, optional
        Directory in which finished simulations are kept and found again.
    jobs : int, optional
        Threads; by default one for each available processor.
    progress : callable, optional
        Called with the `BatchProgress` over all cases; the runs stop if it returns False.
    max_time_s : float, optional
        Longest time that all runs may take, estimated from their speed in the first half second;
        by default there is no limit. [s]

    Returns
    -------
    WhatIf
        Data frames ``frame`` and ``differences``, ``results`` by case, and a picture.

    Raises
    ------
    ScenarioError
        If the scenario is refused, as it is or with the settings of a case.
    UserError
        If there is no case, if a name or setting is not valid, if no result has a quantity of
        `show`, or with fewer than two replications.
    TooCostlyError
        If the runs would take longer than `max_time_s`.
    Stopped
        If `progress` returned False.
    KeyboardInterrupt
        At Ctrl-C.

    Examples
    --------
    >>> import lasthop as lh
    >>> asked = lh.what_if(
    ...     {
    ...         "duration": "3 s",
    ...         "warmup": "1 s",
    ...         "cell": {"phy": "802.11b"},
    ...         "station": {"sender": {"upload": 6}, "reader": {"count": 2, "download": 1}},
    ...     },
    ...     {"small windows": {"cell.ap.cwmin": 3}},
    ...     show=["cells.jain"],
    ... )
    >>> asked.differences[["case", "verdict"]].values.tolist()
    [['small windows', 'better']]
    """
    threads_asked(jobs)
    for name in show:
        check_name(name)
    known = cases_of(cases)
    base = base_of(replaced(scenario, settings, replications=replications, seed=seed), replications)
    scenarios = scenarios_of(base, known)
    into = None if directory is None else Path(directory)
    runs = run(base, scenarios, jobs=jobs, directory=into, progress=progress, max_time_s=max_time_s)
    return comparison_of(base, known, runs, show)


def base_of(scenario: Scenario, replications: int | str | None) -> Scenario:
    """Return the scenario as it is with enough replications for intervals.

    Raises
    ------
    UserError
        If fewer than two replications are asked for.
    """
    count = scenario.typed.replications
    if replications is None and count < REPLICATIONS:
        return Scenario(scenario, [("replications", REPLICATIONS)])
    if count < LEAST_REPLICATIONS:
        raise UserError(
            f"replications={count}: differences need an interval: expected at least "
            f"{LEAST_REPLICATIONS}"
        )
    return scenario


def comparison_of(
    base: Scenario, cases: Sequence[Case], runs: Paired, show: Sequence[str]
) -> WhatIf:
    """Return the comparison of finished runs.

    Raises
    ------
    UserError
        If no result has a quantity of `show`.
    """
    results = {AS_IT_IS: runs.base, **runs.cases}
    calls = {
        name: tuple(call_facts(result.summary, result.scenario).calls)
        for name, result in results.items()
    }
    by_case = over_common_stations(
        [
            {measure.key: measure for measure in measures_of(result, show, calls[name])}
            for name, result in results.items()
        ],
        [result.scenario for result in results.values()],
    )
    first, *others = by_case
    measures = [
        measure
        for key, measure in first.items()
        if any(key in each for each in others) and measure.is_in(runs.base)
    ]
    for name in show:
        quantity = name.rpartition(".")[2]
        if not any(measure.quantity == quantity for measure in measures):
            raise UserError(f"{name}: no item has this quantity as it is and in a case")
    if not measures:
        raise UserError(f"{base.source}: nothing to compare: the results have no common quantities")

    def run_of(case: Case, result: Result, own: Mapping[str, Measure], key: str) -> Run:
        none = [None] * result.replications
        values = {
            measure.key: own[measure.key].values(result) if measure.key in own else none
            for measure in measures
        }
        if case.name == AS_IT_IS:
            return Run(case, values, is_random(result), calls=calls[case.name])
        lost, new = map(tuple, runs.missing(case.name))
        is_unchanged = key == base.key
        never_acts = not is_unchanged and are_identical(runs.base, result)
        return Run(
            case, values, is_random(result), lost, new, is_unchanged, never_acts, calls[case.name]
        )

    as_it_is = Case(AS_IT_IS, ())
    found = [
        run_of(case, result, own, result.scenario.key)
        for case, result, own in zip((as_it_is, *cases), results.values(), by_case, strict=True)
    ]
    return WhatIf(base, measures, found, results)
