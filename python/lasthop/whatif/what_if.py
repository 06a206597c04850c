"""What-if questions: cases of a scenario, compared with the unchanged scenario."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.answer import Shown
from lasthop.answers.calls import call_facts
from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.quantities import check_name
from lasthop.answers.saving import COLUMNS_FILE, text_writer, write_all, write_atomically
from lasthop.answers.tables import Table, columns_of, data_frame, table_writers
from lasthop.arguments import callback
from lasthop.batch import ProgressCallback
from lasthop.batch.paired import (
    CONFIDENCE,
    Measure,
    Paired,
    are_identical,
    is_random,
    run,
)
from lasthop.errors import UserError, listed
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.scenario.typed import CellScenario
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import replaced, thread_count
from lasthop.whatif.cases import AS_IT_IS, Case, Cases, cases_of, scenarios_of
from lasthop.whatif.conclusion import Advice, advised, costs, undecided
from lasthop.whatif.differences import Change, Differences, Run
from lasthop.whatif.measures import (
    measures_of,
    over_common_stations,
    to_dict,
)

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["FILES", "MIN_REPLICATIONS", "REPLICATIONS", "Change", "Run", "WhatIf", "what_if"]

REPLICATIONS = 10
"""Default number of replications of each case, unless the scenario has more replications."""

MIN_REPLICATIONS = 2
"""Smallest number of replications, since a single replication has no interval."""

FILE, TABLE = "what-if.json", "differences"
FILES = (FILE, f"{TABLE}.parquet", f"{TABLE}.csv", COLUMNS_FILE)
"""Files that a what-if question writes into its directory."""

KIND = "what-if"

WIRE_QUEUE = "wire.queue"
"""Key path of the queues of a wire. This key sets the queues of both directions, unless the file or
the case sets `wire.back_queue`.
"""

BACK_QUEUE = "wire.back_queue"
"""Key path of the queue of a wire towards the servers."""


class WhatIf(Differences, Shown):
    """Cases of a scenario, compared with the scenario as it is by paired differences.

    Replication k of all cases has the same random streams. The intervals of all differences hold at
    the same time with a probability of `CONFIDENCE`; see `lasthop.batch.paired`. A what-if can be
    pickled. Two are equal if scenario, cases and all values are equal.
    """

    kind = "what-if"

    def __init__(
        self,
        scenario: Scenario,
        measures: Sequence[Measure],
        runs: Sequence[Run],
        results: Mapping[str, Result] | None = None,
    ) -> None:
        super().__init__(scenario, measures, runs)
        self._results = results

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
    def replications(self) -> int:
        """Number of replications of each case."""
        return self.scenario.typed.replications

    @property
    def results(self) -> Mapping[str, Result]:
        """Results by name of the case; the first is ``"as it is"``.

        Raises
        ------
        UserError
            If the what-if was loaded, since the results are not saved.
        """
        if self._results is None:
            raise UserError("the results of the cases were not saved with the what-if")
        return self._results

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """Advised cases: for the calls, and for each column that at least one case improves."""
        return tuple(advised(self))

    def costs(self, names: Sequence[str]) -> dict[Measure, list[str]]:
        """Return the columns in which at least one of the cases is worse, with the names of these
        cases.
        """
        return costs(self, names)

    @property
    def undecided(self) -> list[tuple[str, Measure | None]]:
        """Cases for which more replications may lead to a verdict, each with the column (None for
        calls).
        """
        return list(undecided(self))

    @property
    def notes(self) -> list[str]:
        """Notes: sentences about cases that change nothing, about cases that change both directions
        of a wire, and about stations and flows that differ between cases.
        """
        return [*self._notes()]

    def _notes(self) -> Iterator[str]:
        for each in self.runs[1:]:
            name = each.case.name
            if each.is_unchanged:
                yield f'"{name}": no change: its settings are those of the scenario as it is'
            elif each.never_acts:
                has_several = len(each.case.settings) > 1
                settings = "these settings" if has_several else "this setting"
                yield (
                    f'"{name}": identical in every replication: {settings} never acted in '
                    "these runs"
                )
            if each.only_as_it_is or each.only_here:
                parts = (
                    (each.only_as_it_is, "only the scenario as it is has"),
                    (each.only_here, "only this case has"),
                )
                missing = "; ".join(f"{owner} {listed(names)}" for names, owner in parts if names)
                yield f'"{name}": {missing}'
        both = [
            f'"{each.name}"'
            for each in self.cases
            if each.has_setting(WIRE_QUEUE) and not each.has_setting(BACK_QUEUE)
        ]
        typed = self.scenario.typed
        has_own = isinstance(typed, CellScenario) and typed.wire.back_queue is not None
        if both and not has_own:
            yield f"{WIRE_QUEUE} sets the queue at both ends of the line: {listed(both)}"

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """Table with a row for each case and two columns per measure: mean, and 95 % interval."""
        rows = []
        for each in self.runs:
            row: dict[str, Any] = {"case": each.case.name}
            for measure in self.measures:
                result = self.estimate(each.case.name, measure)
                row[measure.key] = None if result is None else result.mean
                row[f"{measure.key} ci95"] = None if result is None else result.ci95
            rows.append(row)
        return data_frame(rows).set_index("case")

    @cached_property
    def differences(self) -> "pd.DataFrame":
        """Table with a row for each case and measure.

        Columns are case, list, name, quantity, as_it_is, value, difference, half (half width of the
        simultaneous interval), ci95 (half width of the 95 % interval of this difference only),
        pairs (of replications), verdict and best.
        """
        return data_frame(self._records())

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
        """Write ``what-if.json``, and the differences as CSV and Parquet; return the files.

        `lasthop.load` reads the comparison again.
        """
        into = Path(directory)
        refuse_foreign(into, FILES)
        into.mkdir(parents=True, exist_ok=True)
        table = Table(TABLE, columns_of(self._records()), lambda: self.differences)
        tables = write_all(into, table_writers(into, [table]))
        write_atomically(into / FILE, text_writer(self.to_json()))
        return [into / FILE, *tables]


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
    callback("progress", progress)
    thread_count(jobs)
    for name in show:
        check_name(name)
    known = cases_of(cases)
    base = base_of(replaced(scenario, settings, replications=replications, seed=seed), replications)
    scenarios = scenarios_of(base, known)
    into = None if directory is None else Path(directory)
    runs = run(base, scenarios, jobs=jobs, directory=into, progress=progress, max_time_s=max_time_s)
    return comparison_of(base, known, runs, show)


def base_of(scenario: Scenario, replications: int | str | None) -> Scenario:
    """Return the unchanged scenario with enough replications for intervals.

    Raises
    ------
    UserError
        If fewer than two replications are requested.
    """
    count = scenario.typed.replications
    if replications is None and count < REPLICATIONS:
        return Scenario(scenario, [("replications", REPLICATIONS)])
    if count < MIN_REPLICATIONS:
        raise UserError(
            f"replications={count}: differences need an interval: expected at least "
            f"{MIN_REPLICATIONS}"
        )
    return scenario


def comparison_of(
    base: Scenario, cases: Sequence[Case], runs: Paired, show: Sequence[str]
) -> WhatIf:
    """Return the what-if question with the results of finished runs.

    Raises
    ------
    UserError
        If no result has a quantity of `show`.
    """
    results = {AS_IT_IS: runs.base, **runs.cases}
    calls = {
        name: tuple(call_facts(result.contents, result.scenario).calls)
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
    items = [
        run_of(case, result, own, result.scenario.key)
        for case, result, own in zip((as_it_is, *cases), results.values(), by_case, strict=True)
    ]
    return WhatIf(base, measures, items, results)
