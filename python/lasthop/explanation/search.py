"""Search for the first cause and for remedies, by pairs of runs with common random numbers.

```text
 all edits, all remedies --screening, short--> the best few --selection--> finalists
                          finalists --confirmation, fresh seeds--> gains with intervals
```

Each stage has its own seeds. Therefore the interval of a finalist does not depend on the values by
which it was selected. The first cause is the edit with the largest mean gain in selection and
confirmation. If the gains of the two best edits do not differ significantly, both edits are
simulated again with further seeds.

The number of runs depends only on the number of events of a replication. This number is the same on
every machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from lasthop.batch import BatchProgress
from lasthop.batch.paired import Difference, judge, run
from lasthop.explanation.candidates import Candidate
from lasthop.explanation.objective import Objective
from lasthop.progress.steps import step
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result
from lasthop.tuning.runs import LARGEST_SEED, length_s, shortened

__all__ = ["Gain", "Search"]


@dataclass(frozen=True)
class SearchSize:
    """Numbers of candidates and replications in the stages of a search."""

    screening: int = 3
    """Replications of each candidate in the first stage, the screening."""
    changes_selected: int = 6
    """Number of causes that pass the screening. For remedies that are settings, the number is the
    same.
    """
    causes_confirmed: int = 3
    """Number of causes that reach the confirmation, the last stage."""
    settings_confirmed: int = 4
    """Number of remedies that are settings and reach the confirmation."""
    other_remedies: int = 2
    """Number of other remedies that pass the screening and reach the confirmation."""
    replications: int = 12
    """Replications of each candidate in the confirmation."""
    rounds: int = 2
    """Maximum number of times that the two best causes are simulated again if their gains are
    close.
    """
    is_short: bool = False
    """Whether the simulated time of all runs is shortened."""

    @property
    def selection_replications(self) -> int:
        """Replications of each candidate in the second stage, the selection."""
        return max(self.replications // 2, 3)


SMALL_SEARCH = SearchSize(
    2,
    changes_selected=4,
    causes_confirmed=2,
    settings_confirmed=3,
    other_remedies=1,
    replications=8,
    rounds=1,
)
"""Size of the search for a scenario with long runs."""

SEARCH_SIZES = (
    (4e5, SearchSize()),
    (1.5e6, SMALL_SEARCH),
    (inf, replace(SMALL_SEARCH, replications=6, is_short=True)),
)
"""Sizes of the search, each with the largest number of events per replication for which it is used.
"""

CONFIDENCE = 0.99
"""Probability that the intervals of all remedies' gains are correct simultaneously. [-]"""

CAUSE_CONFIDENCE = 0.95
"""Probability that the intervals of all causes' gains are correct simultaneously. [-]"""

MIN_GAIN_RATIO = 1.2
"""Smallest ratio of a remedy's mean gain to the standard deviation of its gains, in the
confirmation. A smaller gain may vanish with other seeds. [-]
"""

MIN_GAIN_RATIO_ALL_SEEDS = 1.0
"""Smallest ratio of a remedy's mean gain to the standard deviation of its gains, over all seeds of
the stages selection and confirmation. A remedy with a smaller ratio is not reported. [-]
"""

MIN_HELPFUL_PART = 0.8
"""Smallest fraction of replications in which a remedy must improve the objective. A few
replications are not enough. [-]
"""

MIN_RELATIVE_GAIN = 0.01
"""Smallest mean gain of a remedy, as a fraction of the objective without the remedy. [-]"""

Progress: TypeAlias = Callable[[float, float], bool | None]
"""Callback with the simulated time so far and the largest simulated time of the search [s]. The
search stops if it returns False."""


@dataclass(frozen=True)
class Gain:
    """Gain of a candidate in runs with fresh seeds."""

    candidate: Candidate
    difference: Difference
    """Objective with the change, minus objective without the change."""
    base: Result
    result: Result

    @property
    def is_sure(self) -> bool:
        """Whether the change improves the objective by more than the interval of the difference."""
        return self.difference.verdict == "better"


@dataclass
class Samples:
    """Values of the objective in all runs of selection and confirmation, without and with a
    change.
    """

    base: list[float] = field(default_factory=list)
    case: list[float] = field(default_factory=list)


class Search:
    """Search for the causes and remedies of an objective: screening, selection and confirmation.

    Parameters
    ----------
    base : Scenario
        Scenario to explain.
    objective : Objective
        Objective to improve.
    events : float
        Number of events of a replication, which selects one of `SEARCH_SIZES`.
    replications : int, optional
        Number of replications in the confirmation.
    jobs : int, optional
        Number of threads; by default one for each available processor.
    progress : callable, optional
        See `Progress`.
    """

    def __init__(
        self,
        base: Scenario,
        objective: Objective,
        *,
        events: float,
        replications: int | None = None,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.base = base
        self.objective = objective
        self.jobs = jobs
        self.progress = progress
        self.runs = 0
        """Number of replications that were simulated so far."""
        size = next(size for most, size in SEARCH_SIZES if events <= most)
        if replications is not None:
            size = replace(size, replications=replications)
        self.size = size
        self._stages = 0
        self._done_s = self._total_s = 0.0
        self._samples: dict[str, Samples] = {}

    def search(
        self, causes: Sequence[Candidate], remedies: Sequence[Candidate]
    ) -> tuple[list[Gain], list[Gain]]:
        """Return the gains of the best causes and of the best remedies, each list with the best
        first.

        Remedies that are settings precede other remedies.

        Raises
        ------
        Stopped
            If `progress` returned False.
        KeyboardInterrupt
            At Ctrl-C.
        """
        if not causes and not remedies:
            return [], []
        size = self.size
        short_settings = [
            each for each in shortened(self.base) if each[0] in ("warmup", "duration")
        ]
        run_settings = short_settings if size.is_short else []
        self._plan(len(causes), len(remedies), short_settings, run_settings)
        every = [*causes, *remedies]
        screened = self._stage("screening", every, size.screening, short_settings, collects=False)
        best = self._best(causes, screened, size.changes_selected)
        good = self._helpful(remedies, screened, size.changes_selected)
        selected = self._stage(
            "selecting", [*best, *good], size.selection_replications, run_settings
        )
        best = self._best(best, selected, size.causes_confirmed)
        good = self._helpful(good, selected, size.settings_confirmed)
        confirmed = self._stage("confirming", [*best, *good], size.replications, run_settings)
        for _ in range(size.rounds):
            close = self._too_close(best)
            if not close:
                break
            self._stage("comparing", close, 2 * size.replications, run_settings)
        best = sorted(best, key=self._mean_gain, reverse=True)
        first = [self._judged(each, confirmed, CAUSE_CONFIDENCE) for each in best]
        helping = [self._judged(each, confirmed, CONFIDENCE) for each in good]
        helping = [gain for gain in helping if self._helps(gain)]
        helping.sort(key=self._rank, reverse=True)
        return first, helping

    def _rank(self, gain: Gain) -> tuple[bool, float]:
        """Return the sort key of a remedy: settings come first, then the larger gain."""
        return gain.candidate.is_setting, self.objective.direction * (gain.difference.mean or 0.0)

    def _stage(
        self,
        name: str,
        candidates: Sequence[Candidate],
        replications: int,
        settings: Sequence[tuple[str, object]],
        *,
        collects: bool = True,
    ) -> dict[str, Gain]:
        """Simulate the candidates with fresh seeds, and return the gains by name of the
        candidate.
        """
        self._stages += 1
        seed = self.base.typed.seed + self._stages
        seed = seed if seed <= LARGEST_SEED else self._stages
        own = [*settings, ("replications", replications), ("seed", seed)]
        base = Scenario(self.base, own)
        cases = {each.name: Scenario(each.scenario, own) for each in candidates}

        def watched(seen: BatchProgress) -> bool | None:
            if self.progress is None:
                return None
            done_s = self._done_s + seen["simulated_s"]
            return self.progress(done_s, max(self._total_s, done_s))

        with step(f"{name} {len(cases)} changes"):
            paired = run(base, cases, jobs=self.jobs, progress=watched)
        self.runs += replications * (len(cases) + 1)
        self._done_s += length_s(base) * (len(cases) + 1)
        ours = self.objective.values(paired.base)
        results = {}
        for each in candidates:
            theirs = self.objective.values(paired.cases[each.name])
            if collects:
                samples = self._samples.setdefault(each.name, Samples())
                samples.base += ours
                samples.case += theirs
            difference = judge(ours, theirs, self.objective.direction)
            results[each.name] = Gain(each, difference, paired.base, paired.cases[each.name])
        return results

    def _plan(
        self,
        causes: int,
        remedies: int,
        short_settings: Sequence[tuple[str, object]],
        run_settings: Sequence[tuple[str, object]],
    ) -> None:
        """Compute the total simulated time of the first three stages, for the progress."""
        size = self.size
        short_s, run_s = (
            Scenario(self.base, each).typed.duration_s for each in (short_settings, run_settings)
        )
        selected = (
            1
            + min(causes, size.changes_selected)
            + min(remedies, size.changes_selected + size.other_remedies)
        )
        confirmed = (
            1
            + min(causes, size.causes_confirmed)
            + min(remedies, size.settings_confirmed + size.other_remedies)
        )
        screening = size.screening * (1 + causes + remedies)
        later_stages = size.selection_replications * selected + size.replications * confirmed
        self._total_s = short_s * screening + run_s * later_stages

    def _judged(
        self, candidate: Candidate, confirmed: Mapping[str, Gain], confidence: float
    ) -> Gain:
        """Return the gain of a finalist. `confidence` is the probability that the intervals of all
        finalists are correct simultaneously.
        """
        gain = confirmed[candidate.name]
        difference = judge(
            self.objective.values(gain.base),
            self.objective.values(gain.result),
            self.objective.direction,
            comparisons=len(confirmed),
            confidence=confidence,
        )
        return Gain(candidate, difference, gain.base, gain.result)

    def _gain(self, candidate: Candidate, gains: Mapping[str, Gain]) -> float:
        return self.objective.direction * (gains[candidate.name].difference.mean or 0.0)

    def _best(
        self, candidates: Sequence[Candidate], gains: Mapping[str, Gain], count: int
    ) -> list[Candidate]:
        ranked = sorted(candidates, key=lambda each: self._gain(each, gains), reverse=True)
        return [each for each in ranked[:count] if self._gain(each, gains) >= 0.0]

    def _helpful(
        self, remedies: Sequence[Candidate], gains: Mapping[str, Gain], settings: int
    ) -> list[Candidate]:
        """Return the best remedies that are settings, and the best other remedies, for the next
        stage.
        """
        by_kind = {
            is_setting: [
                each
                for each in remedies
                if each.is_setting is is_setting and not self._harms(gains[each.name])
            ]
            for is_setting in (True, False)
        }
        return [
            *self._best(by_kind[True], gains, settings),
            *self._best(by_kind[False], gains, self.size.other_remedies),
        ]

    def _mean_gain(self, candidate: Candidate) -> float:
        samples = self._samples[candidate.name]
        return self.objective.direction * (fmean(samples.case) - fmean(samples.base))

    def _too_close(self, causes: Sequence[Candidate]) -> list[Candidate]:
        """Return the two best causes if further replications may change their order; else an empty
        list.
        """
        ranked = sorted(causes, key=self._mean_gain, reverse=True)[:2]
        if len(ranked) < 2:
            return []
        first, second = (self._samples[each.name].case for each in ranked)
        changes = [a - b for a, b in zip(first, second, strict=False)]
        half = 3.0 * stdev(changes) / sqrt(len(changes))
        return ranked if abs(fmean(changes)) < half else []

    def _harms(self, gain: Gain) -> bool:
        return self.objective.harms(gain.base, gain.result)

    def _helps(self, gain: Gain) -> bool:
        """Return whether a remedy is reported: its gain must be clear enough to hold with other
        seeds.
        """
        if not gain.is_sure or self._harms(gain):
            return False
        samples = self._samples[gain.candidate.name]
        every = self._gains(samples.base, samples.case)
        ours = self.objective.values(gain.base)
        changes = self._gains(ours, self.objective.values(gain.result))
        is_significant = (
            gain_ratio(changes) >= MIN_GAIN_RATIO and gain_ratio(every) >= MIN_GAIN_RATIO_ALL_SEEDS
        )
        is_frequent = sum(change > 0.0 for change in changes) >= MIN_HELPFUL_PART * len(changes)
        return (
            is_significant
            and is_frequent
            and fmean(changes) >= MIN_RELATIVE_GAIN * abs(fmean(ours))
        )

    def _gains(self, ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
        """Return the gain in each replication: positive if the change improves the objective."""
        return [self.objective.direction * (b - a) for a, b in zip(ours, theirs, strict=True)]


def gain_ratio(gains: Sequence[float]) -> float:
    """Return the ratio of the mean gain to the standard deviation of the gains. [-]"""
    spread = stdev(gains) if len(gains) > 1 else inf
    return fmean(gains) / spread if spread > 0.0 else inf
