"""Write the tables of `kernel_tcp_virtual.py` in docs/reference/kernel-tcp-measured.md."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivalence import Agreement, Difference
from kernel_tcp import named
from kernel_tcp_causes import CAUSE_OF_DIFFERENCE
from kernel_tcp_compared import JUDGED, Compared, paired_difference
from kernel_tcp_page import PAGE, QUANTITIES, counted_as, shown
from kernel_tcp_plan import (
    ALL_SEEDS,
    COMPARED,
    LONG_RUN_SUFFIX,
    SECOND_VARIANT,
    SELECTED,
    second_seeds,
    simulations,
    variants,
    with_long_run,
)
from kernel_tcp_points import AS_THEY_ARE, LAWS, Point, Variant, grid
from pages import rewrite, table

from lasthop.errors import UserError

if TYPE_CHECKING:
    from kernel_tcp_virtual import Work

KEPT = PAGE.with_name("kernel-tcp-virtual.json.gz")
"""Compressed file of results: values of each run by scenario, kernel and seed, and all
fingerprints.
"""
SECOND_KEPT = PAGE.with_name("kernel-tcp-bbr.json.gz")
"""Compressed file with the results of the second series of BBR."""
COUNTED = "Simulated time: how many points agree"
DIFFERENT = "Simulated time: points that are not equal"
CHANGED = "Simulated time: settings changed"
KERNELS = "Simulated time: two kernels"
OF_BBR = "Simulated time: BBR"
"""Titles of sections of the page."""
SIDES = ("engine", "Linux")
DIGITS = 6
"""Number of significant digits of values in the compressed file."""

Seen = Mapping[str, Any]


def keep(
    work: "Work", path: Path = KEPT, simulated: Iterable[tuple[Point, Variant]] | None = None
) -> None:
    """Write the available results of the plan to the compressed file, without windows over time and
    counters.

    Parameters
    ----------
    work : Work
    path : Path
        Compressed file.
    simulated : iterable of (Point, Variant), optional
        Simulations to write; by default those of `kernel_tcp_plan`.
    """
    kernels: dict[str, Any] = {}
    for _, some in work.plan():
        for planned in some:
            seen = work.result(planned)
            if seen is None:
                continue
            kernel = kernels.setdefault(
                seen["version"],
                {"fingerprints": seen["fingerprints"], "cost_s": 0.0, "points": {}},
            )
            kernel["cost_s"] += seen["cost_s"]
            record = {"figures": seen["figures"], "by_period": seen["by_period"]}
            name = named(planned.run.point, planned.run.variant)
            point = kernel["points"].setdefault(name, {})
            point[str(planned.run.seed)] = record
    engine = {
        named(point, variant): {
            key: seen[key] for key in ("runs", "by_period", "by_seed") if key in seen
        }
        for point, variant in (simulations() if simulated is None else simulated)
        if (seen := work.simulation(point, variant)) is not None
    }
    if not kernels:
        raise UserError(f"{work.store.runs.path}: no run in simulated time has been made")
    results = {"engine": engine, "engine_hash": work.of_engine.engine, "kernels": kernels}
    text = json.dumps(rounded(results), separators=(",", ":"), sort_keys=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def rounded(value: Any) -> Any:
    """Return a value with all numbers rounded to `DIGITS` significant digits."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {key: rounded(each) for key, each in value.items()}
        case list():
            return [rounded(each) for each in value]
    return value


def content(path: Path) -> Mapping[str, Any]:
    """Return the content of a compressed file."""
    tree: Mapping[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return tree


class Results:
    """Results from the compressed file.

    Parameters
    ----------
    tree : mapping
        Content of the file.
    second : Results, optional
        Results of the second series of BBR.
    """

    def __init__(self, tree: Mapping[str, Any], second: "Results | None" = None) -> None:
        self.engine: Mapping[str, Seen] = tree["engine"]
        self.kernels: Mapping[str, Any] = tree["kernels"]
        self.second = second

    @classmethod
    def read(cls, path: Path = KEPT, second: Path = SECOND_KEPT) -> "Results":
        """Read the compressed file, and that of the second series if it exists."""
        if not path.exists():
            raise UserError(f"{path}: no results: write them with --keep")
        series = cls(content(second)) if second.exists() else None
        return cls(content(path), series)

    @cached_property
    def versions(self) -> list[str]:
        """Return the versions of the kernels. The kernel that has run the most scenarios is first.
        If two kernels have run equally many, the newer kernel is first.
        """

        def order(version: str) -> tuple[int, list[int]]:
            return len(self.kernels[version]["points"]), numbers(version)

        return sorted(self.kernels, key=order, reverse=True)

    def of(
        self,
        point: Point,
        version: str,
        variant: Variant = AS_THEY_ARE,
        seeds: Iterable[int] = range(1, ALL_SEEDS + 1),
    ) -> Compared:
        """Return the comparison of the engine with a kernel in a scenario, from the runs before the
        first missing seed.

        If the variant changes only the engine, the kernel's runs are those without the variant. If
        the variant changes only the kernel, the engine's runs are those without the variant.
        """
        ours = named(point, variant if variant.settings else AS_THEY_ARE)
        theirs = named(point, variant if variant.changes_kernel else AS_THEY_ARE)
        seen = self.kernels[version]["points"].get(theirs, {})
        known = list(takewhile(bool, (seen.get(str(seed)) for seed in seeds)))
        return Compared.of(point, self.engine.get(ours), known)

    def best(self, point: Point, version: str) -> Compared:
        """Return the comparison from the long runs of a scenario, or from its second series if this
        series is complete. If there are none, return the comparison from its usual runs.
        """
        seeds = second_seeds(point)
        if seeds and self.second is not None and version in self.second.kernels:
            series = self.second.of(point, version, SECOND_VARIANT, seeds)
            if len(series.kernel) == len(seeds):
                return series
        long = with_long_run(point)
        compared = None if long is None else self.of(long, version)
        return compared if compared is not None and compared.kernel else self.of(point, version)


def write() -> None:
    """Write the tables of the page."""
    results = Results.read()
    tables = {
        COUNTED: counted(results),
        DIFFERENT: not_equal(results),
        CHANGED: with_changes(results),
        KERNELS: two_kernels(results),
        OF_BBR: bbr(results),
    }
    rewrite(PAGE, tables)
    print(PAGE)


def measured(results: Results, law: str, version: str) -> list[Compared]:
    """Return the comparisons of all scenarios with this congestion control that have run on a
    kernel.
    """
    mine = [point for point in grid() if point.name.startswith(f"{law}, ")]
    return [
        comparison for point in mine if len((comparison := results.best(point, version)).kernel) > 1
    ]


def counted(results: Results) -> Iterator[str]:
    """Yield the table with the numbers of scenarios that are equal, different and undecided."""
    titles = [QUANTITIES[key][0].split(" [")[0] for key in JUDGED]

    def rows() -> Iterator[Sequence[str]]:
        for version in results.versions:
            for law in COMPARED:
                some = measured(results, law, version)
                if some:
                    counts = [counted_as(some, key) for key in JUDGED]
                    undecided = sum(each.is_undecided for each in some)
                    yield [short(version), LAWS[law], str(len(some)), *counts, str(undecided)]

    return table(
        [
            "Linux",
            "congestion control",
            "points of the grid",
            *(f"{each}: points equal / different / undecided" for each in titles),
            "points with an undecided quantity",
        ],
        rows(),
    )


def not_equal(results: Results) -> Iterator[str]:
    """Yield the table of scenarios in which a quantity is different or undecided, with the cause
    of the difference.
    """
    first = results.versions[0]
    titles = [QUANTITIES[key][0] for key in JUDGED]

    def rows() -> Iterator[Sequence[str]]:
        for congestion in COMPARED:
            for comparison in measured(results, congestion, first):
                if any(comparison.agreement(key) is not Agreement.EQUAL for key in JUDGED):
                    values = cells(comparison)
                    cause = CAUSE_OF_DIFFERENCE.get(
                        comparison.point.name.removesuffix(LONG_RUN_SUFFIX), ""
                    )
                    differences = ", ".join(comparison.parts())
                    minutes = comparison.point.duration_s / 60
                    runs = f"{len(comparison.kernel)} x {minutes:.0f} min"
                    yield [comparison.point.title, runs, *values, differences, cause]

    return table(
        [
            "point of the grid",
            "runs",
            *(f"{each}: {side}" for each in titles for side in ("engine", "Linux")),
            "difference of Linux from the engine, if not equal",
            "cause of the difference",
        ],
        rows(),
    )


def cells(comparison: Compared) -> list[str]:
    """Return the table cells of a scenario: every quantity of the engine and of the kernel."""
    return [
        shown(estimate, key)
        for key in JUDGED
        for estimate in (comparison.of_engine(key), comparison.of_kernel(key))
    ]


def with_changes(results: Results) -> Iterator[str]:
    """Yield the table of scenarios with a variant, each after the scenario without the variant."""
    first = results.versions[0]

    def rows() -> Iterator[Sequence[str]]:
        last = ""
        for point, variant in variants():
            for each in (AS_THEY_ARE, variant)[last == point.name :]:
                comparison = results.of(point, first, each)
                if len(comparison.kernel) > 1:
                    differences = ", ".join(comparison.parts())
                    yield [point.title, each.words, *cells(comparison), differences]
            last = point.name

    return table(
        [
            "point of the grid",
            "change",
            *(f"{QUANTITIES[key][0]}: {side}" for key in JUDGED for side in ("engine", "Linux")),
            "difference of Linux from the engine, if not equal",
        ],
        rows(),
    )


def two_kernels(results: Results) -> Iterator[str]:
    """Yield the table of scenarios that have run on both kernels."""
    titles = [QUANTITIES[key][0] for key in JUDGED]
    if len(results.versions) < 2:
        return table([], [])
    first, second = results.versions[:2]

    def rows() -> Iterator[Sequence[str]]:
        for point in grid():
            new, old = results.of(point, first), results.of(point, second)
            if point.name in SELECTED and len(new.kernel) > 1 and len(old.kernel) > 1:
                values = [
                    shown(estimate, key)
                    for key in JUDGED
                    for estimate in (new.of_engine(key), old.of_kernel(key), new.of_kernel(key))
                ]
                runs = f"{len(old.kernel)}, {len(new.kernel)}"
                yield [point.title, runs, *values, ", ".join(between(old, new))]

    names = ("engine", short(second), short(first))
    return table(
        [
            "point of the grid",
            f"runs: {short(second)}, {short(first)}",
            *(f"{each}: {side}" for each in titles for side in names),
            f"difference of {short(first)} from {short(second)}, if not equal",
        ],
        rows(),
    )


def between(old: Compared, new: Compared) -> Iterator[str]:
    """Yield the quantities in which the two kernels are not equal, as text."""
    for key in JUDGED:
        title, _, _, band = QUANTITIES[key]
        estimates = old.of_kernel(key), new.of_kernel(key)
        if estimates[0] is None or estimates[1] is None:
            yield f"{title.split(' [')[0]} unknown"
            continue
        if old.pairs(key) and new.pairs(key):
            values = [[run["figures"][key] for run in each.kernel] for each in (old, new)]
            count = min(map(len, values))
            difference = paired_difference(values[0][:count], values[1][:count], band)
        else:
            difference = Difference.of(estimates[0], estimates[1], band)
        if difference.agreement is not Agreement.EQUAL:
            yield f"{title.split(' [')[0]} {difference.words}"


def bbr(results: Results) -> Iterator[str]:
    """Yield the table of all points with BBR."""
    first = results.versions[0]

    def rows() -> Iterator[Sequence[str]]:
        for comparison in measured(results, "bbr", first):
            values = [
                shown(estimate, key)
                for key in QUANTITIES
                for estimate in (comparison.of_engine(key), comparison.of_kernel(key))
            ]
            yield [*comparison.point.row, *values, ", ".join(comparison.parts())]

    titles = [f"{words}: {side}" for words, *_ in QUANTITIES.values() for side in SIDES]
    different = "difference of Linux from the engine, if not equal"
    return table(["flows", "RTT [ms]", "queue", *titles, different], rows())


def numbers(version: str) -> list[int]:
    """Return the parts of a version number of the kernel."""
    return [int(each) for each in version.split("-")[0].split(".")]


def short(version: str) -> str:
    """Return a kernel's version in the form that the page uses."""
    return f"Linux {'.'.join(map(str, numbers(version)[:2]))}"
