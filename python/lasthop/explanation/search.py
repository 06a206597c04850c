"""Search for the first cause and for remedies, by pairs of runs with common random numbers.

```text
 all edits, all remedies --screening, short--> the best few --selection--> finalists
                          finalists --confirmation, fresh seeds--> gains with intervals
```

Each stage has seeds of its own, so the interval of a finalist does not depend on the values that
chose it. The first cause is the edit with the largest mean gain in selection and confirmation. If
two edits are closer than their interval, both are simulated again with further seeds.

The number of runs depends only on the scenario: on the events of a replication, which do not
depend on the machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from lasthop.batch import BatchProgress
from lasthop.explanation.candidates import Candidate
from lasthop.explanation.objectives import Objective
from lasthop.paired import Difference, judge, run
from lasthop.result import Result
from lasthop.scenario import Scenario
from lasthop.tuning.runs import LARGEST_SEED, length_s, shortened
from lasthop.underway import step

__all__ = ["Gain", "Search"]


@dataclass(frozen=True)
class Effort:
    """Numbers of runs of a search."""

    screening: int = 3
    """Replications of each change in the screening."""
    selected: int = 6
    """Causes, and remedies, that pass the screening."""
    finalists: int = 3
    """Causes that are confirmed."""
    suggested: int = 4
    """Settings that are confirmed, of the remedies."""
    beyond: int = 2
    """Remedies that are no setting, and that pass the screening and the selection."""
    replications: int = 12
    """Replications of the confirmation."""
    rounds: int = 2
    """Times that the first two causes are simulated again if they are too close."""
    is_short: bool = False
    """Whether all stages have shortened runs."""

    @property
    def selecting(self) -> int:
        """Replications of the selection."""
        return max(self.replications // 2, 3)


SMALLER = Effort(2, selected=4, finalists=2, suggested=3, beyond=1, replications=8, rounds=1)
"""Effort of a search in a scenario with long runs."""

EFFORTS = (
    (4e5, Effort()),
    (1.5e6, SMALLER),
    (inf, replace(SMALLER, replications=6, is_short=True)),
)
"""Largest number of events of a replication, and the effort of a search up to it."""

CONFIDENCE = 0.99
"""Probability with which the intervals of all remedies' gains hold at the same time. [-]"""

CAUSE_CONFIDENCE = 0.95
"""Probability with which the intervals of all causes' gains hold at the same time. [-]"""

SURE = 1.2
"""Least ratio of a remedy's mean gain to the standard deviation of its gain over replications, in
the confirmation. A smaller gain may vanish with 20 other seeds. [-]"""

SURE_IN_ALL = 1.0
"""Least ratio of a remedy's mean gain to the standard deviation of its gain, over all seeds of
selection and confirmation. [-]"""

OFTEN = 0.8
"""Least part of the replications in which a remedy helps: a mean may be that of a few runs. [-]"""

WORTH = 0.01
"""Least gain of a remedy, as part of the present value. [-]"""

Progress: TypeAlias = Callable[[float, float], bool | None]
"""Function that is called with the simulated time so far and that of the whole search, at most
[s]; the search stops if it returns False."""


@dataclass(frozen=True)
class Gain:
    """Gain of a change, over runs with fresh seeds."""

    candidate: Candidate
    difference: Difference
    """Changed less present value of the objective."""
    base: Result
    result: Result

    @property
    def is_sure(self) -> bool:
        """Whether the change improves the objective beyond its interval."""
        return self.difference.verdict == "better"


@dataclass
class Samples:
    """Values of a change and of the base over all seeds of selection and confirmation."""

    base: list[float] = field(default_factory=list)
    case: list[float] = field(default_factory=list)


class Search:
    """A search for the causes and remedies of an objective.

    Parameters
    ----------
    base : Scenario
        Scenario to explain.
    objective : Objective
        Number to improve.
    events : float
        Events of a replication, which choose one of `EFFORTS`.
    replications : int, optional
        Replications of the confirmation.
    jobs : int, optional
        Threads; by default one for each available processor.
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
        """Number of simulated replications."""
        effort = next(effort for most, effort in EFFORTS if events <= most)
        if replications is not None:
            effort = replace(effort, replications=replications)
        self.effort = effort
        self._stages = 0
        self._done_s = self._total_s = 0.0
        self._samples: dict[str, Samples] = {}

    def search(
        self, causes: Sequence[Candidate], remedies: Sequence[Candidate]
    ) -> tuple[list[Gain], list[Gain]]:
        """Return the gains of the best causes and of the best remedies, the best first.

        Remedies that are no setting follow the settings.

        Raises
        ------
        Stopped
            `progress` returned False.
        KeyboardInterrupt
            At Ctrl-C.
        """
        if not causes and not remedies:
            return [], []
        effort = self.effort
        shorter = [each for each in shortened(self.base) if each[0] in ("warmup", "duration")]
        usual = shorter if effort.is_short else []
        self._plan(len(causes), len(remedies), shorter, usual)
        every = [*causes, *remedies]
        screened = self._stage("screening", every, effort.screening, shorter, kept=False)
        best = self._best(causes, screened, effort.selected)
        good = self._helpful(remedies, screened, effort.selected)
        selected = self._stage("selecting", [*best, *good], effort.selecting, usual)
        best = self._best(best, selected, effort.finalists)
        good = self._helpful(good, selected, effort.suggested)
        confirmed = self._stage("confirming", [*best, *good], effort.replications, usual)
        for _ in range(effort.rounds):
            close = self._too_close(best)
            if not close:
                break
            self._stage("comparing", close, 2 * effort.replications, usual)
        best = sorted(best, key=self._mean_gain, reverse=True)
        first = [self._judged(each, confirmed, CAUSE_CONFIDENCE) for each in best]
        helping = [self._judged(each, confirmed, CONFIDENCE) for each in good]
        helping = [gain for gain in helping if self._helps(gain)]
        helping.sort(key=self._rank, reverse=True)
        return first, helping

    def _rank(self, gain: Gain) -> tuple[bool, float]:
        """Order of the remedies: settings first, then by gain."""
        return gain.candidate.is_setting, self.objective.direction * (gain.difference.mean or 0.0)

    def _stage(
        self,
        name: str,
        candidates: Sequence[Candidate],
        replications: int,
        settings: Sequence[tuple[str, object]],
        *,
        kept: bool = True,
    ) -> dict[str, Gain]:
        """Simulate changes with seeds of this stage; return the gain of each by its name."""
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
        found = {}
        for each in candidates:
            theirs = self.objective.values(paired.cases[each.name])
            if kept:
                samples = self._samples.setdefault(each.name, Samples())
                samples.base += ours
                samples.case += theirs
            difference = judge(ours, theirs, self.objective.direction)
            found[each.name] = Gain(each, difference, paired.base, paired.cases[each.name])
        return found

    def _plan(
        self,
        causes: int,
        remedies: int,
        shorter: Sequence[tuple[str, object]],
        usual: Sequence[tuple[str, object]],
    ) -> None:
        """Set the simulated time of the first three stages."""
        effort = self.effort
        short_s, usual_s = (Scenario(self.base, each).typed.duration_s for each in (shorter, usual))
        selected = 1 + min(causes, effort.selected) + min(remedies, effort.selected + effort.beyond)
        finalists = (
            1 + min(causes, effort.finalists) + min(remedies, effort.suggested + effort.beyond)
        )
        screening = effort.screening * (1 + causes + remedies)
        confirmation = effort.selecting * selected + effort.replications * finalists
        self._total_s = short_s * screening + usual_s * confirmation

    def _judged(
        self, candidate: Candidate, confirmed: Mapping[str, Gain], confidence: float
    ) -> Gain:
        """Return the gain of a finalist with an interval that holds for all finalists."""
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
        """Return the best settings, and the best of the other remedies."""
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
            *self._best(by_kind[False], gains, self.effort.beyond),
        ]

    def _mean_gain(self, candidate: Candidate) -> float:
        samples = self._samples[candidate.name]
        return self.objective.direction * (fmean(samples.case) - fmean(samples.base))

    def _too_close(self, causes: Sequence[Candidate]) -> list[Candidate]:
        """Return the first two causes if more runs may change their order."""
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
        """Return whether a remedy is printed: a gain that 20 other seeds would confirm."""
        if not gain.is_sure or self._harms(gain):
            return False
        samples = self._samples[gain.candidate.name]
        every = self._gains(samples.base, samples.case)
        ours = self.objective.values(gain.base)
        changes = self._gains(ours, self.objective.values(gain.result))
        is_steady = steadiness(changes) >= SURE and steadiness(every) >= SURE_IN_ALL
        is_frequent = sum(change > 0.0 for change in changes) >= OFTEN * len(changes)
        return is_steady and is_frequent and fmean(changes) >= WORTH * abs(fmean(ours))

    def _gains(self, ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
        """Return the gain of each replication."""
        return [self.objective.direction * (b - a) for a, b in zip(ours, theirs, strict=True)]


def steadiness(gains: Sequence[float]) -> float:
    """Return the ratio of the mean gain to the standard deviation of the gains. [-]"""
    spread = stdev(gains) if len(gains) > 1 else inf
    return fmean(gains) / spread if spread > 0.0 else inf
