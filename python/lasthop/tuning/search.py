"""Search for access parameters. The model and short simulations (screening) rank candidates, full
simulations confirm the best few, and simulations with fresh seeds check the best candidate.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from math import nan
from statistics import fmean
from typing import Any, TypeAlias, TypedDict

from lasthop.batch.simulations import Simulations
from lasthop.errors import ScenarioError, Stopped, TooCostlyError, UserError, shortcoming
from lasthop.extras import need_packages
from lasthop.progress.steps import step
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT
from lasthop.simulation.result import Result
from lasthop.tuning.bounds import Bounds
from lasthop.tuning.calls import Calls, Capacity
from lasthop.tuning.candidates import (
    Candidate,
    opportunities,
    wider,
    window_pairs,
)
from lasthop.tuning.families import BURST_BASES, alike, bases, grouped, grouped_by, refusals, some
from lasthop.tuning.measures import (
    Samples,
    Values,
    favourable,
    means,
    predicted,
    sampled,
)
from lasthop.tuning.objectives import Objective
from lasthop.tuning.parts import RTT, Parts, harm, parts_of
from lasthop.tuning.runs import (
    CHECKED_REPLICATIONS,
    SHORT_REPLICATIONS,
    fresh,
    length_s,
    shortened,
)
from lasthop.tuning.settings import apply
from lasthop.tuning.so_far import SoFar
from lasthop.tuning.stopwatch import Stopwatch
from lasthop.tuning.trial import Check, LeftOut, Measured, Trial

MODEL = "edca"

SCREENED = 12
"""Number of candidates of each family that the model selects for short simulations. Candidates of a
family require the same features of the access point.
"""


MORE_ROUNDS = 2
"""Largest number of rounds in which further settings are simulated fully. A further round begins
only if all settings with a full simulation are ruled out.
"""

MAX_CHECKED = 3
"""Largest number of settings that are checked with fresh seeds. The next best setting is checked
only if the previous setting is ruled out.
"""


class TuneProgress(TypedDict):
    """Progress of a search."""

    stage: str
    """Stage: ``"predicting"``, ``"screening"``, ``"confirming"`` or ``"checking"``."""
    done: int
    """Number of finished candidates in the stage."""
    candidates: int
    """Number of all candidates in the stage."""
    so_far: str
    """Best value of the objective so far, with its unit; empty before the first value."""
    settings: int
    """Number of settings that may be tried."""
    about_s: float
    """Duration of the whole search, estimated from the first setting; 0 before the estimate. [s]"""


ProgressCallback: TypeAlias = Callable[[TuneProgress], bool | None]


class Interrupted(KeyboardInterrupt):
    """Exception: Ctrl-C interrupted a search, which keeps its results so far."""


class Search:
    """A search in progress. `trials` has the settings with their results; the first trial is the
    present setting.
    """

    def __init__(
        self,
        scenario: Scenario,
        objective: Objective,
        *,
        category: str = BEST_EFFORT,
        bounds: Bounds,
        calls: Calls | None = None,
        simulations: Simulations,
        progress: ProgressCallback | None,
    ) -> None:
        self.objective = objective
        self.category = category
        self.left_out: list[LeftOut] = []
        self.present = Trial(None, scenario)
        self.trials = [self.present]
        self.bounds = bounds
        self.calls = calls
        self.irregular: list[str] = []
        """Observations that contradict an assumption of the search for the number of calls: that
        more calls are never better than fewer calls.
        """
        self.is_over = False
        """Whether the search is complete."""
        self.checks: list[Check] = []
        """Settings that were compared with the present setting, with fresh seeds."""
        self.recommended: Trial | None = None
        """Recommended setting; None if the search recommends the present setting."""
        self._hint = 1
        self._settings, self._about_s = 0, 0.0
        self._so_far = SoFar(objective.aim)
        self._simulations = simulations
        self._progress = progress
        self._short = shortened(scenario)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the progress callback."""
        return self.__dict__ | {"_progress": None}

    def run(self, *, pifs: bool, txop: bool, confirm: int) -> None:
        """Run the search: try contention windows and PIFS access, then TXOP limits for the best
        candidates. Then confirm the best settings and check the best setting.

        Raises
        ------
        Interrupted
            At Ctrl-C.
        Stopped
            If `progress` returns False.
        """
        scenario, category = self.present.scenario, self.category
        pairs = list(window_pairs(scenario, pifs=pifs, txop=txop, category=category))
        tried = list(pairs)
        # These candidates are not tried here. They only serve to compute the expected number of
        # settings.
        if txop:
            tried += opportunities(scenario, bases(pairs), category)
        longer = length_s(scenario) / length_s(Scenario(scenario, self._short))
        if self.ranks_by_model:
            # Import the model before the first setting, so that the measured time of the setting
            # excludes the import.
            model = import_module(f"lasthop.models.{MODEL}")
            if model.suits(scenario.typed):
                need_packages(f"the ranking by model {MODEL}", "scipy")
        self._settings = len(tried)
        families = grouped_by(tried, lambda candidate: candidate.family).values()
        screened = sum(min(len(family), SCREENED) for family in families)
        threads = 1 if self.calls is not None else self._simulations.threads
        stopwatch = Stopwatch(
            scenario,
            settings=self._settings,
            screened=screened,
            longer=longer * (confirm + 1 + self._check_length),
            faster=max(1.0, threads / SHORT_REPLICATIONS),
        )
        self._predict_each([self.present])
        stopwatch.first_is_predicted()
        self._screen_best([self.present])
        stopwatch.first_is_done(ranked=self.present.predicted is not None)
        self._about_s = stopwatch.all_s
        if self.calls is not None:
            stopwatch.judge()
        self.left_out += [LeftOut(*each) for each in wider(scenario, category)]
        self._try(pairs)
        self._check_measured()
        if txop:
            self._try(opportunities(scenario, self._burst_bases(), category))
        self._leave_out_unmeasured()
        self._confirm([self.present, *self._finalists(confirm)])
        for _ in range(MORE_ROUNDS):
            confirmed = [trial for trial in self.trials[1:] if trial.samples]
            more = self._finalists(confirm)
            if not more or any(self.objection(trial) is None for trial in confirmed):
                break
            self._confirm(more)
        self._check()
        self.is_over = True

    @property
    def ranks_by_model(self) -> bool:
        """Whether the model predicts the objective."""
        return self.objective.aim.quantity in MODELLED

    def objection(self, trial: Trial) -> str | None:
        """Return the reason why a setting is ruled out by its measured values; None if it is not
        ruled out.
        """
        present = self.present
        if trial.samples and present.samples:
            values, now = means(trial.samples), means(present.samples)
            return self._objects(values, now) or self._harm(trial.parts, present.parts)
        if trial.screened is not None and present.screened is not None:
            return self._objects(trial.screened, present.screened)
        return None

    def _objects(self, values: Values, now: Values) -> str | None:
        """Return the reason why a setting with the given values is ruled out, compared with the
        present values; None if it is not ruled out.
        """
        dear = self.objective.objection(values, now, self.bounds.give_up)
        return dear or self.bounds.objection(values, now)

    def _harm(self, ours: Parts, now: Parts) -> str | None:
        """Return a text about the harm to a single flow or station; None without harm, or if the
        objective redistributes goodput.
        """
        return None if self.objective.redistributes else harm(ours, now, self.bounds.give_up)

    def _try(self, candidates: Iterable[Candidate]) -> None:
        """Add the candidates to the trials, predict them with the model, and simulate the best ones
        briefly. Candidates that the model refuses are all simulated.
        """
        new, refused = [], list[tuple[Candidate, str]]()
        for candidate in candidates:
            try:
                applied = apply(self.present.scenario, candidate, self.category)
            except ScenarioError as error:
                first = error.problems[0]
                refused.append((candidate, f"`{first.path}`: {first.message}"))
                continue
            if applied[0] != self.present.scenario:
                new.append(Trial(candidate, *applied))
        self.left_out += refusals(refused)
        self.trials += new
        self._predict_each(new)
        self._screen_best(new)

    def _predict_each(self, new: Sequence[Trial]) -> None:
        """Predict each of the given trials with the model."""
        if self.ranks_by_model:
            self._each("predicting", new, self._predict)

    def _screen_best(self, new: Sequence[Trial]) -> None:
        """Run short simulations (screening) of the trials that the model ranks best in each family,
        and of the trials that the model refuses.

        The model does not predict starvation. If fewer than `BURST_BASES` of the simulated trials
        of a family are acceptable, the next trials of the family are simulated.
        """
        chosen = [trial for trial in new if trial.predicted is None or trial is self.present]
        families = [
            self._ranked(family, "predicting")
            for family in grouped(trial for trial in new if trial.predicted is not None)
        ]
        while chosen or any(families):
            for family in families:
                chosen += family[:SCREENED]
            self._each("screening", chosen, self._screen, self._shortened)
            families = [
                family[SCREENED:] if self._livable(family[:SCREENED]) < BURST_BASES else []
                for family in families
            ]
            chosen = []

    def _livable(self, screened: Sequence[Trial]) -> int:
        """Return the number of settings that are not ruled out for any station."""
        return sum(
            self.objection(trial) is None and not self._seems_harmful(trial, "screening")
            for trial in screened
        )

    def _check_measured(self) -> None:
        """Raise an error if no setting delivers anything.

        Raises
        ------
        UserError
            If no setting delivered anything in the short simulations.
        """
        screened = [trial.screened for trial in self.trials if trial.screened is not None]
        if any(values.get("goodput_bps", 0.0) > 0.0 for values in screened):
            return
        scenario, known = self.present.scenario, self.present.scenario.typed
        span_s = known.duration_s - known.warmup_s
        raise UserError(
            f"{scenario.source}: nothing is delivered in the {span_s:g} s after the warm-up with "
            f"any of {len(screened)} settings, so that settings cannot be compared",
            "set a longer `duration`, or let flows start earlier",
        )

    def _leave_out_unmeasured(self) -> None:
        """Add to `left_out` the settings whose short simulation has no value of the objective."""
        aim = self.objective.aim.quantity
        screened = [
            trial
            for trial in self.trials[1:]
            if trial.screened is not None and self.objection(trial) is None
        ]
        without = [trial for trial in screened if aim not in (trial.screened or {})]
        if without:
            what = some(trial.name for trial in without)
            self.left_out.append(LeftOut(what, f"a short simulation has no value of {aim}"))

    def _predict(self, trial: Trial) -> None:
        from lasthop import models

        try:
            # The context manager `step` lets the solution of a slow Markov chain report its
            # progress.
            with step(""):
                prediction = models.predict(trial.scenario.typed, MODEL)
            trial.predicted = predicted(prediction, trial.scenario)
        except (models.ModelError, models.ConvergenceError, TooCostlyError) as error:
            trial.refusal = shortcoming(error)

    def _shortened(self, trial: Trial) -> Scenario:
        return Scenario(trial.scenario, self._short)

    def _screen(self, trial: Trial) -> None:
        short = self._shortened(trial)
        result = self._simulate(short)
        trial.screened = means(sampled(result, self.category))
        trial.screened_parts = parts_of(result)
        if self.calls is None or (trial is not self.present and self.objection(trial) is not None):
            return
        most = Capacity(self.calls, short, self._simulate).most(self._hint)
        trial.screened = {**trial.screened, "calls": fmean(most)}
        self._hint = max(self._hint, *most)

    def _confirm(self, trials: Sequence[Trial]) -> None:
        def confirm(trial: Trial) -> None:
            result = self._measured(trial, trial.scenario)
            trial.result, trial.samples, trial.parts = result.result, result.samples, result.parts

        self._each("confirming", trials, confirm, lambda trial: trial.scenario)

    def _measured(self, trial: Trial, scenario: Scenario) -> Measured:
        """Simulate a setting and return its values. If calls are the objective, search for its
        largest number of calls.
        """
        result = self._simulate(scenario)
        samples = sampled(result, self.category)
        if self.calls is not None:
            samples = {**samples, **self._count_calls(trial, scenario, self.calls)}
        return Measured(result, samples, parts_of(result))

    def _count_calls(self, trial: Trial, scenario: Scenario, calls: Calls) -> Samples:
        """Return the largest number of calls with a setting in each replication, from full
        simulations.
        """
        hint = int((trial.screened or {}).get("calls", 1))
        capacity = Capacity(calls, scenario, self._simulate)
        most, text = capacity.check(capacity.most(hint))
        irregular = (f"{trial.name}: {each}" for each in dict.fromkeys(text))
        self.irregular += [each for each in irregular if each not in self.irregular]
        return {
            "calls": [float(each) for each in most],
            "beside_calls_goodput_bps": capacity.goodput_bps(most),
        }

    def _check(self) -> None:
        """Check the best setting: compare it with the present setting again, with fresh seeds.

        A setting that is the best of many may be the best by chance, with the seeds by which it was
        selected. With fresh seeds the setting is compared only once, so that the interval needs no
        correction for the number of settings. If a setting is ruled out, the next best setting is
        checked. If the objective does not improve, no further setting is checked, so that only one
        setting is tested for an improvement.
        """
        present = self.present
        better = [
            trial
            for trial in self.trials[1:]
            if trial.samples
            and self.objection(trial) is None
            and self.objective.seems_better(trial.samples, present.samples)
        ]
        while better and len(self.checks) < MAX_CHECKED:
            best = self.objective.choice({each: each.samples for each in better})
            better.remove(best)
            self._each(
                "checking", [present, best], self._check_one, lambda each: fresh(each.scenario)
            )
            check = self._compared(best)
            self.checks.append(check)
            if check.objection is None:
                self.recommended = best if check.improves else None
                return

    def _check_one(self, trial: Trial) -> None:
        if trial.checked is None:
            trial.checked = self._measured(trial, fresh(trial.scenario))

    @property
    def _check_length(self) -> float:
        """Return the duration of a check of two settings with fresh seeds, divided by the duration
        of a full simulation of one setting. [-]
        """
        count = self.present.scenario.typed.replications
        return 2.0 * max(count, CHECKED_REPLICATIONS) / count

    def _compared(self, trial: Trial) -> Check:
        """Return the check of a setting that was simulated with fresh seeds.

        The setting is ruled out only if its harm exceeds the intervals of the paired differences.
        """
        ours, now = trial.checked, self.present.checked
        assert ours is not None
        assert now is not None
        return Check(
            trial,
            self.objective.change(ours.samples, now.samples),
            self._objects(favourable(ours.samples, now.samples), means(now.samples))
            or self._harm(ours.parts, now.parts),
            self.objective.is_better(ours.samples, now.samples),
        )

    def _simulate(self, scenario: Scenario) -> Result:
        return self._simulations.result(scenario)

    def _each(
        self,
        stage: str,
        trials: Sequence[Trial],
        work: Callable[[Trial], None],
        needed: Callable[[Trial], Scenario] | None = None,
    ) -> None:
        """Call `work` for each trial of a stage. Before these calls, run the simulation of the
        scenario that `needed` returns for each trial.
        """
        self._so_far.begin(known(stage, self.present))
        try:
            if needed is not None:
                self._ahead(stage, trials, work, needed)
            for done, trial in enumerate(trials):
                if needed is None or self.calls is not None:
                    self._report(stage, done, len(trials))
                work(trial)
                self._note(stage, trial)
            self._report(stage, len(trials), len(trials))
        except KeyboardInterrupt:
            raise Interrupted from None

    def _ahead(
        self,
        stage: str,
        trials: Sequence[Trial],
        work: Callable[[Trial], None],
        needed: Callable[[Trial], Scenario],
    ) -> None:
        """Run the simulations that all trials of a stage need. After an interruption, process the
        finished simulations.
        """
        scenarios = [needed(trial) for trial in trials]

        def tell(done: int) -> bool:
            # If calls are counted, the search for their number is slow and reports its own
            # progress.
            try:
                if self.calls is None:
                    self._report(stage, min(done, len(scenarios) - 1), len(scenarios))
            except Stopped:  # keep the finished simulations
                return False
            return True

        self._report(stage, 0, len(scenarios))
        try:
            self._simulations.ahead(scenarios, tell)
        except (KeyboardInterrupt, Stopped):
            if self.calls is None:
                for trial, scenario in zip(trials, scenarios, strict=True):
                    if self._simulations.has(scenario):
                        work(trial)
            raise

    def _report(self, stage: str, done: int, candidates: int) -> None:
        if self._progress is None:
            return
        at = TuneProgress(
            stage=stage,
            done=done,
            candidates=candidates,
            so_far=self._so_far.text,
            settings=self._settings,
            about_s=self._about_s,
        )
        if self._progress(at) is False:
            raise Stopped("progress stopped the search")

    def _note(self, stage: str, trial: Trial) -> None:
        """Update the best value so far with the result of a stage for a setting, unless the setting
        is ruled out.
        """
        values, now = known(stage, trial), known(stage, self.present)
        if self._objects(values, now) is None:
            self._so_far.note(values)

    def _seems_harmful(self, trial: Trial, stage: str) -> bool:
        """Return whether a single flow or station seems to be harmed by more than the allowed
        fraction.

        The model predicts only the mean RTT, and a few short replications are weak evidence.
        Settings that seem harmful are therefore not ruled out, but ranked after all other settings.
        """
        if stage == "screening":
            return self._harm(trial.screened_parts, self.present.screened_parts) is not None
        rtts = (
            {("cell", RTT): [known(stage, each).get(RTT, nan)]} for each in (trial, self.present)
        )
        return self._harm(*rtts) is not None

    def _ranked(self, trials: Iterable[Trial], stage: str) -> list[Trial]:
        """Return the acceptable trials ranked by the results of a stage, best first."""
        present = known(stage, self.present)
        values = {trial: result for trial in trials if (result := known(stage, trial))}
        if present:
            values = {
                trial: result
                for trial, result in values.items()
                if self._objects(result, present) is None
            }
        return sorted(
            self.objective.ranked(values), key=lambda each: self._seems_harmful(each, stage)
        )

    def _screened(self) -> list[Trial]:
        """Return the acceptable candidates ranked by their short simulations, best first."""
        return self._ranked(self.trials[1:], "screening")

    def _burst_bases(self) -> list[Candidate]:
        return bases(trial.candidate for trial in self._screened() if trial.candidate is not None)

    def _finalists(self, confirm: int) -> list[Trial]:
        """Return the best candidates that have no full simulation yet, at most `confirm`. The best
        candidate of each family has priority.

        If several settings have the same measurements, such as TXOP limits that no burst reaches,
        only the first and simplest setting is returned.
        """
        ranked = self._screened()
        ranked = [trial for trial in ranked if not self._repeats(trial, ranked)]
        ranked = [trial for trial in ranked if not trial.samples]
        firsts = [family[0] for family in grouped(ranked)][:confirm]
        others = [trial for trial in ranked if trial not in firsts]
        chosen = firsts + others[: confirm - len(firsts)]
        return [trial for trial in ranked if trial in chosen]

    def _repeats(self, trial: Trial, others: Sequence[Trial]) -> bool:
        """Return whether the present setting, or a setting of `others` that was tried earlier, has
        the same measurements.
        """
        before = [other for other in (self.present, *others) if other.screened is not None]
        order = self.trials.index(trial)
        return any(
            self.trials.index(other) < order and alike(trial.screened or {}, other.screened or {})
            for other in before
        )


def known(stage: str, trial: Trial) -> Values:
    """Return the values of a setting in a stage; empty if the stage has no values of it."""
    if stage == "checking":
        return {} if trial.checked is None else means(trial.checked.samples)
    if stage == "confirming":
        return means(trial.samples)
    return (trial.predicted if stage == "predicting" else trial.screened) or {}


MODELLED = ("goodput_bps", "rtt_s", "sojourn_s")
"""Quantities by which the model can rank settings. Fairness is left out, since all stations have
equal shares in the model.
"""
