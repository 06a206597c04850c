"""Search: the model and short simulations rank candidates, full simulations confirm the best few,
and simulations with fresh seeds check the best one.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import chain
from math import isclose, nan
from statistics import fmean
from typing import Any, TypeAlias, TypedDict, TypeVar

from lasthop.batch.simulations import Simulations
from lasthop.errors import ScenarioError, Stopped, TooCostlyError, UserError, shortcoming
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

T = TypeVar("T")

MODEL = "edca"

SCREENED = 12
"""Number of candidates in each family that the model selects for short simulations."""

BURST_BASES = 3
"""Number of candidates per access method (backoff, PIFS) for which TXOP limits are tried."""

ALIKE = 3e-3
"""Relative difference below which two settings in a short simulation count as equal. [-]"""


MORE_ROUNDS = 2
"""Number of times that further settings are confirmed because all confirmed settings were ruled
out.
"""

MOST_CHECKED = 3
"""Largest number of settings that are checked. The next setting is checked only if the previous one
harms a flow or station.
"""


class TuneProgress(TypedDict):
    """Progress of a search."""

    stage: str
    """Stage: ``"predicting"``, ``"screening"``, ``"confirming"`` or ``"checking"``."""
    done: int
    """Number of finished candidates of this stage."""
    candidates: int
    """Number of all candidates of this stage."""
    so_far: str
    """Best value of the aim so far, with its unit; empty before the first value."""
    settings: int
    """Number of settings that may be tried."""
    about_s: float
    """Time of the whole search, estimated from the first setting; 0 before that. [s]"""


ProgressCallback: TypeAlias = Callable[[TuneProgress], bool | None]


class Interrupted(KeyboardInterrupt):
    """Interruption of a search by Ctrl-C; results so far are kept."""


class Search:
    """A search in progress; the first of `trials` is the present setting."""

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
        """Observations that contradict the assumption of the search for the number of calls."""
        self.is_over = False
        """Whether the search is complete."""
        self.checks: list[Check] = []
        """Settings that were compared with the present setting, with fresh seeds."""
        self.recommended: Trial | None = None
        """Recommended setting; None if the present setting stays."""
        self._hint = 1
        self._settings, self._about_s = 0, 0.0
        self._so_far = SoFar(objective.aim)
        self._simulations = simulations
        self._progress = progress
        self._short = shortened(scenario)

    def __getstate__(self) -> dict[str, Any]:
        """Return the results so far, without the progress callback."""
        return self.__dict__ | {"_progress": None}

    def run(self, *, pifs: bool, txop: bool, confirm: int) -> None:
        """Search windows and PIFS access, then TXOP limits for the best candidates; then confirm
        and check.

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
        if txop:  # As many candidates as there will be, for other windows.
            tried += opportunities(scenario, bases(pairs), category)
        longer = length_s(scenario) / length_s(Scenario(scenario, self._short))
        if self.ranks_by_model:
            # The import is not part of any setting's time.
            import_module(f"lasthop.models.{MODEL}")
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
        """Return why a setting cannot be chosen, by its measured values; None if it can be
        chosen.
        """
        present = self.present
        if trial.samples and present.samples:
            values, now = means(trial.samples), means(present.samples)
            return self._objects(values, now) or self._harm(trial.parts, present.parts)
        if trial.screened is not None and present.screened is not None:
            return self._objects(trial.screened, present.screened)
        return None

    def _objects(self, values: Values, now: Values) -> str | None:
        """Return the objection to a setting with these values, compared with the present values;
        None without one.
        """
        dear = self.objective.objection(values, now, self.bounds.give_up)
        return dear or self.bounds.objection(values, now)

    def _harm(self, ours: Parts, now: Parts) -> str | None:
        """Return the harm to a single flow or station, unless the objective is to redistribute."""
        return None if self.objective.redistributes else harm(ours, now, self.bounds.give_up)

    def _try(self, candidates: Iterable[Candidate]) -> None:
        """Predict the candidates and screen the best; screen all candidates that the model
        refuses.
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
        """Predict each of these trials with the model."""
        if self.ranks_by_model:
            self._each("predicting", new, self._predict)

    def _screen_best(self, new: Sequence[Trial]) -> None:
        """Screen the best trials of each family by the model, and the trials that it refuses.

        The model does not predict starvation. If most of a family's best trials are unacceptable,
        the next trials are screened.
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
        """Return how many of these settings are acceptable for every station."""
        return sum(
            self.objection(trial) is None and not self._seems_harmful(trial, "screening")
            for trial in screened
        )

    def _check_measured(self) -> None:
        """Refuse a scenario in which no setting delivers anything.

        Raises
        ------
        UserError
            If no screened setting delivered anything.
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
        """Note the settings whose short simulation has no value of the objective."""
        aim = self.objective.aim.quantity
        screened = [
            trial
            for trial in self.trials[1:]
            if trial.screened is not None and self.objection(trial) is None
        ]
        without = [trial for trial in screened if aim not in (trial.screened or {})]
        if without:
            what = some(trial.name for trial in without)
            self.left_out.append(LeftOut(what, f"no value of {aim} in a short simulation"))

    def _predict(self, trial: Trial) -> None:
        from lasthop import models

        try:
            with step(""):  # A slow Markov chain reports its progress.
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
        """Simulate a setting, and count its calls if calls are the objective."""
        result = self._simulate(scenario)
        samples = sampled(result, self.category)
        if self.calls is not None:
            samples = {**samples, **self._count_calls(trial, scenario, self.calls)}
        return Measured(result, samples, parts_of(result))

    def _count_calls(self, trial: Trial, scenario: Scenario, calls: Calls) -> Samples:
        """Count the calls of a setting in full simulations."""
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
        """Compare the best setting with the present setting again, with fresh seeds.

        The best of many settings was partly lucky with the seeds that chose it. With fresh seeds it
        is compared only once, so that its interval needs no correction for the number of settings.
        If a setting is ruled out, the next best setting is checked. Whether the objective improves
        does not decide about this, so that this question is asked of one setting only.
        """
        present = self.present
        better = [
            trial
            for trial in self.trials[1:]
            if trial.samples
            and self.objection(trial) is None
            and self.objective.seems_better(trial.samples, present.samples)
        ]
        while better and len(self.checks) < MOST_CHECKED:
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
        """Return the duration of a check, including the present setting, divided by the duration of
        the confirmation. [-]
        """
        count = self.present.scenario.typed.replications
        return 2.0 * max(count, CHECKED_REPLICATIONS) / count

    def _compared(self, trial: Trial) -> Check:
        """Return the check of a setting, simulated with fresh seeds.

        An objection must hold beyond the intervals of the paired differences.
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
        """Do the work of a stage for each trial, after the simulations that it needs."""
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
        """Simulate what all trials of a stage need; after an interruption, process the finished
        simulations.
        """
        scenarios = [needed(trial) for trial in trials]

        def tell(done: int) -> bool:
            # If calls are counted, the counting is the slow part, and reports its own progress.
            try:
                if self.calls is None:
                    self._report(stage, min(done, len(scenarios) - 1), len(scenarios))
            except Stopped:  # Finished simulations of this chunk are kept, too.
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
        """Note the result of a stage for a setting, unless the setting cannot be chosen."""
        values, now = known(stage, trial), known(stage, self.present)
        if self._objects(values, now) is None:
            self._so_far.note(values)

    def _seems_harmful(self, trial: Trial, stage: str) -> bool:
        """Return whether a single flow or station seems to lose more than the allowed fraction.

        The model has only the mean RTT, and a few short replications give little evidence. Such
        settings are therefore not ruled out, but ranked after all other settings.
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
        """Return the screened candidates, best first."""
        return self._ranked(self.trials[1:], "screening")

    def _burst_bases(self) -> list[Candidate]:
        return bases(trial.candidate for trial in self._screened() if trial.candidate is not None)

    def _finalists(self, confirm: int) -> list[Trial]:
        """Return the best candidates that were only screened, at most `confirm`: the best of each
        family first.

        If several settings have the same measurements, such as TXOP limits that no burst reaches,
        only the first is returned. The first is the simplest.
        """
        ranked = self._screened()
        ranked = [trial for trial in ranked if not self._repeats(trial, ranked)]
        ranked = [trial for trial in ranked if not trial.samples]
        firsts = [family[0] for family in grouped(ranked)][:confirm]
        others = [trial for trial in ranked if trial not in firsts]
        chosen = firsts + others[: confirm - len(firsts)]
        return [trial for trial in ranked if trial in chosen]

    def _repeats(self, trial: Trial, others: Sequence[Trial]) -> bool:
        """Return whether the present setting, or an earlier setting of `others`, has the same
        measurements.
        """
        before = [other for other in (self.present, *others) if other.screened is not None]
        order = self.trials.index(trial)
        return any(
            self.trials.index(other) < order and alike(trial.screened or {}, other.screened or {})
            for other in before
        )


def known(stage: str, trial: Trial) -> Values:
    """Return the values of a setting at a stage; empty if the stage has not processed it."""
    if stage == "checking":
        return {} if trial.checked is None else means(trial.checked.samples)
    if stage == "confirming":
        return means(trial.samples)
    return (trial.predicted if stage == "predicting" else trial.screened) or {}


MODELLED = ("goodput_bps", "rtt_s", "sojourn_s")
"""Quantities that the model can rank. In the model, all stations get equal shares with every
setting.
"""


def grouped(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Return the trials by family, each in the given order; present settings are left out."""
    families = grouped_by(trials, lambda trial: trial.candidate and trial.candidate.family)
    return [family for key, family in families.items() if key is not None]


def grouped_by(things: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Return the items grouped by a common key, each group in the given order."""
    groups: dict[Any, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def alike(ours: Values, theirs: Values) -> bool:
    """Return whether all measured values of two settings are equal within `ALIKE`."""
    return ours.keys() == theirs.keys() and all(
        isclose(value, theirs[name], rel_tol=ALIKE) for name, value in ours.items()
    )


def bases(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the first candidate of each access method, for which TXOP limits are tried."""
    ways = grouped_by(candidates, lambda candidate: candidate.access)
    return list(chain.from_iterable(ways[way][:BURST_BASES] for way in sorted(ways)))


def refusals(refused: Sequence[tuple[Candidate, str]]) -> list[LeftOut]:
    """Return the refused candidates by family, with the reason for the first candidate."""
    return [
        LeftOut(some(candidate.name for candidate, _ in family), family[0][1])
        for family in grouped_by(refused, lambda each: each[0].family).values()
    ]


def some(names: Iterable[str]) -> str:
    """Return the names in a few words."""
    first, *rest = names
    return f"{first} and {len(rest)} more" if rest else first
