"""Tables of long and large runs, and of what a million flows would take, from out/large.json."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from growth import short
from large import Entry, Slope, known, million
from measure import BenchError
from pages import rewrite, table

PAGE = Path(__file__).parent / "README.md"
RUNS, MILLION = "Long and large", "A million flows"
HEAD = [
    "",
    "",
    "CPU time, a third [s]",
    "whole [s]",
    "memory, a third [MB]",
    "whole [MB]",
    "bound [MB]",
]


def main() -> None:
    """Write both."""
    entries, slopes = known()
    if not entries:
        raise BenchError("out/large.json: not there; `bench/large.py` writes it")
    rewrite(PAGE, {RUNS: runs(entries), MILLION: estimates(slopes)})


def runs(entries: Sequence[Entry]) -> Iterator[str]:
    """A row for each run by the engine alone and from Python."""
    yield from table(
        HEAD,
        (
            [
                entry.what,
                entry.by,
                *(f"{value:.2f}" for value in (entry.third_cpu_s, entry.cpu_s)),
                *(f"{value:,.1f}" for value in (entry.third_mb, entry.peak_mb)),
                f"{entry.bound_mb:,.0f}",
            ]
            for entry in entries
        ),
    )


def estimates(slopes: Sequence[Slope]) -> Iterator[str]:
    """What was measured, and a million flows on one machine and in chunks."""
    rows = [
        [
            f"{one.flows:,} flows",
            f"{one.us_per_segment:.2f}",
            short(one.us_per_segment * one.segments_per_s / 1e6),
            short(one.start_s),
            short(one.bytes_per_flow * one.flows / 1e9),
        ]
        for one in slopes
    ]
    if len(slopes) > 1:
        at = million(slopes)
        rows.append(
            estimated(
                "a million through one router",
                f"{at['us_per_segment']:.2f}",
                short(at["cpu_s_per_s"]),
                short(at["start_s"]),
                short(at["memory_gb"]),
            )
        )
        rows.append(
            estimated(
                f"{at['chunks']:.0f} routers of {slopes[0].flows:,} flows, scenarios of their own, "
                "all together",
                f"{slopes[0].us_per_segment:.2f}",
                *(short(at["chunks"] * at[key]) for key in ("chunk_cpu_s_per_s", "chunk_start_s")),
                f"{short(at['chunk_memory_gb'])} each",
            )
        )
    head = ["", "[us/segment]", "CPU s per simulated s", "start [CPU s]", "memory [GB]"]
    yield from table(head, rows)


def estimated(*cells: str) -> list[str]:
    """A row of what has not been run, in italics."""
    return [f"*{cell}*" for cell in cells]
