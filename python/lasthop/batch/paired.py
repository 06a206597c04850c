"""Paired comparisons: cases of one scenario, simulated with common random numbers.

```text
 base, cases --(same seed, same replications)--> results --(values per replication)--> differences
```

`run` simulates a base scenario and its cases. Replication k of every scenario uses the same random
streams. Therefore the difference between a case and the base per replication has less noise than
the two means. `judge` turns the values of one quantity into a `Difference` with an interval and a
verdict.

If many differences are judged, some are outside their 95 % interval by chance. Therefore the
interval of each difference is widened by Bonferroni's correction: all intervals are correct
simultaneously with probability `CONFIDENCE`. The argument `comparisons` is the number of all
differences that are reported together.

```python
runs = run(base, {"fq": base.with_("wire.queue.fq_codel", {})})
delay = Measure("flows", "one_way_delay_p99_s", ("phone/udp-up/1",))
change = runs.difference("fq", delay, comparisons=1)
change.verdict, change.mean, change.half  # ("better", -0.3, 0.07)
```

Source: Law, *Simulation Modeling and Analysis*, 5th edition, sections 10.2 and 11.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias

from lasthop.answers.student_t import student_t_975
from lasthop.batch import BatchProgress, BatchStopped, ProgressCallback
from lasthop.batch.simulations import Simulations
from lasthop.errors import Stopped
from lasthop.progress.cost_limits import Deadline
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result

CONFIDENCE = 0.99
"""Probability that all intervals of the differences reported together are correct. [-]"""

ROUNDING = 1e-9
"""Largest relative difference that is considered a rounding error, so that the difference is set to
0. [-]
"""

LOWER_IS_BETTER = frozenset(
    {
        "chunk_completion_p95_s",
        "chunk_completion_s",
        "collision_rate",
        "completion_p95_s",
        "completion_s",
        "connections_refused",
        "discard_probability",
        "downlink_discard_probability",
        "downlink_failure_rate",
        "downlink_reordering_s",
        "drop_probability",
        "frame_failure_rate",
        "freezes",
        "frozen_fraction",
        "late_chunks",
        "longest_starved_s",
        "loss_probability",
        "occupancy_error_packets",
        "one_way_delay_p99_s",
        "one_way_delay_s",
        "ping_loss_probability",
        "ping_rtt_p95_s",
        "ping_rtt_s",
        "reordering_s",
        "report_delay_p95_s",
        "report_delay_s",
        "retransmissions",
        "rtt_p95_s",
        "rtt_p50_s",
        "rtt_p99_s",
        "rtt_s",
        "settling_s",
        "sojourn_p99_s",
        "sojourn_s",
        "stalled_fraction",
        "stalls",
        "starved_flows",
        "unfinished",
        "wait_s",
    }
)
"""Quantities for which a lower value is better."""

HIGHER_IS_BETTER = frozenset(
    {
        "connections_finished",
        "goodput_bps",
        "jain",
        "jain_p05",
        "packets_delivered",
        "qoo_score",
        "report_delivery",
        "sent_rate_bps",
        "transfer_rate_bps",
        "utilisation",
        "utilisation_min",
        "video_bitrate_bps",
    }
)
"""Quantities for which a higher value is better."""

Verdict: TypeAlias = Literal["better", "worse", "different", "same", "identical", "unknown"]
"""Outcome of a comparison.

``better`` and ``worse``: the difference is larger than the half width of its interval.
``different``: the difference is larger, but neither direction of the quantity is better. ``same``:
the difference is within the noise. ``identical``: the values are equal in each replication.
``unknown``: fewer than two replications have a value in both runs.
"""

Values: TypeAlias = Sequence[float | None]
"""Values of a quantity, one per replication; None if a replication has no value."""


def better_direction(quantity: str) -> int:
    """Return -1 if a lower value is better, 1 if a higher value is better, 0 if neither is known.
    [-]
    """
    if quantity in LOWER_IS_BETTER:
        return -1
    return 1 if quantity in HIGHER_IS_BETTER else 0


@dataclass(frozen=True)
class Difference:
    """Difference of a case and its base, over the replications in which both have a value."""

    base: float | None
    """Mean of the base; None if no replication has a value in both runs."""
    case: float | None
    """Mean of the case."""
    mean: float | None
    """Mean difference, case less base, in the unit of the quantity."""
    half: float | None
    """Half width of the interval of `mean`; None with fewer than two pairs. The interval is widened
    so that the intervals of all differences are correct simultaneously.
    """
    ci95: float | None
    """Half width of the 95 % interval of this difference, without the correction for many
    differences.
    """
    pairs: int
    """Number of replications in which both runs have a value."""
    verdict: Verdict

    @property
    def is_beyond(self) -> bool:
        """Whether the difference is larger than the half width of its interval."""
        return self.verdict in ("better", "worse", "different")


def judge(
    base: Values,
    case: Values,
    direction: int,
    *,
    comparisons: int = 1,
    confidence: float = CONFIDENCE,
    is_random: bool = True,
) -> Difference:
    """Compare a case with its base by their values per replication.

    The interval is Student's interval of the differences. If all differences are equal and not 0,
    the width of this interval is 0. In this case the case differs from the base only if equal
    differences are improbable by chance. For n replications of two runs with equal distribution,
    all differences have the same sign with probability 2^(1 - n). If in addition each run has one
    value in all replications, this probability is at most 2 / 4^n.

    Parameters
    ----------
    base, case : sequence of float or None
        Values per replication. Values with the same index come from the same random streams.
    direction : int
        -1 if less is better, 1 if more is better, 0 if neither; see `better_direction`.
    comparisons : int
        Number of differences that are reported together.
    confidence : float
        Probability that the intervals of all these differences are correct. [-]
    is_random : bool
        Whether the runs depend on their random streams. If False, any difference other than 0
        counts as certain.
    """
    pairs = [
        (ours, theirs)
        for ours, theirs in zip(base, case, strict=False)
        if ours is not None and theirs is not None
    ]
    if not pairs:
        return Difference(None, None, None, None, None, 0, "unknown")
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    changes = [_difference(*pair) for pair in pairs]
    count, mean = len(pairs), fmean(changes)
    means = fmean(ours), fmean(theirs), mean
    if not any(changes):
        zero = 0.0 if count > 1 else None
        return Difference(*means, zero, zero, count, "identical")
    if count < 2:
        return Difference(*means, None, None, count, "unknown")
    from scipy.special import stdtrit

    error = stdev(changes) / sqrt(count)
    part = (1.0 - confidence) / comparisons
    half = float(stdtrit(count - 1, 1.0 - part / 2.0)) * error
    ci95 = student_t_975(count - 1) * error
    is_beyond = abs(mean) > half
    if error == 0.0 and is_random:
        are_constant = len(set(ours)) == len(set(theirs)) == 1
        chance = 2.0 / 4.0**count if are_constant else 2.0 ** (1 - count)
        is_beyond = chance <= part
    if not is_beyond:
        verdict: Verdict = "same"
    elif direction == 0:
        verdict = "different"
    else:
        verdict = "better" if mean * direction > 0.0 else "worse"
    return Difference(*means, half, ci95, count, verdict)


def _difference(base: float, case: float) -> float:
    """Return the case's value minus the base's value; 0 if the difference is only a rounding
    error.
    """
    change = case - base
    return 0.0 if abs(change) <= ROUNDING * max(abs(base), abs(case)) else change


REDUCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": fsum,
    "mean": fmean,
    "max": max,
    "min": min,
}
"""Functions that combine the values of several items, by the name in `Measure.over`."""


@dataclass(frozen=True)
class Measure:
    """A quantity of one item or of several combined items, with one value per replication."""

    list_name: str
    """List of the result that contains the items, such as ``flows``."""
    quantity: str
    """Name of the quantity in the registry."""
    items: tuple[str, ...]
    """Names of the items of the list."""
    over: str = "sum"
    """Name of the function that combines the items: ``sum``, ``mean``, ``max`` or ``min``."""
    label: str = ""
    """Common name of several items, such as ``all uploads``."""

    @property
    def name(self) -> str:
        """Name of the only item, or `label` for several items."""
        return self.label or ", ".join(self.items)

    @property
    def key(self) -> str:
        """Unique name of the measure, such as ``flows.one_way_delay_p99_s of phone/udp-up/1``."""
        return f"{self.list_name}.{self.quantity} of {self.name}"

    @property
    def direction(self) -> int:
        """Return value of `better_direction`: -1 if a lower value is better, 1 if a higher value is
        better, 0 if neither is known. [-]
        """
        return better_direction(self.quantity)

    def values(self, result: Result) -> list[float | None]:
        """Return one value per replication; None if no item has a value in the replication."""
        value = result.sample_tree.get(self.list_name, {})
        columns = [value.get(item, {}).get(self.quantity) for item in self.items]
        known = [column for column in columns if column is not None]
        if not known:
            return [None] * result.replications
        reduce = REDUCTIONS[self.over]
        rows = [[each for each in row if each is not None] for row in zip(*known, strict=True)]
        return [reduce(row) if row else None for row in rows]

    def is_in(self, result: Result) -> bool:
        """Return whether each item has a value in at least one replication."""
        items = result.sample_tree.get(self.list_name, {})
        columns = (items.get(item, {}).get(self.quantity, ()) for item in self.items)
        return all(any(value is not None for value in column) for column in columns)


@dataclass(frozen=True)
class Paired:
    """Results of a base scenario and its cases, simulated with common random numbers."""

    base: Result
    cases: Mapping[str, Result]
    """Results of the cases by case name, in the order of the cases."""

    def difference(
        self, case: str, measure: Measure, *, comparisons: int, against: str | None = None
    ) -> Difference:
        """Return the difference of a case and the base, or of two cases if `against` is given.

        Parameters
        ----------
        case : str
            Name of a case.
        measure : Measure
            Quantity to compare.
        comparisons : int
            Number of differences that are reported together.
        against : str, optional
            Name of a case that replaces the base in the comparison.
        """
        base = self.base if against is None else self.cases[against]
        return judge(
            measure.values(base),
            measure.values(self.cases[case]),
            measure.direction,
            comparisons=comparisons,
            is_random=is_random(base) or is_random(self.cases[case]),
        )

    @cached_property
    def is_random(self) -> bool:
        """Whether the base or a case depends on its random streams."""
        return any(map(is_random, (self.base, *self.cases.values())))

    def missing(self, case: str) -> tuple[list[str], list[str]]:
        """Return two lists with names of flows and stations: those only in the base, and those only
        in the case.
        """
        ours, theirs = (_names(result) for result in (self.base, self.cases[case]))
        return [n for n in ours if n not in theirs], [n for n in theirs if n not in ours]


def is_random(result: Result) -> bool:
    """Return whether any value differs between the replications of a result."""
    return any(
        len(set(values)) > 1
        for items in result.sample_tree.values()
        for quantities in items.values()
        for values in quantities.values()
    )


def are_identical(first: Result, second: Result) -> bool:
    """Return whether all quantities of two results are equal in every replication.

    If only one result has a quantity, its values must be 0, such as the number of marks of a queue
    that never marks.
    """
    ours, theirs = (
        {
            (list_name, item, quantity): values
            for list_name, items in result.sample_tree.items()
            for item, quantities in items.items()
            for quantity, values in quantities.items()
        }
        for result in (first, second)
    )
    only_one = [(ours if key in ours else theirs)[key] for key in ours.keys() ^ theirs.keys()]
    return all(ours[key] == theirs[key] for key in ours.keys() & theirs.keys()) and not any(
        map(any, only_one)
    )


def _names(result: Result) -> dict[str, None]:
    """Return the names of the stations and flows of a result, in order."""
    tree = result.sample_tree
    return dict.fromkeys(name for each in ("stations", "flows") for name in tree.get(each, ()))


def run(
    base: Scenario,
    cases: Mapping[str, Scenario],
    *,
    jobs: int | None = None,
    directory: Path | None = None,
    progress: ProgressCallback | None = None,
    max_time_s: float | None = None,
) -> Paired:
    """Simulate a scenario and its cases with common random numbers.

    All scenarios must have the same seed and number of replications. Scenarios with the same
    meaning are simulated once. The results include the quantities of `simulate` with ``tails``.

    Parameters
    ----------
    base : Scenario
        Scenario with which the cases are compared.
    cases : mapping
        Scenarios by the name of their case.
    jobs : int, optional
        Threads; by default one for each available processor. The results do not depend on the
        number.
    directory : Path, optional
        Folder in which finished simulations are saved, and from which they are reused.
    progress : callable, optional
        Called with the `BatchProgress`; the runs stop if it returns False.
    max_time_s : float, optional
        Longest time that the runs may take, estimated from their speed in the first half second.
        [s]

    Raises
    ------
    TooCostlyError
        If the runs would take longer than `max_time_s`.
    Stopped
        If `progress` returned False.
    KeyboardInterrupt
        At Ctrl-C. Finished simulations are saved if `directory` is given.
    """
    simulations = Simulations(jobs, directory=directory)
    deadline = None
    if max_time_s is not None:
        deadline = Deadline(f"{base.source}: simulating {len(cases) + 1} scenarios", max_time_s)

    def watched(seen: BatchProgress) -> Any:
        if deadline is not None:
            deadline.look(seen["simulated_s"], seen["total_s"])
        return None if progress is None else progress(seen)

    try:
        simulations.run([base, *cases.values()], watched)
    except BatchStopped:
        raise Stopped("progress stopped the comparison") from None
    results = {name: simulations.result(scenario) for name, scenario in cases.items()}
    return Paired(simulations.result(base), results)
