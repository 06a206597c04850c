"""Explanation of a scenario: facts about its run, causes, and simulated remedies."""

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from lasthop.answers.kinds import kind_named
from lasthop.arguments import callback
from lasthop.explanation.candidates import Candidate, causes_of, command, remedies_of
from lasthop.explanation.facts import facts, read_facts
from lasthop.explanation.noticed import causes_for, is_noticed
from lasthop.explanation.objective import Objective
from lasthop.explanation.objectives import objective_for
from lasthop.explanation.search import Gain, Progress, Search
from lasthop.progress.cost_limits import Deadline
from lasthop.references import named
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import ProgressCallback, replaced, simulate
from lasthop.tuning.runs import fresh_seed

__all__ = ["Explanation", "examine", "explain"]

MIN_REPLICATIONS = 3
"""Minimum number of replications of the explained run. Its confidence intervals need several
replications.
"""

CONFIRMING_REPLICATIONS = 8
"""Number of additional replications with another seed if the objective seems to be met. If these
also meet the objective, no change is compared.
"""


class Explanation:
    """Explanation of a scenario.

    Attributes
    ----------
    scenario : Scenario
        Explained scenario.
    objective : Objective
        Objective to improve.
    result : Result
        Run that was explained.
    facts : dict
        Where packets wait (``delays``), what limits each flow (``limits``), verdicts on calls
        (``calls``), and the station that uses most air time (``air``).
    candidates : list of Candidate
        Possible causes, each with the edit that removes the cause.
    causes : list of Gain
        Causes whose removal improves the objective by more than the interval, and by a part that
        users notice (`lasthop.explanation.noticed`), the largest gain first.
    suggestions : list of Gain
        Remedies that improve the objective by more than the interval, the largest gain first.
    """

    def __init__(
        self,
        result: Result,
        objective: Objective,
        run_facts: Mapping[str, Any],
        candidates: Sequence[Candidate],
    ) -> None:
        self.scenario = result.scenario
        self.objective = objective
        self.result = result
        self.facts = dict(run_facts)
        self.read_facts = read_facts(run_facts)
        """Facts about the run as typed values."""
        self.candidates = list(candidates)
        # The remedies are checked here, and not in `compare`, whose estimate of the run time covers
        # only simulations.
        self._remedies = remedies_of(result.scenario, self.read_facts.causes)
        self.causes: list[Gain] = []
        self.suggestions: list[Gain] = []
        self._more: list[Result] = []
        self.replications = 0
        """Number of replications in the comparison of changes; 0 before the comparison."""

    def __repr__(self) -> str:
        return str(named(kind_named("explanation").text)(self))

    @property
    def is_met(self) -> bool:
        """Whether the explained run and all additional runs meet the objective."""
        return all(map(self.objective.is_met, (self.result, *self._more)))

    @property
    def verdict(self) -> str:
        """Outcome in words: ``nothing to improve``, ``causes`` or ``no cause found``."""
        if self.is_met:
            return "nothing to improve"
        return "causes" if self.causes or self.suggestions else "no cause found"

    def compare(
        self,
        *,
        replications: int | None = None,
        jobs: int | None = None,
        progress: Progress | None = None,
        max_time_s: float | None = None,
    ) -> None:
        """Simulate causes and remedies in pairs of runs, unless the objective is met.

        Parameters and exceptions are those of `explain`.
        """
        if self.is_met:
            seed = fresh_seed(self.scenario.typed.seed)
            again = Scenario(
                self.scenario, [("replications", CONFIRMING_REPLICATIONS), ("seed", seed)]
            )
            self._more = [simulate(again, tails=True, jobs=jobs, max_time_s=max_time_s)]
        if self.is_met:
            return
        deadline = None
        if max_time_s is not None:
            deadline = Deadline(f"{self.scenario.source}: comparing remedies", max_time_s)

        def watched(done_s: float, total_s: float) -> bool | None:
            if deadline is not None:
                deadline.look(done_s, total_s)
            return None if progress is None else progress(done_s, total_s)

        search = Search(
            self.scenario,
            self.objective,
            events=self.result.contents["totals"][0]["events"]["mean"],
            replications=replications,
            jobs=jobs,
            progress=watched,
        )
        causes, helping = search.search(self.candidates, self._remedies)
        self.causes = [gain for gain in causes if gain.is_sure and is_noticed(self.objective, gain)]
        self.suggestions = helping
        self.replications = search.runs

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a tree of dictionaries and lists."""

        def change(gain: Gain) -> dict[str, Any]:
            candidate, difference = gain.candidate, gain.difference
            return {
                "id": candidate.id,
                "title": candidate.title,
                "subject": candidate.subject,
                "sentence": candidate.sentence,
                "place": candidate.place,
                "is_setting": candidate.is_setting,
                "edits": [list(each) for each in candidate.settings],
                "before": difference.base,
                "after": difference.case,
                "gain": self.objective.direction * (difference.mean or 0.0),
                "ci95": difference.ci95,
                "interval": difference.half,
                "pairs": difference.pairs,
                "command": command(self.scenario, candidate.settings),
            }

        return {
            "kind": "explanation",
            "scenario": self.result.heading.scenario,
            "objective": {
                "name": self.objective.name,
                "target": self.objective.target,
                "better": "less" if self.objective.direction < 0 else "more",
                "met_if": self.objective.met,
                "values": self.objective.values(self.result),
            },
            "verdict": self.verdict,
            "causes": [change(gain) for gain in self.causes],
            "suggestions": [change(gain) for gain in self.suggestions],
            "candidates": [
                {
                    "id": each.id,
                    "subject": each.subject,
                    "sentence": each.sentence,
                    "edits": [list(pair) for pair in each.settings],
                }
                for each in self.candidates
            ],
            **{key: self.facts[key] for key in ("calls", "delays", "limits", "air")},
            "replications": self.replications,
        }

    def to_json(self) -> str:
        """Return the explanation as JSON text."""
        return json.dumps(self.to_dict(), indent=2) + "\n"


def explain(
    scenario: ScenarioLike,
    *,
    objective: str | None = None,
    target: str | None = None,
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    remedies: bool = True,
    jobs: int | None = None,
    progress: Progress | None = None,
    max_time_s: float | None = None,
) -> Explanation:
    """Explain a scenario: where packets wait, what limits each flow, and which change helps.

    The scenario is simulated as it is. Then each cause that may apply is removed by a fixed edit,
    and each remedy is tried, in pairs of runs with common random numbers. The result depends on
    scenario, seed and version only.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    objective : str, optional
        ``"calls"``, ``"delay"``, ``"video"``, ``"throughput"`` or ``"fairness"``; by default
        derived from the traffic, see `lasthop.explanation.objectives`.
    target : str, optional
        Station, table of stations, flow or class of flows that matters; by default all.
    replications : int, optional
        Replications of the last stage of the comparison; by default 12, and fewer if a replication
        has more than 400,000 events.
    seed : int, optional
        Seed that replaces the seed of the scenario.
    settings : mapping or pairs
        Values of the scenario to replace, by key path.
    remedies : bool
        Whether to compare causes and remedies, or only explain the run.
    jobs : int, optional
        Threads; by default one for each available processor.
    progress : callable, optional
        Called with the simulated time so far, and the simulated time of the whole comparison [s];
        the comparison stops if it returns False.
    max_time_s : float, optional
        Longest time of the first run, and of the comparison, by an estimate after half a second;
        by default there is no limit. [s]

    Returns
    -------
    Explanation
        Facts, causes and suggestions. Its text names the first cause and the commands.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If the objective or the target does not exist or does not apply.
    TooCostlyError
        If the first run, or the comparison, would take longer than `max_time_s`.
    Stopped
        If `progress` returned False.
    KeyboardInterrupt
        At Ctrl-C.

    Examples
    --------
    >>> import lasthop as lh
    >>> e = lh.explain(
    ...     {
    ...         "duration": "20 s",
    ...         "wire": {"rate": "20 Mbps", "delay": "10 ms"},
    ...         "cell": {"phy": "802.11g"},
    ...         "station": {"laptop": {"download": 1}, "tv": {"download": 1}},
    ...     },
    ...     remedies=False,
    ... )
    >>> e.objective.name
    'throughput'
    """
    callback("progress", progress)
    explanation = examine(
        replaced(scenario, settings, seed=seed),
        objective=objective,
        target=target,
        jobs=jobs,
        max_time_s=max_time_s,
    )
    if remedies:
        explanation.compare(
            replications=replications, jobs=jobs, progress=progress, max_time_s=max_time_s
        )
    return explanation


def examine(
    scenario: Scenario,
    *,
    objective: str | None = None,
    target: str | None = None,
    jobs: int | None = None,
    progress: ProgressCallback | None = None,
    max_time_s: float | None = None,
) -> Explanation:
    """Simulate a scenario as it is, and return its explanation before any change is compared."""
    improved = objective_for(scenario, objective, target)
    count = max(scenario.typed.replications, MIN_REPLICATIONS)
    base = (
        scenario
        if count == scenario.typed.replications
        else Scenario(scenario, [("replications", count)])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = simulate(base, tails=True, jobs=jobs, progress=progress, max_time_s=max_time_s)
    run_facts = facts(base, result)
    causes = causes_for(improved, read_facts(run_facts).causes)
    return Explanation(result, improved, run_facts, causes_of(base, causes))
