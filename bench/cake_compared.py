"""Compares the stored runs of `cake_kernel.py` with those of the engine, by the equivalence test.

python bench/cake_compared.py                   prints all quantities that are not equal
python bench/cake_compared.py --all             prints all quantities
python bench/cake_compared.py --only flows      only cases whose names match
python bench/cake_compared.py --variant NAME    compares a variant of the engine's runs
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cake_engine import VARIANTS, stored
from cake_points import (
    CASES,
    COUNT_BAND,
    DELAY_BAND,
    FEW,
    GOODPUT_BAND,
    JAIN_BAND,
    LEAST_DELAY_S,
    SEEDS,
    TINS,
    Case,
)
from equivalence import Agreement, Difference
from measure import require_release_build
from runs import OUT, Runs

from lasthop.answers.estimates import Estimate
from lasthop.answers.fairness import jain_index

Run = Mapping[str, Any]


@dataclass(frozen=True)
class Quantity:
    """A compared quantity, its band and its least absolute band."""

    name: str
    band: float
    least: float = 0.0

    def compare(
        self, kernel: Sequence[float], engine: Sequence[float], *, is_paired: bool
    ) -> Difference:
        """Return the relative difference of the engine from the kernel. With `is_paired`, values at
        the same place have the same seed and the same packets."""
        reference, other = Estimate.of(kernel), Estimate.of(engine)
        size = abs(reference.mean)
        if size == 0.0:
            is_equal = abs(other.mean) <= self.least
            return Difference(0.0, 0.0, 0.0) if is_equal else Difference.of(reference, other, 0.0)
        band = max(self.band, self.least / size)
        if not is_paired:
            return Difference.of(reference, other, band)
        pairs = zip(kernel, engine, strict=True)
        paired = Estimate.of([ours - theirs for theirs, ours in pairs])
        half = None if paired.ci95 is None else paired.ci95 / size
        return Difference(paired.mean / size, half, band)


def goodput(name: str) -> Quantity:
    """Return the goodput of a group as a compared quantity."""
    return Quantity(f"goodput of {name} [bit/s]", GOODPUT_BAND)


def delay(name: str) -> Quantity:
    """Return the delay of a group as a compared quantity."""
    return Quantity(
        f"95th percentile of the time in the queue, {name} [s]", DELAY_BAND, LEAST_DELAY_S
    )


def count(name: str) -> Quantity:
    """Return a number of packets as a compared quantity."""
    return Quantity(f"{name} [packets]", COUNT_BAND, COUNT_BAND * FEW)


JAIN = Quantity("Jain's index [-]", 0.0, JAIN_BAND)


# -- quantities ---------------------------------------------------------------------------------


def of_flows(goodputs: Mapping[str, float]) -> dict[Quantity, float]:
    """Return the goodput of each group and of all flows, and Jain's index."""
    by_group: dict[str, float] = defaultdict(float)
    for name, value in goodputs.items():
        by_group[group_of(name)] += value
    values = {goodput(name): value for name, value in by_group.items()}
    return {
        **values,
        goodput("all flows"): sum(goodputs.values()),
        JAIN: jain_index(list(goodputs.values())),
    }


def group_of(flow: str) -> str:
    """Return the name of the group of a flow."""
    return flow.rpartition("-")[0]


def of_datagrams(case: Case, run: Run) -> dict[Quantity, float]:
    """Return the compared quantities of a run with datagrams, without drops."""
    waits: dict[str, list[float]] = defaultdict(list)
    for name, flow in run["flows"].items():
        if flow["p95_s"] is not None:
            waits[group_of(name)].append(flow["p95_s"])
    goodputs = {name: flow["goodput_bps"] for name, flow in run["flows"].items()}
    delays = {delay(name): sum(each) / len(each) for name, each in waits.items()}
    return {**of_flows(goodputs), **delays}


def dropped_by_kernel(case: Case, run: Run) -> dict[Quantity, float]:
    """Return the drops of each tin of the kernel."""
    tins = run["queue"]["tins"]
    used = sorted({TINS[case.cake.diffserv][group.dscp] for group in case.datagrams})
    return {
        **{count(f"dropped in tin {tin}"): tins[tin]["drops"] for tin in used},
        **{count(f"arrived in tin {tin}"): tins[tin]["sent_packets"] for tin in used},
    }


def dropped_by_engine(case: Case, run: Run) -> dict[Quantity, float]:
    """Return the drops of each tin of the engine, from the drops of the flows."""
    tins = TINS[case.cake.diffserv]
    tin_of = {group.name: tins[group.dscp] for group in case.datagrams}
    values: dict[Quantity, float] = defaultdict(float)
    for name, flow in run["flows"].items():
        tin = tin_of[group_of(name)]
        values[count(f"dropped in tin {tin}")] += flow["dropped"]
        values[count(f"arrived in tin {tin}")] += flow["offered"]
    return values


def of_tcp(run: Run) -> dict[Quantity, float]:
    """Return the compared quantities of the TCP packets of a run, by DSCP."""
    values: dict[Quantity, float] = {}
    for dscp, seen in run["tcp"].items():
        values[delay(f"DSCP {dscp}")] = seen["p95_s"]
        values[count(f"missing after the queue, DSCP {dscp}")] = seen["arrived"] - seen["left"]
        values[count(f"marked, DSCP {dscp}")] = seen["marked"]
    return values


def by_kernel(case: Case, run: Run) -> dict[Quantity, float]:
    """Return the compared quantities of a run through the kernel's queue."""
    if not case.tcp:
        return {**of_datagrams(case, run), **dropped_by_kernel(case, run)}
    udp = {name: flow["goodput_bps"] for name, flow in run["flows"].items()}
    return {**of_flows({**udp, **run["tcp_goodput_bps"]}), **of_tcp(run)}


def by_engine(case: Case, run: Run) -> dict[Quantity, float]:
    """Return the compared quantities of a run through the engine's queue."""
    if not case.tcp:
        return {**of_datagrams(case, run), **dropped_by_engine(case, run)}
    return {**of_flows(run["goodput_bps"]), **of_tcp(run)}


# -- comparison ---------------------------------------------------------------------------------


def compared(
    case: Case, kernel: Mapping[str, Run], engine: Mapping[str, Run]
) -> Iterator[tuple[Quantity, Sequence[float], Sequence[float], Difference]]:
    """Yield each quantity with its values on both sides and the difference, over all seeds that
    both sides have."""
    seeds = [
        seed
        for seed in SEEDS
        if case.key("kernel", seed) in kernel and case.key("engine", seed) in engine
    ]
    if len(seeds) < 2:
        return
    theirs = [by_kernel(case, kernel[case.key("kernel", seed)]) for seed in seeds]
    ours = [by_engine(case, engine[case.key("engine", seed)]) for seed in seeds]
    for quantity in theirs[0]:
        each = [run.get(quantity, 0.0) for run in theirs]
        other = [run.get(quantity, 0.0) for run in ours]
        yield quantity, each, other, quantity.compare(each, other, is_paired=not case.tcp)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases that match")
    parser.add_argument("--all", action="store_true", help="also print what is equal")
    parser.add_argument("--variant", choices=VARIANTS, help="compare this variant of the engine")
    asked = parser.parse_args()
    kernel = Runs(OUT / "cake-kernel.jsonl").known()
    engine = stored("cake", asked.variant).known()
    totals: dict[Agreement, int] = defaultdict(int)
    for name, case in CASES.items():
        if not re.search(asked.only, name):
            continue
        counts_of: dict[Agreement, int] = defaultdict(int)
        lines = []
        for quantity, theirs, ours, difference in compared(case, kernel, engine):
            counts_of[difference.agreement] += 1
            if asked.all or difference.agreement is not Agreement.EQUAL:
                lines.append(
                    f"  {quantity.name}: kernel {Estimate.of(theirs).text()}, engine "
                    f"{Estimate.of(ours).text()}: {difference.words}, {difference.agreement.value}"
                )
        for agreement, number in counts_of.items():
            totals[agreement] += number
        counts = ", ".join(f"{number} {each.value}" for each, number in counts_of.items())
        print(f"{name}: {counts or 'no runs on both sides'}", *lines, sep="\n")
    print({each.value: number for each, number in totals.items()})


if __name__ == "__main__":
    require_release_build()
    main()
