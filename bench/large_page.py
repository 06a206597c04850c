"""Write the tables of large runs, and of the resources for a million flows, from out/large.json."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from growth import short
from large import Entry, Slope, known, million
from measure import BenchError
from pages import rewrite, table

PAGE = Path(__file__).parent / "README.md"
RUNS, MILLION = "Long and large", "A million flows"
HEAD = [
    "network and simulated time",
    "process",
    "CPU time of the first third [s]",
    "CPU time of the whole run [s]",
    "memory after a third [MB]",
    "memory at the end [MB]",
    "bound of memory [MB]",
]
WORDS = {
    "cell of seven, ten hours": "cell of seven stations, ten hours",
    "5,000 web connections a second, 60 s": "5,000 web connections per second, 60 s",
    "5,000 stations, 10,000 flows, 60 s": "cell of 5,000 stations, 10,000 flows, 60 s",
}
"""Names of cases in the table, by their names in stored runs."""


def main() -> None:
    """Write both tables."""
    entries, slopes = known()
    if not entries:
        raise BenchError("out/large.json: not there; `bench/large.py` writes it")
    rewrite(PAGE, {RUNS: runs(entries), MILLION: estimates(slopes)})


def runs(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a row for each run with the engine's example, and for each run from Python."""
    yield from table(
        HEAD,
        (
            [
                WORDS.get(entry.what, entry.what),
                entry.by,
                *(f"{value:.2f}" for value in (entry.third_cpu_s, entry.cpu_s)),
                *(f"{value:,.1f}" for value in (entry.third_mb, entry.peak_mb)),
                f"{entry.bound_mb:,.0f}",
            ]
            for entry in entries
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
            short(slope.start_s),
            short(slope.bytes_per_flow * slope.flows / 1e9),
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
                short(at["start_s"]),
                short(at["memory_gb"]),
            )
        )
        rows.append(
            estimated(
                f"{at['chunks']:.0f} separate scenarios, each with one router and "
                f"{slopes[0].flows:,} flows: sum",
                f"{slopes[0].us_per_segment:.2f}",
                *(short(at["chunks"] * at[key]) for key in ("chunk_cpu_s_per_s", "chunk_start_s")),
                f"{short(at['chunk_memory_gb'])} per scenario",
            )
        )
    head = ["network", "cost [us/segment]", "CPU time per simulated second [s/s]"]
    head += ["CPU time of the start phase [s]", "memory [GB]"]
    yield from table(head, rows)


def estimated(*cells: str) -> list[str]:
    """Return a table row of estimated values, in italics."""
    return [f"*{cell}*" for cell in cells]
