"""Write the tables of large runs, and of the resources for a million flows, from out/large.json."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from growth import short
from large import GIB, CaseResult, Slope, million, stored
from measure import BenchError
from pages import rewrite, table

PAGE = Path(__file__).parent / "README.md"
RUNS, MILLION = "Long runs and large networks", "A million flows"
HEAD = [
    "network and simulated time",
    "process",
    "CPU time of a run of a third of the duration [s]",
    "CPU time of the complete run [s]",
    "peak memory of a run of a third [MiB]",
    "peak memory of the complete run [MiB]",
    "bound of memory [MiB]",
]


def main() -> None:
    """Write both tables."""
    results, slopes = stored()
    if not results:
        raise BenchError("out/large.json: no stored results\nhint: run `bench/large.py`")
    rewrite(PAGE, {RUNS: runs(results), MILLION: estimates(slopes)})


def runs(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield a row for each run with the engine's example, and for each run from Python."""
    yield from table(
        HEAD,
        (
            [
                result.title,
                result.process,
                *(f"{value:.2f}" for value in (result.third_cpu_s, result.cpu_s)),
                *(f"{value:,.1f}" for value in (result.third_mib, result.peak_mib)),
                f"{result.bound_mib:,.0f}",
            ]
            for result in results
        ),
    )


def estimates(slopes: Sequence[Slope]) -> Iterator[str]:
    """Yield the measurements, and the estimates for a million flows: on one machine, and divided
    into smaller simulations.
    """
    rows = [
        [
            f"one router, {slope.flows:,} flows",
            f"{slope.us_per_segment:.2f}",
            short(slope.us_per_segment * slope.segments_per_s / 1e6),
            short(slope.set_up_s),
            short(slope.bytes_per_flow * slope.flows / GIB),
        ]
        for slope in slopes
    ]
    if len(slopes) > 1:
        at = million(slopes)
        rows.append(
            estimated(
                "one router, a million flows",
                f"{at['us_per_segment']:.2f}",
                short(at["cpu_s_per_s"]),
                short(at["set_up_s"]),
                short(at["memory_gib"]),
            )
        )
        rows.append(
            estimated(
                f"{at['scenarios']:.0f} separate scenarios, each with one router and "
                f"{slopes[0].flows:,} flows: sum",
                f"{slopes[0].us_per_segment:.2f}",
                short(at["scenarios"] * at["scenario_cpu_s_per_s"]),
                short(at["scenarios"] * at["scenario_set_up_s"]),
                f"{short(at['scenario_memory_gib'])} per scenario",
            )
        )
    head = ["network", "cost [us/segment]", "CPU time per simulated second [s/s]"]
    head += ["set-up time [s]", "memory [GiB]"]
    yield from table(head, rows)


def estimated(*cells: str) -> list[str]:
    """Return a table row of estimated values, in italics."""
    return [f"*{cell}*" for cell in cells]
