"""Candidates ranked by the model, then by short simulations, then confirmed by whole ones."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypedDict

from lasthop.result import Result
from lasthop.run import simulate
from lasthop.scenario import Scenario
from lasthop.tuning.candidates import Candidate, Setting, apply, opportunities, window_pairs
from lasthop.tuning.measures import Samples, Values, means, predicted, sampled
from lasthop.tuning.objectives import Objective

__all__ = ["ProgressCallback", "Search", "Stopped", "Trial", "TuneProgress"]

MODEL = "edca"

SHORT_S = 20.0
"""Time that a short simulation measures. [s]"""

SHORT_REPLICATIONS = 2

SCREENED = 12
"""Candidates of each family that the model passes on to short simulations."""

BURST_BASES = 3
"""Candidates with PIFS, and without, for which TXOP limits are tried."""


class TuneProgress(TypedDict):
    """How far a search is."""

    stage: str
    """``"predicting"``, ``"screening"`` or ``"confirming"``."""
    done: int
    """Candidates of this stage that are done."""
    candidates: int
    """Candidates of this stage."""


ProgressCallback: TypeAlias = Callable[[TuneProgress], bool | None]


class Stopped(KeyboardInterrupt):
    """The search was stopped; what it has found is kept."""


@dataclass(eq=False)
class Trial:
    """A setting, and what became known of it.

    Attributes
    ----------
    candidate : Candidate or None
        None for the scenario's present setting.
    scenario : Scenario
        With the setting applied.
    predicted : mapping or None
        What the model says; `refusal` says why it says nothing.
    screened : mapping or None
        What a short simulation measured.
    result : Result or None
        The simulation that confirms it.
    samples : mapping
        Each replication of that simulation.
    """

    candidate: Candidate | None
    scenario: Scenario
    written: Sequence[Setting] = ()
    predicted: Values | None = None
    refusal: str | None = None
    screened: Values | None = None
    result: Result | None = None
    samples: Samples = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The candidate's name."""
        return "as it is" if self.candidate is None else self.candidate.name


class Search:
    """A search in progress; `trials` has the present setting first."""

    def __init__(
        self,
        scenario: Scenario,
        objective: Objective,
        *,
        give_up: float,
        jobs: int | None,
        progress: ProgressCallback | None,
    ) -> None:
        self.objective = objective
        self.present = Trial(None, scenario)
        self.trials = [self.present]
        self._give_up = give_up
        self._jobs = jobs
        self._progress = progress
        self._short = shortened(scenario)

    def run(self, *, pifs: bool, txop: bool, confirm: int) -> None:
        """Search windows and PIFS access, then TXOP limits for the best of them; confirm.

        Raises
        ------
        Stopped
            At Ctrl-C, or if `progress` returns False.
        """
        scenario = self.present.scenario
        self._try([], with_present=True)
        self._try(window_pairs(scenario, pifs=pifs, txop=txop))
        if txop:
            self._try(opportunities(scenario, self._burst_bases()))
        self._confirm([self.present, *self._finalists(confirm)])

    @property
    def ranks_by_model(self) -> bool:
        """Whether the model has a say in what is aimed at."""
        return self.objective.aim.quantity in MODELLED

    def _try(self, candidates: Iterable[Candidate], *, with_present: bool = False) -> None:
        """Predict candidates and screen the best; those the model refuses are all screened."""
        new = [self.present] if with_present else []
        for candidate in candidates:
            applied = apply(self.present.scenario, candidate)
            if applied is not None and applied[0] != self.present.scenario:
                new.append(Trial(candidate, *applied))
        if not with_present:
            self.trials += new
        if self.ranks_by_model:
            self._each("predicting", new, self._predict)
        chosen = [trial for trial in new if trial.predicted is None]
        for family in grouped(trial for trial in new if trial.predicted is not None):
            chosen += self._ranked(family, lambda trial: trial.predicted)[:SCREENED]
        self._each("screening", chosen, self._screen)

    def _predict(self, trial: Trial) -> None:
        from lasthop import models

        tree = trial.scenario.to_dict()
        try:
            trial.predicted = predicted(models.predict(tree, MODEL), tree)
        except (models.ModelError, models.ConvergenceError) as error:
            trial.refusal = str(error)

    def _screen(self, trial: Trial) -> None:
        trial.screened = means(sampled(self._simulate(Scenario(trial.scenario, self._short))))

    def _confirm(self, trials: Sequence[Trial]) -> None:
        def confirm(trial: Trial) -> None:
            result = self._simulate(trial.scenario)
            trial.result, trial.samples = result, sampled(result)

        self._each("confirming", trials, confirm)

    def _simulate(self, scenario: Scenario) -> Result:
        with warnings.catch_warnings():
            # An interrupted simulation is dropped; the search says so itself.
            warnings.simplefilter("ignore", RuntimeWarning)
            result = simulate(scenario, jobs=self._jobs)
        if result.interrupted:
            raise Stopped
        return result

    def _each(self, stage: str, trials: Sequence[Trial], work: Callable[[Trial], None]) -> None:
        try:
            for done, trial in enumerate(trials):
                self._report(stage, done, len(trials))
                work(trial)
            self._report(stage, len(trials), len(trials))
        except KeyboardInterrupt:
            raise Stopped from None

    def _report(self, stage: str, done: int, candidates: int) -> None:
        if self._progress is None:
            return
        at = TuneProgress(stage=stage, done=done, candidates=candidates)
        if self._progress(at) is False:
            raise Stopped

    def _ranked(
        self, trials: Iterable[Trial], values: Callable[[Trial], Values | None]
    ) -> list[Trial]:
        """Affordable trials by what is known of them, the best first."""
        present = values(self.present)
        known = {trial: found for trial in trials if (found := values(trial)) is not None}
        if present is not None:
            known = {
                trial: found
                for trial, found in known.items()
                if self.objective.affordable(found, present, self._give_up)
            }
        return self.objective.ranked(known)

    def _screened(self) -> list[Trial]:
        """Screened candidates, the best first."""
        return self._ranked(self.trials[1:], lambda trial: trial.screened)

    def _burst_bases(self) -> list[Candidate]:
        best = [trial.candidate for trial in self._screened() if trial.candidate is not None]
        return [
            candidate
            for pifs in (False, True)
            for candidate in [each for each in best if each.pifs is pifs][:BURST_BASES]
        ]

    def _finalists(self, confirm: int) -> list[Trial]:
        """The best screened candidates, at most `confirm`: the best of each family first."""
        ranked = self._screened()
        firsts = [family[0] for family in grouped(ranked)][:confirm]
        others = [trial for trial in ranked if trial not in firsts]
        chosen = firsts + others[: confirm - len(firsts)]
        return [trial for trial in ranked if trial in chosen]


MODELLED = ("goodput_bps", "rtt_s", "sojourn_s")
"""Quantities on which the model bears: to it, all stations share alike whatever the setting."""


def grouped(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials by family, each in the order given; present settings are left out."""
    families: dict[tuple[bool, bool, bool], list[Trial]] = {}
    for trial in trials:
        if trial.candidate is not None:
            families.setdefault(trial.candidate.family, []).append(trial)
    return list(families.values())


def shortened(scenario: Scenario) -> list[tuple[str, object]]:
    """Settings for a quick look at a scenario: fewer replications, and less time if it is steady.

    A scenario with flows that start after the warm-up or end keeps its time. The seed is another,
    so that the simulations that confirm are independent of those that chose.
    """
    seed = scenario["seed"]
    settings: list[tuple[str, object]] = [
        ("replications", min(SHORT_REPLICATIONS, scenario["replications"])),
        ("seed", seed - 1 if seed > 0 else 1),
    ]
    duration = scenario["warmup_s"] + SHORT_S
    steady = all(
        flow["start_s"] <= scenario["warmup_s"]
        and flow["stop_s"] is None
        and flow.get("tcp", {}).get("segments") is None
        for flow in scenario["flows"]
    )
    if steady and duration < scenario["duration_s"]:
        settings += [("warmup", f"{scenario['warmup_s']} s"), ("duration", f"{duration} s")]
    return settings
