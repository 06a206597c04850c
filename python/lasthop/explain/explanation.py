"""Explanation of a scenario: facts of its run, causes, and remedies that were simulated."""

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from lasthop.explain.candidates import Candidate, causes_of, remedies_of
from lasthop.explain.facts import facts
from lasthop.explain.objectives import Objective, objective_for
from lasthop.explain.search import Gain, Progress, Search
from lasthop.result import Result
from lasthop.run import replaced, simulate
from lasthop.scenario import Scenario, ScenarioLike

__all__ = ["Explanation", "explain"]

FEWEST = 3
"""Least replications of the run that is explained: fewer have no intervals."""


class Explanation:
    """Explanation of a scenario.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    objective : Objective
        Number that is to be improved.
    result : Result
        Run that was explained.
    facts : dict
        Where packets wait (``delays``), what limits each flow (``limits``), verdicts on calls
        (``calls``), and the station that costs most air time (``air``).
    candidates : list of Candidate
        Causes that may apply, each with the edit that removes it.
    causes : list of Gain
        Causes whose removal improves the objective beyond its interval, the largest gain first.
    suggestions : list of Gain
        Remedies that improve the objective beyond their interval, the largest gain first.
    """

    def __init__(
        self,
        result: Result,
        objective: Objective,
        found: Mapping[str, Any],
        candidates: Sequence[Candidate],
    ) -> None:
        self.scenario = result.scenario
        self.objective = objective
        self.result = result
        self.facts = dict(found)
        self.candidates = list(candidates)
        self.causes: list[Gain] = []
        self.suggestions: list[Gain] = []
        self.replications = 0
        """Number of replications that were simulated for the comparison."""

    def __repr__(self) -> str:
        from lasthop.explain.text import text

        return "\n".join(text(self))

    @cached_property
    def is_met(self) -> bool:
        """Whether the objective is met, so that there is nothing to improve."""
        return self.objective.is_met(self.result)

    @property
    def verdict(self) -> str:
        """``nothing to improve``, ``causes`` or ``no cause found``."""
        if self.is_met:
            return "nothing to improve"
        return "causes" if self.causes or self.suggestions else "no cause found"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a tree of dictionaries and lists."""
        from lasthop.explain.text import command

        def change(gain: Gain) -> dict[str, Any]:
            candidate, difference = gain.candidate, gain.difference
            return {
                "id": candidate.id,
                "title": candidate.title,
                "subject": candidate.subject,
                "sentence": candidate.sentence,
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
            "scenario": self.result.summary["scenario"],
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
        ``"calls"``, ``"delay"``, ``"throughput"`` or ``"fairness"``; by default derived from the
        traffic, see `lasthop.explain.objectives`.
    target : str, optional
        Station, table of stations, flow or class of flows that matters; by default all.
    replications : int, optional
        Replications of the last stage of the comparison; by default 12, or 6 if a replication has
        more than 4 million events.
    seed : int, optional
        Seed that replaces that of the scenario.
    settings : mapping or pairs
        Further values to replace.
    remedies : bool
        Whether to compare causes and remedies, or only explain the run.
    jobs : int, optional
        Threads; by default one for each available processor.
    progress : callable, optional
        Called with the name of a stage, the finished runs and all runs of this stage; the
        comparison stops if it returns False.
    max_time_s : float, optional
        Longest time of the first run, see `simulate`. [s]

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If the objective or the target does not exist or does not apply.
    TooCostlyError
        If the first run would take longer than `max_time_s`.
    Stopped
        If `progress` returned False.
    KeyboardInterrupt
        At Ctrl-C before the first run finished.

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
    checked = replaced(scenario, settings, seed=seed)
    wanted = objective_for(checked, objective, target)
    count = max(checked.typed.replications, FEWEST)
    base = checked.with_("replications", count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = simulate(base, tails=True, jobs=jobs, max_time_s=max_time_s)
    found = facts(base, result)
    explanation = Explanation(result, wanted, found, causes_of(base, found["causes"]))
    if explanation.is_met or not remedies:
        return explanation
    events = result.summary["totals"][0]["events"]["mean"]
    search = Search(
        base,
        wanted,
        events=events,
        replications=replications,
        jobs=jobs,
        progress=progress,
    )
    causes, helping = search.search(explanation.candidates, remedies_of(base, found["causes"]))
    explanation.causes = [gain for gain in causes if gain.is_sure]
    explanation.suggestions = helping
    explanation.replications = search.runs
    return explanation
